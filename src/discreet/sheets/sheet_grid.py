"""One sheet as a grid of cells, whatever file or frame it comes from: values, formats, indents, formulas, merges.

Rows and columns are counted from 1, as spreadsheets show them.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

from discreet.errors import InputError

INDENT = 4
"""Blanks that a level of indentation is worth, where both are used."""
CellValue = int | float | str | bool | dt.datetime | dt.date | dt.time | None


class CellPlace(NamedTuple):
    """Where a cell stands: the name of its sheet ("" where a file has none), its row and its column, from 1."""

    sheet: str
    row: int
    column: int

    @property
    def address(self) -> str:
        """The place as spreadsheets write it.

        >>> CellPlace("People", 4, 28).address
        'AB4'
        """
        return f"{column_letters(self.column)}{self.row}"


class CellRange(NamedTuple):
    """A rectangle of cells, first and last row and column, both included."""

    first_row: int
    first_column: int
    last_row: int
    last_column: int

    @property
    def address(self) -> str:
        """The range as spreadsheets write it.

        >>> CellRange(3, 1, 20, 6).address
        'A3:F20'
        """
        first, last = CellPlace("", *self[:2]), CellPlace("", *self[2:])
        return f"{first.address}:{last.address}"

    def holds(self, row: int, column: int) -> bool:
        """Whether a cell lies in the range."""
        return self.first_row <= row <= self.last_row and self.first_column <= column <= self.last_column

    def meets(self, other: CellRange) -> bool:
        """Whether a cell lies in both ranges.

        >>> CellRange(1, 1, 5, 3).meets(CellRange(1, 5, 5, 8))
        False
        """
        rows = self.first_row <= other.last_row and other.first_row <= self.last_row
        return rows and self.first_column <= other.last_column and other.first_column <= self.last_column


class SheetCell(NamedTuple):
    """A cell that is not blank: its value as the file has it and how it is shown."""

    value: CellValue
    number_format: str = "General"
    indent: int = 0
    """How far a label is moved to the right: by the alignment of the cell, else by blanks before its text."""
    bold: bool = False
    formula: str | None = None
    """The text of a formula, with its equals sign; ``value`` is the result that was saved with it."""


@dataclass(frozen=True, eq=False)
class SheetGrid:
    """The cells of one sheet that are not blank, and what the sheet says about them."""

    source: str
    """The name of the file, or the kind of frame; for messages."""
    sheet: str
    """The name of the sheet; "" where a file has none."""
    cells: Mapping[tuple[int, int], SheetCell]
    """By row and column."""
    merged: tuple[CellRange, ...] = ()
    hidden_rows: frozenset[int] = frozenset()
    hidden_columns: frozenset[int] = frozenset()
    hidden: bool = False
    """Whether the whole sheet is hidden."""
    header_rows: int | None = None
    """How many rows are headers, where the source itself says it (a frame)."""
    stub_columns: int | None = None
    """How many columns are labels, where the source itself says it (the index of a frame)."""
    book: object = None
    """The workbook of the sheet as it was parsed, so that what writes it back does not parse it again."""
    names: Mapping[tuple[str, int], str] = field(default_factory=dict)
    """Names of header rows ("row", n) and stub columns ("column", n), where the source says them beside its cells."""
    listed: bool = False
    """Whether its rows are a list of the cells of a file in which they stand otherwise."""

    @cached_property
    def extent(self) -> CellRange:
        """The smallest range that holds all cells."""
        if not self.cells:
            return CellRange(1, 1, 1, 1)
        rows, columns = zip(*self.cells, strict=True)
        return CellRange(min(rows), min(columns), max(rows), max(columns))

    def value(self, row: int, column: int) -> CellValue:
        """What stands in a cell; None where it is blank."""
        cell = self.cells.get((row, column))
        return None if cell is None else cell.value

    def text(self, row: int, column: int) -> str:
        """What stands in a cell, as text without blanks around it."""
        cell = self.cells.get((row, column))
        return "" if cell is None else cell_text(cell)

    def place(self, row: int, column: int) -> CellPlace:
        """The place of a cell of this sheet."""
        return CellPlace(self.sheet, row, column)


def cell_text(cell: SheetCell) -> str:
    """A value as a label: whole numbers without a decimal point, dates as ISO 8601 has them.

    >>> cell_text(SheetCell(2021.0)), cell_text(SheetCell(dt.datetime(2021, 3, 1))), cell_text(SheetCell(" North "))
    ('2021', '2021-03-01', 'North')
    """
    value = cell.value
    if type(value) is int:  # most of all cells
        return str(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return value.date().isoformat()
    if isinstance(value, (dt.datetime, dt.date, dt.time)):
        return value.isoformat()
    return " ".join(str(value).split())


def leading(value: CellValue) -> int:
    """How many blanks stand before a text.

    >>> leading("  of which"), leading(3)
    (2, 0)
    """
    return len(value) - len(value.lstrip()) if isinstance(value, str) else 0


@cache
def column_letters(column: int) -> str:
    """The letters of a column.

    >>> column_letters(1), column_letters(28)
    ('A', 'AB')
    """
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


@lru_cache(16_384)
def column_number(letters: str) -> int:
    """The number of a column, from 1.

    >>> column_number("AB")
    28
    """
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def cell_range(text: str) -> CellRange:
    """A range as spreadsheets write it, with or without dollar signs.

    >>> cell_range("$A$3:F20")
    CellRange(first_row=3, first_column=1, last_row=20, last_column=6)
    """
    match = re.fullmatch(r"\$?([A-Za-z]{1,3})\$?([1-9]\d*):\$?([A-Za-z]{1,3})\$?([1-9]\d*)", text.strip())
    if match is None:
        raise InputError(
            f"range={text!r} (--range) is not a range of cells; write it as spreadsheets do, for example 'A3:F20'"
        )
    rows = sorted((int(match[2]), int(match[4])))
    columns = sorted((column_number(match[1]), column_number(match[3])))
    return CellRange(rows[0], columns[0], rows[1], columns[1])
