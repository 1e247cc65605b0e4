"""The interval of each variable of a system: made smaller, taken apart, each part solved in the cheapest exact way."""

from __future__ import annotations

import threading

import numpy as np

from discreet.base.annotations import Array, Progress
from discreet.linear import extremes, network
from discreet.linear.components import components
from discreet.linear.integer import settle
from discreet.linear.presolve import back, forward, reduce, to_fixpoint
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
    # what is not sure may be one value only: a target that would be another interval then is not sure either
    least, most = back(steps, np.where(sure, lower, upper), upper)
    lower, upper = back(steps, lower, upper)
    known = (least == lower) & (most == upper)
    return lower[targets], upper[targets], known[targets]


def exact(system: System, targets: Array, tell: Tell) -> tuple[Array, Array, Array]:
    """The interval of each target of one part in the cheapest way that is exact, and whether it is settled."""
    sure = np.ones(len(targets), bool)
    bounds = by_propagation(system)
    if bounds is not None:
        tell(2 * len(targets))
        return bounds[0][targets], bounds[1][targets], sure
    if not len(targets):
        any_solution(system)
        return system.lower[targets], system.upper[targets], sure
    net = network.network(system.rows)
    if net is not None and np.isfinite(system.lower).all() and np.isfinite(system.upper).all():
        return network.bounds(system, net, targets, tell)
    search = extremes.closed(system, targets, tell)
    if system.integer:
        settle(search)
    return search.outer[0][targets], search.outer[1][targets], ~search.doubt[targets]


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
