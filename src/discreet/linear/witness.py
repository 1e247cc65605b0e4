"""Which variables can move at all: a few points that differ show most of them at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet.base.annotations import Array, Progress
from discreet.linear.components import components
from discreet.linear.integer import SHORT, second_values
from discreet.linear.intervals import Tell, by_propagation, exact
from discreet.linear.linear_tuning import LINEAR, LinearTuning
from discreet.linear.nearby import Nearby, Seen
from discreet.linear.network import network
from discreet.linear.presolve import back, forward, reduce
from discreet.linear.pushed_points import PushedPoints, two_values
from discreet.linear.system import System
from discreet.linear.whole_moves import seen_by_moves


@dataclass(frozen=True, eq=False)
class Movement:
    """Of each target whether two values are possible for it (in whole numbers, where only those are).

    ``doubt``: two whole values are within its bounds, but no second solution in whole numbers was found, nor a proof
    that there is none. Those do not count as moving.
    """

    moves: Array
    doubt: Array


def movable(system: System, targets: Array, progress: Progress | None = None) -> Array:
    """Targets with at least two possible values at the published precision; what is in doubt is not among them."""
    return movement(system, targets, progress).moves


def movement(
    system: System,
    targets: Array,
    progress: Progress | None = None,
    tuning: LinearTuning = LINEAR,
    *,
    proofs: int | None = None,
) -> Movement:
    """The same, with what is in doubt.

    ``proofs``: for a pattern in the making. Targets that nothing moves are taken to have one value where a solver says
    so; without its word where there are more of them in a part than this, and in very large parts those that nothing
    moves in a large part of that: to hide one cell more takes less than a program over all. Otherwise no such program
    is run in the largest parts either: what the rows around a target do not settle is in doubt.
    """
    seen = _seen_in_parts(system, targets, progress, tuning, proofs)
    moves = two_values(seen.least, seen.most)
    return Movement(moves, two_values(seen.low, seen.high) & ~moves)


def moved_by_walks(system: System, targets: Array, tuning: LinearTuning = LINEAR) -> Array:
    """Which targets walks from the known solution show at two whole values; of the others nothing is said.

    >>> from scipy.sparse import csr_array
    >>> s = System(csr_array([[1.0, 1.0, 1.0]]), np.array([3.0]), np.zeros(3), np.full(3, 3.0), True, np.ones(3))
    >>> moved_by_walks(s, np.arange(3)).tolist()
    [True, True, True]
    """
    small, steps = reduce(system)
    wanted = forward(steps, targets)
    low = small.lower.copy()
    high = low.copy()
    for part, variables in components(small):
        local = np.flatnonzero(np.isin(variables, wanted, assume_unique=True))
        seen = seen_by_moves(part, local, tuning, making=True) if len(local) else None
        if seen is not None:
            low[variables], high[variables] = seen
        elif part.point is not None:
            low[variables] = high[variables] = part.point
    low, high = back(steps, low, high)
    return two_values(low[targets], high[targets])


def _seen_in_parts(
    system: System, targets: Array, progress: Progress | None, tuning: LinearTuning, proofs: int | None
) -> Seen:
    """Extremes of each target over the solutions that were found, part by part of the system made smaller."""
    small, steps = reduce(system)
    wanted = forward(steps, targets)
    low = small.lower.copy()
    high = small.upper.copy()
    sure = np.ones(small.size, bool)
    tell = Tell(progress, max(len(targets), 1), max(len(targets), 1) - len(wanted))
    for part, variables in components(small):
        local = np.flatnonzero(np.isin(variables, wanted, assume_unique=True))
        bounds = by_propagation(part)
        if bounds is not None:
            low[variables], high[variables] = bounds
            continue
        low[variables], high[variables], sure[variables] = _seen(part, local, tuning, proofs)
        tell(len(local))
    least, most = back(steps, np.where(sure, low, high), high)
    low, high = back(steps, low, high)
    tell.finish()
    return Seen(least[targets], most[targets], low[targets], high[targets])


def _seen(system: System, targets: Array, tuning: LinearTuning, proofs: int | None) -> tuple[Array, Array, Array]:
    """Extremes over solutions that differ, and which are sure; what no solution moves gets its exact interval."""
    low = np.full(system.size, np.inf)
    high = np.full(system.size, -np.inf)
    sure = np.ones(system.size, bool)
    stuck = targets
    moves = seen_by_moves(system, targets, tuning, making=proofs is not None)
    if moves is not None:
        low, high = moves
        stuck = targets[low[targets] == high[targets]]
    if len(stuck):
        base = None if moves is None else system.point
        sure[stuck] = _move_by_programs(system, base, stuck, low, high, tuning, proofs)
    unseen = low > high  # variables that nobody asked about
    return np.where(unseen, system.lower, low), np.where(unseen, system.lower, high), sure


def _move_by_programs(
    system: System,
    base: Array | None,
    stuck: Array,
    low: Array,
    high: Array,
    tuning: LinearTuning,
    proofs: int | None,
) -> Array:
    """The same for targets that no move was found for, and which are sure: pushed together, then one by one."""
    sure = np.ones(system.size, bool)
    flows = network(system.rows) is not None and bool(np.isfinite(system.upper - system.lower).all())
    rows = system.rows.shape[0]
    few = tuning.pushed_few if rows > tuning.large else tuning.few
    near = base is not None and rows > tuning.near_from and bool(tuning.near_rows) and not flows
    if flows or (len(stuck) <= few and not near):
        low[stuck], high[stuck], sure[stuck] = exact(system, stuck, Tell(None, 1, 0))
        return sure[stuck]
    pushed = PushedPoints(system, base, low, high, tuning)
    unmoved = stuck
    if not near or len(stuck) > rows / tuning.near_rows_each:
        unmoved = pushed.push(stuck, 2.0 if base is None else 1.0, 0.0, tuning.pushes)
    moved = np.setdiff1d(stuck, unmoved)
    proved = proofs is None or len(unmoved) <= proofs
    if near and proved:
        unmoved, doubtful = _settled_nearby(system, unmoved, low, high, tuning, proofs)
        sure[doubtful] = False
    if near and proofs is None and rows > tuning.proved_most:  # a program over all takes minutes for each
        low[unmoved], high[unmoved] = system.lower[unmoved], system.upper[unmoved]
        sure[unmoved] = False
        unmoved = unmoved[:0]
    making = proofs is not None and near and rows * tuning.near_share >= tuning.near_rows[-1]
    if proved and len(unmoved) and not making:
        left = pushed.one_by_one(unmoved)
        moved = np.union1d(moved, np.setdiff1d(unmoved, left))
        unmoved = left
    if system.integer:  # a short interval may hold one whole-number solution only
        sure[moved] = _second_values(pushed, moved)
    if proofs is not None:
        high[unmoved] = low[unmoved]
    elif len(unmoved):
        low[unmoved], high[unmoved], sure[unmoved] = exact(system, unmoved, Tell(None, 1, 0))
    return sure[stuck]


def _settled_nearby(
    system: System, targets: Array, low: Array, high: Array, tuning: LinearTuning, proofs: int | None
) -> tuple[Array, Array]:
    """Settle targets of a large part one by one among the rows around each.

    Those of which that says nothing, and those that have two values in fractions and maybe not in whole numbers.
    """
    within = replace(tuning, near_rows=())  # a part is looked at as a whole

    def look(part: System, some: Array) -> Seen:
        return _seen_in_parts(part, some, None, within, proofs)

    nearby = Nearby(system, look)
    left = targets
    for size in tuning.near_rows:
        if size <= tuning.near_share * system.rows.shape[0]:
            left = nearby.settle(left, size)
    known = np.setdiff1d(targets, left)
    low[known], high[known] = nearby.low[known], nearby.high[known]
    doubtful = nearby.apart(left)
    low[doubtful], high[doubtful] = nearby.far_low[doubtful], nearby.far_high[doubtful]
    return np.setdiff1d(left, doubtful), doubtful


def _second_values(pushed: PushedPoints, targets: Array) -> Array:
    """Of targets with two values in fractions whether what is seen of them holds in whole numbers, too.

    Long intervals are taken to; the others where a second value is found. What has one value is seen at that alone.
    """
    roomy = targets[(pushed.system.upper - pushed.system.lower)[targets] > SHORT]
    pushed.push(roomy, SHORT + 1.0, SHORT, pushed.tuning.long_pushes)
    short = (pushed.high - pushed.low)[targets] <= SHORT
    sure = ~short
    if short.sum() <= pushed.tuning.few:
        at = targets[short]
        alone, doubt = second_values(pushed.system, at, pushed.tuning)
        sure[short] = ~doubt
        pushed.high[at[alone]] = pushed.low[at[alone]]
    return sure
