"""Which variables can move at all: a few points that differ show most of them at once."""

from __future__ import annotations

import numpy as np

from discreet.base.annotations import Array, Progress
from discreet.linear.components import components
from discreet.linear.integer import SHORT
from discreet.linear.intervals import Tell, by_propagation, exact
from discreet.linear.linear_tuning import LINEAR
from discreet.linear.network import network
from discreet.linear.presolve import back, forward, reduce
from discreet.linear.program import SystemProgram
from discreet.linear.system import System
from discreet.linear.whole_moves import seen_by_moves


def movable(system: System, targets: Array, progress: Progress | None = None) -> Array:
    """Targets with at least two possible values at the published precision."""
    small, steps = reduce(system)
    wanted = forward(steps, targets)
    low = small.lower.copy()
    high = small.upper.copy()
    tell = Tell(progress, max(len(targets), 1), max(len(targets), 1) - len(wanted))
    for part, variables in components(small):
        local = np.flatnonzero(np.isin(variables, wanted, assume_unique=True))
        bounds = by_propagation(part)
        if bounds is not None:
            low[variables], high[variables] = bounds
            continue
        low[variables], high[variables] = _seen(part, local)
        tell(len(local))
    low, high = back(steps, low, high)
    tell.finish()
    return two_values(low[targets], high[targets])


def two_values(low: Array, high: Array) -> Array:
    """Whether an interval holds at least two numbers of the published precision (whole units)."""
    slack = 1e-6 * np.maximum(1, np.minimum(np.abs(low), np.abs(high)) * 1e-6)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.floor(high + slack) - np.ceil(low - slack) >= 1)


def _seen(system: System, targets: Array) -> tuple[Array, Array]:
    """Extremes over solutions that differ; targets that none of them moved get their exact interval."""
    low = np.full(system.size, np.inf)
    high = np.full(system.size, -np.inf)
    stuck = targets
    moves = seen_by_moves(system, targets)
    if moves is not None:
        low, high = moves
        stuck = targets[low[targets] == high[targets]]
    if len(stuck):
        _move_by_programs(system, stuck, low, high)
    unseen = low > high  # variables that nobody asked about
    return np.where(unseen, system.lower, low), np.where(unseen, system.lower, high)


def _move_by_programs(system: System, stuck: Array, low: Array, high: Array) -> None:
    """The same for targets that no move was found for: points where random costs are least; then exact intervals."""
    model = SystemProgram(system)
    random = np.random.default_rng(1)
    finite = bool(np.isfinite(system.lower).all() and np.isfinite(system.upper).all())
    fractional = system.integer and network(system.rows) is None
    for k in range(LINEAR.points if finite and len(stuck) > LINEAR.few else 0):
        cost = np.zeros(system.size)
        cost[stuck] = random.uniform(0.5, 1.5, len(stuck)) * (1 if k % 2 else -1)
        if k >= 4:
            cost[stuck] *= random.choice([-1, 1], len(stuck))
        x = model.minimum(cost)
        if x is None:
            break
        np.minimum(low, x, out=low)
        np.maximum(high, x, out=high)
        moved = two_values(low[stuck], high[stuck])
        if fractional:  # a short interval may hold one whole-number solution only
            moved &= high[stuck] - low[stuck] > SHORT
        left = stuck[~moved]
        if not len(left) or (k >= 6 and len(left) > 0.9 * len(stuck)):
            stuck = left
            break
        stuck = left
    if len(stuck):
        low[stuck], high[stuck], _ = exact(system, stuck, Tell(None, 1, 0))
