"""Branch and cut on HiGHS alone: nodes by their bounds, cut off as the root is, on as many cores as there are.

Every inequality holds everywhere, so what one node needs the others may use. A node is closed only by a bound that its
prices prove, or by its cheapest pattern if that is whole and protects; what the solver does not settle stays open.
Which cell to decide next is tried out on a few, until it is known what deciding each of them brings.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from discreet.base import parallel
from discreet.base.annotations import Array
from discreet.methods.suppress.exact.fixing import Improve, Stage
from discreet.methods.suppress.exact.nodes import OpenNodes
from discreet.methods.suppress.exact.worker import Worker
from discreet.methods.suppress.heuristics.incumbent import Incumbent
from discreet.methods.suppress.model.clock import Clock
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning


class Tree:
    """Open nodes, and the workers that take and give them."""

    def __init__(self, level: Stage) -> None:
        self.level = level
        self.nodes = OpenNodes(level)
        large = len(level.relaxation.free) >= level.tuning.exact.shared
        cores = min(parallel.workers(), parallel.MOST_LANES) if large else 1
        self.workers = [Worker(self.nodes, number) for number in range(cores)]

    @property
    def x(self) -> Array:
        """The relaxation's pattern of the node that was parted last."""
        return self.nodes.x

    def run(self, until: float, gap: float) -> bool:
        """Search until nothing cheaper is left, True, or the time is up."""
        self.nodes.open_again()
        self._all(lambda worker: worker.run(until, gap))
        ended = not self.nodes.left
        if ended:
            self.level.best.prove(self.level.best.cost)
        return ended

    def dive(self, until: float) -> None:
        """Patterns from the root, as many as there is time for; at least one on each core is begun."""
        root, relaxation = self.nodes.heap[0][2], self.level.relaxation

        def again(worker: Worker) -> None:
            worker.separation.until = until
            while True:
                worker.dive(root, until)
                if time.monotonic() > until or self.level.best.done(0.0):
                    return

        self._all(again)
        most = self.level.tuning.exact.pool_root
        relaxation.add(self.nodes.pool.violated(relaxation.x[relaxation.free], most))

    def _all(self, work: Callable[[Worker], None]) -> None:
        """Every worker at the same time."""
        parallel.side_by_side(work, self.workers, len(self.workers))

    def again(self) -> Stage | None:
        """The level below, if what the tree has found decides enough cells to begin anew."""
        root = self.level.relaxation
        root.add(self.nodes.pool.rows)
        root.solve()
        self.level.prove(root.bound)
        return None if self.level.best.done(0.0) else self.level.below()


def pause(best: Incumbent, seconds: float, clock: Clock, tuning: Tuning = DEFAULT) -> float:
    """How long to look for better patterns after so many seconds of the tree."""
    exact = tuning.exact
    wide = best.cost - best.bound > exact.wide * (best.cost + best.base)
    return min(max((exact.pause_wide if wide else exact.pause) * seconds, exact.least_seconds), clock.left)


def first_slice(clock: Clock, tuning: Tuning = DEFAULT) -> float:
    """Seconds for the first stretch of a tree."""
    return max(tuning.exact.slice * clock.seconds, tuning.exact.slice_least)


def branch(level: Stage, clock: Clock, gap: float, improve: Improve | None) -> int:
    """Search the tree until a better pattern than the best cannot exist, or the time is up; nodes looked at.

    Now and then the search for good patterns takes over for a while (``improve``): what it finds cuts the tree. If it
    decides many cells, the tree begins anew without them, with all inequalities found so far.
    """
    tuning = level.tuning
    tree = Tree(level)
    turn = tuning.exact.tree_turn
    nodes = 0
    seconds = clock.seconds if improve is None else first_slice(clock, tuning)
    known = level.best.cost
    while True:
        ended = tree.run(min(clock.at(1), time.monotonic() + seconds), gap)
        if ended or clock.left <= 0 or level.best.done(gap) or improve is None:
            return nodes + tree.nodes.done
        improve(level, turn, pause(level.best, seconds, clock, tuning), tree.x)
        turn += 1
        seconds *= tuning.exact.longer
        if level.best.cost < known:
            known = level.best.cost
            below = tree.again()
            if level.best.done(gap):
                return nodes + tree.nodes.done
            if below is not None:
                nodes += tree.nodes.done
                level = below
                tree = Tree(level)
