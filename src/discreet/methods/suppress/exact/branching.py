"""The branching rule: which cell a node of the tree decides next.

Strong branching on a few cells, until their pseudocosts are reliable; where all ways cost the same, the cell nearest
to a half, sooner if its decisions have closed nodes lately.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.methods.suppress.exact.master import Relaxation
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning


class Pseudocosts:
    """What deciding a cell brought so far, per unit, published or hidden."""

    def __init__(self, n: int) -> None:
        self.total, self.count = np.zeros((2, n)), np.zeros((2, n))

    def note(self, cell: int, value: int, gain: float, change: float) -> None:
        """One more trial."""
        self.total[value, cell] += gain / max(change, 1e-6)
        self.count[value, cell] += 1

    def guess(self, cells: Array, value: int) -> Array:
        """The mean gain per unit; of all cells where nothing is known."""
        known = self.count[value] > 0
        usual = self.total[value, known].sum() / self.count[value, known].sum() if known.any() else 1.0
        count = self.count[value, cells]
        return np.where(count > 0, self.total[value, cells] / np.maximum(count, 1), usual)


class ConflictHistory:
    """Which cells' decisions closed nodes, the latest counting most.

    Where all ways cost the same until none is left, the program's bounds tell nothing beforehand. What closed one
    node often closes others, as solvers for satisfiability know [MMZZM01]_.
    """

    def __init__(self, n: int, tuning: Tuning = DEFAULT) -> None:
        self.tuning = tuning
        self.total, self.worth = np.zeros(n), 1.0

    def closed(self, path: Sequence[int]) -> None:
        """One more node, reached by these choices."""
        self.worth *= self.tuning.exact.growing
        if self.worth > self.tuning.exact.huge:
            self.total, self.worth = self.total / self.worth, 1.0
        for cell in path[-self.tuning.exact.blamed :]:
            self.total[cell] += self.worth

    def share(self, cells: Array) -> Array:
        """Between 0 and 1, for the cell whose decisions closed most."""
        return np.asarray(self.total[cells] / max(float(self.total.max(initial=0)), self.worth))


def by_gain(
    relaxation: Relaxation,
    fractional: Array,
    pseudocosts: Pseudocosts,
    target: float,
    tuning: Tuning = DEFAULT,
) -> tuple[int, tuple[float, float]]:
    """The cell for which both decisions gain most, and what is proved if it is published and if it is hidden."""
    x, exact = relaxation.x[relaxation.free], tuning.exact
    basis, now = relaxation.solver.basis, relaxation.bound
    order = _most_promising_first(x, fractional, pseudocosts)
    most = target - now + exact.step  # a gain beyond closes the node as well as any
    best, value = int(order[0]), -1.0
    bounds = (now, now)
    misses = trials = 0
    with relaxation.solver.options({"simplex_iteration_limit": exact.iterations}):
        for cell in order.tolist():
            change = (float(x[cell]), float(1 - x[cell]))
            if pseudocosts.count[:, cell].min() >= exact.reliable:
                gains = [float(pseudocosts.guess(np.array([cell]), v)[0]) * change[v] for v in (0, 1)]
                proved = (now, now)
            else:
                if trials >= exact.tried or misses >= exact.look:
                    continue
                trials += 1
                decided = [try_decision(relaxation, cell, v, basis) for v in (0, 1)]
                for v in (0, 1):
                    pseudocosts.note(cell, v, max(min(decided[v], target + exact.step) - now, 0.0), change[v])
                gains = [max(bound - now, 0.0) for bound in decided]
                proved = (max(decided[0], now), max(decided[1], now))
            score = (min(gains[0], most) + 1e-6) * (min(gains[1], most) + 1e-6)
            if score > value:
                best, value = cell, score
                bounds = proved
                misses = 0
            else:
                misses += 1
    relaxation.solver.basis = basis
    return best, bounds


def _most_promising_first(x: Array, fractional: Array, pseudocosts: Pseudocosts) -> Array:
    """The cells hidden in part, by what both decisions are thought to gain."""
    part = x[fractional]
    published = pseudocosts.guess(fractional, 0) * part + 1e-6
    hidden = pseudocosts.guess(fractional, 1) * (1 - part) + 1e-6
    return fractional[np.argsort(-(published * hidden), kind="stable")]


def nearest_to_a_half(relaxation: Relaxation, fractional: Array, conflicts: ConflictHistory) -> int:
    """The cell nearest to a half, sooner if it has closed nodes before; of several the one with most room."""
    problem, cells = relaxation.problem, relaxation.free[fractional]
    far = np.abs(relaxation.x[cells] - 0.5) - conflicts.tuning.exact.closing * conflicts.share(fractional)
    return int(fractional[np.lexsort((-np.minimum(problem.up, problem.down)[cells], np.round(far, 6)))[0]])


def try_decision(relaxation: Relaxation, cell: int, value: int, basis: Any) -> float:
    """Strong branching: the bound that a few steps of the simplex method prove when a cell is decided."""
    solver, place = relaxation.solver, np.array([cell])
    low, high = relaxation.lower[cell], relaxation.upper[cell]
    relaxation.lower[cell] = relaxation.upper[cell] = value
    solver.change_bounds(place, np.array([float(value)]), np.array([float(value)]))
    solver.try_out()
    prices = np.maximum(solver.row_prices, 0)
    proved = relaxation.proof(prices)[1] if len(prices) == len(relaxation.rows) else 0.0
    relaxation.lower[cell], relaxation.upper[cell] = low, high
    solver.change_bounds(place, np.array([float(low)]), np.array([float(high)]))
    solver.basis = basis
    return float(proved)
