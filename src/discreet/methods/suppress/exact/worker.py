"""One core at work on a tree: a node is cut off, closed or parted in two, and now and then dived from."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import Unjudged
from discreet.methods.suppress.attacker.feasibility import met
from discreet.methods.suppress.exact.branching import by_gain, nearest_to_a_half
from discreet.methods.suppress.exact.inequalities import Cut
from discreet.methods.suppress.exact.master import Relaxation, covered
from discreet.methods.suppress.exact.nodes import Node, OpenNodes
from discreet.methods.suppress.exact.separation import Separation, violated
from discreet.methods.suppress.heuristics.prune import cleaned_until
from discreet.methods.suppress.model.tuning import WHOLE


class Worker:
    """Its own master problem and attacker, so that workers share nothing but the open nodes."""

    def __init__(self, shared: OpenNodes, number: int) -> None:
        self.shared, self.number, self.level = shared, number, shared.level
        self.tuning, self.exact = self.level.tuning, self.level.tuning.exact
        root = self.level.relaxation
        self.separation = Separation(root.condensed, lanes=1, tuning=self.tuning)
        self.relaxation = Relaxation(root.condensed, self.separation, self.tuning)
        self.relaxation.solver.set_options({"presolve": "off"})  # an impossible node must come with its proof
        # a node begins near its solution: costs shaken first take longer to put right than they save
        self.relaxation.solver.set_options({"dual_simplex_cost_perturbation_multiplier": 0.0})
        self.relaxation.add(root.rows)
        self.separation.witness = list(root.separation.witness)
        self.random = np.random.default_rng(number)
        self.node_seconds = self.dive_seconds = 0.0

    def run(self, until: float, gap: float) -> None:
        """Take nodes until there is none left or the time is up; now and then dive from one."""
        self.separation.until = until
        began = time.monotonic()
        while (node := self.shared.take(self.number, until, gap)) is not None:
            children = self._judged(node, until)
            now = time.monotonic()
            self.node_seconds += now - began
            if children and self.dive_seconds <= self.exact.dives * self.node_seconds:
                self.dive(node, until)
            began = time.monotonic()
            self.dive_seconds += began - now
            self.shared.give(self.number, node, children)

    def _judged(self, node: Node, until: float) -> list[Node]:
        """What a node is parted into; itself, open, if an attacker's program is not settled."""
        try:
            return self.work(node, until)
        except Unjudged:
            return [replace(node, unsettled=True)]

    def work(self, node: Node, until: float) -> list[Node]:
        """Cut a node off, close it, or part it in two; the node itself if the time is up or it is not settled."""
        level, relaxation = self.level, self.relaxation
        relaxation.bounded(node.lower, node.upper)
        relaxation.solve()
        for _ in range(self.exact.node_rounds):
            before = relaxation.bound
            if before > level.target:
                return []
            if time.monotonic() > until:
                return [replace(node, bound=max(node.bound, before))]
            if not self.cut():
                break
            missing = level.target - before
            if relaxation.bound - before < self.exact.worth * missing and not (self.shared.whole and missing < 1):
                break
        bound = max(node.bound, relaxation.bound)
        if bound > level.target:
            return []
        if relaxation.bound == -np.inf:  # nothing of this node was solved, and the pattern at hand is another's
            return [replace(node, unsettled=True)]
        lower, upper = self.tightened(node)
        node = Node(lower, upper, bound, node.path)
        while not len(fractional := self.fractional()):
            protects = self.whole()
            if relaxation.bound > level.target or (protects and relaxation.settled):
                return []
            if not relaxation.settled:  # a pattern, but not proved to be the node's cheapest
                return [replace(node, unsettled=True)]
            if time.monotonic() > until:
                return [node]
        return self.parted(replace(node, bound=max(bound, relaxation.bound)), fractional)

    def fractional(self) -> Array:
        """The cells that the node's pattern hides in part."""
        x = self.relaxation.x[self.relaxation.free]
        return np.flatnonzero(np.abs(x - np.rint(x)) > WHOLE)

    def parted(self, node: Node, fractional: Array) -> list[Node]:
        """The node with a cell published and with it hidden, as far as that can lead to something cheaper."""
        relaxation, target = self.relaxation, self.level.target
        self.shared.x = relaxation.x
        if self.shared.whole and target - relaxation.bound < self.exact.flat:
            cell = nearest_to_a_half(relaxation, fractional, self.shared.conflicts)
            return [node.child(cell, value, relaxation.bound) for value in (0, 1)]
        cell, bounds = by_gain(relaxation, fractional, self.shared.pseudocosts, target, self.tuning)
        children = [node.child(cell, value, bounds[value]) for value in (0, 1)]
        return [child for child in children if child.bound <= self.level.target]

    def dive(self, node: Node, until: float) -> None:
        """A whole pattern from the relaxation; none if the solver does not settle what it needs."""
        with suppress(Unjudged):
            self._dive(node, until)

    def _dive(self, node: Node, until: float) -> None:
        """What the relaxation hides most is hidden, step by step, and cut off in between."""
        began = time.monotonic()
        level, relaxation = self.level, self.relaxation
        lower, share = node.lower.copy(), self.random.uniform(*self.exact.dive_step)
        while time.monotonic() < until:
            relaxation.bounded(lower, node.upper)
            relaxation.solve()
            for _ in range(self.exact.dive_rounds):
                if relaxation.bound > level.target or not self.cut(self.exact.dive_widely):
                    break
            if relaxation.bound > level.target or not relaxation.settled:
                return
            x = relaxation.x[relaxation.free]
            part = self.fractional()
            lower = np.where(x >= 1 - WHOLE, 1.0, lower)
            if len(part):
                key = x[part] * self.random.uniform(self.exact.dive_shaken, 1, len(part))
                lower[part[np.argsort(-key)][: max(1, int(share * len(part)))]] = 1
            elif self.whole():
                pattern = np.rint(relaxation.x).astype(bool)
                now = time.monotonic()
                soon = min(until, now + self.exact.dive_cleaned * (now - began))
                self.shared.improve(cleaned_until(relaxation.problem, pattern, soon, self.tuning))
                return

    def cut(self, times: int = 1) -> int:
        """One round of inequalities that the node's pattern violates; how many were new."""
        relaxation, x = self.relaxation, self.relaxation.x
        new = relaxation.add(self.shared.pool.violated(x[relaxation.free], self.exact.pool_most))
        if new < self.exact.pool_enough:
            most, misses = self.exact.most, self.exact.misses
            fresh = self.separation(x, most=times * most, misses=times * misses)
            cuts = covered(fresh, x, self.tuning) + covered(relaxation.cuts, x, self.tuning)
            self.shared.pool.add(cuts)
            new += relaxation.add(cuts)
        new += relaxation.add(relaxation.alone(x))
        if new:
            relaxation.solve()
            relaxation.purge()
        return new

    def whole(self) -> bool:
        """Whether the node's whole pattern protects; if so it is noted, otherwise it is cut off."""
        relaxation = self.relaxation
        pattern = np.rint(relaxation.x).astype(bool)
        cuts = [cut for cut in violated(self.separation, pattern.astype(float)) if cut.slack(pattern) < -WHOLE]
        if not self.separation.complete:
            return False
        if not cuts and met(relaxation.problem, pattern).all():
            self.shared.improve(pattern)
            return True
        if not relaxation.add(cuts):  # it falls short by a hair: at least one more cell must be hidden
            more = np.flatnonzero(relaxation.problem.free & ~pattern)
            cuts = [Cut(more, np.ones(len(more)))]
            relaxation.add(cuts)
        self.shared.pool.add(cuts)
        relaxation.solve()
        return False

    def tightened(self, node: Node) -> tuple[Array, Array]:
        """The node's bounds, with cells decided whose reduced cost is beyond what is missing."""
        relaxation = self.relaxation
        room = self.level.target - relaxation.bound + 1e-9 * max(abs(relaxation.bound), 1.0)
        upper = np.where((relaxation.reduced > room) & (node.lower < 0.5), 0.0, node.upper)
        lower = np.where((-relaxation.reduced > room) & (node.upper > 0.5), 1.0, node.lower)
        return lower, upper
