"""The interval of each variable of a system: made smaller, taken apart, each part solved in the cheapest exact way."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from discreet.base.annotations import Array, Progress
from discreet.linear import extremes, network
from discreet.linear.components import components
from discreet.linear.integer import settle
from discreet.linear.presolve import Step, back, forward, reduce, steps_for, to_fixpoint
from discreet.linear.program import any_solution
from discreet.linear.system import System


def solve(system: System, targets: Array, progress: Progress | None = None) -> tuple[Array, Array]:
    """Least and greatest value of each target variable; ContradictionError if the system has no solution."""
    lower, upper, _ = settled(system, targets, progress)
    return lower, upper


def settled(system: System, targets: Array, progress: Progress | None = None) -> tuple[Array, Array, Array]:
    """The same, and which intervals are settled.

    One is not where it is short and the search for a second whole value ran out of time.
    """
    small, steps = reduce(system)
    wanted = forward(steps, targets)
    lower = small.lower.copy()
    upper = small.upper.copy()
    sure = np.ones(small.size, bool)
    total = 2 * max(len(targets), 1)
    tell = Tell(progress, total, total - 2 * len(wanted))
    for part, variables in components(small):
        local = np.flatnonzero(np.isin(variables, wanted, assume_unique=True))
        at = variables[local]
        lower[at], upper[at], sure[at] = exact(part, local, tell)
    tell.finish()
    lower, upper, known = _led_back(steps, lower, upper, sure)
    return lower[targets], upper[targets], known[targets]


def exact(system: System, targets: Array, tell: Tell) -> tuple[Array, Array, Array]:
    """The interval of each target of one part in the cheapest way that is exact, and whether it is settled."""
    return Part(system).exact(targets, tell)


class Part:
    """One part that hangs together, for targets now and then: what was worked out for the last ones is kept."""

    def __init__(self, system: System) -> None:
        self.system = system

    @cached_property
    def _bounds(self) -> tuple[Array, Array] | None:
        return by_propagation(self.system)

    @cached_property
    def _flows(self) -> network.FlowBounds | None:
        net = network.network(self.system.rows)
        finite = np.isfinite(self.system.lower).all() and np.isfinite(self.system.upper).all()
        return network.FlowBounds(self.system, net) if net is not None and finite else None

    @cached_property
    def _ends(self) -> extremes.Ends:
        return extremes.Ends(self.system)

    def exact(self, targets: Array, tell: Callable[[int], None]) -> tuple[Array, Array, Array]:
        """The interval of each target in the cheapest way that is exact, and whether it is settled."""
        sure = np.ones(len(targets), bool)
        if self._bounds is not None:
            tell(2 * len(targets))
            return self._bounds[0][targets], self._bounds[1][targets], sure
        if not len(targets):
            self.check()
            return self.system.lower[targets], self.system.upper[targets], sure
        if self._flows is not None:
            return self._flows(targets, tell)
        search = self._ends.closed(targets, tell)
        if self.system.integer:
            settle(search)
        return search.outer[0][targets], search.outer[1][targets], ~search.doubt[targets]

    def check(self) -> None:
        """ContradictionError if there is no solution; one that is known beforehand need not be looked for."""
        if self._bounds is None and (self.system.point is None or not self.system.fits(self.system.point)):
            any_solution(self.system)


class OnDemand:
    """The intervals of one system, worked out when they are asked for and kept: made smaller and taken apart once.

    They are those of ``settled``. ContradictionError at once if the system has no solution. Not for two threads.

    >>> from scipy.sparse import csr_array
    >>> rows = csr_array([[1.0, 1.0, 1.0]])
    >>> system = System(rows, np.array([4.0]), np.zeros(3), np.array([1.0, 2.0, 9.0]), True)
    >>> [ends.tolist() for ends in OnDemand(system).settled(np.array([2]))]
    [[1.0], [4.0], [True]]
    """

    def __init__(self, system: System) -> None:
        small, self.steps = reduce(system)
        self.lower = small.lower.copy()
        self.upper = small.upper.copy()
        self.sure = np.ones(small.size, bool)
        self.part_of = np.full(small.size, -1, np.int64)  # -1 once the interval is known
        self.place = np.zeros(small.size, np.int64)  # of each variable in its part
        self.parts: list[Part] = []
        for system_of_part, variables in components(small):
            part = Part(system_of_part)
            part.check()
            self.part_of[variables] = len(self.parts)
            self.place[variables] = np.arange(len(variables))
            self.parts.append(part)

    def settled(self, targets: Array, progress: Progress | None = None) -> tuple[Array, Array, Array]:
        """Least and greatest value of each target, and which intervals are settled."""
        steps, wanted = steps_for(self.steps, targets)
        open_ones = wanted[self.part_of[wanted] >= 0]
        total = 2 * max(len(targets), 1)
        tell = Tell(progress, total, total - 2 * len(open_ones))
        for number in np.unique(self.part_of[open_ones]):
            at = open_ones[self.part_of[open_ones] == number]
            self.lower[at], self.upper[at], self.sure[at] = self.parts[number].exact(self.place[at], tell)
        self.part_of[open_ones] = -1
        tell.finish()
        return _led_back(steps, self.lower[wanted], self.upper[wanted], self.sure[wanted])


def _led_back(steps: Sequence[Step], lower: Array, upper: Array, sure: Array) -> tuple[Array, Array, Array]:
    """Intervals of the first variables from those of the last.

    What is not sure may be one value only: a target that would be another interval then is not sure either.
    """
    least, most = back(steps, np.where(sure, lower, upper), upper)
    lower, upper = back(steps, lower, upper)
    return lower, upper, (least == lower) & (most == upper)


def by_propagation(system: System) -> tuple[Array, Array] | None:
    """The intervals of all variables of one part where propagation alone gives them exactly, else None.

    It does in a tree, where every branch is told what the others leave it, once no row tightens anything any more;
    in whole numbers only with factors of one (2x - 2y = z never gives an odd z, which no bound says).
    """
    if not is_tree(system) or (system.integer and (np.abs(system.rows.data) != 1).any()):
        return None
    lower, upper, fixpoint = to_fixpoint(system)
    return (lower, upper) if fixpoint else None


def is_tree(system: System) -> bool:
    """Whether rows and variables hang together without a circle."""
    return bool(system.rows.nnz == sum(system.rows.shape) - 1)


class Tell:
    """Counts finished bounds from several threads and passes the count on."""

    def __init__(self, progress: Progress | None, total: int, done: int) -> None:
        self.progress = progress
        self.total = total
        self.done = done
        self.lock = threading.Lock()

    def __call__(self, more: int) -> None:
        with self.lock:
            self.done = min(self.done + more, self.total)
            if self.progress is not None:
                self.progress(self.done, self.total)

    def finish(self) -> None:
        self(self.total)
