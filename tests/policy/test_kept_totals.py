"""Variables that a policy and a query name: those whose totals a method keeps, and groups that cannot be a filter."""

from __future__ import annotations

import pytest

import discreet as dc
from discreet.policy import Query, answer, parse_policy


def test_totals_that_a_method_keeps_are_those_of_the_variables_asked() -> None:
    """A policy that keeps the totals of areas answers tables without areas, and names no variable that is unknown."""
    text = '[[method]]\nname = "semi-controlled-round"\ncontrol = ["{name}"]\nseed = 1'
    people = dc.datasets.census(2000)
    policy = parse_policy(text.format(name="region"))
    policy.check(people.dimensions)
    shown = answer(people, Query.of("region,sex"), policy)
    assert isinstance(shown, dc.Release)
    without = answer(people, Query.of("sex"), policy)
    free = answer(
        people, Query.of("sex"), parse_policy(text.format(name="region").replace('control = ["region"]\n', ""))
    )
    assert isinstance(without, dc.Release)
    assert isinstance(free, dc.Release)
    assert without.to_csv() == free.to_csv()
    with pytest.raises(dc.DiscreetError, match="unknown variable 'regoin'; did you mean 'region'"):
        parse_policy(text.format(name="regoin")).check(people.dimensions)


def test_a_group_with_something_taken_away_is_no_filter() -> None:
    """The message names the codes that can stand for it."""
    geo = dc.Dimension.from_parents("geo", {"a": "X", "b": "X", "c": "Y"}).with_group("some", ["X"], minus=["b"])
    with pytest.raises(dc.DiscreetError, match=r"name the codes that it holds, geo=a$"):
        Query.of("sex", where={"geo": "some"}).resolved([geo, dc.Dimension.flat("sex", ["m", "f"])])
