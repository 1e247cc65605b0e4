"""What two families of sets tell together, against linear algebra over all sets of a small world."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.server.guarding.unions import NOBODY, adds_up, atoms, compare_unions

PEOPLE = 6
families = st.frozensets(st.integers(1, 2**PEOPLE - 1), min_size=1, max_size=4)


def vector(bits: int) -> list[int]:
    return [bits >> k & 1 for k in range(PEOPLE)]


@given(families, families)
@settings(max_examples=150, deadline=None)
def test_every_set_that_follows_contains_a_listed_difference(mine: frozenset[int], theirs: frozenset[int]) -> None:
    """All 63 sets of six people: one in the span of both that is not made up of told ones has a listed one inside."""
    listed = [one for one in compare_unions(mine, theirs)[1] if one != NOBODY]
    told = atoms(mine) | atoms(theirs)
    span = np.array([vector(one) for one in told])
    rank = np.linalg.matrix_rank(span)
    for one in range(1, 2**PEOPLE):
        follows = np.linalg.matrix_rank(np.vstack([span, vector(one)])) == rank
        if follows and not adds_up(one, told):
            assert any(inside & ~one == 0 for inside in listed), f"{one:b} follows from {mine} and {theirs}"


@given(families, families)
@settings(max_examples=100, deadline=None)
def test_every_listed_difference_follows_or_is_nearly_one(mine: frozenset[int], theirs: frozenset[int]) -> None:
    """Nothing is listed for no reason: it follows, or is what two populations leave that are nearly the same."""
    told = atoms(mine) | atoms(theirs)
    span = np.array([vector(one) for one in told])
    rank = np.linalg.matrix_rank(span)
    for one in compare_unions(mine, theirs)[1]:
        follows = np.linalg.matrix_rank(np.vstack([span, vector(one)])) == rank
        pairs = [a ^ b for a in _unions(atoms(mine)) for b in _unions(atoms(theirs))]
        assert follows or one in pairs


@given(families)
@settings(max_examples=100, deadline=None)
def test_atoms_are_what_lies_in_the_same_sets(family: frozenset[int]) -> None:
    """Person by person."""
    inside: dict[frozenset[int], int] = {}
    for person in range(PEOPLE):
        if sets := frozenset(one for one in family if one >> person & 1):
            inside[sets] = inside.get(sets, 0) | 1 << person
    assert atoms(family) == frozenset(inside.values())


def _unions(sets: frozenset[int]) -> list[int]:
    joined = []
    for n in range(1, len(sets) + 1):
        joined += [sum(chosen) for chosen in combinations(sorted(sets), n)]
    return joined
