"""What tables tell together by adding and subtracting, however many: linear algebra over the atoms of their sets.

A family of sets (``unions``) is a space of vectors over the atoms of all families, one for each set. Numbers of several
tables, added and subtracted, are numbers of the sum of these spaces. A union of atoms whose vector lies in the sum and
in no single space is derived: pairs, triples and more, any signed combination. All unions of up to ``MOST_JOINED``
atoms are tried, and boxes of one atom along each of two variables.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from scipy.linalg.lapack import dpstrf, dtrtrs

from discreet.base.annotations import Array
from discreet.server.guarding.unions import Sets, adds_up, atoms, union

MOST_JOINED = 3  # atoms of a derived set; where there are more than MOST_TRIPLES atoms, two
MOST_TRIPLES = 24
MOST_ATOMS = 200  # along one variable; of more, those that the new table cuts are looked at
MOST_BOXES = 64  # atoms along two variables, crossed
MOST_KEPT = 20_000  # choices of families that are kept
MOST_PATTERNS = 1_000  # of one number of atoms that are kept
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
    places = np.array([(part & -part).bit_length() - 1 for part in parts])
    after = _projection([_vectors(family, places) for family in (mine, *others)], len(parts))
    told = frozenset().union(*(atoms(family) for family in (mine, *others)))  # and whoever has them can add them up
    chosen = [one for one in _unions_in(after) if not adds_up(union(parts[k] for k in one), told)]
    if not chosen:
        return ()
    before = _projection([_vectors(family, places) for family in others], len(parts))
    news = [one for one in chosen if not _lies(before, one)]
    return tuple(sorted(union(parts[k] for k in one) for one in news))


class Spaces:
    """The families of a variable as spaces over atoms, by number; kept for each choice of atoms."""

    def __init__(self, families: Sequence[Sets]) -> None:
        self.families = families
        self._cuts: dict[tuple[bytes, bool], tuple[int, ...]] = {}
        self._told: dict[tuple[int, ...], tuple[Patterns, Array]] = {}
        self._patterns: dict[int, Patterns] = {}
        self._lock = threading.Lock()  # around new patterns: answers are decided and foreseen in several threads

    def cut(self, numbers: Array, *, around: bool) -> tuple[int, ...]:
        """The atoms that the sets of families with these numbers cut out (see ``_cut``)."""
        key = (numbers.tobytes(), around)
        parts = self._cuts.get(key)
        if parts is None:
            if len(self._cuts) > MOST_KEPT:
                self._cuts = {}
            parts = _cut([self.families[k] for k in numbers.tolist()], around)
            self._cuts[key] = parts
        return parts

    def told(self, parts: tuple[int, ...], numbers: Array) -> tuple[Patterns, Array]:
        """What these families tell of atoms, as numbers of patterns; the number of a family is its place."""
        known = self._told.get(parts)
        if known is not None and len(known[1]) >= len(self.families) and known[1][numbers].min(initial=0) >= 0:
            return known
        with self._lock:
            if len(self._told) > MOST_KEPT or any(len(some) > MOST_PATTERNS for some in self._patterns.values()):
                self._told, self._patterns = {}, {}
            patterns = self._patterns.setdefault(len(parts), Patterns(len(parts)))
            told = np.full(2 * len(self.families), -1)  # room for more than there are: more will come
            if known is not None and known[0] is patterns:
                told[: len(known[1])] = known[1][: len(told)]
            for k in numbers[told[numbers] < 0].tolist():
                told[k] = patterns.number(_pattern(self.families[k], parts))
            self._told[parts] = patterns, told
            return patterns, told


def derived_boxes(one: Spaces, other: Spaces, mine: tuple[int, int], others: tuple[Array, Array]) -> Boxes:
    """The same along two variables: boxes of one atom each, of those atoms that sets without a total cut out, and sets
    around them; without the latter where these are too many.

    Families are given by their numbers along each variable.

    >>> both = Spaces([frozenset([0b11]), frozenset([0b01])])
    >>> derived_boxes(both, both, (1, 1), (np.array([0, 1, 0]), np.array([0, 0, 1])))
    ((1, 2), (2, 1), (2, 2))
    """
    first, second = np.append(others[0], mine[0]), np.append(others[1], mine[1])
    rows, columns = np.bincount(first).nonzero()[0], np.bincount(second).nonzero()[0]
    for around in (True, False):
        parts = (one.cut(rows, around=around), other.cut(columns, around=around))
        if min(len(parts[0]), len(parts[1])) < 2:
            return ()
        if len(parts[0]) * len(parts[1]) <= MOST_BOXES:
            break
    else:
        return ()
    (a, along_first), (b, along_second) = one.told(parts[0], rows), other.told(parts[1], columns)
    first, second = along_first[first], along_second[second]
    gram, other_gram = a.gram[first], b.gram[second]
    open_ = _lying(gram, other_gram)
    if open_.any():
        open_ &= a.single[first].T @ b.single[second] == 0  # the rest is told by one of them by itself
    if open_.any():
        open_ &= ~_lying(gram[:-1], other_gram[:-1])
    return tuple((parts[0][k], parts[1][j]) for k, j in zip(*(axis.tolist() for axis in open_.nonzero()), strict=True))


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


def _vectors(family: Sets, places: Array) -> Array:
    """The sets of a family over atoms of which each lies within every set or beside it, given by one code of each."""
    held = _elements(family)
    return held[:, np.minimum(places, held.shape[1] - 1)]


@lru_cache(maxsize=4096)
def _elements(family: Sets) -> Array:
    """The sets of a family over the finest codes; the last column stands for those that are in none."""
    size = max((one.bit_length() for one in family), default=0) // 8 + 1
    held = np.array([list(one.to_bytes(size, "little")) for one in family], np.uint8).reshape(len(family), size)
    return np.unpackbits(held, axis=1, bitorder="little").astype(float)


def _reaches_out(one: int, sets: Iterable[int]) -> bool:
    """Whether a set lies partly in one of others and partly beside it."""
    for chosen in sets:  # noqa: SIM110 - a generator costs more than what it looks at
        if one & chosen and one & ~chosen:
            return True
    return False


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
        beside = {one for one in others if _reaches_out(one, alone)}
    return tuple(sorted(atoms(alone | beside | {whole})))


Pattern = frozenset[tuple[int, ...]]  # sets of atoms, by their places


def _pattern(family: Sets, parts: tuple[int, ...]) -> Pattern:
    """What a family tells of atoms: each of them that it makes up, and those of its sets that are unions of them."""
    sets = {one for one in parts if _is_made_up(one, family)}
    all_parts = union(parts)
    for one in family:
        if not one & ~all_parts and not _is_cut(one, parts):
            sets.add(one)
    return frozenset(tuple([k for k, part in enumerate(parts) if one & part]) for one in sets)


@lru_cache(maxsize=20_000)
def _is_made_up(one: int, family: Sets) -> bool:
    """Whether a set is a union of atoms of a family."""
    known = atoms(family)
    return not one & ~union(known) and not _is_cut(one, known)


def _is_cut(one: int, parts: Iterable[int]) -> bool:
    """Whether one of some sets lies partly in another and partly beside it."""
    for part in parts:  # noqa: SIM110 - a generator costs more than what it looks at
        if part & one and part & ~one:
            return True
    return False


class Patterns:
    """What families can tell of so many atoms, each once, by number; few patterns stand for very many families."""

    def __init__(self, n: int) -> None:
        self.n = n
        self._numbers: dict[Pattern, int] = {}
        self.gram = np.zeros((0, n, n))  # of the sets, as vectors over the atoms
        self.single = np.zeros((0, n))  # 1: the atom is told by itself

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, pattern: Pattern) -> int:
        """The number of a pattern, by which the arrays have it."""
        known = self._numbers.get(pattern)
        if known is not None:
            return known
        rows = np.zeros((len(pattern), self.n))
        for k, places in enumerate(pattern):
            rows[k, places] = 1.0
        self.gram = np.concatenate([self.gram, (rows.T @ rows)[None]])
        self.single = np.concatenate([self.single, rows[rows.sum(axis=1) == 1].sum(axis=0)[None]])
        return self._numbers.setdefault(pattern, len(self._numbers))


def _lying(one: Array, other: Array) -> Array:
    """Which boxes of one atom each lie in the sum of crossed spaces.

    The Gram matrix of a crossed space is the Kronecker product of those of its two sides, and the sum of spaces is the
    range of the sum of these: one product of matrices for all of them.
    """
    n, m = one.shape[1], other.shape[1]
    crossed = (one.reshape(len(one), -1).T @ other.reshape(len(other), -1)).reshape(n, n, m, m)
    return _within(crossed.transpose(0, 2, 1, 3).reshape(n * m, n * m)).reshape(n, m)


def _within(gram: Array) -> Array:
    """Which unit vectors lie in the range of a Gram matrix: those to which everything that it maps to 0 is orthogonal.

    Cholesky's factors with pivots, whose first rows and columns span the range, give all that is mapped to 0.
    """
    inside = np.zeros(len(gram), bool)
    if not gram.any():
        return inside
    factors, pivots, rank, _ = dpstrf(gram, tol=NEAR_ZERO * max(float(gram.max()), 1.0))
    nothing, _ = dtrtrs(factors[:rank, :rank], factors[:rank, rank:])
    inside[pivots[:rank] - 1] = (np.abs(nothing) < NEAR_ZERO).all(axis=1)
    return inside
