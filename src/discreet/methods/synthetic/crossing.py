"""Which margins of a cube are measured: some variables crossed, each at one of its levels of detail."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.base.annotations import Array
from discreet.data.dimension import Dimension
from discreet.data.microdata import Microdata
from discreet.methods.keys import category_keys
from discreet.methods.records.record_columns import leaf_codes, record_keys
from discreet.tables.layout import Layout
from discreet.tables.table import Table

MOST_CROSSINGS = 400  # margins that are fitted at once: every one is looked at for every record
MOST_CELLS = 4_000_000  # of one margin


@dataclass(frozen=True, eq=False)
class InnerCells:
    """The cells of a cube that are not empty: their finest codes by position, their counts and sums of record keys."""

    dimensions: tuple[Dimension, ...]
    codes: Array
    count: Array
    key: Array | None
    possible: Array | None

    @classmethod
    def of(cls, table: Table) -> InnerCells:
        """Of a table, whatever it publishes."""
        layout, counts = table.layout, table.statistic("count").inner
        at = np.flatnonzero(counts)
        codes = np.stack(np.unravel_index(layout.inner[at], layout.shape), axis=1).astype(np.int32)
        key = table.statistics["key"].inner[at] if "key" in table.statistics else None
        return cls(layout.dimensions, codes, counts[at], key, layout.possible)

    @classmethod
    def of_records(cls, data: Microdata) -> InnerCells:
        """Of records, where there are too many combinations of codes for a cube."""
        every = np.stack([leaf_codes(data, d.name) for d in data.dimensions], axis=1).astype(np.int32)
        codes, at, count = np.unique(every, axis=0, return_inverse=True, return_counts=True)
        key = None
        if data.codebook.key is not None or (data.secret is not None and data.codebook.unit is not None):
            key = np.zeros(len(codes), np.uint64)
            np.add.at(key, at.ravel(), record_keys(data))
        return cls(tuple(data.dimensions), codes, count, key, None)

    @property
    def shape(self) -> tuple[int, ...]:
        """Finest codes by variable."""
        return tuple(len(d.leaves) for d in self.dimensions)

    @property
    def size(self) -> int:
        """Combinations of finest codes, empty ones included."""
        return math.prod(self.shape)


@dataclass(frozen=True, eq=False)
class Crossing:
    """Some variables of a cube, each at one level: a table of which every record lies in one cell.

    ``groups`` has for each axis the number of the code of the level that each finest code belongs to.
    """

    axes: tuple[int, ...]
    groups: tuple[Array, ...]
    dimensions: tuple[Dimension, ...]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Codes by axis."""
        return tuple(len(d.leaves) for d in self.dimensions)

    @property
    def size(self) -> int:
        """Cells."""
        return math.prod(self.shape)

    @property
    def order(self) -> int:
        """Variables that are crossed."""
        return len(self.axes)

    def steps(self) -> list[Array]:
        """For each axis what a finest code adds to the number of the cell."""
        strides = [math.prod(self.shape[k + 1 :]) for k in range(len(self.shape))]
        return [group * stride for group, stride in zip(self.groups, strides, strict=True)]

    def cell(self, codes: Array) -> Array:
        """The number of the cell of each record."""
        number = np.zeros(len(codes), np.int64)
        for axis, step in zip(self.axes, self.steps(), strict=True):
            number += step[codes[:, axis]]
        return number

    def words(self) -> NDArray[np.uint64]:
        """A number for each cell from the names of its codes."""
        return category_keys(Layout.of(self.dimensions), inner=True)


def crossings(dimensions: Sequence[Dimension], order: int) -> list[Crossing]:
    """All tables of one to ``order`` variables at all levels, finest first within an order; as many as can be fitted.

    Those of one and two variables always stand; larger ones, and those of too many cells, are left out from the end.
    """
    every = [crossing for n in range(1, order + 1) for crossing in _of_order(dimensions, n)]
    kept = [crossing for crossing in every if crossing.size <= MOST_CELLS]
    needed = sum(crossing.order <= 2 for crossing in kept)
    return kept[: max(needed, MOST_CROSSINGS)]


def measured_sets(dimensions: Sequence[Dimension], order: int) -> tuple[frozenset[frozenset[str]], int]:
    """The sets of variables all of whose levels are measured together, and how many tables are measured in all.

    >>> sets, tables = measured_sets([Dimension.flat("sex", "fm"), Dimension.flat("area", "ns")], 2)
    >>> len(sets), tables
    (3, 3)
    """
    names = tuple(d.name for d in dimensions)
    sizes = tuple(tuple(len(codes) for name, codes in d.levels.items() if name != "total")[::-1] for d in dimensions)
    return _measured(names, sizes, order)


@lru_cache(maxsize=64)
def _measured(
    names: tuple[str, ...], sizes: tuple[tuple[int, ...], ...], order: int
) -> tuple[frozenset[frozenset[str]], int]:
    """The same from the number of codes of every level, finest first, in the order of ``crossings``."""
    every: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    for number in range(1, order + 1):
        combined = list(itertools.combinations(range(len(names)), number))
        finest = [(axes, (0,) * number) for axes in combined]
        coarser = [(axes, at) for axes in combined for at in itertools.product(*(range(len(sizes[a])) for a in axes))]
        every += dict.fromkeys([*finest, *coarser])
    fits = [math.prod(sizes[a][level] for a, level in zip(*one, strict=True)) <= MOST_CELLS for one in every]
    standing = [one for one, fit in zip(every, fits, strict=True) if fit]
    needed = sum(len(axes) <= 2 for axes, _ in standing)
    kept = set(standing[: max(needed, MOST_CROSSINGS)])
    lacking = {axes for axes, at in every if (axes, at) not in kept}
    whole = {axes for axes, _ in every} - lacking
    return frozenset(frozenset(names[a] for a in axes) for axes in whole), len(kept)


def _of_order(dimensions: Sequence[Dimension], order: int) -> Iterator[Crossing]:
    levels = [[name for name in d.levels if name != "total"][::-1] for d in dimensions]
    combinations = list(itertools.combinations(range(len(dimensions)), order))
    finest = [(axes, tuple(levels[a][0] for a in axes)) for axes in combinations]
    coarser = [(axes, names) for axes in combinations for names in itertools.product(*(levels[a] for a in axes))]
    for axes, names in dict.fromkeys([*finest, *coarser]):
        at = [(dimensions[a], name) for a, name in zip(axes, names, strict=True)]
        yield Crossing(axes, tuple(_groups_at(d, n) for d, n in at), tuple(_flat_at(d, n) for d, n in at))


def _groups_at(dimension: Dimension, level: str) -> Array:
    """The number of the level's code that holds each finest code."""
    number = {leaf: k for k, code in enumerate(dimension.level(level)) for leaf in dimension.leaves_of(code)}
    return np.array([number[leaf] for leaf in dimension.leaves], np.int64)


def _flat_at(dimension: Dimension, level: str) -> Dimension:
    """The codes of a level and nothing above them."""
    return Dimension.flat(dimension.name, dimension.level(level), total=None)
