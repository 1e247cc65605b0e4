"""A copy audited without its source: what its tables leave open is named with the option that settles it."""

from __future__ import annotations

import shlex
from pathlib import Path

import openpyxl
import pytest

from discreet.cli import run

AREAS = ("North East", "North West", "Yorkshire", "East", "London", "South East", "South West")
YEARS = [
    [3, 22, 40, 31],
    [15, 2, 8, 31],
    [40, 22, 3, 15],
    [31, 8, 15, 2],
    [22, 40, 31, 3],
    [2, 31, 22, 40],
    [8, 3, 2, 22],
]


def book(path: Path, sheets: dict[str, list[list[object]]]) -> Path:
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    made.save(path)
    return path


def counts(first: bool, whole: str) -> list[list[object]]:
    """Areas with their sum above or below them, under a name of its own."""
    total: list[object] = [whole, *(sum(column) for column in zip(*YEARS, strict=True))]
    areas: list[list[object]] = [[area, *row] for area, row in zip(AREAS, YEARS, strict=True)]
    return [
        ["Region", "2020", "2021", "2022", "2023"],
        *([total] if first else []),
        *areas,
        *([] if first else [total]),
    ]


@pytest.mark.parametrize("first", [True, False])
def test_a_total_with_a_name_of_its_own_is_named(
    first: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Protecting it had all numbers to see it by; the audit has what is shown, and asks."""
    path = book(tmp_path / "t.xlsx", {"T": counts(first, "England")})
    assert run(["protect", str(path), "--hide-under", "6"]) == 0
    audit = ["audit", str(tmp_path / "t.safe.xlsx"), "--suppressed", "*"]
    capsys.readouterr()
    assert run(audit) == 1
    said = capsys.readouterr()
    text = " ".join((said.out + said.err).split())
    assert "(--total Region=England) fits what is shown" in text
    assert "South West'}" not in text
    assert run([*audit, "--total", "Region=England"]) == 0


def test_a_sheet_of_percentages_is_no_way_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only sheets of counts are offered to be read without the one that asks."""
    inner = [[30, 41], [3, 12], [22, 9], [14, 4], [17, 25]]
    rows: list[list[object]] = [["Maakunta", "Miehet", "Naiset", "Yhteensä"]]
    areas = ["KOKO MAA", "Uusimaa", "Satakunta", "Pirkanmaa", "Kainuu", "Lappi"]
    numbers = [[sum(column) for column in zip(*inner, strict=True)], *inner]
    rows += [[area, *row, sum(row)] for area, row in zip(areas, numbers, strict=True)]
    shares = [rows[0], *([row[0], *(round(100 * n / row[3], 1) for n in row[1:])] for row in rows[1:])]  # type: ignore[operator]
    path = book(tmp_path / "t.xlsx", {"Counts": rows, "Percent": shares})
    assert run(["protect", str(path), "--hide-under", "6"]) == 0
    audit = ["audit", str(tmp_path / "t.safe.xlsx"), "--suppressed", "*"]
    capsys.readouterr()
    assert run(audit) == 2
    said = capsys.readouterr().err
    assert "go on without" not in said
    flags = shlex.split(said[said.index("(--total ") + 1 :].partition(")")[0])
    assert run([*audit, *flags]) == 0
