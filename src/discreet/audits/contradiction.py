"""Why nothing fits a release: a smallest set of cells whose published values contradict each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.base import deadline
from discreet.errors import InputError, listed
from discreet.linear.presolve import ContradictionError, System, propagated
from discreet.linear.simplex import feasible

Array = NDArray[Any]


class InfeasibleError(InputError):
    """No table fits what is published. ``cells``: a smallest set of cells that contradict each other, by number."""

    def __init__(self, cells: Array, names: Sequence[str] | None = None) -> None:
        self.cells = cells
        shown = [str(c) for c in cells] if names is None else list(names)
        super().__init__(
            f"the published cells contradict each other: no table fits them all. A smallest such set has {len(shown)} "
            f"cells: {listed(shown, 20)}; check them, and the hierarchy they are summed by"
        )


def explain(system: System, cells: int) -> InfeasibleError:
    """The error to raise, with the contradicting ones of the system's first ``cells`` variables."""
    cells_at = contradicting(system)
    return InfeasibleError(cells_at[cells_at < cells])


def contradicting(system: System) -> Array:
    """Variables whose bounds together admit no solution, while without any one of them some solution exists.

    Only bounds that say something are candidates. Found by leaving out ever smaller groups (a deletion filter), each
    time asking for feasibility.
    """
    wide = System(system.rows, system.rhs, system.lower, system.upper, False)
    bound = np.flatnonzero(np.isfinite(wide.lower) & (wide.lower > 0) | np.isfinite(wide.upper))
    if possible(wide):
        return bound
    kept = _core(wide, bound)
    size = max(len(kept) // 2, 1)
    while True:
        k = 0
        while k < len(kept):
            fewer = np.concatenate([kept[:k], kept[k + size :]])
            if possible(_only(wide, fewer)):
                k += size
            else:
                kept = fewer
        if size == 1:
            return kept
        size = max(size // 2, 1)


def _core(system: System, bound: Array) -> Array:
    """A first small candidate: the ray that proves infeasibility touches few rows; their variables are enough."""
    import highspy

    from discreet.linear.simplex import Model

    model = Model(system)
    model.highs.setOptionValue("simplex_strategy", 1)
    deadline.run(model.highs)
    if model.highs.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
        has, ray = model.highs.getDualRay()[1:3]
        if has:
            weight = system.rows.T @ np.asarray(ray)
            some = bound[np.abs(weight[bound]) > 1e-9]
            if not possible(_only(system, some)):
                return np.asarray(some)
    return bound


def _only(system: System, bound: Array) -> System:
    """The system with the bounds of these variables; others are only known not to be negative (if they were)."""
    lower = np.where(system.lower >= 0, 0.0, -np.inf)
    upper = np.full(system.size, np.inf)
    lower[bound], upper[bound] = system.lower[bound], system.upper[bound]
    return System(system.rows, system.rhs, lower, upper, system.integer)


def possible(system: System) -> bool:
    """Whether the system has a solution."""
    try:
        propagated(system)
        feasible(system)
    except ContradictionError:
        return False
    return True
