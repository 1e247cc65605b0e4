"""Cells in the range of a published table with figures that are no part of it: what they say is not judged."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

import numpy as np

from discreet.errors import listed, many
from discreet.sheets.counts_in_words import counts_in
from discreet.sheets.rewrite.number_look import plain_number
from discreet.sheets.shares_in_words import states_share
from discreet.sheets.sheet_grid import CellPlace
from discreet.sheets.sheet_layout import ASIDE, MARK, NOTE, NUMBER, NUMBERING, TITLE, TOTAL, known_sums
from discreet.sheets.sheet_layout import SHARE as SHARE_CELL
from discreet.sheets.sheet_table import SheetTable

PAGE = re.compile(
    r"\b(?:tables?|tabelle|tableau|pages?|seite|sheet|part|note)\s+\d+\s+(?:of|von|sur|av)\s+\d+"
    r"|(?:\bround|\bgerundet|\barrondi|\bredonde)\w*[^.;\d]{0,60}\d+",
    re.IGNORECASE,
)
"""A page of several, and the base that numbers were rounded to."""
LEAST_OF_A_SENTENCE = 5
"""Words from which a note is judged by what it says, wherever it stands."""
JUDGED = (NUMBER, TOTAL, MARK, SHARE_CELL)


def states_figure(text: str, totals: Container[float | None], most: float) -> bool:
    """Whether a sentence states a share, or a number that may be a hidden count: none above all, and not a total.

    >>> states_figure("Of the 26 patients in South, 8 are women", (26.0,), 101)
    True
    >>> states_figure("26 patients in 2024; * stands for fewer than 6", (26.0,), 101)
    False
    """
    if states_share(text):
        return True
    return any(0 < one.number <= most and one.number not in totals for one in counts_in(PAGE.sub(" ", text)))


def unjudged_places(table: SheetTable, tables: Sequence[SheetTable]) -> tuple[CellPlace, ...]:
    """Cells beside the numbers of a table, and below them, that hold figures and that no table of the file judges.

    "7.5 (4.5-10.5)" in a column of text, "1 in 13", a column that is left aside. Notes in the columns of labels and
    titles are words about the table, unless they state a share ("12 % of the 48 women"), and so are numbers of the
    columns. Sheets of texts are looked at as notes are.
    """
    layout, grid = table.layout, table.grid
    parts = [(other.grid, other.layout) for other in tables]
    parts += [(one.grid, one.layout) for other in tables for one in other.share_tables]
    same = [own for other, own in parts if other.sheet == grid.sheet and other.source == grid.source]
    judged = {place for own in same for place, role in own.roles.items() if role in JUDGED}
    shown = {grid.place(*at) for at, role in layout.roles.items() if role in (NUMBER, TOTAL)}
    judged |= {(place.row, place.column) for place, known in known_sums(table.running, shown).items() if known}
    numbering = {aside.range.first_row for aside in table.left_aside if aside.reason == NUMBERING}
    body = layout.body_rows
    totals = {plain_number(grid.text(*place)) for place, role in layout.roles.items() if role == TOTAL}
    most = float(np.nanmax(table.published.values[table.measure], initial=0.0))
    unjudged = []
    for (row, column), role in layout.roles.items():
        if role in (NOTE, TITLE) and states_figure(grid.text(row, column), totals, most):
            unjudged.append(grid.place(row, column))
            continue
        if column in layout.stub_columns or (row, column) in judged or row in numbering:
            continue
        sentence = len(grid.text(row, column).split()) >= LEAST_OF_A_SENTENCE  # judged above
        if not ((role == NOTE and not sentence) or (role == ASIDE and body[0] <= row <= layout.range.last_row)):
            continue
        if any(sign.isdecimal() for sign in grid.text(row, column)):
            unjudged.append(grid.place(row, column))
    for shares in table.share_tables:
        texts = [at for at, role in shares.layout.roles.items() if role in (NOTE, TITLE)]
        unjudged += [shares.grid.place(*at) for at in texts if states_figure(shares.grid.text(*at), totals, most)]
    unjudged.sort(key=lambda place: (place.column, place.row))
    for notes in table.unread:
        cells = [notes.place(*at) for at in sorted(notes.cells)]
        unjudged += [at for at in cells if states_figure(notes.text(at.row, at.column), totals, most)]
    return tuple(unjudged)


def unjudged_figures(places: Sequence[CellPlace]) -> str:
    """Why an audit is no pass where such cells stand beside hidden numbers."""
    cells = many(len(places), "cell beside the numbers holds", "cells beside the numbers hold")
    where = listed([_address(place) for place in places], 3)
    return (
        f"{cells} figures that were not judged ({where}): what they say of hidden numbers is not known; take them out "
        "of the published table"
    )


def _address(place: CellPlace) -> str:
    return f"{place.sheet}!{place.address}" if place.sheet else place.address
