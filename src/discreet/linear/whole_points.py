"""Whole-number solutions of a system: all of them where they are few, or a walk among them where they are many."""

from __future__ import annotations

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import InputError
from discreet.linear.null_space import basis, whole_columns
from discreet.linear.presolve import propagated
from discreet.linear.system import ContradictionError, System

MOST_FREE = 200  # variables that are not settled, of a system whose solutions are listed
NODES = 4_000_000  # steps of the search for all of them
TOGETHER = 3  # moves of the basis that one step of the walk takes together, at most
PAIRS = 2_000  # of moves that are looked at together
FAR = 1e12  # where a step has no end


def all_points(system: System, *, most: int) -> Array:
    """All whole-number solutions, one a row; InputError if there are more than ``most``, or cells without bound."""
    from discreet.linear._points import count_out

    try:
        low, high = propagated(System(system.rows, system.rhs, system.lower, system.upper, True))
    except ContradictionError:
        return np.empty((0, system.size))
    if not np.isfinite(high - low).all():
        raise InputError("some cells are unbounded: their values cannot be counted")
    free = np.flatnonzero(high > low)
    if len(free) > MOST_FREE:
        raise InputError(f"{len(free):,} cells can move, more than {MOST_FREE} of which all tables are listed")
    free = free[np.argsort((high - low)[free], kind="stable")]
    settled = np.where(high > low, 0, low)
    rhs = system.rhs - system.rows @ settled
    rows = system.rows[:, free].tocsr()
    used = np.diff(rows.indptr) > 0
    if not np.allclose(rhs[~used], 0):
        return np.empty((0, system.size))
    points, finished = count_out(rows[used].toarray(), rhs[used], low[free], high[free], most, NODES)
    if not finished or len(points) > most:
        raise InputError(f"there are more than {most:,} tables that fit; draw some instead")
    full = np.repeat(settled[None], len(points), 0)
    full[:, free] = points
    return full


def points_on_walk(system: System, point: Array, draws: int, random: np.random.Generator) -> Array:
    """Whole-number solutions met on a random walk from one of them, one a row.

    A step goes along one to three moves of a whole basis of the null space, to any of the places that the bounds leave,
    each as likely as the next; the places in between are left out. Solutions that no such step reaches are missed.
    """
    low, high = propagated(System(system.rows, system.rhs, system.lower, system.upper, True))
    free = np.flatnonzero(high > low)
    kept = np.repeat(point.astype(float)[None], draws, 0)
    moves = _moves(system, free)
    if not len(moves):
        return kept
    lower, upper, here = low[free], high[free], kept[0, free]
    for k in range(draws):
        for _ in range(2 * len(moves)):
            chosen = random.choice(len(moves), min(int(random.integers(1, TOGETHER + 1)), len(moves)), replace=False)
            step = random.choice([-1.0, 1.0], len(chosen)) @ moves[chosen]
            moving = step != 0
            if not moving.any():
                continue
            ends = np.stack([(lower - here)[moving], (upper - here)[moving]]) / step[moving]
            least, most = np.ceil(ends.min(axis=0).max() - 1e-9), np.floor(ends.max(axis=0).min() + 1e-9)
            if most > least:
                here = here + random.integers(int(max(least, -FAR)), int(min(most, FAR)), endpoint=True) * step
        kept[k, free] = here
    return kept


def neighbours(system: System, point: Array, most: int) -> Array:
    """Whole-number solutions next to one of them, the nearest first: at most two moves of a basis away.

    They are where a second value of a cell is found soonest.
    """
    low, high = propagated(System(system.rows, system.rhs, system.lower, system.upper, True))
    free = np.flatnonzero(high > low)
    moves = _moves(system, free)
    if not len(moves):
        return np.empty((0, system.size))
    one, two = np.triu_indices(len(moves), 1)
    one, two = one[:PAIRS], two[:PAIRS]
    steps = np.concatenate([moves, 2 * moves, moves[one] + moves[two], moves[one] - moves[two]])
    steps = np.unique(np.concatenate([steps, -steps]), axis=0)
    steps = steps[np.argsort(np.abs(steps).sum(axis=1), kind="stable")]
    steps = steps[np.abs(steps).sum(axis=1) > 0]
    near = np.repeat(point.astype(float)[None], len(steps), 0)
    near[:, free] += steps
    return np.asarray(near[((near >= system.lower) & (near <= system.upper)).all(axis=1)][:most])


def _moves(system: System, free: Array) -> Array:
    """A basis of the whole-number moves of some variables that keep every sum, one a row."""
    rows = system.rows[:, free].tocsr()
    if not len(free):
        return np.empty((0, 0))
    return np.asarray(whole_columns(basis(rows[np.diff(rows.indptr) > 0])).toarray(), float)
