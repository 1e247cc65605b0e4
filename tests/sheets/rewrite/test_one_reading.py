"""What writes a file back finds every cell where it was read: a mark beside its cell would show what is hidden."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.sheets.rewrite.delimited_text import rewrite_delimited
from discreet.sheets.rewrite.edits import Edits, Place
from discreet.sheets.rewrite.html_tables import rewrite_html
from discreet.sheets.rewrite.parquet_columns import rewrite_parquet
from discreet.sheets.same_layout import write_same
from discreet.sheets.sources.by_kind import grids_of
from tests.sheets.gallery.draft import Draft, written

PAGE = "<html><body><table>{}</table></body></html>"
HEADER = "<tr><th>Ward</th><th>Red</th><th>Blue</th><th>All</th></tr>"
BODY = """<tr><td>North</td><td>3</td><td>40</td><td>43</td></tr>
<tr><td>East</td><td>50</td><td>60</td><td>110</td></tr>
<tr><td>All</td><td>53</td><td>100</td><td>153</td></tr>"""

attributes = st.sampled_from(
    ("", "", "", " hidden", ' style="display:none"', ' aria-hidden="true"', " rowspan=2", " colspan=2", ' class="a"')
)
words = st.sampled_from(("1", "23", "North", "", " ", "4 5", "*"))
HIDING = ("script", "style", "select", "svg", "del", "template", "option")
inner = st.sampled_from(
    (*HIDING, "span", "label", "b", "sup", "button", "data", "p", "table", "custom-cell", "input", "br", "a")
)
pieces = st.one_of(
    st.tuples(st.sampled_from(("tr", "td", "th", "td", "tr", "tbody", "caption")), attributes).map(
        lambda one: f"<{one[0]}{one[1]}>"
    ),
    st.tuples(inner, attributes).map(lambda one: f"<{one[0]}{one[1]}>"),
    st.one_of(inner, st.sampled_from(("td", "tr", "th", "tbody", "caption", "table"))).map(lambda tag: f"</{tag}>"),
    words,
)


@settings(max_examples=300, deadline=None)
@given(st.lists(pieces, max_size=25), st.booleans())
@example(["<tr hidden>", "<td>", "1", "<tr>", "<td>", "23"], True)
@example(["<tr>", "<td hidden>", "1", "<td>", "23"], True)
@example(["<tr>", "<td>", "<span hidden>", "1", "</td>", "<td>", "23"], True)
def test_any_page_is_read_in_one_way(tmp_path_factory: pytest.TempPathFactory, parts: list[str], rows: bool) -> None:
    """However its elements are nested, hidden or left open: what was read stands where it is written."""
    path = tmp_path_factory.mktemp("page") / "page.html"
    text = "".join(parts)
    path.write_text(PAGE.format(f"<tr><td>0</td></tr>{text}" if rows else text))
    try:
        grids = grids_of(path)
    except InputError:  # a page without a table
        return
    stood: dict[Place, object] = {grid.place(*at): cell.value for grid in grids for at, cell in grid.cells.items()}
    if stood:
        rewrite_html(path.read_bytes(), path.name, Edits({}, frozenset(stood), stood=stood))


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from((*"a1;,\t|\"' .\n\r", "\r\n", '"a"', '"1,2"', "x")), max_size=40))
@example(list('"1,003";"2,040"\n"5,050";"6,060"\n'))
def test_any_text_is_read_in_one_way(tmp_path_factory: pytest.TempPathFactory, signs: list[str]) -> None:
    """Whatever separators, quotation marks and ends of lines it has."""
    path = tmp_path_factory.mktemp("text") / "text.csv"
    path.write_bytes("".join(signs).encode())
    try:
        (grid,) = grids_of(path)
        stood: dict[Place, object] = {grid.place(*at): cell.value for at, cell in grid.cells.items()}
        rewrite_delimited(path.read_bytes(), path.name, Edits({}, frozenset(stood), stood=stood))
    except InputError as refused:
        event(str(refused))
        if "a quotation mark is left open" not in str(refused) and "is empty" not in str(refused):
            raise


def protected(page: str, folder: Path) -> str:
    """A page with the numbers of its first column hidden."""
    source = folder / "page.html"
    source.write_text(page)
    (grid,) = grids_of(source)
    stood = {grid.place(*at): cell.value for at, cell in grid.cells.items()}
    first = {place: "*" for place, value in stood.items() if value in ("3", "50")}
    write_same(source, folder / "out.html", first, shown=stood, stood=stood)
    return (folder / "out.html").read_text()


@pytest.mark.parametrize(
    "before",
    [
        "<tr hidden><td>West</td><td>3</td><td>4</td><td>7</td></tr>",
        '<tr style="display:none"><td>West<td>3<td>4<td>7',
        "<tr><th>Ward</th><th>Red</th><th>Blue</th><th>All</th></tr>",
    ],
)
def test_rows_that_are_not_displayed_move_no_mark(tmp_path: Path, before: str) -> None:
    """They are neither read nor written."""
    text = protected(PAGE.format(HEADER + before + BODY), tmp_path)
    assert "<td>North</td><td>*</td><td>40</td>" in text
    assert "<td>East</td><td>*</td><td>60</td>" in text
    assert "West" not in text


def test_columns_that_are_not_displayed_move_no_mark(tmp_path: Path) -> None:
    """As a column of codes that a script sorts by."""
    page = PAGE.format(HEADER + BODY).replace("</td><td>", "</td><td hidden>7</td><td>", 1)
    page = page.replace("<td>East</td>", "<td>East</td><td style='display: none'>8</td>")
    text = protected(page, tmp_path)
    assert "<td>North</td><td>*</td><td>40</td>" in text
    assert "<td>East</td><td>*</td><td>60</td>" in text


def test_texts_in_elements_of_a_page_stay(tmp_path: Path) -> None:
    """A button that sorts, a number with its value for programs, an element of the page's own; without the elements."""
    page = PAGE.format(HEADER + BODY).replace("<th>Ward", "<th><button>Ward</button>")
    page = page.replace("<td>40", '<td><data value="40">40</data>').replace("<td>East", "<td><my-label>East</my-label>")
    text = protected(page, tmp_path)
    assert "<th>Ward</th>" in text
    assert "<td>North</td><td>*</td><td>40</td>" in text
    assert "<td>East</td>" in text


def test_a_table_in_a_form_is_written(tmp_path: Path) -> None:
    """As pages have it whose tables are filtered."""
    text = protected(
        f"<html><body><form><my-page>{PAGE.format(HEADER + BODY)}</my-page></form></body></html>", tmp_path
    )
    assert "<td>North</td><td>*</td>" in text
    assert "form" not in text


def test_a_file_that_says_something_else_is_refused(tmp_path: Path) -> None:
    """Nothing is written, and no number is told."""
    import pandas as pd

    table = io.BytesIO()
    pd.DataFrame({"ward": ["North"], "n": [7]}).to_parquet(table)
    files = (
        (rewrite_delimited, b"ward,n\nNorth,7\n", "a.csv", ("", 2, 2)),
        (rewrite_html, b"<table><tr><td>North<td>7</table>", "a.html", ("table 1", 2, 2)),
        (rewrite_parquet, table.getvalue(), "a.parquet", ("", 2, 2)),
    )
    for rewrite, data, name, place in files:
        read: object = "7" if name != "a.parquet" else 7
        rewrite(data, name, Edits({place: "*"}, stood={place: read}))
        for other in ("8", 8):
            with pytest.raises(InputError, match="1 cell does not stand where it was read") as refused:
                rewrite(data, name, Edits({place: "*"}, stood={place: other}))
            assert "8" not in str(refused.value)
            assert "7" not in str(refused.value)


def test_a_table_in_a_drawing_of_a_sheet_moves_no_row(tmp_path: Path) -> None:
    """Its rows are not those of the sheet (.ods)."""
    draft = Draft("Wards")
    lines: list[list[str | int]] = [["Ward", "Red"], ["North", 3], ["East", 50]]
    for row, line in enumerate(lines, 1):
        draft.line(row, line)
    path = written([draft], tmp_path, "ods")
    inside = "<table:shapes><draw:frame xmlns:draw='urn:x'><table:table><table:table-row/></table:table></draw:frame>"
    with zipfile.ZipFile(path) as package:
        parts = {name: package.read(name) for name in package.namelist()}
    content = parts["content.xml"]
    start = re.search(rb"<table:table [^>]*>", content)
    assert start is not None
    drawn = content[: start.end()] + inside.encode() + b"</table:shapes>" + content[start.end() :]
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as package:
        for name, part in (parts | {"content.xml": drawn}).items():
            package.writestr(name, part)
    path.write_bytes(data.getvalue())
    (grid,) = grids_of(path)
    assert grid.value(2, 2) == 3
    stood = {grid.place(*at): cell.value for at, cell in grid.cells.items()}
    write_same(path, tmp_path / "out.ods", {grid.place(2, 2): "*"}, shown=stood, stood=stood)
    assert grids_of(tmp_path / "out.ods")[0].value(2, 2) == "*"
    with pytest.raises(InputError, match="1 cell does not stand where it was read"):
        write_same(path, tmp_path / "out.ods", {grid.place(3, 2): "*"}, shown=stood, stood={grid.place(3, 2): 3})
