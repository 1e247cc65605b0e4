"""Codes of two variables that are withheld because together they tell about a small population.

What is told of one code of a variable less one of another is about the people in one and not in the other: all without
a passport less those who seek asylum are the stateless, if nobody else is without. So of every two variables the codes
that are given are looked at together, over the shown counts of both, and the cheapest are withheld until no combination
of them is about fewer people than the minimum.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array
from discreet.data.dimension import Dimension
from discreet.linear.light_cuts import INSIDE, OUTSIDE, light_cut

if TYPE_CHECKING:
    from scipy.sparse import csr_array

PairCounts = Callable[[str, str], Array]
"""Shown counts of the finest codes of two variables."""


@dataclass
class _Variable:
    """A variable while its codes are withheld: ``people`` of each code, as shown, and which are ``fixed``."""

    rows: csr_array
    people: Array
    fixed: Array
    withheld: Array

    def classes(self) -> tuple[Array, Array]:
        """Finest codes that no given code tells apart: a member of each class, and the class of each finest code."""
        numbers: dict[bytes, int] = {}
        first = []
        label = np.zeros(self.rows.shape[0], np.int64)
        for place, (begin, end) in enumerate(itertools.pairwise(self.rows.indptr.tolist())):
            codes = self.rows.indices[begin:end]
            key = (self.rows.data[begin:end] * (codes + 1))[~self.withheld[codes]].tobytes()
            if key not in numbers:
                numbers[key] = len(numbers)
                first.append(place)
            label[place] = numbers[key]
        return np.array(first), label

    def merging(self, inside: Array, outside: Array) -> tuple[float, Array]:
        """The least cost of codes without which a class of each side are the same, and these codes."""
        codes = np.zeros(len(self.people), bool)
        if not len(inside) or not len(outside):
            return np.inf, codes
        cost = np.where(self.fixed | self.withheld, 0.0, np.maximum(self.people, 0) + 1)
        first, second = self.rows[inside], self.rows[outside]
        price = np.add.outer(abs(first) @ cost, abs(second) @ cost)
        for part, other_part in ((first > 0, second > 0), (first < 0, second < 0)):
            price = price - 2 * (part.multiply(cost[None, :]).tocsr() @ other_part.T.astype(float)).toarray()
        one, other = np.unravel_index(int(price.argmin()), price.shape)
        apart = (first[[one]] - second[[other]]).toarray().reshape(-1)
        codes[apart != 0] = True
        return float(price[one, other]), codes & (cost > 0)


def withheld_together(
    dimensions: Mapping[str, Dimension],
    fixed: Mapping[str, Array],
    withheld: Mapping[str, Array],
    people: Mapping[str, Array],
    pair_counts: PairCounts,
    least: int,
) -> dict[str, Array]:
    """The codes of every variable that are withheld, those among them that are withheld for its own sake.

    ``fixed`` codes stand for everybody and are always given. Pairs are taken in order; what is withheld for one makes
    no other less safe, so each is looked at once.
    """
    variables = {
        name: _Variable(
            rows=_signs(d),
            people=np.asarray(people[name], float),
            fixed=fixed[name],
            withheld=withheld[name].copy(),
        )
        for name, d in dimensions.items()
    }
    for one, other in itertools.combinations(variables, 2):
        if len(variables[one].classes()[0]) > 1 and len(variables[other].classes()[0]) > 1:
            _withhold(variables[one], variables[other], pair_counts(one, other), least)
    return {name: variable.withheld for name, variable in variables.items()}


def _withhold(first: _Variable, second: _Variable, counts: Array, least: int) -> None:
    """Withhold codes of two variables until no cut of their given classes is light."""
    both = (first, second)
    while True:
        deadline.check()
        members = []
        weights = np.maximum(counts, 0)
        for axis, variable in enumerate(both):
            places, label = variable.classes()
            members.append(places)
            weights = _summed(weights, label, len(places), axis)
        sides = light_cut(weights, least)
        if sides is None:
            return
        met = list(zip(both, members, sides, strict=True))
        choices = [variable.merging(places[side == INSIDE], places[side == OUTSIDE]) for variable, places, side in met]
        if choices[0][0] == choices[1][0] == np.inf:  # one variable on each side: join them to others
            choices = [variable.merging(places[side >= 0], places[side < 0]) for variable, places, side in met]
        cheaper = int(choices[1][0] < choices[0][0])
        if choices[cheaper][0] == np.inf:  # everybody is few
            for variable in both:
                variable.withheld |= ~variable.fixed
            return
        both[cheaper].withheld |= choices[cheaper][1]


def _signs(dimension: Dimension) -> csr_array:
    """Which codes every finest one is part of, -1 where it is taken away."""
    from scipy.sparse import csr_array

    rows = csr_array(dimension.matrix).astype(np.int64)
    rows.sort_indices()
    rows.data = np.sign(rows.data)
    return rows


def _summed(values: Array, label: Array, size: int, axis: int) -> Array:
    """Values added up over the members of every class, along an axis."""
    from scipy.sparse import csr_array

    members = csr_array((np.ones(len(label)), (label, np.arange(len(label)))), shape=(size, len(label)))
    return np.asarray(members @ values if axis == 0 else (members @ values.T).T)
