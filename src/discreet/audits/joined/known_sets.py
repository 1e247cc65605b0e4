"""Populations that follow from published totals by subtraction and are smaller than a threshold.

A population is a set of finest cells. Its size is known if the set, as a vector of zeros and ones, is a combination of
published totals, whatever the factors (the lattice of the published totals, taken up to multiples: a combination with
fractions has a multiple in whole numbers). Cells that are known by themselves come from the audit of all common cells.
Sets of several cells none of which is known are sums by elimination: cells that could be too many are eliminated
first; what is left are the known sums of cells that are few, and of these every one with factors of zero and one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from discreet.audits.known import settled_intervals
from discreet.audits.view import View
from discreet.base.annotations import Array
from discreet.linear._reduction import PRIME
from discreet.linear.components import labels
from discreet.linear.modular import reduced_rows, signed
from discreet.linear.program import any_solution
from discreet.linear.system import System

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_OPEN = 4_000
"""Cells that are not shown up to which all of them are judged."""
MOST_ELIMINATED = 1_500
"""Cells that hang together up to which sets of several are looked for."""
ALL_SETS, FEW = 14, 3
"""With so many known sums that have cells in common all sets are tried; with more, sets of at most a few of them."""
LARGE = 2**40
"""Residues from here on are fractions, of which so many cannot be added as they are."""


@dataclass(frozen=True, eq=False)
class SmallSets:
    """Sets of variables of a system with their sizes in last decimals, and what was not looked at."""

    sets: tuple[tuple[int, ...], ...]
    sizes: tuple[float, ...]
    unjudged: tuple[str, ...]


def small_sets(seen: View, under: float) -> SmallSets:
    """The sets whose size is known, at least one unit and less than ``under``; none holds another."""
    system = seen.known.system()
    variable = seen.known.inner_variables()
    open_ = np.unique(variable[system.lower[variable] < system.upper[variable]])
    if len(open_) > MOST_OPEN:
        own = np.flatnonzero(seen.withheld)
        words = f"{len(open_):,} cells that follow from others are more than {MOST_OPEN:,}; of these only the hidden "
        text = words + "cells of the tables were looked at"
        return _singles(seen, own, under, (text,))
    singles = _singles(seen, open_, under, ())
    lower, upper = _intervals(seen, open_)
    few = open_[(upper < under) & (lower < upper) & ~np.isin(open_, _wholes(system))]
    unions, doubts = _unions(system, few, under)
    known = {s[0] for s in singles.sets}
    several = [(s, size) for s, size in unions if not known & set(s)]
    return SmallSets(
        (*singles.sets, *(s for s, _ in several)), (*singles.sizes, *(size for _, size in several)), doubts
    )


def _intervals(seen: View, targets: Array) -> tuple[Array, Array]:
    lower, upper, _ = settled_intervals(seen.known, targets)
    return lower, upper


def _singles(seen: View, targets: Array, under: float, words: tuple[str, ...]) -> SmallSets:
    """Cells that are known by themselves and small."""
    lower, upper = _intervals(seen, targets)
    at = np.flatnonzero((lower == upper) & (lower > 0) & (lower < under))
    return SmallSets(tuple((int(v),) for v in targets[at]), tuple(lower[at].tolist()), words)


def _wholes(system: System) -> Array:
    """Variables that are the sum in some row: made of others."""
    rows = system.rows.tocoo()
    return np.unique(rows.col[rows.data < 0])


def _unions(system: System, few: Array, under: float) -> tuple[list[tuple[tuple[int, ...], float]], tuple[str, ...]]:
    """Sets of several cells that are few each, none known by itself, whose sum is known and small."""
    from scipy.sparse import csr_array

    if len(few) < 2:
        return [], ()
    open_ = np.flatnonzero(system.lower < system.upper)
    point = any_solution(system)  # a sum that is known is the same in every solution
    rows = csr_array(system.rows[:, open_])
    label = labels(rows)[1]
    sums: list[tuple[tuple[int, ...], float]] = []
    skipped = largest = 0
    for part in np.unique(label[np.isin(open_, few)]):
        columns = np.flatnonzero(label == part)
        mine = np.flatnonzero(np.isin(open_[columns], few))
        if len(columns) > MOST_ELIMINATED:
            skipped += len(mine)
            continue
        touching = np.unique(rows.tocsc()[:, columns].indices)
        matrix = _known_sums(rows[touching][:, columns], mine)
        sizes = point[open_[columns[mine]]]
        for group in _sharing(matrix):
            largest = max(largest, len(group))
            for chosen, size in _zero_one(matrix[group], sizes, under):
                sums.append((tuple(int(open_[columns[mine[k]]]) for k in chosen), size))
    doubts = []
    if skipped:
        hanging = f"{skipped:,} cells are connected with more than {MOST_ELIMINATED:,} others"
        doubts.append(f"{hanging}; sets of them were not looked for")
    if largest > ALL_SETS:
        together = f"{largest:,} known sums have cells in common, more than {ALL_SETS}"
        doubts.append(f"{together}; sets that take more than {FEW} of them were not looked for")
    return _minimal(sums), tuple(doubts)


def _sharing(matrix: Array) -> list[Array]:
    """Rows that have columns in common, by group: a set over two groups is two sets, each known by itself."""
    from scipy.sparse import csr_array

    if not len(matrix):
        return []
    label = labels(csr_array((matrix != 0).astype(float)))[0]
    return [np.flatnonzero(label == group) for group in np.unique(label)]


def _known_sums(rows: csr_array, few: Array) -> Array:
    """A basis of the sums of few cells that the rows determine, reduced; a fraction is a large number (a residue)."""
    others = np.ones(rows.shape[1], bool)
    others[few] = False
    pivots, reduced = reduced_rows(rows, others)
    inside = signed(reduced)[:, np.flatnonzero(~others[pivots])]
    return np.asarray(inside.T.toarray()[:, few])


def _zero_one(matrix: Array, sizes: Array, under: float) -> Iterator[tuple[tuple[int, ...], float]]:
    """Sums of rows with entries of zero and one only: in reduced rows these are sums of some of them.

    ``sizes``: of the cells in some solution; a sum that is known is the same in every one.
    """
    many = len(matrix)
    most = many if many <= ALL_SETS else FEW
    large = np.abs(matrix).max(initial=0) > LARGE
    entries = matrix.astype(object) if large else matrix  # residues of fractions: sums modulo the prime
    for size in range(1, most + 1):
        for rows in combinations(range(many), size):
            vector = entries[list(rows)].sum(axis=0)
            vector = vector % PRIME if large else vector
            if ((vector == 0) | (vector == 1)).all():
                chosen = np.flatnonzero(vector)
                total = float(np.rint(sizes[chosen].sum()))
                if 0 < total < under:
                    yield tuple(chosen.tolist()), total


def _minimal(sums: list[tuple[tuple[int, ...], float]]) -> list[tuple[tuple[int, ...], float]]:
    """Sets that hold no other one."""
    kept: list[tuple[tuple[int, ...], float]] = []
    for members, size in sorted(sums, key=lambda f: len(f[0])):
        if not any(set(other) <= set(members) for other, _ in kept):
            kept.append((members, size))
    return kept
