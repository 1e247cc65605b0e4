"""Sheets of an OpenDocument spreadsheet (.ods), read from its XML.

The kept readers with wheels give values only; the formulas, indents and hidden rows that a table needs are in the XML.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from discreet.base.number_texts import MOST_DECIMALS
from discreet.errors import DiscreetError, InputError
from discreet.sheets.opendocument.opendocument_names import COLUMN_CONTAINERS, CONTAINERS
from discreet.sheets.opendocument.opendocument_package import DocumentBook, document_book
from discreet.sheets.sheet_grid import INDENT, CellRange, CellValue, SheetCell, SheetGrid, leading

_NAMES = "urn:oasis:names:tc:opendocument:xmlns:"
OFFICE, TABLE, TEXT = f"{{{_NAMES}office:1.0}}", f"{{{_NAMES}table:1.0}}", f"{{{_NAMES}text:1.0}}"
STYLE, NUMBER = f"{{{_NAMES}style:1.0}}", f"{{{_NAMES}datastyle:1.0}}"
FORMATTING = f"{{{_NAMES}xsl-fo-compatible:1.0}}"
_ROW, _CELL, _COVERED = f"{TABLE}table-row", f"{TABLE}table-cell", f"{TABLE}covered-table-cell"
_TIMES, _DOWN, _ACROSS = (f"{TABLE}number-{what}" for what in ("columns-repeated", "rows-spanned", "columns-spanned"))
_FORMULA, _LOOK = f"{TABLE}formula", f"{TABLE}style-name"
_KIND, _VALUE, _PARAGRAPH = f"{OFFICE}value-type", f"{OFFICE}value", f"{TEXT}p"
_HOLDING = {f"{TABLE}{name.removeprefix('table:')}" for name in (*CONTAINERS, *COLUMN_CONTAINERS)}
MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384
CENTIMETRES = {"cm": 1.0, "mm": 0.1, "in": 2.54, "pt": 2.54 / 72, "pc": 2.54 / 6, "px": 2.54 / 96}
LEVEL = 0.353  # centimetres of one level of indentation, 10 points


@dataclass(frozen=True)
class _CellStyle:
    number_format: str = "General"
    indent: int = 0
    bold: bool = False


_PLAIN = _CellStyle()


def opendocument_grids(path: Path) -> list[SheetGrid]:
    """Every sheet of a spreadsheet, in its order."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path.name!r}: {error.strerror}") from None
    try:
        return _grids(document_book(data, path.name))
    except DiscreetError:
        raise
    except Exception:  # noqa: BLE001 - whatever a damaged part raises; its message may hold values
        raise InputError(f"{path.name!r} is damaged: its parts do not fit together; save it again") from None


def _grids(book: DocumentBook) -> list[SheetGrid]:
    styles: dict[str, _CellStyle] = {}
    hidden: set[str] = set()
    for root in (book.styles, book.content):
        if root is not None:
            _add_styles(root, styles, hidden)
    body = book.content.find(f"{OFFICE}body/{OFFICE}spreadsheet")
    if body is None:
        raise InputError(f"{book.name!r} holds no spreadsheet; save it as .ods or .xlsx")
    return [_sheet_grid(book, table, styles, hidden) for table in body.findall(f"{TABLE}table")]


def _add_styles(root: ElementTree.Element, styles: dict[str, _CellStyle], hidden: set[str]) -> None:
    """The styles of cells by name, and the styles of sheets that are not displayed."""
    codes = _number_formats(root)
    for element in root.iter(f"{STYLE}style"):
        name = element.get(f"{STYLE}name", "")
        if element.get(f"{STYLE}family") == "table":
            about = element.find(f"{STYLE}table-properties")
            if about is not None and about.get(f"{TABLE}display") == "false":
                hidden.add(name)
        if element.get(f"{STYLE}family") != "table-cell":
            continue
        above = styles.get(element.get(f"{STYLE}parent-style-name", ""), _CellStyle())
        paragraph = element.find(f"{STYLE}paragraph-properties")
        letters = element.find(f"{STYLE}text-properties")
        margin = None if paragraph is None else paragraph.get(f"{FORMATTING}margin-left")
        weight = None if letters is None else letters.get(f"{FORMATTING}font-weight")
        styles[name] = _CellStyle(
            codes.get(element.get(f"{STYLE}data-style-name", ""), above.number_format),
            above.indent if margin is None else round(_centimetres(margin) / LEVEL) * INDENT,
            above.bold if weight is None else weight == "bold",
        )


def _number_formats(root: ElementTree.Element) -> dict[str, str]:
    """How numbers are shown, by the name of a style of data: decimals and percent, as codes of number formats."""
    codes = {}
    for kind, sign in (("number", ""), ("currency", ""), ("percentage", "%")):
        for element in root.iter(f"{NUMBER}{kind}-style"):
            places = [int(part.get(f"{NUMBER}decimal-places", 0)) for part in element.iter(f"{NUMBER}number")]
            most = min(max(places, default=0), MOST_DECIMALS)
            codes[element.get(f"{STYLE}name", "")] = (
                f"0.{'0' * most}{sign}" if most else f"0{sign}" if sign else "General"
            )
    return codes


def _centimetres(text: str) -> float:
    """A length in centimetres.

    >>> _centimetres("10pt") > 0.35, _centimetres("0.7cm")
    (True, 0.7)
    """
    match = re.fullmatch(r"([\d.]+)([a-z]+)", text.strip())
    return float(match[1]) * CENTIMETRES.get(match[2], 0.0) if match else 0.0


def _sheet_grid(
    book: DocumentBook, table: ElementTree.Element, styles: Mapping[str, _CellStyle], hidden: set[str]
) -> SheetGrid:
    cells: dict[tuple[int, int], SheetCell] = {}
    merged: list[CellRange] = []
    hidden_rows: set[int] = set()
    column_styles, hidden_columns = _columns(table)
    row = 1
    for element in _below(table, _ROW):
        times = int(element.get(f"{TABLE}number-rows-repeated", 1))
        line = dict(_line(element, styles, column_styles))
        repeats = range(row, min(row + times, MOST_ROWS + 1)) if line else ()
        for at in repeats:
            for column, (cell, down, across) in line.items():
                if cell is not None:
                    cells[(at, column)] = cell
                if down > 1 or across > 1:
                    merged.append(CellRange(at, column, at + down - 1, column + across - 1))
        if element.get(f"{TABLE}visibility", "visible") != "visible":
            hidden_rows.update(repeats)
        row += times
    return SheetGrid(
        book.name,
        table.get(f"{TABLE}name", ""),
        cells,
        merged=tuple(merged),
        hidden_rows=frozenset(hidden_rows),
        hidden_columns=frozenset(hidden_columns),
        hidden=table.get(f"{TABLE}style-name") in hidden,
        book=book,
    )


def _below(element: ElementTree.Element, tag: str) -> Iterator[ElementTree.Element]:
    """Rows or columns in their order, inside groups and repeated headers as well, but not those of other tables."""
    for child in element:
        if child.tag == tag:
            yield child
        elif child.tag in _HOLDING:
            yield from _below(child, tag)


def _columns(table: ElementTree.Element) -> tuple[dict[int, str], set[int]]:
    """The default style of each column that has one, and the columns that are hidden."""
    styles: dict[int, str] = {}
    hidden: set[int] = set()
    column = 1
    for element in _below(table, f"{TABLE}table-column"):
        times = int(element.get(f"{TABLE}number-columns-repeated", 1))
        places = range(column, min(column + times, MOST_COLUMNS + 1))
        if style := element.get(f"{TABLE}default-cell-style-name"):
            styles.update(dict.fromkeys(places, style))
        if element.get(f"{TABLE}visibility", "visible") != "visible":
            hidden.update(places)
        column += times
    return styles, hidden


def _line(
    row: ElementTree.Element, styles: Mapping[str, _CellStyle], column_styles: Mapping[int, str]
) -> Iterator[tuple[int, tuple[SheetCell | None, int, int]]]:
    """The cells of a row that hold or span something, with how many rows and columns they span."""
    column = 1
    for element in row:
        if element.tag not in (_CELL, _COVERED):
            continue
        times = int(element.get(_TIMES, 1))
        value = _value(element) if element.tag == _CELL else None
        formula = element.get(_FORMULA)
        down = int(element.get(_DOWN, 1))
        across = int(element.get(_ACROSS, 1))
        if value is not None or formula is not None or down > 1 or across > 1:
            for at in range(column, min(column + times, MOST_COLUMNS + 1)):
                style = styles.get(element.get(_LOOK) or column_styles.get(at, ""), _PLAIN)
                cell = None
                if value is not None or formula is not None:
                    text = None if formula is None else re.sub(r"^\w+:", "", formula)
                    look = style.number_format
                    if element.get(_KIND) == "percentage" and "%" not in look:
                        look = "0%"
                    cell = SheetCell(value, look, style.indent + leading(value), style.bold, text)
                yield at, (cell, down, across)
        column += times


def _value(element: ElementTree.Element) -> CellValue:
    kind = element.get(_KIND)
    if kind in ("float", "percentage", "currency"):
        number = float(element.get(_VALUE, "nan"))
        return int(number) if number.is_integer() and abs(number) < 2**53 else number
    if kind == "date":
        stamp = dt.datetime.fromisoformat(element.get(f"{OFFICE}date-value", ""))
        return stamp.date() if stamp.time() == dt.time() else stamp
    if kind == "boolean":
        return element.get(f"{OFFICE}boolean-value") == "true"
    text = "\n".join(_paragraph(p) for p in element.findall(_PARAGRAPH))
    return text if text.strip() else None


def _paragraph(element: ElementTree.Element) -> str:
    """The text of a paragraph; several blanks in a row are an element of their own."""
    parts = [element.text or ""]
    for child in element:
        if child.tag == f"{TEXT}s":
            parts.append(" " * int(child.get(f"{TEXT}c", 1)))
        elif child.tag == f"{TEXT}tab":
            parts.append("\t")
        elif child.tag == f"{TEXT}line-break":
            parts.append("\n")
        elif not child.tag.endswith("annotation"):
            parts.append(_paragraph(child))
        parts.append(child.tail or "")
    return "".join(parts)
