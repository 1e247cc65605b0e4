"""Least and greatest values by linear programs: one model, costs changed, basis kept, as few runs as will do.

Every optimal point is a witness: a bound that some point already attains needs no program of its own. Each program
pushes a few more open bounds along with the one it is about; a bound that is proved is propagated to its neighbours.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from discreet.base import parallel
from discreet.base.annotations import Array
from discreet.linear.linear_tuning import LINEAR, LinearTuning
from discreet.linear.presolve import propagated
from discreet.linear.program import InteriorProgram, SystemProgram, scale_of
from discreet.linear.system import System


class Search:
    """Outer bounds (proved) and inner bounds (attained by a witness) of the targets, closing in on each other."""

    def __init__(self, system: System, targets: Array, progress: Callable[[int], None]) -> None:
        self.system = system
        n = system.size
        self.outer = np.array([system.lower, system.upper])  # [0] least, [1] greatest
        self.inner = np.array([np.full(n, np.inf), np.full(n, -np.inf)])
        self.whole = self.inner.copy()  # the same over witnesses in whole numbers
        self.ask(targets, progress)
        self.doubt = np.zeros(n, bool)  # short intervals of which nobody knows whether they hold two whole values
        self.tolerance = 1e-6 * scale_of(system)
        self.finite = bool(np.isfinite(self.outer).all())

    def ask(self, targets: Array, progress: Callable[[int], None]) -> None:
        """What is wanted from now on; what is known of others stays."""
        self.targets = targets
        self.progress = progress
        self.wanted = np.zeros(self.system.size, bool)
        self.wanted[targets] = True
        self.done = 0

    def open(self, side: int) -> Array:
        """Targets whose bound on this side no witness attains yet."""
        with np.errstate(invalid="ignore"):  # both infinite: closed
            gap = self.inner[0] - self.outer[0] if side == 0 else self.outer[1] - self.inner[1]
            return np.flatnonzero(self.wanted & (gap > self.tolerance))

    def is_open(self, side: int, k: int) -> bool:
        """The same for one target."""
        with np.errstate(invalid="ignore"):
            gap = self.inner[0, k] - self.outer[0, k] if side == 0 else self.outer[1, k] - self.inner[1, k]
            return bool(gap > self.tolerance)

    def witness(self, x: Array) -> None:
        """Take note of a point."""
        np.minimum(self.inner[0], x, out=self.inner[0])
        np.maximum(self.inner[1], x, out=self.inner[1])
        if self.system.integer and (x == np.rint(x)).all():
            np.minimum(self.whole[0], x, out=self.whole[0])
            np.maximum(self.whole[1], x, out=self.whole[1])

    def prove(self, side: int, variable: int, value: float) -> None:
        """A bound is exact: it may tighten its neighbours' too."""
        if self.system.integer:
            value = np.ceil(value - 1e-6) if side == 0 else np.floor(value + 1e-6)
        self.outer[side, variable] = value
        self.inner[side, variable] = value  # also where only a fraction, or nothing, attains it
        if np.isfinite(value):
            low, high = propagated(self.system, self.outer[0], self.outer[1])
            self.outer = np.array([low, high])

    def copy(self) -> Search:
        """What is known now, for a lane to go on from."""
        other = copy.copy(self)
        other.outer = self.outer.copy()
        other.inner = self.inner.copy()
        other.whole = self.whole.copy()
        return other

    def learn(self, others: Sequence[Search]) -> None:
        """Take over what lanes have found out since."""
        for other in others:
            for mine, its in ((self.inner, other.inner), (self.whole, other.whole)):
                np.minimum(mine[0], its[0], out=mine[0])
                np.maximum(mine[1], its[1], out=mine[1])
            np.maximum(self.outer[0], other.outer[0], out=self.outer[0])
            np.minimum(self.outer[1], other.outer[1], out=self.outer[1])
        np.maximum(self.outer[0], self.outer[1], out=self.outer[1])  # proofs of one value may differ by a hair

    def report(self) -> None:
        left = len(self.open(0)) + len(self.open(1))
        closed = 2 * len(self.targets) - left
        if closed > self.done:
            self.progress(closed - self.done)
            self.done = closed


def closed(
    system: System,
    targets: Array,
    progress: Callable[[int], None] = lambda done: None,
    tuning: LinearTuning = LINEAR,
) -> Search:
    """The search with the least and greatest value of each target variable proved and attained, in fractions."""
    return Ends(system, tuning).closed(targets, progress)


class Ends:
    """The same for one system and targets now and then: bounds, witnesses and the last vertices are kept."""

    def __init__(self, system: System, tuning: LinearTuning = LINEAR) -> None:
        self.tuning = tuning
        self.search = Search(system, np.zeros(0, np.int64), lambda done: None)
        self.lanes: list[Lane] = []

    def closed(self, targets: Array, progress: Callable[[int], None]) -> Search:
        """The search with the bounds of these targets proved and attained, too."""
        self.search.ask(targets, progress)
        self._close()
        _determined(self.search)
        return self.search

    def _close(self) -> None:
        """Programs for open bounds until none is left: lanes side by side, a few programs each, then what all know."""
        search, tuning = self.search, self.tuning
        if not len(search.open(0)) and not len(search.open(1)):
            return
        work = len(search.targets) * search.system.rows.shape[0]
        number = parallel.lanes(work, tuning.lane) if work > tuning.small else 1
        self.lanes += [Lane(search.system, k, tuning) for k in range(len(self.lanes), number)]
        lanes = self.lanes[:number]
        for lane in lanes:
            lane.begin(number)
        while len(search.open(0)) or len(search.open(1)):
            if number == 1:
                lanes[0].run(search)
            else:
                search.learn(parallel.side_by_side(lambda lane: lane.run(search.copy()), lanes))
            search.report()


def _determined(search: Search) -> None:
    """Intervals as short as the solver's tolerance are single values if the rows alone say so: by rank, exactly."""
    with np.errstate(invalid="ignore"):
        width = search.outer[1] - search.outer[0]
    size = float(width[np.isfinite(width)].max(initial=1))
    doubtful = np.flatnonzero(search.wanted & (width > 0) & (width <= 1e-6 * size))
    if not len(doubtful):
        return
    from discreet.linear import modular  # takes half a second to load its compiled loops

    rank = modular.rank(search.system.rows)
    for k in doubtful:
        others = np.flatnonzero(np.arange(search.system.size) != k)
        if modular.rank(search.system.rows, others) < rank:
            search.outer[:, k] = np.rint(search.outer[:, k].mean())


class Lane:
    """One line of work on a share of the open bounds: a model that keeps its basis, and random numbers of its own."""

    def __init__(self, system: System, number: int, tuning: LinearTuning) -> None:
        self.tuning = tuning
        self.model = SystemProgram(system, tuning=tuning)
        self.number = number
        self.random = np.random.default_rng(number)
        self.begin(1)

    def begin(self, lanes: int) -> None:
        """Targets that are asked for now are shared by so many lanes; interior points are tried for them first."""
        self.lanes = lanes
        system = self.model.system
        self.pushing = self.model.large and bool(np.isfinite(system.upper - system.lower).all())

    @cached_property
    def interior(self) -> InteriorProgram:
        return InteriorProgram(self.model.system, tuning=self.tuning)

    def run(self, search: Search) -> Search:
        """A few programs, one after the other; what is known then."""
        if self.pushing:
            self.pushing = self._push(search)
            return search
        for _ in range(self.tuning.steps):
            if not self._step(search):
                break
        return search

    def _push(self, search: Search) -> bool:
        """One interior point for all open bounds of this share and a side; whether it closed enough for another.

        Each counts by the part of its interval that it covers, so that many are attained rather than the widest.
        """
        still = [search.open(0), search.open(1)]
        side = int(len(still[1]) > len(still[0]))
        share = still[side][self.number :: self.lanes]
        if len(share) < self.tuning.ends_least:
            return False
        width = (search.outer[1] - search.outer[0])[share]
        cost = np.zeros(search.system.size)
        cost[share] = (1.0 if side == 0 else -1.0) * self.random.uniform(0.5, 1.5, len(share)) / np.maximum(width, 1)
        x = self.interior.minimum_within(cost, search.system.lower, search.system.upper)
        if x is None:
            return False
        before = len(still[0]) + len(still[1])
        search.witness(x)
        return before - len(search.open(0)) - len(search.open(1)) >= self.tuning.ends_least

    def _step(self, search: Search) -> bool:
        """One open bound, pushed with a few companions, then proved; False if there is none in this share."""
        still = [search.open(0), search.open(1)]
        side = int(len(still[1]) > len(still[0]))
        share = still[side][self.number :: self.lanes]
        if not len(share):
            return False
        sign = 1.0 if side == 0 else -1.0
        k = int(self.random.choice(share))
        if search.finite and len(still[side]) > 1:
            cost = np.zeros(search.system.size)
            some = self.random.choice(still[side], min(self.tuning.companions, len(still[side])), replace=False)
            cost[some] = sign * self.tuning.weight * self.random.uniform(0.5, 1.5, len(some))
            cost[k] = sign
            x = self.model.minimum(cost)
            if x is not None:
                search.witness(x)
        if search.is_open(side, k):
            cost = np.zeros(search.system.size)
            cost[k] = sign
            x = self.model.minimum(cost)
            if x is not None:
                search.witness(x)
            search.prove(side, k, -sign * np.inf if x is None else float(x[k]))
        return True
