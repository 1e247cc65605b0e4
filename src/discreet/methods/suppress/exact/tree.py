"""Branch and cut on HiGHS alone: nodes by their bounds, cut off as the root is, on as many cores as there are.

Every inequality holds everywhere, so what one node needs the others may use. A node is closed only by a bound that its
prices prove. Which cell to decide next is tried out on a few, until it is known what deciding each of them brings.
"""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.base import deadline
from discreet.methods.suppress.attacker.all_at_once import met
from discreet.methods.suppress.exact.branching import Blame, Gains
from discreet.methods.suppress.exact.inequalities import THREADS, Cut, Separation
from discreet.methods.suppress.exact.master import Relaxation, covered
from discreet.methods.suppress.heuristics.greedy import cleaned

if TYPE_CHECKING:
    from discreet.methods.suppress.exact.optimal import Optimal
    from discreet.methods.suppress.exact.search import Best, Clock, Level

Array = NDArray[Any]
ROUNDS = 12  # of cutting at one node
WORTH = 0.02  # of what is missing to close a node must be gained by a round for another one
TRIED = 8  # cells whose decision is tried out at a node
LOOK = 4  # after so many that are no better than the best, no more are tried
RELIABLE = 4  # trials of a cell from which their mean is believed
ITERATIONS = 25  # of a trial
SLICE = 0.1  # of the time for the first stretch of the tree
FEW, MANY, WIDE = 0.25, 1.5, 0.1  # as much again for better patterns after it: usually, and where the gap is so wide
MOST, MISSES = 4, 8  # aims found out of reach, or within, after which a round of a node is over
DIVES = 0.2  # of the time, at most, for patterns from the relaxation
HIDE = (0.05, 0.2)  # of the cells hidden in part: least and most that are hidden in one step of a dive
DIVED = 3  # rounds of cutting after each
WIDELY = 5  # times as many aims are looked at there
CLEANED = 2.0  # times as long as a dive took, what it found may be cleaned
SHARED = 200  # cells with a choice from which several cores are worth it; a tree of one takes the same way each time
DECIDED = 1e-6
CLOSING = 0.5  # how much nearer to a half a cell counts that closed most nodes
STEP = 1.0  # how far beyond the target a trial counts
FLAT = 0.01  # where whole costs miss less than this, a trial tells nothing: the programme finds another way as cheap


@dataclass(frozen=True, eq=False)
class Node:
    """Cells decided, as bounds of all with a choice, and what is proved for whatever is left."""

    lower: Array
    upper: Array
    bound: float
    path: tuple[int, ...] = ()  # the cells chosen on the way, the last one last

    def child(self, cell: int, value: int, bound: float) -> Node:
        """The same with one more decided."""
        lower, upper = self.lower.copy(), self.upper.copy()
        lower[cell] = upper[cell] = value
        return Node(lower, upper, max(bound, self.bound), (*self.path, cell))


class Tree:
    """Open nodes and what all workers share."""

    def __init__(self, level: Level) -> None:
        self.level, root = level, level.relaxation
        n = len(root.free)
        out, into = level.fixed()
        lower, upper = np.zeros(n), np.ones(n)
        upper[root.place[out]] = 0
        lower[root.place[into]] = 1
        self.order = itertools.count()
        self.open: list[tuple[float, int, Node]] = [(root.bound, next(self.order), Node(lower, upper, root.bound))]
        self.busy: dict[int, float] = {}
        self.pool = Pool(n, root.place)
        self.pool.add(root.cuts)
        root.purge(0)  # they come back from the pool where they are needed
        self.gains, self.blame = Gains(n), Blame(n)
        self.lock = threading.Condition()
        self.workers = [Worker(self, k) for k in range(THREADS if n >= SHARED else 1)]
        self.nodes, self.x = 0, root.x
        self.whole = level.best.whole  # then what is missing at the end is a step, not a slope: cut as long as it goes

    @property
    def bound(self) -> float:
        """What all open nodes prove."""
        least = [self.open[0][0]] if self.open else []
        return min([*least, *self.busy.values()], default=np.inf)

    def run(self, until: float, gap: float) -> bool:
        """Search until nothing cheaper is left, True, or the time is up."""
        self._all(lambda worker: worker.run(until, gap))
        if not self.open:
            self.level.best.prove(self.level.best.cost)
        return not self.open

    def dive(self, until: float) -> None:
        """Patterns from the root, as many as there is time for; at least one on each core is begun."""

        def again(worker: Worker) -> None:
            worker.separation.until = until
            while True:
                worker.dive(root, until)
                if time.monotonic() > until or self.level.best.done(0.0):
                    return

        root = self.open[0][2]
        self._all(again)
        self.level.relaxation.add(self.pool.violated(self.level.relaxation.x[self.level.relaxation.free], most=200))

    def _all(self, work: Callable[[Worker], None]) -> None:
        """Every worker at the same time."""
        deadline.side_by_side(work, self.workers, len(self.workers))

    def take(self, number: int, until: float, gap: float) -> Node | None:
        """The open node with the least bound; waits while others may still make some. None: it is over."""
        with self.lock:
            while True:
                while self.open and self.open[0][0] > self.level.target:
                    heapq.heappop(self.open)
                if time.monotonic() > until or self.level.best.done(gap):
                    return None
                if self.open:
                    bound, _, node = heapq.heappop(self.open)
                    self.busy[number] = bound
                    return node
                if not self.busy:
                    return None
                self.lock.wait(0.05)

    def give(self, number: int, node: Node, nodes: list[Node]) -> None:
        """What a worker made of its node."""
        with self.lock:
            if not nodes:
                self.blame.closed(node.path)
            for made in nodes:
                if made.bound <= self.level.target:
                    heapq.heappush(self.open, (made.bound, next(self.order), made))
            self.busy.pop(number, None)
            self.nodes += 1
            self.level.prove(min(self.bound, self.level.target + 1))
            self.lock.notify_all()

    def again(self) -> Level | None:
        """The level below, if what the tree has found decides enough cells to begin anew."""
        root = self.level.relaxation
        root.add(self.pool.rows)
        root.solve()
        self.level.prove(root.bound)
        return None if self.level.best.done(0.0) else self.level.below()


class Pool:
    """All inequalities found, to be looked through for those that a pattern violates."""

    def __init__(self, n: int, place: Array) -> None:
        self.n, self.place = n, place
        self.rows, self.names = list[Cut](), set[bytes]()
        self.matrix: Any = None
        self.ready = 0
        self.lock = threading.Lock()

    def add(self, cuts: list[Cut]) -> None:
        """Note those that are not there yet."""
        with self.lock:
            for cut in cuts:
                if cut.name not in self.names:
                    self.names.add(cut.name)
                    self.rows.append(cut)

    def violated(self, x: Array, most: int = 30) -> list[Cut]:
        """Those that a pattern (of the cells with a choice) violates most."""
        from scipy.sparse import csr_array

        with self.lock:
            if len(self.rows) > 1.2 * self.ready + 20:
                self.ready = len(self.rows)
                start = np.concatenate([[0], np.cumsum([len(r.cell) for r in self.rows])])
                at = self.place[np.concatenate([r.cell for r in self.rows])]
                data = np.concatenate([r.coefficient for r in self.rows])
                self.matrix = csr_array((data, at, start), shape=(self.ready, self.n))
            matrix, rows = self.matrix, self.rows
        if matrix is None:
            return []
        slack = matrix @ x - 1
        worst = np.argsort(slack)[:most]
        return [rows[k] for k in worst[slack[worst] < -1e-3]]


class Worker:
    """One core: its own master programme and intruder."""

    def __init__(self, tree: Tree, number: int) -> None:
        self.tree, self.number = tree, number
        root = tree.level.relaxation
        self.separation = Separation(root.condensed, threads=1)
        self.relaxation = Relaxation(root.condensed, self.separation)
        self.relaxation.highs.setOptionValue("presolve", "off")  # an impossible node must come with its proof
        # a node begins near its solution: costs shaken first take longer to put right than they save
        self.relaxation.highs.setOptionValue("dual_simplex_cost_perturbation_multiplier", 0.0)
        self.relaxation.add(root.rows)
        self.separation.witness = list(root.separation.witness)
        self.random = np.random.default_rng(number)
        self.spent = [0.0, 0.0]  # seconds for nodes and for dives

    def run(self, until: float, gap: float) -> None:
        """Take nodes until there is none left or the time is up; now and then dive from one."""
        self.separation.until, began = until, time.monotonic()
        while (node := self.tree.take(self.number, until, gap)) is not None:
            made = self.work(node, until)
            now = time.monotonic()
            self.spent[0] += now - began
            if made and self.spent[1] <= DIVES * self.spent[0]:
                self.dive(node, until)
            began = time.monotonic()
            self.spent[1] += began - now
            self.tree.give(self.number, node, made)

    def work(self, node: Node, until: float) -> list[Node]:
        """Cut a node off, close it, or part it in two; the node itself if the time is up."""
        level, relaxation = self.tree.level, self.relaxation
        relaxation.bounded(node.lower, node.upper)
        relaxation.solve()
        for _ in range(ROUNDS):
            before = relaxation.bound
            if before > level.target:
                return []
            if time.monotonic() > until:
                return [replace(node, bound=max(node.bound, before))]
            if not self.cut():
                break
            missing = level.target - before
            if relaxation.bound - before < WORTH * missing and not (self.tree.whole and missing < 1):
                break
        bound = max(node.bound, relaxation.bound)
        if bound > level.target:
            return []
        lower, upper = self.tightened(node)
        node = Node(lower, upper, bound, node.path)
        while not len(fractional := self.fractional()):
            if self.whole() or relaxation.bound > level.target:
                return []
            if time.monotonic() > until:
                return [node]
        return self.parted(replace(node, bound=max(bound, relaxation.bound)), fractional)

    def fractional(self) -> Array:
        """The cells that the node's pattern hides in part."""
        x = self.relaxation.x[self.relaxation.free]
        return np.flatnonzero(np.abs(x - np.rint(x)) > DECIDED)

    def dive(self, node: Node, until: float) -> None:
        """A whole pattern from the relaxation: what it hides most is hidden, step by step, and cut off in between."""
        began = time.monotonic()
        level, relaxation = self.tree.level, self.relaxation
        lower, share = node.lower.copy(), self.random.uniform(*HIDE)
        while time.monotonic() < until:
            relaxation.bounded(lower, node.upper)
            relaxation.solve()
            for _ in range(DIVED):
                if relaxation.bound > level.target or not self.cut(WIDELY):
                    break
            if relaxation.bound > level.target:
                return
            x = relaxation.x[relaxation.free]
            part = self.fractional()
            lower = np.where(x >= 1 - DECIDED, 1.0, lower)
            if len(part):
                key = x[part] * self.random.uniform(0.9, 1, len(part))
                lower[part[np.argsort(-key)][: max(1, int(share * len(part)))]] = 1
            elif self.whole():
                pattern = np.rint(relaxation.x).astype(bool)
                now = time.monotonic()
                better = cleaned(relaxation.problem, pattern, min(until, now + CLEANED * (now - began)))
                with self.tree.lock:
                    level.improve(better)
                return

    def cut(self, times: int = 1) -> int:
        """One round of inequalities that the node's pattern violates; how many were new."""
        relaxation, x = self.relaxation, self.relaxation.x
        pooled = relaxation.add(self.tree.pool.violated(x[relaxation.free]))
        if pooled < 5:
            fresh = self.separation(x, most=times * MOST, misses=times * MISSES)
            found = covered(fresh, x) + covered(relaxation.cuts, x)
            self.tree.pool.add(found)
            pooled += relaxation.add(found)
        pooled += relaxation.add(relaxation.alone(x))
        if pooled:
            relaxation.solve()
            relaxation.purge()
        return pooled

    def whole(self) -> bool:
        """Whether the node's whole pattern protects; if so it is noted, otherwise it is cut off."""
        from discreet.methods.suppress.exact.search import violated

        relaxation = self.relaxation
        pattern = np.rint(relaxation.x).astype(bool)
        found = [cut for cut in violated(self.separation, pattern.astype(float)) if cut.slack(pattern) < -DECIDED]
        if not self.separation.complete:
            return False
        if not found and met(relaxation.problem, pattern).all():
            with self.tree.lock:
                self.tree.level.improve(pattern)
            return True
        if not relaxation.add(found):  # it falls short by a hair: at least one more cell must be hidden
            more = np.flatnonzero(relaxation.problem.free & ~pattern)
            found = [Cut(more, np.ones(len(more)))]
            relaxation.add(found)
        self.tree.pool.add(found)
        relaxation.solve()
        return False

    def tightened(self, node: Node) -> tuple[Array, Array]:
        """The node's bounds, with cells decided whose reduced cost is beyond what is missing."""
        relaxation = self.relaxation
        room = self.tree.level.target - relaxation.bound + 1e-9 * max(abs(relaxation.bound), 1.0)
        upper = np.where((relaxation.reduced > room) & (node.lower < 0.5), 0.0, node.upper)
        lower = np.where((-relaxation.reduced > room) & (node.upper > 0.5), 1.0, node.lower)
        return lower, upper

    def parted(self, node: Node, fractional: Array) -> list[Node]:
        """The node with a cell published and with it hidden: the cell for which both cost most."""
        relaxation, gains, level = self.relaxation, self.tree.gains, self.tree.level
        x = relaxation.x[relaxation.free]
        self.tree.x = relaxation.x
        part = x[fractional]
        if self.tree.whole and level.target - relaxation.bound < FLAT:
            best = self.undecided(fractional)
            return [node.child(best, v, relaxation.bound) for v in (0, 1)]
        score = (gains.guess(fractional, 0) * part + 1e-6) * (gains.guess(fractional, 1) * (1 - part) + 1e-6)
        order = fractional[np.argsort(-score, kind="stable")]
        basis, now = relaxation.highs.getBasis(), relaxation.bound
        best, value, misses = int(order[0]), -1.0, 0
        bounds = (now, now)
        relaxation.highs.setOptionValue("simplex_iteration_limit", ITERATIONS)
        tried = 0
        for cell in order.tolist():
            known = gains.count[:, cell].min() >= RELIABLE
            if known:
                down, up = (float(gains.guess(np.array([cell]), v)[0]) * c for v, c in ((0, x[cell]), (1, 1 - x[cell])))
                sides = (now, now)
            else:
                if tried >= TRIED or misses >= LOOK:
                    continue
                tried += 1
                found = [self.tried(cell, v, basis) for v in (0, 1)]
                for v, change in ((0, x[cell]), (1, 1 - x[cell])):
                    gains.note(cell, v, max(min(found[v], level.target + STEP) - now, 0.0), float(change))
                down, up = (max(f - now, 0.0) for f in found)
                sides = (max(found[0], now), max(found[1], now))
            worth = (min(down, level.target - now + STEP) + 1e-6) * (min(up, level.target - now + STEP) + 1e-6)
            if worth > value:
                best, value, bounds, misses = cell, worth, sides, 0
            else:
                misses += 1
        relaxation.highs.setOptionValue("simplex_iteration_limit", 2**31 - 1)
        relaxation.highs.setBasis(basis)
        return [child for v in (0, 1) if (child := node.child(best, v, bounds[v])).bound <= level.target]

    def undecided(self, fractional: Array) -> int:
        """The cell nearest to a half, sooner if it has closed nodes before; of several the one with most room."""
        problem, cells = self.relaxation.problem, self.relaxation.free[fractional]
        far = np.abs(self.relaxation.x[cells] - 0.5) - CLOSING * self.tree.blame.share(fractional)
        return int(fractional[np.lexsort((-np.minimum(problem.up, problem.down)[cells], np.round(far, 6)))[0]])

    def tried(self, cell: int, value: int, basis: Any) -> float:
        """The bound that a few steps prove when a cell is decided."""
        relaxation = self.relaxation
        highs = relaxation.highs
        low, high = relaxation.lower[cell], relaxation.upper[cell]
        relaxation.lower[cell] = relaxation.upper[cell] = value
        highs.changeColBounds(cell, float(value), float(value))
        deadline.run(highs)
        prices = np.maximum(np.asarray(highs.getSolution().row_dual), 0)
        proved = relaxation.proof(prices)[1] if len(prices) == len(relaxation.rows) else 0.0
        relaxation.lower[cell], relaxation.upper[cell] = low, high
        highs.changeColBounds(cell, float(low), float(high))
        highs.setBasis(basis)
        return float(proved)


def pause(best: Best, seconds: float, clock: Clock) -> float:
    """How long to look for better patterns after so many seconds of the tree."""
    from discreet.methods.suppress.exact.search import LEAST_SECONDS

    wide = best.cost - best.bound > WIDE * (best.cost + best.base)
    return min(max((MANY if wide else FEW) * seconds, LEAST_SECONDS), clock.left)


def branch(how: Optimal, level: Level, clock: Clock, patterns: bool) -> int:
    """Search the tree until a better pattern than the best cannot exist, or the time is up; nodes looked at.

    Now and then the search for good patterns takes over for a while: what it finds cuts the tree. If it decides many
    cells, the tree begins anew without them, with all inequalities found so far.
    """
    from discreet.methods.suppress.exact.search import better

    tree, turn, nodes = Tree(level), 100, 0
    slice_ = max(SLICE * clock.seconds, 1.0) if patterns else clock.seconds
    known = level.best.cost
    while True:
        ended = tree.run(min(clock.at(1), time.monotonic() + slice_), how.gap)
        if ended or clock.left <= 0 or level.best.done(how.gap) or not patterns:
            return nodes + tree.nodes
        better(how, level, turn, pause(level.best, slice_, clock), tree.x)
        turn, slice_ = turn + 1, 1.5 * slice_
        if level.best.cost < known:
            known = level.best.cost
            below = tree.again()
            if level.best.done(how.gap):
                return nodes + tree.nodes
            if below is not None:
                nodes += tree.nodes
                level, tree = below, Tree(below)
