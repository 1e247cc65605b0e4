"""Columns reduced one by one modulo the prime 2**61 − 1: the compiled pieces of every elimination.

The work is *left-looking*: a new column is reduced by the columns kept before it in a dense work vector; kept columns
are never touched again. Rows that have become known by themselves (a published inner cell) are dropped everywhere.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discreet.base.compiled import compiled_as, compiled_part

PRIME = 2**61 - 1
P = np.uint64(PRIME)
ONE = np.uint64(1)
ZERO = np.uint64(0)
DEAD = -2  # instead of a pivot's number: a row that is known by itself


def _wide_product(typing_context: Any, a: Any, b: Any) -> Any:
    """``times`` by one 64 x 64 -> 128 bit product: as 2**61 is 1, the high and low 61 bits are added."""
    from numba.core import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        from llvmlite import ir  # type: ignore[import-untyped]

        wide = ir.IntType(128)
        word = ir.IntType(64)
        product = builder.mul(builder.zext(arguments[0], wide), builder.zext(arguments[1], wide))
        low = builder.and_(builder.trunc(product, word), ir.Constant(word, PRIME))
        high = builder.trunc(builder.lshr(product, ir.Constant(wide, 61)), word)
        total = builder.add(low, high)
        over = builder.icmp_unsigned(">=", total, ir.Constant(word, PRIME))
        return builder.select(over, builder.sub(total, ir.Constant(word, PRIME)), total)

    return types.uint64(types.uint64, types.uint64), generate


@compiled_as(_wide_product)
def times(a: Any, b: Any) -> Any:
    """a b modulo 2**61 − 1."""
    return np.uint64(int(a) * int(b) % PRIME)


@compiled_part
def minus(a: Any, b: Any) -> Any:
    """a − b modulo the prime."""
    return a - b if a >= b else a + P - b


@compiled_part
def inverse(a: Any) -> Any:
    """1/a by Fermat: a**(p − 2)."""
    if a == ONE or a == P - ONE:
        return a
    result = ONE
    base = a
    exponent = PRIME - 2
    while exponent:
        if exponent & 1:
            result = times(result, base)
        base = times(base, base)
        exponent >>= 1
    return result


@compiled_part
def grown(array: Any, size: int) -> Any:
    """The same entries with room for at least ``size``."""
    out = np.empty(max(size, 2 * len(array)), array.dtype)
    for place in range(len(array)):  # a slice would do the same; it takes two seconds longer to compile
        out[place] = array[place]
    return out


@compiled_part
def push(heap: Any, length: int, key: int) -> int:
    """Add a key to a binary heap (smallest first) and return its new length."""
    at = length
    while at > 0:
        above = (at - 1) >> 1
        if heap[above] <= key:
            break
        heap[at] = heap[above]
        at = above
    heap[at] = key
    return length + 1


@compiled_part
def pop(heap: Any, length: int) -> int:
    """Take the smallest key off: it ends at heap[length − 1]."""
    first = heap[0]
    last = heap[length - 1]
    length = length - 1
    at = 0
    while True:
        below = 2 * at + 1
        if below >= length:
            break
        if below + 1 < length and heap[below + 1] < heap[below]:
            below += 1
        if heap[below] >= last:
            break
        heap[at] = heap[below]
        at = below
    heap[at] = last
    heap[length] = first
    return length


def reduction_steps(entries: int, columns: int) -> float:
    """About how many entries are met when so many columns with so many entries are reduced one after the other."""
    return 0.5 * entries * (entries / max(columns, 1)) ** 2


class Candidate(NamedTuple):
    """A column while it is reduced: ``work`` at the rows ``touched[:left]``; the other arrays are scratch over rows.

    ``mark`` is False everywhere between two columns; ``has`` is for callers.
    """

    work: Any
    touched: Any
    mark: Any
    heap: Any
    has: Any


class KeptColumns(NamedTuple):
    """Reduced columns, number k in ``length[k]`` places of ``row`` and ``value`` from ``start[k]`` on.

    ``pivot_of``: per row the number of the column whose pivot it is, −1 for none, or DEAD. ``count`` columns are kept,
    in ``used`` places: both numbers stand in arrays of one element, as they change.
    """

    pivot_of: Any
    pivots: Any
    start: Any
    length: Any
    row: Any
    value: Any
    used: Any
    count: Any


@compiled_part
def empty_candidate(n_rows: int, columns: int) -> Any:
    """Scratch for one column at a time."""
    return Candidate(
        np.zeros(n_rows, np.uint64),
        np.empty(n_rows, np.int32),
        np.zeros(n_rows, np.bool_),
        np.empty(min(columns, n_rows) + 1, np.int32),
        np.zeros(n_rows, np.bool_),
    )


@compiled_part
def nothing_kept(n_rows: int, columns: int) -> Any:
    """No column is kept yet; there cannot be more of them than rows."""
    room = min(columns, n_rows) + 1
    return KeptColumns(
        np.full(n_rows, -1, np.int32),
        np.empty(room, np.int32),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(4096, np.int32),
        np.empty(4096, np.uint64),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
    )


@compiled_part
def kept_with_room(kept: Any, more: int) -> Any:
    """Kept columns with room for so many more entries."""
    size = kept.used[0] + more
    if size <= len(kept.row):
        return kept
    row = grown(kept.row, size)
    value = grown(kept.value, size)
    return KeptColumns(kept.pivot_of, kept.pivots, kept.start, kept.length, row, value, kept.used, kept.count)


@compiled_part
def reduce_column(rows: Any, values: Any, candidate: Any, kept: Any) -> int:
    """A column minus what the kept columns explain of it, in ``work``; returns how many rows of it are left.

    ``touched[:n]`` lists those rows. Kept column k has a 1 in its pivot row and nothing in the pivot rows of the ones
    before it, so the pivots met are worked off in their order. Entries in dead rows are dropped from kept columns on
    the way, and a kept column of which only the pivot remains makes that row dead too.
    """
    work = candidate.work
    touched = candidate.touched
    mark = candidate.mark
    heap = candidate.heap
    pivot_of = kept.pivot_of
    length = kept.length
    n = 0
    waiting = 0
    for j in range(len(rows)):
        r = rows[j]
        k = pivot_of[r]
        if k == DEAD:
            continue
        work[r] = values[j]
        mark[r] = True
        touched[n] = r
        n += 1
        if k >= 0:
            waiting = push(heap, waiting, k)
    while waiting:
        waiting = pop(heap, waiting)
        k = heap[waiting]
        factor = work[kept.pivots[k]]
        if factor == ZERO:
            continue
        at = kept.start[k]
        end = at + length[k]
        keep = at
        plain = factor == ONE
        negative = factor == P - ONE
        for j in range(at, end):
            i = kept.row[j]
            other = pivot_of[i]
            if other == DEAD:
                continue
            v = kept.value[j]
            if keep != j:
                kept.row[keep] = i
                kept.value[keep] = v
            keep += 1
            if not mark[i]:
                mark[i] = True
                touched[n] = i
                n += 1
                work[i] = ZERO
                if other >= 0:
                    waiting = push(heap, waiting, other)
            if plain:
                work[i] = minus(work[i], v)
            elif negative:
                work[i] = minus(work[i], P - v)
            else:
                work[i] = minus(work[i], times(factor, v))
        length[k] = keep - at
        if length[k] <= 1:
            pivot_of[kept.pivots[k]] = DEAD
    left = 0
    for j in range(n):
        r = touched[j]
        mark[r] = False
        if work[r] != ZERO and pivot_of[r] != DEAD:
            touched[left] = r
            left += 1
    return left


@compiled_part
def keep_column(pivot: int, left: int, candidate: Any, kept: Any) -> None:
    """Keep a reduced column, for which there must be room, scaled to 1 in its pivot row."""
    work = candidate.work
    touched = candidate.touched
    number = kept.count[0]
    begin = kept.used[0]
    kept.pivots[number] = pivot
    kept.start[number] = begin
    kept.length[number] = left
    kept.pivot_of[pivot] = DEAD if left == 1 else number
    scale = inverse(work[pivot])
    for j in range(left):
        kept.row[begin + j] = touched[j]
        kept.value[begin + j] = work[touched[j]] if scale == ONE else times(work[touched[j]], scale)
    kept.count[0] = number + 1
    kept.used[0] = begin + left
