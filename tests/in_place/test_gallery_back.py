"""Layouts of the gallery protected and written back: what is not hidden stands in its place as it was."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from tests.sheets.gallery import census, cubes, health, offices, papers, reports, services
from tests.sheets.gallery.draft import LAYOUTS, Draft, Layout, written

from discreet.cli import run
from discreet.errors import InputError
from discreet.in_place.chosen_methods import small_counts_hidden
from discreet.in_place.contents import HiddenMarks
from discreet.in_place.sheet_files import protect_file, write_in_place
from discreet.sheets.sources.by_kind import grids_of

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


for _theme in sorted((Path(__file__).parents[1] / "sheets" / "gallery").glob("*.py")):
    importlib.import_module(f"tests.sheets.gallery.{_theme.stem}")

REFUSED = ("already_hidden", "blank_hidden", "magnitudes")
"""Layouts in which something is hidden already, and one of magnitudes."""
ON_PAGES = 1  # a table of a page has its caption in row 1
BOTH = [(layout, kind) for layout in LAYOUTS for kind in layout.formats]


@pytest.mark.parametrize(("layout", "kind"), BOTH, ids=[f"{layout.name}-{kind}" for layout, kind in BOTH])
def test_every_layout_comes_back(layout: Layout, kind: str, tmp_path: Path) -> None:
    """Each number is a mark or what it was, each label what it was, in its place, in every format; else refused."""
    drafts = layout.draw()
    source = written(drafts, tmp_path, kind)
    reading = {f"{key}s" if key == "sheet" else key: value for key, value in layout.options.items()}
    if isinstance(reading.get("sheets"), str):
        reading["sheets"] = [reading["sheets"]]
    hiding = small_counts_hidden(6, False, "*", None)
    if layout.name in REFUSED:
        with pytest.raises(InputError, match=r"hidden cells?|not counts"):
            protect_file(source, hiding, reading=reading, apart=True)
        return
    file = protect_file(source, hiding, reading=reading, apart=True)
    target = tmp_path / f"safe.{kind}"
    write_in_place(file, target, HiddenMarks("*", "*"), "* hidden to protect persons")
    before, after = ({grid.sheet: grid for grid in grids_of(path)} for path in (source, target))
    protected = {sheet.grid.sheet for sheet in file.sheets}
    down = ON_PAGES if kind == "html" else 0
    held = [name for name in before if name in protected or name in file.text_sheets]
    pages = dict(zip(held if kind == "html" else after, after, strict=True))
    for name, draft in zip(before, drafts, strict=True):
        if name not in protected:  # a sheet of notes
            continue
        copy = after[pages[name]]
        numbers = {
            (row + down, column): cell.number
            for truth in draft.tables
            for cell in truth.cells.values()
            for row, column in cell.places
            if row not in draft.hidden_rows
        }
        for place, number in numbers.items():
            now = copy.value(*place)
            assert now == "*" or not 0 < (number or 0) < 6, place
            assert now in ("*", before[name].value(*place)), place
        stub = {*file.sheets[0].layout.stub_columns}
        for (row, column), cell in before[name].cells.items():
            if column in stub and row - down not in draft.hidden_rows and (row, column) not in numbers:
                assert copy.value(row, column) == cell.value, (row, column)


def test_rows_that_number_the_columns_stay(tmp_path: Path) -> None:
    """In brackets; plain numbers under the headers might be counts."""
    path = tmp_path / "wards.csv"
    for texts, kept in ((("(1)", "(2)", "(3)", "(4)"), True), (("1", "2", "3", "4"), False)):
        path.write_text(f"Court,Civil,Criminal,All\n{','.join(texts)}\nHigh,14,31,45\nLow,51,4,55\nTotal,65,35,100\n")
        assert run(["protect", str(path), "--hide-under", "6", "-o", str(tmp_path / "safe.csv"), "--force"]) == 0
        row = (tmp_path / "safe.csv").read_text().splitlines()[1]
        assert row == (",".join(texts) if kept else ",,,")
