"""One escape for several cells: the cheapest move found that takes each of them as far as it must get.

A program for each cell of a large table takes as long as one for several of them, and what their moves have in common
is paid for once. Cells that bar each other's way are left to programs of their own.
"""

from __future__ import annotations

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array
from discreet.linear.highs import PRIMAL, QUIET, VERTEX, LinearProgram, Outcome, Solver
from discreet.methods.suppress.repair.escape import Escapes


def joint_escape(
    escapes: Escapes, cells: Array, steps: Array, cost: Array, *, closed: bool = False, reward: float | None = None
) -> Array | None:
    """A move of free cells by as much of the given steps (up or down) as there is room for; None without an answer.

    ``closed``: of hidden cells alone, which takes a far smaller program. ``reward``: for a unit on the way to a step,
    where a unit of the dearest cell costs 1; cells that are dear beside it stay. The program's price is by the amount
    that a cell moves, what is paid is for hiding it at all: cells that a first answer moves by little are dearer to the
    next one, and the answer is kept that pays least.
    """
    deadline.check()
    tuning, size = escapes.tuning, len(cost)
    used = np.arange(len(escapes.free))
    price = np.zeros(escapes.size)
    price[:size] = np.where(np.isfinite(cost), cost, 0)
    price /= float(price[escapes.free].max(initial=1))
    if closed:
        used = np.flatnonzero(np.concatenate([cost, np.zeros(escapes.size - size)])[escapes.free] == 0)
        used = np.union1d(used, np.searchsorted(escapes.free, cells))
    elif reward is not None:
        used = np.flatnonzero(price[escapes.free] <= tuning.joint_ceiling * reward)
        used = np.union1d(used, np.searchsorted(escapes.free, cells))
    at = np.searchsorted(escapes.free[used], cells)
    down, up = escapes.rooms(cells)
    steps = np.clip(steps, -down, up)
    unit = max(float(np.median(np.abs(steps))), 1.0)
    paid_for = price[escapes.free[used]]
    worth = tuning.joint_reward if reward is None else reward
    program = _Program(escapes, used, at, steps / unit, paid_for, unit, worth)
    best: tuple[float, float] | None = None
    answer = None
    for _ in range(1 + tuning.joint_repricing):
        if program.solver.run() is not Outcome.SOLVED:
            break
        change, missing = program.answer()
        move = np.zeros(escapes.size)
        move[escapes.free[used]] = change * unit
        paid = float(cost[np.abs(move[:size]) > tuning.slack].sum())
        if best is None or (missing, paid) < best:
            best, answer = (missing, paid), move
        if paid == 0:  # no other prices will make it cheaper
            break
        program.reprice(np.abs(change), tuning.slack / unit)
    return answer


class _Program:
    """Moves of some variables, up and down at a price where they have one, and steps of some of them with a reward."""

    def __init__(
        self, escapes: Escapes, used: Array, at: Array, steps: Array, price: Array, unit: float, reward: float
    ) -> None:
        from scipy.sparse import csr_array, hstack

        self.tuning, self.price, self.steps, self.at, self.n = escapes.tuning, price, steps, at, len(used)
        self.priced = np.flatnonzero(price > 0)
        rows = escapes.rows[:, used].tocsr()
        rows = rows[np.diff(rows.indptr) > 0]
        wanted = csr_array(rows[:, at].multiply(np.sign(steps)[None, :]))
        up, down = (_within(room[used] / unit, at, steps * sign, self.tuning.far) for room, sign in self._ways(escapes))
        least = np.where(price > 0, 0, -down)  # what costs nothing goes both ways in one column
        self.most = np.concatenate([up, down[self.priced], np.abs(steps)])
        least = np.concatenate([least, np.zeros(len(self.priced) + len(at))])
        cost = np.concatenate([price, price[self.priced], np.full(len(at), -reward)])
        right = np.zeros(rows.shape[0])
        both = csr_array(hstack([rows, -rows[:, self.priced], wanted], format="csr"))
        self.solver = Solver({**QUIET, **VERTEX}, LinearProgram(both, cost, least, self.most.copy(), right, right))

    @staticmethod
    def _ways(escapes: Escapes) -> tuple[tuple[Array, float], tuple[Array, float]]:
        return (escapes.up, 1.0), (escapes.down, -1.0)

    def answer(self) -> tuple[Array, float]:
        """By how much each variable moves, and how much of the steps is missing."""
        x, n, priced = self.solver.x, self.n, self.priced
        change = x[:n].copy()
        change[priced] -= x[n : n + len(priced)]
        far = x[n + len(priced) :]
        np.add.at(change, self.at, np.sign(self.steps) * far)
        return change, round(float((np.abs(self.steps) - far).sum()), 6)

    def reprice(self, change: Array, slack: float) -> None:
        """Prices by what a variable is moved at all; what did not move would be a hundred times as dear: it stays."""
        some, n = self.priced, self.n
        again = self.price[some] / (change[some] + self.tuning.joint_little)
        columns = np.concatenate([some, n + np.arange(len(some))])
        most = np.where(np.tile(change[some] <= slack, 2), 0, self.most[columns])
        self.solver.change_bounds(columns, np.zeros(len(columns)), most)
        self.solver.change_costs(columns, np.tile(again / float(again.max(initial=1)), 2))
        self.solver.set_options(PRIMAL)  # the answer still fits the bounds: a few steps from it lead to the next one


def _within(room: Array, at: Array, steps: Array, far: float) -> Array:
    """Room to one side beside the steps of some variables, none against them."""
    most = room.copy()
    most[at] = np.where(steps > 0, np.maximum(most[at] - np.abs(steps), 0), 0)
    return np.where(most > far, np.inf, most)
