"""Light cuts of a two-way table: do sums of its rows and sums of its columns tell about few people together?

A combination of rows and columns gives the cell (v, w) the value a(v) + b(w). It is zero in a cell exactly if a(v) and
-b(w) are equal, so the cells where it is not are a cut of the graph whose nodes are the rows and the columns and whose
edges are the cells with somebody in them: rows and columns of equal value on either side. So some combination is about
few people if and only if some cut is light. That is a minimum cut of a graph, and quick: rows and columns that no light
cut parts are made one (Nagamochi and Ibaraki), until a light cut shows or nothing is left to part.
"""

from __future__ import annotations

import heapq
import itertools
from typing import TYPE_CHECKING

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Neighbours = dict[int, dict[int, float]]


INSIDE, OUTSIDE, ELSEWHERE = 1, 0, -1


def light_cut(weights: Array, least: float) -> tuple[Array, Array] | None:
    """On which side of a cut every row and every column is; None if no cut weighs more than 0 and less than ``least``.

    ``ELSEWHERE`` are those that the cut has nothing to do with: not joined to either side by anybody.

    >>> people = np.array([[30, 150], [300, 0], [0, 4000]])  # 30: the first column less the second row
    >>> [side.tolist() for side in light_cut(people, 100)]
    [[0, 1, 0], [1, 0]]
    >>> light_cut(people, 30) is None
    True
    """
    label, graph = _joined_by_heavy(weights, least)
    sides = _light_side(_neighbours(graph), least)
    if sides is None:
        return None
    place = np.full(len(label), ELSEWHERE)
    smaller, larger = sorted((np.isin(label, sorted(side)) for side in sides), key=lambda side: int(side.sum()))
    place[smaller] = INSIDE
    place[larger] = OUTSIDE
    return place[: len(weights)], place[len(weights) :]


def _joined_by_heavy(weights: Array, least: float) -> tuple[Array, csr_array]:
    """Nodes joined as long as an edge weighs as much as the limit, and the graph of what is left."""
    from scipy.sparse import coo_array, csr_array
    from scipy.sparse.csgraph import connected_components

    rows, columns = weights.shape
    at_row, at_column = np.nonzero(weights > 0)
    heavy = weights[at_row, at_column].astype(float)
    begin, end = at_row, at_column + rows
    label = np.arange(rows + columns)
    while True:
        size = int(label.max()) + 1
        one, other = label[begin], label[end]
        apart = one != other
        low, high = np.minimum(one, other)[apart], np.maximum(one, other)[apart]
        graph = csr_array(coo_array((heavy[apart], (low, high)), shape=(size, size)))
        graph.sum_duplicates()
        strong = csr_array(graph >= least)
        if not strong.nnz:
            return label, graph
        label = connected_components(strong, directed=False)[1][label]


def _neighbours(graph: csr_array) -> Neighbours:
    """The edges of every node that has one, both ways."""
    edges = graph.tocoo()
    near: Neighbours = {}
    for one, other, weight in zip(edges.row.tolist(), edges.col.tolist(), edges.data.tolist(), strict=True):
        near.setdefault(one, {})[other] = weight
        near.setdefault(other, {})[one] = weight
    return near


def _light_side(near: Neighbours, least: float) -> tuple[set[int], set[int]] | None:
    """The nodes on either side of a light cut."""
    members = {node: {node} for node in near}
    while near:
        deadline.check()
        joined: list[tuple[int, int]] = []
        for order in _orders(near):
            last, attached = order[-1]
            if 0 < attached < least:  # all that joins the last node of an order to the others
                return members[last], set().union(*(members[node] for node, _ in order[:-1]))
            joined += [(one, other) for (one, _), (other, held) in itertools.pairwise(order) if held >= least]
        if not joined:
            return None
        for one, other in joined:
            _join(near, members, one, other)
    return None


def _orders(near: Neighbours) -> list[list[tuple[int, float]]]:
    """Of every connected part the nodes, each time the one most attached to those before, with that attachment."""
    orders = []
    left = set(near)
    for start in sorted(near):
        if start not in left:
            continue
        held = {start: 0.0}
        queue = [(0.0, start)]
        order = []
        while queue:
            _, node = heapq.heappop(queue)
            if node not in left:
                continue
            left.discard(node)
            order.append((node, held[node]))
            for other, weight in near[node].items():
                if other in left:
                    held[other] = held.get(other, 0.0) + weight
                    heapq.heappush(queue, (-held[other], other))
        orders.append(order)
    return orders


def _join(near: Neighbours, members: dict[int, set[int]], one: int, other: int) -> None:
    """Make two nodes one, which keeps the name of the second."""
    edges = near.pop(one)
    edges.pop(other, None)
    near[other].pop(one, None)
    for third, weight in edges.items():
        near[other][third] = near[other].get(third, 0.0) + weight
        near[third][other] = near[other][third]
        near[third].pop(one)
    members[other] |= members.pop(one)
