"""The intruder's programme with a price on moving, over a basis of the moves: as many rows as there are moves.

The cheapest move of a cell by one level is ``max urge * d_p - sum price_i |d_i|`` with ``d = moves @ y`` within bounds.
Its dual has a row for each move; reduced costs r split into a part between ``-price`` and ``price`` that costs nothing
and the rest, which is priced at the bounds. The move itself is read off the prices of the rows. The model stays in the
solver, so that each answer is the start of the next question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.base import deadline
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array = NDArray[Any]


def much_smaller_over_moves(rows: csr_array, moves: csr_array, tuning: Tuning = DEFAULT) -> bool:
    """Whether the programme over moves is much smaller than the one over rows: its moves go everywhere."""
    n, k = moves.shape
    fuller = moves.nnz > tuning.attacker.dense * rows.nnz and k > tuning.attacker.many_moves
    return bool(2 * k < min(rows.shape[0], n - k) and not fuller)


class BasisProgram:
    """The programme of one table in HiGHS. Not for several threads at once."""

    def __init__(self, moves: csr_array, options: dict[str, Any]) -> None:
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
        for name, value in options.items():
            self.highs.setOptionValue(name, value)
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
