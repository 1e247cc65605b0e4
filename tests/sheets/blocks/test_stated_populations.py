"""Counts that headers and labels state are totals of the table; hidden, a mark stands in their place."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from discreet.cli import run
from discreet.sheets.reading_sheets import read_table, read_tables

ROWS: list[list[Any]] = [
    ["Region", "Yes", "No"],
    ["North (n=5)", 3, 2],
    ["South (n=80)", 60, 20],
    ["West (n=41)", 38, 3],
]


def saved(path: Path, rows: list[list[Any]]) -> Path:
    if path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        for row in rows:
            book.worksheets[0].append(row)
        book.save(path)
        return path
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


def back(path: Path) -> list[list[str]]:
    if path.suffix == ".xlsx":
        lines = openpyxl.load_workbook(path).worksheets[0].iter_rows(values_only=True)
        return [[str(value) for value in line] for line in lines]
    return list(csv.reader(path.read_text(encoding="utf-8").splitlines()))


def test_labels_that_state_the_sums_of_their_rows_are_totals(tmp_path: Path) -> None:
    """The cell of each total is the label."""
    table = read_table(saved(tmp_path / "t.csv", ROWS))
    assert {d.name: d.total for d in table.dimensions} == {"Region": None, "column": "Total"}
    assert [place.address for place in table.places[("South", "Total")]] == ["A3"]
    assert len(table.fixed) == 3


def test_a_total_that_stands_in_a_column_too_has_two_places(tmp_path: Path) -> None:
    """The label repeats it."""
    rows = [["Region", "Yes", "No", "Total"], *([*row, row[1] + row[2]] for row in ROWS[1:])]
    table = read_table(saved(tmp_path / "t.csv", rows))
    assert [place.address for place in table.places[("West", "Total")]] == ["D4", "A4"]
    assert not table.fixed


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_a_hidden_total_goes_from_its_label(tmp_path: Path, suffix: str, capfdbinary: Any) -> None:
    """Others stay to the letter; what is written is read again, with the total hidden."""
    source = saved(tmp_path / f"t{suffix}", ROWS)
    target = tmp_path / f"out{suffix}"
    assert run(["protect", str(source), "--hide-under", "6", "-o", str(target)]) == 0
    rows = back(target)
    assert [row[0] for row in rows[:4]] == ["Region", "North (n=*)", "South (n=80)", "West (n=41)"]
    assert [row[1:3] for row in rows[1:4]] == [["*", "*"], ["60", "20"], ["*", "*"]]
    again = read_table(target, suppressed="*", range="A1:C4")
    assert again.dimensions[1].total == "Total"
    assert again.hidden == 5
    capfdbinary.readouterr()


def test_rounded_totals_are_written_into_headers(tmp_path: Path, capfdbinary: Any) -> None:
    """As many signs as there were between thousands."""
    rows: list[list[Any]] = [["Age", "Women (N = 1,234)", "Men (N=31)"], ["0-39", "1,230", 11], ["40+", 4, 20]]
    target = tmp_path / "out.csv"
    source = saved(tmp_path / "t.csv", rows)
    assert run(["protect", str(source), "--recipe", "midpoint6", "-o", str(target), "--thousands", ","]) == 0
    assert back(target)[0] == ["Age", "Women (N = 1,233)", "Men (N=33)"]
    capfdbinary.readouterr()


def test_variables_that_add_up_to_what_headers_state_are_tables(tmp_path: Path, capfdbinary: Any) -> None:
    """A sex that the population less the other one gives away is not the only number hidden."""
    rows = [
        ["Characteristic", "Placebo (N=60)", "Active (N=58)"],
        ["Male, n (%)", "57 (95.0)", "27 (46.6)"],
        ["Female, n (%)", "3 (5.0)", "31 (53.4)"],
        ["Diabetes, n (%)", "40 (66.7)", "55 (94.8)"],
    ]
    source = saved(tmp_path / "t.csv", rows)
    first, second = read_tables(source)
    assert sorted(first.dimensions[0].leaves) == ["Female, n (%)", "Male, n (%)"]
    assert sorted(second.dimensions[0].leaves) == ["Diabetes, n (%)", "Total: not listed"]
    target = tmp_path / "out.csv"
    assert run(["protect", str(source), "--hide-under", "6", "-o", str(target)]) == 0
    assert [row[1:] for row in back(target)[1:4]] == [["*", "27 (46.6)"], ["*", "31 (53.4)"], ["40 (66.7)", "*"]]
    capfdbinary.readouterr()
