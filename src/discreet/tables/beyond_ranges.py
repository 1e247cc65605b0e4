"""Counts above the ranges that stand in place of small ones: what a plain mark beside them may be thought to hide."""

from __future__ import annotations

import numpy as np

from discreet.base.annotations import Array


def first_beyond(least: Array, most: Array) -> float:
    """The first count above all ranges that stand in place of numbers and follow each other from 0 or 1 on, else 1.

    >>> first_beyond(np.array([1.0, -np.inf]), np.array([5.0, np.inf]))
    6.0
    """
    ranges = sorted({(low, high) for low, high in zip(least.tolist(), most.tolist(), strict=True) if np.isfinite(high)})
    first = 1.0
    for low, high in ranges:
        if low <= first:
            first = max(first, high + 1.0)
    return first


def least_beyond(hidden: Array, ranges: tuple[Array, Array] | None) -> Array:
    """Per row the first count above all ranges where a plain mark stands; minus infinity elsewhere."""
    nothing = np.full(len(hidden), -np.inf)
    if ranges is None:
        return nothing
    plain = hidden & ~np.isfinite(ranges[0]) & ~np.isfinite(ranges[1])
    first = first_beyond(*ranges)
    return np.where(plain, first, nothing) if first > 1 else nothing
