"""Percentages in a table of their own, below the counts or on another sheet: worked out anew, or marked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError, Refused
from discreet.in_place.contents import HiddenMarks
from discreet.in_place.sheet_files import protect_file, write_in_place
from discreet.methods.suppress.method import Suppress
from discreet.rules import Threshold
from discreet.sheets.reading_sheets import read_table, read_tables

AGES, WORK = ("16-24", "25-49", "50-64", "Total"), ("Employed", "Unemployed", "Inactive", "All")
Rows = list[list[object]]


def counts_of(inner: list[list[int]]) -> list[list[int]]:
    """Inner counts with their totals behind and below."""
    rows = [[*row, sum(row)] for row in inner]
    return [*rows, [sum(column) for column in zip(*rows, strict=True)]]


def table(numbers: Sequence[Sequence[float]]) -> Rows:
    """A header, and a label before the numbers of each row."""
    rows: Rows = [["Age", *WORK]]
    rows += [[age, *row] for age, row in zip(AGES, numbers, strict=True)]
    return rows


def shares(counts: list[list[int]], decimals: int, *, down: bool) -> list[list[float]]:
    """Percentages of each row, or of each column."""
    return [
        [round(100 * n / (counts[-1][k] if down else row[-1]), decimals) for k, n in enumerate(row)] for row in counts
    ]


def book(path: Path, sheets: dict[str, Rows]) -> Path:
    """A workbook with these sheets."""
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    made.save(path)
    return path


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.lists(st.integers(1, 60), min_size=3, max_size=3), min_size=3, max_size=3),
    st.sampled_from([0, 1]),
    st.booleans(),
    st.booleans(),
)
def test_shares_are_shown_where_both_counts_are(
    tmp_path_factory: pytest.TempPathFactory, inner: list[list[int]], decimals: int, down: bool, apart: bool
) -> None:
    """A percentage stays as it was where its count and its total are shown, and is a mark elsewhere."""
    folder = tmp_path_factory.mktemp("shares")
    counts = counts_of(inner)
    of_counts = table(shares(counts, decimals, down=down))
    title: list[object] = ["Percentages of columns" if down else "Percentages of rows"]
    sheets: dict[str, Rows]
    if apart:
        sheets = {"Numbers": table(counts), "Per cent": [title, *of_counts]}
    else:
        sheets = {"S": [["Numbers"], *table(counts), [], title, *of_counts]}
    source, target = book(folder / "t.xlsx", sheets), folder / "safe.xlsx"
    try:
        done = protect_file(source, Suppress(Threshold(n=6)))
    except Refused:
        return
    except InputError as error:
        if "stock" not in str(error):  # small numbers may grow and fall by others by chance
            raise
        return
    assert len(done.sheets[0].share_tables) == 1
    write_in_place(done, target, HiddenMarks("*", "*"), "")
    written = openpyxl.load_workbook(target)
    first = list(written.worksheets[0].iter_rows(values_only=True))
    second = list(written.worksheets[-1].iter_rows(values_only=True))
    skip = 2 if not apart else 1
    numbers = [row[1:5] for row in first[skip : skip + 4]]
    start = 2 if apart else 9
    parts = [row[1:5] for row in second[start : start + 4]]
    for k, row in enumerate(counts):
        for j, count in enumerate(row):
            assert numbers[k][j] in (count, "*")
            assert count > 5 or numbers[k][j] == "*"
            base = numbers[-1][j] if down else numbers[k][-1]
            if "*" in (numbers[k][j], base):
                assert parts[k][j] == "*"
            else:
                assert parts[k][j] == of_counts[k + 1][j + 1]
    assert second[start - 2][0] == title[0]


def test_shares_of_totals_that_stand_nowhere_are_not_confirmed(tmp_path: Path) -> None:
    """A sheet that is called one of percentages is one; what no total on the sheet shows is not published."""
    inner = [[30, 4, 9], [50, 12, 20], [28, 8, 17]]
    percent = [[round(100 * n / sum(row), 1) for n in row] for row in inner]
    heads: list[object] = ["Age", *WORK[:3]]
    sheets: dict[str, Rows] = {
        "Numbers": [heads, *([age, *row] for age, row in zip(AGES, inner, strict=False))],
        "Percentages": [heads, *([age, *row] for age, row in zip(AGES, percent, strict=False))],
    }
    (read,) = read_tables(book(tmp_path / "t.xlsx", sheets))
    assert {number.numerator for number in read.share_tables[0].percentages} == {None}
    assert "9 percentages, means or rates, 0 of them confirmed as shares of counts" in read.sentences


def test_percentages_of_other_counts_are_refused(tmp_path: Path) -> None:
    """Numbers that no count of the file explains are named, with the option that leaves them out."""
    counts = counts_of([[30, 14, 9], [50, 12, 20], [28, 8, 17]])
    others = shares(counts_of([[31, 4, 29], [20, 52, 20], [8, 8, 17]]), 1, down=False)
    path = book(tmp_path / "t.xlsx", {"Numbers": table(counts), "Percentages": table(others)})
    with pytest.raises(InputError, match="--sheet Numbers"):
        read_tables(path)
    assert read_table(path, sheet="Numbers").table.n == counts[-1][-1]


def test_small_counts_are_no_percentages(tmp_path: Path) -> None:
    """A second table of counts of the same labels stays one, however small its numbers are."""
    sheets = {"A": table(counts_of([[30, 14, 9], [5, 12, 20], [8, 8, 7]])), "B": table(counts_of([[3, 4, 9]] * 3))}
    tables = read_tables(book(tmp_path / "t.xlsx", sheets))
    assert [len(one.share_tables) for one in tables] == [0, 0]
