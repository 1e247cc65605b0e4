"""Which further cells to hide so that sensitive cells can move as far as they must: cheapest escapes, one by one.

Amounts with many cells that lack room are first taken in groups, counts that cannot move all together, so that the
number of programs stays small.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import Unjudged
from discreet.methods.suppress.model.problem import Requirements
from discreet.methods.suppress.model.tuning import DEFAULT, RepairTuning
from discreet.methods.suppress.repair.escape import Escapes
from discreet.methods.suppress.repair.joint_escape import joint_escape

if TYPE_CHECKING:
    from discreet.audits.known import Known


@dataclass(frozen=True)
class Costs:
    """Per cell the cost of hiding it (infinite: it must stay, 0: it is hidden) and what is known of it once hidden."""

    cost: Array
    bottom: Array
    top: Array


@dataclass(frozen=True)
class Further:
    """Cells to hide so that every needed move exists, the cells without an escape, and the moves found."""

    hidden: Array
    hopeless: Array
    moves: list[Array]


def further_cells(
    known: Known, truth: Array, needs: Requirements, reach: Array, costs: Costs, tuning: RepairTuning
) -> Further:
    """What to hide so that every needed move exists.

    ``reach``: how far below and above the truth the cells of the needs get as it is.
    """
    system = known.system()
    bottom, top = np.full(system.size, -np.inf), np.full(system.size, np.inf)
    bottom[: len(costs.bottom)], top[: len(costs.top)] = costs.bottom, costs.top
    np.maximum.at(bottom, known.inner_variables(), known.inner_lower)
    search = _Search(Escapes(system, truth, costs.cost, (bottom, top), tuning), needs, reach, costs.cost)
    if system.integer:
        search.all_at_once()
    else:
        search.in_groups()
    hopeless = search.one_by_one()
    return Further(search.hidden, hopeless, search.moves)


class _Search:
    """What is hidden while escapes are found, and which needs are served by then."""

    def __init__(self, escapes: Escapes, needs: Requirements, reach: Array, cost: Array) -> None:
        self.escapes = escapes
        self.plain = (needs.below == 0) & (needs.above == 0) & (needs.sliding == 0)
        self.needs = needs if escapes.integer else _with_margin(needs, escapes)
        self.moves: list[Array] = []
        self.reach = reach.copy()
        self.cost = cost.copy()
        self.hidden = np.zeros(len(cost), bool)
        self.served = np.zeros(len(needs), bool)  # of the plain ones

    def in_groups(self) -> None:
        """A few moves for many needs with a level; those that they do not serve are left."""
        tuning = self.escapes.tuning
        free = np.isin(self.needs.cell, self.escapes.free)
        left = [j for j in np.flatnonzero(free & ~self.plain).tolist() if self._steps(j)]
        if len(left) <= tuning.joint_least:
            return
        size = max(-(-len(left) // tuning.joint_programs), tuning.joint_group)
        while len(left) > tuning.joint_least:
            group = left[:: -(-len(left) // size)]  # from all over the table
            for closed in (False, True, False):
                self._together(group, closed=closed)
            tried = set(group)
            left = [j for j in left if j not in tried and self._steps(j)]

    def all_at_once(self) -> None:
        """Counts that cannot move, all in one program: up, then those that are left down, for rewards that grow.

        What frees many of them at once is cheap for each. Those that bar each other's way are left to the next program,
        in which all that is hidden by then is free.
        """
        tuning, (down, up) = self.escapes.tuning, self.escapes.rooms(self.needs.cell)
        for reward in tuning.joint_rewards:
            for step, room in ((1.0, up), (-1.0, down)):
                cells = self.needs.cell[self.plain & ~self.served & (room >= 1)]
                if len(cells) <= tuning.joint_least:
                    continue
                move = joint_escape(self.escapes, cells, np.full(len(cells), step), self.cost, reward=reward)
                if move is not None:
                    self._take(move)

    def _together(self, group: list[int], *, closed: bool) -> None:
        """One move for the next step of each of some needs that are not met; ``closed``: of hidden cells alone."""
        ways = [(j, ways[0][0]) for j in group if (ways := self._steps(j))]
        if not ways:
            return
        cells, steps = self.needs.cell[[j for j, _ in ways]], np.array([step for _, step in ways])
        move = joint_escape(self.escapes, cells, steps, self.cost, closed=closed)
        if move is not None:
            self._take(move)

    def one_by_one(self) -> Array:
        """The cheapest escape for each need in turn that is not served yet; the cells that have none."""
        hopeless = []
        for j, cell in enumerate(self.needs.cell.tolist()):
            ways = self._steps(j)
            if self.served[j] or not ways:
                continue
            moves = self._cheapest_way(cell, ways)
            if moves is None:
                hopeless.append(cell)
                continue
            for move in moves:
                self._take(move)
        return np.array(hopeless, np.int64)

    def _steps(self, j: int) -> list[list[float]]:
        """The ways to meet a need: each a list of steps of its cell that must all be possible; none if it is met."""
        below, above, sliding = self.needs.below[j], self.needs.above[j], self.needs.sliding[j]
        if self.plain[j]:
            return [[1.0], [-1.0]]
        low, high = self.reach[:, j] * (1 + self.escapes.tuning.slack)
        down, up = max(below, low), max(above, high)
        lacking = max(max(sliding, 1) - down - up, 0)  # what the interval must grow by, on one side or the other
        ends = [(below, up + lacking), (down + lacking, above)] if lacking else [(below, above)]
        ways = [[step for step, far in ((top, high), (-bottom, low)) if abs(step) > far] for bottom, top in ends]
        return [steps for steps in ways if steps]

    def _take(self, move: Array) -> None:
        """Hide what a move changes, and note what it serves, back and forth as far as there is room."""
        slack = self.escapes.tuning.slack
        self.moves.append(move)
        changed = np.flatnonzero(np.abs(move[: len(self.cost)]) > slack)
        self.hidden[changed[self.cost[changed] > 0]] = True
        self.cost[changed] = 0
        at = move[self.needs.cell]
        self.served |= self.plain & (np.abs(at) >= 1 - slack)
        if not self.escapes.integer:  # those may be fractions of what whole numbers allow
            back = self.escapes.room_back(move) * at
            self.reach = np.maximum(self.reach, np.stack([np.maximum(-at, back), np.maximum(at, -back)]))

    def _cheapest_way(self, cell: int, ways: list[list[float]]) -> list[Array] | None:
        """The moves of the cheapest of several ways to meet a need; None if there is none.

        Raises Unjudged if no way is found and the solver was at a loss with one of them.
        """
        best: tuple[float, list[Array]] | None = None
        doubt: Unjudged | None = None
        for steps in ways:
            try:
                way = self._moves(cell, steps)
            except Unjudged as unsettled:  # another way may do
                doubt, way = unsettled, None
            if way is not None and (best is None or way[0] < best[0]):
                best = way
            if way is not None and way[0] == 0:  # nothing more has to be hidden
                break
        if best is None and doubt is not None:
            raise doubt
        return None if best is None else best[1]

    def _moves(self, cell: int, steps: list[float]) -> tuple[float, list[Array]] | None:
        """The cheapest moves of one cell by the given steps and what they cost, or None if one does not exist."""
        moves: list[Array] = []
        price, left, escapes = 0.0, self.cost.copy(), self.escapes
        for step in steps:
            if not escapes.integer and any(-m[cell] * escapes.room_back(m) / step >= 1 for m in moves):
                continue  # the move before, the other way round
            move = self._at_once(cell, step, left)
            if move is None:
                move = escapes.cheapest(cell, step, left, thorough=not self.hidden.any())
            if move is None:
                return None
            changed = np.flatnonzero(np.abs(move[: len(left)]) > escapes.tuning.slack)
            price += float(left[changed].sum())
            left[changed] = 0
            moves.append(move)
        return price, moves

    def _at_once(self, cell: int, step: float, cost: Array) -> Array | None:
        """The move of one cell by a program that is made for it, in large systems of amounts; None without one.

        There it is sooner made than the one that is kept is begun anew.
        """
        escapes = self.escapes
        at = int(np.searchsorted(escapes.free, cell))
        kept = escapes.integer or escapes.rows.shape[0] <= escapes.tuning.large
        if kept or at == len(escapes.free) or escapes.free[at] != cell or len(escapes.free) > escapes.tuning.one_model:
            return None
        move = joint_escape(escapes, np.array([cell]), np.array([step]), cost)
        return None if move is None or abs(move[cell]) < abs(step) * (1 - escapes.tuning.slack) else move


def _with_margin(needs: Requirements, escapes: Escapes) -> Requirements:
    """The same needs, a little beyond their levels where there is room: then the moves found are proofs."""
    down, up = escapes.rooms(needs.cell)
    further = 1 + 2 * DEFAULT.attacker.strict
    below = np.maximum(needs.below, np.minimum(further * needs.below, down))
    above = np.maximum(needs.above, np.minimum(further * needs.above, up))
    sliding = np.maximum(needs.sliding, np.minimum(further * needs.sliding, down + up))
    return replace(needs, below=below, above=above, sliding=sliding)
