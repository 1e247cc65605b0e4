"""Bounds propagated through all rows of a system at once, as arrays: for whole numbers, while nothing is compiled.

Row by row (``_propagation``) is sooner done as machine code, and much later without it. Both end at the same bounds: in
whole numbers with entries of 1 and −1 every sum is exact, and the widest bounds that no row tightens are the same in
whatever order rows are looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.base.annotations import Array
from discreet.linear.system import ContradictionError, System

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SWEEPS = 30
FEWEST_ENTRIES = 500
LARGEST = 2.0**40
"""Of numbers whose sums are exact."""


def can_be_swept(system: System, lower: Array, upper: Array) -> bool:
    """Whether every number of a system is whole, entries are 1 and −1, and it is large enough to be worth it."""
    if not system.integer or len(system.rows.data) < FEWEST_ENTRIES or (np.abs(system.rows.data) != 1).any():
        return False
    return all(_are_whole(numbers) for numbers in (system.rhs, lower, upper))


def _are_whole(numbers: Array) -> bool:
    finite = numbers[np.isfinite(numbers)]
    return bool((finite == np.rint(finite)).all() and np.abs(finite).max(initial=0) < LARGEST)


def sweep(system: System, lower: Array, upper: Array) -> bool:
    """Tighten ``lower`` and ``upper`` in place; whether no row could tighten them further. Raises ContradictionError.

    Where that takes many sweeps they stop before; the bounds hold then, too.
    """
    length = np.diff(system.rows.indptr)
    if system.rhs[length == 0].any():
        raise ContradictionError
    active = length > 0
    for _ in range(SWEEPS):
        numbers = np.flatnonzero(active)
        if not len(numbers):
            return True
        changed = _tightened(system.rows[numbers], system.rhs[numbers], lower, upper)
        active[:] = False
        active[_rows_of(system, changed)] = True
    return not active.any()


def _rows_of(system: System, variables: Array) -> Array:
    """The rows of some variables; a row that one of them is in may be named several times."""
    columns = system.columns
    begin = columns.indptr[variables]
    size = columns.indptr[variables + 1] - begin
    within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    return np.asarray(columns.indices[np.repeat(begin, size) + within])


def _tightened(rows: csr_array, rhs: Array, lower: Array, upper: Array) -> Array:
    """Take what each row says of its variables, given the bounds of the others; the variables that changed."""
    variable = rows.indices
    plus = rows.data > 0
    least_term = np.where(plus, lower[variable], -upper[variable])
    most_term = np.where(plus, upper[variable], -lower[variable])
    most = _left_for(rows, rhs, least_term)
    least = -_left_for(rows, -rhs, -most_term)
    below = np.where(plus, least, -most)
    above = np.where(plus, most, -least)
    tighter = np.flatnonzero((below > lower[variable]) | (above < upper[variable]))
    at = variable[tighter]
    np.maximum.at(lower, at, below[tighter])
    np.minimum.at(upper, at, above[tighter])
    if (lower[at] > upper[at]).any():
        raise ContradictionError
    return np.unique(at)


def _left_for(rows: csr_array, rhs: Array, terms: Array) -> Array:
    """Per entry what is left of its row's sum when the others are at their least; infinite if one of them has none."""
    begin = rows.indptr[:-1]
    row = np.repeat(np.arange(len(begin)), np.diff(rows.indptr))
    open_ended = np.isinf(terms)
    finite = np.where(open_ended, 0.0, terms)
    total = np.add.reduceat(finite, begin)
    unbounded = np.add.reduceat(open_ended.astype(np.int64), begin)
    if ((unbounded == 0) & (total > rhs)).any():
        raise ContradictionError
    others_bounded = unbounded[row] == open_ended
    return np.where(others_bounded, rhs[row] - (total[row] - finite), np.inf)
