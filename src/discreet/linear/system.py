"""Equations within bounds, as all the others take them: numbers only."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.base.annotations import Array

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array


class ContradictionError(Exception):
    """The system has no solution."""


@dataclass(frozen=True, eq=False)
class System:
    """``rows @ v == rhs`` and ``lower <= v <= upper``; ``integer`` if only whole numbers are possible.

    ``point`` is a solution, where one is known beforehand.
    """

    rows: csr_array
    rhs: Array
    lower: Array
    upper: Array
    integer: bool
    point: Array | None = None

    @property
    def size(self) -> int:
        return len(self.lower)

    @cached_property
    def columns(self) -> csc_array:
        """The rows, by column."""
        return self.rows.tocsc()

    def around(self, variable: int, size: int) -> Array:
        """The variables nearest to one by rows in common, so many of them; in order."""
        if size >= self.size:
            return np.arange(self.size)
        seen = front = np.array([variable])
        while len(seen) < size and len(front):
            rows = np.unique(self.columns[:, front].indices)
            touched = np.setdiff1d(np.unique(self.rows[rows].indices), seen)
            front = touched[: size - len(seen)]
            seen = np.union1d(seen, front)
        return seen

    def fits(self, x: Array) -> bool:
        """Whether whole numbers are a solution; sums of them are exact, so that nothing but rounding is forgiven."""
        inside = (x >= self.lower - 1e-6) & (x <= self.upper + 1e-6) & (x == np.rint(x))
        error = np.abs(self.rows @ x - self.rhs)
        return bool(inside.all() and (error <= 1e-6 + 1e-13 * np.abs(self.rhs)).all())

    def with_others_at(self, free: Array, point: Array, lower: Array, upper: Array) -> System:
        """The system of some variables, within other bounds, in whole numbers; all others stay at a point."""
        fixed = point.copy()
        fixed[free] = 0
        rows = np.unique(self.columns[:, free].indices)
        touching = self.rows[rows]
        part = touching[:, free].tocsr()
        part.sort_indices()
        return System(part, self.rhs[rows] - touching @ fixed, lower, upper, True)
