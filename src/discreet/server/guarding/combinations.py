"""Sets of people that several earlier queries tell only together with a new one: along one variable, or along two.

Queries add up along one variable where they tell about the same people along all others. These are the contexts: for
every earlier query the largest population that it and the new one make up, and all queries that make it up as well.
What follows along the variable, or along two at once, is linear algebra (``spans``).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from discreet.base.annotations import Array
from discreet.server.guarding.spans import MOST_KEPT, Boxes, Spaces, derived_boxes, derived_sets
from discreet.server.guarding.unions import Sets, adds_up, atoms, union

Families = tuple[int, ...]
MOST_PAIRS = 1 << 16  # of families along two variables that are counted one by one
MOST_CONTEXTS = 200  # populations along the other variables that are looked at for one variable


class Pair(NamedTuple):
    """Two families along an axis: the largest set both make up (0: none), its pieces, and what subtraction leaves."""

    shared: int
    cells: int
    left: tuple[int, ...]


class Compared(NamedTuple):
    """A family along an axis beside all that are known: what it shares with each, by number, and what is left."""

    shared: tuple[int, ...]
    number: Array  # of the shared set among those that differ
    numbers: int
    cells: Array
    apart: Array
    left: Array


class Left(NamedTuple):
    """A set by its codes along some axes, the first axis that it is left along, and the cells it is crossed into."""

    sets: dict[int, int]
    axis: int
    cells: int


class Combinations:
    """Of the families that a guard knows, by axis and number; ``pair`` compares two of them."""

    def __init__(self, families: list[list[Sets]], pair: Callable[[int, int, int], Pair]) -> None:
        self.families, self.pair = families, pair
        self._tables: dict[tuple[str, int, int], Array] = {}
        self._compared: dict[tuple[int, int], Compared] = {}
        self.spaces = [Spaces(some) for some in families]
        self._left: dict[tuple[int, int, tuple[int, int], bytes], Boxes] = {}

    def compared(self, axis: int, family: int) -> Compared:
        """A family beside all families of its axis; kept until there are more of them."""
        known = self._compared.get((axis, family))
        if known is not None and len(known.shared) == len(self.families[axis]):
            return known
        pairs = [self.pair(axis, family, other) for other in range(len(self.families[axis]))]
        numbers = {one: n for n, one in enumerate(dict.fromkeys(pair.shared for pair in pairs))}
        new = self._compared[axis, family] = Compared(
            shared=tuple(pair.shared for pair in pairs),
            number=np.array([numbers[pair.shared] for pair in pairs]),
            numbers=len(numbers),
            cells=np.array([pair.cells for pair in pairs]),
            apart=np.array([pair.shared == 0 for pair in pairs]),
            left=np.array([bool(pair.left) for pair in pairs]),
        )
        if len(self._compared) > 10_000:
            self._compared = {}
        return new

    def covers(self, new: Families, earlier: Array) -> Array:
        """Which earlier queries have told all sets of the new one, crossed as there."""
        includes = self.looked_up(self.places(earlier), lambda k: self._table("includes", k, new[k]))
        return np.asarray(includes.all(axis=0))

    def places(self, earlier: Array) -> Array:
        """Where the families of queries stand when those of all axes are numbered through, a row for each axis."""
        starts = itertools.accumulate((len(some) for some in self.families[:-1]), initial=0)
        return np.ascontiguousarray((earlier + np.fromiter(starts, np.int64, len(self.families))).T)

    def looked_up(self, places: Array, of: Callable[[int], Array]) -> Array:
        """What holds for the families of an axis, for each axis and query: one look for all of them."""
        return np.concatenate([of(k) for k in range(len(places))])[places]

    def tells(self, population: Mapping[int, int], earlier: Array) -> bool:
        """Whether one earlier query has told a population (sets along some axes, everybody along others) by itself."""
        whole = {k: union(self.families[k][0]) for k in range(len(self.families))}
        return bool(self._making(earlier, {**whole, **population}).any())

    def told_together(self, new: Families, earlier: Array, places: Array, apart: Array) -> Iterator[Left]:
        """All of them; ``places`` are those of the earlier queries, ``apart`` says which have nobody in common with the
        new one along an axis.

        A set that some table tells as a total is news where others tell it crossed with a variable. So of the new
        table's own population, those tables are looked at once more that cross one of its variables, or all.
        """
        axes = range(len(new))
        elsewhere = apart.sum(axis=0)  # along so many axes it tells about nobody of the new query together with it
        population = {k: union(self.families[k][new[k]]) for k in axes}
        variables = [k for k in axes if len(self.families[k][new[k]]) > 1]
        for axis, mine in enumerate(new):
            if self._is_finest(axis, mine):  # everything along this axis is told directly
                continue
            beside = earlier[elsewhere == apart[axis]]
            if len(_present(beside[:, axis])) < 2:
                continue
            own = {k: sets for k, sets in population.items() if k != axis}
            crosses = [self.compared(k, new[k]).cells[beside[:, k]] > 1 for k in variables if k != axis]
            again = [(own, beside[some]) for some in _finer(self._making(beside, own), crosses)]
            for context, near in itertools.chain(self._contexts(new, beside, axis), again):
                held = _present(near[:, axis])
                if len(held) < 2 or self._table("includes", axis, mine)[held].any():
                    continue
                sets = frozenset(self.families[axis][other] for other in held.tolist())
                for left in derived_sets(self.families[axis][mine], sets):
                    yield Left({**context, axis: left}, axis, self._cells(new, near, context))
        yield from self._crossed(new, earlier, places, population, variables)

    def _crossed(
        self, new: Families, earlier: Array, places: Array, population: Mapping[int, int], variables: Sequence[int]
    ) -> Iterator[Left]:
        """Along two axes at once, for the population of the new query along all others."""
        away = self.looked_up(places, lambda k: ~self._table("makes", k, population[k])).view(np.int8)
        others = away.sum(axis=0, dtype=np.int8)
        if (others > 2).any():
            few = others <= 2
            earlier, places, away, others = earlier[few], places[:, few], away[:, few], others[few]
        pairs = np.array(list(itertools.combinations(range(len(new)), 2)), int).reshape(-1, 2)
        first, second = pairs.T
        near = others == away[first] + away[second]
        pairs, near = self._open_pairs(new, pairs, near, earlier, places)
        if not len(pairs):
            return
        first, second = pairs.T
        includes = self.looked_up(places, lambda k: self._table("includes", k, new[k]))
        told = includes[first] & includes[second]  # by one table: then nothing is news
        parting, parted = _parting(new, pairs, earlier)
        crosses = self.looked_up(places, lambda k: self.compared(k, new[k]).cells > 1)
        for looked in _looks(near, pairs, variables, crosses):
            some = (looked.sum(axis=1) > 1) & ~(looked & told).any(axis=1)
            for p in (some & (parted | (looked & parting).any(axis=1))).nonzero()[0].tolist():
                one, other = pairs[p].tolist()
                for left in self._boxes(new, one, other, looked[p], earlier):
                    context = {k: sets for k, sets in population.items() if k not in (one, other)}
                    cells = self._cells(new, earlier[looked[p]], context)
                    yield Left({**context, one: left[0], other: left[1]}, one, cells)

    def _open_pairs(
        self, new: Families, pairs: Array, near: Array, earlier: Array, places: Array
    ) -> tuple[Array, Array]:
        """The pairs of axes along which some tables may tell of a box, whichever of them are looked at: along both of
        them there is a population, and of two tables or more one parts both."""
        first, second = pairs.T
        chosen = self.looked_up(places, lambda k: ~self._table("whole", k, 0))  # a population along this axis
        mine = np.array([not self._table("whole", k, 0)[family] for k, family in enumerate(new)])
        open_ = near.sum(axis=1) > 1
        open_ &= mine[first] | (near & chosen[first]).any(axis=1)
        open_ &= mine[second] | (near & chosen[second]).any(axis=1)
        parting, parted = _parting(new, pairs, earlier)
        open_ &= parted | (near & parting).any(axis=1)
        return pairs[open_], near[open_]

    def _boxes(self, new: Families, one: int, other: int, near: Array, earlier: Array) -> Boxes:
        """What queries leave along two axes; kept."""
        first, second = _each_once(earlier[near, one], earlier[near, other])
        if len(first) < 2:
            return ()
        mine = (new[one], new[other])
        key = (one, other, mine, first.tobytes() + second.tobytes())
        left = self._left.get(key)
        if left is None:
            if len(self._left) > MOST_KEPT:
                self._left = {}
            left = derived_boxes(self.spaces[one], self.spaces[other], mine, (first, second))
            self._left[key] = left
        return left

    def _contexts(self, new: Families, near: Array, axis: int) -> Iterator[tuple[dict[int, int], Array]]:
        """Populations along the other axes that the new query and earlier ones tell about, with all queries that do."""
        axes = [k for k in range(len(new)) if k != axis]
        compared = {k: self.compared(k, new[k]) for k in axes}
        key = np.zeros(len(near), np.int64)
        for k in axes:
            key = key * compared[k].numbers + compared[k].number[near[:, k]]
        _, first, group = np.unique(key, return_index=True, return_inverse=True)
        told = self._table("includes", axis, new[axis])[near[:, axis]]  # then nothing is news
        open_ = np.flatnonzero(np.bincount(group, weights=told, minlength=len(first)) == 0)
        rows = near[first[open_]].tolist()
        for sets in sorted(tuple(compared[k].shared[row[k]] for k in axes) for row in rows)[:MOST_CONTEXTS]:
            context = dict(zip(axes, sets, strict=True))
            yield context, near[self._making(near, context)]

    def _making(self, earlier: Array, context: Mapping[int, int]) -> Array:
        """Which queries tell about a population."""
        good = np.ones(len(earlier), bool)
        for k, wanted in context.items():
            table = self._table("makes", k, wanted)
            if not table.all():
                good &= table[earlier[:, k]]
        return good

    def _table(self, kind: str, axis: int, of: int) -> Array:
        """For every family of an axis whether it makes up a set, includes a family, or has the whole; kept."""
        families = self.families[axis]
        known = self._tables.get((kind, axis, of))
        if known is not None and len(known) == len(families):
            return known
        done = [] if known is None else known.tolist()
        for family in families[len(done) :]:
            if kind == "makes":
                done.append(adds_up(of, atoms(family)))
            elif kind == "includes":
                done.append(families[of] <= family)
            else:
                done.append(union(families[0]) in family)
        table = self._tables[kind, axis, of] = np.array(done, bool)
        if len(self._tables) > 50_000:
            self._tables = {}
        return table

    def _is_finest(self, axis: int, family: int) -> bool:
        return len(atoms(self.families[axis][family])) == union(self.families[axis][0]).bit_count()

    def _cells(self, new: Families, near: Array, context: Mapping[int, int]) -> int:
        """Into how many cells all these queries cross a population."""
        cells = 1
        for k in context:
            crossed = self.compared(k, new[k]).cells
            cells *= min(int(crossed[near[:, k]].min(initial=crossed[new[k]])), int(crossed[new[k]]))
        return cells


def _parting(new: Families, pairs: Array, earlier: Array) -> tuple[Array, Array]:
    """Which queries part the people along both axes of a pair, and whether the new one does: family 0 is everybody."""
    parts, mine = (earlier > 0).T, np.array(new) > 0
    first, second = pairs.T
    return parts[first] & parts[second], mine[first] & mine[second]


def _each_once(first: Array, second: Array) -> tuple[Array, Array]:
    """Pairs of numbers, each once and in order."""
    size = int(second.max(initial=0)) + 1
    pairs = first * size + second
    few = int(first.max(initial=0)) < MOST_PAIRS // size
    return np.divmod(_present(pairs) if few else np.unique(pairs), size)


def _present(numbers: Array) -> Array:
    """Which numbers are among some, each once."""
    return np.bincount(numbers).nonzero()[0]


def _finer(near: Array, crosses: Sequence[Array]) -> list[Array]:
    """Of some tables those that cross one variable of the new one, beside others; at the end those that cross all.

    Left out is what does not differ from all of them, and what is no more than one table.
    """
    chosen = [near & one for one in crosses]
    if len(chosen) > 1:
        chosen.append(np.logical_and.reduce(chosen))
    number = np.count_nonzero(near)
    return [some for some in chosen if 1 < np.count_nonzero(some) < number]


def _looks(near: Array, pairs: Array, variables: Sequence[int], crosses: Array) -> Iterator[Array]:
    """Tables that are looked at together, for each pair of axes: all, and of them those that cross further variables.

    Those that cross all variables of the new table beside the pair, or, where there are no two of them, one.
    """
    yield near
    beside = {k: (pairs != k).all(axis=1)[:, None] for k in variables}
    every = near.copy()
    for k in variables:
        every &= crosses[k] | ~beside[k]
    number = near.sum(axis=1)[:, None]
    crossing = every.sum(axis=1)[:, None]
    yield every & (crossing < number)
    for k in variables:
        some = near & crosses[k] & (beside[k] & (crossing < 2))
        yield some & (some.sum(axis=1)[:, None] < number)
