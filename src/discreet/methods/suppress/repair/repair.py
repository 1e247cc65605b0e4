"""Audit and repair: elimination looks at equations only; here every sensitive cell's interval is checked.

A sensitive cell that has one possible value left, or less room than its protection level, needs an escape: a change of
the hidden cells that leaves the published ones as they are. The cheapest set of cells that allows one is found by a
linear program around the cell, and those cells are hidden too.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.base.annotations import Array, Progress
from discreet.errors import Unjudged
from discreet.methods.suppress.model.problem import Requirements
from discreet.methods.suppress.model.tuning import DEFAULT, RepairTuning
from discreet.methods.suppress.repair.escape import Escapes

if TYPE_CHECKING:
    from discreet.audits.known import Known


@dataclass(frozen=True)
class Repaired:
    """Which cells are hidden now, how often the audit ran, and the cells for which there is no escape.

    ``undecided``: sensitive cells with two whole values within their bounds, of which no second table in whole numbers
    was found, nor a proof that there is none.
    """

    hidden: Array
    rounds: int
    hopeless: Array
    undecided: Array = field(default_factory=lambda: np.empty(0, np.int64))


@dataclass(frozen=True)
class Costs:
    """Per cell the cost of hiding it (infinite: it must stay, 0: it is hidden) and what is known of it once hidden."""

    cost: Array
    bottom: Array
    top: Array


def repair(
    known: Known,
    truth: Array,
    needs: Requirements,
    costs: Costs,
    hidden: Array,
    progress: Progress | None = None,
    tuning: RepairTuning = DEFAULT.repair,
) -> Repaired:
    """Hide further cells until everything needed is possible; a need without any level asks for a second value.

    ``known`` is the intruder's knowledge of the present pattern ``hidden`` (both bounds at the value where a cell is
    published), ``truth`` the value of every variable of its system.
    """
    undecided = np.empty(0, np.int64)
    for turn in range(1, tuning.rounds + 1):
        needs, reach, doubt = _short(known, truth, needs, progress, tuning)
        undecided = np.union1d(undecided, doubt)
        if not len(needs):
            return Repaired(hidden, turn, needs.cell, undecided)
        costs_now = replace(costs, cost=np.where(hidden, 0, costs.cost))
        more, hopeless = _to_hide(known, truth, needs, reach, costs_now, tuning)
        if len(hopeless):
            return Repaired(hidden, turn, hopeless)
        hidden = hidden | more
        lower, upper = np.where(hidden, costs.bottom, known.lower), np.where(hidden, costs.top, known.upper)
        known = replace(known, lower=lower, upper=upper)
    needs, _, doubt = _short(known, truth, needs, progress, tuning)
    return Repaired(hidden, turn, needs.cell, np.union1d(undecided, doubt))


def _short(
    known: Known, truth: Array, needs: Requirements, progress: Progress | None, tuning: RepairTuning
) -> tuple[Requirements, Array, Array]:
    """The needs that are not met, how far below and above the truth their cells reach so far, and cells in doubt."""
    from discreet.audits.known import intervals, movement_of

    wide = (needs.below > 0) | (needs.above > 0) | (needs.sliding > 0)
    short, reach = np.zeros(len(needs), bool), np.zeros((2, len(needs)))
    doubt = np.empty(0, np.int64)
    if not wide.all():
        movement = movement_of(known, needs.cell[~wide], progress=progress)
        short[~wide] = ~movement.moves & ~movement.doubt
        doubt = needs.cell[~wide][movement.doubt]
    if wide.any():
        low, high = intervals(known, needs.cell[wide], progress=progress)
        asked, value = needs.take(np.flatnonzero(wide)), truth[needs.cell[wide]]
        reach[:, wide] = value - low, high - value
        slack = tuning.slack * np.maximum(1, np.abs(value) * tuning.slack)  # programs answer to so many digits
        short[wide] = (
            (value - low < asked.below - slack)
            | (high - value < asked.above - slack)
            | (high - low < np.maximum(asked.sliding, 1) - slack)
        )
    at = np.flatnonzero(short)
    return needs.take(at), reach[:, at], doubt


def _steps(needs: Requirements, reach: Array, j: int) -> list[list[float]]:
    """The ways to meet a need: each a list of steps of its cell that must all be possible."""
    below, above, sliding = needs.below[j], needs.above[j], needs.sliding[j]
    if not (below or above or sliding):
        return [[1.0], [-1.0]]
    down, up = max(below, reach[0, j]), max(above, reach[1, j])
    lacking = max(max(sliding, 1) - down - up, 0)  # what the interval must grow by, on one side or the other
    ways = [(below, up + lacking), (down + lacking, above)] if lacking else [(below, above)]
    return [[step for step in (high, -low) if step] for low, high in ways]


def _to_hide(
    known: Known, truth: Array, needs: Requirements, reach: Array, costs: Costs, tuning: RepairTuning
) -> tuple[Array, Array]:
    """Cells to hide so that every needed move exists, one cell after another, and the cells without an escape."""
    system = known.system()
    bottom, top = np.full(system.size, -np.inf), np.full(system.size, np.inf)
    bottom[: len(costs.bottom)], top[: len(costs.top)] = costs.bottom, costs.top
    np.maximum.at(bottom, known.inner_variables(), known.inner_lower)
    cost = costs.cost.copy()
    escapes = Escapes(system, truth, cost, (bottom, top), tuning)
    hidden, served = np.zeros(len(cost), bool), np.zeros(len(needs), bool)
    plain = (needs.below == 0) & (needs.above == 0) & (needs.sliding == 0)
    hopeless = []
    for j, cell in enumerate(needs.cell):
        if served[j]:
            continue
        moves = _cheapest_way(escapes, int(cell), _steps(needs, reach, j), cost, thorough=not hidden.any())
        if moves is None:
            hopeless.append(int(cell))
            continue
        for move in moves:
            changed = np.flatnonzero(np.abs(move[: len(cost)]) > tuning.slack)
            hidden[changed[cost[changed] > 0]] = True
            cost[changed] = 0
            served |= plain & (np.abs(move[needs.cell]) >= 1 - tuning.slack)  # a move may serve several
    return hidden, np.array(hopeless, np.int64)


def _cheapest_way(
    escapes: Escapes, cell: int, ways: list[list[float]], cost: Array, *, thorough: bool
) -> list[Array] | None:
    """The moves of the cheapest of several ways to meet a need; None if there is none.

    Raises Unjudged if no way is found and the solver was at a loss with one of them.
    """
    best: tuple[float, list[Array]] | None = None
    doubt: Unjudged | None = None
    for steps in ways:
        try:
            way = _moves(escapes, cell, steps, cost, thorough=thorough)
        except Unjudged as unsettled:  # another way may do
            doubt, way = unsettled, None
        if way is not None and (best is None or way[0] < best[0]):
            best = way
        if way is not None and way[0] == 0:  # nothing more has to be hidden
            break
    if best is None and doubt is not None:
        raise doubt
    return None if best is None else best[1]


def _moves(
    escapes: Escapes, cell: int, steps: list[float], cost: Array, *, thorough: bool
) -> tuple[float, list[Array]] | None:
    """The cheapest moves of one cell by the given steps and what they cost, or None if one does not exist."""
    moves, price, left = [], 0.0, cost.copy()
    for step in steps:
        move = escapes.cheapest(cell, step, left, thorough=thorough)
        if move is None:
            return None
        changed = np.flatnonzero(np.abs(move[: len(cost)]) > escapes.tuning.slack)
        price += float(left[changed].sum())
        left[changed] = 0
        moves.append(move)
    return price, moves
