"""Cells of a worksheet as its part has them: numbers, texts, formulas, and which of them nobody sees."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple
from xml.etree.ElementTree import Element

from discreet.errors import InputError
from discreet.sheets.excel.excel_names import AREA, MAIN, NAMES
from discreet.sheets.excel.excel_texts import SourceTexts, plain_of
from discreet.sheets.rewrite.number_look import first_number
from discreet.sheets.sheet_grid import CellRange, cell_range, column_number

_NUMBER = re.compile(r"-?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
_CELL_TAG, _VALUE_TAG = f"{{{MAIN}}}c", f"{{{MAIN}}}v"
ERRORS = ("#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!")
TRUE = ("1", "true")
MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384
SMALLEST_HEIGHT = 2.0  # points: below that a row shows nothing
SMALLEST_WIDTH = 0.3  # signs
WHOLE_DIGITS = 16  # fewer are a whole number to the last of them


class StoredCell(NamedTuple):
    """A cell with what was stored for it. ``number`` is also that of a text which is one."""

    row: int
    column: int
    style: int
    kind: str
    """"number", "date", "text", "truth", "error", "formula" (without a result) or "empty"."""
    raw: str = ""
    number: float | None = None
    rich: Element | None = None
    formula: Element | None = None


@dataclass(frozen=True)
class StoredSheet:
    """A worksheet: its name, its rows with their cells, and the rows and columns that are hidden."""

    name: str
    root: Element
    rows: tuple[tuple[int, Element, tuple[StoredCell, ...]], ...]
    hidden_rows: frozenset[int]
    hidden_columns: tuple[tuple[int, int], ...]
    merged: tuple[CellRange, ...]
    rows_hidden: bool = False
    """Whether all rows that do not say otherwise are hidden."""

    def is_hidden_column(self, column: int) -> bool:
        """Whether a column is hidden, or too narrow to show anything."""
        return bool(self.hidden_columns) and any(first <= column <= last for first, last in self.hidden_columns)

    def cells(self) -> Iterator[StoredCell]:
        """All cells, row by row."""
        for _, _, cells in self.rows:
            yield from cells


def stored_sheet(name: str, root: Element, texts: SourceTexts, *, from_1904: bool) -> StoredSheet:
    """Read a worksheet; its rows keep what they say of themselves, and their cells are emptied out of the tree."""
    parts = {NAMES.short(child.tag): child for child in root}
    view = parts.get("sheetFormatPr")
    rows = []
    before = 0
    for element in parts.get("sheetData", ()):
        if NAMES.short(element.tag) != "row":
            continue
        number = int(text) if (text := element.get("r", "")).isdecimal() else before + 1
        if not before < number <= MOST_ROWS:
            raise InputError(f"sheet {name!r} is damaged: its rows are not in order")
        before = number
        rows.append((number, element, tuple(_cells(element, number, texts, from_1904))))
        del element[:]  # the tree of a large sheet is many times what its cells say
    columns = [c for c in parts.get("cols", ()) if c.get("hidden") in TRUE or _below(c, "width", SMALLEST_WIDTH)]
    areas = [c.get("ref", "") for c in parts.get("mergeCells", ())]
    return StoredSheet(
        name,
        root,
        tuple(rows),
        frozenset(n for n, e, _ in rows if e.get("hidden") in TRUE or _below(e, "ht", SMALLEST_HEIGHT)),
        tuple((_whole(c, "min"), _whole(c, "max")) for c in columns),
        tuple(cell_range(area) for area in areas if AREA(area) and ":" in area),
        view is not None and view.get("zeroHeight") in TRUE,
    )


def _whole(element: Element, name: str) -> int:
    text = element.get(name, "1")
    return int(text) if text.isdecimal() else 1


def _below(element: Element, name: str, least: float) -> bool:
    text = element.get(name, "")
    return _NUMBER.fullmatch(text) is not None and float(text) < least


def _cells(row: Element, number: int, texts: SourceTexts, from_1904: bool) -> Iterator[StoredCell]:
    column = 0
    end = str(number)
    for element in row:
        if element.tag != _CELL_TAG and NAMES.short(element.tag) != "c":
            continue
        place = element.get("r", "")
        letters = place[: -len(end)] if place.endswith(end) else place.rstrip("0123456789")
        following = column_number(letters) if letters.isalpha() and letters.isascii() else column + 1
        if not column < following <= MOST_COLUMNS:
            raise InputError(f"a sheet is damaged: the cells of row {number} are not in order")
        column = following
        if len(element) == 1 and element[0].tag == _VALUE_TAG and element.get("t", "n") == "n":  # most of all cells
            value = element[0].text or ""
            if value.isdecimal() and value.isascii() and len(value) < WHOLE_DIGITS:
                yield StoredCell(number, column, _style(element), "number", value, float(value))
                continue
        yield _cell(element, number, column, texts, from_1904)


def _style(element: Element) -> int:
    text = element.get("s", "0")
    return int(text) if text.isdecimal() else 0


def _cell(element: Element, row: int, column: int, texts: SourceTexts, from_1904: bool) -> StoredCell:
    style = _style(element)
    kind = element.get("t", "n")
    value, formula, rich = "", None, None
    for child in element:
        name = NAMES.short(child.tag)
        if name == "v":
            value = child.text or ""
        elif name == "f":
            formula = child
        elif name == "is":
            rich = child
    if kind == "s":
        value, rich = texts.text(value)
    elif kind == "inlineStr":
        value = "" if rich is None else plain_of(rich)
    if kind in ("s", "str", "inlineStr"):
        if not value and formula is None:
            return StoredCell(row, column, style, "empty")
        return StoredCell(row, column, style, "text", value, first_number(value), rich, formula)
    if kind == "d":
        value = _serial(value, from_1904)
    if not value:
        return StoredCell(row, column, style, "empty" if formula is None else "formula", formula=formula)
    if kind == "e":
        return StoredCell(row, column, style, "error", value if value in ERRORS else "#VALUE!", formula=formula)
    known = _NUMBER.fullmatch(value) is not None and math.isfinite(float(value))
    if not known:
        raise InputError(f"a sheet is damaged: row {row}, column {column} is said to be a number and is not")
    kind = {"b": "truth", "d": "date"}.get(kind, "number")
    return StoredCell(row, column, style, kind, value, float(value), formula=formula)


def _serial(text: str, from_1904: bool) -> str:
    """A date of the strict edition as days since the first of all days."""
    try:
        moment = dt.datetime.fromisoformat(text.strip().removesuffix("Z"))
    except ValueError:
        return ""
    passed = moment.replace(tzinfo=None) - (dt.datetime(1904, 1, 1) if from_1904 else dt.datetime(1899, 12, 30))
    days = passed.days + passed.seconds / 86_400
    return str(int(days)) if days == int(days) else repr(days)
