"""Cells by their place: letters of columns, ranges, values as labels."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.sheets.sheet_grid import (
    CellPlace,
    CellRange,
    SheetCell,
    SheetGrid,
    cell_range,
    column_letters,
    column_number,
)


@given(st.integers(1, 16_384))
def test_letters_and_numbers_of_columns_are_the_same(column: int) -> None:
    """Every column of a workbook there and back, and longer letters come later."""
    assert column_number(column_letters(column)) == column
    assert len(column_letters(column + 1)) >= len(column_letters(column))


@given(st.lists(st.integers(1, 900), min_size=4, max_size=4))
def test_a_range_is_read_as_it_is_written(ends: list[int]) -> None:
    """Whatever its corners, and with the signs of an absolute address."""
    rows = sorted(ends[:2])
    columns = sorted(ends[2:])
    box = CellRange(rows[0], columns[0], rows[1], columns[1])
    assert cell_range(box.address) == box
    first, last = box.address.split(":")
    assert cell_range(f"{last}:{first}") == box
    assert box.holds(rows[0], columns[1])
    assert not box.holds(rows[1] + 1, columns[0])


@pytest.mark.parametrize("text", ["", "A1", "3:F20", "A0:B2", "People!A1:B2"])
def test_what_is_not_a_range_is_refused(text: str) -> None:
    """With how one is written."""
    with pytest.raises(InputError, match="A3:F20"):
        cell_range(text)


def test_the_extent_is_that_of_cells_that_are_not_blank() -> None:
    """A grid need not begin in A1."""
    grid = SheetGrid("people.xlsx", "People", {(4, 2): SheetCell("North"), (6, 3): SheetCell(12)})
    assert grid.extent == CellRange(4, 2, 6, 3)
    assert grid.place(6, 3) == CellPlace("People", 6, 3)
    assert (grid.text(4, 2), grid.text(5, 2), grid.value(6, 3)) == ("North", "", 12)
