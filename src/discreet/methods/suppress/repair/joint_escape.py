"""One escape for several cells: the cheapest move found that takes each of them as far as it must get.

A program for each cell of a large table takes as long as one for several of them, and what their moves have in common
is paid for once. Cells that bar each other's way are left to programs of their own.
"""

from __future__ import annotations

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array
from discreet.linear.highs import QUIET, VERTEX, LinearProgram, Outcome, Solver
from discreet.methods.suppress.repair.escape import Escapes


def joint_escape(escapes: Escapes, cells: Array, steps: Array, cost: Array) -> Array | None:
    """A move of free cells by as much of the given steps (up or down) as there is room for; None without an answer.

    The program's price is by the amount that a cell moves, what is paid is for hiding it at all: cells that a first
    answer moves by little are dearer to the next one, and the answer is kept that pays least.
    """
    from scipy.sparse import csr_array, hstack

    deadline.check()
    n, tuning = len(escapes.free), escapes.tuning
    at = np.searchsorted(escapes.free, cells)
    way, unit = np.sign(steps), max(float(np.median(np.abs(steps))), 1.0)
    price = escapes.price(cost)
    price = price / float(price.max(initial=1))
    most = np.stack([escapes.up, escapes.down])
    most[np.where(way > 0, 0, 1), at] = np.maximum(most[np.where(way > 0, 0, 1), at] - np.abs(steps), 0)
    most[np.where(way > 0, 1, 0), at] = 0  # not back
    most = np.where(most / unit > tuning.far, np.inf, most / unit).ravel()
    wanted = csr_array(escapes.rows[:, at].multiply(way[None, :]))
    right = np.zeros(escapes.rows.shape[0])
    program = LinearProgram(
        csr_array(hstack([escapes.rows, -escapes.rows, wanted], format="csr")),
        np.concatenate([price, price, np.full(len(at), -tuning.joint_reward)]),
        np.zeros(2 * n + len(at)),
        np.concatenate([most, np.abs(steps) / unit]),
        right,
        right,
    )
    solver = Solver({**QUIET, **VERTEX}, program)
    best: tuple[float, float] | None = None
    answer = None
    for _ in range(1 + tuning.joint_repricing):
        if solver.run() is not Outcome.SOLVED:
            break
        x = solver.x
        change = x[:n] - x[n : 2 * n]
        np.add.at(change, at, way * x[2 * n :])
        move = np.zeros(escapes.size)
        move[escapes.free] = change * unit
        paid = float(cost[np.abs(move[: len(cost)]) > tuning.slack].sum())
        missing = round(float((np.abs(steps) / unit - x[2 * n :]).sum()), 6)
        if best is None or (missing, paid) < best:
            best, answer = (missing, paid), move
        again = price / (np.abs(change) + tuning.joint_little)
        dear = (np.abs(change) * unit <= tuning.slack) & (price > 2 * float(price.min(initial=np.inf)))
        most[: 2 * n][np.tile(dear, 2)] = 0  # what did not move is a hundred times as dear now: it stays
        solver.change_bounds(np.arange(2 * n), np.zeros(2 * n), most[: 2 * n])
        solver.forget()
        solver.change_costs(np.arange(2 * n), np.tile(again / float(again.max(initial=1)), 2))
    return answer
