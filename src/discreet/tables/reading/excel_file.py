"""Excel workbooks as discreet writes them: a sheet About, then a sheet for each layer. Read without another library."""

from __future__ import annotations

import io
import itertools
import re
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from discreet.errors import InputError
from discreet.tables.reading.layer_rows import LayerSheet, of_layers
from discreet.tables.reading.number_cells import PLAIN_SIGNS, NumberSigns
from discreet.tables.reading.raw_table import OtherLayoutError, RawTable

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
MOST_BYTES = 500_000_000  # unpacked: a small file can hold more than any memory
ABOUT, FACTS = "About", ("Title", "Source", "Method", "Status", "Note")
HEAD = 5
"""Rows of a sheet that tell whether it is a layer: four of headers, one of numbers."""
Rows = list[dict[int, str]]


def excel_file(path: Path, signs: NumberSigns = PLAIN_SIGNS) -> RawTable:
    """The table of a workbook, from all of its layers."""
    try:
        with zipfile.ZipFile(path) as book:
            if sum(part.file_size for part in book.infolist()) > MOST_BYTES:
                raise InputError(f"{path.name!r} is too large when unpacked; write the table as CSV or Parquet")
            sheets = _sheets(book)
    except (OSError, zipfile.BadZipFile, KeyError, ElementTree.ParseError):
        raise InputError(f"cannot read {path.name!r} as an Excel workbook") from None
    layers = [layer for name, rows in sheets if name != ABOUT and (layer := _layer(rows)) is not None]
    if not layers:
        raise OtherLayoutError(
            f"{path.name!r} holds no sheet that discreet wrote; save the sheet as CSV: dimensions, numbers, status"
        )
    about = next((rows for name, rows in sheets if name == ABOUT), [])
    words = [(row.get(0, "").lower(), row.get(1, "")) for row in about if row.get(0) in FACTS]
    title = about[0].get(0, "") if about else ""
    return of_layers(path.name, layers, words, title, signs)


def _sheets(book: zipfile.ZipFile) -> list[tuple[str, Rows]]:
    """The names of the sheets and their rows of text, in the order of the workbook."""
    targets = {
        relation.get("Id"): relation.get("Target", "")
        for relation in ElementTree.fromstring(book.read("xl/_rels/workbook.xml.rels"))
    }
    shared = _shared(book)
    sheets = []
    for sheet in ElementTree.fromstring(book.read("xl/workbook.xml")).iter(f"{MAIN}sheet"):
        target = targets[sheet.get(RELATION)].lstrip("/")
        part = target if target.startswith("xl/") else f"xl/{target}"
        data, name = book.read(part), sheet.get("name", "")
        ours = name == ABOUT or _is_layer(_rows(data, shared, most=HEAD))
        sheets.append((name, _rows(data, shared) if ours else []))
    return sheets


def _shared(book: zipfile.ZipFile) -> list[str]:
    if "xl/sharedStrings.xml" not in book.namelist():
        return []
    items = ElementTree.fromstring(book.read("xl/sharedStrings.xml")).iter(f"{MAIN}si")
    return [_text(item) for item in items]


def _elements(data: bytes, most: int | None) -> Iterator[ElementTree.Element]:
    """The rows of a sheet, all or the first few: a large sheet of another make is not read for its first lines."""
    if most is None:
        yield from ElementTree.fromstring(data).iter(f"{MAIN}row")
        return
    ended = (element for _, element in ElementTree.iterparse(io.BytesIO(data)) if element.tag == f"{MAIN}row")
    yield from itertools.islice(ended, most)


def _rows(data: bytes, shared: Sequence[str], most: int | None = None) -> Rows:
    rows: Rows = []
    for row in _elements(data, most):
        number = int(row.get("r", len(rows) + 1))
        rows += [{} for _ in range(number - len(rows))]
        for cell in row.iter(f"{MAIN}c"):
            rows[number - 1][_column(cell.get("r", ""))] = _cell(cell, shared)
    return rows


def _cell(cell: ElementTree.Element, shared: Sequence[str]) -> str:
    if cell.get("t") == "inlineStr":
        return _text(cell)
    value = cell.find(f"{MAIN}v")
    text = "" if value is None else value.text or ""
    return shared[int(text)] if cell.get("t") == "s" and text else text


def _text(item: ElementTree.Element) -> str:
    text = "".join(part.text or "" for part in item.iter(f"{MAIN}t"))
    return re.sub(r"_x([0-9A-F]{4})_", lambda m: chr(int(m[1], 16)), text)


def _column(place: str) -> int:
    """The number of a column from its letters.

    >>> _column("A1"), _column("AB12")
    (0, 27)
    """
    number = 0
    for letter in re.sub(r"\d", "", place):
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def _is_layer(rows: Rows) -> bool:
    return len(rows) >= HEAD and rows[1].get(0) == "measure" and rows[3].get(0) == "code"


def _layer(rows: Rows) -> LayerSheet | None:
    """A sheet as the writer has it: caption, what it is about, titles, codes, then a line for each code down.

    Names of the variables down and across stand in what it is about; in sheets of versions before, in place of titles.
    """
    if not _is_layer(rows):
        return None
    about = [rows[1].get(k, "") for k in range(max(rows[1]) + 1)]
    named = len(about) % 3 == 2  # measure and decimals, the two names, then name, code and label of what is fixed
    fixed = [tuple(about[k : k + 3]) for k in range(8 if named else 4, len(about), 3)]
    down, across = (about[5], about[7]) if named else (rows[2].get(0, ""), rows[2].get(1, ""))
    heads = [(rows[3].get(k, ""), rows[2].get(k, "")) for k in range(2, max(rows[3]) + 1)]
    body = [row for row in rows[4:] if row.get(0)]
    cells = np.array([[row.get(2 + k, "") for k in range(len(heads))] for row in body], object)
    return LayerSheet(
        measure=about[1],
        decimals=int(about[3]),
        names=(*(name for name, _, _ in fixed), down, *([across] if across else [])),
        fixed=tuple((code, label) for _, code, label in fixed),
        down=tuple((row.get(0, ""), row.get(1, "")) for row in body),
        across=tuple(heads) if across else (),
        cells=cells,
    )
