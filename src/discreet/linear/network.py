"""Components that are networks (every two-way table is one): intervals by augmenting paths, exact in whole numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.base import deadline, parallel
from discreet.base.annotations import Array
from discreet.linear.linear_tuning import LINEAR
from discreet.linear.program import any_solution
from discreet.linear.system import ContradictionError, System

if TYPE_CHECKING:
    from scipy.sparse import csr_array

LARGEST_FLOW = 2**31 - 1
"""SciPy counts flows in 32 bits."""


@dataclass(frozen=True, eq=False)
class Network:
    """Variable k flows from node ``tail[k]`` to node ``head[k]``; the last node stands for the world outside."""

    tail: Array
    head: Array
    nodes: int


def network(rows: csr_array) -> Network | None:
    """The network behind a system of rows, or None: rows with signs such that each column has one +1 and one −1.

    >>> from scipy.sparse import csr_array
    >>> network(csr_array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]])).nodes
    3
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order

    n = rows.shape[0]
    columns = rows.tocsc()
    count = np.diff(columns.indptr)
    if not n or (count > 2).any() or (count == 0).any() or (np.abs(columns.data) != 1).any():
        return None
    two = count == 2
    at = columns.indptr[:-1]
    a = columns.indices[at[two]]
    b = columns.indices[at[two] + 1]
    turn = -columns.data[at[two]] * columns.data[at[two] + 1]  # the signs of the two rows must differ by this
    sign = np.ones(n)
    links = coo_array((np.ones(2 * len(a)), (np.concatenate([a, b]), np.concatenate([b, a]))), shape=(n, n)).tocsr()
    reached = np.zeros(n, bool)
    pair = dict(zip(zip(a.tolist(), b.tolist(), strict=True), turn.tolist(), strict=True))
    for start in range(n):
        if reached[start]:
            continue
        order, parent = breadth_first_order(links, start, directed=False, return_predecessors=True)
        reached[order] = True
        for node in order[1:].tolist():
            up = int(parent[node])
            sign[node] = sign[up] * pair.get((up, node), pair.get((node, up), 1.0))
    if (sign[a] * sign[b] != turn).any():
        return None
    tail = np.full(len(count), n)
    head = np.full(len(count), n)
    for shift in (0, 1):
        has = count > shift
        row = columns.indices[at[has] + shift]
        entry = columns.data[at[has] + shift]
        into = sign[row] * entry > 0
        where = np.flatnonzero(has)
        head[where[into]] = row[into]
        tail[where[~into]] = row[~into]
    return Network(tail, head, n + 1)


def whole_flow(system: System, net: Network) -> Array | None:
    """A solution in whole numbers by one maximal flow, of a system of whole numbers with finite bounds.

    ContradictionError if there is none; None where numbers are too large for it.

    >>> from scipy.sparse import csr_array
    >>> rows = csr_array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
    >>> system = System(rows, np.array([7.0, 4.0]), np.zeros(3), np.array([3.0, 9.0, 9.0]), True)
    >>> (rows @ whole_flow(system, network(rows))).tolist()
    [7.0, 4.0]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import maximum_flow

    room = system.upper - system.lower
    wanted = _wanted_inflow(system, net)
    if (room < 0).any():
        raise ContradictionError
    if room.sum() + np.abs(wanted).sum() > LARGEST_FLOW:
        return None
    source, sink = net.nodes, net.nodes + 1
    giving, taking = np.flatnonzero(wanted < 0), np.flatnonzero(wanted > 0)
    start = np.concatenate([net.tail, np.full(len(giving), source), taking])
    end = np.concatenate([net.head, giving, np.full(len(taking), sink)])
    most = np.concatenate([room, -wanted[giving], wanted[taking]]).astype(np.int32)
    graph = coo_array((most, (start, end)), shape=(sink + 1, sink + 1)).tocsr()  # arcs beside each other are added up
    flow = maximum_flow(graph, source, sink)
    if flow.flow_value != int(wanted[taking].sum()):
        raise ContradictionError
    return system.lower + _shared_out(net, room, flow.flow)


def _wanted_inflow(system: System, net: Network) -> Array:
    """How much more must flow into each node than out of it, beyond what flows at the lower bounds."""
    rows = system.rows.tocoo()
    into = (net.head[rows.col] == rows.row) == (rows.data > 0)
    sign = np.ones(net.nodes - 1)
    sign[rows.row] = np.where(into, 1.0, -1.0)
    wanted = np.rint(sign * (system.rhs - system.rows @ system.lower))
    return np.append(wanted, -wanted.sum())


def _shared_out(net: Network, room: Array, flow: csr_array) -> Array:
    """What flows between two nodes, given to the arcs between them one after the other."""
    order = np.lexsort((net.head, net.tail))
    tail, head = net.tail[order], net.head[order]
    between = np.maximum(np.asarray(flow[tail, head], float).ravel(), 0)
    before = np.cumsum(room[order]) - room[order]
    first = np.concatenate([[True], (tail[1:] != tail[:-1]) | (head[1:] != head[:-1])])
    of_pair = before[np.flatnonzero(first)][np.cumsum(first) - 1]
    share = np.empty(len(order))
    share[order] = np.clip(between - (before - of_pair), 0, room[order])
    return share


class FlowBounds:
    """Least and greatest values of variables of a network, for targets now and then: the last flows are kept."""

    def __init__(self, system: System, net: Network) -> None:
        from discreet.linear._flows import Arcs, Flows

        whole = all(
            (x[np.isfinite(x)] == np.rint(x[np.isfinite(x)])).all() for x in (system.rhs, system.lower, system.upper)
        )
        start = whole_flow(system, net) if whole else None
        if start is None:
            start = any_solution(system)
            start = np.rint(start) if whole else start
        self.start = start
        size = max(1.0, float(np.abs(start).max(initial=0)))
        self.epsilon = 0.5 if whole else 1e-8 * size
        ends = np.concatenate([net.tail, net.head])
        order = np.argsort(ends, kind="stable")
        pointer = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=net.nodes))])
        arc = (order % len(net.tail)).astype(np.int64)
        self.arcs = Arcs(net.tail, net.head, pointer, arc, system.lower, system.upper)
        self.flows: list[Flows] = []  # of each lane

    def __call__(
        self, targets: Array, progress: Callable[[int], None] = lambda done: None
    ) -> tuple[Array, Array, Array]:
        """Least and greatest value of each target variable; all are settled."""
        from discreet.linear._flows import Flows, flow_bounds

        least = np.empty(len(targets))
        most = np.empty(len(targets))

        def work(part: tuple[Array, Flows]) -> None:
            share, flows = part
            for k in range(0, len(share), LINEAR.flow_chunk):
                deadline.check()
                some = share[k : k + LINEAR.flow_chunk]
                low = np.empty(len(some))
                high = np.empty(len(some))
                flow_bounds(self.arcs, flows, targets[some], low, high, self.epsilon)
                least[some] = low
                most[some] = high
                progress(2 * len(some))

        number = parallel.lanes(len(targets), LINEAR.flow_lane) if len(targets) >= LINEAR.flow_chunk else 1
        while len(self.flows) < number:
            self.flows.append(Flows(self.start.copy(), self.start.copy(), self.start.copy()))
        shares = np.array_split(np.arange(len(targets)), number)
        parallel.side_by_side(work, list(zip(shares, self.flows[:number], strict=True)))
        return least, most, np.ones(len(targets), bool)


def bounds(
    system: System, net: Network, targets: Array, progress: Callable[[int], None] = lambda done: None
) -> tuple[Array, Array, Array]:
    """The same once."""
    return FlowBounds(system, net)(targets, progress)
