"""Sums of hidden cells that follow from a release: combinations of a few equations that have hidden cells in common.

All such sums form a lattice, with no end of members; only those matter that are not made of two others without a cell
in common. A rule by which no two sums are sensitive calls their union safe too (dominance and p % rules are subadditive
[Cox 1981]).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.base.annotations import Array

Terms = dict[int, int]  # hidden cells of an equation and their factors
Combination = tuple[Terms, tuple[int, ...]]  # what several equations give together, and which these are
TOGETHER = 4  # equations that are combined, at most
SIGNS = 2  # cells of the other sign that a combination may hold and still be looked at
STEPS = 20_000  # combinations of three equations and more that are tried


def sums_that_follow(rows: Any, hidden: Array) -> dict[tuple[int, ...], int]:
    """Sets of two or more hidden cells whose sum is published in effect, and the first equation of each.

    ``rows`` are the equations of a table (see ``discreet.tables.relations``). The hidden cells of an equation have a
    known sum where all have the same sign; where a hidden total stands against its parts, another equation with the
    same hidden cell may take it away, as the sum of the parts of two hidden totals does. All pairs of equations are
    looked at. Three and four are, with the factors 1 and -1, if each takes a cell away whose sign is the rarer one, or
    a cell of a sum; at most 20,000 steps of this are taken.

    >>> from discreet.tables.relations import of_layout
    >>> from discreet.tables.table import Table
    >>> t = Table.of([[1, 2, 3], [4, 5, 6]], ["a", "b"])
    >>> gone = t.is_inner & (t.count != 3) & (t.count != 6)
    >>> len(sums_that_follow(of_layout(t.layout), gone))  # two rows, two columns
    4
    """
    equations = _of_hidden(rows, hidden, len(hidden))
    sums: dict[tuple[int, ...], int] = {}
    by_cell: dict[int, list[int]] = {}
    for number, terms in equations.items():
        _keep(sums, terms, number)
        for cell in terms:
            by_cell.setdefault(cell, []).append(number)
    pairs = _Pairs.of(equations, by_cell)
    for one, two, cell in pairs.where(pairs.rarer == 0):
        _keep(sums, _without(equations[one], equations[two], cell), one)
    level = (
        (_without(equations[one], equations[two], cell), (one, two))
        for one, two, cell in pairs.where(pairs.rarer <= SIGNS)
    )
    _of_several(sums, equations, by_cell, level)
    return sums


@dataclass(frozen=True, eq=False)
class _Pairs:
    """All pairs of equations with a cell in common, and how many cells their difference has of the rarer sign.

    That is counted where they have one cell in common and factors of 1 and -1; elsewhere it is 0 here, so that whoever
    asks looks at the difference itself.
    """

    one: Array
    two: Array
    cell: Array
    rarer: Array

    @classmethod
    def of(cls, equations: dict[int, Terms], by_cell: dict[int, list[int]]) -> _Pairs:
        numbers = np.fromiter(equations, np.int64, len(equations))
        most = int(numbers.max(initial=-1)) + 1
        plus, minus, other = (np.zeros(most, np.int64) for _ in range(3))
        for number, terms in equations.items():
            factors = list(terms.values())
            plus[number], minus[number] = factors.count(1), factors.count(-1)
            other[number] = len(factors) - plus[number] - minus[number]
        cells = np.fromiter(by_cell, np.int64, len(by_cell))
        degree = np.fromiter(map(len, by_cell.values()), np.int64, len(by_cell))
        begin = np.cumsum(degree) - degree
        flat = np.array([number for some in by_cell.values() for number in some], np.int64)
        sign = np.sign([equations[number][cell] for cell, some in by_cell.items() for number in some]).astype(np.int64)
        first, second, of = [], [], []
        for many in np.unique(degree).tolist():
            which = np.flatnonzero(degree == many)
            later, before = np.tril_indices(many, -1)
            first.append((begin[which][:, None] + later).ravel())
            second.append((begin[which][:, None] + before).ravel())
            of.append(np.repeat(which, len(later)))
        if not first:
            nothing = np.empty(0, np.int64)
            return cls(nothing, nothing, nothing, nothing)
        a, b, at = np.concatenate(first), np.concatenate(second), np.concatenate(of)
        order = np.argsort(at, kind="stable")  # cell by cell, as they come
        a, b, at = a[order], b[order], at[order]
        one, two, same = flat[a], flat[b], sign[a] == sign[b]
        ups = plus[one] - (sign[a] > 0) + np.where(same, minus[two] - (sign[b] < 0), plus[two] - (sign[b] > 0))
        downs = minus[one] - (sign[a] < 0) + np.where(same, plus[two] - (sign[b] > 0), minus[two] - (sign[b] < 0))
        _, back, times = np.unique(one * most + two, return_inverse=True, return_counts=True)
        plain = (times[back] == 1) & (other[one] == 0) & (other[two] == 0)
        return cls(one, two, cells[at], np.where(plain, np.minimum(ups, downs), 0))

    def where(self, wanted: Array) -> Iterator[tuple[int, int, int]]:
        """The equations and the cell of some pairs."""
        at = np.flatnonzero(wanted)
        return zip(self.one[at].tolist(), self.two[at].tolist(), self.cell[at].tolist(), strict=True)


def _of_several(
    sums: dict[tuple[int, ...], int],
    equations: dict[int, Terms],
    by_cell: dict[int, list[int]],
    level: Iterable[Combination],
) -> None:
    """Add the sums that three or more equations give together, as far as the steps go; ``level``: those of two."""
    seen, steps = set[frozenset[tuple[int, int]]](), 0
    for _ in range(TOGETHER - 2):
        further: list[Combination] = []
        for terms, used in level:
            for cell in _to_take_away(terms):
                for number in by_cell[cell]:
                    if number in used:
                        continue
                    steps += 1
                    if steps > STEPS:
                        return
                    other = _without(terms, equations[number], cell)
                    mark = frozenset(other.items())
                    if mark in seen:
                        continue
                    seen |= {mark, frozenset((cell, -factor) for cell, factor in other.items())}
                    _keep(sums, other, used[0])
                    further.append((other, (*used, number)))
        level = further


def _to_take_away(terms: Terms) -> list[int]:
    """Cells of the sign that is rarer, if they are few; of a sum all cells. Nothing where a factor is not 1 or -1."""
    sides = [[cell for cell, factor in terms.items() if factor == sign] for sign in (1, -1)]
    if not terms or len(sides[0]) + len(sides[1]) < len(terms):
        return []
    fewer, more = sorted(sides, key=len)
    if not fewer:
        return sorted(more)
    if len(fewer) > SIGNS:
        return []
    return sorted(fewer + more if len(fewer) == len(more) else fewer)


def _of_hidden(rows: Any, hidden: Array, n: int) -> dict[int, Terms]:
    """The hidden cells of every equation that has some, and none that no cell shows."""
    table = rows.tocsr()
    equations: dict[int, Terms] = {}
    row = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    inside = table.indices < n
    unseen = np.zeros(table.shape[0], bool)
    unseen[row[~inside]] = True
    gone = inside & ~unseen[row]
    gone[gone] = hidden[table.indices[gone]]
    for number, cell, factor in zip(row[gone], table.indices[gone], table.data[gone], strict=True):
        equations.setdefault(int(number), {})[int(cell)] = round(factor)
    return equations


def _without(one: Terms, two: Terms, cell: int) -> Terms:
    """The difference of two equations in which a cell does not stand any more; empty if factors differ in size."""
    if abs(one[cell]) != abs(two[cell]):
        return {}
    sign = 1 if one[cell] == two[cell] else -1
    terms = dict(one)
    for other, factor in two.items():
        terms[other] = terms.get(other, 0) - sign * factor
    return {other: factor for other, factor in terms.items() if factor}


def _keep(sums: dict[tuple[int, ...], int], terms: Terms, number: int) -> None:
    """Note the cells if their plain sum is known."""
    if len(terms) > 1 and set(terms.values()) in ({1}, {-1}):
        sums.setdefault(tuple(sorted(terms)), number)
