"""Components that need linear programmes: HiGHS, one model, objective changed, basis kept, as few runs as will do.

Every optimal point is a witness: a bound that some point already attains needs no programme of its own. Each programme
pushes a few more open bounds along with the one it is about; a bound that is proved is propagated to its neighbours.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.base import deadline, parallel
from discreet.errors import Unjudged
from discreet.linear.presolve import ContradictionError, System, propagated

Array = NDArray[Any]
COMPANIONS = 3  # open bounds pushed along with the one that a programme is about
WEIGHT = 0.01  # of a companion
SMALL = 20_000  # targets times rows up to which one lane does
LANE = 5_000_000  # the same for each lane of large components
STEPS = 8  # programmes of a lane before it learns what the others have found
UNSETTLED = "the solver settles a linear program of this audit neither way; what it is about is unknown, not safe"


class Model:
    """One component in HiGHS, moved to the lower bounds and scaled so that its tolerances are far below one unit."""

    def __init__(self, system: System, *, scale: float | None = None) -> None:
        import highspy

        self.system = system
        self.shift = np.where(
            np.isfinite(system.lower), system.lower, np.where(np.isfinite(system.upper), system.upper, 0)
        )
        self.scale = scale_of(system) if scale is None else scale
        rows, n = system.rows, system.size
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = n, rows.shape[0]
        lp.col_cost_ = np.zeros(n)
        lp.col_lower_, lp.col_upper_ = (
            (system.lower - self.shift) / self.scale,
            (system.upper - self.shift) / self.scale,
        )
        lp.row_lower_ = lp.row_upper_ = (system.rhs - rows @ self.shift) / self.scale
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = rows.indptr, rows.indices, rows.data
        self.highs = highspy.Highs()
        for name, value in {
            "output_flag": False, "presolve": "off", "solver": "simplex", "simplex_strategy": 4, "threads": 1,
            "parallel": "off", "random_seed": 1,
        }.items():  # fmt: skip
            self.highs.setOptionValue(name, value)
        self.highs.passModel(lp)
        self.all = np.arange(n, dtype=np.int32)
        self.cost = np.zeros(n)

    def minimum(self, cost: Array) -> Array | None:
        """A point where the cost is least, None if it has no least value.

        ContradictionError only where infeasibility is proved; a solver that gives up is Unjudged.
        """
        import highspy

        states = highspy.HighsModelStatus
        changed = np.flatnonzero(cost != self.cost).astype(np.int32)
        self.highs.changeColsCost(len(changed), changed, cost[changed])
        self.cost = cost
        status = self._run()
        if status not in (states.kOptimal, states.kUnbounded, states.kInfeasible):
            self.highs.clearSolver()  # forget a basis that led nowhere and try once more from scratch
            status = self._run()
        if status == states.kUnboundedOrInfeasible:  # without a cost nothing is unbounded: is there a point at all?
            self.minimum(np.zeros(self.system.size))
            return None
        if status == states.kUnbounded:
            return None
        if status == states.kInfeasible:
            raise ContradictionError
        if status != states.kOptimal:
            raise Unjudged(UNSETTLED)
        return self.point()

    def _run(self) -> Any:
        deadline.run(self.highs)
        return self.highs.getModelStatus()

    def point(self) -> Array:
        """The present solution in the system's own units."""
        x = np.asarray(self.highs.getSolution().col_value) * self.scale + self.shift
        near = np.rint(x)
        x = np.where(np.abs(x - near) <= max(1e-6, 1e-6 * self.scale), near, x)
        clipped: Array = np.clip(x, self.system.lower, self.system.upper)
        return clipped


def scale_of(system: System) -> float:
    """What to divide by so that the longest interval is at most 10,000 and tolerances stay far below a unit."""
    with np.errstate(invalid="ignore"):
        width = system.upper - system.lower
    return max(1.0, float(width[np.isfinite(width)].max(initial=1)) / 1e4)


def feasible(system: System) -> Array:
    """Any solution; ContradictionError if there is none."""
    found = Model(system).minimum(np.zeros(system.size))
    if found is None:  # nothing is unbounded without a cost
        raise Unjudged(UNSETTLED)
    return found


class Search:
    """Outer bounds (proved) and inner bounds (attained by a witness) of the targets, closing in on each other."""

    def __init__(self, system: System, targets: Array, progress: Callable[[int], None]) -> None:
        self.system, self.targets, self.progress = system, targets, progress
        n = system.size
        self.outer = np.array([system.lower, system.upper])  # [0] least, [1] greatest
        self.inner = np.array([np.full(n, np.inf), np.full(n, -np.inf)])
        self.whole = self.inner.copy()  # the same over witnesses in whole numbers
        self.wanted = np.zeros(n, bool)
        self.wanted[targets] = True
        self.doubt = np.zeros(n, bool)  # short intervals of which nobody knows whether they hold two whole values
        self.tolerance = 1e-6 * scale_of(system)
        self.finite = bool(np.isfinite(self.outer).all())
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
        other.outer, other.inner, other.whole = self.outer.copy(), self.inner.copy(), self.whole.copy()
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


def bounds(
    system: System, targets: Array, progress: Callable[[int], None] = lambda done: None
) -> tuple[Array, Array, Array]:
    """Least and greatest value of each target variable, and whether that is settled in whole numbers too."""
    search = Search(system, targets, progress)
    _close(search)
    _determined(search)
    if system.integer:
        from discreet.linear.integer import settle

        settle(search)
    return search.outer[0][targets], search.outer[1][targets], ~search.doubt[targets]


def _determined(search: Search) -> None:
    """Intervals as short as the solver's tolerance are single values if the rows alone say so: by rank, exactly."""
    with np.errstate(invalid="ignore"):
        width = search.outer[1] - search.outer[0]
    size = float(width[np.isfinite(width)].max(initial=1))
    doubtful = np.flatnonzero(search.wanted & (width > 0) & (width <= 1e-6 * size))
    if not len(doubtful):
        return
    from discreet.linear import modular

    rank = modular.rank(search.system.rows)
    for k in doubtful:
        others = np.flatnonzero(np.arange(search.system.size) != k)
        if modular.rank(search.system.rows, others) < rank:
            search.outer[:, k] = np.rint(search.outer[:, k].mean())


def _close(search: Search) -> None:
    """Programmes for open bounds until none is left: lanes side by side, a few programmes each, then what all know."""
    work = len(search.targets) * search.system.rows.shape[0]
    number = parallel.lanes(work, LANE) if work > SMALL else 1
    lanes = [Lane(search.system, k, number) for k in range(number)]
    while len(search.open(0)) or len(search.open(1)):
        if number == 1:
            lanes[0].run(search)
        else:
            search.learn(parallel.side_by_side(lambda lane: lane.run(search.copy()), lanes))
        search.report()


class Lane:
    """One line of work on a share of the open bounds: a model that keeps its basis, and random numbers of its own."""

    def __init__(self, system: System, number: int, lanes: int) -> None:
        self.model, self.number, self.lanes = Model(system), number, lanes
        self.random = np.random.default_rng(number)

    def run(self, search: Search) -> Search:
        """A few programmes, one after the other; what is known then."""
        for _ in range(STEPS):
            if not self._step(search):
                break
        return search

    def _step(self, search: Search) -> bool:
        """One open bound, pushed with a few companions, then proved; False if there is none in this share."""
        still = [search.open(0), search.open(1)]
        side = int(len(still[1]) > len(still[0]))
        share = still[side][self.number :: self.lanes]
        if not len(share):
            return False
        sign = 1.0 if side == 0 else -1.0
        k = int(self.random.choice(share))
        if search.finite:
            cost = np.zeros(search.system.size)
            some = self.random.choice(still[side], min(COMPANIONS, len(still[side])), replace=False)
            cost[some] = sign * WEIGHT * self.random.uniform(0.5, 1.5, len(some))
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
