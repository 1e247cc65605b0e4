"""A solution in whole numbers near a point: rows that do not hold are repaired, some variables at a time.

The point is rounded. Then the variables around a few rows that are off are set free, and a linear program makes the sum
of what is missing in all rows as small as it gets; its vertex is in whole numbers more often than not, as a part of a
table is a network more often than the whole. Where it is not, branch and bound has a second. Nothing gets worse from
step to step; where nothing gets better for a while more variables are set free.
"""

from __future__ import annotations

import time

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array
from discreet.linear.highs import QUIET, LinearProgram, Outcome, Solver
from discreet.linear.system import System

FREE = 150  # variables of the first steps
GROWTH = 1.3  # of their number, where nothing got better
PATIENCE = 8  # steps without gain before that
ROWS = 4  # that are off, around which one step looks
STEP_SECONDS = 2.0  # for branch and bound in one step
SWAY = 1e-3  # of a unit: costs that make a step prefer one of several equally good points, another one each time
CLOSE = 1e-6


def whole_repaired(system: System, x: Array, seconds: float, seed: int = 1) -> Array | None:
    """A solution in whole numbers reached from ``x``, None if none was within so many seconds.

    >>> from scipy.sparse import csr_array
    >>> rows = csr_array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
    >>> system = System(rows, np.full(3, 4.0), np.zeros(3), np.full(3, 9.0), True)
    >>> whole_repaired(system, np.array([1.5, 2.5, 1.5]), 1.0).tolist()
    [2.0, 2.0, 2.0]
    """
    random = np.random.default_rng(seed)
    low, high = np.ceil(system.lower - CLOSE), np.floor(system.upper + CLOSE)
    point = np.clip(np.rint(x), low, high) + 0.0
    missing = _missing(system, point)
    size, idle = FREE, 0
    stop = time.monotonic() + seconds
    while missing.any():
        deadline.check()
        if time.monotonic() > stop or (low > high).any():
            return None
        free = _around_rows(system, np.flatnonzero(missing), min(size, system.size), random)
        other = point.copy()
        values = _step(system, free, point, low, high, random, min(STEP_SECONDS, stop - time.monotonic()))
        idle += 1
        if values is not None:
            other[free] = values
            left = _missing(system, other)
            if left.sum() < missing.sum():
                idle = 0
            if left.sum() <= missing.sum():
                point, missing = other, left
        if idle > PATIENCE:
            size, idle = int(size * GROWTH), 0
    return point if system.fits(point) else None


def _missing(system: System, point: Array) -> Array:
    """By how much every row is off; what is less than a whole number is rounding."""
    off = np.abs(system.rows @ point - system.rhs)
    return np.where(off > CLOSE + 1e-13 * np.abs(system.rhs), off, 0.0)


def _around_rows(system: System, off: Array, size: int, random: np.random.Generator) -> Array:
    """About so many variables in, and then near, a few of the rows that are off; in order."""
    rows = random.permutation(off)[:ROWS]
    seen = front = np.unique(system.rows[rows].indices)
    while len(seen) < size and len(front):
        near = np.setdiff1d(system.rows[np.unique(system.columns[:, front].indices)].indices, seen)
        front = np.sort(random.permutation(near)[: size - len(seen)])
        seen = np.union1d(seen, front)
    return np.asarray(seen)


def _step(
    system: System, free: Array, point: Array, low: Array, high: Array, random: np.random.Generator, seconds: float
) -> Array | None:
    """Values of the free variables that leave the least missing while all others stay; None if none was found."""
    from scipy.sparse import csr_array, eye_array, hstack

    rows = np.unique(system.columns[:, free].indices)
    touching = system.rows[rows]
    fixed = point.copy()
    fixed[free] = 0
    right = system.rhs[rows] - touching @ fixed
    many, n = len(rows), len(free)
    matrix = csr_array(hstack([touching[:, free], eye_array(many), -eye_array(many)], format="csr"))
    cost = np.concatenate([SWAY * random.uniform(-1, 1, n), np.ones(2 * many)])
    lower = np.concatenate([low[free], np.zeros(2 * many)])
    upper = np.concatenate([high[free], np.full(2 * many, np.inf)])
    solver = Solver(QUIET, LinearProgram(matrix, cost, lower, upper, right, right))
    if solver.run() is not Outcome.SOLVED:
        return None
    values = solver.x[:n]
    whole = np.rint(values)
    if np.abs(values - whole).max(initial=0) > CLOSE:
        solver.only_whole_numbers(n)
        solver.set_options({"time_limit": max(seconds, 0.1), "mip_rel_gap": 0.0, "mip_abs_gap": 0.5})
        solver.run()
        if len(solver.x) < n:
            return None
        whole = np.rint(solver.x[:n])
    return np.asarray(np.clip(whole, low[free], high[free]))
