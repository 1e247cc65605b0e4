"""Margins measured with noise: all that a fitted population knows of the true one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.base.annotations import Array, Floats
from discreet.methods.keys import Secret, mix, unit_interval
from discreet.methods.synthetic.crossing import Crossing, InnerCells
from discreet.methods.synthetic.small_groups import Level, crossed_level, of_large_groups

Words = NDArray[np.uint64]
Noise = Callable[[Crossing | None, Words], Array]
"""Whole numbers of noise for the cells of a crossing (None: of the total), given a number for each cell."""

EMPTY = 20.0  # weight of a cell that is to stay empty: a record enters it with a chance of e**-20


@dataclass(frozen=True, eq=False)
class NoisyMargin:
    """What was measured of a crossing: noisy counts, and how much each weighs in the fit (0: not measured)."""

    crossing: Crossing
    goal: Floats
    weight: Floats


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """How margins are measured.

    Every count of one and two variables, and of more those whose noisy count is above ``large``, gets noise of variance
    ``v``. A noisy count below ``zero`` is taken as 0: a small count may be gone, and an empty cell may be filled.
    ``group``: a count of more than two variables is measured only if every two of its codes have so many people.
    """

    v: float
    large: float
    zero: float
    group: float = 0.0

    @property
    def room(self) -> float:
        """Variance that a fitted count may have around its noisy one: less than the noise, so that sums stay useful."""
        return self.v / 3

    def margins(self, cells: InnerCells, every: Iterable[Crossing], noise: Noise) -> list[NoisyMargin]:
        """The noisy margins of a cube."""
        found = [self._margin(cells, crossing, noise) for crossing in every]
        pairs = {_levels(m.crossing): m.goal for m in found if m.crossing.order == 2}
        measured = [m.crossing for m in found]
        return [self._of_large_groups(m, pairs, measured) if m.crossing.order > 2 else m for m in found]

    def _of_large_groups(
        self, margin: NoisyMargin, pairs: Mapping[tuple[Level, Level], Floats], every: Sequence[Crossing]
    ) -> NoisyMargin:
        if not self.group:
            return margin
        kept = of_large_groups(margin.crossing, margin.weight > 0, pairs, every, self.group)
        return replace(margin, weight=np.where(kept, margin.weight, 0.0))

    def total(self, cells: InnerCells, noise: Noise) -> int:
        """The noisy number of records."""
        word = cells.key.sum(dtype=np.uint64) if cells.key is not None else np.uint64(0)
        return max(0, int(cells.count.sum()) + int(noise(None, np.array([word], np.uint64))[0]))

    def _margin(self, cells: InnerCells, crossing: Crossing, noise: Noise) -> NoisyMargin:
        number = crossing.cell(cells.codes)
        true = np.bincount(number, weights=cells.count, minlength=crossing.size)
        words = crossing.words()
        if cells.key is not None:  # the same set of records has the same noise in every margin
            sums = np.zeros(crossing.size, np.uint64)
            np.add.at(sums, number, cells.key)
            words = np.where(true > 0, sums, words)
        goal = np.maximum(true + noise(crossing, words), 0.0)
        weight = np.full(crossing.size, 1 / (2 * self.room))
        if crossing.order > 2:
            weight[goal <= self.large] = 0.0
        else:
            goal[goal < self.zero] = 0.0
            weight[goal == 0] = EMPTY
        return NoisyMargin(crossing, goal, weight)


def _levels(crossing: Crossing) -> tuple[Level, Level]:
    """The levels of the two variables of a crossing."""
    return crossed_level(crossing, 0), crossed_level(crossing, 1)


def default_zero(v: float) -> int:
    """The noisy count below which a margin's cell is taken as empty.

    >>> default_zero(3.0)
    3
    """
    return math.ceil(1.7 * math.sqrt(v))


def keyed_noise(v: float, secret: Secret) -> Noise:
    """Noise by the discrete normal law of variance about ``v``, looked up with a cell's number under a secret."""
    values, ends = _discrete_normal(v)

    def noise(crossing: Crossing | None, words: Words) -> Array:
        return values[np.searchsorted(ends, unit_interval(mix(words, secret.key("margin"))), side="right")]

    return noise


@lru_cache(maxsize=16)
def _discrete_normal(v: float) -> tuple[Array, Floats]:
    """Whole numbers and where the chance of each ends: P(x) in proportion to exp(-x**2 / 2v)."""
    most = math.ceil(8 * math.sqrt(v)) + 1
    values = np.arange(-most, most + 1)
    chance = np.exp(-(values**2) / (2 * v))
    return values, (np.cumsum(chance) / chance.sum())[:-1]
