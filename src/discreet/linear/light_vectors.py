"""Vectors of a space that are nonzero in few places: which small sets do known sums tell about?

Known sums are columns of a matrix over some places, each place with a weight. Every combination of them is known too,
so the question is whether a combination is nonzero only in places that are light together. Places in the same sums
cannot be told apart and are one; in hierarchies that settles it (``told_sets``), and a search over the rest is bounded.
Arithmetic is modulo the prime 2**31 − 1, without a tolerance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array

if TYPE_CHECKING:
    from scipy.sparse import csr_array

PRIME = 2**31 - 1
MOST_NODES = 2_000  # of a search; what is not settled by then counts as light
MOST_ENTRIES = 2_000_000  # of a part that is reduced as a full array


@dataclass(frozen=True, eq=False)
class LightSet:
    """Places that a combination of known sums tells about, and which sums these may be.

    ``settled``: whether there is such a combination; if not, the search was given up and ``places`` are all it has.
    """

    places: Array
    sums: Array
    settled: bool = True


def told_sets(places_by_sums: csr_array, weight: Array, least: float) -> Iterator[LightSet]:
    """Sets of places below a weight that the sums tell about: none of them exactly if there is none at all.

    Not every such set is listed, only one for each part of the system that has one.

    >>> from scipy.sparse import csr_array
    >>> rows = csr_array(np.array([[1, 1], [1, 1], [1, 0]]))  # a total of three and a group of the first two
    >>> [light.places.tolist() for light in told_sets(rows, np.array([5, 9, 3]), 10)]
    [[2]]
    """
    classes = _classes(places_by_sums)
    members = [np.array(rows) for rows in classes.values()]
    sums_of = [set(np.frombuffer(key[0], np.int32).tolist()) for key in classes]
    heavy = np.array([float(weight[rows].sum()) for rows in members])
    held: dict[int, set[int]] = {}
    for one, sums in enumerate(sums_of):
        for number in sums:
            held.setdefault(number, set()).add(one)
    for one, number in _peeled(held, sums_of):
        if heavy[one] < least:
            yield LightSet(members[one], np.array([number]))
    for block, used in _blocks(held, sums_of):
        deadline.check()
        signs = np.stack([_signs(places_by_sums, int(members[one][0]), used) for one in block])
        for part, settled in _light_parts(signs, heavy[block], least):
            places = np.concatenate([members[block[k]] for k in part])
            touching = np.flatnonzero(signs[part].any(axis=0))
            yield LightSet(places, np.array(used)[touching], settled)


def _classes(rows: csr_array) -> dict[tuple[bytes, bytes], list[int]]:
    """Places by the sums they stand in, with signs up to a common one; those in no sum are left out."""
    rows.sort_indices()
    classes: dict[tuple[bytes, bytes], list[int]] = {}
    indices = rows.indices.astype(np.int32)
    data = np.sign(rows.data).astype(np.int8)
    ends = rows.indptr.tolist()
    for place in range(rows.shape[0]):
        begin, end = ends[place], ends[place + 1]
        if begin < end:
            signs = data[begin:end] * data[begin]
            classes.setdefault((indices[begin:end].tobytes(), signs.tobytes()), []).append(place)
    return classes


def _peeled(held: dict[int, set[int]], sums_of: Sequence[set[int]]) -> Iterator[tuple[int, int]]:
    """Classes that a sum tells by itself once others are known, with that sum; they are taken out of ``held``."""
    ready = [number for number, classes in held.items() if len(classes) == 1]
    while ready:
        number = ready.pop()
        if len(held[number]) != 1:
            continue
        one = next(iter(held[number]))
        for other in sums_of[one]:
            held[other].discard(one)
            if len(held[other]) == 1:
                ready.append(other)
        yield one, number


def _blocks(held: dict[int, set[int]], sums_of: Sequence[set[int]]) -> Iterator[tuple[list[int], list[int]]]:
    """What is left, in parts that have no sum in common: classes and sums of each."""
    rest = {number for number, classes in held.items() if classes}
    while rest:
        first = min(rest)
        block: set[int] = set()
        sums = {first}
        new = [first]
        while new:
            for one in held[new.pop()] - block:
                block.add(one)
                more = (sums_of[one] & rest) - sums
                sums |= more
                new += more
        rest -= sums
        yield sorted(block), sorted(sums)


def _signs(rows: csr_array, place: int, sums: Sequence[int]) -> Array:
    line = np.zeros(rows.shape[1], np.int64)
    begin, end = rows.indptr[place], rows.indptr[place + 1]
    line[rows.indices[begin:end]] = rows.data[begin:end]
    return line[list(sums)]


def _light_parts(signs: Array, weight: Array, least: float) -> Iterator[tuple[Array, bool]]:
    """Of one block, classes that a combination tells about, and whether that is settled."""
    if signs.size > MOST_ENTRIES:
        yield np.arange(len(signs)), False
        return
    order = np.argsort(-weight, kind="stable")
    basis = reduced(signs[order].T % PRIME)
    for rows in _independent(basis):
        some = np.flatnonzero(basis[rows].any(axis=0))
        part = basis[rows][:, some]
        search = _Search(weight[order][some], least)
        light = None if _bound(part, search.weight, least) >= least else search.run(part, np.zeros(len(some), bool))
        if search.nodes > MOST_NODES:
            yield order[some], False
        elif light is not None:
            yield order[some[light]], True


def reduced(matrix: Array) -> Array:
    """The reduced row echelon form modulo the prime, without zero rows."""
    rows = np.array(matrix, np.int64)
    rank = 0
    for column in range(rows.shape[1]):
        below = np.flatnonzero(rows[rank:, column])
        if not len(below):
            continue
        pivot = rank + int(below[0])
        rows[[rank, pivot]] = rows[[pivot, rank]]
        rows[rank] = rows[rank] * pow(int(rows[rank, column]), -1, PRIME) % PRIME
        others = np.flatnonzero(rows[:, column])
        others = others[others != rank]
        rows[others] = (rows[others] - rows[others, column][:, None] * rows[rank]) % PRIME
        rank += 1
        if rank == len(rows):
            break
    return rows[:rank]


def _independent(basis: Array) -> Iterator[list[int]]:
    """Rows of a reduced basis that hang together by common columns."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    if not len(basis):
        return
    some = csr_array(basis != 0).astype(np.int64)
    _, label = connected_components(some @ some.T, directed=False)
    for one in range(int(label.max()) + 1):
        yield np.flatnonzero(label == one).tolist()


def _bound(basis: Array, weight: Array, least: float) -> float:
    """At least this much every vector weighs: it is nonzero somewhere in each of several disjoint column bases."""
    left = np.arange(basis.shape[1])
    total = 0.0
    while len(left) >= len(basis) and total < least:
        form = reduced(basis[:, left])
        if len(form) < len(basis):
            break
        pivots = (form != 0).argmax(axis=1)
        total += float(weight[left[pivots]].min())
        left = np.delete(left, pivots)
    return total


class _Search:
    """Branch and bound over columns, the heaviest first: zero there, or not and its weight counted."""

    def __init__(self, weight: Array, least: float) -> None:
        self.weight = weight
        self.least = least
        self.nodes = 0

    def run(self, basis: Array, taken: Array) -> Array | None:
        """The places of a vector lighter than the limit, nonzero at all ``taken`` columns; None if there is none."""
        stack: list[tuple[Array, Any]] = [(basis, taken)]
        while stack and self.nodes <= MOST_NODES:
            self.nodes += 1
            rows, taken = stack.pop()
            if not len(rows) or self.weight[taken].sum() >= self.least:
                continue
            some = rows.any(axis=0)
            if (taken & ~some).any():
                continue
            if len(rows) == 1:
                if self.weight[some].sum() < self.least:
                    return np.flatnonzero(some)
                continue
            column = int(np.flatnonzero(some & ~taken)[0]) if (some & ~taken).any() else -1
            if column < 0:  # everything is counted, and it is light
                return np.flatnonzero(some)
            both = taken.copy()
            both[column] = True
            stack.append((rows, both))
            stack.append((_zeroed(rows, column), taken))
        return None


def _zeroed(rows: Array, column: int) -> Array:
    """The vectors of a space that are zero in a column."""
    at = int(np.flatnonzero(rows[:, column])[0])
    pivot = rows[at] * pow(int(rows[at, column]), -1, PRIME) % PRIME
    rest = np.delete(rows, at, axis=0)
    return np.asarray((rest - rest[:, column][:, None] * pivot) % PRIME)
