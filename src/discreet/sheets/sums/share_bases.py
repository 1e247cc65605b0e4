"""Of whom percentages are: numbers of people in headers, labels, a row or a column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.base.annotations import Array
from discreet.sheets.blocks.cell_reading import BLANK, MARKED, NUMERIC, RANGED, ReadCell
from discreet.sheets.blocks.derived_names import derived_kind
from discreet.sheets.blocks.quotient_lines import is_base
from discreet.sheets.blocks.sheet_blocks import SheetBlock
from discreet.sheets.blocks.stated_populations import header_counts, label_counts
from discreet.sheets.sums.shares import derived_number


@dataclass(frozen=True, eq=False)
class Bases:
    """Of every column (``down``) or row how many people its percentages are of, and where that stands."""

    size: Array
    """NaN where a mark stands."""
    places: tuple[tuple[int, int], ...]
    items: tuple[int, ...]
    lines: tuple[int, ...]
    """Rows or columns that may hold percentages."""
    line: int | None
    """The row or column of bases; None where headers or labels state them."""
    down: bool
    named: bool
    """Whether it is called a base; otherwise numbers must show that it is one."""

    def at(self, line: int, item: int) -> tuple[int, int]:
        """The cell of a line and an item, both by their row or column."""
        return (line, item) if self.down else (item, line)


def bases_down(block: SheetBlock) -> Bases | None:
    """Bases of columns: in their headers, or in a row that is called so."""
    labels = {row: label_of_row(block, row) for row in block.body}
    rows = [row for row in block.body if is_base(labels[row])]
    plain = tuple(r for r in block.body if r not in rows and derived_kind(labels[r], []) != "mean")
    if len(rows) == 1:
        return _base_line(block, rows[0], plain, block.values, down=True)
    if rows or not (stated := header_counts(block, block.values)):
        return None
    size = np.array([stated[column][0] for column in block.values])
    places = tuple((stated[column][1], column) for column in block.values)
    return Bases(np.where(np.isinf(size), np.nan, size), places, block.values, plain, None, down=True, named=True)


def bases_across(block: SheetBlock) -> Bases | None:
    """Bases of rows: in their labels, in a column that is called so, or in the only column that holds no shares."""
    headers = {column: heading_of(block, column) for column in block.values}
    kinds = {
        c: derived_kind(headers[c], [cell for r in block.body if (cell := block.cell(r, c)).kind != BLANK])
        for c in block.values
    }
    called = [c for c in block.values if is_base(block.grid.text(block.headers[-1], c))]
    others = [c for c in block.values if kinds[c] is None]
    plain = tuple(c for c in block.values if kinds[c] != "mean")
    if len(called) == 1 or (not called and len(others) == 1):
        column = (called or others)[0]
        lines = tuple(c for c in plain if c != column and (called or kinds[c] == "share"))
        return _base_line(block, column, lines, block.body, down=False, named=bool(called))
    if called or not (stated := label_counts(block, block.body)) or len(stated) < len(block.body):
        return None
    size = np.array([stated[row][0] for row in block.body])
    places = tuple((row, stated[row][1]) for row in block.body)
    return Bases(np.where(np.isinf(size), np.nan, size), places, block.body, plain, None, down=False, named=True)


def _base_line(
    block: SheetBlock, line: int, lines: Sequence[int], items: Sequence[int], *, down: bool, named: bool = True
) -> Bases | None:
    """Bases that stand in a row or column; None where they are not whole numbers above zero."""
    places = tuple((line, item) if down else (item, line) for item in items)
    cells = [block.cell(*place) for place in places]
    if any(cell.kind not in (NUMERIC, MARKED, RANGED) for cell in cells):
        return None
    size = np.array([math.nan if (n := derived_number(block, place)) is None else n for place in places])
    size = np.where([cell.text.startswith("(") for cell in cells], np.abs(size), size)  # "(46)" is no minus here
    size = _without_thousands(size, cells)
    known = size[~np.isnan(size)]
    if not len(known) or (known < 1).any() or (known != np.rint(known)).any():
        return None
    return Bases(size, places, tuple(items), tuple(lines), line, down=down, named=named)


def _without_thousands(size: Array, cells: Sequence[ReadCell]) -> Array:
    """Bases that are written as "1,204"."""
    for k, cell in enumerate(cells):
        if cell.digits and not cell.digits.isdecimal():
            plain = "".join(sign for sign in cell.digits if sign not in ", '\u00a0\u202f\u2019_")
            size[k] = float(plain) if plain.isdecimal() and "," in cell.digits[1:-3] else size[k]
    return size


def label_of_row(block: SheetBlock, row: int) -> str:
    """All labels of a row."""
    return " ".join(text for column in block.stub if (text := block.grid.text(row, column)))


def heading_of(block: SheetBlock, column: int) -> str:
    """All that stands above a column."""
    return " ".join(text for row in block.headers if (text := block.grid.text(row, column)))
