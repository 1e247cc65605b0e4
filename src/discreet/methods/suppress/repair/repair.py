"""Audit and repair: elimination looks at equations only; here every sensitive cell's interval is checked.

A sensitive cell that has one possible value left, or less room than its protection level, needs a way out: a change of
the hidden cells that leaves the published ones as they are. The cheapest set of cells that opens one is found by a
linear programme around the cell, and those cells are hidden too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Unjudged
from discreet.methods.suppress.model.problem import Needs
from discreet.methods.suppress.repair.escape import SLACK, Opening

if TYPE_CHECKING:
    from discreet.audits.known import Known

Array = NDArray[Any]
Progress = Callable[[int, int], None]

ROUNDS = 5


@dataclass(frozen=True)
class Repaired:
    """Which cells are hidden now, how often the audit ran, and the cells for which there is no way out."""

    hidden: Array
    rounds: int
    hopeless: Array


@dataclass(frozen=True)
class Costs:
    """Per cell the cost of hiding it (infinite: it must stay, 0: it is hidden) and what is known of it once hidden."""

    cost: Array
    bottom: Array
    top: Array


def repair(
    known: Known, truth: Array, need: Needs, costs: Costs, hidden: Array, progress: Progress | None = None
) -> Repaired:
    """Hide further cells until everything needed is possible.

    ``known`` is the intruder's knowledge of the present pattern ``hidden`` (both bounds at the value where a cell is
    published), ``truth`` the value of every variable of its system.
    """
    for turn in range(1, ROUNDS + 1):
        need, reach = _short(known, truth, need, progress)
        if not len(need.cell):
            return Repaired(hidden, turn, need.cell)
        opened, hopeless = _open(known, truth, need, reach, replace(costs, cost=np.where(hidden, 0, costs.cost)))
        if len(hopeless):
            return Repaired(hidden, turn, hopeless)
        hidden = hidden | opened
        lower, upper = np.where(hidden, costs.bottom, known.lower), np.where(hidden, costs.top, known.upper)
        known = replace(known, lower=lower, upper=upper)
    return Repaired(hidden, turn, _short(known, truth, need, progress)[0].cell)


def _short(known: Known, truth: Array, need: Needs, progress: Progress | None) -> tuple[Needs, Array]:
    """The needs that are not met, and how far below and above the truth their cells reach so far."""
    from discreet.audits.known import intervals, unmovable

    wide = (need.below > 0) | (need.above > 0) | (need.sliding > 0)
    out, reach = np.zeros(len(need.cell), bool), np.zeros((2, len(need.cell)))
    if not wide.all():
        out[~wide] = unmovable(known, need.cell[~wide], progress=progress)
    if wide.any():
        low, high = intervals(known, need.cell[wide], progress=progress)
        some, value = need.take(np.flatnonzero(wide)), truth[need.cell[wide]]
        reach[:, wide] = value - low, high - value
        slack = SLACK * np.maximum(1, np.abs(value) * SLACK)  # programmes answer to so many digits
        long = np.maximum(some.sliding, 1)
        out[wide] = (
            (value - low < some.below - slack) | (high - value < some.above - slack) | (high - low < long - slack)
        )
    at = np.flatnonzero(out)
    return need.take(at), reach[:, at]


def _steps(need: Needs, reach: Array, j: int) -> list[list[float]]:
    """The ways to meet a need: each a list of moves that must all be possible."""
    below, above, sliding = need.below[j], need.above[j], need.sliding[j]
    if not (below or above or sliding):
        return [[1.0], [-1.0]]
    down, up = max(below, reach[0, j]), max(above, reach[1, j])
    lacking = max(max(sliding, 1) - down - up, 0)  # what the interval must grow by, on one side or the other
    ways = [(below, up + lacking if lacking else above), (down + lacking, above)] if lacking else [(below, above)]
    return [[m for m in (high, -low) if m] for low, high in ways]


def _open(known: Known, truth: Array, need: Needs, reach: Array, costs: Costs) -> tuple[Array, Array]:
    """Cells to hide so that every needed move exists, one cell after another, and the cells without a way out."""
    system = known.system()
    bottom, top = np.full(system.size, -np.inf), np.full(system.size, np.inf)
    bottom[: len(costs.bottom)], top[: len(costs.top)] = costs.bottom, costs.top
    np.maximum.at(bottom, known.inner_variables(), known.inner_lower)
    cost = costs.cost.copy()
    hidden, served = np.zeros(len(cost), bool), np.zeros(len(need.cell), bool)
    hopeless = []
    plain = (need.below == 0) & (need.above == 0) & (need.sliding == 0)
    opening = Opening(system, truth, cost, (bottom, top))
    for j, cell in enumerate(need.cell):
        if served[j]:
            continue
        found: list[tuple[float, list[Array]]] = []
        doubt: Unjudged | None = None
        for steps in _steps(need, reach, j):
            try:
                way = _cheapest(opening, int(cell), steps, cost, thorough=not hidden.any())
            except Unjudged as unsettled:  # another way may do
                doubt, way = unsettled, None
            if way is not None:
                found.append(way)
                if way[0] == 0:  # nothing more has to be hidden
                    break
        if not found and doubt is not None:
            raise doubt
        if not found:
            hopeless.append(int(cell))
            continue
        for move in min(found, key=lambda way: way[0])[1]:
            changed = np.flatnonzero(np.abs(move[: len(cost)]) > SLACK)
            hidden[changed[cost[changed] > 0]] = True
            cost[changed] = 0
            served |= plain & (np.abs(move[need.cell]) >= 1 - SLACK)  # a move may serve several
    return hidden, np.array(hopeless, np.int64)


def _cheapest(
    opening: Opening, cell: int, steps: list[float], cost: Array, *, thorough: bool
) -> tuple[float, list[Array]] | None:
    """The cheapest moves of the given sizes of one cell and what they cost, or None if there is none."""
    moves, price, left = [], 0.0, cost.copy()
    for step in steps:
        found = opening.cheapest(cell, step, left, thorough=thorough)
        if found is None:
            return None
        changed = np.flatnonzero(np.abs(found[: len(cost)]) > SLACK)
        price += float(left[changed].sum())
        left[changed] = 0
        moves.append(found)
    return price, moves
