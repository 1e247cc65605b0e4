"""Cells in the range of a published table with figures that are no part of it: what they say is not judged."""

from __future__ import annotations

import re
from collections.abc import Sequence

from discreet.errors import listed
from discreet.sheets.sheet_grid import CellPlace
from discreet.sheets.sheet_layout import ASIDE, MARK, NOTE, NUMBER, NUMBERING, TITLE, TOTAL
from discreet.sheets.sheet_layout import SHARE as SHARE_CELL
from discreet.sheets.sheet_table import SheetTable

SHARE = re.compile(
    r"(\d+(?:[.,]\d+)?)\s*(?:%|per\s?cent\b|percent\b|prozent\b|pour\s?cent\b|procent\b|prosent\w*|por\s?ciento\b"
    r"|per\s?cento\b|por\s?cento\b)",
    re.IGNORECASE,
)
SURE = re.compile(
    r"[-\s]*(?:confidence|conf\.|ci\b|c\.i\.|konfidenz|(?:intervalle )?de confiance|intervalo|credible|cl\b)", re.I
)
PART = re.compile(
    r"(?<!table )(?<!tabelle )(?<!page )(?<!sheet )(?<!part )(?<!note )\b\d+\s+(?:in|out of|of|von|sur|av)\s+"
    r"(?:the\s+|every\s+)?(?!(?:19|20)\d\d\b)\d+\b",
    re.IGNORECASE,
)
"""A share in words, 3 in 10; not a page of several, nor a year."""
JUDGED = (NUMBER, TOTAL, MARK, SHARE_CELL)


def states_share(text: str) -> bool:
    """Whether a sentence states a percentage or a share of something, other than all of it or how sure an interval is.

    >>> states_share("12 % of the 48 women"), states_share("one group: 3 in 10 patients")
    (True, True)
    >>> states_share("Rows add up to 100 %; 95% confidence intervals"), states_share("Table 2 of 5: aged 65 in 2020")
    (False, False)
    """
    shares = [match for match in SHARE.finditer(text) if float(match[1].replace(",", ".")) != 100]
    return any(not SURE.match(text, match.end()) for match in shares) or bool(PART.search(text))


def unjudged_places(table: SheetTable, tables: Sequence[SheetTable]) -> tuple[CellPlace, ...]:
    """Cells beside the numbers of a table, and below them, that hold figures and that no table of the file judges.

    "7.5 (4.5-10.5)" in a column of text, "1 in 13", a column that is left aside. Notes in the columns of labels and
    titles are words about the table, unless they state a share ("12 % of the 48 women"), and so are numbers of the
    columns.
    """
    layout, grid = table.layout, table.grid
    same = [other.layout for other in tables if other.grid.sheet == grid.sheet and other.grid.source == grid.source]
    judged = {place for own in same for place, role in own.roles.items() if role in JUDGED}
    numbering = {aside.range.first_row for aside in table.left_aside if aside.reason == NUMBERING}
    body = layout.body_rows
    unjudged = []
    for (row, column), role in layout.roles.items():
        if role in (NOTE, TITLE) and states_share(grid.text(row, column)):
            unjudged.append(grid.place(row, column))
            continue
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
