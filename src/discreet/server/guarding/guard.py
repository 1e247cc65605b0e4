"""The differencing guard: what is asked now, set against what was told before.

A table tells about sets of people: one set of finest codes per variable, crossed, and every union of these, because a
reader can add them up; whether a set was asked as a filter or stands in the rows makes no difference. Two sets that
agree in all variables but one tell of their difference by subtraction; so do any number of them by adding and
subtracting (``combinations``). The guard finds such differences from the geometry of the queries alone and flags one
that nobody was given directly when the policy would not have given it: less than ``min_difference`` or
``min_population`` people, or fewer than ``min_mean`` per cell of the table that the queries cross it with. The number
of people is the count that the policy's method would show for the difference, by the same keys, so a verdict tells no
more than asking for it would.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.data.counted_units import ENGLISH, PEOPLE, counted_words
from discreet.data.dimension import Dimension
from discreet.errors import InputError
from discreet.methods import contract
from discreet.methods.contract import protect
from discreet.policy import Policy, Query
from discreet.policy.area_release import WithheldAreas
from discreet.policy.statistic_answers import counted_query, statistic_of
from discreet.policy.whole_variables import WholeVariables
from discreet.server.counting.counting import Counting
from discreet.server.guarding.combinations import Combinations, Compared, Pair
from discreet.server.guarding.unions import Sets, compare_unions, union
from discreet.tables.additive import Additive
from discreet.tables.layout import Layout
from discreet.tables.table import Table

POPULATION = "population"  # the variable whose codes are sets of people
MOST_COUNTS = 50_000  # protected counts that are kept
Box = tuple[tuple[int, int], ...]  # (axis, set of leaves as bits), for the axes that are not whole


@dataclass(frozen=True)
class Geometry:
    """Which sets of leaves a query tells about along each axis, as numbers of families (see ``Guard.family``)."""

    families: tuple[int, ...]


@dataclass(frozen=True)
class Flag:
    """Why a query was flagged, in words that hold no number of people."""

    rule: str
    reason: str
    hint: str


class Earlier:
    """The families of queries that were told, as rows, each once; more are added as they are told."""

    def __init__(self, queries: Iterable[Geometry] = ()) -> None:
        self._known: dict[tuple[int, ...], None] = {}
        self._rows = _rows(())
        self.add(queries)

    def add(self, queries: Iterable[Geometry]) -> None:
        """Queries that were told."""
        for query in queries:
            self._known.setdefault(query.families)

    def rows(self, more: Iterable[Geometry] = ()) -> Array:
        """All of them, and some that may be told at the same time."""
        if len(self._rows) < len(self._known):
            new = _rows(list(itertools.islice(self._known, len(self._rows), None)))
            self._rows = np.concatenate([self._rows.reshape(-1, new.shape[1]), new])
        blocks = [rows for rows in (self._rows, _rows([query.families for query in more])) if len(rows)]
        return np.concatenate(blocks) if blocks else self._rows


class Guard:
    """Geometry against geometry, and protected counts of the differences."""

    def __init__(self, counting: Counting, policy: Policy, whole: WholeVariables | None = None) -> None:
        self.counting, self.policy, self.rules = counting, policy, policy.guard
        self.decisions = whole
        self.dimensions = counting.dimensions
        self.counted = counted_words(self.dimensions).get(ENGLISH, PEOPLE)
        self.axis = {d.name: k for k, d in enumerate(self.dimensions)}
        self.whole = [(1 << len(d.leaves)) - 1 for d in self.dimensions]
        self.families: list[list[frozenset[int]]] = [[frozenset([whole])] for whole in self.whole]
        self.fewest = max(self.rules.min_difference, policy.table.min_population)
        self._counts: dict[Box, float] = {}
        self.pair = lru_cache(maxsize=200_000)(self._pair)
        self.closed = lru_cache(maxsize=4096)(self._closed)  # decided once
        self.areas_withheld = lru_cache(maxsize=4096)(self._areas_withheld)
        self.combinations = Combinations(self.families, self.pair)

    def geometry(self, query: Query) -> Geometry:
        """What a query tells about: along each axis the filter's codes, the codes of a level and all, or all.

        A filter with several codes tells about each of them and so, as any family does, about their unions.
        """
        families = [0] * len(self.dimensions)
        for name, codes in query.where:
            axis = self.axis[name]
            families[axis] = self.family(axis, frozenset(_bits(self.dimensions[axis], code) for code in codes))
        for name, level in query.variables:
            axis = self.axis[name]
            families[axis] = self.family(axis, _level_sets(self.dimensions[axis], level) | {self.whole[axis]})
        return Geometry(tuple(families))

    def flag(self, query: Query, earlier: Array) -> Flag | None:
        """The first reason to flag a query beside ``Earlier`` ones, or None: its tables are told in turn."""
        for part in told_tables(query):
            told = self._geometries(part)
            flags = (self.check(geometry, earlier) for geometry in told)
            if (flag := next((flag for flag in flags if flag is not None), None)) is not None:
                return flag
            new = _rows([one.families for one in told])
            earlier = np.concatenate([earlier, new]) if len(earlier) else new
        return None

    def geometries(self, query: Query) -> tuple[Geometry, ...]:
        """What all tables of a query tell about."""
        return tuple(one for part in told_tables(query) for one in self._geometries(part))

    def _geometries(self, query: Query) -> tuple[Geometry, ...]:
        """What a table tells about without what it withholds: areas that it is not given for, and codes that it does
        not break down, which stand in it as totals alone. A quantile tells of the counts of its bands."""
        query = counted_query(query, self.policy)
        told = self._broken_down(query)
        area = self.policy.areas.variable
        if area not in query.names or not (gone := self.areas_withheld(query)):
            return told
        axis = self.axis[area]
        shown = [self.family(axis, self.families[axis][one.families[axis]] - gone) for one in told]
        return tuple(
            Geometry((*one.families[:axis], family, *one.families[axis + 1 :]))
            for one, family in zip(told, shown, strict=True)
        )

    def _areas_withheld(self, query: Query) -> Sets:
        """The areas that a table is not given for."""
        resolved = query.resolved(self.dimensions)
        table = replace(self.counting.table(resolved), measure="count")
        areas = WithheldAreas.of(protect(table, self.policy.make(0, [*resolved.levels])), self.policy.areas)
        if areas is None:
            return frozenset()
        dimension = self.dimensions[self.axis[areas.dimension.name]]
        return frozenset(_bits(dimension, areas.dimension.codes[k]) for k in np.flatnonzero(areas.codes))

    def _broken_down(self, query: Query) -> tuple[Geometry, ...]:
        """What a table tells about but for codes that it does not break down."""
        closed = {name: codes for name, level in query.variables if (codes := self.closed(name, level))}
        if not closed or len(query.variables) + len(query.where) < 2:
            return (self.geometry(query),)
        broken_down = list(self.geometry(query).families)
        totals = []
        for name, level in query.variables:
            axis = self.axis[name]
            every = _level_sets(self.dimensions[axis], level) | {self.whole[axis]}
            broken_down[axis] = self.family(axis, every - closed.get(name, frozenset()))
            if name in closed and not query.where:
                families = [0] * len(self.dimensions)
                families[axis] = self.family(axis, every)
                totals.append(Geometry(tuple(families)))
        return (Geometry(tuple(broken_down)), *totals)

    def _closed(self, name: str, level: str) -> Sets:
        """The sets of a level that are not broken down."""
        if self.decisions is None or not self.decisions.most:
            return frozenset()
        dimension = self.dimensions[self.axis[name]]
        closed = self.decisions.of_variables((name,))
        codes = dimension.at_level(level).codes
        return frozenset(_bits(dimension, code) for code in codes if closed[dimension.position[code]])

    def known(self, query: Query) -> tuple[Geometry, ...] | None:
        """What an earlier query tells about; None if it was asked of another codebook."""
        try:
            return self.geometries(query)
        except (KeyError, InputError):
            return None

    def family(self, axis: int, sets: frozenset[int]) -> int:
        """The number of a family of sets along an axis; number 0 is everybody."""
        known = self.families[axis]
        if sets not in known:
            known.append(sets)
        return known.index(sets)

    def check(self, new: Geometry, earlier: Array) -> Flag | None:
        """The first reason to flag a query beside ``Earlier`` ones, or None."""
        if self.rules.action == "off" or not len(earlier):
            return None
        if (axis := self._averaging(new, earlier)) is not None:
            name = self.dimensions[axis].name
            reason = f"many overlapping groups of {name!r} have been asked"
            return Flag("guard_overlap", reason, "stay with one classification")
        covering = self.combinations.covers(new.families, earlier)
        # What one table has told is judged beside the others, so that it takes as long, and is given.
        left_over = self.differences(new, earlier[~covering] if covering.any() else earlier)
        few = [
            axis
            for (box, (axis, cells)), people in zip(left_over.items(), self.counts(list(left_over)), strict=True)
            if (people < self.fewest or people < self.policy.table.min_mean * cells)
            and not (cells == 1 and self.combinations.tells(dict(box), earlier))
        ]
        if not few or covering.any():
            return None
        return Flag(  # the first axis, whatever the order of earlier questions: all servers say the same
            "guard_difference",
            f"together with earlier tables, this one would single out a few {self.counted} by "
            f"{self.dimensions[min(few)].name!r}",
            "ask for a population that differs more from earlier ones, or for the same one",
        )

    # -- geometry -----------------------------------------------------------------------------------------------

    def differences(self, new: Geometry, earlier: Array) -> dict[Box, tuple[int, int]]:
        """Sets of people that the new query and an earlier one tell about by subtraction and neither tells directly.

        With each set the axis along which it is left over, and into how many cells both queries cross it. All earlier
        queries at once: per axis a small table says what each family has in common with the new one, and most queries
        fall away because they differ in two axes or because nothing is left over.
        """
        beside = [self.combinations.compared(axis, mine) for axis, mine in enumerate(new.families)]
        places = self.combinations.places(earlier)
        apart = self.combinations.looked_up(places, lambda axis: beside[axis].apart)
        left = self.combinations.looked_up(places, lambda axis: beside[axis].left)
        blocked = apart.sum(axis=0)
        open_ = left & ((blocked == 0) | apart) & (blocked <= 1)
        told: dict[Box, tuple[int, int]] = {}
        for axis in np.flatnonzero(open_.any(axis=1)).tolist():
            self._tell(told, new, earlier[open_[axis]], axis, beside)
        for sets, axis, cells in self.combinations.told_together(new.families, earlier, places, apart):
            box = tuple(sorted((k, bits) for k, bits in sets.items() if bits != self.whole[k]))
            first, most = told.get(box, (axis, 0))
            told[box] = (min(axis, first), max(cells, most))
        return told

    def _tell(
        self,
        differences: dict[Box, tuple[int, int]],
        new: Geometry,
        earlier: Array,
        axis: int,
        beside: Sequence[Compared],
    ) -> None:
        """Note what is left along an axis, within the sets that both queries tell about along the others.

        Of earlier queries that have the same sets in common with the new one, the one of most cells says it all.
        """
        others = [k for k in range(len(beside)) if k != axis]
        shared = [(k, beside[k].shared, self.whole[k]) for k in others]
        key, cells = earlier[:, axis].astype(np.int64), np.ones(len(earlier), np.int64)
        for k in others:
            key = key * beside[k].numbers + beside[k].number[earlier[:, k]]
            cells *= beside[k].cells[earlier[:, k]]
        _, first_row, group = np.unique(key, return_index=True, return_inverse=True)
        most_cells = np.zeros(len(first_row), np.int64)
        np.maximum.at(most_cells, group, cells)
        for families, number in zip(earlier[first_row].tolist(), most_cells.tolist(), strict=True):
            context = [(k, bits) for k, sets, whole in shared if (bits := sets[families[k]]) != whole]
            for over in self.pair(axis, new.families[axis], families[axis]).left:
                box = tuple(sorted((*context, (axis, over))))
                first, most = differences.get(box, (axis, 0))
                differences[box] = (min(axis, first), max(number, most))

    def _pair(self, axis: int, mine: int, other: int) -> Pair:
        a, b = self.families[axis][mine], self.families[axis][other]
        both, left = compare_unions(a, b)
        return Pair(shared=union(both), cells=max(len(both), 1), left=left)

    def _averaging(self, new: Geometry, earlier: Array) -> int | None:
        """The axis of which too many groups were asked that cut across one that is asked now."""
        for axis, mine in enumerate(new.families):
            known = set(np.bincount(earlier[:, axis]).nonzero()[0].tolist()) - {mine}
            others = frozenset().union(*(self.families[axis][other] for other in known)) - self.families[axis][mine]
            if any(_crossing(one, others) >= self.rules.max_overlaps for one in self.families[axis][mine]):
                return axis
        return None

    # -- people -------------------------------------------------------------------------------------------------

    def counts(self, boxes: Sequence[Box]) -> list[float]:
        """How many people the policy's method would show for each set; nothing shown counts as nobody."""
        known = self._counts  # another thread may begin a new one meanwhile
        new = [box for box in dict.fromkeys(boxes) if box not in known]
        if len(known) + len(new) > MOST_COUNTS:
            known, new = {}, list(dict.fromkeys(boxes))
            self._counts = known
        for some in [new] if self._separate is not None and new else [[box] for box in new]:
            known.update(zip(some, self._shown(some), strict=True))
        return [known[box] for box in boxes]

    @cached_property
    def _separate(self) -> Any:
        """The policy's method as it shows sets that have nothing to do with each other; None if it cannot."""
        method = self.policy.make(0, [POPULATION])
        if contract(self.policy.methods[0][0]).cellwise:
            return method
        return method.separately(POPULATION) if hasattr(method, "separately") else None

    def _shown(self, boxes: Sequence[Box]) -> list[float]:
        """A table of these sets and nothing else, protected."""
        sums = [self._sums(dict(box)) for box in boxes]
        names = [hashlib.sha256(repr(box).encode()).hexdigest() for box in boxes]
        layout = Layout.of([Dimension.flat(POPULATION, names, total=None)])
        inner = {name: np.concatenate([one[name] for one in sums]) for name in sums[0]}
        table = Table(layout, {name: Additive(v, layout.aggregate(v)) for name, v in inner.items()})
        method = self._separate or self.policy.make(0, [POPULATION])
        shown = np.asarray(method(table).published["count"], float)
        return [0.0 if np.isnan(n) else float(n) for n in shown]

    def _sums(self, box: Mapping[int, int]) -> dict[str, Array]:
        return self.counting.people({self.dimensions[axis].name: _positions(bits) for axis, bits in box.items()})


def _rows(families: Sequence[tuple[int, ...]]) -> Array:
    return np.fromiter(itertools.chain.from_iterable(families), np.int64).reshape(len(families), -1 if families else 0)


def told_tables(query: Query) -> tuple[Query, ...]:
    """The tables that a query tells of. A share of the total of a filter's variable tells of the table without that
    filter, too: whoever has the count divides it by the share.

    >>> [str(one) for one in told_tables(Query.of("sex", where="area=B", statistic="percent-area"))]
    ['percent-area: sex where area=B', 'sex']
    """
    shared, filters = statistic_of(query), dict(query.where)
    if not shared.is_share or shared.other not in filters:
        return (query,)
    others = {name: codes for name, codes in filters.items() if name != shared.other}
    return query, Query.of(dict(query.variables), where=others, measure=query.measure)


def query_from_line(canonical: str) -> Query:
    """The query that a line of the store holds."""
    return Query.from_dict(json.loads(canonical))


@lru_cache(maxsize=4096)
def _crossing(one: int, others: frozenset[int]) -> int:
    """How many sets have something in common with one and lie neither within nor around it."""
    return sum(1 for other in others if one & other and one & ~other and other & ~one)


@lru_cache(maxsize=4096)
def _level_sets(dimension: Dimension, level: str) -> frozenset[int]:
    """The sets that a table at this level tells about: the level's codes and the groups above them."""
    return frozenset(_bits(dimension, code) for code in dimension.at_level(level).codes)


def _bits(dimension: Dimension, code: str) -> int:
    return union(1 << dimension.leaf_position[leaf] for leaf, sign in dimension.leaves_of(code).items() if sign > 0)


def _positions(bits: int) -> list[int]:
    return [k for k in range(bits.bit_length()) if bits >> k & 1]
