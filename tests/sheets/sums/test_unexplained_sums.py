"""Sums of numbers that no label explains are asked about; those of the table, and chance, are not."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from discreet.data.code_groups import Group
from discreet.data.dimension import Dimension
from discreet.errors import InputError
from discreet.sheets.reading_sheets import read_table, read_tables
from discreet.sheets.sums.unexplained_sums import _in_table, _sums
from tests.sheets.test_questions import Rows, book

GROUPS: Rows = [
    [None, "Clinic", None, None, "Ward", None, None],
    ["Area", "New", "Again", "Seen", "New", "Again", "Stayed"],
    ["North", 120, 240, 360, 44, 71, 115],
    ["South", 88, 190, 278, 2, 9, 11],
    ["West", 61, 300, 361, 80, 12, 92],
]
COUNTS = np.array([[120, 88, 61, 31], [240, 190, 300, 12], [360, 278, 361, 43], [11, 9, 4, 2]], float)
LABELS = [("New",), ("Again",), ("Seen",), ("Lost",)]


def test_sums_are_found_by_numbers_alone() -> None:
    """The third row adds up the first two; one line that differs denies it, and a hidden one says nothing."""
    shown = np.ones(COUNTS.shape, bool)
    assert list(_sums(COUNTS, shown, LABELS, 0.0)) == [(2, [0, 1])]
    other = COUNTS.copy()
    other[2, 3] += 1
    assert not list(_sums(other, shown, LABELS, 0.0))
    shown[2, 3] = False
    assert list(_sums(other, shown, LABELS, 0.0)) == [(2, [0, 1])]


def test_sums_of_long_lists_stand_together() -> None:
    """Of more rows than all sets can be tried of, a total behind or before its parts is found."""
    rows = np.random.default_rng(1).integers(50, 500, (20, 5)).astype(float)
    rows[12], rows[0] = rows[9:12].sum(axis=0), rows[1:4].sum(axis=0)
    labels = [(f"row {k}",) for k in range(20)]
    found = list(_sums(rows, np.ones(rows.shape, bool), labels, 0.0))
    assert found == [(0, [1, 2, 3]), (12, [9, 10, 11])]


def test_a_sum_of_the_table_is_explained() -> None:
    """The same finest cells on both sides; a remainder that is not on the sheet is a cell like others."""
    flat = Dimension.flat("visit", ["New", "Again", "Seen", "Lost"], total=None)
    assert not _in_table(LABELS, [flat], 2, [0, 1], ())
    nested = Dimension("visit", ("New", "Again", "Lost"), (Group("Seen", (("New", 1), ("Again", 1)), 0),), None)
    assert _in_table(LABELS, [nested], 2, [0, 1], ())
    assert _in_table(LABELS, [nested], 2, [0], {("Again",)}), "a row of zeros may be left out of the sum"
    rest = Dimension(
        "visit", ("New", "Again", "Lost", "rest"), (Group("Seen", (("New", 1), ("Again", 1), ("rest", 1)), 0),), None
    )
    assert not _in_table(LABELS, [rest], 2, [0, 1], ())


def test_every_group_of_a_nested_header_is_its_own_sum(tmp_path: Path) -> None:
    """Totals with the name of their group, and a column that stands alone beside the groups."""
    rows = [[*row, extra] for row, extra in zip(GROUPS, ("Day care", None, 7, 8, 9), strict=True)]
    rows[1][3], rows[1][6] = "All clinic", "All ward"
    across = read_table(book(tmp_path, rows)).dimensions[1]
    assert across.leaves_of("Clinic") == {"Clinic / New": 1, "Clinic / Again": 1}
    assert across.leaves_of("Ward") == {"Ward / New": 1, "Ward / Again": 1}
    assert "Day care" in across.leaves


GRADES: Rows = [
    ["School", "Entries", "A*", "A", "B", "C", "A*-A", "A*-B", "A*-C"],
    ["Oak", 60, 3, 12, 20, 25, 15, 35, 60],
    ["Elm", 48, 8, 10, 16, 14, 18, 34, 48],
    ["Ash", 71, 11, 19, 21, 20, 30, 51, 71],
    ["Yew", 66, 9, 14, 30, 13, 23, 53, 66],
]
FLOWS: Rows = [
    ["Team", "Open at start", "New", "Closed", "Open at end"],
    ["Red", 44, 12, 9, 47],
    ["Blue", 31, 3, 8, 26],
    ["Green", 52, 17, 21, 48],
    ["Amber", 61, 20, 31, 50],
]


@pytest.mark.parametrize("rows", [GRADES, FLOWS])
def test_the_column_that_is_named_can_be_left_aside(rows: Rows, tmp_path: Path) -> None:
    """The option of each message is taken word for word until the table is read, without a sum that nobody knows."""
    path = book(tmp_path, rows)
    left: list[str] = []
    for _ in rows[0]:
        try:
            tables = read_tables(path, leave=left)
        except InputError as question:
            named = re.search(r"leave='([^']+)', --leave", str(question))
            assert named is not None
            left.append(named[1])
        else:
            break
    assert left
    there = {place.address for table in tables for places in table.places.values() for place in places}
    assert len(there) == (len(rows) - 1) * (len(rows[0]) - 1 - len(left))
