"""All moves that keep every sum: a basis of the null space of the rows, sparse where the rows come from tables.

In a table a total is the sum of its parts, so totals are written over their parts, bottom up, until only leaves are
left; what the remaining rows still say about leaves is eliminated, shortest row first. Linked tables make long moves of
that, so moves are then subtracted from each other while they get shorter.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array

NOTHING = 1e-9
FINEST = 64  # entries of a basis are fractions with denominators up to this
DENSE = 4  # times as many entries as the rows have: the moves are long
FULL = 100_000_000  # entries of a full array
GRID = 720_720  # entries are sums of small fractions; this takes the rounding errors off them


def basis(rows: csr_array) -> csr_array:
    """Cells x leaves: every d with ``rows @ d == 0`` is ``basis @ y`` for one y.

    >>> from scipy.sparse import csr_array
    >>> basis(csr_array([[-1.0, 1.0, 1.0, 0.0], [0.0, -1.0, 0.0, 1.0]])).toarray().tolist()
    [[1.0, 1.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
    """
    from scipy.sparse import csr_array

    define, used = _definitions(rows)
    leaf, moves = _written(rows, define)
    rest = csr_array(rows[~used] @ moves)
    rest.data[np.abs(rest.data) < NOTHING] = 0
    rest.eliminate_zeros()
    rest = rest[np.diff(rest.indptr) > 0]
    if rest.shape[0]:
        moves = csr_array(moves @ _eliminated(rest, len(leaf)))
    moves.data = np.rint(moves.data * GRID) / GRID
    if moves.nnz > DENSE * rows.nnz:  # what links the tables runs through most leaves: from the rows as they are then
        direct = _eliminated(rows, rows.shape[1])
        moves = _shortened(direct if direct.nnz < moves.nnz and direct.shape == moves.shape else moves)
    moves.eliminate_zeros()
    moves.sort_indices()
    return moves


def _shortened(moves: csr_array) -> csr_array:
    """The same space by shorter moves, where the entries are small whole numbers and a full array is no burden."""
    from scipy.sparse import csr_array

    from discreet.linear._short_moves import LARGEST, shorten

    whole = np.rint(moves.data)
    simple = np.abs(whole - moves.data).max(initial=0) < NOTHING and np.abs(whole).max(initial=0) <= LARGEST
    if simple and moves.shape[0] * moves.shape[1] <= FULL:
        array = csr_array((whole.astype(np.int8), moves.indices, moves.indptr), shape=moves.shape).toarray()
        across = array.T.copy()
        stop = np.zeros(1, np.int64)
        deadline.stoppable(lambda: shorten(array, across, stop), lambda: stop.fill(1))
        moves = csr_array(array).astype(float)
    return moves


def whole_columns(moves: csr_array) -> csc_array:
    """Moves x cells in whole numbers: a cell's column says how each move of a basis changes it."""
    from scipy.sparse import csc_array, diags_array

    scale = np.ones(moves.shape[1])
    left = np.abs(moves.data - np.rint(moves.data)) > NOTHING
    for move in np.unique(moves.indices[left]):
        entries = moves.data[moves.indices == move]
        able = [k for k in range(2, FINEST + 1) if np.abs(entries * k - np.rint(entries * k)).max() < 1e-6]
        scale[move] = able[0] if able else GRID
    whole = csc_array((moves @ diags_array(scale)).T)
    whole.data = np.rint(whole.data).astype(np.int64)
    return whole


def _definitions(rows: csr_array) -> tuple[list[tuple[int, int]], Array]:
    """Cells that a row gives as the sum of others, in an order in which those are known, with their rows."""
    m, n = rows.shape
    start = rows.indptr
    cell = rows.indices
    factor = rows.data
    total = np.full(m, -1)
    for r in range(m):
        here = cell[start[r] : start[r + 1]]
        sign = factor[start[r] : start[r + 1]]
        for side in (here[sign < 0], here[sign > 0]):
            if len(side) == 1:
                total[r] = side[0]
                break
    settled = np.ones(n, bool)
    settled[total[total >= 0]] = False
    waiting = np.array([np.count_nonzero(~settled[cell[start[r] : start[r + 1]]]) for r in range(m)]) - (total >= 0)
    columns = rows.tocsc()
    ready = [r for r in range(m) if total[r] >= 0 and waiting[r] == 0]
    used = np.zeros(m, bool)
    define = []
    while ready:
        r = ready.pop()
        done = int(total[r])
        if settled[done]:
            continue
        settled[done] = used[r] = True
        define.append((done, r))
        for q in columns.indices[columns.indptr[done] : columns.indptr[done + 1]]:
            if total[q] != done:
                waiting[q] -= 1
                if waiting[q] == 0 and total[q] >= 0:
                    ready.append(int(q))
    return define, used


def _written(rows: csr_array, define: list[tuple[int, int]]) -> tuple[Array, csr_array]:
    """The leaves, and every cell written over them."""
    from scipy.sparse import coo_array, csr_array

    n = rows.shape[1]
    leaf = np.setdiff1d(np.arange(n), [cell for cell, _ in define])
    over: dict[int, tuple[Array, Array]] = {int(c): (np.array([k]), np.ones(1)) for k, c in enumerate(leaf)}
    size = np.zeros(len(leaf))
    for cell, r in define:
        deadline.check()
        here = rows.indices[rows.indptr[r] : rows.indptr[r + 1]]
        factor = rows.data[rows.indptr[r] : rows.indptr[r + 1]]
        scale = -1 / factor[here == cell][0]
        at = []
        for c, f in zip(here.tolist(), factor.tolist(), strict=True):
            if c != cell:
                where, value = over[c]
                size[where] += scale * f * value
                at.append(where)
        touched = np.unique(np.concatenate(at)) if at else np.empty(0, np.int64)
        value = size[touched]
        size[touched] = 0
        keep = np.abs(value) > NOTHING
        over[cell] = (touched[keep], value[keep])
    row = np.concatenate([np.full(len(over[c][0]), c) for c in range(n)]) if n else np.empty(0, int)
    column = np.concatenate([over[c][0] for c in range(n)]) if n else np.empty(0, int)
    data = np.concatenate([over[c][1] for c in range(n)]) if n else np.empty(0)
    return leaf, csr_array(coo_array((data, (row, column)), shape=(n, len(leaf))))


def _eliminated(rest: csr_array, n: int) -> csr_array:
    """A basis of the null space of rows in no particular form."""
    from scipy.sparse import coo_array, csr_array

    pivots = _pivots(rest)
    chosen = {c for c, _ in pivots}
    kept = [c for c in range(n) if c not in chosen]
    full: dict[int, dict[int, float]] = {c: {k: 1.0} for k, c in enumerate(kept)}
    for c, expression in reversed(pivots):
        deadline.check()
        out: dict[int, float] = {}
        for j, w in expression.items():
            for k, u in full[j].items():
                out[k] = out.get(k, 0.0) + w * u
        full[c] = {k: u for k, u in out.items() if abs(u) > NOTHING}
    entries = [(c, k, u) for c in range(n) for k, u in full[c].items()]
    row, column, data = zip(*entries, strict=True) if entries else ((), (), ())
    return csr_array(coo_array((data, (row, column)), shape=(n, len(kept)), dtype=float))


def _pivots(rest: csr_array) -> list[tuple[int, dict[int, float]]]:
    """Variables written over others that are eliminated later or never; a unit entry if there is one."""
    lines = [
        dict(
            zip(
                rest.indices[rest.indptr[r] : rest.indptr[r + 1]].tolist(),
                rest.data[rest.indptr[r] : rest.indptr[r + 1]].tolist(),
                strict=True,
            )
        )
        for r in range(rest.shape[0])
    ]
    holders: dict[int, set[int]] = {}
    for r, line in enumerate(lines):
        for c in line:
            holders.setdefault(c, set()).add(r)
    alive = set(range(len(lines)))
    heap = [(len(line), r) for r, line in enumerate(lines)]
    heapq.heapify(heap)
    pivots = []
    while heap:
        deadline.check()
        size, r = heapq.heappop(heap)
        line = lines[r]
        if r not in alive or size != len(line):
            continue
        alive.discard(r)
        if not line:
            continue
        units = [c for c in line if abs(abs(line[c]) - 1) < NOTHING]
        c = min(units, key=lambda c: (len(holders[c]), c)) if units else max(line, key=lambda c: abs(line[c]))
        expression = {j: -w / line[c] for j, w in line.items() if j != c}
        pivots.append((c, expression))
        for j in line:
            holders[j].discard(r)
        for q in sorted(holders.pop(c)):
            _substitute(lines[q], q, c, expression, holders)
            heapq.heappush(heap, (len(lines[q]), q))
    return pivots


def _substitute(
    line: dict[int, float], q: int, c: int, expression: dict[int, float], holders: dict[int, set[int]]
) -> None:
    factor = line.pop(c)
    for j, w in expression.items():
        value = line.get(j, 0.0) + factor * w
        if abs(value) > NOTHING:
            line[j] = value
            holders[j].add(q)
        elif j in line:
            del line[j]
            holders[j].discard(q)
