"""Every layout of the gallery, in every format it can be written in: dimensions, sums and each number in its place."""

from __future__ import annotations

import importlib
import math
from pathlib import Path

import pytest

from discreet.sheets.reading_sheets import read_tables
from discreet.sheets.sheet_table import SheetTable
from tests.sheets.gallery.draft import LAYOUTS, Layout, TrueTable, written

for _theme in sorted(Path(__file__).parent.glob("gallery/*.py")):
    importlib.import_module(f"tests.sheets.gallery.{_theme.stem}")

CASES = [pytest.param(layout, kind, id=f"{layout.name}-{kind}") for layout in LAYOUTS for kind in layout.formats]


def same(table: SheetTable, truth: TrueTable) -> None:
    """A table that was read is the one that was drawn."""
    assert {d.name: d.total for d in table.dimensions} == dict(truth.dimensions)
    groups = {g.code: {part for part, _ in g.parts} for d in table.dimensions for g in d.groups}
    assert groups == {code: set(parts) for code, parts in truth.groups.items()}
    numbers = table.published.values[table.measure]
    read = {}
    for row, number in zip(table.published.codes, numbers, strict=True):
        codes = tuple(d.codes[k] for d, k in zip(table.dimensions, row, strict=True))
        if codes not in table.places:
            continue  # what listed parts leave of a sum stands nowhere
        places = tuple((place.row, place.column) for place in table.places[codes])
        read[codes] = (None if math.isnan(number) else number, places)
    assert read == {codes: (cell.number, cell.places) for codes, cell in truth.cells.items()}
    confirmed = [d for d in table.percentages if d.numerator is not None]
    assert (len(confirmed), len(table.percentages) - len(confirmed)) == (truth.shares, truth.unconfirmed)
    assert len(table.fixed) == truth.fixed


@pytest.mark.parametrize(("case", "kind"), CASES)
def test_a_layout_is_read_as_it_was_drawn(case: Layout, kind: str, tmp_path: Path) -> None:
    """Cell by cell; where nothing is hidden the table adds up to the numbers of the sheet."""
    drafts = case.draw()
    tables = read_tables(written(drafts, tmp_path, kind), **case.options)
    truths = [truth for draft in drafts for truth in draft.tables]
    assert len(tables) == len(truths)
    for table, truth in zip(tables, truths, strict=True):
        if kind in ("csv", "html"):
            shift = 1 if kind == "html" else 0  # the first row of a page is that of its caption
            truth.cells = {
                codes: type(cell)(cell.number, tuple((r + shift, c) for r, c in cell.places))
                for codes, cell in truth.cells.items()
            }
        same(table, truth)
        if not table.hidden:
            cells = table.table.cells
            names = [d.name for d in table.dimensions]
            listed = {tuple(row[:-1]): row[-1] for row in cells[[*names, table.measure]].itertuples(index=False)}
            assert {c: listed[c] for c in truth.cells} == {c: cell.number for c, cell in truth.cells.items()}
