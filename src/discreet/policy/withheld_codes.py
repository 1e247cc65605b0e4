"""Codes that are withheld so that no small population follows by adding and subtracting the others.

Every code is a sum of finest ones. Codes that are given tell about everything in their span, over all levels, groups
that cross and groups with a minus at once. So codes are withheld, the smallest first, until no combination of the given
ones is about fewer people than the minimum.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array
from discreet.linear.light_vectors import LightSet, told_sets

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array

MOST_KEPT = 512  # decisions that are remembered
MOST_ROUNDS = 500  # then everything is withheld
MOST_TRIED = 20  # groups that may be given after all
STEPS = 10  # of the codes of a part that is too large to be searched, this part is withheld at a time
_decided: dict[bytes, Array] = {}


@dataclass(frozen=True, eq=False)
class SummedCodes:
    """Codes as sums of finest ones, the people of each as they are shown, and what is not decided here.

    ``leaves``: the code of every finest one. ``fixed``: codes that are given or withheld whatever is found.
    ``given``: of these, whether they are given.
    """

    matrix: csc_array
    leaves: Array
    people: Array
    fixed: Array
    given: Array

    def withheld(self, least: int) -> Array:
        """Which codes are withheld; decided once for the same numbers."""
        name = hashlib.sha256(repr((self.matrix.shape, least)).encode())
        for part in (self.matrix.indptr, self.matrix.indices, self.matrix.data, self.leaves, self.people):
            name.update(np.ascontiguousarray(part).tobytes())
        name.update(np.packbits(np.concatenate([self.fixed, self.given])).tobytes())
        key = name.digest()
        if key not in _decided:
            if len(_decided) >= MOST_KEPT:
                _decided.pop(next(iter(_decided)), None)
            _decided[key] = self._decide(least)
        return _decided[key].copy()

    def _decide(self, least: int) -> Array:
        people = self._of_alike()
        small = (people < least) & ~self.fixed
        withheld = np.where(self.fixed, ~self.given, small)
        if not small.any():
            return withheld
        rows = abs(self.matrix.tocsr()).astype(float)
        signed = self.matrix.tocsr()
        weight = np.maximum(people[self.leaves], 0)
        anyway = _ToldAnyway(self.matrix, self.leaves, self.fixed & self.given, weight)
        for _ in range(MOST_ROUNDS):
            deadline.check()
            open_ = ~withheld & ~self.fixed
            cost = np.where(open_, np.maximum(people, 0) + 1, 0)
            light = list(self._told(signed, weight, withheld, small, least)) if open_.any() else []
            further = np.zeros_like(withheld)
            for one in light:
                further |= self._cheapest(rows, one, weight, withheld, cost, partial(anyway.tells, one, light))
            if not further.any():
                return self._reopened(signed, weight, withheld, small, least)
            withheld |= further
        return np.asarray(withheld | ~self.fixed)

    def _reopened(self, signed: csr_array, weight: Array, withheld: Array, small: Array, least: int) -> Array:
        """The same without what need not be withheld after all, the largest groups first."""
        spare = np.flatnonzero(withheld & ~small & ~self.fixed)
        spare = np.setdiff1d(spare, self.leaves)
        for code in spare[np.argsort(-self.people[spare], kind="stable")][:MOST_TRIED].tolist():
            deadline.check()
            trial = withheld.copy()
            trial[code] = False
            if not any(True for _ in self._told(signed, weight, trial, small, least)):
                withheld = trial
        return withheld

    def _of_alike(self) -> Array:
        """People of codes; the fewest, where several stand for the same, such as a group of one and that one."""
        ends = self.matrix.indptr.tolist()
        fewest: dict[bytes, float] = {}
        sums = []
        for code, (begin, end) in enumerate(itertools.pairwise(ends)):
            one = self.matrix.indices[begin:end].tobytes() + self.matrix.data[begin:end].tobytes()
            sums.append(one)
            if not self.fixed[code]:
                fewest[one] = min(float(self.people[code]), fewest.get(one, np.inf))
        alike = np.array([fewest.get(one, np.inf) for one in sums])
        return np.where(self.fixed, self.people, alike)

    def _told(self, rows: csr_array, weight: Array, withheld: Array, small: Array, least: int) -> Iterable[LightSet]:
        """Sets of finest codes that what is given tells about and that are too few people."""
        at = np.flatnonzero(withheld[self.leaves] & (weight > 0))  # nobody is nothing to tell about
        sums = np.flatnonzero(~withheld)
        for light in told_sets(rows[at][:, sums], weight[at], least):
            yield LightSet(at[light.places], sums[light.sums], light.settled)
        yield from self._small_groups(weight, withheld, small, least)

    def _small_groups(self, weight: Array, withheld: Array, small: Array, least: int) -> Iterable[LightSet]:
        """Small codes that are told although their parts together are not small, by the noise in them."""
        from discreet.linear.modular import in_span

        parts = np.asarray(abs(self.matrix).T.astype(float) @ weight)
        doubtful = np.flatnonzero(small & (self.people > 0) & (parts >= least))
        if not len(doubtful):
            return
        zero = np.zeros(len(withheld), bool)
        zero[self.leaves[weight == 0]] = True  # known to be nobody
        for code in doubtful[in_span(self.matrix, ~withheld | zero, doubtful)]:
            yield LightSet(self._leaves_of(int(code)), np.flatnonzero(~withheld))

    def _leaves_of(self, code: int) -> Array:
        return np.asarray(self.matrix.indices[self.matrix.indptr[code] : self.matrix.indptr[code + 1]])

    def _cheapest(
        self,
        rows: csr_array,
        light: LightSet,
        weight: Array,
        withheld: Array,
        cost: Array,
        told_anyway: Callable[[], bool],
    ) -> Array:
        """Further codes to withhold for a set of finest codes that is told."""
        codes = np.zeros(len(withheld), bool)
        near = np.zeros(len(withheld), bool)
        near[light.sums] = True
        if light.settled:
            joined = self._joined(rows, light, weight, withheld, cost)
            if joined.any() or told_anyway():
                return joined
            while not (near & (cost > 0)).any():
                wider = np.asarray(rows.T @ (rows @ near.astype(float))) > 0
                if (wider == near).all():
                    return codes
                near = wider
        choice = np.flatnonzero(near & (cost > 0))
        number = 1 if light.settled else -(-len(choice) // STEPS)
        codes[choice[np.argsort(cost[choice], kind="stable")[:number]]] = True
        return codes

    def _joined(self, rows: csr_array, light: LightSet, weight: Array, withheld: Array, cost: Array) -> Array:
        """Codes without which one more finest code cannot be told from the set: of the smallest group around it."""
        times = np.asarray(rows[light.places].sum(axis=0)).reshape(-1)
        around = times == len(light.places)
        apart = np.where(around, 0, cost)
        firm = (~withheld & self.fixed & ~around).astype(float)
        groups = np.flatnonzero(around & ~withheld)
        sizes = np.diff(self.matrix.indptr)[groups]
        codes = np.zeros(len(withheld), bool)
        for group in groups[np.argsort(sizes, kind="stable")].tolist():
            places = np.setdiff1d(self._leaves_of(group), light.places)
            places = places[weight[places] > 0]
            price = rows[places] @ apart
            able = (price > 0) & (rows[places] @ firm == 0)
            if able.any():
                place = int(places[able][price[able].argmin()])
                codes[rows.indices[rows.indptr[place] : rows.indptr[place + 1]]] = True
                return codes & (apart > 0)
        return codes


class _ToldAnyway:
    """Which sets follow from what is given whatever is decided: then nothing that is withheld can hide them.

    Finest codes with nobody are known, so the others alone are looked at. ``given``: codes that are, in any case.
    """

    def __init__(self, matrix: csc_array, leaves: Array, given: Array, weight: Array) -> None:
        self._matrix = matrix
        self._somebody = weight > 0
        empty = np.zeros(len(given), bool)
        empty[leaves[~self._somebody]] = True
        self._given = np.flatnonzero(given & ~empty)
        self._found: dict[bytes, bool] = {}

    def tells(self, light: LightSet, among: Sequence[LightSet]) -> bool:
        """Whether a set follows; ``among`` are those that may be asked next, for one elimination does for all."""
        if light.places.tobytes() not in self._found:
            new = [one.places for one in among if one.settled and one.places.tobytes() not in self._found]
            self._look_at(new)
        return self._found[light.places.tobytes()]

    def _look_at(self, sets: Sequence[Array]) -> None:
        from scipy.sparse import csc_array, hstack

        from discreet.linear.modular import in_span

        ends = np.cumsum([0, *map(len, sets)])
        places = np.concatenate(sets)
        columns = csc_array((np.ones(len(places), np.int8), places, ends), shape=(self._matrix.shape[0], len(sets)))
        matrix = csc_array(hstack([self._known, columns.tocsr()[self._somebody]]))
        many = self._known.shape[1]
        told = in_span(matrix, np.arange(many), many + np.arange(len(sets)))
        self._found |= {one.tobytes(): bool(found) for one, found in zip(sets, told, strict=True)}

    @cached_property
    def _known(self) -> csc_array:
        """What is given, over finest codes with somebody in them."""
        from scipy.sparse import csc_array

        return csc_array(self._matrix[:, self._given].tocsr()[self._somebody])
