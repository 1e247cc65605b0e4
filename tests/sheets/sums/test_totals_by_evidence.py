"""Totals that need not add up, that are off by a little, or that a sheet gives only for two dimensions together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openpyxl
import pytest

from discreet.errors import InputError
from discreet.sheets.reading_sheets import read_table
from tests.sheets.test_questions import Rows, book, totals_of

WARDS: Rows = [
    ["Ward", "Female", "Male", "Total"],
    ["Abbey", 71, 100, 171],
    ["Beacon", 49, 4, 53],
    ["Castle", 30, 43, 73],
    ["All wards", 150, 147, 297],
]
BY_AGE: Rows = [
    ["Ward", "Female", None, "Male", None, "All persons"],
    [None, "0-64", "65+", "0-64", "65+", None],
    ["Abbey", 33, 31, 24, 40, 128],
    ["Beacon", 41, 30, 3, 30, 104],
    ["Castle", 23, 30, 25, 31, 109],
    ["All wards", 97, 91, 52, 101, 341],
]


def off_by(rows: Rows, row: int, column: int, gap: int) -> Rows:
    """The table with one number changed."""
    changed = [list(line) for line in rows]
    changed[row][column] += gap
    return changed


@pytest.mark.parametrize("how", ["check", "trust", "compute"])
@pytest.mark.parametrize("name", ["All wards", "Total", "England", "Wards together"])
def test_a_total_is_found_by_its_numbers_whatever_totals_are_worth(how: str, name: str, tmp_path: Path) -> None:
    """What is believed of totals does not change which labels are totals."""
    table = read_table(book(tmp_path, [*WARDS[:-1], [name, *WARDS[-1][1:]]]), totals=how)
    assert totals_of(table) == {"Ward": name, "column": "Total"}


@pytest.mark.parametrize("gap", [1, -1, 12])
def test_a_total_that_is_off_is_asked_about_and_found_with_trust(gap: int, tmp_path: Path) -> None:
    """By one or by a typing error; the question names the label and the options, and both lead to that total."""
    path = book(tmp_path, off_by([line[:3] for line in WARDS], 4, 2, gap))
    with pytest.raises(InputError, match=r"'All wards' is nearly .*--total \"Ward=All wards\".*--totals"):
        read_table(path)
    for how in ("trust", "compute"):
        table = read_table(path, totals=how, total={"Ward": "All wards"})
        assert totals_of(table)["Ward"] == "All wards"
        assert not [g for d in table.dimensions for g in d.groups]
    assert totals_of(read_table(path, total={"Ward": None}))["Ward"] is None


def test_a_total_with_a_remainder_under_any_name_is_asked_about(tmp_path: Path) -> None:
    """What is missing follows by subtraction, so "All wards" above some wards is no category of its own."""
    rows = [line[:3] for line in WARDS]
    with pytest.raises(InputError, match=r"--partly"):
        read_table(book(tmp_path, [*rows[:2], *rows[3:]]))
    saints: Rows = [*rows[:-1], ["All Saints", 12, 90]]
    assert totals_of(read_table(book(tmp_path, saints)))["Ward"] is None


def test_totals_written_as_sums_are_said_by_their_places(tmp_path: Path) -> None:
    """With a tolerance and where totals are computed; nothing is said where nothing changes."""
    path = book(tmp_path, off_by(WARDS, 4, 3, 1))
    for options in ({"tolerance": 0.5}, {"totals": "compute"}):
        first, *_ = read_table(path, **options).assumed
        assert first == "a total that was off is written as the sum of the parts: 'D5'"
    assert not [text for text in read_table(book(tmp_path, WARDS), totals="compute").assumed if "written" in text]


@pytest.mark.parametrize("merged", [False, True])
@pytest.mark.parametrize("name", ["All persons", "Total", "Persons", "Everyone there"])
def test_a_last_column_above_no_inner_label_is_the_total_of_both(name: str, merged: bool, tmp_path: Path) -> None:
    """Proved by its numbers in every row, with whatever is said of totals."""
    rows = [[*BY_AGE[0][:-1], name], *BY_AGE[1:]]
    path = book(tmp_path, rows)
    if merged:
        workbook = openpyxl.load_workbook(path)
        for address in ("B1:C1", "D1:E1", "F1:F2"):
            workbook.worksheets[0].merge_cells(address)
        workbook.save(path)
    for options in ({}, {"total": {"column 2": "Total"}}, {"totals": "trust"}, {"totals": "compute"}):
        table = read_table(path, **options)
        assert totals_of(table) == {"Ward": "All wards", "column": name, "column 2": "Total"}
        assert table.table.n == 341


def test_what_stands_above_no_inner_label_is_the_total_or_beside_the_groups(tmp_path: Path) -> None:
    """It cannot be said to be one; where it is not the sum it is a column beside the groups."""
    path = book(tmp_path, BY_AGE)
    with pytest.raises(InputError, match="--leave"):
        read_table(path, total={"column 2": None})
    with pytest.raises(InputError, match="'All persons'"):
        read_table(path, total={"column": None})
    rows: list[list[Any]] = [[*BY_AGE[0][:-1], "Unknown"], *(list(line) for line in BY_AGE[1:])]
    for line, number in zip(rows[2:], (5, 9, 7, 21), strict=True):
        line[5] = number
    unknown = book(tmp_path, rows)
    for how in ("check", "trust", "compute"):
        across = read_table(unknown, totals=how).dimensions[1]
        assert "Unknown" in across.leaves
        assert across.total is None
    assert len(read_table(unknown, leave="Unknown").dimensions) == 3


def test_a_total_without_parts_is_never_computed_as_zero(tmp_path: Path) -> None:
    """Said to be the total of both although nothing adds up, it is refused rather than overwritten."""
    long: Rows = [
        ["area", "sex", "n"],
        ["N", "f", 12],
        ["N", "m", 20],
        ["S", "f", 30],
        ["S", "m", 8],
        ["W", "Total", 44],
    ]
    with pytest.raises(InputError, match=r"no parts on the sheet .*'C6'"):
        read_table(book(tmp_path, long), totals="compute", total={"sex": "Total", "area": None})
