"""Populations that a table tells about: every category of every variable, whether it stands in a filter or in a row.

A population below the policy's minimum is not broken down. Its own number may stand in a table, how it is made up may
not: neither asked by a filter nor as rows of a wider table. Which populations these are is decided for whole variables
(``whole_variables``), whatever the level that is asked, and on protected counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from discreet.base.annotations import Array
from discreet.data.dimension import Dimension
from discreet.errors import Refused
from discreet.policy.query import Resolved
from discreet.release import Protected, Status
from discreet.tables.layout import Layout

PeopleBy = Callable[[tuple[int, ...]], Array]
"""The protected counts of all combinations of codes of some variables, given by their axes."""


class Withheld(Protocol):
    """Parts of a table that are not given, for a reason of their own."""

    def cells(self, layout: Layout) -> Array:
        """Which cells of a table are among them."""

    def check(self, resolved: Resolved) -> None:
        """Refuse a filter by one of them."""

    def notes(self) -> list[str]:
        """Which they are, for the readers of a table."""


MOST_NAMED = 8  # codes of a variable that a note names
SOMEBODY = 0.5  # people of a population whose number is hidden: not nobody


def population_counts(protected: Protected, axes: Sequence[int]) -> Array:
    """People of every combination of codes of some variables: the count at the totals of all others, as it is shown.

    Where that is not shown, or a variable has no total, what is shown of the inner cells is summed.
    """
    layout = protected.table.layout
    shown = _at_totals(layout, np.asarray(protected.published["count"], float), axes)
    if not np.isnan(shown).any():
        return shown
    inner = np.maximum(np.nan_to_num(protected.shown_inner()), 0)
    summed = np.maximum(_at_totals(layout, layout.aggregate(inner), axes), SOMEBODY)
    return np.where(np.isnan(shown), summed, shown)


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
    values = counts_by_code(layout, cells)
    for axis in reversed([a for a in range(len(layout.dimensions)) if a not in axes]):
        dimension = layout.dimensions[axis]
        if dimension.total is None:
            values = np.take(values, [dimension.position[leaf] for leaf in dimension.leaves], axis=axis).sum(axis=axis)
        else:
            values = np.take(values, dimension.position[dimension.total], axis=axis)
    return np.asarray(values)


def counts_by_code(layout: Layout, cells: Array) -> Array:
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
    areas: Withheld | None = None

    def cells(self, layout: Layout) -> Array:
        """Which cells of a table break one of them down."""
        out = np.zeros(len(layout), bool)
        whole = [d.is_whole[layout.codes[:, k]] for k, d in enumerate(layout.dimensions)]
        for axes, closed in self.by_axes.items():
            if closed.any():
                others = [at for k, at in enumerate(whole) if k not in axes]
                out |= closed[tuple(layout.codes[:, a] for a in axes)] & ~np.logical_and.reduce(others)
        return out if self.areas is None else out | self.areas.cells(layout)

    def check(self, resolved: Resolved) -> None:
        """Refuse a filter by one of them."""
        if self.areas is not None:
            self.areas.check(resolved)
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
        areas = [] if self.areas is None else self.areas.notes()
        if not replace(self, areas=None).cells(layout).any():
            return areas
        parts = []
        for (axis, *more), closed in self.by_axes.items():
            if not more and closed.any():
                d = self.dimensions[axis]
                codes = [d.label(d.codes[k]) for k in np.flatnonzero(closed)]
                listed = ", ".join(codes[:MOST_NAMED]) + (", ..." if len(codes) > MOST_NAMED else "")
                parts.append(f"{d.title}: {listed}")
        named = f" ({'; '.join(parts)})" if parts else ""
        small = f"how populations of fewer than {self.least:,} people are made up"
        return [f"Not shown: {small}, nor that of others where it would tell theirs by subtraction{named}.", *areas]


def without_closed(protected: Protected, closed: Closed) -> Protected:
    """The same table with nothing shown that breaks a closed population down."""
    return without_cells(protected, closed.cells(protected.table.layout))


def without_cells(protected: Protected, gone: Array) -> Protected:
    """The same table without some cells."""
    if not (gone & ~protected.hidden).any():
        return protected
    published = {}
    for name, values in protected.published.items():
        shown = np.array(values, float)
        shown[gone] = np.nan
        published[name] = shown
    status = np.where(gone, Status.PRIMARY.value, protected.status)
    return replace(protected, published=published, status=status)
