"""Short moves of many cells by local search in whole numbers, where a program for each of them would take longer."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array
from discreet.linear.whole_moves import FAR
from discreet.methods.suppress.model.problem import Problem
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning

if TYPE_CHECKING:
    from discreet.linear._whole_moves import Entries


class WalkedMoves:
    """The sums of a problem laid out for walks; ``usable`` where their factors are whole numbers."""

    def __init__(self, problem: Problem, price: Array, tuning: Tuning = DEFAULT) -> None:
        self.problem, self.tuning = problem, tuning.heuristics
        self.price = np.where(problem.hidden, 0.0, price)
        self.usable = bool((problem.rows.data == np.rint(problem.rows.data)).all())

    @cached_property
    def entries(self) -> Entries:
        """The rows, and the same by columns."""
        from discreet.linear._whole_moves import Entries

        matrices = (self.problem.rows.tocsr(), self.problem.rows.tocsc())
        return Entries(*(a.astype(np.int64) for m in matrices for a in (m.indptr, m.indices, m.data)))

    def of(self, pattern: Array, cells: Array, steps: Array) -> list[tuple[Array, Array]]:
        """Moves of hidden cells by one, up or down, that can be made as many times as the steps of some say, if found.

        >>> from scipy.sparse import csr_array
        >>> from discreet.methods.suppress.model.problem import Requirements
        >>> nothing = Requirements.of(*(np.empty(0),) * 3)
        >>> hidden, room = np.ones(2, bool), np.array([4.0, 6.0])
        >>> two = Problem(csr_array([[1.0, 1.0]]), room, room, np.ones(2), hidden, nothing)
        >>> [by.tolist() for _, by in WalkedMoves(two, np.ones(2)).of(hidden, np.array([0]), np.array([3]))]
        [[1.0, -1.0]]
        """
        from discreet.linear._level_moves import MoveList, Rooms, level_moves

        if not self.usable or not len(cells):
            return []
        down, up = (
            np.where(pattern, np.minimum(np.floor(room + 1e-6), FAR), 0).astype(np.int64)
            for room in (self.problem.down, self.problem.up)
        )
        seen, none = np.zeros((2, len(pattern)), np.int64), np.empty(0, np.int64)
        toll = np.where(self.price > 0, 1, 0)
        rooms = Rooms(down, up, seen[0], seen[1], self.price.copy(), toll)
        many = self.tuning.walk_room * len(cells) + len(pattern)
        variables, changes = np.empty(many, np.int64), np.empty(many, np.int64)
        kept = MoveList(variables, changes, np.empty(len(cells), np.int64), np.zeros(2, np.int64))
        steps_most, tries, dear = self.tuning.walks
        deadline.check()
        level_moves(
            self.entries, rooms, cells, steps.astype(np.int64), steps_most, tries, dear, False, 1, none, none, kept
        )
        moves, entries = kept.number.tolist()
        ends = kept.ends[: max(moves - 1, 0)]
        each = np.split(variables[:entries], ends), np.split(changes[:entries].astype(float), ends)
        return list(zip(*each, strict=True)) if moves else []
