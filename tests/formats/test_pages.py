"""Excel and HTML: what people open, read back by other programs."""

from __future__ import annotations

import csv
import io
import json
from html.parser import HTMLParser
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Dimension, Hide, InputError, Publish, Release, Table, cli, protect
from discreet.formats import NAMES, to_bytes
from discreet.formats.layers import Cube, facts
from discreet.formats.xlsx import sheet_names
from tests.formats.test_formats import expected, three_way, two_measures


def sheet_cells(release: Release, data: bytes) -> dict[tuple[str, ...], Any]:
    """Every cell of a workbook by the codes on its sheet and in its heads, 'c' where hidden; blanks left out."""
    book = openpyxl.load_workbook(io.BytesIO(data))
    about = {row[0]: row[1] for row in book["About"].iter_rows(values_only=True)}
    found = {}
    for name in book.sheetnames[1:]:
        rows = list(book[name].iter_rows(values_only=True))
        assert rows[0][0] == about[name]
        outer = tuple(name.split(" "))[: len(release.dimensions) - 2]
        for row in rows[4:]:
            for column, value in zip(rows[3][2:], row[2:], strict=True):
                if value is not None:
                    found[(*outer, row[0], column)] = value
    return found


def test_excel_has_one_sheet_per_layer() -> None:
    """The same cells for openpyxl, hidden ones as 'c'; labels beside codes."""
    r = three_way()
    data = to_bytes(r, "xlsx")
    want = {key: "c" if v is None else v for key, v in expected(r, "count").items()}
    assert sheet_cells(r, data) == want
    book = openpyxl.load_workbook(io.BytesIO(data))
    assert book.sheetnames == ["About", "Total", "N", "N1", "N2", "S", "S1"]
    assert [cell.value for cell in book["N"][6]][:2] == ["f", "women"]
    assert book["N"]["C6"].number_format == "#,##0"
    assert book["About"]["A1"].value == "A title"
    assert book.properties.creator is None or "discreet" not in book.properties.creator


def test_excel_of_two_measures_with_gaps_and_of_one_dimension() -> None:
    """One sheet per measure; a combination that is not part of the table is blank."""
    r = two_measures()
    book = openpyxl.load_workbook(io.BytesIO(to_bytes(r, "xlsx")))
    assert book.sheetnames == ["About", "count", "pay"]
    assert book["pay"]["C5"].number_format == "#,##0.00"
    filled = [v for row in book["pay"].iter_rows(min_row=5, min_col=3, values_only=True) for v in row if v is not None]
    assert len(filled) == len(r)
    one = Publish()(Table.of([3, 4], ["kind"])).release()
    sheet = openpyxl.load_workbook(io.BytesIO(to_bytes(one, "xlsx")))["count"]
    rows = list(sheet.iter_rows(values_only=True, max_col=3))
    assert rows[4:] == [("Total", "Total", 7), ("1", "1", 3), ("2", "2", 4)]


def test_what_is_too_large_for_excel_or_a_page_is_refused() -> None:
    """With a hint at other formats."""
    dims = [Dimension.flat(n, range(350), total=None) for n in "ab"]
    large = Publish()(Table.of(np.ones((350, 350), int), dims)).release()
    for name in ("xlsx", "html"):
        with pytest.raises(InputError, match=r"122,500 cells are more than 100,000.*write \.csv"):
            to_bytes(large, name)
    small = Publish()(Table.of(np.ones((300, 2, 2), int), ["a", "b", "c"])).release()
    with pytest.raises(InputError, match="301 sheets are more than 250"):
        to_bytes(small, "xlsx")
    assert to_bytes(small, "xlsx", most_sheets=400)
    with pytest.raises(InputError, match="more than 10"):
        to_bytes(small, "html", most_cells=10)


def test_text_is_never_a_formula() -> None:
    """A label that begins with '=' stays text."""
    d = Dimension.flat("kind", ["=1+1", "@x"], labels={"=1+1": "=HYPERLINK(1)"})
    book = openpyxl.load_workbook(io.BytesIO(to_bytes(Publish()(Table.of([3, 4], [d])).release(), "xlsx")))
    assert all(cell.data_type != "f" for row in book["count"].iter_rows() for cell in row)
    assert sheet_names(["'a'", "", "History"]) == ["a", "sheet", "History (2)"]


class Outline(HTMLParser):
    """Which tags a page opens, and whether it closes them."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_accessible() -> None:
    """Tags close, every heading cell has a scope, every table a caption; nothing comes from elsewhere."""
    page = to_bytes(three_way(), "html").decode()
    outline = Outline()
    outline.feed(page)
    assert outline.open == []
    tags = [tag for tag, _ in outline.seen]
    assert tags.count("table") == tags.count("caption") == 6
    assert all(a.get("scope") in ("col", "row") for tag, a in outline.seen if tag == "th")
    assert ("html", {"lang": "en"}) in outline.seen
    assert not {"script", "link", "img", "iframe"} & set(tags)
    assert "South &lt;b&gt;" in page
    assert "<b>" not in page
    assert page.count("<abbr") == int((three_way().status == "c").sum())


def test_the_page_reads_back_as_tables() -> None:
    """The same numbers, layer by layer."""
    r = three_way()
    outline = to_bytes(r, "html").decode()
    cells = [piece.partition("</td>")[0] for piece in outline.split("<td>")[1:]]
    shown = [None if "abbr" in text else int(text) for text in cells]
    assert shown == list(expected(r, "count").values())


def test_the_words_are_only_those_of_the_release() -> None:
    """Nothing else is known here, so nothing else can get out."""
    assert [name for name, _ in facts(three_way())] == ["title", "source", "method", "status", "note", "note"]
    assert Cube.of(three_way()).full
    assert not Cube.of(two_measures()).full


def test_the_command_line_chooses_by_suffix(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """-o names the format, --format does for stdout, and a wrong one is found before any work."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("sex,area\nf,1\nf,2\nm,1\n")
    arguments = ["tabulate", "people.csv", "--by", "sex,area"]
    for name in ("t.xlsx", "t.json", "t.sdmx.csv", "t.px", "t.parquet", "t.html", "t.sbs", "t.csv"):
        assert cli.run([*arguments, "-o", name]) == 0
        assert (tmp_path / name).stat().st_size
    assert pd.read_parquet(tmp_path / "t.parquet")["count"].sum() == 12
    capfdbinary.readouterr()
    assert cli.run([*arguments, "--format", "json-stat"]) == 0
    assert capfdbinary.readouterr().out == (tmp_path / "t.json").read_bytes()
    assert cli.run(["tabulate", "nobody.csv", "--by", "sex", "-o", "t.xlsz"]) == 2
    assert b"did you mean '.xlsx'?" in capfdbinary.readouterr().err
    assert cli.run([*arguments, "--format", "pdf"]) == 2
    assert b"unknown format 'pdf'" in capfdbinary.readouterr().err


def test_hidden_cells_are_hidden_in_every_measure() -> None:
    """A sheet of any measure shows 'c' where the release hides."""
    t = Table.of({"sex": ["f", "m"], "n": [1, 2], "pay": [1.5, 2.5]}, ["sex"], count="n", value="pay")
    r = protect(t, Hide([{"sex": "f"}], measures=("count", "pay"))).release()
    book = openpyxl.load_workbook(io.BytesIO(to_bytes(r, "xlsx")))
    assert [book[name]["C6"].value for name in ("count", "pay")] == ["c", "c"]


@settings(max_examples=15)
@given(st.lists(st.text(min_size=1, max_size=12), min_size=2, max_size=4, unique=True), st.text(max_size=40))
def test_any_text_gets_through(texts: list[str], words: str) -> None:
    """Codes, labels and words of any signs: every format is written, and readers still find their way."""
    codes = [f"k{n}" for n in range(len(texts))]
    d = Dimension.flat("kind", codes, labels=dict(zip(codes, texts, strict=True)))
    odd = Dimension.flat("odd", texts, total=None)
    t = Table.of(np.arange(len(texts) ** 2).reshape(len(texts), -1), [odd, d], title=words, source=words)
    r = Publish()(t).release(notes=[words])
    made = {name: to_bytes(r, name) for name in NAMES}
    stat = json.loads(made["json-stat"])
    assert stat["dimension"]["odd"]["category"]["index"] == list(odd.codes)
    assert [stat["dimension"]["kind"]["category"]["label"][c] for c in codes] == texts
    rows = list(csv.reader(io.StringIO(to_bytes(r, "csv", labels=True).decode(), newline="")))
    assert {len(row) for row in rows} == {6}
    assert [row[0] for row in rows[1 :: len(codes) + 1]] == list(odd.codes)
    assert len(openpyxl.load_workbook(io.BytesIO(made["xlsx"])).sheetnames) == 2
    outline = Outline()
    outline.feed(made["html"].decode())
    assert outline.open == []
    assert pd.read_parquet(io.BytesIO(made["parquet"]))["odd"].cat.categories.tolist() == list(odd.codes)
    assert made["px"].count(b"DATA=\r\n") >= 1
