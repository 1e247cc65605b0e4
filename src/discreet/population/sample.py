"""A sample table and what is known of the population it came from: cells, strata, totals, design weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from discreet.base.arguments import checked
from discreet.errors import InputError, nearest
from discreet.information import Array, Floats, read_values
from discreet.population.loglinear import LogLinear, Terms, loglinear, read_terms

Population: TypeAlias = int | str | Sequence[int] | Mapping[str, int]
"""The size N of the population; one for each stratum; or ``"weights"``: the sum of the design weights."""


@dataclass(frozen=True, eq=False, repr=False)
class SampleCounts:
    """The possible cells of a sample table, sorted by stratum, and the population totals of the strata.

    ``place`` is where each cell stands in the flat table of shape ``shape``; stratum h holds the cells
    edges[h] to edges[h + 1]. ``design`` is the sum of the design weights in each cell, or None.

    >>> sample = read_sample([[3, 0], [1, 2]], 60)
    >>> sample.n, sample.population, sample.left.tolist()
    (6, 60, [54])
    """

    counts: Array
    totals: Array
    edges: Array
    place: Array
    shape: tuple[int, ...]
    design: Floats | None = None
    names: tuple[str, ...] = ()
    labels: tuple[tuple[str, ...], ...] = ()

    @property
    def n(self) -> int:
        """Units in the sample."""
        return int(self.counts.sum())

    @property
    def population(self) -> int:
        """Units in the population."""
        return int(self.totals.sum())

    @cached_property
    def sizes(self) -> Array:
        """Sample size of each stratum."""
        out: Array = np.add.reduceat(self.counts, self.edges[:-1])
        return out

    @property
    def left(self) -> Array:
        """Units of each stratum that were not sampled."""
        out: Array = self.totals - self.sizes
        return out

    @cached_property
    def stratum(self) -> Array:
        """The stratum of each cell."""
        return np.repeat(np.arange(len(self.totals)), np.diff(self.edges))

    @property
    def fraction(self) -> Floats:
        """Sampling fraction p = n/N of the stratum of each cell."""
        out: Floats = (self.sizes / self.totals)[self.stratum]
        return out

    @cached_property
    def evidence(self) -> Floats:
        """What the models of the cells are fitted to: the counts, or the design weights scaled to them by stratum."""
        if self.design is None:
            return self.counts.astype(np.float64)
        sums = np.add.reduceat(self.design, self.edges[:-1])
        out: Floats = self.design * (self.sizes / sums)[self.stratum]
        return out

    @property
    def structural(self) -> Array | None:
        """The cells of the full table that cannot hold anyone; None if all can."""
        mask = np.ones(int(np.prod(self.shape)), dtype=bool)
        mask[self.place] = False
        return mask.reshape(self.shape) if mask.any() else None

    def full(self, values: Array) -> Array:
        """Values of the cells (last axis) laid out in the shape of the table, 0 where no one can be.

        >>> sample = read_sample([[3, 0], [1, 2]], 60)
        >>> sample.full(sample.counts * 10).tolist()
        [[30, 0], [10, 20]]
        """
        out = np.zeros((*values.shape[:-1], int(np.prod(self.shape))), dtype=values.dtype)
        out[..., self.place] = values
        return out.reshape(*values.shape[:-1], *self.shape)

    def model(self, terms: Terms) -> LogLinear:
        """A log-linear model of the evidence.

        >>> read_sample([[3, 1], [1, 1]], 60).model("main").expected.round(2).tolist()
        [[2.67, 1.33], [1.33, 0.67]]
        """
        generators = read_terms(terms, len(self.shape), self.names)
        return loglinear(self.full(self.evidence), generators, structural=self.structural)

    def sums(self, values: Floats) -> Floats:
        """Sums of a number per cell over the cell's stratum, one for each cell.

        >>> sample = read_sample([[3, 0], [1, 2]], [40, 30], strata=0)
        >>> sample.sums(sample.counts.astype(float)).tolist()
        [3.0, 3.0, 3.0, 3.0]
        """
        out: Floats = np.add.reduceat(values, self.edges[:-1])[self.stratum]
        return out


def as_sample(counts: Any, population: Population | None, known: Mapping[str, Any]) -> SampleCounts:
    """A SampleCounts as it is, or made by :func:`read_sample` from counts and what is known of them."""
    if isinstance(counts, SampleCounts):
        if population is not None or known:
            raise InputError("a SampleCounts already knows its population: give it alone")
        return counts
    if population is None:
        raise InputError("population is missing: give N, one N per stratum, or 'weights'")
    return read_sample(counts, population, **known)


@checked
def read_sample(
    counts: Any,
    population: Population,
    *,
    strata: int | str | None = None,
    design: Any = None,
    structural: Any = None,
) -> SampleCounts:
    """Check a sample table against what is said of its population.

    ``counts`` is an array of unweighted counts or a Table (whose weighted counts, structural zeros and dimension names
    are then used too). ``population`` is N, or with ``strata`` (an axis, or a dimension's name) one N per category.
    ``design`` is the sum of the design weights in each cell.

    >>> sample = read_sample([[3, 0], [1, 2]], [40, 30], strata=0)
    >>> sample.n, sample.population, sample.left.tolist()
    (6, 70, [37, 27])
    """
    if hasattr(counts, "layout"):
        counts, names, labels, design, structural = _of_table(counts, design, structural)
    else:
        names, labels = (), ()
    array = _whole(counts)
    weights = None if design is None else _weights(array, design)
    axis = None if strata is None else _strata_axis(strata, names, array.ndim)
    place, edges, used = _strata(array, axis, structural)
    number = 1 if axis is None else array.shape[axis]
    held: Floats | None = None
    if weights is not None:
        rest = tuple(a for a in range(array.ndim) if a != axis)
        held = np.atleast_1d(weights.sum(axis=None if axis is None else rest))
    keys = labels[axis] if axis is not None and labels else ()
    totals = _totals(population, number, held, keys)[used]
    flat = array.ravel()[place].astype(np.int64)
    by_cell = None if weights is None else weights.ravel()[place]
    sample = SampleCounts(flat, totals, edges, place, array.shape, by_cell, names, labels)
    return _consistent(sample, None if held is None else held[used])


def _strata(array: Array, axis: int | None, structural: Any) -> tuple[Array, Array, Array]:
    """The possible cells in order of their stratum, where each stratum begins, and which strata have cells at all."""
    if axis is None and structural is None:
        return np.arange(array.size), np.array([0, array.size]), np.array([0])
    possible = np.ones(array.shape, bool) if structural is None else ~np.asarray(structural, dtype=bool)
    if possible.shape != array.shape:
        raise InputError(f"structural has shape {possible.shape} and the table {array.shape}: give one shape")
    if np.any(array[~possible] > 0):
        raise InputError("somebody is in a cell declared a structural zero: correct the data or the declaration")
    member = np.zeros(array.size, int) if axis is None else np.indices(array.shape)[axis].ravel()
    place = np.flatnonzero(possible.ravel())
    place = place[np.argsort(member[place], kind="stable")]
    used, first = np.unique(member[place], return_index=True)
    return place, np.append(first, len(place)).astype(np.int64), used


def _of_table(table: Any, design: Any, structural: Any) -> tuple[Any, tuple[str, ...], tuple[Any, ...], Any, Any]:
    names = tuple(d.name for d in table.dimensions)
    labels = tuple(d.leaves for d in table.dimensions)
    if design is None and "weighted count" in table.statistics:
        design = table.array("weighted count")
    if structural is None and table.layout.possible is not None:
        structural = ~table.layout.possible.reshape(table.layout.shape)
    return table.array("count"), names, labels, design, structural


def _whole(counts: Any) -> Array:
    array = np.atleast_1d(read_values(counts, "the sample"))
    if np.any(np.rint(array) != array):
        raise InputError(
            "the sample has counts that are not whole: give the numbers of records as counts, and the sums of their "
            "weights as design="
        )
    if array.max(initial=0) >= 1 << 53:
        raise InputError(
            "the sample has a number of 2**53 or more: no count is as large; look for a missing-value code"
        )
    array = array.astype(np.int64)
    if array.sum() <= 0:
        raise InputError("the sample has nobody in it: give a table with one or more")
    return array


def _weights(array: Array, design: Any) -> Floats:
    weights = np.atleast_1d(read_values(design, "design"))
    if weights.shape != array.shape:
        raise InputError(f"design has shape {weights.shape} and the sample {array.shape}: give them cell by cell")
    if np.any((weights > 0) != (array > 0)):
        raise InputError("a cell has a weight and nobody in it, or somebody and no weight: sum the weights by cell")
    return weights


def _strata_axis(strata: int | str, names: Sequence[str], dimensions: int) -> int:
    if isinstance(strata, str):
        if strata not in names:
            raise InputError(f"strata={strata!r} is not a dimension of the table: {nearest(strata, names)}")
        return list(names).index(strata)
    if not 0 <= strata < dimensions:
        raise InputError(f"strata={strata}: the table has axes 0 to {dimensions - 1}")
    return strata


def _totals(population: Population, number: int, held: Floats | None, keys: Sequence[str]) -> Array:
    if isinstance(population, str):
        if population != "weights":
            raise InputError(f"population={population!r}: give N, one N per stratum, or 'weights'")
        if held is None:
            raise InputError("population='weights' needs design weights: pass design=, or a table with weighted counts")
        return np.maximum(np.rint(held), 1).astype(np.int64)
    if isinstance(population, Mapping):
        if not keys:
            raise InputError("population by name needs a table with dimensions and strata= naming one of them")
        if set(population) != set(keys):
            less, more = set(keys) - set(population), set(population) - set(keys)
            raise InputError(
                "population must give one N for every code of the strata and no other: "
                f"{len(less):,} codes have none, {len(more):,} are not codes of the strata"
            )
        population = [population[key] for key in keys]
    sizes = np.atleast_1d(read_values(population, "population"))
    if sizes.shape != (number,):
        raise InputError(
            f"population has {sizes.size} numbers for {number} strata: give one N, or strata= and one N per category"
        )
    if np.any(np.rint(sizes) != sizes) or np.any(sizes < 1):
        raise InputError("population must be whole numbers of 1 or more: the units of each stratum")
    return sizes.astype(np.int64)


def _consistent(sample: SampleCounts, held: Floats | None) -> SampleCounts:
    if np.any(sample.sizes <= 0):
        raise InputError("a stratum has nobody in the sample: merge it with another, no model can say who is there")
    if np.any(sample.left < 0):
        raise InputError(
            "the sample is larger than the population it is said to come from: population is N, not a sampling "
            "fraction and not the number of records"
        )
    if held is not None and np.any(held > sample.totals + np.maximum(0.5, 1e-6 * held)):
        raise InputError(
            "the design weights sum to more than the population: calibrate them to N, or give the N they represent"
        )
    return sample
