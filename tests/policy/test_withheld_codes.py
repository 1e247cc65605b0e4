"""No small population lies in the span of the codes that are given; tried by brute force over exact fractions."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csc_array, hstack

from discreet.base.annotations import Array
from discreet.data.dimension import Dimension
from discreet.linear.light_vectors import LightSet
from discreet.linear.modular import in_span
from discreet.policy.withheld_codes import SummedCodes, _ToldAnyway
from discreet.tables.table import Table


def codes_of(dimension: Dimension, people: Array) -> SummedCodes:
    """All codes of a variable, none decided but those of everybody."""
    leaves = np.array([dimension.position[leaf] for leaf in dimension.leaves])
    whole = dimension.is_whole
    return SummedCodes(dimension.matrix, leaves, np.asarray(people, float), whole, whole)


def rank(rows: list[list[Fraction]]) -> int:
    """Of a matrix of fractions, by elimination."""
    rows = [list(row) for row in rows]
    size = 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((k for k in range(size, len(rows)) if rows[k][column]), None)
        if pivot is None:
            continue
        rows[size], rows[pivot] = rows[pivot], rows[size]
        for k in range(size + 1, len(rows)):
            factor = rows[k][column] / rows[size][column]
            rows[k] = [a - factor * b for a, b in zip(rows[k], rows[size], strict=True)]
        size += 1
    return size


def random_dimension(rng: np.random.Generator) -> Dimension:
    """Up to seven leaves, one to three hierarchies of several levels with groups of one, and sums with a minus."""
    leaves = [f"l{k}" for k in range(rng.integers(3, 8))]
    trees = []
    for tree in range(rng.integers(1, 4)):
        groups = [f"g{tree}{rng.integers(3)}" for _ in leaves]
        links = dict(zip(leaves, groups, strict=True))
        for group in set(groups):
            if rng.random() < 0.5:
                links[group] = f"h{tree}{rng.integers(2)}"
        trees.append(links)
    dimension = Dimension.from_parents("x", *trees, total="all")
    for k in range(rng.integers(0, 3)):
        plus = str(rng.choice(dimension.codes))
        inside = [leaf for leaf in dimension.leaves_of(plus) if dimension.leaves_of(plus)[leaf] > 0]
        if len(inside) > 1:
            dimension = dimension.with_group(f"m{k}", [plus], minus=[str(rng.choice(inside))])
    return dimension


@pytest.mark.parametrize("seed", range(60))
def test_no_small_population_is_in_the_span_of_what_is_given(seed: int) -> None:
    """Of every set of leaves: is it small, and is a vector that is nonzero only there a combination of given codes?"""
    rng = np.random.default_rng(seed)
    dimension = random_dimension(rng)
    matrix = dimension.matrix.toarray()
    counts = rng.choice([0, 3, 20, 45, 70, 150, 400], size=len(dimension.leaves))
    least = 100
    withheld = codes_of(dimension, counts @ matrix).withheld(least)
    assert not withheld[dimension.is_whole].any()
    assert withheld[(counts @ matrix < least) & ~dimension.is_whole].all()
    if counts.sum() < least:
        return  # everybody is too few, and everybody is given: no table of them is made at all
    given = [[Fraction(int(x)) for x in column] for column in matrix[:, ~withheld].T]
    people = np.flatnonzero(counts)
    full = rank([[row[k] for k in people] for row in given])  # where nobody is, nothing need be told
    for number in range(1, len(people) + 1):
        for places in itertools.combinations(people, number):
            if counts[list(places)].sum() < least:
                outside = [k for k in people if k not in places]
                assert rank([[row[k] for k in outside] for row in given]) == full, (dimension.groups, places)


@pytest.mark.parametrize("seed", range(30))
def test_noise_between_a_group_and_its_parts_opens_nothing(seed: int) -> None:
    """Numbers need not add up: a code that is shown as small is not in the span, whatever its parts are shown as."""
    rng = np.random.default_rng(seed)
    dimension = random_dimension(rng)
    matrix = dimension.matrix.toarray()
    counts = rng.choice([20, 45, 95, 105, 150, 400], size=len(dimension.leaves))
    shown = np.maximum(counts @ matrix + rng.integers(-12, 13, size=matrix.shape[1]), 1)
    least = 100
    withheld = codes_of(dimension, shown).withheld(least)
    small = (shown < least) & ~dimension.is_whole
    assert withheld[small].all()
    given = [[Fraction(int(x)) for x in column] for column in matrix[:, ~withheld].T]
    if (~withheld & ~dimension.is_whole).any():
        for code in np.flatnonzero(small):
            assert rank([*given, [Fraction(int(x)) for x in matrix[:, code]]]) == rank(given) + 1


def test_only_what_is_needed_is_withheld() -> None:
    """The smallest sibling goes with a small code; a group stays where its withheld parts are large together."""
    dimension = Dimension.from_parents("area", {"a1": "a", "a2": "a", "a3": "a", "b1": "b", "b2": "b"}, total="all")
    people = {"all": 1060, "a": 660, "a1": 10, "a2": 150, "a3": 500, "b": 400, "b1": 200, "b2": 200}
    withheld = codes_of(dimension, np.array([people[code] for code in dimension.codes])).withheld(100)
    assert [code for code, gone in zip(dimension.codes, withheld, strict=True) if gone] == ["a1", "a2"]


def test_a_group_of_one_goes_with_its_part() -> None:
    """A small code under a group of its own, and the group above: total less everything else would tell it."""
    dimension = Dimension.from_parents("area", {"a1": "a", "b1": "b", "b2": "b"}, total="all")
    people = {"all": 710, "a": 10, "a1": 10, "b": 700, "b1": 300, "b2": 400}
    withheld = codes_of(dimension, np.array([people[code] for code in dimension.codes])).withheld(100)
    assert [code for code, gone in zip(dimension.codes, withheld, strict=True) if gone] == ["a", "a1", "b", "b1"]


@pytest.mark.parametrize(("codes", "lengths"), [(671, [2, 3]), (10_000, [1, 2, 3])])
def test_long_code_lists_are_decided_in_seconds(codes: int, lengths: list[int]) -> None:
    """Ten thousand codes of four levels, and every set of leaves that only the same given codes hold is large."""
    rng = np.random.default_rng(codes)
    dimension = Dimension.from_prefix("code", [f"{k:04d}" for k in range(codes)], lengths)
    matrix = dimension.matrix
    counts = rng.poisson(rng.gamma(0.5, 2_000, size=codes))
    people = np.asarray(matrix.T.astype(float) @ counts)
    withheld = codes_of(dimension, people).withheld(500)
    assert (withheld & (people >= 500)).any()
    rows = matrix.tocsr()[:, np.flatnonzero(~withheld)]
    alike: dict[bytes, int] = {}
    for leaf in range(codes):
        key = rows.indices[rows.indptr[leaf] : rows.indptr[leaf + 1]].tobytes()
        alike[key] = alike.get(key, 0) + int(counts[leaf])
    assert all(together == 0 or together >= 500 for together in alike.values())


def test_sets_that_follow_anyway_are_found_together_as_one_by_one() -> None:
    """Finest codes with nobody are known; sets are asked in any order, some of them again."""
    rng = np.random.default_rng(3)
    outcomes = []
    for _ in range(60):
        shape = rng.integers(2, 5, 2)
        matrix = csc_array(Table.of(np.ones(shape, int), ["a", "b"]).matrix)
        finest = np.flatnonzero(sizes(matrix) == 1)
        leaves = finest[np.argsort(matrix.indices[matrix.indptr[finest]])]
        weight = rng.integers(0, 3, len(leaves)).astype(float)
        given = (sizes(matrix) > 1) & (rng.random(matrix.shape[1]) < rng.choice([0.0, 0.5, 1.0]))
        sets = [LightSet(np.flatnonzero(rng.random(len(leaves)) < 0.4), np.array([0])) for _ in range(8)]
        known = given.copy()
        known[leaves[weight == 0]] = True
        anyway = _ToldAnyway(matrix, leaves, given, weight)
        for one in [*sets, *sets]:
            column = np.zeros((len(leaves), 1), np.int8)
            column[one.places] = 1
            alone = in_span(csc_array(hstack([matrix, csc_array(column)])), np.flatnonzero(known), [len(known)])[0]
            assert anyway.tells(one, sets) == alone
            outcomes.append(bool(alone))
    assert 50 < sum(outcomes) < len(outcomes) - 50


def sizes(matrix: csc_array) -> np.ndarray:
    """Of how many finest codes every code is made up."""
    return np.diff(matrix.indptr)
