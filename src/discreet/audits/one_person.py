"""Cells that are open because one person more or less would be published alike: no program is solved for them."""

from __future__ import annotations

import numpy as np

from discreet.audits.view import View
from discreet.base.annotations import Array


def open_by_one(seen: View) -> Array:
    """Cells of which another value is possible: with one person more, or less, in some inner cell every cell that
    counts that person stays within what is published of it. The others may be open, too.

    Such a table is in whole numbers, adds up and fits all bounds, so it proves that the cell is not known exactly.
    """
    known, cells = seen.known, len(seen.unknown)
    free = np.zeros(cells, bool)
    if seen.truth is None or seen.inner_truth is None or not known.integer or (known.matrix.data < 0).any():
        return free
    for step in (1, -1):
        moved, inner = seen.truth + step, seen.inner_truth + step
        stuck = ~((moved >= known.lower) & (moved <= known.upper))
        may = (inner >= known.inner_lower) & (inner <= known.inner_upper)
        may &= np.asarray(known.matrix @ stuck.astype(np.int64)) == 0
        free |= np.asarray(known.matrix.T @ may.astype(np.int64)) > 0
    return free
