"""Groups of ages that others add up to, wherever they stand; groupings that cross are not guessed at."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.errors import InputError
from discreet.sheets.reading_sheets import read_table, read_tables
from discreet.sheets.sums.number_groups import NO_END, covered_by_others, numbers_covered
from tests.sheets.test_questions import Rows, book

AGES: Rows = [
    ["Age", "N"],
    ["0-17", 20],
    ["18-64", 50],
    ["65-74", 14],
    ["75+", 4],
    ["65+", 18],
    ["Under 65", 70],
    ["Total", 88],
]


@pytest.mark.parametrize(
    ("label", "span"),
    [
        ("0-17", (0, 17)),
        ("Aged 5 to 9 years", (5, 9)),
        ("unter 65 Jahren", (0, 64)),
        ("75 ans et plus", (75, NO_END)),
        ("65 años y más", (65, NO_END)),
        ("85 and over", (85, NO_END)),
        ("<5", (0, 4)),
        ("7", (7, 7)),
        ("2019", None),
        ("18-17", None),
        ("Ward 7", None),
        ("A1-A9", None),
    ],
)
def test_a_label_says_which_numbers_it_is_of(label: str, span: tuple[int, int] | None) -> None:
    """In the words of several languages; what is no range of numbers is none."""
    assert numbers_covered(label) == span


def test_a_group_is_one_that_others_cover_number_by_number() -> None:
    """Neither with a gap nor twice, and the widest parts are its parts."""
    assert covered_by_others(["0-4", "5-9", "10-14", "0-14"]) == {3: [0, 1, 2]}
    assert covered_by_others(["0-4", "6-9", "0-9"]) == {}
    assert covered_by_others(["0-4", "5-9", "0-9", "10+", "0+"]) == {2: [0, 1], 4: [2, 3]}
    assert covered_by_others(["0-15", "16-64", "0-17", "18-64", "0-64"]) == {4: [2, 3]}


@pytest.mark.parametrize("said", [{}, {"total": {"Age": "Total"}}, {"total": {"Age": None}}])
def test_groups_of_ages_behind_their_parts_are_sums(said: dict[str, object], tmp_path: Path) -> None:
    """In a single column, where numbers alone would prove little; also where the total is said not to be one."""
    dimension = read_table(book(tmp_path, AGES), **said).dimensions[0]  # type: ignore[arg-type]
    parts = {group.code: [part for part, _ in group.parts] for group in dimension.groups}
    assert parts == {"65+": ["65-74", "75+"], "Under 65": ["0-17", "18-64"]}
    assert dimension.total == (None if said == {"total": {"Age": None}} else "Total")


def test_a_name_alone_makes_no_group(tmp_path: Path) -> None:
    """Where a line denies it the labels stay what they are, and the question about the total remains."""
    rows = [list(line) for line in AGES]
    rows[5][1] = 19
    with pytest.raises(InputError, match="Total"):
        read_table(book(tmp_path, rows))


def test_ages_cut_in_two_ways_are_refused_with_what_is_safe(tmp_path: Path) -> None:
    """No option is named that would drop the total; with the one that is, each cut is a table with the total."""
    rows: Rows = [["Age", "N"], ["0-15", 20], ["16-64", 50], ["65+", 18], ["18-64", 44], ["0-17", 26], ["Total", 88]]
    with pytest.raises(InputError, match="--partly") as error:
        read_table(book(tmp_path, rows))
    assert "--total" not in str(error.value)
    tables = read_tables(book(tmp_path, rows), partly=True)
    assert all(table.dimensions[0].total == "Total" for table in tables)
    assert {code for table in tables for code in table.dimensions[0].leaves} >= {"0-15", "16-64", "18-64", "0-17"}
