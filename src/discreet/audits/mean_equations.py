"""Counts and the sums behind their means as one system: what a table of means says of counts that are not shown.

With n people in a cell and s the sum of something over them, a mean m that is shown to d decimals says
``(m - h) n <= s <= (m + h) n``, h half of its last decimal; the sums add up as the counts do. That is linear in n and s
whether n is shown or not, and where m is not shown nothing is said of s but that it adds up. Everything is in whole
numbers: sums are counted in halves of the last decimal, on which the ends of all their intervals lie, or in the unit of
single values, where those are ages in years or visits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.audits.known import Known
from discreet.base.annotations import Array
from discreet.linear.presolve import propagated
from discreet.linear.system import ContradictionError, System

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_FACTOR = 1e7
"""Sums up to which "no people, no sum" is written as an equation, whose factor is the greatest sum."""
LARGEST_SUM = 1e12
"""Sums beyond which the numbers of a program are not exact any more."""


@dataclass(frozen=True, eq=False)
class CellMeans:
    """The means of one thing in the cells of a view, NaN where none is shown; see ``discreet.tables.means``."""

    name: str
    shown: Array
    decimals: Array
    unit: float | None = None

    @property
    def finest(self) -> int:
        """The most decimals of a cell."""
        return int(self.decimals.max(initial=0))

    @property
    def room(self) -> Array:
        """Per cell half of its last decimal, in halves of the finest one."""
        return 10.0 ** (self.finest - self.decimals)

    def step(self, unit: float) -> int:
        """How many halves of the finest decimal a unit of single values is; 1 where they may be any number."""
        return max(round(2 * 10**self.finest * unit), 1) if unit else 1


@dataclass(frozen=True, eq=False)
class MeanSystem:
    """Counts first, then the sums behind each kind of mean, then what is left of inequalities."""

    system: System
    sums: tuple[int, ...]
    """Where the sums of each kind begin; those of a cell stand in the order of the counts."""
    steps: tuple[int, ...]
    loose: bool
    """Whether a cell may hold nobody and its sum was not tied to that."""


def mean_system(
    known: Known, means: tuple[CellMeans, ...], units: tuple[float, ...], *, nonnegative: bool
) -> MeanSystem:
    """The system of counts and sums; ContradictionError where the means do not fit the counts by themselves."""
    plain = Known(
        matrix=known.matrix,
        lower=known.lower,
        upper=known.upper,
        inner_lower=known.inner_lower,
        inner_upper=known.inner_upper,
        integer=known.integer,
        relations=known.relations,
    ).system()
    counts = known.system()
    size, relations = plain.size, plain.rows
    lower, upper = propagated(plain)
    lower, upper = _at_least_one(lower, upper, means)
    parts = _Parts(counts, relations, lower, upper, size)
    inner = known.inner_variables()
    for kind, unit in zip(means, units, strict=True):
        parts.add(kind, kind.step(unit), inner, nonnegative=nonnegative)
    return parts.joined()


def _at_least_one(lower: Array, upper: Array, means: tuple[CellMeans, ...]) -> tuple[Array, Array]:
    """Bounds of counts, those of which a mean is shown one at least."""
    lower = lower.copy()
    for kind in means:
        there = np.flatnonzero(~np.isnan(kind.shown))
        there = there[upper[there] > 0]  # a mean of nobody, as "0.0", says nothing
        lower[there] = np.maximum(lower[there], 1.0)
    if (lower > upper).any():
        raise ContradictionError
    return lower, upper


def _times(factor: Array, count: Array) -> Array:
    """Products, 0 times infinity being 0."""
    with np.errstate(invalid="ignore"):
        return np.where(factor == 0, 0.0, factor * count)


class _Parts:
    """The pieces of a system, as they are put together."""

    def __init__(self, counts: System, relations: csr_array, lower: Array, upper: Array, size: int) -> None:
        self.counts = counts
        self.relations = relations
        self.size = size
        self.lower = [np.concatenate([lower, counts.lower[size:]])]
        self.upper = [np.concatenate([upper, counts.upper[size:]])]
        self.width = counts.size
        self.sums: list[int] = []
        self.steps: list[int] = []
        self.terms: list[tuple[int, int, float]] = []
        """Row, variable and factor of the further equations."""
        self.rows = 0
        self.slacks = 0
        self.loose = False

    def add(self, kind: CellMeans, step: int, inner: Array, *, nonnegative: bool) -> None:
        """The sums behind one kind of mean."""
        count_low, count_high = self.lower[0][: self.size], self.upper[0][: self.size]
        low = np.where(nonnegative & (count_low >= 0), 0.0, -np.inf)
        high = np.full(self.size, np.inf)
        nobody = (count_low == 0) & (count_high == 0)
        low[nobody], high[nobody] = 0.0, 0.0
        half, room = np.full(self.size, np.nan), np.ones(self.size)
        half[: len(kind.shown)] = np.rint(kind.shown * 2 * 10**kind.finest)
        room[: len(kind.shown)] = kind.room
        there = ~np.isnan(half) & ~nobody
        least = np.minimum(_times(half - room, count_low), _times(half - room, count_high))
        most = np.maximum(_times(half + room, count_low), _times(half + room, count_high))
        low = np.where(there, np.maximum(low, np.ceil(least / step - 1e-9)), low)
        high = np.where(there, np.floor(most / step + 1e-9), high)
        low, high = propagated(System(self.relations, np.zeros(self.relations.shape[0]), low, high, True))
        start = self.width
        self.sums.append(start)
        self.steps.append(step)
        self.lower.append(low)
        self.upper.append(high)
        self.width += self.size
        for cell in np.flatnonzero(there & (count_low < count_high)).tolist():
            self._not_less({start + cell: step, cell: -(half[cell] - room[cell])})
            self._not_less({cell: half[cell] + room[cell], start + cell: -step})
        for cell in inner[(count_low[inner] <= 0) & (count_high[inner] > 0) & ~there[inner]].tolist():
            if low[cell] < 0 or high[cell] > MOST_FACTOR:
                self.loose = True
            elif high[cell] > 0:
                self._not_less({cell: high[cell], start + cell: -1.0})

    def _not_less(self, terms: dict[int, float]) -> None:
        """An inequality: the terms less a further variable, which is not negative, are zero."""
        self.terms += [(self.rows, variable, factor) for variable, factor in terms.items()]
        self.terms.append((self.rows, -1 - self.slacks, -1.0))
        self.rows += 1
        self.slacks += 1

    def joined(self) -> MeanSystem:
        """Everything as one system of equations within bounds."""
        from scipy.sparse import block_diag, coo_array, csr_array, hstack, vstack

        equal = block_diag([self.counts.rows, *[self.relations] * len(self.sums)], format="csr")
        equal = hstack([equal, csr_array((equal.shape[0], self.slacks))], format="csr")
        at = np.array([row for row, _, _ in self.terms], np.int64)
        variable = np.array([v if v >= 0 else self.width - 1 - v for _, v, _ in self.terms], np.int64)
        factor = np.array([f for _, _, f in self.terms])
        more = coo_array((factor, (at, variable)), shape=(self.rows, self.width + self.slacks))
        rows = csr_array(vstack([equal, more], format="csr"))
        rows.eliminate_zeros()
        lower = np.concatenate([*self.lower, np.zeros(self.slacks)])
        upper = np.concatenate([*self.upper, np.full(self.slacks, np.inf)])
        system = System(rows, np.zeros(rows.shape[0]), lower, upper, True)
        finite = np.concatenate([lower[np.isfinite(lower)], upper[np.isfinite(upper)]])
        loose = self.loose or bool((np.abs(finite) > LARGEST_SUM).any())
        return MeanSystem(system, tuple(self.sums), tuple(self.steps), loose)
