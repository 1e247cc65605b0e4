"""Subtotals whose names say nothing: a tree that leaves nothing over is believed, a part of one is asked about."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from discreet.errors import InputError
from discreet.sheets.reading_sheets import read_table
from tests.sheets.test_questions import Rows, book

FIRST: Rows = [
    ["Kreis", "Insgesamt", "männlich", "weiblich"],
    ["Land", 178, 96, 82],
    ["Nord", 101, 55, 46],
    ["Kiel", 60, 31, 29],
    ["Plön", 41, 24, 17],
    ["Süd", 77, 41, 36],
    ["Ulm", 70, 38, 32],
    ["Calw", 7, 3, 4],
]
LAST: Rows = [
    ["Trust", "Emergency", "Elective"],
    ["T1", 12, 30],
    ["T2", 4, 41],
    ["Region X", 16, 71],
    ["T3", 22, 9],
    ["T4", 13, 17],
    ["Region Y", 35, 26],
    ["England", 51, 97],
]


@pytest.mark.parametrize(
    ("rows", "total", "groups"),
    [
        (FIRST, "Land", {"Nord": {"Kiel", "Plön"}, "Süd": {"Ulm", "Calw"}}),
        (LAST, "England", {"Region X": {"T1", "T2"}, "Region Y": {"T3", "T4"}}),
    ],
    ids=["before their parts", "behind their parts"],
)
def test_sums_that_leave_nothing_over_are_believed_together(
    rows: Rows, total: str, groups: dict[str, set[str]], tmp_path: Path
) -> None:
    """One by one they prove too little; together they add up everything to one label."""
    dimension = read_table(book(tmp_path, rows)).dimensions[0]
    assert dimension.total == total
    assert {group.code: {part for part, _ in group.parts} for group in dimension.groups} == groups


def test_a_sum_of_some_labels_that_proves_too_little_is_asked_about(tmp_path: Path) -> None:
    """It was a category, and a hidden part followed from it; called a total on the sheet it is read."""
    rows = [*FIRST[2:7], ["Calw", 8, 4, 4]]
    with pytest.raises(InputError, match=r"'Nord' is the sum of 2 labels.*\"Nord total\".*--total Kreis="):
        read_table(book(tmp_path, [FIRST[0], *rows]))
    named = [["Nord total", *rows[0][1:]], *rows[1:]]
    (group,) = read_table(book(tmp_path, [FIRST[0], *named])).dimensions[0].groups
    assert group.code == "Nord total"
    assert read_table(book(tmp_path, [FIRST[0], *rows]), total={"Kreis": None}).dimensions[0].groups == ()


def test_labels_that_all_stand_in_groups_with_their_sums_are_asked_about() -> None:
    """Two regions, each above its districts, in two columns: neither sum is beyond chance, both together are."""
    counts = {"F": [76, 27, 49, 36, 8, 28], "M": [122, 2, 120, 24, 16, 8]}
    areas = ["Alpha", "Lina", "Breb", "Beta", "Ostc", "Nord"]
    with pytest.raises(InputError, match="'Alpha' is the sum of 2 labels beside it in every line"):
        read_table(pd.DataFrame(counts, index=pd.Index(areas, name="area")))
    backwards = pd.DataFrame(
        {name: own[::-1] for name, own in counts.items()}, index=pd.Index(areas[::-1], name="area")
    )
    with pytest.raises(InputError, match="is the sum of 2 labels beside it"):
        read_table(backwards)
    assert read_table(backwards, total={"area": None}).dimensions[0].groups == ()
