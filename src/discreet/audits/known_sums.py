"""Sums of hidden cells that follow from a release: combinations of a few equations that have hidden cells in common.

All such sums form a lattice, with no end of members; only those matter that are not made of two others without a cell
in common. A rule by which no two sums are sensitive calls their union safe too (dominance and p % rules are subadditive
[Cox 1981]).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.audits._known_sums import Equations, of_several, plain_differences
from discreet.base.annotations import Array

TOGETHER = 4  # equations that are combined, at most
SIGNS = 2  # cells of the other sign that a combination may hold and still be looked at
STEPS = 20_000  # combinations of three equations and more that are tried

Sums = dict[tuple[int, ...], int]


def sums_that_follow(rows: Any, hidden: Array) -> Sums:
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
    equations, number, names = _of_hidden(rows, hidden, len(hidden))
    sums: Sums = {}
    for k, (first, last) in enumerate(zip(equations.begin, equations.begin[1:], strict=False)):
        if last - first > 1 and abs(equations.factors[first:last].sum()) == last - first:
            _note(sums, equations.cells[first:last], np.array([last - first]), number[k : k + 1], names)
    pairs = _Pairs.of(equations)
    one, two, cell = pairs.where(pairs.rarer == 0)
    cells, ends, which = plain_differences(equations, one, two, cell)
    _note(sums, cells, ends, number[one[which]], names)
    found = of_several(equations, *pairs.where(pairs.rarer <= SIGNS), SIGNS, STEPS, TOGETHER)
    size = np.diff(found.ends, prepend=0)
    plain = _plain(found.factors, found.ends)
    cells = found.cells[np.repeat(plain, size)]
    _note(sums, cells, np.cumsum(size[plain]), number[found.used[plain, 0]], names)
    return sums


def _plain(factors: Array, ends: Array) -> Array:
    """Which combinations are plain sums of two or more; their first factor is above 0."""
    size = np.diff(ends, prepend=0)
    if not len(ends):
        return np.zeros(0, bool)
    one = np.logical_and.reduceat(factors == 1, ends - size)
    return np.asarray(one & (size > 1))


def _note(sums: Sums, cells: Array, ends: Array, equation: Array, names: Array) -> None:
    """Enter sums, each of the cells up to its end, with the first equation that they were found by."""
    known, begin = names[cells].tolist(), 0
    for end, number in zip(ends.tolist(), equation.tolist(), strict=True):
        sums.setdefault(tuple(known[begin:end]), number)
        begin = end


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
    def of(cls, equations: Equations) -> _Pairs:
        most, size = len(equations.begin) - 1, np.diff(equations.begin)
        row = np.repeat(np.arange(most), size)
        plus, minus = (np.bincount(row[equations.factors == sign], minlength=most) for sign in (1, -1))
        other = size - plus - minus
        order = np.argsort(equations.cells, kind="stable")
        flat, sign = equations.of_cell, np.sign(equations.factors)[order]
        begin, degree = equations.cell_begin[:-1], np.diff(equations.cell_begin)
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
        return cls(one, two, at, np.where(plain, np.minimum(ups, downs), 0))

    def where(self, wanted: Array) -> tuple[Array, Array, Array]:
        """The equations and the cell of some pairs."""
        at = np.flatnonzero(wanted)
        return self.one[at], self.two[at], self.cell[at]


def _of_hidden(rows: Any, hidden: Array, n: int) -> tuple[Equations, Array, Array]:
    """The hidden cells of every equation that has some, and none that no cell shows; numbers of equations and cells."""
    table = rows.tocsr()
    row = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    inside = table.indices < n
    unseen = np.zeros(table.shape[0], bool)
    unseen[row[~inside]] = True
    gone = inside & ~unseen[row]
    gone[gone] = hidden[table.indices[gone]]
    row, cell, factor = row[gone], table.indices[gone], np.rint(table.data[gone]).astype(np.int64)
    order = np.lexsort((cell, row))
    number, row = np.unique(row[order], return_inverse=True)
    names, cell = np.unique(cell[order], return_inverse=True)
    by_cell = np.argsort(cell, kind="stable")
    equations = Equations(
        np.searchsorted(row, np.arange(len(number) + 1)).astype(np.int64),
        cell.astype(np.int64),
        factor[order],
        np.searchsorted(cell[by_cell], np.arange(len(names) + 1)).astype(np.int64),
        row[by_cell].astype(np.int64),
    )
    return equations, number, names
