"""Populations that a table tells about: every category of every variable, whether it stands in a filter or in a row.

A population below the policy's minimum is not broken down. Its own number may stand in a table, how it is made up may
not: neither asked by a filter nor as rows of a wider table. What could be had by subtraction is not given either: so
many parts of a sum are left out, the smallest first, that together they reach the minimum. All of it is decided on
protected counts.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.base.annotations import Array
from discreet.data.dimension import Dimension
from discreet.errors import Refused
from discreet.policy.policy import Policy
from discreet.policy.query import Resolved
from discreet.release import Protected, Status
from discreet.tables.layout import Layout

PeopleBy = Callable[[tuple[int, ...]], Array]
"""The protected counts of all combinations of codes of some variables, given by their axes."""

MOST_NAMED = 8  # codes of a variable that a note names


def population_counts(protected: Protected, axes: Sequence[int]) -> Array:
    """People of every combination of codes of some variables: the count at the totals of all others, as it is shown.

    Where that is not shown, or a variable has no total, what is shown of the inner cells is summed.
    """
    layout = protected.table.layout
    shown = _at_totals(layout, np.asarray(protected.published["count"], float), axes)
    if not np.isnan(shown).any():
        return shown
    inner = np.maximum(np.nan_to_num(protected.shown_inner()), 0)
    return np.where(np.isnan(shown), _at_totals(layout, layout.aggregate(inner), axes), shown)


def fewest_people(dimensions: Sequence[Dimension], resolved: Resolved, people: PeopleBy) -> float:
    """People in the asked population; the fewest of those that a filter of several codes shows side by side."""
    axes = tuple(k for k, d in enumerate(dimensions) if d.name in resolved.population)
    counts = people(axes)
    if not axes:
        return float(counts)
    codes = [[dimensions[a].index(c) for c in resolved.population[dimensions[a].name][1]] for a in axes]
    return float(counts[np.ix_(*codes)].min())


def _at_totals(layout: Layout, cells: Array, axes: Sequence[int]) -> Array:
    """Values of published cells over all codes of some variables, those of the others at their totals."""
    values = _by_code(layout, cells)
    for axis in reversed([a for a in range(len(layout.dimensions)) if a not in axes]):
        dimension = layout.dimensions[axis]
        if dimension.total is None:
            values = np.take(values, [dimension.position[leaf] for leaf in dimension.leaves], axis=axis).sum(axis=axis)
        else:
            values = np.take(values, dimension.position[dimension.total], axis=axis)
    return np.asarray(values)


def _by_code(layout: Layout, cells: Array) -> Array:
    """Values of published cells as an array over all codes; NaN where no cell is published."""
    values = np.full(int(np.prod(layout.code_shape)), np.nan)
    values[layout.flat] = cells
    return values.reshape(layout.code_shape)


@dataclass(frozen=True, eq=False)
class Closed:
    """Populations of a table that are not broken down, by the axes of the variables that name them."""

    dimensions: tuple[Dimension, ...]
    by_axes: Mapping[tuple[int, ...], Array]
    least: int

    @classmethod
    def of(cls, dimensions: tuple[Dimension, ...], policy: Policy, people: PeopleBy) -> Closed:
        """By the policy's minimum; of as many variables together as a query may have filters, and of each alone."""
        least = policy.table.min_population
        most = min(max(policy.query.max_filters, 1), len(dimensions) - 1) if least > 0 else 0
        every = [axes for n in range(1, most + 1) for axes in itertools.combinations(range(len(dimensions)), n)]
        closed = {axes: _closed(people(axes), [dimensions[a] for a in axes], least) for axes in every}
        return cls(dimensions, closed, least)

    def cells(self, layout: Layout) -> Array:
        """Which cells of a table break one of them down."""
        out = np.zeros(len(layout), bool)
        whole = [_is_total(d)[layout.codes[:, k]] for k, d in enumerate(layout.dimensions)]
        for axes, closed in self.by_axes.items():
            if closed.any():
                others = [at for k, at in enumerate(whole) if k not in axes]
                out |= closed[tuple(layout.codes[:, a] for a in axes)] & ~np.logical_and.reduce(others)
        return out

    def check(self, resolved: Resolved) -> None:
        """Refuse a filter by one of them."""
        names = [d.name for d in self.dimensions]
        axes = tuple(sorted(names.index(name) for name in resolved.population))
        codes = [[self.dimensions[a].index(c) for c in resolved.population[names[a]][1]] for a in axes]
        closed = self.by_axes.get(axes)
        if closed is not None and closed[np.ix_(*codes)].any():
            raise Refused(
                "min_population",
                f"fewer than {self.least:,} people, or its numbers would tell those of so few by subtraction",
                "leave out small codes, or take a coarser level" if resolved.several else "choose a larger population",
            )

    def notes(self, layout: Layout) -> list[str]:
        """What is not shown, for the readers of a table."""
        if not self.cells(layout).any():
            return []
        parts = []
        for (axis, *more), closed in self.by_axes.items():
            if not more and closed.any():
                codes = [self.dimensions[axis].codes[k] for k in np.flatnonzero(closed)]
                listed = ", ".join(codes[:MOST_NAMED]) + (", ..." if len(codes) > MOST_NAMED else "")
                parts.append(f"{self.dimensions[axis].name}: {listed}")
        named = f" ({'; '.join(parts)})" if parts else ""
        return [f"Not shown: how populations of fewer than {self.least:,} people are made up{named}."]


def without_closed(protected: Protected, closed: Closed) -> Protected:
    """The same table with nothing shown that breaks a closed population down."""
    gone = closed.cells(protected.table.layout)
    if not (gone & ~protected.hidden).any():
        return protected
    published = {}
    for name, values in protected.published.items():
        shown = np.array(values, float)
        shown[gone] = np.nan
        published[name] = shown
    status = np.where(gone, Status.PRIMARY.value, protected.status)
    return replace(protected, published=published, status=status)


def _is_total(dimension: Dimension) -> Array:
    """Which codes stand for everybody."""
    size = len(dimension.leaves)
    held = [dimension.leaves_of(code) for code in dimension.codes]
    return np.array([len(leaves) == size and min(leaves.values()) > 0 for leaves in held])


def _closed(people: Array, dimensions: Sequence[Dimension], least: int) -> Array:
    """Combinations of codes with too few people, and the smallest others that stand in one sum with them."""
    closed = people < least
    for k, dimension in enumerate(dimensions):  # with a total it is a population of fewer variables
        closed &= np.expand_dims(~_is_total(dimension), [j for j in range(people.ndim) if j != k])
    for _ in dimensions:
        for k, dimension in enumerate(dimensions):
            for _, parts in dimension.relations:
                if len(parts) > 1 and all(sign > 0 for _, sign in parts):
                    at = [dimension.position[part] for part, _ in parts]
                    _close_sums(np.moveaxis(people, k, -1), np.moveaxis(closed, k, -1), at, least)
    return closed


def _close_sums(people: Array, closed: Array, parts: Sequence[int], least: int) -> None:
    """Close, line by line and in place, the smallest parts of a sum until the closed ones reach the minimum."""
    some = np.maximum(people[..., parts], 0)
    shut = closed[..., parts]
    together = (some * shut).sum(axis=-1)
    needed = (together > 0) & (together < least)
    if not needed.any():
        return
    order = np.argsort(np.where(shut, -1.0, some), axis=-1, kind="stable")  # the closed ones first
    sorted_ = np.take_along_axis(some, order, axis=-1)
    before = np.cumsum(sorted_, axis=-1) - sorted_
    prefix = np.zeros_like(shut)
    np.put_along_axis(prefix, order, before < least, axis=-1)
    closed[..., parts] = shut | (prefix & needed[..., None])
