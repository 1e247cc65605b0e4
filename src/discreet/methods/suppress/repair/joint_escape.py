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


def joint_escape(escapes: Escapes, cells: Array, steps: Array, cost: Array, *, closed: bool = False) -> Array | None:
    """A move of free cells by as much of the given steps (up or down) as there is room for; None without an answer.

    ``closed``: of hidden cells alone, which takes a far smaller program. The program's price is by the amount that a
    cell moves, what is paid is for hiding it at all: cells that a first answer moves by little are dearer to the next
    one, and the answer is kept that pays least.
    """
    deadline.check()
    tuning, size = escapes.tuning, len(cost)
    used = np.arange(len(escapes.free))
    if closed:
        used = np.flatnonzero(np.concatenate([cost, np.zeros(escapes.size - size)])[escapes.free] == 0)
        used = np.union1d(used, np.searchsorted(escapes.free, cells))
    n, at = len(used), np.searchsorted(escapes.free[used], cells)
    way, unit = np.sign(steps), max(float(np.median(np.abs(steps))), 1.0)
    price = escapes.price(cost)
    price = price[used] / float(price.max(initial=1))
    most = np.stack([escapes.up[used], escapes.down[used]])
    most[np.where(way > 0, 0, 1), at] = np.maximum(most[np.where(way > 0, 0, 1), at] - np.abs(steps), 0)
    most[np.where(way > 0, 1, 0), at] = 0  # not back
    most = np.where(most / unit > tuning.far, np.inf, most / unit).ravel()
    solver = _program(escapes, used, at, way, price, np.concatenate([most, np.abs(steps) / unit]))
    best: tuple[float, float] | None = None
    answer = None
    for _ in range(1 + tuning.joint_repricing):
        if solver.run() is not Outcome.SOLVED:
            break
        x = solver.x
        change = x[:n] - x[n : 2 * n]
        np.add.at(change, at, way * x[2 * n :])
        move = np.zeros(escapes.size)
        move[escapes.free[used]] = change * unit
        paid = float(cost[np.abs(move[:size]) > tuning.slack].sum())
        missing = round(float((np.abs(steps) / unit - x[2 * n :]).sum()), 6)
        if best is None or (missing, paid) < best:
            best, answer = (missing, paid), move
        if paid == 0:  # no other prices will make it cheaper
            break
        again = price / (np.abs(change) + tuning.joint_little)
        dear = (np.abs(change) * unit <= tuning.slack) & (price > 2 * float(price.min(initial=np.inf)))
        most[: 2 * n][np.tile(dear, 2)] = 0  # what did not move is a hundred times as dear now: it stays
        solver.change_bounds(np.arange(2 * n), np.zeros(2 * n), most[: 2 * n])
        solver.change_costs(np.arange(2 * n), np.tile(again / float(again.max(initial=1)), 2))
        solver.set_options(PRIMAL)  # the answer still fits the bounds: a few steps from it lead to the next one
    return answer


def _program(escapes: Escapes, used: Array, at: Array, way: Array, price: Array, most: Array) -> Solver:
    """Moves of some variables up and down at a price, and steps of those at ``at`` with a reward."""
    from scipy.sparse import csr_array, hstack

    rows = escapes.rows[:, used].tocsr()
    rows = rows[np.diff(rows.indptr) > 0]
    wanted = csr_array(rows[:, at].multiply(way[None, :]))
    right = np.zeros(rows.shape[0])
    cost = np.concatenate([price, price, np.full(len(at), -escapes.tuning.joint_reward)])
    both = csr_array(hstack([rows, -rows, wanted], format="csr"))
    return Solver({**QUIET, **VERTEX}, LinearProgram(both, cost, np.zeros(len(most)), most, right, right))
