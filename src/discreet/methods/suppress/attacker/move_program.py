"""The linear programs of a cheapest move: over the sums of some cells, or over a basis of the moves.

The cheapest move of a cell by one level is ``max urge * d_p - sum price_i |d_i|`` with all sums kept and ``d`` within
bounds. Written over sums (``RowProgram``) it is a new model for every question, as small as the cells that are asked
about. Over a basis, ``d = moves @ y``, its dual has a row for each move; reduced costs r split into a part between
``-price`` and ``price`` that costs nothing and the rest, which is priced at the bounds. The move itself is read off the
prices of the rows, and the model stays in the solver, so that each answer is the start of the next question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import Unjudged
from discreet.linear.highs import FROM_SCRATCH, SIMPLEX, LinearProgram, Outcome, Solver
from discreet.methods.suppress.model.tuning import DEFAULT, AttackerTuning, Tuning

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Entries = tuple[Array, Array, Array]  # row, column and factor of each term
OPTIONS = {**SIMPLEX, "simplex_scale_strategy": 0}
UNSETTLED = "the solver does not settle a linear program of this table"


def much_smaller_over_moves(rows: csr_array, moves: csr_array, tuning: Tuning = DEFAULT) -> bool:
    """Whether the program over moves is much smaller than the one over rows: its moves go everywhere."""
    n, k = moves.shape
    return bool(2 * k < min(rows.shape[0], n - k) and not fuller_over_moves(rows, moves, tuning))


def fuller_over_moves(rows: csr_array, moves: csr_array, tuning: Tuning = DEFAULT) -> bool:
    """Whether there are many moves and long ones, so that a program over them has many more entries."""
    return bool(moves.nnz > tuning.attacker.dense * rows.nnz and moves.shape[1] > tuning.attacker.many_moves)


class RowProgram:
    """The program over some cells and their sums. Not for several threads at once."""

    def __init__(self, tuning: AttackerTuning) -> None:
        limit = tuning.simplex_limit
        self.tuning = tuning
        self.primal = {"simplex_strategy": 4, "simplex_iteration_limit": 10 * limit}
        self.interior = {"solver": "ipm", "presolve": "on", "simplex_iteration_limit": 1_000 * limit}
        self.solver = Solver(OPTIONS | {"simplex_iteration_limit": limit})

    def solve(self, entries: Entries, up: Array, down: Array, at: int, price: Array, least: float) -> Array | None:
        """The cheapest move with column ``at`` moved by one, or from ``least`` as far as it goes; None without one.

        Where the dual simplex method loses its way, a move found from rest will do instead of the best.
        """
        program, n = self._program(entries, up, down, at, price, least), len(up)
        self.solver.load(program)
        outcome = self.solver.run()
        if outcome is Outcome.UNSETTLED:
            value = self._from_rest(n, at) if least == 1 else None
            if value is not None:
                return value
            self.solver.load(program)
            with self.solver.options(self.interior):
                outcome = self.solver.run()
        if outcome is Outcome.INFEASIBLE:
            return None
        if outcome is not Outcome.SOLVED:
            raise Unjudged(UNSETTLED)
        x = self.solver.x
        return np.asarray(x[:n] - x[n:])

    def _program(self, entries: Entries, up: Array, down: Array, at: int, price: Array, least: float) -> LinearProgram:
        """Each cell's move split by sign, so that either direction has its price."""
        from scipy.sparse import csc_array, hstack

        row, column, data = entries
        n, m = len(up), int(row.max(initial=-1)) + 1
        half = csc_array((data, (row, column)), shape=(m, n))
        cap = np.concatenate([up, down])
        unit = np.tile(price, 2) / np.clip(cap, 1e-6, 1)
        unit = unit / (float(np.median(unit)) or 1.0)
        bottom = np.zeros(2 * n)
        unit[at], bottom[at] = -1, least
        both, right = hstack([half, -half], format="csc"), np.zeros(m)
        return LinearProgram(both, unit, bottom, cap, right, right)

    def _from_rest(self, n: int, at: int) -> Array | None:
        """A move to the level that need not be the cheapest, by the primal simplex method; None if it finds none."""
        solver, tiny, place = self.solver, self.tuning.tiny, np.array([at])
        solver.change_costs(place, np.array([-self.tuning.urge]))
        solver.change_bounds(place, np.zeros(1), np.ones(1))
        solver.forget()
        with solver.options(self.primal):
            solver.try_out()
        x = solver.x
        if len(x) != 2 * n or x[at] < 1 - tiny or solver.highs.getInfo().max_primal_infeasibility > tiny:
            return None
        return np.asarray(x[:n] - x[n:])

    def proof(self) -> Array | None:
        """The factors of the sums that prove the last refusal; None where the solver tells none."""
        return self.solver.ray


class BasisProgram:
    """The program over a basis of the moves. Not for several threads at once."""

    def __init__(self, moves: csr_array, tuning: AttackerTuning) -> None:
        from scipy.sparse import hstack

        self.moves = moves
        n = self.n = self.moves.shape[0]
        self.across = across = self.moves.T.tocsr()
        matrix = hstack([across, across, -across]).tocsc()
        nothing, right = np.zeros(3 * n), np.zeros(matrix.shape[0])
        upper = np.concatenate([np.zeros(n), np.full(2 * n, np.inf)])
        program = LinearProgram(matrix, nothing, nothing, upper, right, right)
        self.solver = Solver(OPTIONS | {"simplex_iteration_limit": 1_000 * tuning.simplex_limit}, program)
        self.free, self.priced = np.arange(n, dtype=np.int32), np.arange(n, 3 * n, dtype=np.int32)
        self.aimed = np.empty(0, np.int64)

    def solve(self, aim: Array, down: Array, up: Array, price: tuple[Array, Array]) -> tuple[Array, Array] | None:
        """The move that is worth most, ``aim @ d`` less the prices of moving down and up, and its reduced costs.

        None if the solver does not settle it.
        """
        self.solver.change_costs(self.priced, np.concatenate([up, down]))
        self.solver.change_bounds(self.free, -price[0], price[1])
        right = self.across @ aim
        now = np.flatnonzero(right)
        for row in np.union1d(now, self.aimed).tolist():
            self.solver.change_row(row, float(right[row]))
        self.aimed = now
        if self.solver.run(FROM_SCRATCH, feasible=True) is not Outcome.SOLVED:
            return None
        x, prices = self.solver.answer()
        reduced = x[: self.n] + x[self.n : 2 * self.n] - x[2 * self.n :]
        return self.moves @ prices, np.asarray(reduced)
