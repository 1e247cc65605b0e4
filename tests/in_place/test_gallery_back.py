"""Layouts of the gallery protected and written back: what is not hidden stands in its place as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openpyxl
import pytest
from tests.sheets.gallery import census, cubes, health, offices, papers, reports, services
from tests.sheets.gallery.draft import Draft, written

from discreet.cli import run

DRAWN = (
    papers.table_one,
    papers.two_by_two,
    health.practices,
    health.deaths_by_cause,
    census.sex_by_age,
    census.sections_by_sex,
    cubes.pivot_outline,
    cubes.pivot_compact,
    offices.of_which,
    offices.two_tables,
    reports.variables_across,
    reports.quarters,
    services.baseline,
    services.measures_file,
    services.sums_of_groups,
    services.narrower_groups,
)


@pytest.mark.parametrize("draw", DRAWN, ids=lambda draw: draw.__name__)
def test_numbers_that_are_not_hidden_are_the_same_in_their_place(
    draw: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every cell of every table is a mark or what it was; small ones are marks; headers with numbers stay."""
    monkeypatch.chdir(tmp_path)
    draft: Draft = draw()
    path = written([draft], tmp_path, "xlsx")
    assert run(["protect", path.name, "--hide-under", "6", "--apart", "-o", "safe.xlsx"]) == 0
    sheet = openpyxl.load_workbook("safe.xlsx")[draft.name]
    hidden = 0
    for truth in draft.tables:
        for cell in truth.cells.values():
            for row, column in cell.places:
                now = sheet.cell(row, column).value
                assert now in ("*", draft.cells[(row, column)].value), (row, column)
                assert now == "*" or not 0 < (cell.number or 0) < 6
                hidden += now == "*"
    smallest = [c.number for truth in draft.tables for c in truth.cells.values() if 0 < (c.number or 0) < 6]
    rest = draw in (offices.of_which, services.narrower_groups)  # 130 men of Asia, 81 and 44 listed: 5 are left
    assert bool(hidden) == (bool(smallest) or rest)
