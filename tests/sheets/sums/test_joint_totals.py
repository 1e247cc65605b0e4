"""A total above columns of two headers, without a label of the second: parts by chance do not stand in its way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import openpyxl
import pytest

from discreet.sheets.reading_sheets import read_table


def sheet(path: Path, inner: np.ndarray) -> Path:
    """Pupils by year, meals and needs; all of them behind."""
    book = openpyxl.Workbook()
    made = book.worksheets[0]
    made.append(["Year group", "Meals", None, "No meals", None, "All pupils"])
    made.append([None, "Needs", "No needs", "Needs", "No needs", None])
    rows = np.vstack([inner, inner.sum(axis=0)])
    names = [*(f"Year {k}" for k in range(1, len(inner) + 1)), "Total"]
    for name, row in zip(names, rows.tolist(), strict=True):
        made.append([name, *row, sum(row)])
    for cells in ("B1:C1", "D1:E1"):
        made.merge_cells(cells)
    book.save(path)
    return path


@pytest.mark.parametrize("seed", range(12))
def test_the_total_of_both_is_found(seed: int, tmp_path: Path) -> None:
    """Also where one group is nowhere more than the other, as a part of it would be."""
    draw = np.random.default_rng(seed)
    inner = draw.poisson(40, (4, 4))
    if seed % 2:
        inner[:, 2:] = inner[:, :2] + draw.poisson(15, (4, 2))
    read = read_table(sheet(tmp_path / "t.xlsx", inner))
    assert [d.total for d in read.dimensions[:2]] == ["Total", "All pupils"]
    assert not read.dimensions[1].groups
    assert read.table.n == inner.sum()


def test_small_numbers_of_a_smaller_group(tmp_path: Path) -> None:
    """Four pupils beside six, and so on: the total counts both groups, so that none is a part of the other."""
    inner = np.array([[4, 21, 6, 60], [7, 25, 8, 70], [5, 19, 9, 66]])
    read = read_table(sheet(tmp_path / "t.xlsx", inner))
    assert (read.dimensions[1].total, read.table.n) == ("All pupils", 300)
