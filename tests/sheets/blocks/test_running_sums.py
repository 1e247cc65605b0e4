"""Columns that add up another row by row are not counts to publish beside it."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path

import pytest

from discreet.errors import InputError
from discreet.sheets.reading_sheets import read_tables

COUNTS = (3, 7, 5, 9, 2)


def sheet(folder: Path, column: list[int], total: bool) -> Path:
    """Counts by month, and a column beside them, with a row of totals or without."""
    rows = [("Month", "Deaths", "To date"), *zip(("Jan", "Feb", "Mar", "Apr", "May"), COUNTS, column, strict=True)]
    rows += [("Total", sum(COUNTS), column[-1])] if total else []
    path = folder / "months.csv"
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("total", [False, True])
def test_a_running_sum_is_refused_and_left_aside_by_its_header(total: bool, tmp_path: Path) -> None:
    """Whatever it is called; with the option that settles it the counts alone are the table."""
    path = sheet(tmp_path, list(accumulate(COUNTS)), total)
    with pytest.raises(InputError, match="column C is the running sum of column B"):
        read_tables(path)
    (table,) = read_tables(path, leave="To date")
    assert [d.name for d in table.dimensions] == ["Month"]


def test_another_column_is_read(tmp_path: Path) -> None:
    """One number off is no running sum."""
    column = [3, 10, 15, 25, 26]
    (table,) = read_tables(sheet(tmp_path, column, False))
    assert len(table.places) == 2 * len(COUNTS)
