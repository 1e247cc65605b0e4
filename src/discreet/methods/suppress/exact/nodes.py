"""The open nodes of a tree: cells decided, what is proved for the rest, and who is at work on which."""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from dataclasses import dataclass, replace

import numpy as np

from discreet.base.annotations import Array
from discreet.methods.suppress.exact.branching import ConflictHistory, Pseudocosts
from discreet.methods.suppress.exact.fixing import Stage
from discreet.methods.suppress.exact.separation import CutPool


@dataclass(frozen=True, eq=False)
class Node:
    """Cells decided, as bounds of all with a choice, and what is proved for whatever is left."""

    lower: Array
    upper: Array
    bound: float
    path: tuple[int, ...] = ()  # the cells chosen on the way, the last one last
    unsettled: bool = False  # whether the solver left it open: neither closed nor parted

    def child(self, cell: int, value: int, bound: float) -> Node:
        """The same with one more decided."""
        lower, upper = self.lower.copy(), self.upper.copy()
        lower[cell] = upper[cell] = value
        return Node(lower, upper, max(bound, self.bound), (*self.path, cell))


class OpenNodes:
    """What all workers of a tree share: open nodes by their bounds, inequalities, and what branching has taught."""

    def __init__(self, level: Stage) -> None:
        self.level, root = level, level.relaxation
        n = len(root.free)
        published, hidden = level.fixed()
        lower, upper = np.zeros(n), np.ones(n)
        upper[root.place[published]] = 0
        lower[root.place[hidden]] = 1
        self.order = itertools.count()
        self.heap: list[tuple[float, int, Node]] = [(root.bound, next(self.order), Node(lower, upper, root.bound))]
        self.unsettled: list[Node] = []  # open as well, but nobody takes them before they are opened again
        self.busy: dict[int, float] = {}
        self.pool = CutPool(n, root.place, level.tuning)
        self.pool.add(root.cuts)
        root.purge(0)  # they come back from the pool where they are needed
        self.pseudocosts, self.conflicts = Pseudocosts(n), ConflictHistory(n, level.tuning)
        self.lock = threading.Condition()
        self.done, self.x = 0, root.x
        self.whole = level.best.whole  # then what is missing at the end is a step, not a slope: cut as long as it goes

    @property
    def bound(self) -> float:
        """What all open nodes prove."""
        least = [self.heap[0][0]] if self.heap else []
        unsettled = [node.bound for node in self.unsettled]
        return min([*least, *unsettled, *self.busy.values()], default=np.inf)

    @property
    def left(self) -> bool:
        """Whether a node is open in which a cheaper pattern may be."""
        return bool(self.heap) or any(node.bound <= self.level.target for node in self.unsettled)

    def open_again(self) -> None:
        """Try what the solver did not settle once more: from another basis it may."""
        with self.lock:
            for node in self.unsettled:
                heapq.heappush(self.heap, (node.bound, next(self.order), replace(node, unsettled=False)))
            self.unsettled = []

    def take(self, number: int, until: float, gap: float) -> Node | None:
        """The open node with the least bound; waits while others may still make some. None: it is over."""
        with self.lock:
            while True:
                while self.heap and self.heap[0][0] > self.level.target:
                    heapq.heappop(self.heap)
                if time.monotonic() > until or self.level.best.done(gap):
                    return None
                if self.heap:
                    bound, _, node = heapq.heappop(self.heap)
                    self.busy[number] = bound
                    return node
                if not self.busy:
                    return None
                self.lock.wait(0.05)

    def give(self, number: int, node: Node, children: list[Node]) -> None:
        """What a worker made of its node."""
        with self.lock:
            if not children:
                self.conflicts.closed(node.path)
            for child in children:
                if child.unsettled:
                    self.unsettled.append(child)
                elif child.bound <= self.level.target:
                    heapq.heappush(self.heap, (child.bound, next(self.order), child))
            self.busy.pop(number, None)
            self.done += 1
            self.level.prove(min(self.bound, self.level.target + 1))
            self.lock.notify_all()

    def improve(self, pattern: Array) -> None:
        """Note a pattern that protects."""
        with self.lock:
            self.level.improve(pattern)
