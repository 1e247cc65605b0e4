"""Populations that are not broken down, decided once for all codes of a variable and so for every table of it.

A table at one level shows some of the codes, a filter one of them. Whoever asks for several tables has all their codes,
so what may be shown is decided on the whole variable: its levels, its groups that cross, its groups with a minus.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.data.dimension import Dimension
from discreet.methods.contract import protect
from discreet.policy.held_tables import HeldTables
from discreet.policy.joint_populations import withheld_together
from discreet.policy.policy import Policy
from discreet.policy.populations import Closed, population_counts
from discreet.policy.query import Query, Resolved
from discreet.policy.withheld_codes import SummedCodes
from discreet.tables.table import Table

TableOf = Callable[[Resolved], Table]
MOST_CODES = 50_000  # combinations of codes of several variables; of more, none is broken down


class WholeVariables:
    """The decisions for the variables of some data under a policy, each made when it is first needed.

    ``above`` are those of policies for users who are given the answers of this one, too: what they withhold is withheld
    here, so that both together tell no more than theirs. Set it before anything is decided. ``held`` keeps what is
    decided for tables that are asked again and again.
    """

    def __init__(self, dimensions: Sequence[Dimension], policy: Policy, table_of: TableOf) -> None:
        self.dimensions = {d.name: d for d in dimensions}
        self.least = policy.table.min_population
        self.above: Sequence[WholeVariables] = ()
        self.held = HeldTables()
        self._own_most = _together(policy) if self.least > 0 else 0
        self._policy = policy
        self._table_of = table_of
        self._closed: dict[tuple[str, ...], Array] = {}

    @property
    def most(self) -> int:
        """Of how many variables together populations are looked at."""
        return max([self._own_most, *(other.most for other in self.above)])

    def closed(self, dimensions: Sequence[Dimension]) -> Closed:
        """What a table of these variables, at whatever levels, may not break down: codes of each variable, and of as
        many together as are looked at."""
        by_axes: dict[tuple[int, ...], Array] = {}
        for axes in _choices(range(len(dimensions)), min(self.most, len(dimensions) - 1)):
            chosen = [dimensions[axis] for axis in axes]
            whole = self.of_variables(tuple(d.name for d in chosen))
            at = [[self.dimensions[d.name].position[code] for code in d.codes] for d in chosen]
            by_axes[axes] = whole[np.ix_(*at)]
        return Closed(tuple(dimensions), by_axes, self.least)

    def of_variables(self, names: tuple[str, ...]) -> Array:
        """Which combinations of codes of some variables are not broken down, over all codes of each."""
        if names not in self._closed and len(names) == 1:
            self._decide_single()
        elif names not in self._closed:
            fewer = {one: self.of_variables(one) for one in _choices(names, len(names) - 1)}
            self._closed[names] = self._decide(names, fewer)
        return self._closed[names]

    def is_decided(self, names: Collection[str]) -> bool:
        """Whether a table of these variables can be made at once."""
        ordered = [name for name in self.dimensions if name in names]
        return all(one in self._closed for one in _choices(ordered, min(self.most, len(ordered) - 1)))

    def decide_all(self, most_codes: float = math.inf) -> None:
        """Decide for every variable, and for every two of them, so that nobody who asks waits for it: the smallest
        first, until they have so many combinations of codes together."""
        if self.most > 0:
            self._decide_single()
        combinations = 0
        for pair in self.pairs():
            combinations += self._combinations(pair)
            if combinations > most_codes:
                return
            self.of_variables(pair)

    def pairs(self) -> list[tuple[str, ...]]:
        """Every two variables that are looked at together, those with the fewest combinations of codes first."""
        names = [name for name in self.dimensions if name not in self._policy.query.disallowed]
        return sorted(itertools.combinations(names, 2), key=self._combinations) if self.most > 1 else []

    def _combinations(self, names: Sequence[str]) -> int:
        return math.prod(len(self.dimensions[name].codes) for name in names)

    def _decide_single(self) -> None:
        """The codes of every variable: what it tells by itself, and what codes of two variables tell of a third."""
        names = [name for name in self.dimensions if name not in self._policy.query.disallowed]
        alone = {name: self._decide((name,), {}) for name in self.dimensions}
        if self.least > 0 and len(names) > 2:  # of two, neither breaks down what both of them tell
            dimensions = {name: self.dimensions[name] for name in names}
            fixed = {name: d.is_whole for name, d in dimensions.items()}
            people = {name: self.people((name,)) for name in names}
            alone |= withheld_together(dimensions, fixed, alone, people, self._finest_pairs, self.least)
        self._closed |= {(name,): withheld for name, withheld in alone.items()}

    def _finest_pairs(self, one: str, other: str) -> Array:
        """Protected counts of the finest codes of two variables."""
        places = [[d.position[leaf] for leaf in d.leaves] for d in (self.dimensions[one], self.dimensions[other])]
        return np.asarray(self.people((one, other))[np.ix_(*places)])

    def _decide(self, names: tuple[str, ...], fewer: Mapping[tuple[str, ...], Array]) -> Array:
        dimensions = [self.dimensions[name] for name in names]
        shape = tuple(len(d.codes) for d in dimensions)
        fixed = np.zeros(shape, bool)
        for k, dimension in enumerate(dimensions):  # with a total it is a population of fewer variables
            fixed |= _along(dimension.is_whole, [k], shape)
        shut = np.zeros(shape, bool)
        for one, closed in fewer.items():
            shut |= _along(closed, [names.index(name) for name in one], shape)
        for other in self.above:
            if len(names) <= other.most:
                shut |= other.of_variables(names)
        if len(names) > 1 and math.prod(shape) > MOST_CODES:
            return np.asarray(~fixed)
        codes = SummedCodes(
            matrix=reduce(_crossed, [d.matrix for d in dimensions]),
            leaves=_leaves(dimensions, shape),
            people=self.people(names).reshape(-1),
            fixed=(fixed | shut).reshape(-1),
            given=~shut.reshape(-1),
        )
        return np.asarray(codes.withheld(self.least).reshape(shape) & ~fixed)

    def people(self, names: tuple[str, ...]) -> Array:
        """Protected counts of all combinations of codes of some variables, by the policy's first method."""
        asked = {*names, *(d.name for d in self.dimensions.values() if d.total is None)}
        resolved = Query.of({name: name for name in asked}).resolved(self.dimensions.values())
        table = replace(self._table_of(resolved), measure="count")  # of people, where there are weights
        protected = protect(table, self._policy.make(0, [*resolved.levels]))
        place = {d.name: k for k, d in enumerate(protected.table.dimensions)}
        axes = [place[name] for name in names]
        counts = population_counts(protected, axes)  # in the order of the table
        return np.asarray(np.transpose(counts, np.argsort(np.argsort(axes)))) if len(axes) > 1 else counts


def _together(policy: Policy) -> int:
    """As many variables as there may be filters. A table of three tells about pairs of codes in its rows as a filter
    would, so these count too; not in a population that was drawn, whose small counts are nobody's."""
    rows = 2 if policy.query.max_dimensions > 2 and not policy.draws_population else 1
    return max(policy.query.max_filters, rows)


def _choices(of: Sequence[Any], most: int) -> list[tuple[Any, ...]]:
    """Some of them together, from one to a number of them."""
    return [chosen for number in range(1, most + 1) for chosen in itertools.combinations(of, number)]


def _along(values: Array, axes: Sequence[int], shape: Sequence[int]) -> Array:
    """An array over some axes, spread over all of them."""
    size = [length if k in axes else 1 for k, length in enumerate(shape)]
    return np.broadcast_to(values.reshape(size), shape)


def _crossed(first: Any, second: Any) -> Any:
    from scipy.sparse import csc_array, kron

    matrix = csc_array(kron(first, second, format="csc"))
    matrix.sort_indices()
    return matrix


def _leaves(dimensions: Sequence[Dimension], shape: tuple[int, ...]) -> Array:
    """The number of every combination of finest codes among all combinations."""
    places = [np.array([d.position[leaf] for leaf in d.leaves]) for d in dimensions]
    grid = np.meshgrid(*places, indexing="ij")
    return np.asarray(np.ravel_multi_index([g.reshape(-1) for g in grid], shape))
