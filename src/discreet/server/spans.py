"""What tables tell together by adding and subtracting, however many: linear algebra over the atoms of their sets.

A family of sets (``unions``) is a space of vectors over the atoms of all families, one for each set. Numbers of several
tables, added and subtracted, are numbers of the sum of these spaces. A union of atoms whose vector lies in the sum and
in no single space is derived: pairs, triples and more, any signed combination. All unions of up to ``MOST_JOINED``
atoms are tried, and boxes of one atom along each of two variables.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from discreet.base.annotations import Array
from discreet.server.unions import Sets, adds_up, atoms, union

MOST_JOINED = 3  # atoms of a derived set; where there are more than MOST_TRIPLES atoms, two
MOST_TRIPLES = 24
MOST_ATOMS = 200  # along one variable; of more, those that the new table cuts are looked at
MOST_BOXES = 64  # atoms along two variables, crossed
NEAR_ZERO = 1e-7


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


@lru_cache(maxsize=20_000)
def derived_boxes(mine: tuple[Sets, Sets], others: frozenset[tuple[Sets, Sets]]) -> tuple[tuple[int, int], ...]:
    """The same along two variables: boxes of one atom each, of those atoms that sets without a total cut out.

    >>> whole, some = frozenset([0b11]), frozenset([0b01])
    >>> derived_boxes((some, some), frozenset([(whole, whole), (some, whole), (whole, some)]))
    ((1, 2), (2, 1), (2, 2))
    """
    every = (mine, *others)
    parts = [_cut([pair[side] for pair in every]) for side in (0, 1)]
    n = len(parts[0]) * len(parts[1])
    if min(map(len, parts)) < 2 or n > MOST_BOXES:
        return ()
    told = [(_told(first, parts[0]), _told(second, parts[1])) for first, second in every]
    direct = [0] * len(parts[0])  # boxes that one of them tells by itself, as bits along the second variable
    for one, other in set(told):
        for k in one.single:
            direct[k] |= other.single_bits
    if all(row == (1 << len(parts[1])) - 1 for row in direct):
        return ()
    after = _lying(set(told))
    news = [(k, m) for k, m in zip(*np.nonzero(after), strict=True) if not direct[k] >> int(m) & 1]
    if not news:
        return ()
    before = _lying(set(told[1:]))
    return tuple((parts[0][k], parts[1][m]) for k, m in news if not before[k, m])


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
    rows = np.unique(np.concatenate(spaces), axis=0)
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


def _cut(families: Sequence[Sets]) -> tuple[int, ...]:
    """The atoms of the sets that stand without a total around them, and of the rest."""
    whole = union(union(family) for family in families)
    alone = frozenset().union(*(family for family in families if whole not in family))
    return tuple(sorted(atoms(alone | {whole})))


@dataclass(frozen=True, eq=False)
class _Told:
    """What a family tells of some atoms: the Gram matrix of its sets, and the atoms that it tells by themselves."""

    gram: Array
    single: tuple[int, ...]

    @property
    def single_bits(self) -> int:
        """These atoms as bits."""
        return union(1 << k for k in self.single)


@lru_cache(maxsize=20_000)
def _told(family: Sets, parts: tuple[int, ...]) -> _Told:
    """Of each atom that the family makes up, and of its sets that are unions of atoms; of the same sets the same."""
    known = atoms(family)
    rows = {one for one in parts if adds_up(one, known)}
    rows |= {one for one in family if one == union(part for part in parts if part & one)}
    return _told_of(frozenset(rows), parts)


@lru_cache(maxsize=20_000)
def _told_of(sets: Sets, parts: tuple[int, ...]) -> _Told:
    rows = np.array([[float(one & part == part) for part in parts] for one in sorted(sets)]).reshape(-1, len(parts))
    return _Told(rows.T @ rows, tuple(k for k, part in enumerate(parts) if part in sets))


def _lying(spaces: Set[tuple[_Told, _Told]]) -> Array:
    """Which boxes of one atom each lie in the sum of crossed spaces.

    The Gram matrix of a crossed space is the Kronecker product of those of its two sides, and the sum of spaces is the
    range of the sum of these: one product of matrices for all of them.
    """
    if not spaces:
        return np.zeros((0, 0), bool)
    one, other = (np.stack([pair[side].gram for pair in spaces]) for side in (0, 1))
    n, m = one.shape[1], other.shape[1]
    crossed = (one.reshape(len(one), -1).T @ other.reshape(len(other), -1)).reshape(n, n, m, m)
    projection = _range(crossed.transpose(0, 2, 1, 3).reshape(n * m, n * m))
    return (np.diag(projection) >= 1 - NEAR_ZERO).reshape(n, m)
