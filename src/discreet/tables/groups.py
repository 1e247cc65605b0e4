"""Whether a code of a ready table may be a group of others: their sum, wherever all of them are shown."""

from __future__ import annotations

import numpy as np

from discreet.base.annotations import Array
from discreet.tables.totals import Cells

MOST_CODES = 14
"""Above so many codes not all sets of them are tried, and a group is possible."""


def possible_group(cells: Cells, axis: int) -> bool:
    """Whether some code of a dimension may be the sum of two or more of the others, as far as is shown.

    Only lines in which every code is shown can deny it; where there is none, or there are too many codes to try all
    sets of them, it is possible.
    """
    codes = cells.codes[axis]
    if len(codes) < 3:
        return False
    if len(codes) > MOST_CODES:
        return True
    lines, allowed = [], []
    for numbers, loose in zip(cells.numbers, cells.loose, strict=True):
        values, shown = cells.lines(axis, numbers, range(len(codes)))
        full = values[:, shown.all(axis=0)]
        lines.append(full)
        allowed.append(np.full(full.shape[1], loose * len(codes)))
    return _sum_of_some(np.hstack(lines), np.concatenate(allowed))


def _sum_of_some(values: Array, allowed: Array) -> bool:
    """Whether a row is the sum of two or more others in every column, give or take ``allowed``.

    >>> _sum_of_some(np.array([[3.0, 4], [2, 3], [1, 1], [9, 9]]), np.zeros(2))
    True
    >>> _sum_of_some(np.array([[3.0, 4], [2, 3], [1, 7], [9, 9]]), np.zeros(2))
    False
    """
    size = len(values)
    chosen = (np.arange(2**size)[:, None] >> np.arange(size)) & 1
    chosen = chosen[chosen.sum(axis=1) >= 2]
    for row in range(size):
        left = chosen[chosen[:, row] == 0]
        for column, room in zip(values.T, allowed, strict=True):
            left = left[np.abs(left @ column - column[row]) <= room]
            if not len(left):
                break
        if len(left):
            return True
    return False
