"""Every layout of the gallery, in every format, comes back: what is shown is the same cell by cell, in its place."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from discreet.sheets.rewrite.number_look import first_number
from discreet.sheets.same_layout import write_same
from discreet.sheets.sheet_grid import CellPlace, SheetCell
from discreet.sheets.sources.by_kind import grids_of
from tests.sheets.gallery.draft import LAYOUTS, Draft, Layout, written

for _theme in sorted((Path(__file__).parent.parent / "gallery").glob("*.py")):
    importlib.import_module(f"tests.sheets.gallery.{_theme.stem}")

CASES = [pytest.param(layout, kind, id=f"{layout.name}-{kind}") for layout in LAYOUTS for kind in layout.formats]
MARK, NOTE = "[c]", "[c] hidden to protect persons"
EVERY = 4  # of the numbers is hidden


def is_number(cell: SheetCell) -> bool:
    value = cell.value
    return first_number(value) is not None if isinstance(value, str) else value is not None


@pytest.mark.parametrize(("case", "kind"), CASES)
def test_what_is_shown_is_the_same_in_place(case: Layout, kind: str, tmp_path: Path) -> None:
    """Values, formats, indents, bold letters, merged cells; a quarter of the numbers is hidden."""
    source = written(case.draw(), tmp_path, kind)
    sheets = grids_of(source)
    places = {
        grid.place(*at): cell
        for grid in sheets
        for at, cell in grid.cells.items()
        if not (kind == "html" and at[0] == 1)  # the caption, which is not a cell
    }
    hidden_rows = {(grid.sheet, row) for grid in sheets for row in grid.hidden_rows}
    numbers = sorted(place for place, cell in places.items() if is_number(cell))
    hidden: dict[CellPlace, str] = dict.fromkeys(numbers[::EVERY], MARK)
    target = tmp_path / f"out.{kind}"
    write_same(source, target, hidden, shown=places, note=NOTE)
    after = {grid.place(*at): cell for grid in grids_of(target) for at, cell in grid.cells.items()}
    notes = {place for place, cell in after.items() if cell.value == NOTE}
    for place, cell in places.items():
        now = after.pop(place, None)
        if (place.sheet, place.row) in hidden_rows:
            assert now is None
        elif place in hidden:
            assert now is not None
            assert str(now.value).strip() == MARK
        else:
            assert now == cell
    assert {place for place in after if place.row > 1 or kind != "html"} == notes
    for before, now_grid in zip(sheets, grids_of(target), strict=True):
        assert before.merged == now_grid.merged


@pytest.mark.parametrize("kind", ["xlsx", "ods"])
def test_sheets_of_text_keep_their_texts_if_asked(kind: str, tmp_path: Path) -> None:
    """And no number, also none that is stored as text."""
    table, about = Draft(name="Table"), Draft(name="About")
    table.line(1, ["North", 3])
    about.line(1, ["Who made this", 1234567, "1 234 567"])
    about.line(2, ["Rounded in 2024"])
    source = written([table, about], tmp_path, kind)
    without = write_same(source, tmp_path / f"one.{kind}", {("Table", 1, 2): "*"}, shown=())
    both = write_same(source, tmp_path / f"two.{kind}", {("Table", 1, 2): "*"}, shown=(), text_sheets=["About"])
    assert [grid.sheet for grid in grids_of(without.path)] == ["Table"]
    assert [{at: cell.value for at, cell in grid.cells.items()} for grid in grids_of(both.path)] == [
        {(1, 1): "North", (1, 2): "*"},
        {(1, 1): "Who made this", (2, 1): "Rounded in 2024"},
    ]
    assert "sheet 'About', which was not protected" in without.left_out
