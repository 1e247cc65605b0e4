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

import numpy as np

from discreet.base.annotations import Array
from discreet.server.unions import Sets, adds_up, atoms, union

MOST_JOINED = 3  # atoms of a derived set; where there are more than MOST_TRIPLES atoms, two
MOST_TRIPLES = 24
MOST_ATOMS = 200  # along one variable; of more, those that the new table cuts are looked at
MOST_BOXES = 144  # atoms along two variables, crossed
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
    before = _projection([_vectors(family, parts) for family in others], len(parts))
    after = _projection([_vectors(mine, parts), *(_vectors(family, parts) for family in others)], len(parts))
    told = frozenset().union(*(atoms(family) for family in (mine, *others)))  # and whoever has them can add them up
    smallest: list[int] = []
    for chosen in _unions_in(after, before):
        joined = union(parts[k] for k in chosen)
        inside = any(one & ~joined == 0 for one in smallest)
        if not inside and not adds_up(joined, told):
            smallest.append(joined)
    return tuple(sorted(smallest))


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
    spaces = {pair: tuple(_told(pair[side], parts[side]) for side in (0, 1)) for pair in every}
    crossed = {pair: np.kron(first, second) for pair, (first, second) in spaces.items()}
    after = _projection(list(crossed.values()), n)
    before = _projection([crossed[pair] for pair in others], n)
    boxes = []
    for (a, one), (b, other) in itertools.product(enumerate(parts[0]), enumerate(parts[1])):
        at = a * len(parts[1]) + b
        if after[at, at] < 1 - NEAR_ZERO or before[at, at] >= 1 - NEAR_ZERO:
            continue
        if not any(adds_up(one, atoms(pair[0])) and adds_up(other, atoms(pair[1])) for pair in every):
            boxes.append((one, other))
    return tuple(boxes)


def _unions_in(after: Array, before: Array) -> list[tuple[int, ...]]:
    """Positions of atoms whose union lies in one space and not in another, small unions first."""
    n = len(after)
    out: list[tuple[int, ...]] = []
    for size in range(1, min(MOST_JOINED if n <= MOST_TRIPLES else 2, n) + 1):
        chosen = np.array(list(itertools.combinations(range(n), size)))
        lies = [_length(space, chosen) >= size - NEAR_ZERO for space in (after, before)]
        out += [tuple(row) for row in chosen[lies[0] & ~lies[1]].tolist()]
    return out


def _length(space: Array, chosen: Array) -> Array:
    """The squared length of the projection of unions of atoms; that of the union itself is its number of atoms."""
    total = np.zeros(len(chosen))
    for a, b in itertools.product(range(chosen.shape[1]), repeat=2):
        total += space[chosen[:, a], chosen[:, b]]
    return total


def _projection(spaces: Sequence[Array], n: int) -> Array:
    """The projection onto the sum of spaces, each given by its vectors as rows."""
    if not spaces:
        return np.zeros((n, n))
    rows = np.unique(np.concatenate(spaces), axis=0)
    values, vectors = np.linalg.eigh(rows.T @ rows)
    kept = vectors[:, values > NEAR_ZERO * max(float(values[-1]), 1.0)]
    projection: Array = kept @ kept.T
    return projection


def _vectors(family: Sets, parts: Sequence[int]) -> Array:
    """The sets of a family over atoms."""
    return np.array([[float(one & part == part) for part in parts] for one in family])


def _cut(families: Sequence[Sets]) -> list[int]:
    """The atoms of the sets that stand without a total around them, and of the rest."""
    whole = union(union(family) for family in families)
    alone = frozenset().union(*(family for family in families if whole not in family))
    return sorted(atoms(alone | {whole}))


def _told(family: Sets, parts: Sequence[int]) -> Array:
    """What a family tells of these atoms: each that it makes up, and the sets that are unions of them."""
    known = atoms(family)
    rows = [one for one in parts if adds_up(one, known)]
    rows += [one for one in family if one == union(part for part in parts if part & one)]
    if not rows:
        return np.zeros((1, len(parts)))
    return np.array([[float(one & part == part) for part in parts] for one in dict.fromkeys(rows)])
