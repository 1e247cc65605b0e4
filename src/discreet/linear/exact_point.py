"""From a point of a linear program to one that fits every row and bound exactly, in fractions or whole numbers."""

from __future__ import annotations

import numpy as np

from discreet.base.annotations import Array
from discreet.linear.system import System
from discreet.linear.whole_repair import whole_repaired

DIVISORS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 18, 20, 24, 30, 36, 48, 60)
LARGEST = 2.0**52  # up to here a float holds every whole number
SECONDS = 1.0  # for a solution in whole numbers around a few variables


def near_point(system: System, x: Array, divisor: int = 1, seconds: float = SECONDS) -> tuple[Array, int] | None:
    """``exact_point``, or one in whole numbers reached from ``x``, where all that is known is in whole numbers."""
    point = exact_point(system, x, divisor)
    if point is not None or not (system.integer or (system.rhs == np.rint(system.rhs)).all()):
        return point
    whole = whole_repaired(system, x, seconds)
    return None if whole is None else exact_point(system, whole)


def exact_point(system: System, x: Array, divisor: int = 1) -> tuple[Array, int] | None:
    """A point near ``x`` that fits every row and bound exactly, as whole numbers over a divisor; None if none is.

    >>> from scipy.sparse import csr_array
    >>> system = System(csr_array([[1.0, 1.0]]), np.array([1.0]), np.zeros(2), np.ones(2), False)
    >>> point = exact_point(system, np.array([0.4999999, 0.4999999]))
    >>> point[0].tolist(), point[1]
    ([1.0, 1.0], 2)
    """
    for scale in DIVISORS[:1] if system.integer else DIVISORS:
        d = scale * divisor
        right = np.rint(system.rhs * d)
        if np.abs(right - system.rhs * d).max(initial=0) > 1e-6:
            continue
        low, high = np.ceil(system.lower * d - 1e-9), np.floor(system.upper * d + 1e-9)
        point = np.clip(np.rint(x * d), low, high) + 0.0  # no -0
        size = abs(system.rows) @ np.abs(point)
        exact = max(np.abs(point).max(initial=0), size.max(initial=0)) < LARGEST
        if exact and (low <= high).all() and (system.rows @ point == right).all():
            return point, d
    return None
