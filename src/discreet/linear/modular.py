"""Exact linear algebra on the sparse matrix of a table: elimination modulo the prime 2**61 − 1, without a tolerance.

A column of the matrix (inner cells x published cells, entries −1, 0, 1) is a known sum if its cell is published.
What follows linearly from what is a question of rank. Modulo a prime every entry is exact; a rank can only come out too
small, and only if the prime divides a minor of the matrix: with 61 bits that does not happen by chance.

The work is *left-looking*: a new column is reduced by the columns kept before it in a dense work vector; kept columns
are never touched again. Rows that have become known by themselves (a published inner cell) are dropped everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba.core import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from discreet.base import deadline
from discreet.base.compiled import compiled

if TYPE_CHECKING:
    from scipy.sparse import csc_array

Array = NDArray[Any]

PRIME = 2**61 - 1
_P = np.uint64(PRIME)
_ONE = np.uint64(1)
_ZERO = np.uint64(0)
KEYS = 3  # columns that decide a row's place among the pivots; more made large tables slower
DEAD = -2  # instead of a pivot's number: a row that is known by itself


@intrinsic  # type: ignore[untyped-decorator]
def _times(typing_context: Any, a: Any, b: Any) -> Any:
    """a b modulo 2**61 − 1 by one 64 x 64 -> 128 bit product: as 2**61 is 1, the high and low 61 bits are added."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        from llvmlite import ir  # type: ignore[import-untyped]

        wide, word = ir.IntType(128), ir.IntType(64)
        product = builder.mul(builder.zext(arguments[0], wide), builder.zext(arguments[1], wide))
        low = builder.and_(builder.trunc(product, word), ir.Constant(word, PRIME))
        high = builder.trunc(builder.lshr(product, ir.Constant(wide, 61)), word)
        total = builder.add(low, high)
        over = builder.icmp_unsigned(">=", total, ir.Constant(word, PRIME))
        return builder.select(over, builder.sub(total, ir.Constant(word, PRIME)), total)

    return types.uint64(types.uint64, types.uint64), generate


@compiled
def times(a: Any, b: Any) -> Any:
    return _times(a, b)


@compiled
def minus(a: Any, b: Any) -> Any:
    """a − b modulo the prime."""
    return a - b if a >= b else a + _P - b


@compiled
def inverse(a: Any) -> Any:
    """1/a by Fermat: a**(p − 2)."""
    if a == _ONE or a == _P - _ONE:
        return a
    result, base, exponent = _ONE, a, PRIME - 2
    while exponent:
        if exponent & 1:
            result = _times(result, base)
        base = _times(base, base)
        exponent >>= 1
    return result


@compiled
def grown(array: Any, size: int) -> Any:
    """The same entries with room for at least ``size``."""
    out = np.empty(max(size, 2 * len(array)), array.dtype)
    out[: len(array)] = array
    return out


@compiled
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


@compiled
def pop(heap: Any, length: int) -> int:
    """Take the smallest key off: it ends at heap[length − 1]."""
    first, last, length = heap[0], heap[length - 1], length - 1
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


@compiled
def reduce_column(
    rows: Any, values: Any, work: Any, mark: Any, touched: Any, heap: Any,
    pivot_of: Any, pivots: Any, start: Any, length: Any, pool_row: Any, pool_value: Any,
) -> int:  # fmt: skip
    """A column minus what the kept columns explain of it, in ``work``; returns how many rows of it are left.

    ``touched[:n]`` lists those rows. Kept column k has a 1 in its pivot row and nothing in the pivot rows of the ones
    before it, so the pivots met are worked off in their order. Entries in dead rows are dropped from kept columns on
    the way, and a kept column of which only the pivot remains makes that row dead too.
    """
    n, waiting = 0, 0
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
        factor = work[pivots[k]]
        if factor == _ZERO:
            continue
        at, end, keep = start[k], start[k] + length[k], start[k]
        plain, negative = factor == _ONE, factor == _P - _ONE
        for j in range(at, end):
            i = pool_row[j]
            other = pivot_of[i]
            if other == DEAD:
                continue
            v = pool_value[j]
            if keep != j:
                pool_row[keep] = i
                pool_value[keep] = v
            keep += 1
            if not mark[i]:
                mark[i] = True
                touched[n] = i
                n += 1
                work[i] = _ZERO
                if other >= 0:
                    waiting = push(heap, waiting, other)
            if plain:
                work[i] = minus(work[i], v)
            elif negative:
                work[i] = minus(work[i], _P - v)
            else:
                work[i] = minus(work[i], _times(factor, v))
        length[k] = keep - at
        if length[k] <= 1:
            pivot_of[pivots[k]] = DEAD
    left = 0
    for j in range(n):
        r = touched[j]
        mark[r] = False
        if work[r] != _ZERO and pivot_of[r] != DEAD:
            touched[left] = r
            left += 1
    return left


@compiled
def _span_kernel(
    indptr: Any, indices: Any, data: Any, n_rows: int, basis: Any, targets: Any, order: Any, stop: Any
) -> Any:  # fmt: skip
    """The rank of the basis columns, and what they leave of the targets as the three arrays of a sparse matrix.

    ``stop``: an array of one number; once it is not 0 the answer is of no use.
    """
    room = len(basis)
    work, mark = np.zeros(n_rows, np.uint64), np.zeros(n_rows, np.bool_)
    touched, heap = np.empty(n_rows, np.int32), np.empty(room + 1, np.int32)
    pivot_of = np.full(n_rows, -1, np.int32)
    pivots, start, length = np.empty(room, np.int32), np.empty(room, np.int64), np.empty(room, np.int64)
    pool_row, pool_value, used, rank = np.empty(1024, np.int32), np.empty(1024, np.uint64), 0, 0
    for c in basis:
        if stop[0]:
            break
        lo, hi = indptr[c], indptr[c + 1]
        left = reduce_column(
            indices[lo:hi], data[lo:hi], work, mark, touched, heap,
            pivot_of, pivots, start, length, pool_row, pool_value,
        )  # fmt: skip
        if left == 0:
            continue
        best = touched[0]
        for j in range(1, left):
            if order[touched[j]] < order[best]:
                best = touched[j]
        if used + left > len(pool_row):
            pool_row, pool_value = grown(pool_row, used + left), grown(pool_value, used + left)
        used = keep_column(best, left, work, touched, rank, pivot_of, pivots, start, length, pool_row, pool_value, used)
        rank += 1
    ends, out_row, out_value, full = np.zeros(len(targets) + 1, np.int64), pool_row[:0], pool_value[:0], 0
    for t in range(len(targets)):
        if stop[0]:
            break
        lo, hi = indptr[targets[t]], indptr[targets[t] + 1]
        left = reduce_column(
            indices[lo:hi], data[lo:hi], work, mark, touched, heap,
            pivot_of, pivots, start, length, pool_row, pool_value,
        )  # fmt: skip
        if full + left > len(out_row):
            out_row, out_value = grown(out_row, full + left), grown(out_value, full + left)
        for j in range(left):
            out_row[full + j], out_value[full + j] = touched[j], work[touched[j]]
        full += left
        ends[t + 1] = full
    return rank, ends, out_row[:full], out_value[:full]


@compiled
def keep_column(
    pivot: int, left: int, work: Any, touched: Any, k: int, pivot_of: Any,
    pivots: Any, start: Any, length: Any, pool_row: Any, pool_value: Any, used: int,
) -> int:  # fmt: skip
    """Store the reduced column as number k, scaled to 1 in its pivot row; returns the new end of the pool."""
    pivots[k], start[k], length[k] = pivot, used, left
    pivot_of[pivot] = DEAD if left == 1 else k
    scale = inverse(work[pivot])
    for j in range(left):
        pool_row[used + j] = touched[j]
        pool_value[used + j] = work[touched[j]] if scale == _ONE else _times(work[touched[j]], scale)
    return used + left


def residues(matrix: Any) -> csc_array:
    """The matrix by columns with its entries, whole numbers, as residues."""
    from scipy.sparse import csc_array

    columns = csc_array(matrix, copy=True) if not np.all(matrix.data) else csc_array(matrix)
    columns.eliminate_zeros()
    size = np.abs(columns.data).astype(np.uint64)
    data = np.where(columns.data < 0, _P - size, size)
    return csc_array((data, columns.indices.astype(np.int32), columns.indptr.astype(np.int64)), shape=columns.shape)


def pivot_priority(matrix: Any, order: Array) -> Array:
    """Which rows make good pivots: those whose columns all come late, so that little is reduced by them.

    Rows are compared by the places of their columns in ``order``, the earliest first; the later, the better.
    """
    rows = matrix.tocsr()
    place = np.full(rows.shape[1], len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    lengths = np.diff(rows.indptr)
    width = int(lengths.max(initial=0))
    table = np.full((rows.shape[0], max(width, 1)), len(order), np.int32)
    if width and (lengths == width).all():
        table = place[rows.indices].reshape(-1, width)
    else:
        table[np.arange(table.shape[1]) < lengths[:, None]] = place[rows.indices]
    if table.shape[1] > KEYS:
        table = np.partition(table, KEYS - 1, axis=1)[:, :KEYS]
    table = np.sort(table, axis=1)
    ranked = np.empty(len(table), np.int64)
    ranked[np.lexsort(table.T[::-1])] = np.arange(len(table))[::-1]
    return ranked


def span_of(columns: csc_array, basis: Array, targets: Array) -> tuple[int, csc_array]:
    """The rank of the basis columns, and the targets modulo their span."""
    from scipy.sparse import csc_array

    few = len(basis) < 64  # then any pivots will do
    priority = np.zeros(columns.shape[0], np.int64) if few else pivot_priority(columns, basis)
    stop = np.zeros(1, np.int64)
    arguments = (columns.indptr, columns.indices, columns.data, columns.shape[0], basis, targets, priority, stop)
    rank, ends, rows, values = deadline.stoppable(lambda: _span_kernel(*arguments), lambda: stop.fill(1))
    return int(rank), csc_array((values, rows, ends), shape=(columns.shape[0], len(targets)))


def positions(columns: Any, n: int) -> Array:
    """Columns named by a mask or by numbers, as numbers; None is all of them."""
    if columns is None:
        return np.arange(n)
    given = np.asarray(columns)
    return np.flatnonzero(given) if given.dtype == bool else given.astype(np.int64)


def rank(matrix: Any, columns: Any = None) -> int:
    """Rank of some columns (a mask or their numbers; all by default) of a sparse matrix of −1, 0, 1.

    The released system of linked tables in section 4.5.3 of [ODF03]_ has rank nm + nt + mt − n − m − t + 1.

    >>> from discreet.tables.table import Table
    >>> linked = Table.of(np.ones((3, 4, 3), int), ["a", "s", "r"], margins=[("a", "s"), ("a", "r"), ("s", "r")])
    >>> rank(linked.matrix), 3 * 4 + 3 * 3 + 4 * 3 - 3 - 4 - 3 + 1
    (24, 24)
    """
    return span_of(residues(matrix), positions(columns, matrix.shape[1]), np.empty(0, np.int64))[0]


def in_span(matrix: Any, basis_columns: Any, target_columns: Any) -> Array:
    """Which target columns are linear combinations of the basis columns: cells that follow from published ones.

    >>> from discreet.tables.table import Table
    >>> table = Table.of([[3, 1], [2, 2]], ["area", "sex"])
    >>> hidden = table.where(area="1", sex="1")
    >>> in_span(table.matrix, ~hidden, hidden).tolist()
    [True]
    """
    n = matrix.shape[1]
    left = span_of(residues(matrix), positions(basis_columns, n), positions(target_columns, n))[1]
    return np.asarray(np.diff(left.indptr) == 0)
