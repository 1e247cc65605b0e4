"""A first pattern of a large problem: each need takes the cheapest move in its own neighbourhood.

A neighbourhood is made of whole basic moves, so that it can move while everything around stands still; it grows until
there is a way out. A second pass gives each need a new move at the price of what only it keeps hidden.
"""

from __future__ import annotations

import time

import numpy as np

from discreet.base import deadline, parallel
from discreet.base.annotations import Array
from discreet.errors import OutOfTimeError, Unjudged
from discreet.linear.highs import UNSEEDED, LinearProgram, Outcome, Solver
from discreet.linear.null_space import whole_columns
from discreet.methods.suppress.attacker.cheapest_move import MoveFinder
from discreet.methods.suppress.attacker.feasibility import examine, met
from discreet.methods.suppress.attacker.witnesses import Move, Side, Witnesses, levels, verified
from discreet.methods.suppress.gauss.eliminate import eliminate
from discreet.methods.suppress.model.condense import Condensed
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning


class LocalMoves:
    """The pattern so far, a move for each need and side, and how many moves use each cell."""

    def __init__(
        self,
        condensed: Condensed,
        start: Array | None = None,
        witnesses: Witnesses | None = None,
        tuning: Tuning = DEFAULT,
    ) -> None:
        self.tuning, self.far = tuning.heuristics, tuning.attacker.far
        self.problem, self.moves = condensed.small, condensed.moves
        self.start = self.problem.hidden if start is None else self.problem.hidden | start
        self.by_move = condensed.moves.tocsc()
        self.finder = MoveFinder(self.problem, tuning=tuning)
        self.lanes = [self.finder.twin() for _ in range(self.tuning.local_together)]
        self.uses = np.zeros(len(self.problem), np.int64)
        self.witnesses: Witnesses = dict(witnesses or {})
        self.size, self.large = self.tuning.local_moves, len(self.problem) > self.tuning.large
        usual = float(np.median(self.problem.weight[self.problem.free])) if self.problem.free.any() else 1.0
        self.weight = np.where(self.problem.free, self.problem.weight / (usual or 1.0), np.inf)
        self.open = self.problem.free | self.problem.hidden

    @property
    def pattern(self) -> Array:
        """What the moves need hidden."""
        return np.asarray(self.start | (self.uses > 0))

    def run(self, until: float) -> bool:
        """A move for every need, then better ones while there is time; False if some need got none.

        Once time is up the neighbourhoods in a large problem are small.
        """
        needs = self.problem.needs
        order = np.argsort(-np.maximum(needs.above, needs.below), kind="stable").tolist()
        while order:
            asked = self._next(order)
            pairs = list(zip(asked, self.lanes, strict=False))
            moves = parallel.side_by_side(lambda pair: self._cheapest(*pair[0], pair[1]), pairs)
            for key, move in zip(asked, moves, strict=True):
                if move is None:
                    return False
                self._note(key[:2], move)
            if self.large and time.monotonic() > until:
                self.size = self.tuning.local_least
        random = np.random.default_rng(1)
        for need in random.permutation(len(needs)).tolist():
            if time.monotonic() > until:
                return True
            try:
                with deadline.until(until):
                    for side, level in levels(self.problem, need):
                        self._again(need, side, level)
            except OutOfTimeError:
                return True
            except Unjudged:  # the moves that it has do
                continue
        return True

    def _next(self, order: list[int]) -> list[tuple[int, Side, float]]:
        """The next few needs of some that lack a move, with the side and level of it; they are taken off the list."""
        asked: list[tuple[int, Side, float]] = []
        while order and len(asked) < self.tuning.local_together:
            need = order[0]
            lacking = [
                (need, side, level)
                for side, level in levels(self.problem, need)
                if (need, side) not in self.witnesses and not self._served(need, side, level)
            ]
            asked += lacking[:1]
            if len(lacking) < 2:
                order.pop(0)
            else:
                break  # its other side comes next, perhaps by the same move the other way round
        return asked

    def _served(self, need: int, side: int, level: float) -> bool:
        """Whether a move known for another need of the same intruder does as well."""
        needs = self.problem.needs
        cell, sign = int(needs.cell[need]), 1 if side else -1
        for (other, _), move in list(self.witnesses.items()):
            by = sign * move.of(cell)
            if by >= level and needs.coalition[other] == needs.coalition[need]:
                self._note((need, side), move.times(level / by))
                return True
        return False

    def _note(self, key: tuple[int, int], move: Move) -> None:
        self.witnesses[key] = move
        self.uses[move.cells] += 1

    def _again(self, need: int, side: Side, level: float) -> None:
        """A move that keeps less hidden, if there is one."""
        old = self.witnesses[need, side]
        alone = old.cells[(self.uses[old.cells] == 1) & ~self.start[old.cells]]
        if not len(alone):
            return
        self.uses[old.cells] -= 1
        try:
            move = self._cheapest(need, side, level, self.finder)
        except (OutOfTimeError, Unjudged):
            self.uses[old.cells] += 1  # as it was
            raise
        fresh = np.inf
        if move is not None:
            new = move.cells[(self.uses[move.cells] == 0) & ~self.start[move.cells]]
            fresh = float(self.weight[new].sum())
        better = move is not None and fresh < float(self.weight[alone].sum()) - 1e-9
        self._note((need, side), move if better and move is not None else old)

    def _cheapest(self, need: int, side: Side, level: float, finder: MoveFinder) -> Move | None:
        size = self.size
        while True:
            cells, everything = self._around(int(self.problem.needs.cell[need]), size)
            move = self._program(need, side, level, cells, finder)
            if move is not None or everything:
                return move
            size *= 4

    def _around(self, cell: int, size: int) -> tuple[Array, bool]:
        """The cells of the basic moves nearest to a cell, and whether these are all of them."""
        taken = np.zeros(self.moves.shape[1], bool)
        seen = np.zeros(len(self.problem), bool)
        seen[cell] = True
        front = [cell]
        while front and taken.sum() < size:
            following: list[int] = []
            for c in front:
                mine = self.moves.indices[self.moves.indptr[c] : self.moves.indptr[c + 1]]
                if len(mine) > self.tuning.hub and c != cell:
                    continue
                for move in mine[~taken[mine]][:size].tolist():
                    taken[move] = True
                    line = self.by_move.indices[self.by_move.indptr[move] : self.by_move.indptr[move + 1]]
                    fresh = line[~seen[line]]
                    seen[fresh] = True
                    following += fresh.tolist()
                if taken.sum() >= size:
                    break
            front = following
        if not front and taken.sum() < size:
            return np.flatnonzero(self.open), True
        return np.flatnonzero(seen & self.open), bool(taken.all())

    def _program(self, need: int, side: Side, level: float, cells: Array, finder: MoveFinder) -> Move | None:
        from scipy.sparse import hstack

        problem, n, used = self.problem, len(cells), self.tuning.used
        price = np.where(self.start | (self.uses > 0), used, self.weight + used)
        if self.large:  # no presolve: most of it would never be looked at
            move = finder.among(cells, need, side, level, price)
            return move if isinstance(move, Move) else None
        price = price[cells]
        up, down = np.minimum(problem.up[cells] / level, self.far), np.minimum(problem.down[cells] / level, self.far)
        coalition = int(problem.needs.coalition[need])
        if coalition >= 0:
            known = np.isin(cells, problem.needs.known[coalition])
            up[known] = down[known] = 0
        at = int(np.searchsorted(cells, problem.needs.cell[need]))
        if (up if side else down)[at] < 1 - 1e-9:
            return None
        low, high = np.zeros(2 * n), np.concatenate([up, down])
        low[at if side else n + at] = high[at if side else n + at] = 1.0
        high[n + at if side else at] = 0.0
        rows = self.finder.columns[:, cells].tocsr()
        rows = rows[np.diff(rows.indptr) > 0]
        both, nothing = hstack([rows, -rows], format="csc"), np.zeros(rows.shape[0])
        program = LinearProgram(both, np.concatenate([price, price]), low, high, nothing, nothing)
        solver = Solver(UNSEEDED, program)
        if solver.run() is not Outcome.SOLVED:
            return None
        x = solver.x
        by = (x[:n] - x[n:]) * level
        moved = np.abs(by) > 1e-9 * level
        return Move(cells[moved], by[moved])


def first_pattern(condensed: Condensed, until: float, tuning: Tuning = DEFAULT) -> tuple[Array, Witnesses] | None:
    """A pattern that protects and its moves, None if even a neighbourhood of everything did not suffice.

    Elimination gives one for the sums alone, which is cheap, and needs that it leaves short take a way out around them;
    if those are many, a pattern without elimination may be cheaper, and in a large problem it always was.
    """
    problem, eliminated = condensed.small, pattern_of_signs(condensed)
    starts: list[tuple[Array | None, Witnesses | None]] = [(None, None)]
    candidates, most = [], False
    if len(problem) <= tuning.heuristics.large or met(problem, eliminated).all():
        examined = examine(problem, eliminated)
        if examined.met.all():
            return eliminated, examined.witnesses
        starts.insert(0, (eliminated, examined.witnesses))
        most = bool(examined.met.mean() > tuning.heuristics.mostly_met)
    for pattern, witnesses in starts:
        local = LocalMoves(condensed, pattern, witnesses, tuning)
        if local.run(until) and verified(problem, local.pattern, local.witnesses):
            candidates.append(local)
        if candidates and (time.monotonic() > until or most):
            break
    best = min(candidates, key=lambda local: problem.cost(local.pattern), default=None)
    return None if best is None else (best.pattern, best.witnesses)


def pattern_of_signs(condensed: Condensed) -> Array:
    """The pattern of elimination over the moves; cells that can move by less than the levels are published first.

    Only the signs of the moves count, as if every cell moved as far as the others: that is another system, whose
    patterns hide more and so meet more levels as they stand.
    """
    problem = condensed.small
    needs = problem.needs
    most = float(np.maximum(needs.above, needs.below).max(initial=0))
    free = np.flatnonzero(problem.free)
    narrow = np.minimum(problem.down, problem.up)[free] < most
    order = free[np.lexsort((-problem.weight[free], ~narrow))]
    hidden = problem.hidden.copy()
    signs = whole_columns(condensed.moves)
    signs.data = np.sign(signs.data)
    hidden[eliminate(signs, np.flatnonzero(hidden), order).secondary] = True
    return hidden
