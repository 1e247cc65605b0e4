"""Sheets of one file over different populations: judged apart, never called a contradiction, never a pass by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openpyxl
import pytest

import discreet as dc
from discreet.cli import run
from tests.audits.joined.test_hidden_counts import audited, written

Grid = list[list[Any]]
AREAS: Grid = [["Area", "f", "m", "Total"], ["N", 3, 20, 23], ["S", 14, 11, 25], ["W", 8, 9, 17], ["Unknown", 2, 5, 7]]
AREAS.append(["Total", 27, 45, 72])
AGES: Grid = [["Age", "f", "m", "Total"], ["young", 10, 22, 32], ["old", 15, 18, 33], ["Total", 25, 40, 65]]
SMOKING: Grid = [
    ["Area", "yes", "no", "Total"],
    ["N", 7, 12, 19],
    ["S", 9, 14, 23],
    ["W", 8, 9, 17],
    ["Total", 24, 35, 59],
]


def protected(folder: Path, **sheets: Grid) -> str:
    """A workbook as `protect --hide-under 6` writes it."""
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(folder / "in.xlsx")
    assert (
        run(["protect", str(folder / "in.xlsx"), "--hide-under", "6", "--apart", "-o", str(folder / "out.xlsx")]) == 0
    )
    return str(folder / "out.xlsx")


@pytest.mark.parametrize("other", [AGES, SMOKING])
def test_what_protect_writes_is_judged(tmp_path: Path, other: Grid, capsys: pytest.CaptureFixture[str]) -> None:
    """Totals that differ by those who are not known: each sheet by itself, and a reason why that is no pass."""
    path = protected(tmp_path, areas=AREAS, other=other)
    capsys.readouterr()
    code, report, _ = audited([path], capsys)
    assert (code, report["verdict"], report["summary"]["exact"]) == (1, "unknown", 0)
    assert any("different populations" in text for text in report["unjudged"])
    own = {f"out.xlsx {name}": {"fixed": {"population": name}} for name in ("areas", "other")}
    mapping = {"crossing": ["population"], "tables": own}
    assert dc.audit(path, mapping=mapping).ok


def test_what_a_sheet_gives_away_by_itself_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A cell that follows within its own sheet is known, whatever the other sheet is of."""
    book = openpyxl.Workbook()
    for row in [[v if v != 3 else "*" for v in line] for line in AREAS]:
        book.worksheets[0].append(row)
    sheet = book.create_sheet("ages")
    for row in AGES:
        sheet.append(row)
    book.save(tmp_path / "a.xlsx")
    code, report, _ = audited([str(tmp_path / "a.xlsx")], capsys)
    assert (code, report["verdict"], report["summary"]["exact"]) == (1, "fail", 1)


def test_files_that_contradict_each_other_are_an_error(tmp_path: Path) -> None:
    """Of files nobody says that they belong together: they are named."""
    one, two = written(tmp_path / "a.csv", AREAS), written(tmp_path / "b.csv", AGES)
    assert run(["audit", one, two]) == 2


def test_populations_of_which_none_is_part_of_another_are_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each year has more in one cell and less in another: nothing is left to be subtracted."""
    later: Grid = [["Area", "f", "m", "Total"], ["N", 30, 4, 34], ["S", 9, 21, 30], ["W", 12, 9, 21]]
    later += [["Unknown", 7, 8, 15], ["Total", 58, 42, 100]]
    path = protected(tmp_path, first=AREAS, second=later)
    capsys.readouterr()
    code, report, _ = audited([path], capsys)
    assert (code, report["verdict"], report["unjudged"]) == (0, "pass", [])
    more = [row if k in (0, 5) else [row[0], row[1] + 9, row[2] + 9, row[3] + 18] for k, row in enumerate(AREAS)]
    more[5] = ["Total", 63, 81, 144]
    (tmp_path / "out.xlsx").unlink()
    path = protected(tmp_path, first=AREAS, second=more)
    capsys.readouterr()
    assert audited([path], capsys)[1]["verdict"] == "unknown"
