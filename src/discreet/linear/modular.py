"""Exact linear algebra on the sparse matrix of a table: elimination modulo the prime 2**61 − 1, without a tolerance.

A column of the matrix (inner cells x published cells, entries −1, 0, 1) is a known sum if its cell is published.
What follows linearly from what is a question of rank. Modulo a prime every entry is exact; a rank can only come out too
small, and only if the prime divides a minor of the matrix: with 61 bits that does not happen by chance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array
from discreet.base.compiled import compiled, compiled_part
from discreet.linear._reduction import (
    ONE,
    PRIME,
    P,
    empty_candidate,
    grown,
    keep_column,
    kept_with_room,
    nothing_kept,
    reduce_column,
    reduction_steps,
)

if TYPE_CHECKING:
    from scipy.sparse import csc_array


KEYS = 3  # columns that decide a row's place among the pivots; more made large tables slower


@compiled_part
def first_pivot(candidate: Any, left: int, priority: Any) -> int:
    """Of the rows of a reduced column the one that comes first as pivot."""
    pivot = candidate.touched[0]
    for j in range(1, left):
        if priority[candidate.touched[j]] < priority[pivot]:
            pivot = candidate.touched[j]
    return pivot  # type: ignore[no-any-return]


@compiled(steps=lambda indptr, indices, *rest: reduction_steps(len(indices), len(indptr)), restarts=True)
def _span_kernel(indptr: Any, indices: Any, data: Any, basis: Any, targets: Any, priority: Any, stop: Any) -> Any:
    """Basis columns that others before them do not give, as many as their rank, and what is left of the targets.

    ``priority``: of rows as pivots, the least first. ``stop``: an array of one number; once it is not 0 the answer is
    of no use.
    """
    candidate = empty_candidate(len(priority), len(basis))
    kept = nothing_kept(len(priority), len(basis))
    independent = np.empty(len(basis), np.int64)
    for c in basis:
        if stop[0]:
            break
        begin = indptr[c]
        end = indptr[c + 1]
        left = reduce_column(indices[begin:end], data[begin:end], candidate, kept)
        if left == 0:
            continue
        independent[kept.count[0]] = c
        kept = kept_with_room(kept, left)
        keep_column(first_pivot(candidate, left, priority), left, candidate, kept)
    ends = np.zeros(len(targets) + 1, np.int64)
    row = kept.row[:0]
    value = kept.value[:0]
    for t in range(len(targets)):
        if stop[0]:
            break
        begin = indptr[targets[t]]
        end = indptr[targets[t] + 1]
        left = reduce_column(indices[begin:end], data[begin:end], candidate, kept)
        used = ends[t]
        if used + left > len(row):
            row = grown(row, used + left)
            value = grown(value, used + left)
        for j in range(left):
            row[used + j] = candidate.touched[j]
            value[used + j] = candidate.work[candidate.touched[j]]
        ends[t + 1] = used + left
    return independent[: kept.count[0]], ends, row[: ends[-1]], value[: ends[-1]]


def residues(matrix: Any) -> csc_array:
    """The matrix by columns with its entries, whole numbers, as residues."""
    from scipy.sparse import csc_array

    columns = csc_array(matrix, copy=True) if not np.all(matrix.data) else csc_array(matrix)
    columns.eliminate_zeros()
    size = np.abs(columns.data).astype(np.uint64)
    data = np.where(columns.data < 0, P - size, size)
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


def span_of(columns: csc_array, basis: Array, targets: Array, pivots: Array | None = None) -> tuple[int, csc_array]:
    """The rank of the basis columns, and the targets modulo their span; ``pivots``: of rows the least is best."""
    if pivots is None:
        few = len(basis) < 64  # then any pivots will do
        pivots = np.zeros(columns.shape[0], np.int64) if few else pivot_priority(columns, basis)
    independent, left = _spanned(columns, basis, targets, pivots)
    return len(independent), left


def _spanned(columns: csc_array, basis: Array, targets: Array, priority: Array) -> tuple[Array, csc_array]:
    """The basis columns that others before them do not give, and the targets modulo their span."""
    from scipy.sparse import csc_array

    stop = np.zeros(1, np.int64)
    arguments = (columns.indptr, columns.indices, columns.data, basis, targets, priority, stop)
    independent, ends, rows, values = deadline.stoppable(lambda: _span_kernel(*arguments), lambda: stop.fill(1))
    return np.asarray(independent), csc_array((values, rows, ends), shape=(columns.shape[0], len(targets)))


def independent_rows(matrix: Any) -> Array:
    """Rows of whole numbers of which all others are combinations, short ones before others; in order.

    >>> from scipy.sparse import csr_array
    >>> independent_rows(csr_array([[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])).tolist()
    [1, 2]
    """
    rows = matrix.tocsr()
    shortest = np.argsort(np.diff(rows.indptr), kind="stable")
    fewest = np.argsort(np.argsort(np.diff(matrix.tocsc().indptr), kind="stable"))
    return np.sort(_spanned(residues(rows.T.tocsc()), shortest, np.empty(0, np.int64), fewest)[0])


@compiled(steps=lambda indptr, indices, *rest: reduction_steps(len(indices), len(indptr)), restarts=True)
def _reduced_kernel(indptr: Any, indices: Any, data: Any, priority: Any, stop: Any) -> Any:
    """The columns fully reduced: each has a 1 in its pivot row, in which no other has anything; and the pivots."""
    many = len(indptr) - 1
    candidate = empty_candidate(len(priority), many)
    kept = nothing_kept(len(priority), many)
    for c in range(many):
        if stop[0]:
            break
        left = reduce_column(indices[indptr[c] : indptr[c + 1]], data[indptr[c] : indptr[c + 1]], candidate, kept)
        if left == 0:
            continue
        kept = kept_with_room(kept, left)
        keep_column(first_pivot(candidate, left, priority), left, candidate, kept)
    total = kept.count[0]
    ends = np.zeros(total + 1, np.int64)
    row = kept.row[:0]
    value = kept.value[:0]
    for k in range(total):
        if stop[0]:
            break
        begin = kept.start[k]
        own = kept.row[begin : begin + kept.length[k]]
        others = own != kept.pivots[k]
        left = reduce_column(own[others], kept.value[begin : begin + kept.length[k]][others], candidate, kept)
        used = ends[k]
        if used + left + 1 > len(row):
            row = grown(row, used + left + 1)
            value = grown(value, used + left + 1)
        row[used] = kept.pivots[k]
        value[used] = ONE
        for j in range(left):
            row[used + 1 + j] = candidate.touched[j]
            value[used + 1 + j] = candidate.work[candidate.touched[j]]
        ends[k + 1] = used + left + 1
    return kept.pivots[:total], ends, row[: ends[-1]], value[: ends[-1]]


def reduced_rows(matrix: Any, first: Array) -> tuple[Array, csc_array]:
    """The rows of a matrix fully reduced, as columns of residues, and the pivot of each; ``first``: variables that are
    pivots before others (a mask), so that rows with other pivots have nothing in them.

    >>> from scipy.sparse import csr_array
    >>> pivots, rows = reduced_rows(csr_array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]), np.array([True, False, False]))
    >>> signed(rows).T.toarray().tolist()  # the third is the second
    [[1, 1, 0], [0, -1, 1]]
    """
    from scipy.sparse import csc_array

    columns = residues(csc_array(matrix.T))
    priority = np.where(first, 0, 1).astype(np.int64)
    stop = np.zeros(1, np.int64)
    arguments = (columns.indptr, columns.indices, columns.data, priority, stop)
    pivots, ends, rows, values = deadline.stoppable(lambda: _reduced_kernel(*arguments), lambda: stop.fill(1))
    return pivots, csc_array((values, rows, ends), shape=(columns.shape[0], len(pivots)))


def signed(matrix: csc_array) -> csc_array:
    """Residues as whole numbers around zero; a fraction becomes a large one."""
    from scipy.sparse import csc_array

    data = matrix.data.astype(np.int64)
    near = np.where(data > PRIME // 2, data - PRIME, data)
    return csc_array((near, matrix.indices, matrix.indptr), shape=matrix.shape)


def positions(columns: Any, n: int) -> Array:
    """Columns named by a mask or by numbers, as numbers; None is all of them."""
    if columns is None:
        return np.arange(n)
    numbers = np.asarray(columns)
    return np.flatnonzero(numbers) if numbers.dtype == bool else numbers.astype(np.int64)


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
