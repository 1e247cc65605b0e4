"""How far a cell can move at most under a pattern, with proof: the attacker's linear program [FS01]_.

Whatever prices are put on the rows, ``d_p = sum r_i d_i`` for each move, with the reduced costs ``r = e_p - prices @
rows``. So no move takes the cell further than ``sum (r_i⁺ up_i + r_i⁻ down_i)`` over the hidden cells, and the prices
of the program that moves it as far as a (fractional) pattern lets it make that the truth.

That program has as many rows as there are independent sums. Its dual, written over a basis of the moves, has as many
as there are moves, in hierarchical tables far fewer; the smaller one is solved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import Unjudged
from discreet.linear.highs import FROM_SCRATCH, SIMPLEX, LinearProgram, Outcome, Solver
from discreet.methods.suppress.attacker.move_program import UNSETTLED, much_smaller_over_moves
from discreet.methods.suppress.model.condense import Condensed
from discreet.methods.suppress.model.problem import Problem
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning


@dataclass(frozen=True)
class Aim:
    """One thing that must be possible: a cell's move upwards (+1), downwards (-1) or both together by a level."""

    cell: int
    signs: tuple[int, ...]
    level: float
    known: Array | None


def aims(problem: Problem) -> list[Aim]:
    """The needs taken apart, the widest first."""
    needs, each = problem.needs, list[Aim]()
    for k, cell in enumerate(needs.cell):
        known = needs.known[needs.coalition[k]] if needs.coalition[k] >= 0 else None
        above, below, sliding = float(needs.above[k]), float(needs.below[k]), float(needs.sliding[k])
        if above > 0:
            each.append(Aim(int(cell), (1,), above, known))
        if below > 0:
            each.append(Aim(int(cell), (-1,), below, known))
        if sliding > above + below:
            each.append(Aim(int(cell), (1, -1), sliding, known))
    return sorted(each, key=lambda aim: -aim.level)


@dataclass(frozen=True, eq=False)
class Limits:
    """The moves found for an aim, one for each sign, and the proof that no pattern of too few cells does better.

    ``shares``: how much of the level each cell can bring at most, so that a pattern whose shares add up to less than 1
    does not reach the level; None where the moves reach it.
    """

    moves: list[Array]
    shares: Array | None


class FurthestMove:
    """The program of one problem in HiGHS, bounds in units of the level asked. Not for several threads at once.

    ``by_moves``: over the moves, whether they are much fewer than the sums or not.
    """

    def __init__(self, condensed: Condensed, tuning: Tuning = DEFAULT, *, by_moves: bool = False) -> None:
        self.tuning = tuning.attacker
        self.problem = condensed.small
        self.rows, self.moves = condensed.small.rows, condensed.moves
        n = len(self.problem)
        self.n = n
        self.fixed = self.problem.hidden
        fewer = self.moves.shape[1] < self.rows.shape[0]
        self.by_moves = by_moves or fewer or much_smaller_over_moves(self.rows, self.moves, tuning)
        self.solver = Solver(SIMPLEX, self._dual_program() if self.by_moves else self._program())
        self.all = np.arange(2 * n if self.by_moves else n, dtype=np.int32)
        self.aimed = np.empty(0, np.int32)
        self.bases: dict[tuple[int, int], Any] = {}

    def _program(self) -> LinearProgram:
        """max d_p over moves within bounds: cells by rows."""
        nothing, right = np.zeros(self.n), np.zeros(self.rows.shape[0])
        return LinearProgram(self.rows, nothing, nothing, nothing, right, right)

    def _dual_program(self) -> LinearProgram:
        """min r⁺ up + r⁻ down over r with the same effect on every move as the cell itself: a row for each move."""
        from scipy.sparse import hstack

        by_column = hstack([self.moves.T, -self.moves.T]).tocsc()
        nothing, right = np.zeros(2 * self.n), np.zeros(by_column.shape[0])
        return LinearProgram(by_column, nothing, nothing, np.full(2 * self.n, np.inf), right, right)

    def furthest(self, aim: Aim, sign: int, x: Array, cap: float) -> tuple[Array, Array]:
        """The furthest move (in levels) that a pattern allows, and the reduced costs that prove that none goes further.

        Cells with a choice move by at most ``cap`` levels: what they could do beyond hardly ever counts.
        """
        reach = np.where(self.fixed, self.tuning.far, cap)
        up = np.minimum(self.problem.up / aim.level, reach) * x
        down = np.minimum(self.problem.down / aim.level, reach) * x
        if aim.known is not None:
            up[aim.known] = down[aim.known] = 0
        solve = self._by_moves if self.by_moves else self._by_rows
        move, reduced = solve(aim.cell, sign, down, up)
        reduced[np.abs(reduced) < self.tuning.noise] = 0
        return move, reduced

    def _by_rows(self, cell: int, sign: int, down: Array, up: Array) -> tuple[Array, Array]:
        self.solver.change_bounds(self.all, -down, up)
        self.solver.change_costs(self.aimed, np.zeros(len(self.aimed)))
        self.aimed = np.array([cell], np.int32)
        self.solver.change_costs(self.aimed, np.array([-float(sign)]))
        if (basis := self.bases.get((cell, sign))) is not None:
            self.solver.basis = basis  # still dual feasible: only bounds have changed since
        settled = self.solver.run(FROM_SCRATCH, feasible=True) is Outcome.SOLVED
        self.bases[cell, sign] = self.solver.basis
        x, prices = self.solver.answer()
        if len(x) != self.n or len(prices) != self.rows.shape[0]:  # the solver gave up without anything
            raise Unjudged(UNSETTLED)
        reduced = prices @ self.rows  # minimising -sign * d: r = sign * e_p + prices @ rows
        reduced[cell] += float(sign)
        return self._move(np.clip(x, -down, up), settled), reduced

    def _by_moves(self, cell: int, sign: int, down: Array, up: Array) -> tuple[Array, Array]:
        self.solver.change_costs(self.all, np.concatenate([up, down]))
        for old in self.aimed.tolist():
            self.solver.change_row(old, 0.0)
        a, b = self.moves.indptr[cell], self.moves.indptr[cell + 1]
        self.aimed = self.moves.indices[a:b]
        for row, value in zip(self.aimed.tolist(), self.moves.data[a:b].tolist(), strict=True):
            self.solver.change_row(row, sign * value)
        if self.solver.run(FROM_SCRATCH, feasible=True) is not Outcome.SOLVED:
            raise Unjudged(UNSETTLED)  # without a solution the reduced costs prove nothing
        x, prices = self.solver.answer()
        return self.moves @ prices, x[: self.n] - x[self.n :]

    def _move(self, move: Array, settled: bool) -> Array:
        """The move; what the solver left unsettled counts only if it keeps the sums."""
        if not settled and np.abs(self.rows @ move).max(initial=0) > self.tuning.kept:
            raise Unjudged(UNSETTLED)
        return move

    def limits(self, aim: Aim, x: Array, cap: float, tolerance: float) -> Limits:
        """The moves of an aim under a pattern and, where they fall short, what each cell can contribute at most."""
        shares, total, moves = np.zeros(self.n), 0.0, []
        for sign in aim.signs:
            move, reduced = self.furthest(aim, sign, x, cap)
            moves.append(move * aim.level)
            total += sign * float(move[aim.cell])
            if total >= 1 - tolerance:
                return Limits(moves, None)
            shares += self._contribution(aim, reduced)
        return Limits(moves, shares / aim.level)

    def pull(self, cell: int, room: Array) -> tuple[Array, Array]:
        """The furthest move upwards of a cell where each cell has its own room either way, and the reduced costs."""
        solve = self._by_moves if self.by_moves else self._by_rows
        return solve(cell, 1, room, room)

    def _contribution(self, aim: Aim, reduced: Array) -> Array:
        with np.errstate(invalid="ignore"):
            most = np.where(reduced > 0, reduced * self.problem.up, -reduced * self.problem.down)
        most[reduced == 0] = 0  # also where a bound is infinite
        if aim.known is not None:
            most[aim.known] = 0
        return most


def reachable(condensed: Condensed, tolerance: float, tuning: Tuning = DEFAULT) -> bool:
    """Whether every aim of a problem is reached when all cells are hidden that may be; each answer has its proof.

    The proof of a refusal is only believed if the cells that are hidden anyway do not bring the level by their bounds.
    """
    problem = condensed.small
    program = FurthestMove(condensed, tuning)
    everything = (problem.hidden | problem.free).astype(float)
    for aim in aims(problem):
        shares = program.limits(aim, everything, tuning.attacker.far, tolerance).shares
        if shares is not None and 1 - float(shares[problem.hidden].sum()) > tuning.attacker.noise:
            return False
    return True
