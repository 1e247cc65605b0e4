"""Tables of an OpenDocument spreadsheet: rows and cells with their places, repeated ones told apart as needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from xml.etree.ElementTree import Element

from discreet.errors import InputError
from discreet.sheets.opendocument.opendocument_names import COLUMN_CONTAINERS, CONTAINERS, NAMES
from discreet.sheets.opendocument.opendocument_styles import DocumentStyles
from discreet.sheets.rewrite.number_look import first_number

MOST_ROWS = 1_048_576
MOST_REPEATED = 50_000  # rows with something in them
VALUES = {
    "float": "office:value",
    "percentage": "office:value",
    "currency": "office:value",
    "date": "office:date-value",
    "time": "office:time-value",
    "boolean": "office:boolean-value",
}


class DocumentCell(NamedTuple):
    """A cell, or several alike in a row: where the first stands, how many there are, and what they say."""

    element: Element
    about: dict[str, str]
    """Its attributes, by their short names."""
    column: int
    times: int
    kind: str
    """The type of its value ("float", "date", ...), "text", or "empty"."""
    raw: str
    number: float | None
    text: str
    covered: bool


def columns_of(table: Element, styles: DocumentStyles) -> Iterator[tuple[int, int, Element, bool]]:
    """First column, how many, the element, and whether they are hidden."""
    column = 1
    for element in below(table, "table:table-column", COLUMN_CONTAINERS):
        about = NAMES.attributes(element)
        times = repeats(about.get("table:number-columns-repeated"))
        small = styles.is_too_small(about.get("table:style-name"), "table-column", "style:column-width")
        yield column, times, element, small or about.get("table:visibility", "visible") != "visible"
        column += times


def below(element: Element, name: str, containers: tuple[str, ...]) -> Iterator[Element]:
    """Rows or columns in their order, those in groups and repeated headers as well."""
    for child in element:
        short = NAMES.short(child.tag)
        if short == name:
            yield child
        elif short in containers:
            yield from below(child, name, containers)


def repeats(text: str | None) -> int:
    """How often something stands there, at most as often as a sheet has rows."""
    return min(max(1, int(text)), MOST_ROWS) if text and text.isdecimal() and len(text) < 9 else 1


DocumentRow = tuple[int, int, Element, tuple[DocumentCell, ...]]
"""First row, how many alike, the element, and its cells."""


def document_rows(table: Element, name: str) -> list[DocumentRow]:
    """The rows of a sheet in their order."""
    rows = []
    row = 1
    for element in below(table, "table:table-row", CONTAINERS):
        times = repeats(NAMES.attributes(element).get("table:number-rows-repeated"))
        cells = tuple(_cells(element))
        filled = any(cell.kind != "empty" for cell in cells)
        if filled and (times > MOST_REPEATED or sum(c.times for c in cells if c.kind != "empty") > MOST_REPEATED):
            raise InputError(f"sheet {name!r} repeats a row with contents too often; delete the rows below the table")
        rows.append((row, times, element, cells))
        row += times
    return rows


def _cells(row: Element) -> Iterator[DocumentCell]:
    column = 1
    for element in row:
        short = NAMES.short(element.tag)
        if short not in ("table:table-cell", "table:covered-table-cell"):
            continue
        about = NAMES.attributes(element)
        times = repeats(about.get("table:number-columns-repeated"))
        yield _cell(element, about, column, times, short == "table:covered-table-cell")
        column += times


def _cell(element: Element, about: dict[str, str], column: int, times: int, covered: bool) -> DocumentCell:
    text = "\n".join(words(child) for child in element if NAMES.short(child.tag) == "text:p")
    kind = about.get("office:value-type", "")
    raw = about.get(VALUES.get(kind, ""), "")
    if kind in VALUES and raw:
        number = _number(kind, raw)
        return DocumentCell(element, about, column, times, kind, raw, number, text, covered)
    filled = bool(text.strip()) or "table:formula" in about or "office:string-value" in about
    kind = "text" if filled else "empty"
    return DocumentCell(element, about, column, times, kind, text, first_number(text), text, covered)


def _number(kind: str, raw: str) -> float:
    """The number that a value is; of dates and times, their digits, which nothing else may repeat."""
    if kind in ("date", "time"):
        return float("".join(sign for sign in raw if sign.isdigit()) or 0)
    if kind == "boolean":
        return float(raw == "true")
    try:
        return float(raw)
    except ValueError:
        raise InputError("a sheet is damaged: a cell is said to be a number and is not") from None


def words(element: Element) -> str:
    """The letters of a paragraph; comments in it are not read."""
    parts = [element.text or ""]
    for child in element:
        short = NAMES.short(child.tag)
        if short == "text:s":
            parts.append(" " * repeats(NAMES.attributes(child).get("text:c")))
        elif short in ("text:tab", "text:line-break"):
            parts.append("\t" if short == "text:tab" else "\n")
        elif short in ("text:span", "text:a"):
            parts.append(words(child))
        parts.append(child.tail or "")
    return "".join(parts)
