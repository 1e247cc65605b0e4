"""How a method moves one count to another, cell by cell and independently: p_ij = P(shows j | was i)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.base.arguments import checked
from discreet.errors import InputError
from discreet.information import Array, Floats


@checked
@dataclass(frozen=True, eq=False)
class Transition:
    """A transition matrix over counts: row i holds the probabilities of the values 0, 1, ... shown for a count of i.

    A count v beyond the last row moves as the last row that is congruent to it modulo ``period`` does, shifted by
    the difference. With ``period=1`` every count above the cap L is treated as L ([JOS15]_ section 3.3).

    >>> Transition([[1, 0, 0, 0], [2/3, 0, 0, 1/3], [1/3, 0, 0, 2/3]], period=3).outcomes(7)
    ((6, 0.6666666666666666), (9, 0.3333333333333333))
    """

    matrix: Any
    period: int = 1

    def __post_init__(self) -> None:
        try:
            matrix = np.array(self.matrix, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(
                "the transition matrix is not an array of numbers: give one row of probabilities a count"
            ) from error
        if matrix.ndim != 2 or matrix.size == 0 or matrix.shape[1] < matrix.shape[0]:
            raise InputError(f"the transition matrix has shape {matrix.shape}: give at least as many columns as rows")
        if not np.isfinite(matrix).all() or matrix.min() < 0 or np.abs(matrix.sum(axis=1) - 1).max() > 1e-9:
            raise InputError(
                "the rows of the transition matrix are not probabilities: each must be 0 or more and sum to 1"
            )
        if not 1 <= self.period <= len(matrix):
            raise InputError(f"period={self.period}: give 1 to the number of rows of the matrix, {len(matrix)}")
        matrix.flags.writeable = False
        object.__setattr__(self, "matrix", matrix)

    @classmethod
    def rounding(cls, base: int) -> Transition:
        """Unbiased random rounding to a base: up with probability (residue / base).

        >>> Transition.rounding(3).outcomes(4)
        ((3, 0.6666666666666667), (6, 0.3333333333333333))
        """
        if base < 2:
            raise InputError(f"base={base}: rounding needs a base of 2 or more")
        up = np.arange(base) / base
        matrix = np.zeros((base, base + 1))
        matrix[:, 0], matrix[:, base] = 1 - up, up
        return cls(matrix, period=base)

    def outcomes(self, count: int) -> tuple[tuple[int, float], ...]:
        """The values a count may show, with their probabilities.

        >>> Transition.rounding(5).outcomes(8)
        ((5, 0.4), (10, 0.6))
        """
        last = len(self.matrix) - 1
        row = count if count <= last else last - (last - count) % self.period
        shown = np.flatnonzero(self.matrix[row])
        return tuple((int(j) + count - row, float(self.matrix[row, j])) for j in shown)

    def sample(self, counts: Array, rng: np.random.Generator) -> Array:
        """Counts as the method would show them, each cell drawn on its own.

        >>> Transition.rounding(5).sample(np.array([1, 4, 5, 8]), np.random.default_rng(1)).tolist()
        [0, 5, 5, 10]
        """
        out = np.empty(counts.shape, dtype=np.int64)
        for value in np.unique(counts):
            where = counts == value
            shown, p = zip(*self.outcomes(int(value)), strict=True)
            out[where] = rng.choice(np.array(shown), size=int(where.sum()), p=np.array(p) / sum(p))
        return out

    def stay(self, rows: slice) -> float:
        """Mean of the diagonal over some rows (all of them if there are none): how much is left as it was.

        >>> Transition([[1, 0, 0], [0.1, 0.8, 0.1]]).stay(slice(1, None))
        0.8
        """
        diagonal: Floats = np.diagonal(self.matrix)
        chosen = diagonal[rows]
        return float((chosen if chosen.size else diagonal).mean())


def read_transition(transition: Any) -> Transition:
    """A Transition as it is; a matrix becomes one."""
    return transition if isinstance(transition, Transition) else Transition(transition)
