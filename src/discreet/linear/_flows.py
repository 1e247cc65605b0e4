"""Compiled loops of networks: least and greatest flows of arcs by augmenting paths."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.base.annotations import Array
from discreet.base.compiled import compiled, compiled_part


class Arcs(NamedTuple):
    """A network: arcs with their ends and bounds; ``node_arcs`` lists those of each node from ``node_ptr`` on."""

    tail: Array
    head: Array
    node_ptr: Array
    node_arcs: Array
    lower: Array
    upper: Array


class Flows(NamedTuple):
    """A feasible flow, which is moved about, and the least and greatest flow seen so far of every arc."""

    now: Array
    low: Array
    high: Array


@compiled(steps=lambda arcs, flows, targets, *rest: 4 * len(targets) * len(arcs.tail))
def flow_bounds(arcs: Arcs, flows: Flows, targets: Array, least: Array, most: Array, epsilon: float) -> None:
    """Least and greatest flow of each target arc, by augmenting paths in the residual network.

    An arc which an earlier flow has already pushed to its bound costs nothing. ``least`` and ``most`` are filled in.
    """
    nodes = len(arcs.node_ptr) - 1
    via = np.empty(nodes, np.int64)
    queue = np.empty(nodes, np.int64)
    for t in range(len(targets)):
        e = targets[t]
        while flows.low[e] > arcs.lower[e] + epsilon and push_along(e, False, arcs, flows, via, queue, epsilon):
            pass
        while flows.high[e] < arcs.upper[e] - epsilon and push_along(e, True, arcs, flows, via, queue, epsilon):
            pass
        least[t] = flows.low[e]
        most[t] = flows.high[e]


@compiled_part
def push_along(e: int, up: bool, arcs: Arcs, flows: Flows, via: Array, queue: Array, epsilon: float) -> bool:
    """Raise the flow of an arc, or lower it, by one augmenting path; False if there is none."""
    room = arcs.upper[e] - flows.now[e] if up else flows.now[e] - arcs.lower[e]
    if room <= epsilon:
        return False
    # one more unit along e must come back from its end to its start through the others
    start = arcs.head[e] if up else arcs.tail[e]
    goal = arcs.tail[e] if up else arcs.head[e]
    if not find_path(start, goal, e, arcs, flows, via, queue, epsilon):
        return False
    room = narrowest(start, goal, room, arcs, flows, via)
    node = goal
    while node != start:
        arc = via[node] // 2
        forward = via[node] % 2 == 0
        change_flow(arc, room if forward else -room, flows)
        node = arcs.tail[arc] if forward else arcs.head[arc]
    change_flow(e, room if up else -room, flows)
    return True


@compiled_part
def find_path(
    start: int, goal: int, without: int, arcs: Arcs, flows: Flows, via: Array, queue: Array, epsilon: float
) -> bool:
    """Whether more can flow from start to goal, found breadth first.

    ``via``: per node reached twice the arc that led there, and 1 more if it is walked against its direction.
    """
    via[:] = -1
    via[start] = 2 * len(arcs.tail)
    queue[0] = start
    first = 0
    last = 1
    while first < last and via[goal] < 0:
        node = queue[first]
        first += 1
        for k in range(arcs.node_ptr[node], arcs.node_ptr[node + 1]):
            arc = arcs.node_arcs[k]
            if arc == without:
                continue
            if arcs.tail[arc] == node:
                other = arcs.head[arc]
                if via[other] < 0 and arcs.upper[arc] - flows.now[arc] > epsilon:
                    via[other] = 2 * arc
                    queue[last] = other
                    last += 1
            else:
                other = arcs.tail[arc]
                if via[other] < 0 and flows.now[arc] - arcs.lower[arc] > epsilon:
                    via[other] = 2 * arc + 1
                    queue[last] = other
                    last += 1
    return bool(via[goal] >= 0)


@compiled_part
def narrowest(start: int, goal: int, room: float, arcs: Arcs, flows: Flows, via: Array) -> float:
    """How much the arcs of a path can take, at most ``room``."""
    node = goal
    while node != start:
        arc = via[node] // 2
        if via[node] % 2 == 0:
            room = min(room, arcs.upper[arc] - flows.now[arc])
            node = arcs.tail[arc]
        else:
            room = min(room, flows.now[arc] - arcs.lower[arc])
            node = arcs.head[arc]
    return room


@compiled_part
def change_flow(arc: int, by: float, flows: Flows) -> None:
    """Change the flow of an arc and note how low and how high it has been."""
    flows.now[arc] += by
    flows.low[arc] = min(flows.low[arc], flows.now[arc])
    flows.high[arc] = max(flows.high[arc], flows.now[arc])
