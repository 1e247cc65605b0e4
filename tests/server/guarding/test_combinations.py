"""What several tables tell together: triples and more, unions of codes, two variables at once, filter or row."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.policy import GuardRules, Policy, Query, TableRules
from discreet.policy.answering import from_cube
from discreet.policy.whole_variables import WholeVariables
from discreet.server.counting.counting import CubeCounting
from discreet.server.guarding.guard import Earlier, Geometry, Guard
from discreet.server.guarding.spans import Spaces, derived_boxes, derived_sets

CODES = "abcde"


def crossing_groups() -> dc.Dimension:
    """Five codes on a ring, with every pair of neighbours, and every pair and triple, as groups that cross."""
    groups = []
    for size in (2, 3):
        for chosen in itertools.combinations(CODES, size):
            name = "".join(chosen)
            groups.append({code: name if code in chosen else f"not {name}" for code in CODES})
    return dc.Dimension.from_parents("ring", *groups)


def guard(counts: list[int], min_difference: int = 50) -> Guard:
    """People on the ring, by sex and age; ``max_overlaps`` out of the way."""
    inner = np.array(counts)[:, None, None] * np.ones((1, 2, 3), int)
    table = dc.Table.of(inner, [crossing_groups(), dc.Dimension.flat("sex", "fm"), dc.Dimension.flat("age", "xyz")])
    chosen = GuardRules(action="refuse", max_overlaps=99, min_difference=min_difference)
    return Guard(CubeCounting(table), Policy(publish="as it is", guard=chosen))


def flagged(found: Guard, *asked: str) -> list[bool]:
    """Whether each question is flagged, after all those before it that were not."""
    told: list[Geometry] = []
    out: list[bool] = []
    for words in asked:
        variables, _, where = words.partition(" where ")
        geometry = found.geometry(Query.of(variables, where=where or None))
        out.append(found.check(geometry, Earlier(told).rows()) is not None)
        if not out[-1]:
            told.append(geometry)
    return out


def test_three_sets_that_no_pair_gives_away() -> None:
    """ab + bc - ac is twice b: no two of them tell of b."""
    small = guard([900, 3, 900, 900, 900])
    assert flagged(small, "sex where ring=ab", "sex where ring=bc", "sex where ring=ac") == [False, False, True]
    large = guard([900, 90, 900, 900, 900])
    assert flagged(large, "sex where ring=ab", "sex where ring=bc", "sex where ring=ac") == [False] * 3


def test_five_sets_on_a_ring() -> None:
    """ab - bc + cd - de + ae is twice a; four of them tell of nobody."""
    ring = [f"sex where ring={pair}" for pair in ("ab", "bc", "cd", "de", "ae")]
    for order in itertools.islice(itertools.permutations(ring), 0, 120, 17):
        assert flagged(guard([3, 900, 900, 900, 900]), *order) == [False] * 4 + [True]


def test_many_sets_of_one_total() -> None:
    """Everyone less four of five, in tables whose other variables differ but add up to the same."""
    small = guard([900, 900, 900, 900, 3])
    asked = ["sex where ring=a", "sex, age where ring=b", "age, sex where ring=c", "sex where ring=d", "sex"]
    assert flagged(small, *asked) == [False] * 4 + [True]
    assert flagged(guard([900, 900, 900, 900, 90]), *asked) == [False] * 5


def test_unions_of_codes_of_one_query() -> None:
    """A filter of several codes tells about each of them and their sum."""
    small = guard([900, 900, 900, 900, 3])
    assert flagged(small, "sex where ring=a|b|c|d", "sex") == [False, True]
    assert flagged(small, "sex where ring=a|b", "sex where ring=c|d", "sex") == [False, False, True]
    assert flagged(small, "sex", "sex where ring=a|b", "sex where ring=c|d") == [False, False, True]


def test_a_set_is_one_whether_filter_or_row() -> None:
    """Rows tell about every code as filters do, in either order; what rows told directly is not news."""
    small = guard([900, 900, 900, 900, 3])
    rows = "sex, ring where age=x"
    assert flagged(small, rows, "sex where age=x", "sex where ring=a;age=x") == [False, False, False]
    # The difference along age is told by the rows of one table and the filter of another.
    few = guard([30, 900, 900, 900, 900], min_difference=100)
    assert flagged(few, "age where ring=a", "ring, age") == [False, False]
    assert flagged(few, "sex where ring=a;age=x", "sex, age where ring=a") == [False, False]
    assert flagged(few, "sex where ring=a;age=x", "sex where ring=a") == [False, False]
    fewer = guard([10, 900, 900, 900, 900])
    assert flagged(fewer, "sex where ring=a;age=x", "sex where ring=a") == [False, True]


def test_two_variables_at_once() -> None:
    """Everyone - a - x + (a and x) is those who are neither: small though each difference of two is large."""
    inner = np.array([[900, 900], [900, 4]])
    sides = [dc.Dimension.flat("one", "ab"), dc.Dimension.flat("two", "xy"), dc.Dimension.flat("sex", "fm")]
    table = dc.Table.of(inner[:, :, None] * np.ones((1, 1, 2), int), sides)
    found = Guard(CubeCounting(table), Policy(publish="as it is", guard=GuardRules(action="refuse", min_difference=50)))
    asked = ["sex", "sex where one=a", "sex where two=x", "sex where one=a;two=x"]
    for order in itertools.permutations(asked):
        assert flagged(found, *order) == [False] * 3 + [True]
    assert flagged(found, "sex", "sex where one=a", "sex where two=x", "sex, one where two=x") == [False] * 3 + [True]


def counties(people: list[list[int]], min_difference: int = 30) -> Guard:
    """Four counties in two regions by three kinds of work, each alike by sex; the method shows what it is."""
    area = dc.Dimension.from_parents("area", {"n1": "N", "n2": "N", "s1": "S", "s2": "S"})
    dimensions = [area, dc.Dimension.flat("work", "xyz"), dc.Dimension.flat("sex", "fm")]
    table = dc.Table.of(np.array(people)[:, :, None] * np.ones((1, 1, 2), int), dimensions)
    rules = GuardRules(action="refuse", min_difference=min_difference)
    return Guard(CubeCounting(table), Policy(publish="as it is", guard=rules))


def test_a_region_around_a_county_along_two_variables() -> None:
    """S by x is what all and y and z leave; without s1 by x, which rows tell, it is s2 by x."""
    asked = ["area:level 1 where work=y", "area:level 1 where work=z", "work where area=s1", "area:level 1"]
    assert flagged(counties([[900] * 3] * 3 + [[4, 900, 900]]), *asked) == [False] * 3 + [True]
    assert flagged(counties([[900] * 3] * 3 + [[90, 900, 900]]), *asked) == [False] * 4


def test_what_one_table_told_is_not_news() -> None:
    """Neither a part of an answered table, nor a small set that a table has told by itself."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        found = counties(rng.integers(0, 60, (4, 3)).tolist())
        told = [found.geometry(Query.of(*words)) for words in (("sex",), ("work, sex",), ("area, work, sex",))]
        told.append(found.geometry(Query.of("sex", where="area=N")))
        for new in ("work", "sex, area:level 1", "sex where area=s1", "work where area=S", "sex where work=x;area=n1"):
            variables, _, where = new.partition(" where ")
            assert found.check(found.geometry(Query.of(variables, where=where or None)), Earlier(told).rows()) is None
    small = counties([[900] * 3] * 3 + [[4, 4, 4]])
    assert flagged(small, "area", "work where area=s1", "sex where area=S") == [False] * 3  # s2 was told by the first
    assert flagged(small, "work where area=s1", "sex where area=S") == [False, True]


# -- laws -------------------------------------------------------------------------------------------------------


def in_span(target: list[int], rows: list[list[int]]) -> bool:
    """By elimination in fractions: whether a vector is a combination of others."""
    basis: list[list[Fraction]] = []

    def reduced(row: list[int]) -> list[Fraction]:
        left = [Fraction(v) for v in row]
        for one in basis:
            at = next(k for k, v in enumerate(one) if v)
            left = [a - left[at] / one[at] * b for a, b in zip(left, one, strict=True)]
        return left

    for row in rows:
        left = reduced(row)
        if any(left):
            basis.append(left)
    return not any(reduced(target))


def bits(one: int, n: int) -> list[int]:
    return [one >> k & 1 for k in range(n)]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 63), min_size=2, max_size=6, unique=True))
def test_derived_sets_are_combinations_and_single_codes_are_found(sets: list[int]) -> None:
    """Families of one set each: what is derived lies in the span, and every code alone that does is accounted for."""
    mine, *others = sets
    derived = derived_sets(frozenset([mine]), frozenset(frozenset([one]) for one in others))
    rows = [bits(one, 6) for one in sets]
    for one in derived:
        assert in_span(bits(one, 6), rows)
        assert not in_span(bits(one, 6), rows[1:])
        assert one not in sets
    for code in range(6):
        alone = 1 << code
        if in_span(bits(alone, 6), rows) and not in_span(bits(alone, 6), rows[1:]) and alone not in sets:
            assert any(one & ~alone == 0 for one in derived)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 7), st.integers(1, 7)), min_size=2, max_size=6, unique=True))
def test_derived_boxes_are_combinations(boxes: list[tuple[int, int]]) -> None:
    """Along two variables of three codes each."""

    def vector(box: tuple[int, int]) -> list[int]:
        return [a * b for a in bits(box[0], 3) for b in bits(box[1], 3)]

    every = Spaces([frozenset([number]) for number in range(8)])  # the family of one set has its number
    others = np.array(boxes[1:])
    rows = [vector(box) for box in boxes]
    for box in derived_boxes(every, every, boxes[0], (others[:, 0], others[:, 1])):
        assert in_span(vector(box), rows)
        assert not in_span(vector(box), rows[1:])


@pytest.mark.parametrize("n", [30, 300])
def test_many_codes_take_a_moment(n: int) -> None:
    """Every code asked by itself, then all: the last one is derived, or too many are looked at in part."""
    import time

    whole = (1 << n) - 1
    others = frozenset(frozenset([1 << k]) for k in range(n - 1))
    start = time.process_time()
    derived = derived_sets(frozenset([whole]), others)
    assert time.process_time() - start < 10
    assert n > 200 or derived == (1 << (n - 1),)


def test_a_total_that_was_told_does_not_cover_what_is_made_up_of() -> None:
    """b is told as a number; b by sex follows from three tables, and is news unless a table of both has told it."""
    asked = ("sex where ring=ab", "sex where ring=bc", "sex where ring=ac")
    small = guard([900, 3, 900, 900, 900])
    assert flagged(small, "ring", *asked) == [False, False, False, True]
    assert flagged(small, "ring, age", *asked) == [False, False, False, True]
    assert flagged(small, "ring, sex", *asked) == [False] * 4


def test_a_total_of_two_variables_does_not_cover_either() -> None:
    """Everyone less a, less f, and both again: who is neither, by age, after the table of both was asked for."""
    inner = np.array([[900, 900], [900, 3]])[:, :, None] * np.ones((1, 1, 3), int)
    variables = [dc.Dimension.flat("area", "ab"), dc.Dimension.flat("sex", "fm"), dc.Dimension.flat("age", "xyz")]
    rules = GuardRules(action="refuse", max_overlaps=99, min_difference=50)
    found = Guard(CubeCounting(dc.Table.of(inner, variables)), Policy(publish="as it is", guard=rules))
    asked = ("age", "age where area=a", "age where sex=f", "age where area=a; sex=f")
    assert flagged(found, *asked)[-1]
    assert flagged(found, "area, sex", *asked)[-1]
    assert not flagged(found, "area, sex, age", *asked)[-1]


def test_what_a_table_withholds_was_not_told() -> None:
    """A code that is not broken down stands in the table as a total alone."""
    inner = np.array([900, 3, 900, 900, 900])[:, None, None] * np.ones((1, 2, 3), int)
    table = dc.Table.of(inner, [crossing_groups(), dc.Dimension.flat("sex", "fm"), dc.Dimension.flat("age", "xyz")])
    rules = GuardRules(action="refuse", max_overlaps=99, min_difference=50)
    policy = Policy(publish="as it is", guard=rules, table=TableRules(min_population=50))
    whole = WholeVariables(table.dimensions, policy, partial(from_cube, table))
    found = Guard(CubeCounting(table), policy, whole)
    shown, totals = found.geometries(Query.of("ring, sex"))
    b = 1 << table.dimensions[0].leaf_position["b"]
    assert b not in found.families[0][shown.families[0]]
    assert b in found.families[0][totals.families[0]]
    assert totals.families[1:] == (0, 0)
    assert len(found.geometries(Query.of("ring"))) == 1
    told = [*found.geometries(Query.of("ring, sex")), *map(found.geometry, map(where, ("ab", "bc")))]
    assert found.check(found.geometry(where("ac")), Earlier(told).rows()) is not None


def where(group: str) -> Query:
    """By sex, of one group."""
    return Query.of("sex", where=f"ring={group}")
