"""The first rows below the headers may hold nothing but hidden numbers: they are rows of the table, not headers."""

from __future__ import annotations

from pathlib import Path

import pytest

import discreet as dc


def rows_of(tmp_path: Path, text: str) -> tuple[str, ...]:
    path = tmp_path / "table.csv"
    path.write_text(text)
    return dc.read_table(path, tolerance=0.5).dimensions[0].codes


@pytest.mark.parametrize("first", ["<8,<8,<8", "<8,*,<8", "*,<8,*", "1-7,1-7,1-7", "<5,<8,<10", "≤7,≤7,≤7"])
def test_a_row_of_ranges_below_headers_is_a_row_of_the_table(tmp_path: Path, first: str) -> None:
    """One and the same range, ranges open below, or ranges beside marks."""
    header = "Ward,Red,Green,Total\n"
    rest = "East,270,5,275\nSouth,5,5,10\n"
    assert rows_of(tmp_path, f"{header}North,{first}\n{rest}") == ("North", "East", "South")
    assert rows_of(tmp_path, f"{header}North,{first}\nWest,{first}\n{rest}") == ("North", "West", "East", "South")


def test_one_column_of_numbers(tmp_path: Path) -> None:
    """Whose first is hidden."""
    assert rows_of(tmp_path, "Ward,Persons\nNorth,<8\nEast,270\nSouth,12\n") == ("North", "East", "South")


@pytest.mark.parametrize("ages", ["<16,16-64,65+,16-64", "<16,16-64,<16,16-64", "0-4,5-9,10-14,15-19"])
def test_groups_of_ages_are_headers(tmp_path: Path, ages: str) -> None:
    """They differ, and not all of them are open below."""
    text = f"Area,Female,Female,Male,Male\nAge,{ages}\nEast,270,50,60,70\nSouth,50,51,52,53\n"
    path = tmp_path / "table.csv"
    path.write_text(text)
    try:
        table = dc.read_table(path)
    except dc.InputError:
        return
    assert table.dimensions[0].codes == ("East", "South")
