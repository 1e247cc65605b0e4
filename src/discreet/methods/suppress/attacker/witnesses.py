"""Moves as witnesses: how far each cell goes, which needs that meets, and whether it proves a pattern by itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array
from discreet.methods.suppress.model.problem import Problem
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning

Side = Literal[0, 1]  # 0 below, 1 above


@dataclass(frozen=True, eq=False)
class Move:
    """Cells and how far each moves."""

    cells: Array
    by: Array

    @cached_property
    def each(self) -> dict[int, float]:
        """How far each cell moves, by its number: long moves that serve many needs are asked about many times."""
        return dict(zip(self.cells.tolist(), self.by.tolist(), strict=True))

    def of(self, cell: int) -> float:
        """How far one cell moves."""
        return self.each.get(cell, 0.0)

    def uses(self, cell: int) -> bool:
        """Whether a cell moves."""
        return cell in self.each

    def times(self, factor: float) -> Move:
        """A part of the move, or its opposite."""
        return Move(self.cells, self.by * factor)


@dataclass(frozen=True, eq=False)
class Refusal:
    """There is no move. ``proved`` is False if some cells were not let move as far as they can.

    ``reach``: how much of the level can come by way of each cell of the table at most, where the solver tells. A
    pattern whose cells' reaches add up to less than 1 does not protect.
    """

    proved: bool
    reach: Array | None = None


Key = tuple[int, int]  # need and side (0 below, 1 above)
Witnesses = dict[Key, Move]


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


def either_side(problem: Problem, need: int) -> list[tuple[Side, float]]:
    """The same where one is chosen by lot: a need that only slides may do so to either side, if there is room.

    Reaching one of the two meets such a need, and reaching both any other.
    """
    needs, cell = problem.needs, int(problem.needs.cell[need])
    if needs.below[need] > 0 or needs.above[need] > 0:
        return levels(problem, need)
    slide = float(needs.sliding[need])
    rooms: list[tuple[Side, float]] = [(1, float(problem.up[cell])), (0, float(problem.down[cell]))]
    return [(side, slide) for side, room in rooms if room >= slide] or levels(problem, need)


def met_by(problem: Problem, need: int, witnesses: Witnesses, tuning: Tuning = DEFAULT) -> bool:
    """Whether the witnesses at hand reach all levels of a need."""
    needs = problem.needs
    cell = int(needs.cell[need])
    got = {side: _gone(witnesses, need, side, cell) for side in (0, 1)}
    slack = 1 - 10 * tuning.attacker.tiny
    enough = got[0] >= needs.below[need] * slack and got[1] >= needs.above[need] * slack
    return bool(enough and got[0] + got[1] >= needs.sliding[need] * slack)


def _gone(witnesses: Witnesses, need: int, side: int, cell: int) -> float:
    """How far a need's witness takes its cell to one side."""
    if (need, side) not in witnesses:
        return 0.0
    return (1 if side else -1) * witnesses[need, side].of(cell)


def spread(
    problem: Problem,
    move: Move,
    witnesses: Witnesses,
    needs_of: dict[int, list[int]] | None = None,
    tuning: Tuning = DEFAULT,
) -> list[tuple[int, int]]:
    """Note the move for every other need that it serves, cut down to the level; returns what is new."""
    needs = problem.needs
    table = needs_by_cell(problem) if needs_of is None else needs_of
    against = bool((move.by <= problem.down[move.cells]).all() and (-move.by <= problem.up[move.cells]).all())
    new, least = [], 1 - tuning.attacker.tiny
    moving = set(move.cells.tolist())
    for cell, by in zip(move.cells.tolist(), move.by.tolist(), strict=True):
        for k in table.get(cell, ()):
            for side in (0, 1):
                level = level_to(problem, k, side)
                sign = (1 if side else -1) * (1 if by > 0 else -1)
                if level <= 0 or (k, side) in witnesses or abs(by) < least * level or (sign < 0 and not against):
                    continue
                group = int(needs.coalition[k])
                if group >= 0 and moving.intersection(needs.known[group].tolist()):
                    continue
                witnesses[k, side] = move.times(sign * level / abs(by))
                new.append((k, side))
    return new


def level_to(problem: Problem, need: int, side: int) -> float:
    """How far a move to one side must get to serve a need; one that only slides is met by either side alone."""
    needs = problem.needs
    below, above = float(needs.below[need]), float(needs.above[need])
    only_slides = below <= 0 and above <= 0
    return float(needs.sliding[need]) if only_slides else above if side else below


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


def still(pattern: Array, witnesses: Witnesses) -> Witnesses:
    """Those of some witnesses that move hidden cells only."""
    return {key: move for key, move in witnesses.items() if pattern[move.cells].all()}


def prices(problem: Problem) -> Array:
    """What using a hidden cell counts for in the choice of a witness: dear ones are left to be dropped."""
    usual = float(np.median(problem.weight[problem.free])) if problem.free.any() else 1.0
    weight = np.where(problem.hidden | ~np.isfinite(problem.weight), 0, problem.weight)
    return np.asarray(weight / (usual or 1.0) + 1e-3)
