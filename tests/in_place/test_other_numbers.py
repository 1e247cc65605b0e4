"""Numbers beside counts that are none: quotients by any name, ranks, totals before labels, percentages alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openpyxl
import pytest

from discreet.cli import run

Rows = list[list[Any]]
UPTAKE: Rows = [
    ["Clinic", "Eligible", "Vaccinated", "Uptake"],
    ["A", 40, 21, 53],
    ["B", 25, 4, 16],
    ["C", 61, 30, 49],
    ["D", 88, 70, 80],
    ["E", 37, 19, 51],
]
COSTS: Rows = [
    ["Clinic", "Patients", "Cost", "Each"],
    ["A", 4, 8400, 2100],
    ["B", 11, 13200, 1200],
    ["C", 9, 8100, 900],
]
RANKED: Rows = [["Rank", "Practice", "Deaths"], [4, "Abbey", 5], [1, "Brook", 20], [3, "Cedar", 6], [2, "Dale", 7]]
BEFORE: Rows = [
    ["Total", "Ward", "Men", "Women"],
    [34, "A", 14, 20],
    [34, "B", 3, 31],
    [17, "C", 9, 8],
    [85, "All", 26, 59],
]
IN_BRACKETS: Rows = [
    ["Ward", "Men n (%)", "Women n (%)", "Total"],
    ["A", "14 (41.2%)", "20 (58.8%)", 34],
    ["B", "3 (8.8%)", "31 (91.2%)", 34],
    ["Total", "17 (25.0%)", "51 (75.0%)", 68],
]
SHARES: Rows = [
    ["Satisfaction by ward (%)"],
    ["Answer", "A", "B"],
    ["Good", 50, 40],
    ["Poor", 25, 45],
    ["None", 25, 15],
]


def protected(path: Path, rows: Rows, *options: str) -> tuple[int, list[tuple[Any, ...]]]:
    """The exit code, and the rows of the copy."""
    book = openpyxl.Workbook()
    for row in rows:
        book.worksheets[0].append(row)
    book.save(path)
    code = run(["protect", str(path), "--hide-under", "6", "--force", *options])
    safe = path.with_name(f"{path.stem}.safe.xlsx")
    return code, list(openpyxl.load_workbook(safe).worksheets[0].values) if not code else []


def test_a_quotient_is_one_whatever_its_header(tmp_path: Path) -> None:
    """16 % of 25 is 4."""
    code, rows = protected(tmp_path / "t.xlsx", UPTAKE)
    assert code == 0
    assert rows[2][2:] == ("*", "*")
    assert rows[1] == ("A", 40, 21, 53)


def test_what_may_be_a_mean_is_asked_about(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """8,400 divided by 2,100; the option that the message names hides the mean as well."""
    assert protected(tmp_path / "t.xlsx", COSTS)[0] == 2
    assert "--percent" in capsys.readouterr().err
    code, rows = protected(tmp_path / "t.xlsx", COSTS, "--percent", "Each")
    assert code == 0
    assert "*" in rows[1][1:]
    assert list(rows[1][1:]).count("*") >= 2


def test_ranks_are_left_out(tmp_path: Path) -> None:
    """Ranks that follow the counts, beside names."""
    code, rows = protected(tmp_path / "t.xlsx", [*RANKED, [None, "Total", 38]])
    assert code == 0
    assert [row[0] for row in rows[1:5]] == [None] * 4
    assert [row[1] for row in rows[1:5]] == ["Abbey", "Brook", "Cedar", "Dale"]


def test_totals_before_labels_are_numbers(tmp_path: Path) -> None:
    """They stay, and what is hidden does not follow from them."""
    code, rows = protected(tmp_path / "t.xlsx", BEFORE)
    assert code == 0
    assert [row[0] for row in rows[1:5]] == [34, 34, 17, 85]
    assert rows[2][2:] == ("*", "*")


def test_numbers_that_are_said_to_be_labels_stay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A size behind a name is asked about; both answers work."""
    rows: Rows = [["Clinic", "Size", "Cases"], ["A", 4100, 14], ["B", 3900, 3], ["C", 5200, 9], ["D", 2700, 31]]
    assert protected(tmp_path / "t.xlsx", rows)[0] == 2
    assert "--stub-columns 2" in capsys.readouterr().err
    code, copy = protected(tmp_path / "t.xlsx", rows, "--stub-columns", "2")
    assert code == 0
    assert [row[1] for row in copy[1:5]] == [4100, 3900, 5200, 2700]
    assert protected(tmp_path / "t.xlsx", rows, "--stub-columns", "1")[0] == 0


def test_counts_with_percentages_behind_them_are_counts(tmp_path: Path) -> None:
    """Whatever the header says of percentages."""
    code, rows = protected(tmp_path / "t.xlsx", IN_BRACKETS)
    assert code == 0
    assert rows[1][3] == 34
    assert all("*" in str(cell) and "8.8" not in str(cell) for cell in rows[2][1:3])


def test_whole_percentages_alone_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """25 % of 12 is 3: with the number of people it is read as that, as the message says."""
    assert protected(tmp_path / "t.xlsx", SHARES)[0] == 2
    assert "as percentages do; say of how many people they are" in capsys.readouterr().err
    code, rows = protected(tmp_path / "t.xlsx", [*SHARES[1:], ["Base (n)", 12, 20]])
    assert code == 0
    assert rows[2][1] == "*"


def test_rows_of_marks_below_a_header_are_no_header(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With a column of codes and one of labels."""
    book = openpyxl.Workbook()
    for row in [["Code", "Practice", "Deaths"], ["P1", "Abbey", "*"], ["P2", "Brook", 20], ["P3", "Cedar", "*"]]:
        book.worksheets[0].append(row)
    book.worksheets[0].append([None, "Total", 31])
    book.save(tmp_path / "t.xlsx")
    run(["audit", str(tmp_path / "t.xlsx"), "--suppressed", "*"])
    assert "'Abbey'" not in capsys.readouterr().err
