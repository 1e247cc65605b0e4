"""Moves that are kept, and which needs those of them meet that a smaller pattern leaves.

A move is a direction: it takes every cell as far as the bounds of all cells let it, forwards and backwards. So each one
says of many needs at once how far their cells get, and a pattern that lost some cells keeps the moves through others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.base.annotations import Array
from discreet.methods.suppress.model.problem import Problem
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning


@dataclass(frozen=True, eq=False)
class Reach:
    """How far below and above its value each need's cell gets, and what is asked; both grow as moves are noted."""

    problem: Problem
    below: Array
    above: Array
    slack: float

    def lacking(self) -> tuple[Array, Array, Array]:
        """Which needs lack their level below, above, and which lack only what sliding asks beyond."""
        needs = self.problem.needs
        below, above = self.below < self.slack * needs.below, self.above < self.slack * needs.above
        return below, above, (self.below + self.above < self.slack * needs.sliding) & ~below & ~above

    def unmet(self) -> Array:
        """Numbers of the needs that are not met."""
        below, above, sliding = self.lacking()
        return np.flatnonzero(below | above | sliding)

    def meets(self, need: int) -> bool:
        """Whether one need is met."""
        needs, below, above = self.problem.needs, float(self.below[need]), float(self.above[need])
        enough = below >= self.slack * needs.below[need] and above >= self.slack * needs.above[need]
        return bool(enough and below + above >= self.slack * needs.sliding[need])


@dataclass(frozen=True, eq=False)
class KeptMove:
    """The cells of a move, the needs whose cells it moves, and how far it takes those either way."""

    cells: Array
    needs: Array
    below: Array
    above: Array


class KeptMoves:
    """All moves that only use cells which are still hidden."""

    def __init__(self, problem: Problem, tuning: Tuning = DEFAULT) -> None:
        from scipy.sparse import csr_array

        self.problem, self.tuning = problem, tuning
        self.moves: list[KeptMove] = []
        groups = problem.needs.known
        ends = np.cumsum([0, *(len(cells) for cells in groups)])
        entries = np.concatenate(groups) if groups else np.empty(0, np.int64)
        self.known = csr_array((np.ones(len(entries)), entries, ends), shape=(len(groups), len(problem)))

    def reach(self, pattern: Array) -> Reach:
        """How far the needs' cells get by the moves that a pattern leaves."""
        none = np.zeros((2, len(self.problem.needs)))
        reach = Reach(self.problem, none[0], none[1], 1 - 10 * self.tuning.attacker.tiny)
        for move in self.moves:
            if pattern[move.cells].all():
                self._note(move, reach)
        return reach

    def keep(self, pattern: Array) -> None:
        """Forget the moves that need cells which a pattern no longer has."""
        self.moves = [move for move in self.moves if pattern[move.cells].all()]

    def add(self, cells: Array, by: Array, reach: Reach) -> bool:
        """Note a move; whether it is exact enough for any need. ``reach`` is of a pattern that has its cells."""
        problem, needs = self.problem, self.problem.needs
        move = np.zeros(len(problem))
        move[cells] = by
        ahead, back = _factors(problem, cells, by)
        way = move[needs.cell]
        off = np.abs(problem.rows @ move).max(initial=0)  # a sum out of balance by more than a bit of the way
        serves = np.abs(way) > off / (10 * self.tuning.attacker.tiny)
        touched = self.known @ (move != 0) > 0
        serves &= ~np.append(touched, False)[needs.coalition]
        at = np.flatnonzero(serves)
        way = way[at]
        above, below = np.where(way > 0, ahead, back) * np.abs(way), np.where(way > 0, back, ahead) * np.abs(way)
        kept = KeptMove(cells, at, below, above)
        if (
            len(self.moves) >= 2 * len(needs) + self.tuning.heuristics.kept_least
        ):  # of so many the oldest are hardly missed
            self.moves = self.moves[len(self.moves) // 2 :]
        self.moves.append(kept)
        self._note(kept, reach)
        return len(at) > 0

    def _note(self, move: KeptMove, reach: Reach) -> None:
        reach.below[move.needs] = np.maximum(reach.below[move.needs], move.below)
        reach.above[move.needs] = np.maximum(reach.above[move.needs], move.above)


def _factors(problem: Problem, cells: Array, by: Array) -> tuple[float, float]:
    """How many times a move can be made, and its opposite, within the bounds of all cells.

    >>> from scipy.sparse import csr_array
    >>> from discreet.methods.suppress.model.problem import Requirements
    >>> nothing = Requirements.of(*(np.empty(0),) * 3)
    >>> hidden, room = np.ones(2, bool), np.array([4.0, 6.0])
    >>> two = Problem(csr_array([[1.0, 1.0]]), room, room, np.ones(2), hidden, nothing)
    >>> _factors(two, np.arange(2), np.array([2.0, -2.0]))
    (2.0, 2.0)
    """
    size, up, down = np.abs(by), problem.up[cells], problem.down[cells]
    ahead = float((np.where(by > 0, up, down) / size).min(initial=np.inf))
    back = float((np.where(by > 0, down, up) / size).min(initial=np.inf))
    return min(ahead, 1e6), min(back, 1e6)
