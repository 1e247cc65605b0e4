"""Whether variables of equations can all move, seen without a bound: by paths where the equations are a network.

Every two-way table is one: equations are nodes, and each unknown cell is an edge between the two sums that it is in. A
cell follows from the sums if its edge is a bridge. Elsewhere the rows are reduced modulo a prime.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.base.annotations import Array
from discreet.linear._reduction import reduction_steps

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array

MOST_STEPS = 10_000
"""Of a reduction of rows: what takes longer is not looked at."""


def all_free(rows: csr_array, watched: Array, jointly: Array) -> bool | None:
    """Whether no watched variable follows from the rows, nor any sum or difference of the ``jointly`` watched alone.

    Both are masks over the variables, which are unknown. None if it takes too long to say.

    >>> from scipy.sparse import csr_array
    >>> square = csr_array([[1.0, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]])
    >>> nobody = np.zeros(4, bool)
    >>> all_free(square, ~nobody, nobody), all_free(square, ~nobody, np.array([True, True, False, False]))
    (True, False)
    """
    columns = rows.tocsc()
    edges = _edges(columns)
    if edges is not None:
        return _free_in_graph(*edges, rows.shape[0] + 1, watched, jointly)
    if reduction_steps(rows.nnz, rows.shape[0]) > MOST_STEPS:
        return None
    return _free_by_rank(rows, watched, jointly)


def _edges(columns: csc_array) -> tuple[Array, Array] | None:
    """The two nodes of each variable, the last node for one that is in a single row; None if this is no network.

    It is one if rows can be given signs so that every variable in two of them stands there once with each sign: if
    nothing is joined to its own opposite.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    outside, size = columns.shape
    count = np.diff(columns.indptr)
    if (count > 2).any() or (np.abs(columns.data) != 1).any():
        return None
    one = np.full(size, outside)
    other = np.full(size, outside)
    one[count > 0] = columns.indices[columns.indptr[:-1][count > 0]]
    two = count == 2
    at = columns.indptr[:-1][two]
    other[two] = columns.indices[at + 1]
    same = columns.data[at] == columns.data[at + 1]
    a = one[two]
    b = np.where(same, other[two] + outside, other[two])
    opposite = np.concatenate([a, (a + outside) % (2 * outside)]), np.concatenate([b, (b + outside) % (2 * outside)])
    shape = (2 * outside, 2 * outside)
    _, part = connected_components(coo_array((np.ones(2 * len(a), np.int8), opposite), shape=shape), directed=False)
    return (one, other) if (part[:outside] != part[outside:]).all() else None


def _free_in_graph(one: Array, other: Array, nodes: int, watched: Array, jointly: Array) -> bool:
    """A graph without the edges watched jointly falls into no more parts, and no watched edge is a bridge."""
    rest = ~jointly
    if _parts(one, other, nodes) != _parts(one[rest], other[rest], nodes):
        return False
    return not bool((_bridges(one, other, nodes) & watched).any())


def _parts(one: Array, other: Array, nodes: int) -> int:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(one), np.int8), (one, other)), shape=(nodes, nodes))
    many, _ = connected_components(graph, directed=False)
    return int(many)


def _bridges(one: Array, other: Array, nodes: int) -> Array:
    """Edges on no cycle: of a spanning tree those that no edge outside the tree goes around.

    Each edge outside the tree has a random number, which its two ends are given; the numbers below an edge of the tree,
    added without carry, are those of the edges that go around it. Nothing that is on no cycle can have one.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    shape = (nodes + 1, nodes + 1)
    links = coo_array((np.ones(len(one), np.int8), (one, other)), shape=shape)
    _, part = connected_components(links, directed=False)
    first = np.unique(part[:nodes], return_index=True)[1]  # each part hangs on a further node by one of its own
    ones = np.ones(len(one) + len(first), np.int8)
    ends = np.concatenate([one, np.full(len(first), nodes)]), np.concatenate([other, first])
    order, above = breadth_first_order(coo_array((ones, ends), shape=shape).tocsr(), nodes, directed=False)
    down = np.where(above[one] == other, one, np.where(above[other] == one, other, -1))
    held, edge = np.unique(down, return_index=True)  # of edges beside each other one is in the tree
    tree = np.zeros(len(one), bool)
    tree[edge[held >= 0]] = True
    numbers = np.random.default_rng(20031).integers(1, 2**62, len(one), dtype=np.int64)
    around = np.zeros(nodes + 1, np.int64)
    for end in (one, other):
        np.bitwise_xor.at(around, end[~tree], numbers[~tree])
    total = around.tolist()
    up = above.tolist()
    for node in order[:0:-1].tolist():
        total[up[node]] ^= total[node]
    return np.asarray(tree & (np.array(total)[down] == 0) & (one != other))


def _free_by_rank(rows: csr_array, watched: Array, jointly: Array) -> bool:
    """The rows reduced, others as pivots before those watched jointly: none has one of these, and none is one cell."""
    from discreet.linear.modular import reduced_rows

    pivots, reduced = reduced_rows(rows, ~jointly)
    alone = pivots[np.diff(reduced.indptr) == 1]
    return not bool(jointly[pivots].any() or watched[alone].any())
