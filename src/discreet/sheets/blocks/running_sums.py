"""Columns that add up another one row by row: their differences are its counts, whatever is hidden there."""

from __future__ import annotations

import numpy as np

from discreet.errors import InputError
from discreet.sheets.blocks.body_numbers import BodyNumbers, BodyParts
from discreet.sheets.blocks.sheet_blocks import SheetBlock
from discreet.sheets.sheet_grid import column_letters

LEAST = 4
"""Rows with a count above zero from which a running sum is hardly chance."""


def refuse_running_sums(block: SheetBlock, parts: BodyParts, numbers: BodyNumbers) -> None:
    """Refuse a column that is the running sum of another, with or without a total below; marks are passed over."""
    values, hidden = numbers.values, numbers.hidden | np.isnan(numbers.values)
    before = np.vstack([np.zeros((1, values.shape[1]), bool), hidden[:-1]])
    for column in range(values.shape[1]):
        steps = np.diff(values[:, column], prepend=0)
        clear = ~(hidden | (hidden | before)[:, [column]])
        for end in (len(values), len(values) - 1):  # a row of totals does not add to the sum
            fits = ((steps[:end, None] == values[:end]) | ~clear[:end]).all(axis=0)
            telling = (clear[:end] & (steps[:end, None] != 0)).sum(axis=0) >= LEAST
            fits[column] = False
            if len(parts_of := np.flatnonzero(fits & telling)):
                raise InputError(
                    f"{block.grid.source!r}: column {column_letters(parts.columns[column])} is the running sum of "
                    f"column {column_letters(parts.columns[int(parts_of[0])])}, row by row, so its differences are the "
                    "counts; leave it aside by its header (leave=, --leave)"
                )
