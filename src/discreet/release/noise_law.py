"""How far the true value may be from a shown one, from the method alone: laws of noise without any secret.

A law knows the published parameters of a method and nothing of the data, so that the likely range of a number tells
nothing that the number and the method do not.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from discreet.base.annotations import Array, Floats
from discreet.data.dimension import Dimension
from discreet.release.sum_errors import LEVEL, OWN_ENDS, SumErrors

__all__ = ["LEVEL", "CellNoise", "FittedNoise", "NoNoise", "NoiseLaw", "ShownCells", "SummedNoise"]
DEVIATIONS = 1.645  # standard deviations to each side that hold 90 % of a normal law

Ranges = tuple[Floats, Floats]


@dataclass(frozen=True, eq=False)
class ShownCells:
    """The cells of a release as a law needs them: codes, shown values (NaN where hidden), and the population.

    ``fixed`` are the variables of the population, each with the code that all cells have.
    """

    dimensions: tuple[Dimension, ...]
    codes: Array
    values: Floats
    fixed: tuple[tuple[Dimension, str], ...] = ()

    @property
    def parts(self) -> Array:
        """Of how many inner cells each cell is the sum."""
        number = np.full(len(self.codes), math.prod(len(d.leaves_of(code)) for d, code in self.fixed))
        for k, dimension in enumerate(self.dimensions):
            sizes = np.array([len(dimension.leaves_of(code)) for code in dimension.codes])
            number = number * sizes[self.codes[:, k]]
        return number

    @property
    def crossed(self) -> Array:
        """Which variables break a cell down, one column each: those of ``dimensions``, then those of ``fixed``."""
        columns = [~dimension.is_whole[self.codes[:, k]] for k, dimension in enumerate(self.dimensions)]
        columns += [np.full(len(self.codes), not d.is_whole[d.index(code)]) for d, code in self.fixed]
        return np.stack(columns, axis=1) if columns else np.zeros((len(self.codes), 0), bool)

    def summed_over(self, axis: int) -> Floats:
        """For each cell the shown value of the cell that has the whole of one dimension instead; NaN if there is none.

        >>> sex = Dimension.flat("sex", ["f", "m"])
        >>> ShownCells((sex,), np.array([[0], [1], [2]]), np.array([9.0, 5.0, 4.0])).summed_over(0).tolist()
        [9.0, 9.0, 9.0]
        """
        whole = np.flatnonzero(self.dimensions[axis].is_whole)
        values = np.full(len(self.codes), np.nan)
        if not len(whole):
            return values
        shape = [len(d.codes) for d in self.dimensions]
        dense = np.full(math.prod(shape), np.nan)
        dense[np.ravel_multi_index(tuple(self.codes.T), shape)] = self.values
        at = [self.codes[:, k] if k != axis else np.full(len(self.codes), whole[0]) for k in range(len(shape))]
        return np.asarray(dense[np.ravel_multi_index(tuple(at), shape)])


class NoiseLaw(ABC):
    """What a method's published parameters say of true values behind shown ones."""

    @abstractmethod
    def ranges(self, cells: ShownCells) -> Ranges:
        """The likely least and greatest true value of each cell; NaN where nothing is shown or nothing can be said."""

    def errors(self, cells: ShownCells) -> SumErrors | None:
        """What cells add to the likely range of a sum of them; None if nothing can be said of sums."""
        return None


@dataclass(frozen=True)
class NoNoise(NoiseLaw):
    """What is shown is true.

    >>> NoNoise().ranges(ShownCells((), np.zeros((2, 0), int), np.array([3.0, np.nan])))[0].tolist()
    [3.0, nan]
    """

    def ranges(self, cells: ShownCells) -> Ranges:
        """The shown values themselves."""
        return cells.values, cells.values

    def errors(self, cells: ShownCells) -> SumErrors:
        """A sum is true as well."""
        return SumErrors(np.zeros(len(cells.values), np.int64), np.zeros((1, 5)))


@dataclass(frozen=True, eq=False)
class CellNoise(NoiseLaw):
    """Noise of each cell on its own: ``below[j]`` and ``above[j]`` say how far from a shown count j the true one lies.

    A shown count beyond the last is as the last that is congruent to it modulo ``period``. ``summed`` has for every
    shown count what it adds to the range of a sum, as rows of :class:`SumErrors`.
    """

    below: Array
    above: Array
    period: int = 1
    summed: Floats | None = None

    def ranges(self, cells: ShownCells) -> Ranges:
        """By look-up of the shown count."""
        gone = np.isnan(cells.values)
        shown = np.where(gone, 0, cells.values).astype(np.int64)
        row = self._row(shown)
        low = np.where(gone, np.nan, np.maximum(shown - self.below[row], 0))
        return low, np.where(gone, np.nan, shown + self.above[row])

    def errors(self, cells: ShownCells) -> SumErrors | None:
        """By look-up of the shown count: errors of different cells are independent."""
        if self.summed is None:
            return None
        return SumErrors(self._row(np.nan_to_num(cells.values).astype(np.int64)), self.summed)

    def _row(self, shown: Array) -> Array:
        """The row of each shown count."""
        last = len(self.below) - 1
        return np.clip(np.where(shown <= last, shown, last - (last - shown) % self.period), 0, last)


@dataclass(frozen=True)
class SummedNoise(NoiseLaw):
    """Inner counts rounded to a base, everything else their sum.

    Of an inner cell the bounds hold for certain. A sum of n has a variance of at most n base² / 4, and as the numbers
    that go up are fixed, half a base of bias.
    """

    base: int
    kept: bool = False
    """Whether inner counts above the base stay as they are."""
    most_steps: int | None = None
    """How many bases a sum may be away at most; None: as many as it has parts."""
    total: int | None = None
    """How far the total of the whole table may be away, where that is known."""

    def ranges(self, cells: ShownCells) -> Ranges:
        """Bounds of inner cells, ranges of sums."""
        parts, shown = cells.parts, cells.values
        certain = parts * (self.base - 1.0)
        if self.most_steps is not None:
            certain = np.minimum(certain, self.most_steps * self.base - 1.0)
        width = np.minimum(certain, np.ceil(DEVIATIONS * self.base / 2 * np.sqrt(parts) + self.base / 2))
        width = np.where(parts > 1, width, self.base - 1.0)
        if self.total is not None:
            width = np.where(cells.crossed.any(axis=1), width, self.total)
        below, above = width, width
        if self.kept:  # an inner count above the base is the true one
            inner = parts == 1
            below = np.where(inner, np.where(shown == self.base, self.base - 1.0, 0.0), width)
            above = np.where(inner, np.where(shown == 0, self.base - 1.0, 0.0), width)
        return np.maximum(shown - below, 0), shown + above

    def errors(self, cells: ShownCells) -> SumErrors:
        """By the number of inner cells in a sum, each of which is less than a base away."""
        parts, shown = cells.parts.astype(float), np.nan_to_num(cells.values)
        below = above = parts * (self.base - 1.0)
        if self.kept:
            inner = parts == 1
            below = np.where(inner & (shown != self.base), 0.0, below)
            above = np.where(inner & (shown != 0), 0.0, above)
        chance = np.where(below + above > 0, parts * (DEVIATIONS * self.base / 2) ** 2, 0.0)
        by_cell = np.stack([np.zeros_like(parts), np.zeros_like(parts), chance, below, above], axis=1)
        rows, kinds = np.unique(by_cell, axis=0, return_inverse=True)
        return SumErrors(kinds.reshape(-1), rows, self.base / 2)


@dataclass(frozen=True, eq=False)
class FittedNoise(NoiseLaw):
    """Counts of a population that was fitted to noisy margins.

    Margins of one and two variables are measured with noise of variance ``v``, and the fit leaves a third of it again;
    a noisy count below ``zero`` becomes none. Counts of more variables are measured only above ``large``: smaller ones
    are what a model tells, of which the method says no more than that they were below that, and no greater than the
    margins they lie in. ``measured`` has the sets of names that are measured together.
    """

    v: float
    zero: float
    large: float
    measured: frozenset[frozenset[str]]

    @property
    def reach(self) -> float:
        """How far a measured count may be from the true one."""
        return math.ceil(DEVIATIONS * math.sqrt(self.v * 4 / 3))

    def ranges(self, cells: ShownCells) -> Ranges:
        """By whether a cell was measured, and by the margins that are shown with it."""
        shown, crossed, reach = cells.values, cells.crossed, self.reach
        names = [d.name for d in cells.dimensions] + [d.name for d, _ in cells.fixed]
        is_measured = self._is_measured(crossed, names)
        few = crossed.sum(axis=1) <= 2
        low = np.maximum(shown - reach, 0)
        empty = self.zero - 1 + math.ceil(DEVIATIONS * math.sqrt(self.v))
        high = np.where(shown < self.zero, np.maximum(shown + reach, empty), shown + reach)
        modelled = ~is_measured | (~few & (shown <= self.large + reach))
        top = np.where(is_measured, np.maximum(high, self.large + reach), np.inf)
        for axis in range(len(cells.dimensions)) if modelled.any() else ():
            margin = cells.summed_over(axis)
            held = crossed[:, axis] & np.isfinite(margin)
            top = np.where(held, np.minimum(top, margin + reach), top)
        low = np.where(modelled, 0.0, low)
        high = np.where(modelled, np.maximum(top, shown), high)
        gone = np.isnan(shown)
        return np.where(gone, np.nan, low), np.where(gone | np.isinf(high), np.nan, high)

    def errors(self, cells: ShownCells) -> SumErrors:
        """Chance adds up in measured counts; what a model tells, and small counts that noise removes, may err alike."""
        names = [d.name for d in cells.dimensions] + [d.name for d, _ in cells.fixed]
        crossed, shown = cells.crossed, np.nan_to_num(cells.values)
        measured = self._is_measured(crossed, names) & ((crossed.sum(axis=1) <= 2) | (shown > self.large + self.reach))
        kinds = np.where(measured & (shown >= self.zero + self.reach), 0, OWN_ENDS)
        variance = self.v * 4 / 3
        return SumErrors(kinds, np.array([[0.0, 0.0, variance / (1 - LEVEL), np.inf, np.inf]]))

    def _is_measured(self, crossed: Array, names: Sequence[str]) -> Array:
        """Which cells are of variables that were measured together, so far as their counts are large enough."""
        number = crossed @ (1 << np.arange(len(names)))
        out = number == 0
        for size in range(1, len(names) + 1):
            for axes in combinations(range(len(names)), size):
                if frozenset(names[a] for a in axes) in self.measured:
                    out |= number == sum(1 << a for a in axes)
        return np.asarray(out)
