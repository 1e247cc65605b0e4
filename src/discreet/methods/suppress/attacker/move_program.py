"""The linear programs of a cheapest move: over the sums of some cells, or over a basis of the moves.

The cheapest move of a cell by one level is ``max urge * d_p - sum price_i |d_i|`` with all sums kept and ``d`` within
bounds. Written over sums (``RowProgram``) it is a new model for every question, as small as the cells that are asked
about. Over a basis, ``d = moves @ y``, its dual has a row for each move; reduced costs r split into a part between
``-price`` and ``price`` that costs nothing and the rest, which is priced at the bounds. The move itself is read off the
prices of the rows, and the model stays in the solver, so that each answer is the start of the next question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.base import deadline
from discreet.errors import Unjudged
from discreet.methods.suppress.model.tuning import DEFAULT, AttackerTuning, Tuning

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array = NDArray[Any]
Entries = tuple[Array, Array, Array]  # row, column and factor of each term
OPTIONS = {
    "output_flag": False,
    "solver": "simplex",
    "simplex_strategy": 1,
    "presolve": "off",
    "threads": 1,
    "parallel": "off",
    "random_seed": 1,
    "simplex_scale_strategy": 0,
}


def much_smaller_over_moves(rows: csr_array, moves: csr_array, tuning: Tuning = DEFAULT) -> bool:
    """Whether the program over moves is much smaller than the one over rows: its moves go everywhere."""
    n, k = moves.shape
    fuller = moves.nnz > tuning.attacker.dense * rows.nnz and k > tuning.attacker.many_moves
    return bool(2 * k < min(rows.shape[0], n - k) and not fuller)


class RowProgram:
    """The program over some cells and their sums. Not for several threads at once."""

    def __init__(self, tuning: AttackerTuning) -> None:
        import highspy

        limit = tuning.simplex_limit
        self.tuning = tuning
        self.dual = OPTIONS | {"simplex_iteration_limit": limit}
        self.primal = {"simplex_strategy": 4, "simplex_iteration_limit": 10 * limit}
        self.interior = {"solver": "ipm", "presolve": "on", "simplex_iteration_limit": 1_000 * limit}
        self.highs = highspy.Highs()
        with_options(self.highs, self.dual)

    def solve(self, entries: Entries, up: Array, down: Array, at: int, price: Array, least: float) -> Array | None:
        """The cheapest move with column ``at`` moved by one, or from ``least`` as far as it goes; None without one.

        Where the dual simplex method loses its way, a move found from rest will do instead of the best.
        """
        import highspy

        lp, n, solver = self._model(entries, up, down, at, price, least), len(up), self.highs
        solver.passModel(lp)
        deadline.run(solver)
        if solver.getModelStatus() == highspy.HighsModelStatus.kIterationLimit:
            value = self._from_rest(n, at) if least == 1 else None
            if value is not None:
                return value
            with_options(solver, self.interior)
            solver.passModel(lp)
            try:
                deadline.run(solver)
            finally:
                with_options(solver, self.dual)
        status = solver.getModelStatus()
        if status == highspy.HighsModelStatus.kInfeasible:
            return None
        if status != highspy.HighsModelStatus.kOptimal:
            raise Unjudged("the solver does not settle a linear program of this table")
        value = np.asarray(solver.getSolution().col_value)
        return np.asarray(value[:n] - value[n:])

    def _model(self, entries: Entries, up: Array, down: Array, at: int, price: Array, least: float) -> Any:
        """Each cell's move split by sign, so that either direction has its price."""
        import highspy
        from scipy.sparse import csc_array

        row, column, data = entries
        n, m = len(up), int(row.max(initial=-1)) + 1
        half = csc_array((data, (row, column)), shape=(m, n))
        cap = np.concatenate([up, down])
        unit = np.tile(price, 2) / np.clip(cap, 1e-6, 1)
        unit = unit / (float(np.median(unit)) or 1.0)
        bottom = np.zeros(2 * n)
        unit[at], bottom[at] = -1, least
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = 2 * n, m
        lp.col_cost_, lp.col_lower_, lp.col_upper_ = unit, bottom, cap
        lp.row_lower_ = lp.row_upper_ = np.zeros(m)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_ = np.concatenate([half.indptr, half.indptr[1:] + half.indptr[-1]])
        lp.a_matrix_.index_ = np.tile(half.indices, 2)
        lp.a_matrix_.value_ = np.concatenate([half.data, -half.data])
        return lp

    def _from_rest(self, n: int, at: int) -> Array | None:
        """A move to the level that need not be the cheapest, by the primal simplex method; None if it finds none."""
        solver, tiny = self.highs, self.tuning.tiny
        with_options(solver, self.primal)
        solver.changeColCost(at, -self.tuning.urge)
        solver.changeColBounds(at, 0.0, 1.0)
        solver.clearSolver()
        try:
            deadline.run(solver)
        finally:
            with_options(solver, self.dual)
        value = np.asarray(solver.getSolution().col_value)
        if len(value) != 2 * n or value[at] < 1 - tiny or solver.getInfo().max_primal_infeasibility > tiny:
            return None
        return np.asarray(value[:n] - value[n:])

    def proof(self) -> Array | None:
        """The factors of the sums that prove the last refusal; None where the solver tells none."""
        ray = self.highs.getDualRay()
        return None if len(ray) < 3 or not ray[1] else np.asarray(ray[2])


class BasisProgram:
    """The program over a basis of the moves. Not for several threads at once."""

    def __init__(self, moves: csr_array, tuning: AttackerTuning) -> None:
        import highspy
        from scipy.sparse import hstack

        self.moves = moves
        n = self.n = self.moves.shape[0]
        self.across = across = self.moves.T.tocsr()
        matrix = hstack([across, across, -across]).tocsc()
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = 3 * n, matrix.shape[0]
        lp.col_cost_ = lp.col_lower_ = np.zeros(3 * n)
        lp.col_upper_ = np.concatenate([np.zeros(n), np.full(2 * n, np.inf)])
        lp.row_lower_ = lp.row_upper_ = np.zeros(matrix.shape[0])
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_, lp.a_matrix_.index_ = matrix.indptr, matrix.indices
        lp.a_matrix_.value_ = matrix.data
        self.highs = highspy.Highs()
        with_options(self.highs, OPTIONS | {"simplex_iteration_limit": 1_000 * tuning.simplex_limit})
        self.highs.passModel(lp)
        self.free, self.priced = np.arange(n, dtype=np.int32), np.arange(n, 3 * n, dtype=np.int32)
        self.aimed = np.empty(0, np.int64)

    def solve(self, aim: Array, down: Array, up: Array, price: tuple[Array, Array]) -> tuple[Array, Array] | None:
        """The move that is worth most, ``aim @ d`` less the prices of moving down and up, and its reduced costs.

        None if the solver does not settle it.
        """
        import highspy

        highs = self.highs
        highs.changeColsCost(2 * self.n, self.priced, np.concatenate([up, down]))
        highs.changeColsBounds(self.n, self.free, -price[0], price[1])
        right = self.across @ aim
        now = np.flatnonzero(right)
        for row in np.union1d(now, self.aimed).tolist():
            highs.changeRowBounds(row, float(right[row]), float(right[row]))
        self.aimed = now
        deadline.run(highs)
        if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            highs.clearSolver()  # a basis that led nowhere: once more from scratch
            deadline.run(highs)
            if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
                return None
        solution = highs.getSolution()
        value = np.asarray(solution.col_value)
        reduced = value[: self.n] + value[self.n : 2 * self.n] - value[2 * self.n :]
        return self.moves @ np.asarray(solution.row_dual), np.asarray(reduced)


def with_options(solver: Any, options: dict[str, Any]) -> None:
    """Set some options of the solver."""
    for name, value in options.items():
        solver.setOptionValue(name, value)
