"""What tables tell together by adding and subtracting, however many: linear algebra over the atoms of their sets.

A family of sets (``unions``) is a space of vectors over the atoms of all families, one for each set. Numbers of several
tables, added and subtracted, are numbers of the sum of these spaces. A union of atoms whose vector lies in the sum and
in no single space is derived: pairs, triples and more, any signed combination. All unions of up to ``MOST_JOINED``
atoms are tried, and boxes of one atom along each of two variables.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from discreet.base.annotations import Array
from discreet.server.unions import Sets, adds_up, atoms, union

MOST_JOINED = 3  # atoms of a derived set; where there are more than MOST_TRIPLES atoms, two
MOST_TRIPLES = 24
MOST_ATOMS = 200  # along one variable; of more, those that the new table cuts are looked at
MOST_BOXES = 64  # atoms along two variables, crossed
MOST_KEPT = 20_000  # choices of families that are kept
NEAR_ZERO = 1e-7
Boxes = tuple[tuple[int, int], ...]  # sets of codes along two variables


@lru_cache(maxsize=20_000)
def derived_sets(mine: Sets, others: frozenset[Sets]) -> tuple[int, ...]:
    """The smallest unions of atoms that a family and several others tell only together.

    >>> [bin(one) for one in derived_sets(frozenset([0b0011]), frozenset([frozenset([0b0110]), frozenset([0b0101])]))]
    ['0b1', '0b10', '0b100']
    """
    parts = sorted(atoms(frozenset().union(mine, *others)))
    if len(parts) > MOST_ATOMS:
        whole = union(mine)
        parts = [part for part in parts if part & whole][:MOST_ATOMS]
    if len(parts) < 2:
        return ()
    after = _projection([_vectors(family, parts) for family in (mine, *others)], len(parts))
    told = frozenset().union(*(atoms(family) for family in (mine, *others)))  # and whoever has them can add them up
    chosen = [one for one in _unions_in(after) if not adds_up(union(parts[k] for k in one), told)]
    if not chosen:
        return ()
    before = _projection([_vectors(family, parts) for family in others], len(parts))
    news = [one for one in chosen if not _lies(before, one)]
    return tuple(sorted(union(parts[k] for k in one) for one in news))


class Spaces:
    """The families of a variable as spaces over atoms, by number; kept for each choice of atoms."""

    def __init__(self, families: Sequence[Sets]) -> None:
        self.families = families
        self._cuts: dict[tuple[bytes, bool], tuple[int, ...]] = {}
        self._told: dict[tuple[int, ...], Told] = {}

    def cut(self, numbers: Array, *, around: bool) -> tuple[int, ...]:
        """The atoms that the sets of families with these numbers cut out (see ``_cut``)."""
        key = (numbers.tobytes(), around)
        parts = self._cuts.get(key)
        if parts is None:
            if len(self._cuts) > MOST_KEPT:
                self._cuts, self._told = {}, {}
            parts = _cut([self.families[k] for k in numbers.tolist()], around)
            self._cuts[key] = parts
        return parts

    def told(self, parts: tuple[int, ...], numbers: Array) -> Told:
        """What these families tell of atoms."""
        told = self._told.get(parts)
        if told is None or len(told.known) < len(self.families):  # room for more than there are: more will come
            told = self._told[parts] = Told.none(parts, 2 * len(self.families), told)
        for k in numbers[~told.known[numbers]].tolist():
            told.note(k, self.families[k])
        return told


def derived_boxes(one: Spaces, other: Spaces, mine: tuple[int, int], others: tuple[Array, Array]) -> Boxes:
    """The same along two variables: boxes of one atom each, of those atoms that sets without a total cut out, and sets
    around them; without the latter where these are too many.

    Families are given by their numbers along each variable.

    >>> both = Spaces([frozenset([0b11]), frozenset([0b01])])
    >>> derived_boxes(both, both, (1, 1), (np.array([0, 1, 0]), np.array([0, 0, 1])))
    ((1, 2), (2, 1), (2, 2))
    """
    first, second = (np.array([*numbers.tolist(), own]) for numbers, own in zip(others, mine, strict=True))
    rows, columns = (np.flatnonzero(np.bincount(numbers)) for numbers in (first, second))
    for around in (True, False):
        parts = (one.cut(rows, around=around), other.cut(columns, around=around))
        n, m = map(len, parts)
        if min(n, m) < 2:
            return ()
        if n * m <= MOST_BOXES:
            break
    else:
        return ()
    a, b = one.told(parts[0], rows), other.told(parts[1], columns)
    open_ = a.single[first].T @ b.single[second] == 0  # the rest is told by one of them by itself
    if open_.any():
        open_ &= _may_lie(a.parting[first], b.parting[second])
    if open_.any():
        open_ &= _lying(a.gram[first], b.gram[second])
    if open_.any():
        open_ &= ~_lying(a.gram[first[:-1]], b.gram[second[:-1]])
    return tuple((parts[0][k], parts[1][j]) for k, j in np.argwhere(open_).tolist())


def _unions_in(space: Array) -> list[tuple[int, ...]]:
    """Positions of atoms whose union lies in a space, the smallest only: the rest of a larger one lies there, too."""
    free = list(range(len(space)))
    out: list[tuple[int, ...]] = []
    for size in range(1, MOST_JOINED + 1):
        if size == 3 and len(free) > MOST_TRIPLES:
            break
        chosen = np.array(list(itertools.combinations(free, size)), int).reshape(-1, size)
        length = sum(space[chosen[:, a], chosen[:, b]] for a, b in itertools.product(range(size), repeat=2))
        out += [tuple(row) for row in chosen[length >= size - NEAR_ZERO].tolist()]
        if size == 1:
            free = [k for k in free if (k,) not in set(out)]
    return out


def _lies(space: Array, chosen: Sequence[int]) -> bool:
    """Whether a union of atoms lies in a space: its projection is as long as itself."""
    return bool(space[np.ix_(chosen, chosen)].sum() >= len(chosen) - NEAR_ZERO)


def _projection(spaces: Sequence[Array], n: int) -> Array:
    """The projection onto the sum of spaces, each given by its vectors as rows."""
    if not spaces:
        return np.zeros((n, n))
    rows = np.concatenate(spaces)
    return _range(rows.T @ rows)


def _range(gram: Array) -> Array:
    """The projection onto the range of a Gram matrix."""
    values, vectors = np.linalg.eigh(gram)
    kept = vectors[:, values > NEAR_ZERO * max(float(values[-1]), 1.0)]
    projection: Array = kept @ kept.T
    return projection


def _vectors(family: Sets, parts: Sequence[int]) -> Array:
    """The sets of a family over atoms."""
    return np.array([[float(one & part == part) for part in parts] for one in family])


def _cut(families: Sequence[Sets], around: bool) -> tuple[int, ...]:
    """The atoms of the sets that stand without a total around them, and of the rest.

    With ``around`` also of those sets of others that lie around one of them, or across: a region around a county.
    """
    whole = union(union(family) for family in families)
    alone = frozenset().union(*(family for family in families if whole not in family))
    beside: set[int] = set()
    if around:
        touched = union(alone)
        others = {one for family in families if whole in family for one in family if one & touched} - {whole}
        beside = {one for one in others if any(one & chosen and one & ~chosen for chosen in alone)}
    return tuple(sorted(atoms(alone | beside | {whole})))


class Told(NamedTuple):
    """What families tell of some atoms; the first axis of all arrays is the number of the family."""

    parts: tuple[int, ...]
    known: Array  # whether the family has been looked at
    gram: Array  # of the sets that the family tells, as vectors over the atoms
    single: Array  # 1: the family tells the atom by itself
    parting: Array  # 1: one of these sets holds one atom and not the other

    @classmethod
    def none(cls, parts: tuple[int, ...], families: int, before: Told | None = None) -> Told:
        """Before any family has been looked at, or any but those of ``before``."""
        n = len(parts)
        square = (families, n, n)
        told = cls(parts, np.zeros(families, bool), np.zeros(square), np.zeros((families, n)), np.zeros(square))
        if before is not None:
            for new, old in zip(told[1:], before[1:], strict=True):
                new[: len(old)] = old
        return told

    def note(self, number: int, family: Sets) -> None:
        """A family: each atom that it makes up, and those of its sets that are unions of atoms."""
        known = atoms(family)
        sets = {one for one in self.parts if union(atom for atom in known if atom & ~one == 0) == one}
        sets |= {one for one in family if one == union(part for part in self.parts if part & one)}
        rows = _vectors(frozenset(sets), self.parts).reshape(-1, len(self.parts))
        self.gram[number] = rows.T @ rows
        self.single[number] = rows[rows.sum(axis=1) == 1].sum(axis=0)
        self.parting[number] = (rows[:, :, None] != rows[:, None, :]).any(axis=0)
        self.known[number] = True


def _may_lie(one: Array, other: Array) -> Array:
    """Boxes that can lie in the sum of crossed spaces.

    For two atoms along each variable there is a vector: 1 at two opposite boxes of the four, -1 at the other two. It is
    orthogonal to all spaces of which none parts both pairs of atoms; then none of the four boxes lies in their sum.
    """
    n, m = one.shape[1], other.shape[1]
    both = (one.reshape(len(one), -1).T @ other.reshape(len(other), -1) > 0).reshape(n, n, m, m)
    both[np.arange(n), np.arange(n)] = True
    both[:, :, np.arange(m), np.arange(m)] = True
    return np.asarray(both.all(axis=(1, 3)))


def _lying(one: Array, other: Array) -> Array:
    """Which boxes of one atom each lie in the sum of crossed spaces.

    The Gram matrix of a crossed space is the Kronecker product of those of its two sides, and the sum of spaces is the
    range of the sum of these: one product of matrices for all of them.
    """
    n, m = one.shape[1], other.shape[1]
    crossed = (one.reshape(len(one), -1).T @ other.reshape(len(other), -1)).reshape(n, n, m, m)
    projection = _range(crossed.transpose(0, 2, 1, 3).reshape(n * m, n * m))
    return (np.diag(projection) >= 1 - NEAR_ZERO).reshape(n, m)
