"""Counts are never taken for labels: what shows that a column of numbers is one of labels, and what is asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import polars as pl
import pytest

from discreet.errors import InputError
from discreet.in_place.count_frames import round_counts, suppress_small_counts
from discreet.sheets.reading_sheets import read_table
from tests.sheets.test_questions import Rows, book

MEASURES: Rows = [
    ["measure", "numerator", "denominator", "sex", "quintile"],
    ["flu", 5, 100, "f", 1],
    ["flu", 40, 200, "m", 1],
    ["flu", 11, 110, "f", 2],
    ["flu", 30, 120, "m", 2],
]
PRACTICES: Rows = [
    ["Practice", "Referrals", "Admissions"],
    ["The Surgery", 4, 12],
    ["High Street", 17, 3],
    ["The Surgery", 9, 20],
    ["Park", 30, 22],
]
UNKNOWN_TWICE: Rows = [
    ["Diagnosis", "2022", "2023", "Total"],
    ["Flu", 13, 14, 27],
    ["Unknown", 5, 8, 13],
    ["Cold", 23, 24, 47],
    ["Unknown", 12, 9, 21],
    ["Total", 53, 55, 108],
]
TOTAL_TWICE: Rows = [
    ["Ward", "f", "m"],
    ["Abbey", 14, 3],
    ["Beacon", 7, 8],
    ["Total", 21, 11],
    ["Castle", 9, 20],
    ["Dene", 12, 22],
    ["Total", 21, 42],
]


def as_frame(rows: Rows) -> pd.DataFrame:
    return pd.DataFrame([list(row) for row in rows[1:]], columns=list(rows[0]))


@pytest.mark.parametrize(
    ("rows", "label"),
    [(PRACTICES, "The Surgery"), (UNKNOWN_TWICE, "Unknown"), (TOTAL_TWICE, "Total")],
    ids=["no total", "below a total", "the name of a total"],
)
def test_a_label_that_stands_twice_is_named_and_no_count_becomes_a_label(
    rows: Rows, label: str, tmp_path: Path
) -> None:
    """From a workbook, text, and frames of pandas and polars; the message tells no number of the body."""
    path = book(tmp_path, rows)
    text = tmp_path / "t.csv"
    text.write_text("\n".join(",".join(map(str, row)) for row in rows))
    frame = as_frame(rows)
    ways: list[Callable[[], object]] = [
        lambda: read_table(path),
        lambda: read_table(text),
        lambda: suppress_small_counts(frame, under=6),
        lambda: suppress_small_counts(frame.set_index(rows[0][0]), under=6),
        lambda: suppress_small_counts(pl.from_pandas(frame), under=6),
        lambda: round_counts(frame, base=5),
    ]
    for way in ways:
        with pytest.raises(InputError, match=f"rows of the same label: '{label}'") as error:
            way()
        assert "--stub-columns" in str(error.value)
        numbers = {str(n) for row in rows[1:] for n in row[1:] if n > 5}
        assert not {word.strip("',.;()") for word in str(error.value).split()} & numbers


def test_percentages_below_each_row_are_no_labels_that_stand_twice(tmp_path: Path) -> None:
    """Rows called "%" hold no counts; the others have labels of their own."""
    rows: list[list[Any]] = [["Sex", "Yes", "No", "Total"]]
    for sex, yes, no in (("Men", 30, 4), ("Women", 40, 20), ("Other", 12, 11), ("Total", 82, 35)):
        both = yes + no
        rows += [[sex, yes, no, both], ["%", round(100 * yes / both, 1), round(100 * no / both, 1), 100.0]]
    for name in ("Sex", None):
        table = read_table(book(tmp_path, [[name, *rows[0][1:]], *rows[1:]]))
        assert [(d.leaves, d.total) for d in table.dimensions] == [
            (("Men", "Women", "Other"), "Total"),
            (("Yes", "No"), "Total"),
        ]
        assert len(table.percentages) == 12
        assert all(number.numerator is not None for number in table.percentages)


def test_a_column_of_numbers_is_one_of_labels_if_its_header_or_its_order_says_so(tmp_path: Path) -> None:
    """Codes, years, ages, classes; or the same steps below each label, in six rows or more."""
    for header in ("Year", "age", "ward code", "IMD decile", "Klasse", "Stage"):
        long: Rows = [["area", header, "n"], ["N", 3, 5], ["N", 7, 6], ["S", 3, 7], ["S", 9, 9]]
        assert len(read_table(book(tmp_path, long)).dimensions) == 2
    short: Rows = [["area", "rooms", "cases"], *([area, k, 50 + k] for area in "NS" for k in (1, 2))]
    with pytest.raises(InputError, match="same label: 'N', 'S'"):
        read_table(book(tmp_path, short))
    assert len(read_table(book(tmp_path, short), stub_columns=2).dimensions) == 2
    uneven: Rows = [["area", "rooms", "cases"], *([area, k, 50 + k] for area in "NS" for k in (1, 2, 7))]
    with pytest.raises(InputError, match="same label: 'N', 'S'"):
        read_table(book(tmp_path, uneven))


def test_a_first_column_of_counts_is_no_column_of_labels(tmp_path: Path) -> None:
    """A table without labels is asked about, in files and in frames with no index of their own."""
    rows: Rows = [["Referrals", "Admissions", "Deaths"], [4, 12, 7], [17, 3, 9], [9, 20, 30]]
    frame = as_frame(rows)
    for way in (
        lambda: read_table(book(tmp_path, rows)),
        lambda: suppress_small_counts(frame, under=6),
        lambda: suppress_small_counts(pl.from_pandas(frame), under=6),
    ):
        with pytest.raises(InputError, match=r"--stub-columns 1"):
            way()
    assert read_table(book(tmp_path, rows), stub_columns=1).dimensions[0].codes == ("4", "17", "9")
    steps: Rows = [["Visits", "Men", "Women"], [1, 12, 7], [2, 3, 9], [3, 20, 30]]
    assert read_table(book(tmp_path, steps)).dimensions[0].codes == ("1", "2", "3")


def test_a_column_of_one_range_is_one_of_marks(tmp_path: Path) -> None:
    """All of "<5" beside labels that differ is what a published sheet hides, not a column of ages."""
    table = read_table(book(tmp_path, [["Ward", "f", "m"], ["Abbey", "<5", 20], ["Beacon", "<5", 30]]))
    assert ([d.codes for d in table.dimensions], table.hidden) == ([("Abbey", "Beacon"), ("f", "m")], 2)
    ages: Rows = [["Ward", "Age", "n"], ["Abbey", "<5", 20], ["Abbey", "5-9", 12], ["Beacon", "<5", 30]]
    assert len(read_table(book(tmp_path, ages)).dimensions) == 2


def test_labels_behind_the_numbers(tmp_path: Path) -> None:
    """Words that tell rows apart are labels wherever they stand; numbers that may be are asked about by header."""
    named = ("measure", "sex", "quintile")
    with pytest.raises(InputError, match=r'--stub-columns "measure,sex,quintile"'):
        read_table(book(tmp_path, MEASURES))
    table = read_table(book(tmp_path, MEASURES), stub_columns=named)
    assert [d.name for d in table.dimensions] == [*named, "column"]
    assert [place.address for place in table.places["flu", "m", "2", "numerator"]] == ["B5"]
    assert read_table(book(tmp_path, MEASURES), stub_columns=["A", "D", "E"]).places == table.places
    words = [[*row[:3], row[3], f"Q{row[4]}" if row[4] != "quintile" else row[4]] for row in MEASURES]
    assert [d.name for d in read_table(book(tmp_path, words)).dimensions] == [*named, "column"]
    with pytest.raises(InputError, match=r"names 'age'; headers are 'measure', 'numerator'"):
        read_table(book(tmp_path, MEASURES), stub_columns="age")


def test_remarks_behind_the_numbers_are_not_labels(tmp_path: Path) -> None:
    """Words that stand once tell nothing that a label would: they are left aside, and rows of one label refused."""
    rows: list[list[object]] = [["Clinic", "Seen", "Remark"]]
    rows += [["A", n, f"word {n}"] for n in (12, 3, 9, 22)]
    with pytest.raises(InputError, match="same labels"):
        read_table(book(tmp_path, rows))


@pytest.mark.parametrize("header", ["Year", "Month", "Week", "Period", "Code", "ID", "LSOA", "Quarter", "Jahr"])
def test_counts_below_a_short_name_are_not_taken_for_labels(header: str, tmp_path: Path) -> None:
    """Labels before them name every row already, and the numbers are neither years nor codes of one length."""
    rows: Rows = [["Ward", header, "All"], ["Ash", 40, 61], ["Elm", 3, 52], ["Oak", 12, 30], ["All wards", 55, 143]]
    with pytest.raises(InputError, match="stub_columns=1"):
        read_table(book(tmp_path, rows))
    assert len(read_table(book(tmp_path, rows), stub_columns=1).dimensions) == 2


@pytest.mark.parametrize(
    ("header", "labels"),
    [("Code", (101, 340, 555)), ("ID", (11, 12, 13)), ("Year", (2019, 2021, 2020)), ("URN", (100321, 100322, 100419))],
)
def test_codes_and_years_beside_names_stay_labels(header: str, labels: tuple[int, ...], tmp_path: Path) -> None:
    named = enumerate(zip(("Ash", "Elm", "Oak"), labels, strict=True))
    rows: Rows = [["Ward", header, "f", "m"], *([ward, label, 20 + k, 31] for k, (ward, label) in named)]
    table = read_table(book(tmp_path, rows))
    assert not any(str(label) in table.dimensions[-1].codes for label in labels)
    assert len(table.places) == 6


@pytest.mark.parametrize("groups", [("0-4", "5-9", "10-14", "15-19"), ("North", "South", "East", "West")])
def test_counts_before_labels_are_no_codes(groups: tuple[str, ...], tmp_path: Path) -> None:
    """A pyramid of ages: men, ages, women. As codes of the ages the men would be published as they are."""
    rows: Rows = [["Men", "Group", "Women"], *map(list, zip((31, 24, 18, 3), groups, (29, 4, 22, 17), strict=True))]
    path = book(tmp_path, rows)
    with pytest.raises(InputError, match=r"stub_columns='Group' \(--stub-columns Group\) if they are counts"):
        read_table(path)
    assert read_table(path, stub_columns="Group").table.n == 148
    assert read_table(path, stub_columns=2).table.n == 72


@pytest.mark.parametrize(
    "codes", [(1, 2, 3, 4), (1011, 1042, 1077, 1109), (300412, 100731, 200003, 100002), (7, 7, 19, 19)]
)
def test_codes_before_labels_are_seen_by_their_look(codes: tuple[int, ...], tmp_path: Path) -> None:
    """Numbered, rising, long, or repeated with their label, under a header that says nothing."""
    labels = ("A", "B", "C", "D") if codes[0] != 7 else ("A", "A", "B", "B")
    rows: Rows = [["Kennung", "Ward", "Sex", "Count"]]
    read = read_table(book(tmp_path, [*rows, *map(list, zip(codes, labels, "fmfm", (29, 14, 22, 17), strict=True))]))
    assert read.table.n == 82
    wards = read.dimensions[0]
    assert {str(codes[0]), "A"} <= {*wards.codes, *wards.labels.values()}


@pytest.mark.parametrize("hidden", [True, False])
def test_a_column_without_a_header_is_named(hidden: bool, tmp_path: Path) -> None:
    """Also one that nobody sees."""
    path = book(tmp_path, [["Area", "f", None, "m", "Total"], ["N", 12, 7, 3, 15], ["S", 22, 1, 31, 53]])
    made = openpyxl.load_workbook(path)
    made.worksheets[0].column_dimensions["C"].hidden = hidden
    made.save(path)
    with pytest.raises(InputError, match="column C, which is hidden," if hidden else "column C holds numbers"):
        read_table(path)
