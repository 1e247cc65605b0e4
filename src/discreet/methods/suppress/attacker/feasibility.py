"""Whether a pattern protects: for every need a move of the hidden cells that reaches its level, or proof of none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.base import deadline, parallel
from discreet.methods.suppress.attacker.cheapest_move import TINY, Move, Refusal, Side, Ways
from discreet.methods.suppress.attacker.furthest_move import reachable
from discreet.methods.suppress.model.condense import condense, hidden_part_with_moves
from discreet.methods.suppress.model.problem import Problem

Array = NDArray[Any]
Progress = Callable[[int, int], None]
Witnesses = dict[tuple[int, int], Move]  # by need and side (0 below, 1 above)
LANE = 100  # needs for each line of work that has a solver of its own
TOGETHER = 12  # programmes for many needs at once
SEVERAL = 3  # needs that such a programme must serve to be worth it
DOUBTS = 5  # needs not met that are asked about once more; more than that is no slip
BATCH = 16  # needs whose programmes run before their witnesses are tried on the others


@dataclass(frozen=True, eq=False)
class Checked:
    """Which needs a pattern meets; for those met, a move to each of their levels.

    ``refusals`` has the rest.
    """

    met: Array
    witnesses: Witnesses = field(repr=False)
    refusals: dict[int, Refusal] = field(repr=False)


def check(
    problem: Problem, pattern: Array, *, witnesses: Witnesses | None = None, progress: Progress | None = None
) -> Checked:
    """Whether moves of the hidden cells reach every level; ``witnesses`` of an earlier pattern save programmes.

    >>> from scipy.sparse import csr_array
    >>> from discreet.methods.suppress.model.problem import Needs
    >>> sums = csr_array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]])
    >>> hidden, needs = np.array([True, False, False, False]), Needs.of(np.array([0]), np.array([2]), np.array([2]))
    >>> two = Problem(sums, np.full(4, 5.0), np.full(4, 5.0), np.ones(4), hidden, needs)
    >>> check(two, hidden).met.tolist(), check(two, np.ones(4, bool)).met.tolist()
    ([False], [True])
    """
    hidden = np.asarray(pattern, bool) | problem.hidden
    part, cells, basis = hidden_part_with_moves(problem, hidden)
    place = np.full(len(problem), -1)
    place[cells] = np.arange(len(cells))
    old = {} if witnesses is None else still(problem, hidden, witnesses)
    found = {key: Move(place[move.cells], move.by) for key, move in old.items()}
    checked = settled(Ways(part, basis), found, progress)
    back = {key: Move(cells[move.cells], move.by) for key, move in checked.witnesses.items()}
    met = _second_opinion(part, checked.met)
    refusals = {k: Refusal(refusal.proved) for k, refusal in checked.refusals.items() if not met[k]}
    return Checked(met, back, refusals)


def _second_opinion(part: Problem, met: Array) -> Array:
    """Needs not met by one solver's word put to the intruder's programme, whose every answer carries a proof."""
    out = met.copy()
    for k in np.flatnonzero(~met).tolist() if (~met).sum() <= DOUBTS else ():
        small = condense(part.with_needs(part.needs.take(np.array([k]))))
        if not len(small.hopeless) and len(small.small.needs):
            out[k] = reachable(small, 10 * TINY)
    return out


def settled(ways: Ways, found: Witnesses, progress: Progress | None = None) -> Checked:
    """All needs of a problem whose cells are all hidden; ``found`` are moves known already."""
    problem, table = ways.problem, needs_by_cell(ways.problem)
    pattern, price = np.ones(len(problem), bool), prices(problem)
    together(ways, pattern, found, table, price)
    refusals = in_turn(ways, pattern, list(range(len(problem.needs))), found, table, price, progress)
    met = np.array([k not in refusals for k in range(len(problem.needs))], bool)
    return Checked(met, found, refusals)


def in_turn(
    ways: Ways, pattern: Array, waiting: list[int], found: Witnesses, table: dict[int, list[int]], price: Array,
    progress: Progress | None = None,
) -> dict[int, Refusal]:  # fmt: skip
    """Moves for some needs, a few at a time, each tried on the others; what was refused is returned."""
    problem, total = ways.problem, len(waiting)
    refusals: dict[int, Refusal] = {}
    lanes = [ways.twin() for _ in range(parallel.lanes(total, LANE))]
    while waiting := [k for k in waiting if not met_by(problem, k, found)]:
        batch, waiting = waiting[:BATCH], waiting[BATCH:]
        for outcome in _batch(lanes, pattern, batch, dict(found), price):
            for key, move in outcome.witnesses.items():
                found[key] = move
                spread(problem, move, found, table)
            refusals |= outcome.refusals
        if progress is not None:
            progress(total - len(waiting), total)
    return refusals


def _batch(lanes: list[Ways], pattern: Array, batch: list[int], found: Witnesses, price: Array) -> list[Checked]:
    """Some needs, a fixed share for each lane: the same moves whatever the number of processors."""

    def work(number: int) -> list[Checked]:
        return [settle(lanes[number], pattern, k, found, price) for k in batch[number :: len(lanes)]]

    shares = parallel.side_by_side(work, range(min(len(lanes), len(batch))))
    return [shares[k % len(lanes)][k // len(lanes)] for k in range(len(batch))]


def together(ways: Ways, pattern: Array, found: Witnesses, table: dict[int, list[int]], price: Array) -> None:
    """Moves that serve many needs at once, as long as they do; each cell is wanted up or down by turns."""
    problem, needs = ways.problem, ways.problem.needs
    for turn in range(TOGETHER):
        wanted: dict[int, float] = {}
        for k, cell in enumerate(needs.cell.tolist()):
            lacking = [s for s in (1, 0) if (needs.above if s else needs.below)[k] > 0 and (k, s) not in found]
            if needs.coalition[k] < 0 and lacking:
                side = lacking[(turn + k) % len(lacking)]
                wanted[cell] = float(needs.above[k] if side else -needs.below[k])
        move = ways.together(pattern, wanted, price) if len(wanted) >= SEVERAL else None
        if move is None or len(spread(problem, move, found, table)) < SEVERAL:
            return


def settle(ways: Ways, pattern: Array, need: int, found: Witnesses, price: Array) -> Checked:
    """One need: the moves that it still lacks, or the proof that one of them does not exist."""
    needs = ways.problem.needs
    below, above, sliding = (float(f[need]) for f in (needs.below, needs.above, needs.sliding))
    new: Witnesses = {}
    wanted = {1: above, 0: below}
    slides = sliding > below + above
    if slides:  # as far up as there is use for, and what is left of it downwards
        reached = ways.furthest(ways.movable(pattern, need), int(needs.cell[need]), above, sliding - below)
        if isinstance(reached, Refusal):
            return Checked(np.zeros(1, bool), {}, {need: reached})
        new[need, 1] = reached
        top = reached.of(int(needs.cell[need]))
        rest = sliding - top if sliding - top > 10 * TINY * sliding else 0.0  # no programme for the solver's rounding
        wanted = {0: max(below, rest)}
    for side, amount in wanted.items():
        if amount <= 0 or (not slides and (need, side) in found):
            continue
        way = ways.find(pattern, need, 1 if side else 0, amount, price)
        if isinstance(way, Refusal):
            return Checked(np.zeros(1, bool), new, {need: way})
        new[need, side] = way
    return Checked(np.ones(1, bool), new, {})


def levels(problem: Problem, need: int) -> list[tuple[Side, float]]:
    """How far a need's cell must get on each side; what sliding asks beyond is asked above as far as there is room."""
    needs = problem.needs
    below, above, sliding = (float(f[need]) for f in (needs.below, needs.above, needs.sliding))
    rest = max(sliding - below - above, 0.0)
    room = float(problem.up[needs.cell[need]]) - above
    above += min(rest, max(room, 0.0))
    below += max(sliding - below - above, 0.0)
    asked: list[tuple[Side, float]] = [(1, above), (0, below)]
    return [(side, level) for side, level in asked if level > 0]


def met_by(problem: Problem, need: int, found: Witnesses) -> bool:
    """Whether the witnesses at hand reach all levels of a need."""
    needs = problem.needs
    cell = int(needs.cell[need])
    got = {side: (1 if side else -1) * found[need, side].of(cell) if (need, side) in found else 0.0 for side in (0, 1)}
    slack = 1 - 10 * TINY
    enough = got[0] >= needs.below[need] * slack and got[1] >= needs.above[need] * slack
    return bool(enough and got[0] + got[1] >= needs.sliding[need] * slack)


def spread(
    problem: Problem, move: Move, found: Witnesses, needs_of: dict[int, list[int]] | None = None
) -> list[tuple[int, int]]:
    """Note the move for every other need that it serves, cut down to the level; returns what is new."""
    needs = problem.needs
    table = needs_by_cell(problem) if needs_of is None else needs_of
    against = bool((move.by <= problem.down[move.cells]).all() and (-move.by <= problem.up[move.cells]).all())
    new = []
    moving = set(move.cells.tolist())
    for cell, by in zip(move.cells.tolist(), move.by.tolist(), strict=True):
        for k in table.get(cell, ()):
            for side in (0, 1):
                level = float((needs.above if side else needs.below)[k])
                sign = (1 if side else -1) * (1 if by > 0 else -1)
                if level <= 0 or (k, side) in found or abs(by) < level * (1 - TINY) or (sign < 0 and not against):
                    continue
                group = int(needs.coalition[k])
                if group >= 0 and moving.intersection(needs.known[group].tolist()):
                    continue
                found[k, side] = move.times(sign * level / abs(by))
                new.append((k, side))
    return new


def verified(problem: Problem, pattern: Array, witnesses: Witnesses) -> bool:
    """Whether the moves at hand prove the pattern good by themselves: sums kept, bounds kept, every level reached."""
    for (need, _), move in witnesses.items():
        deadline.check()
        group, size = int(problem.needs.coalition[need]), np.abs(move.by).max(initial=0)
        slack = 1e-6 * size
        moved = np.zeros(len(problem))
        moved[move.cells] = move.by
        off = np.abs(problem.rows @ moved).max(initial=0) > slack
        out = (moved > problem.up + slack) | (-moved > problem.down + slack)
        if off or out.any() or not pattern[move.cells].all():
            return False
        if group >= 0 and np.isin(move.cells, problem.needs.known[group]).any():
            return False
    return all(met_by(problem, k, witnesses) for k in range(len(problem.needs)))


def needs_by_cell(problem: Problem) -> dict[int, list[int]]:
    """The needs of each cell that has any."""
    table: dict[int, list[int]] = {}
    for k, cell in enumerate(problem.needs.cell.tolist()):
        table.setdefault(cell, []).append(k)
    return table


def still(problem: Problem, pattern: Array, witnesses: Witnesses) -> Witnesses:
    """Those of some witnesses that move hidden cells only."""
    return {key: move for key, move in witnesses.items() if pattern[move.cells].all()}


def prices(problem: Problem) -> Array:
    """What using a hidden cell counts for in the choice of a witness: dear ones are left to be dropped."""
    usual = float(np.median(problem.weight[problem.free])) if problem.free.any() else 1.0
    weight = np.where(problem.hidden | ~np.isfinite(problem.weight), 0, problem.weight)
    return np.asarray(weight / (usual or 1.0) + 1e-3)
