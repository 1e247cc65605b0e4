"""Cells in the range of a published table with figures that are no part of it: what they say is not judged."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.errors import listed
from discreet.sheets.sheet_grid import CellPlace
from discreet.sheets.sheet_layout import ASIDE, MARK, NOTE, NUMBER, NUMBERING, SHARE, TOTAL
from discreet.sheets.sheet_table import SheetTable

JUDGED = (NUMBER, TOTAL, MARK, SHARE)


def unjudged_places(table: SheetTable, tables: Sequence[SheetTable]) -> tuple[CellPlace, ...]:
    """Cells beside the numbers of a table, and below them, that hold figures and that no table of the file judges.

    "7.5 (4.5-10.5)" in a column of text, "1 in 13", a column that is left aside. Notes in the columns of labels are
    words about the table, and so are numbers of the columns.
    """
    layout, grid = table.layout, table.grid
    same = [other.layout for other in tables if other.grid.sheet == grid.sheet and other.grid.source == grid.source]
    judged = {place for own in same for place, role in own.roles.items() if role in JUDGED}
    numbering = {aside.range.first_row for aside in table.left_aside if aside.reason == NUMBERING}
    body = layout.body_rows
    unjudged = []
    for (row, column), role in layout.roles.items():
        if column in layout.stub_columns or (row, column) in judged or row in numbering:
            continue
        if not (role == NOTE or (role == ASIDE and body[0] <= row <= layout.range.last_row)):
            continue
        if any(sign.isdecimal() for sign in grid.text(row, column)):
            unjudged.append(grid.place(row, column))
    return tuple(sorted(unjudged, key=lambda place: (place.column, place.row)))


def unjudged_figures(places: Sequence[CellPlace]) -> str:
    """Why an audit is no pass where such cells stand beside hidden numbers."""
    many = f"{len(places):,} cells" if len(places) > 1 else "1 cell"
    return (
        f"{many} beside the numbers hold figures that were not judged ({listed([p.address for p in places], 3)}): what "
        "they say of hidden numbers is not known; take them out of the published table"
    )
