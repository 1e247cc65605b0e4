"""Codes and labels that begin as a formula does, or hold markup: the same texts everywhere, nothing that runs."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from html.parser import HTMLParser

import openpyxl
import pytest

from discreet import Dimension, Publish, Release, Table
from discreet.formats import to_bytes

TEXTS = ("=1+1", "+1", "-1", "@SUM(A1)", '=HYPERLINK("http://example.org")', "\t=1", "<script>x</script>", "{=1}")


def release() -> Release:
    labels = {text: f"={text}" for text in TEXTS}
    layers = [Dimension.flat(name, ["=a", "b"], labels={"=a": "@a"}) for name in ("=layer", "@columns")]
    rows = Dimension.flat("-rows", TEXTS, labels=labels)
    counts = [[[k + 7 for _ in range(2)] for k in range(len(TEXTS))] for _ in range(2)]
    table = Table.of(counts, [layers[0], rows, layers[1]])
    return Publish()(table).release(title="=1+1", source="@x", notes=("-1",))


def test_a_workbook_holds_texts_and_no_formula() -> None:
    """Every cell with text has the type of text, and no part of the file holds a formula or an outside link."""
    data = to_bytes(release(), "xlsx")
    book = openpyxl.load_workbook(io.BytesIO(data))
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row if isinstance(cell.value, str)]
    assert {cell.data_type for cell in cells} == {"s"}
    assert {*TEXTS, "=a", "@a", "-rows"} <= {cell.value for cell in cells}
    with zipfile.ZipFile(io.BytesIO(data)) as parts:
        for name in parts.namelist():
            text = parts.read(name).decode()
            assert not (name.startswith("xl/worksheets/") and re.search(r"<f[ >]", text))
            assert 'TargetMode="External"' not in text


class Tags(HTMLParser):
    """Elements and texts of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data.strip())


def test_a_page_shows_markup_as_text() -> None:
    """Nothing in a code is an element of the page."""
    page = Tags()
    page.feed(to_bytes(release(), "html").decode())
    assert "script" not in page.tags
    assert "=<script>x</script>" in page.texts


@pytest.mark.parametrize("labels", [False, True])
def test_csv_keeps_codes_as_they_are(labels: bool) -> None:
    """No apostrophe is put before a sign: what is read is what was written."""
    data = to_bytes(release(), "csv", labels=labels).decode()
    rows = list(csv.DictReader(io.StringIO(data)))
    assert set(TEXTS) <= {row["-rows"] for row in rows}
