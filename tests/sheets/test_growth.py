"""Sheets of eight times the rows take about eight times as long, and not the square of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from discreet.sheets.reading_sheets import read_tables
from discreet.sheets.rewrite.edits import Edits, SourceCells, settle_edits
from discreet.sheets.sheet_grid import CellPlace
from discreet.sheets.sheet_layout import DerivedNumber

ROWS, TIMES = 500, 8
MOST = 0.5 * TIMES**2
"""Of the square of the rows would follow twice that, or more; a line stays at an eighth to a fourth of it."""


def shares(rows: int, folder: Path) -> None:
    """A column of percentages that stay as they are."""
    rows *= 5
    numbers = {("S", row, column): float((50, 100, 50)[column - 1]) for row in range(rows) for column in (1, 2, 3)}
    derived = [
        DerivedNumber(CellPlace("S", row, 3), "share", CellPlace("S", row, 1), CellPlace("S", row, 2))
        for row in range(rows)
    ]
    settled = settle_edits(Edits({}, frozenset(numbers), derived), SourceCells(numbers))
    assert settled.shown == frozenset(numbers)


def notes(rows: int, folder: Path) -> None:
    """As many notes as rows of numbers."""
    lines = ["area;f;m", *(f"L{row};{3 * row};{7 * row + 1}" for row in range(rows)), ""]
    path = folder / "notes.csv"
    path.write_text("\n".join([*lines, *(f"Note {row}: moved" for row in range(rows))]))
    assert len(read_tables(path)[0].layout.notes) == rows


def without_totals(rows: int, folder: Path) -> None:
    """A list of labels, each of which might be the sum of all others."""
    path = folder / "list.csv"
    path.write_text("\n".join(["area;f;m", *(f"L{row};{3 + row % 9};{1 + row % 7}" for row in range(2 * rows))]))
    assert len(read_tables(path)[0].published.codes) == 4 * rows


def ranges_in_labels(rows: int, folder: Path) -> None:
    """Labels that name ranges, none of which is part of another."""
    path = folder / "ranges.csv"
    lines = (f"Streets {20 * row}-{20 * row + 9};{3 + row % 9};{1 + row % 7}" for row in range(2 * rows))
    path.write_text("\n".join(["area;f;m", *lines]))
    assert len(read_tables(path)[0].published.codes) == 4 * rows


def large_numbers(rows: int, folder: Path) -> None:
    """Numbers that would prove a sum, if they were one."""
    path = folder / "large.csv"
    values = [(10**7 + row * row * 7919 % 10**6, 10**8 + row * row * 104_729 % 10**7) for row in range(2 * rows)]
    path.write_text("\n".join(["area;f;m", *(f"L{row};{f};{m}" for row, (f, m) in enumerate(values))]))
    assert len(read_tables(path)[0].published.codes) == 4 * rows


def seconds(work: Callable[[int, Path], None], rows: int, folder: Path) -> float:
    """Of the processor, the least of two runs."""
    taken = []
    for _ in range(2):
        began = time.process_time()
        work(rows, folder)
        taken.append(time.process_time() - began)
    return min(taken)


CASES = [shares, notes, without_totals, ranges_in_labels, large_numbers]


@pytest.mark.parametrize("work", CASES, ids=lambda work: work.__name__)
def test_time_grows_with_the_rows(work: Callable[[int, Path], None], tmp_path: Path) -> None:
    """And not with their square."""
    work(50, tmp_path)  # what is imported on the way does not count
    assert seconds(work, TIMES * ROWS, tmp_path) < MOST * seconds(work, ROWS, tmp_path)
