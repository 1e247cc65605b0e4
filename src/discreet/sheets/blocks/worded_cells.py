"""Numbers that stand with words in their cells: "14 pupils", "3/45 (6.7%)"."""

from __future__ import annotations

import re
from collections.abc import Mapping

from discreet.sheets.blocks.cell_reading import NUMERIC, WORDS, ReadCell
from discreet.sheets.blocks.derived_names import derived_kind
from discreet.sheets.quotient_cells import quotient_in

_WITH_UNIT = re.compile(r"\d[\d.,' \u00a0\u202f]*?[ \u00a0\u202f]?([^\W\d_]{2,20}\.?)")
LEAST_WITH_UNIT = 3
"""Numbers with the same word behind them from which it is taken as what they count."""


def counted_units(cells: Mapping[tuple[int, int], ReadCell]) -> tuple[str, ...]:
    """The word behind the numbers of columns in which no number stands alone, as in "14 pupils", in its spellings.

    None where several words stand behind numbers, or where numbers with it stand in the first column. In other columns
    numbers stand alone only if these are called percentages or means.
    """
    texts = {place: cell.text for place, cell in cells.items() if cell.kind == WORDS and cell.text[:1].isdecimal()}
    if len(texts) < LEAST_WITH_UNIT:
        return ()
    first = min((column for _, column in cells), default=0)
    matches = {place: _WITH_UNIT.fullmatch(text) for place, text in texts.items()}
    words = [match[1] for match in matches.values() if match is not None]
    stems = {word.casefold().rstrip("sen") for word in words}
    with_word = {column for _, column in texts}
    shares = _columns_of_shares(cells)
    alone = any(
        cell.kind == NUMERIC and not cell.is_year and column > first and (column in with_word or column not in shares)
        for (_, column), cell in cells.items()
    )
    few = len(words) < len(texts) or alone
    if few or len(stems) > 1 or any(column == first for _, column in texts):
        return ()
    return tuple(dict.fromkeys(words))


def quotient_cells(cells: Mapping[tuple[int, int], ReadCell]) -> dict[tuple[int, int], ReadCell]:
    """Cells that say of how many their count is, "3/45 (6.7%)", where no number of the sheet stands alone."""
    read: dict[tuple[int, int], ReadCell] = {}
    for place, cell in cells.items():
        if cell.kind == WORDS and (quotient := quotient_in(cell.text)) is not None and quotient.holds:
            text = str(quotient.part)
            read[place] = ReadCell(NUMERIC, cell.text, text, base=quotient.base)
    first = min((column for _, column in cells), default=0)
    own = {place: cell for place, cell in read.items() if place[1] > first}
    alone = any(c.kind == NUMERIC and not c.is_year and column > first for (_, column), c in cells.items())
    return own if len(own) >= LEAST_WITH_UNIT and not alone else {}


def _columns_of_shares(cells: Mapping[tuple[int, int], ReadCell]) -> set[int]:
    """Columns that some text above their numbers calls percentages, means or rates."""
    first: dict[int, int] = {}
    for (row, column), cell in cells.items():
        if cell.kind == NUMERIC:
            first[column] = min(row, first.get(column, row))
    return {
        column
        for (row, column), cell in cells.items()
        if cell.kind == WORDS and row < first.get(column, 0) and derived_kind(cell.text, []) is not None
    }
