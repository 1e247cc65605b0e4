"""Cells in the range of a published table with figures that are no part of it: what they say is not judged."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

import numpy as np

from discreet.errors import listed
from discreet.sheets.counts_in_words import counts_in
from discreet.sheets.rewrite.number_look import plain_number
from discreet.sheets.sheet_grid import CellPlace
from discreet.sheets.sheet_layout import ASIDE, MARK, NOTE, NUMBER, NUMBERING, TITLE, TOTAL
from discreet.sheets.sheet_layout import SHARE as SHARE_CELL
from discreet.sheets.sheet_table import SheetTable
from discreet.sheets.sums.mean_lines import PLAIN_MEAN

SHARE = re.compile(
    r"(\d+(?:[.,]\d+)?)\s*(?:[%\u2030\u2031\u066a\ufe6a\uff05]|per[\s-]?cent\b|percent\w*|pct\b|p\.\s?c\.|prozent\b"
    r"|v\.\s?h\.|vom\s+hundert\b|pour\s?cent\b|procent\b|prosent\w*|por\s?ciento\b|per\s?cento\b|por\s?cento\b"
    r"|(?:in|per|pro|je|pour|por)\s+(?:every\s+)?(?:1[., ]?0{2,3}(?:[., ]?000)?)\b)",
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
PAGE = re.compile(
    r"\b(?:tables?|tabelle|tableau|pages?|seite|sheet|part|note)\s+\d+\s+(?:of|von|sur|av)\s+\d+"
    r"|(?:\bround|\bgerundet|\barrondi|\bredonde)\w*[^.;\d]{0,60}\d+",
    re.IGNORECASE,
)
"""A page of several, and the base that numbers were rounded to."""
FRACTION = re.compile(
    r"\b(?:half|halves|two[\s-]thirds|(?:one|a)[\s-]third|thirds?\s+of|three[\s-]quarters|(?:one|a)[\s-]quarter|quarters?\s+of"
    r"(?!\s+(?:19|20)\d\d)|(?:one|a|two|three|four)[\s-](?:fifth|sixth|seventh|eighth|ninth|tenth)s?|(?:fifth|tenth)s\s+of"
    r"|h\u00e4lfte|(?:ein|zwei|drei|vier)\s?(?:drittel|viertel|f\u00fcnftel|achtel|zehntel)|moiti\u00e9|(?:un|deux|trois)\s+"
    r"(?:tiers|quarts?)|la\s+mitad|(?:un|dos|tres)\s+(?:tercios?|cuartos?))\b|[\u00bc-\u00be\u2150-\u215e]",
    re.IGNORECASE,
)
MEAN_FIGURE = re.compile(r"\d[.,]\d")
"""A figure with decimals beside the word mean or average."""
JUDGED = (NUMBER, TOTAL, MARK, SHARE_CELL)


def states_share(text: str) -> bool:
    """Whether a sentence states a percentage or a share of something, other than all of it or how sure an interval is.

    >>> states_share("12 % of the 48 women"), states_share("one group: 3 in 10 patients")
    (True, True)
    >>> states_share("Rows add up to 100 %; 95% confidence intervals"), states_share("Table 2 of 5: aged 65 in 2020")
    (False, False)
    """
    shares = [match for match in SHARE.finditer(text) if float(match[1].replace(",", ".")) != 100]
    if any(not SURE.match(text, match.end()) for match in shares) or PART.search(text) or FRACTION.search(text):
        return True
    return bool(PLAIN_MEAN.search(text) and MEAN_FIGURE.search(text))


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
    columns.
    """
    layout, grid = table.layout, table.grid
    same = [other.layout for other in tables if other.grid.sheet == grid.sheet and other.grid.source == grid.source]
    judged = {place for own in same for place, role in own.roles.items() if role in JUDGED}
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
