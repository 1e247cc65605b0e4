"""Groupings of one population side by side: each is a table with the total in common, or a question."""

from __future__ import annotations

import csv
from pathlib import Path
from random import Random
from typing import Any

import pytest

from discreet.errors import InputError
from discreet.sheets.reading_sheets import read_table, read_tables

Rows = list[list[Any]]


def saved(folder: Path, rows: Rows) -> Path:
    with (folder / "t.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return folder / "t.csv"


def parts(total: int, many: int, random: Random) -> list[int]:
    """A total cut into so many numbers."""
    cuts = sorted(random.randint(0, total) for _ in range(many - 1))
    return [after - before for before, after in zip([0, *cuts], [*cuts, total], strict=True)]


def grouped_rows(random: Random, place: str) -> tuple[Rows, list[list[str]]]:
    """Rows of two or three groupings of one total, which stands first, last or between them, and their labels."""
    groupings = [[f"{letter}{k}" for k in range(random.randint(2, 5))] for letter in "abc"[: random.randint(2, 3)]]
    totals = [random.randint(200, 999) for _ in range(3)]
    blocks = []
    for labels in groupings:
        columns = [parts(total, len(labels), random) for total in totals]
        blocks.append([[label, *(column[k] for column in columns)] for k, label in enumerate(labels)])
    at = {"first": 0, "last": len(blocks), "between": 1}[place]
    blocks.insert(at, [["Total", *totals]])
    return [["Group", "x", "y", "z"], *(row for block in blocks for row in block)], groupings


@pytest.mark.parametrize("place", ["first", "last", "between"])
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("across", [False, True])
def test_groupings_of_a_total_are_tables_with_the_total_in_common(
    place: str, seed: int, across: bool, tmp_path: Path
) -> None:
    """Wherever the total stands, down or across: each label in one table, the total in all."""
    rows, groupings = grouped_rows(Random(seed), place)
    if across:
        rows = [list(column) for column in zip(*rows, strict=True)]
    tables = read_tables(saved(tmp_path, rows))
    own = [next(d for d in table.dimensions if d.total == "Total") for table in tables]
    assert sorted(sorted(d.leaves) for d in own) == sorted(sorted(labels) for labels in groupings)
    assert len({d.name for d in own}) == len(groupings)
    places = [{p for codes, p in table.places.items() if "Total" in codes} for table in tables]
    assert all(one == places[0] and one for one in places)


def test_groupings_without_their_total_are_asked_about(tmp_path: Path) -> None:
    """What is hidden in one follows from the other; with the total on the sheet both are understood."""
    rows: Rows = [["Group", "A", "B"], ["Men", 90, 100], ["Women", 110, 130], ["White", 150, 170], ["Other", 50, 60]]
    with pytest.raises(InputError, match=r'write their total into the sheet \("Total"\)'):
        read_table(saved(tmp_path, rows))
    assert len(read_tables(saved(tmp_path, [*rows, ["Total", 200, 230]]))) == 2
    assert len(read_tables(saved(tmp_path, rows), total={"Group": None})) == 1


def test_a_total_under_a_name_of_its_own_is_asked_about_where_little_shows_it(tmp_path: Path) -> None:
    """One column shows too little, and the answer that is named is taken."""
    groups = [["Men", 77], ["Women", 74], ["Under 20", 4], ["20-39", 77], ["40+", 70]]
    rows: Rows = [["Group", "n"], ["Patients", 151], *groups]
    with pytest.raises(InputError, match="--total Group=Patients"):
        read_tables(saved(tmp_path, rows))
    tables = read_tables(saved(tmp_path, rows), total={"Group": "Patients"})
    assert [table.dimensions[0].total for table in tables] == ["Patients", "Patients"]


def test_subtotals_in_one_column_are_asked_about(tmp_path: Path) -> None:
    """Every label adds up to the last one over subtotals that no name shows; each alone may be chance."""
    rows: Rows = [["Region", "n"], ["NE", 40], ["NW", 44], ["North", 84], ["SE", 3], ["SW", 90], ["South", 93]]
    rows.append(["England", 177])
    with pytest.raises(InputError, match="--total Region=England"):
        read_table(saved(tmp_path, rows))
    (dimension,) = read_table(saved(tmp_path, rows), total={"Region": "England"}).dimensions
    assert {g.code: {part for part, _ in g.parts} for g in dimension.groups} == {
        "North": {"NE", "NW"},
        "South": {"SE", "SW"},
    }


def test_labels_that_do_not_add_up_to_the_total_are_parts_of_it(tmp_path: Path) -> None:
    """Said to leave a remainder, each is a table of its own with the rest of the total."""
    rows: Rows = [["Group", "n"], ["Total", 151], ["Male", 77], ["Female", 74], ["Smokers", 147], ["Diabetes", 30]]
    with pytest.raises(InputError, match="--partly"):
        read_tables(saved(tmp_path, rows))
    tables = read_tables(saved(tmp_path, rows), partly=True)
    assert [sorted(table.dimensions[0].leaves) for table in tables] == [
        ["Female", "Male"],
        ["Smokers", "Total: not listed"],
        ["Diabetes", "Total: not listed"],
    ]
