"""A first pattern of a very large table: one programme moves all cells that need it at once, then one for what is left.

Such a pattern hides more than one need after the other would, but it takes a few programmes instead of thousands. It is
made again at prices that punish small moves, so that cells which hardly take part are left out.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.methods.suppress.problem import Problem
from discreet.methods.suppress.reach import Witnesses, met_by, needs_by_cell, spread, verified
from discreet.methods.suppress.ways import Move

Array = NDArray[Any]
URGE = 1e3  # what reaching a level is worth, in usual prices
FAR = 1e5  # levels that a cell may move
SMALL = 1e-6  # of the usual level: less is no move
BEYOND = (1.0, 1.0, 8.0)  # levels that a cell may move, by programme: what was not reached yet stands in others' way
ROUNDS = 6  # programmes for one pattern
SLIGHT = 0.1  # of the usual level: moves much below this are punished


def wholesale(problem: Problem, until: float) -> tuple[Array, bool]:
    """A pattern, better the more time there is, and whether moves at hand prove it. Without time: everything, unproved.

    Everything protects if any pattern does.
    """
    everything = np.asarray(problem.free | problem.hidden)
    usual = float(np.median(problem.weight[problem.free])) if problem.free.any() else 1.0
    weight = np.where(everything & ~problem.hidden, problem.weight, 0) / (usual or 1.0)
    best, factor, slowest, proved = everything, np.ones(len(problem)), 0.0, False
    while time.monotonic() + slowest < until:
        began = time.monotonic()
        pattern, size = _made(problem, best, weight * factor + SMALL, until)
        slowest = max(slowest, time.monotonic() - began)
        if pattern is None or problem.cost(pattern) > 0.995 * problem.cost(best):
            break
        best, factor, proved = pattern, 1 / (np.minimum(size, 1) + SLIGHT), True
    return best, proved


def _made(problem: Problem, allowed: Array, price: Array, until: float) -> tuple[Array | None, Array]:
    """A pattern within another one and how far its cells move; None if not all needs are met."""
    needs, table = problem.needs, needs_by_cell(problem)
    pattern, size = problem.hidden.copy(), np.zeros(len(problem))
    found: Witnesses = {}
    for turn in range(ROUNDS):
        wanted: dict[int, float] = {}
        for k, cell in enumerate(needs.cell.tolist()):
            lacking = [s for s in (1, 0) if (needs.above if s else needs.below)[k] > 0 and (k, s) not in found]
            if lacking and not met_by(problem, k, found):
                side = lacking[(turn + k) % len(lacking)]
                wanted[cell] = float(needs.above[k] if side else -needs.below[k])
        if not wanted or time.monotonic() > until:
            break
        move, unit = _programme(problem, allowed, wanted, np.where(pattern, SMALL, price), BEYOND[min(turn, 2)], until)
        if move is None:
            break
        spread(problem, move, found, table)
        pattern[move.cells] = True
        size[move.cells] = np.maximum(size[move.cells], np.abs(move.by) / unit)
    return (pattern if verified(problem, pattern, found) else None), size


def _programme(
    problem: Problem, allowed: Array, wanted: dict[int, float], price: Array, beyond: float, until: float
) -> tuple[Move | None, float]:
    """The cheapest move that takes the cells where they are wanted, as many as can, by the interior point method."""
    import highspy
    from scipy.sparse import hstack

    cells = np.flatnonzero(allowed)
    at = np.searchsorted(cells, np.array(list(wanted)))
    level = np.array(list(wanted.values()))
    unit, n = float(np.median(np.abs(level))), len(cells)
    up, down = np.minimum(problem.up[cells] / unit, FAR), np.minimum(problem.down[cells] / unit, FAR)
    room = beyond * np.abs(level) / unit
    up[at] = np.where(level > 0, np.minimum(up[at], room), 0)
    down[at] = np.where(level < 0, np.minimum(down[at], room), 0)
    bound = np.concatenate([up, down])
    cost = np.tile(price[cells], 2) / np.clip(bound, 1e-3, 1)
    cost[at] = cost[n + at] = -URGE * unit / np.abs(level)
    half = problem.rows.tocsc()[:, cells]
    matrix = hstack([half, -half]).tocsc()
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = 2 * n, matrix.shape[0]
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost, np.zeros(2 * n), bound
    lp.row_lower_ = lp.row_upper_ = np.zeros(matrix.shape[0])
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = matrix.indptr, matrix.indices, matrix.data
    highs = highspy.Highs()
    left = max(until - time.monotonic(), 0.1)
    for name, value in {"output_flag": False, "solver": "ipm", "threads": 1, "time_limit": left}.items():
        highs.setOptionValue(name, value)
    highs.passModel(lp)
    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None, unit
    value = np.asarray(highs.getSolution().col_value)
    by = (value[:n] - value[n:]) * unit
    moved = np.abs(by) > SMALL * unit
    return Move(cells[moved], by[moved]), unit
