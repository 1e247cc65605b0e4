"""Whole numbers where they matter: is a count known exactly although its linear interval holds two or three values?

A linear programme may leave an interval whose ends no whole-number table reaches. That matters when only one whole
value is left. Small integer programmes around a known whole-number solution look for a second value.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.base import deadline
from discreet.linear.presolve import ContradictionError, System

if TYPE_CHECKING:
    from discreet.linear.simplex import Search

Array = NDArray[Any]
SHORT = 2  # intervals of at most so many units: three values or fewer
SIZES = (300,)  # variables left free around the one in question
SECONDS = 1.5  # per component; what is not settled by then is unknown


def settle(search: Search) -> None:
    """Short intervals that hold one whole value only become that value; ``search.doubt`` where time ran out."""
    with np.errstate(invalid="ignore"):
        width = search.outer[1] - search.outer[0]
    short = np.flatnonzero(search.wanted & (width > 0) & (width <= SHORT))
    if not len(short):
        return
    stop = time.monotonic() + SECONDS
    point = search.system.point
    if point is None or not _fits(search.system, point):
        point = whole_point(search.system, SECONDS / 4)
    if point is None:
        search.doubt[short] = True
        return
    search.witness(point)
    for k in short:
        if search.whole[1, k] > search.whole[0, k] or time.monotonic() > stop:
            continue
        if _alone(search, point, int(k), stop):
            search.outer[:, k] = point[k]
    alone = search.outer[0, short] == search.outer[1, short]
    search.doubt[short] = ~alone & ~(search.whole[1, short] > search.whole[0, short])


def _fits(system: System, x: Array) -> bool:
    inside = (x >= system.lower - 1e-6) & (x <= system.upper + 1e-6) & (x == np.rint(x))
    return bool(inside.all() and np.allclose(system.rows @ x, system.rhs))


def _alone(search: Search, point: Array, k: int, stop: float) -> bool:
    """Whether no whole-number solution gives variable k another value than ``point`` does."""
    n = search.system.size
    for size in [*(s for s in SIZES if s < n), n]:
        free = _around(search.system, k, size)
        proved = True
        for side in (0, 1):
            lower, upper = search.outer[0, free].copy(), search.outer[1, free].copy()
            at = int(np.flatnonzero(free == k)[0])
            if side == 0:
                upper[at] = point[k] - 1
            else:
                lower[at] = point[k] + 1
            if lower[at] > upper[at]:
                continue
            part = _part(search.system, free, point, lower, upper)
            seconds = max(min(stop - time.monotonic(), 1.0), 0.1)
            try:
                found = whole_point(part, seconds)
            except ContradictionError:
                continue
            if found is not None:
                other = point.copy()
                other[free] = found
                search.witness(other)
                return False
            proved = False
        if size == n:
            return proved
    return False


def _around(system: System, k: int, size: int) -> Array:
    """The variables nearest to k, by rows in common."""
    if size >= system.size:
        return np.arange(system.size)
    seen, front = np.array([k]), np.array([k])
    while len(seen) < size and len(front):
        rows = np.unique(system.columns[:, front].indices)
        reached = np.setdiff1d(np.unique(system.rows[rows].indices), seen)
        front = reached[: size - len(seen)]
        seen = np.union1d(seen, front)
    return seen


def _part(system: System, free: Array, point: Array, lower: Array, upper: Array) -> System:
    """The system with all but the free variables at a point."""
    fixed = point.copy()
    fixed[free] = 0
    rows = np.unique(system.columns[:, free].indices)
    some = system.rows[rows]
    made = some[:, free].tocsr()
    made.sort_indices()
    return System(made, system.rhs[rows] - some @ fixed, lower, upper, True)


def whole_point(system: System, seconds: float) -> Array | None:
    """A solution in whole numbers, None if none was found in time; ContradictionError if there is none."""
    import highspy

    from discreet.linear.simplex import Model

    made = Model(system, scale=1.0)
    made.highs.changeColsIntegrality(system.size, made.all, np.full(system.size, highspy.HighsVarType.kInteger))
    for name, value in {"presolve": "on", "solver": "choose", "time_limit": seconds}.items():
        made.highs.setOptionValue(name, value)
    deadline.run(made.highs)
    status = made.highs.getModelStatus()
    if status == highspy.HighsModelStatus.kInfeasible:
        raise ContradictionError
    if status != highspy.HighsModelStatus.kOptimal:
        return None
    return np.asarray(np.rint(np.asarray(made.highs.getSolution().col_value) + made.shift))
