"""Compiled loops of presolve: bounds propagated through rows, and variables joined in pairs."""

from __future__ import annotations

import numpy as np

from discreet.base.annotations import Array
from discreet.base.compiled import compiled, compiled_part

FIXPOINT = -1  # of propagation: every row was looked at since its variables last changed
STOPPED = -2  # of propagation: the bounds hold, but may be too wide


@compiled(steps=lambda indptr, indices, *rest: 8 * len(indices))
def propagate(
    indptr: Array,
    indices: Array,
    data: Array,
    rhs: Array,
    column_ptr: Array,
    column_rows: Array,
    lower: Array,
    upper: Array,
    integer: bool,
    visits: int,
) -> int:
    """Tighten ``lower`` and ``upper`` in place, looking at so many rows at most.

    The number of a row that cannot hold; FIXPOINT if no row tightens anything any more, STOPPED if some still might.
    """
    n = len(indptr) - 1
    if n == 0:
        return FIXPOINT
    queue = np.arange(n)
    waiting = np.ones(n, np.bool_)
    head = 0
    held = n
    while held > 0 and visits > 0:
        visits -= 1
        row = int(queue[head])
        head = (head + 1) % n
        held -= 1
        waiting[row] = False
        low, high, low_open, high_open, size = extremes_of_sum(
            indptr[row], indptr[row + 1], indices, data, lower, upper
        )
        b = rhs[row]
        slack = 1e-9 + 1e-14 * max(size, abs(b))
        if (low_open == 0 and low > b + 100 * slack) or (high_open == 0 and high < b - 100 * slack):
            return row
        for k in range(indptr[row], indptr[row + 1]):
            j = indices[k]
            least, most = implied_bounds(data[k], lower[j], upper[j], b, low, high, low_open, high_open)
            if integer:
                least, most = rounded_inwards(least, most)
            changed = False
            if least > lower[j] + slack or (np.isinf(lower[j]) and least > lower[j]):
                lower[j] = least
                changed = True
            if most < upper[j] - slack or (np.isinf(upper[j]) and most < upper[j]):
                upper[j] = most
                changed = True
            if not changed:
                continue
            if lower[j] > upper[j]:
                if lower[j] > upper[j] + 100 * slack:
                    return row
                middle = (lower[j] + upper[j]) / 2
                lower[j] = middle
                upper[j] = middle
            # the row's own sums are stale now: it waits for another turn like its neighbours
            for m in range(column_ptr[j], column_ptr[j + 1]):
                other = column_rows[m]
                if not waiting[other]:
                    queue[(head + held) % n] = other
                    held += 1
                    waiting[other] = True
    return FIXPOINT if held == 0 else STOPPED


@compiled_part
def ends_of_term(a: float, lower: float, upper: float) -> tuple[float, float]:
    """Least and greatest value of a x, given the bounds of x."""
    if a > 0:
        return a * lower, a * upper
    return a * upper, a * lower


@compiled_part
def extremes_of_sum(
    begin: int, end: int, indices: Array, data: Array, lower: Array, upper: Array
) -> tuple[float, float, int, int, float]:
    """Least and greatest value of a row without its unbounded terms, how many those are, and the largest term."""
    low = 0.0
    high = 0.0
    low_open = 0
    high_open = 0
    size = 1.0
    for k in range(begin, end):
        least, most = ends_of_term(data[k], lower[indices[k]], upper[indices[k]])
        if np.isinf(least):
            low_open += 1
        else:
            low += least
            size = max(size, abs(least))
        if np.isinf(most):
            high_open += 1
        else:
            high += most
            size = max(size, abs(most))
    return low, high, low_open, high_open, size


@compiled_part
def implied_bounds(
    a: float, lower: float, upper: float, b: float, low: float, high: float, low_open: int, high_open: int
) -> tuple[float, float]:
    """What a row with a term a x that sums to b says of x, given the extremes of the whole row: the others at theirs.

    Numbers, not arrays: each array that is passed to a piece costs more than the piece.
    """
    x, y = ends_of_term(a, lower, upper)
    most = np.inf
    least = -np.inf
    if np.isinf(x):
        if low_open == 1:
            most = b - low
    elif low_open == 0:
        most = b - (low - x)
    if np.isinf(y):
        if high_open == 1:
            least = b - high
    elif high_open == 0:
        least = b - (high - y)
    if a > 0:
        return least / a, most / a
    return most / a, least / a


@compiled_part
def rounded_inwards(least: float, most: float) -> tuple[float, float]:
    """Bounds of a whole number; what is a hair outside of one counts as it."""
    if not np.isinf(least):
        least = np.ceil(least - 1e-7)
    if not np.isinf(most):
        most = np.floor(most + 1e-7)
    return least, most


@compiled(steps=lambda first, second, a, b, rhs, root, *rest: 4 * len(first) + len(root))
def join(
    first: Array,
    second: Array,
    a: Array,
    b: Array,
    rhs: Array,
    root: Array,
    offset: Array,
    factor: Array,
    lower: Array,
    upper: Array,
    integer: bool,
) -> int:
    """From rows ``a x + b y = rhs``, |a| = |b|: x = offset + factor * root. How many joined; −1: contradiction."""
    joined = 0
    for k in range(len(first)):
        if abs(a[k]) != abs(b[k]):
            continue
        ends = np.zeros(2, np.int64)
        shift = np.zeros(2)
        turn = np.ones(2)
        for e in range(2):
            j = first[k] if e == 0 else second[k]
            while root[j] != j:
                shift[e] += turn[e] * offset[j]
                turn[e] *= factor[j]
                j = root[j]
            ends[e] = j
        value = rhs[k] / a[k]
        if integer and abs(value - np.rint(value)) > 1e-7:
            return -1
        # shift0 + turn0 r0 + s (shift1 + turn1 r1) = value, s = ±1
        s = b[k] / a[k]
        rest = value - shift[0] - s * shift[1]
        if ends[0] != ends[1]:
            r = ends[0]
            root[r] = ends[1]
            offset[r] = rest * turn[0]
            factor[r] = -s * turn[1] * turn[0]
            joined += 1
            continue
        total = turn[0] + s * turn[1]
        if total == 0.0:
            if abs(rest) > 1e-7 + 1e-12 * abs(value):
                return -1
        else:
            r = ends[0]
            value = rest / total
            room = 1e-7 + 1e-12 * abs(value)
            if value < lower[r] - room or value > upper[r] + room:
                return -1
            lower[r] = value
            upper[r] = value
    for j in range(len(root)):  # straight to the last root
        shift0 = 0.0
        turn0 = 1.0
        i = j
        while root[i] != i:
            shift0 += turn0 * offset[i]
            turn0 *= factor[i]
            i = root[i]
        if i != j:
            # write after reading: a node's own chain stays valid because roots never change here
            offset[j] = shift0
            factor[j] = turn0
            root[j] = i
    return joined
