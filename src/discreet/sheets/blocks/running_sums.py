"""Columns and rows that follow from another one: running sums and ranks show its counts, whatever is hidden there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import InputError
from discreet.sheets.blocks.body_numbers import BodyNumbers, BodyParts
from discreet.sheets.blocks.sheet_blocks import SheetBlock
from discreet.sheets.sheet_grid import column_letters
from discreet.sheets.sheet_options import SheetOptions

LEAST = 4
"""Rows with a count above zero from which a running sum is hardly chance."""
LEAST_RANKED = 5
"""Numbers from which the order of another column is hardly chance, if they are 1, 2, 3 and so on."""
LONGEST = 400
"""Rows or columns that are compared with each other; of more, those beside each other."""


def refuse_running_sums(block: SheetBlock, parts: BodyParts, numbers: BodyNumbers, options: SheetOptions) -> None:
    """Refuse a column or row that is the running sum of another, or its rank, with or without a total at the end.

    Marks are passed over. Ranks are not looked for where a caller names the headers of the counts.
    """
    columns = [f"column {column_letters(column)}" for column in parts.columns]
    rows = [f"row {row}" for row in parts.rows]
    hidden = numbers.hidden | np.isnan(numbers.values)
    for values, unknown, names, cure in (
        (numbers.values, hidden, columns, "leave it aside by its header (leave=, --leave)"),
        (numbers.values.T, hidden.T, rows, "take the row out, or read a part of the sheet (range=, --range)"),
    ):
        pair = _running(values, unknown)
        if pair is not None:
            raise InputError(
                f"{block.grid.source!r}: {names[pair[0]]} is the running sum of {names[pair[1]]}, step by step, so its "
                f"differences are the counts; {cure}"
            )
        pair = _ranked(values, unknown) if options.measure is None else None
        if pair is not None:
            raise InputError(
                f"{block.grid.source!r}: {names[pair[0]]} is the rank of {names[pair[1]]}, so it says between which "
                f"numbers a hidden count lies; {cure}; if it holds counts, name their headers (measure=, --measure)"
            )


def _running(values: Array, hidden: Array) -> tuple[int, int] | None:
    """A column that adds another up and that other one; None if there is none."""
    if len(values) < LEAST:
        return None
    before = np.vstack([np.zeros((1, values.shape[1]), bool), hidden[:-1]])
    falls = (np.diff(values, axis=0) < 0) & ~(hidden | before)[1:]
    for column in np.flatnonzero(~falls[:-1].any(axis=0)).tolist():  # counts are not negative: their sum never falls
        others = _near(column, values.shape[1])
        steps = np.diff(values[:, column], prepend=0)
        clear = ~(hidden[:, others] | (hidden | before)[:, [column]])
        for end in (len(values), len(values) - 1):  # a row of totals does not add to the sum
            fits = ((steps[:end, None] == values[:end, others]) | ~clear[:end]).all(axis=0)
            telling = (clear[:end] & (steps[:end, None] != 0)).sum(axis=0) >= LEAST
            if len(parts_of := np.flatnonzero(fits & telling)):
                return column, others[int(parts_of[0])]
    return None


def _ranked(values: Array, hidden: Array) -> tuple[int, int] | None:
    """A column that is the rank of another, from above or below, and that other one; None if there is none."""
    if len(values) < LEAST_RANKED:
        return None
    short = np.where(hidden, 1, values)[:-1]
    for column in np.flatnonzero((short.min(axis=0) == 1) & (short.max(axis=0) <= len(values))).tolist():
        for end in (len(values), len(values) - 1):  # a row of totals has no rank
            own = values[:end, column]
            known = ~hidden[:end, column]
            if not _are_ranks(own[known], end):
                continue
            for other in _near(column, values.shape[1]):
                clear = known & ~hidden[:end, other]
                if clear.sum() >= LEAST_RANKED and _in_order(own[clear], values[:end, other][clear]):
                    return column, other
    return None


def _are_ranks(numbers: Array, most: int) -> bool:
    """Whether numbers are 1, 2, 3 and so on in any order: each once, or again where several share a rank."""
    distinct = np.unique(numbers)
    whole = bool((distinct == np.rint(distinct)).all())
    return len(distinct) >= LEAST_RANKED and whole and distinct[0] == 1 and distinct[-1] <= most


def _in_order(ranks: Array, numbers: Array) -> bool:
    """Whether numbers always fall, or always rise, with their ranks; equal ranks are of equal numbers."""
    order = np.argsort(ranks, kind="stable")
    steps = np.diff(numbers[order])
    same_rank = np.diff(ranks[order]) == 0
    if (steps[same_rank] != 0).any() or len(np.unique(numbers)) < LEAST_RANKED:
        return False
    return bool((steps <= 0).all() or (steps >= 0).all())


def _near(column: int, columns: int) -> Sequence[int]:
    """Other columns to compare one with: all, or of very many those beside it."""
    if columns <= LONGEST:
        return [other for other in range(columns) if other != column]
    return [other for other in (column - 2, column - 1, column + 1, column + 2) if 0 <= other < columns]
