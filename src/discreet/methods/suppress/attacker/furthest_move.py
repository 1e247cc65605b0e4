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
from numpy.typing import NDArray

from discreet.base import deadline
from discreet.methods.suppress.attacker.move_program import much_smaller_over_moves
from discreet.methods.suppress.model.condense import Condensed
from discreet.methods.suppress.model.problem import Problem
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning

Array = NDArray[Any]


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
    """The program of one problem in HiGHS, bounds in units of the level asked. Not for several threads at once."""

    def __init__(self, condensed: Condensed, tuning: Tuning = DEFAULT) -> None:
        self.tuning = tuning.attacker
        self.problem = condensed.small
        self.rows, self.moves = condensed.small.rows, condensed.moves
        n = len(self.problem)
        self.n = n
        self.fixed = self.problem.hidden
        self.by_moves = much_smaller_over_moves(self.rows, self.moves, tuning)
        self.highs = _started(self._dual_model() if self.by_moves else self._model())
        self.all = np.arange(2 * n if self.by_moves else n, dtype=np.int32)
        self.aimed = np.empty(0, np.int32)
        self.bases: dict[tuple[int, int], Any] = {}

    def _model(self) -> Any:
        """max d_p over moves within bounds: cells by rows."""
        import highspy

        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = self.n, self.rows.shape[0]
        lp.col_cost_ = lp.col_lower_ = lp.col_upper_ = np.zeros(self.n)
        lp.row_lower_ = lp.row_upper_ = np.zeros(self.rows.shape[0])
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_, lp.a_matrix_.index_ = self.rows.indptr, self.rows.indices
        lp.a_matrix_.value_ = self.rows.data
        return lp

    def _dual_model(self) -> Any:
        """min r⁺ up + r⁻ down over r with the same effect on every move as the cell itself: a row for each move."""
        import highspy
        from scipy.sparse import hstack

        by_column = hstack([self.moves.T, -self.moves.T]).tocsc()
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = 2 * self.n, by_column.shape[0]
        lp.col_cost_ = lp.col_lower_ = np.zeros(2 * self.n)
        lp.col_upper_ = np.full(2 * self.n, np.inf)
        lp.row_lower_ = lp.row_upper_ = np.zeros(by_column.shape[0])
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_, lp.a_matrix_.index_ = by_column.indptr, by_column.indices
        lp.a_matrix_.value_ = by_column.data
        return lp

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
        highs = self.highs
        highs.changeColsBounds(self.n, self.all, -down, up)
        for old in self.aimed:
            highs.changeColCost(int(old), 0.0)
        highs.changeColCost(cell, -float(sign))
        self.aimed = np.array([cell], np.int32)
        if (basis := self.bases.get((cell, sign))) is not None:
            highs.setBasis(basis)  # still dual feasible: only bounds have changed since
        _run(highs)
        self.bases[cell, sign] = highs.getBasis()
        solution = highs.getSolution()
        reduced = np.asarray(solution.row_dual) @ self.rows  # minimising -sign * d: r = sign * e_p + prices @ rows
        reduced[cell] += float(sign)
        return np.clip(np.asarray(solution.col_value), -down, up), reduced

    def _by_moves(self, cell: int, sign: int, down: Array, up: Array) -> tuple[Array, Array]:
        highs = self.highs
        highs.changeColsCost(2 * self.n, self.all, np.concatenate([up, down]))
        for old in self.aimed:
            highs.changeRowBounds(int(old), 0.0, 0.0)
        a, b = self.moves.indptr[cell], self.moves.indptr[cell + 1]
        self.aimed = self.moves.indices[a:b]
        for row, value in zip(self.aimed.tolist(), self.moves.data[a:b].tolist(), strict=True):
            highs.changeRowBounds(row, sign * value, sign * value)
        _run(highs)
        solution = highs.getSolution()
        value = np.asarray(solution.col_value)
        return self.moves @ np.asarray(solution.row_dual), value[: self.n] - value[self.n :]

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


def _started(lp: Any) -> Any:
    import highspy

    highs = highspy.Highs()
    for name, value in {
        "output_flag": False, "presolve": "off", "solver": "simplex", "simplex_strategy": 1, "threads": 1,
        "parallel": "off", "random_seed": 1,
    }.items():  # fmt: skip
        highs.setOptionValue(name, value)
    highs.passModel(lp)
    return highs


def _run(highs: Any) -> None:
    import highspy

    deadline.run(highs)
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        highs.clearSolver()  # forget a basis that led nowhere and try once more from scratch
        deadline.run(highs)


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
