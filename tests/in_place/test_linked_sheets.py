"""Sheets of one workbook: what one hides the other hides, and nothing follows from two totals that differ by a row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest

from discreet.cli import run
from discreet.in_place import possible_parts
from discreet.in_place.linked_sheets import linked_tables
from discreet.sheets.reading_sheets import read_tables

Rows = dict[str, tuple[int, int]]
WARDS: Rows = {"Abbey": (71, 100), "Beacon": (49, 4), "Castle": (30, 43), "Dene": (60, 51)}


def save(path: Path, *sheets: Rows) -> None:
    """Each as a sheet with totals of rows and columns."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for number, rows in enumerate(sheets):
        sheet = book.create_sheet(f"Sheet {number}")
        sheet.append(["Ward", "Female", "Male", "Total"])
        sums = tuple(map(sum, zip(*rows.values(), strict=True)))
        for name, counts in [*rows.items(), ("All wards", sums)]:
            sheet.append([name, *counts, sum(counts)])
    book.save(path)


def hidden(path: Path) -> list[set[tuple[str, int]]]:
    """Ward and column of the marks of each sheet."""
    return [
        {(row[0], k) for row in sheet.iter_rows(values_only=True) for k in (1, 2) if row[k] == "*"}
        for sheet in openpyxl.load_workbook(path)
    ]


def test_a_row_more_does_not_undo_the_link(tmp_path: Path, capfdbinary: Any) -> None:
    """Totals differ, and every ward agrees: both sheets hide the same wards."""
    save(tmp_path / "a.xlsx", WARDS, {**WARDS, "Unknown": (11, 20)})
    assert run(["protect", str(tmp_path / "a.xlsx"), "--hide-under", "6"]) == 0
    first, second = hidden(tmp_path / "a.safe.xlsx")
    assert first == second
    assert ("Beacon", 2) in first
    capfdbinary.readouterr()


def test_what_follows_from_the_difference_of_totals_is_hidden(tmp_path: Path, capfdbinary: Any) -> None:
    """The one unknown woman is the second total of women less the first, so that one of them is not shown."""
    save(tmp_path / "a.xlsx", WARDS, {**WARDS, "Unknown": (1, 0)})
    assert run(["protect", str(tmp_path / "a.xlsx"), "--hide-under", "6"]) == 0
    first, second = hidden(tmp_path / "a.safe.xlsx")
    assert ("Unknown", 1) in second
    assert ("All wards", 1) in first | second
    assert "Tables that have sums in common were judged together." in capfdbinary.readouterr().err.decode()


def test_tables_of_which_none_can_be_a_part_of_another_are_passed(tmp_path: Path, capfdbinary: Any) -> None:
    """Another year: each is larger than the other in some ward."""
    save(tmp_path / "a.xlsx", WARDS, {name: (a + 7, b - 2) for name, (a, b) in WARDS.items()})
    assert run(["protect", str(tmp_path / "a.xlsx"), "--hide-under", "6"]) == 0
    told = capfdbinary.readouterr().err.decode()
    assert "share labels" not in told
    assert "verdict on the file" not in told


def test_a_table_that_may_be_a_part_is_protected_as_one(tmp_path: Path, capfdbinary: Any) -> None:
    """Of 30 women in Castle all but three are on the second sheet: one of the two numbers is not shown."""
    parts = {name: (a - (3 if name == "Castle" else 20), b) for name, (a, b) in WARDS.items()}
    save(tmp_path / "a.xlsx", WARDS, parts)
    assert run(["protect", str(tmp_path / "a.xlsx"), "--hide-under", "6"]) == 0
    first, second = hidden(tmp_path / "a.safe.xlsx")
    assert ("Castle", 1) in first | second
    told = capfdbinary.readouterr().err.decode()
    assert "2 tables that may be parts of each other were judged as such." in told
    assert "verdict on the file" not in told
    assert run(["protect", str(tmp_path / "a.xlsx"), "--hide-under", "6", "--force", "--apart"]) == 0
    assert "2 tables that share labels count different people, as was said." in capfdbinary.readouterr().err.decode()


def test_where_too_many_tables_may_be_parts_it_is_said(
    tmp_path: Path, capfdbinary: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(possible_parts, "MOST_JUDGED", 10)
    save(tmp_path / "a.xlsx", WARDS, {name: (a + 7, b + 9) for name, (a, b) in WARDS.items()})
    assert run(["protect", str(tmp_path / "a.xlsx"), "--hide-under", "6"]) == 1
    told = capfdbinary.readouterr().err.decode()
    assert "verdict on the file: unknown" in told
    assert "Not judged: what follows if some of 2 tables that share labels are parts of others." in told


@pytest.mark.parametrize(
    ("other", "linked"),
    [
        ({"Beacon": (49, 4), "Elm": (9, 90)}, True),  # one ward in common
        ({name: (a + 7, b + 9) for name, (a, b) in WARDS.items()}, False),  # another year
        ({"Abbey": (71, 100), "Beacon": (49, 4), "Castle": (8, 90), "Dene": (9, 11)}, True),  # half of them
        ({"Elm": (49, 4)}, False),  # no name in common but the totals
    ],
)
def test_which_sheets_are_of_one_population(tmp_path: Path, other: Rows, linked: bool) -> None:
    """At least half of the finest cells in common agree; cells of another year do not."""
    save(tmp_path / "a.xlsx", WARDS, other)
    tables = read_tables(tmp_path / "a.xlsx")
    pairs = linked_tables(tables)
    assert bool(pairs) == linked
    for pair in pairs:
        here, there = (np.array(side) for side in zip(*pair.cells, strict=True))
        assert np.array_equal(tables[0].table.value[here], tables[1].table.value[there])
