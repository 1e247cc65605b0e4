"""Published sheets audited as they are: marks, ranges, percentages, several sheets and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openpyxl
import pytest

import discreet as dc
from discreet.cli import run

Rows = list[list[Any]]
PEOPLE: Rows = [
    ["Table 1: people by area and sex"],
    [],
    ["Area", "Female", "Male", "Total"],
    ["North", "*", "*", 20],
    ["South", "*", "*", 15],
    ["East", 30, 25, 55],
    ["Total", 45, 45, 90],
    ["* fewer than 5, or needed to protect such a number"],
]


def workbook(path: Path, **sheets: Rows) -> str:
    """A workbook with some sheets."""
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return str(path)


def with_column(rows: Rows, header: str, numbers: list[Any]) -> Rows:
    """The rows from the header on with one more column."""
    return [*rows[:2], *([*row, more] for row, more in zip(rows[2:7], [header, *numbers], strict=True)), rows[7]]


def test_a_sheet_with_marks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A rectangle protects; what was taken for granted is said."""
    path = workbook(tmp_path / "published.xlsx", People=PEOPLE)
    assert run(["audit", path, "--suppressed", "*"]) == 0
    told = capsys.readouterr().err
    assert "published.xlsx: 'Total' is the total of 'Area'" in told
    assert "0 exact, 0 narrow, 4 open" in told


def test_percentages_give_hidden_counts_away(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """20.0 % of 15 is 3, and with it the rectangle falls."""
    shares = with_column(PEOPLE, "% female", ["*", 20.0, 54.5, 50.0])
    path = workbook(tmp_path / "published.xlsx", People=shares)
    assert run(["audit", path, "--suppressed", "*"]) == 1
    told = capsys.readouterr().err
    assert "percentages beside the numbers say more of those that are hidden" in told
    assert "South Male: 15 - 3 = 12" in told
    assert "4 exact" in told


def test_percentages_that_leave_room(tmp_path: Path) -> None:
    """Without decimals 20 % of 90 people in a row of 15 is no single number."""
    shares = with_column(PEOPLE, "% of all", [22, 17, 61, 100])
    report = dc.audit([workbook(tmp_path / "published.xlsx", People=shares)])
    assert report.finding.tolist() == ["open"] * 4


def test_ranges_on_a_sheet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """<5 is 1 to 4, or 0 to 4 where zeros are hidden."""
    rows: Rows = [["Area", "A", "B", "Total"], ["N", "<5", 16, "*"], ["S", "<5", 11, "*"], ["Total", 8, 27, 35]]
    path = workbook(tmp_path / "jobs.xlsx", Jobs=rows)
    assert run(["audit", path, "--suppressed", "*"]) == 1
    assert "'<5' is read as 1 to 4" in capsys.readouterr().err
    wide: Rows = [["Area", "A", "B", "Total"], ["N", "<5", 16, "*"], ["S", "<5", 11, "*"], ["Total", 4, 27, 31]]
    path = workbook(tmp_path / "wide.xlsx", Jobs=wide)
    assert sorted(dc.audit([path]).lower.tolist()) == [1, 1, 12, 17]
    mapping = {"zeros_hidden": True}
    assert sorted(dc.audit([path], mapping=mapping).lower.tolist()) == [0, 0, 11, 16]


def test_a_mark_that_stands_for_a_range(tmp_path: Path) -> None:
    rows: Rows = [["Area", "A", "B", "Total"], ["N", "[low]", 16, "*"], ["S", "[low]", 11, "*"], ["Total", 4, 27, 31]]
    path = workbook(tmp_path / "low.xlsx", Jobs=rows)
    assert run(["audit", path, "--suppressed", "[low]=1-2", "--suppressed", "*"]) == 1
    assert dc.audit([path], mapping={"marks": {"[low]": "1-2"}}).verdict == "fail"


def test_sheets_and_files_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two sheets, each safe; a list of cells beside them gives one cell away, and with it the others."""
    jobs: Rows = [["Area", "Job A", "Job B", "Total"], ["North", 4, 16, 20], ["South", 4, 11, 15], ["East", 40, 15, 55]]
    path = workbook(tmp_path / "published.xlsx", People=PEOPLE, Jobs=[*jobs, ["Total", 48, 42, 90]])
    assert run(["audit", path, "--suppressed", "*"]) == 0
    detail = tmp_path / "detail.csv"
    detail.write_text("Area,column,count\nNorth,Male,8\n")
    capsys.readouterr()
    assert run(["audit", path, str(detail), "--suppressed", "*"]) == 1
    told = capsys.readouterr().err
    assert "published.xlsx People North Female: 20 - 8 = 12 from detail.csv and published.xlsx People" in told


def test_rounded_sheets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The base is said of a file, and holds for all of its sheets; wide CSV and ODS are sheets, too."""
    rows: Rows = [["Area", "A", "B", "Total"], ["N", 5, 15, 20], ["S", 5, 10, 15], ["Total", 10, 25, 35]]
    path = workbook(tmp_path / "rounded.xlsx", One=rows, Two=rows)
    assert run(["audit", path, "--rounded", "rounded.xlsx=5"]) == 0
    wide = tmp_path / "wide.csv"
    wide.write_text("\n".join(",".join(map(str, row)) for row in rows))
    assert run(["audit", str(wide), "--rounded", "3"]) == 2
    assert "is not rounded to base 3" in capsys.readouterr().err


def test_labels_of_a_sheet_that_may_be_sums_of_others_are_settled_by_a_mapping(tmp_path: Path) -> None:
    """North, Ayr, Bute, South below a total: South follows if Ayr and Bute are North."""
    path = tmp_path / "a.csv"
    rows = ["Area,Men,Women,Total", "North,50,49,99", "Ayr,*,*,*", "Bute,*,*,*", "South,*,*,*", "Total,61,60,121"]
    path.write_text("\n".join(rows) + "\n")
    report = dc.audit(path)
    assert report.verdict.value == "unknown"
    assert any("'North' of 'Area' may be the sum of 'Ayr', 'Bute'" in text for text in report.unjudged)
    nested = {"sums": {"Area": {"North": ["Ayr", "Bute"]}}}
    flat = {"sums": {"Area": {"Total": ["North", "Ayr", "Bute", "South"]}}}
    found = dc.audit(path, mapping=nested)
    assert sorted(found.lower[found.finding == "exact"].tolist()) == [11, 11, 22]
    assert dc.audit(path, mapping=flat).verdict.value == "pass"


def test_a_mapping_settles_what_a_release_leaves_open(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("area;count\nTotal;61\nA;50\nA1;*\nA2;*\nB;*\n")
    release = dc.Release.read(path)
    assert dc.audit(release).verdict.value == "unknown"
    assert dc.audit(release, mapping={"sums": {"area": {"A": ["A1", "A2"]}}}).verdict.value == "fail"
    assert dc.audit(release, mapping={"sums": {"area": {"Total": ["A", "A1", "A2", "B"]}}}).verdict.value == "pass"
