"""Second whole values without programs: moves of one unit from a known solution, found by local search.

A move is a change in whole numbers that keeps every row and every bound; adding it to the known solution gives another,
so every variable in it has two values. What is found is certain; what is not found says nothing.
"""

from __future__ import annotations

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array
from discreet.linear.linear_tuning import LINEAR, LinearTuning
from discreet.linear.system import System

FAR = 2**40  # room without end


def seen_by_moves(system: System, targets: Array, tuning: LinearTuning = LINEAR) -> tuple[Array, Array] | None:
    """Least and greatest value of each variable in the solutions that moves of single targets lead to.

    None without a whole-number solution to begin with, or with rows of fractions. Walks get longer from turn to turn;
    a turn ends where too few of the targets that it tries are moved.

    >>> from scipy.sparse import csr_array
    >>> s = System(csr_array([[1.0, 1.0, 1.0]]), np.array([3.0]), np.zeros(3), np.full(3, 3.0), True, np.ones(3))
    >>> low, high = seen_by_moves(s, np.arange(3))
    >>> bool((high > low).all())
    True
    """
    from discreet.linear._whole_moves import Entries, find_moves

    point = system.point
    if point is None or not system.fits(point) or (system.rows.data != np.rint(system.rows.data)).any():
        return None
    matrices = (system.rows, system.columns)
    entries = Entries(*(array for m in matrices for array in _whole(m.indptr, m.indices, m.data)))
    room = np.stack([point - system.lower, system.upper - point])
    room = np.minimum(np.floor(room + 1e-6), FAR).astype(np.int64)
    seen = np.zeros((2, system.size), np.int64)
    weight = np.ones(system.rows.shape[0], np.int64)
    left = np.asarray(targets, np.int64)
    for turn, (steps, tries) in enumerate(tuning.walks):
        some = max(tuning.walk_sample // steps, tuning.walk_least)
        rest = left
        while len(rest):  # a few first, then more at a time while it pays
            deadline.check()
            now, rest = rest[:some], rest[some:]
            find_moves(entries, room, now, steps, tries, weight, 1 + turn + 7 * len(rest), seen)
            moved = (seen[0, now] < 0) | (seen[1, now] > 0)
            if moved.sum() < tuning.walk_share * len(now):
                break
        left = left[(seen[0, left] == 0) & (seen[1, left] == 0)]
    return point + seen[0], point + seen[1]


def _whole(*arrays: Array) -> list[Array]:
    return [array.astype(np.int64) for array in arrays]
