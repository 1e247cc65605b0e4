"""Release area by area: a table that fails in a few areas is given for the others and names those."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.policy import Query, answer, parse_policy
from discreet.policy.area_release import with_company
from discreet.policy.sections import AreaRules
from discreet.server.counting.counting import RecordCounting
from discreet.server.guarding.guard import Guard

SECRET = "sixteen letters!"
POLICY = """
[[method]]
name = "cell-key"
d = 5
v = 3
[areas]
variable = "district"
min_mean = 2.0
[measures.pay]
noise = {}
statistics = ["sum", "mean"]
"""
SMALL = ("d7", "d8", "d9")


def residents() -> dc.Microdata:
    """Seven districts of 200 people and three of a dozen."""
    rng = np.random.default_rng(3)
    sizes = {f"d{k}": 12 if f"d{k}" in SMALL else 200 for k in range(10)}
    district = np.repeat(list(sizes), list(sizes.values()))
    n = len(district)
    frame = pd.DataFrame({"district": district, "age": rng.choice([f"{a}" for a in range(10)], n)})
    frame = frame.assign(sex=rng.choice(["f", "m"], n), pay=rng.integers(1, 999, n), id=range(n))
    dimensions = ["district", "age", "sex"]
    return dc.Microdata.of(frame, dimensions=dimensions, unit="id", magnitudes=["pay"], secret=SECRET)


def policy(text: str = POLICY) -> Any:
    return replace(parse_policy(text), secret=SECRET.encode())


def test_the_table_is_given_for_the_other_areas_and_names_those() -> None:
    """The three, by protected counts worked out by hand; everything else is as without the rule."""
    data = residents()
    release = answer(data, "district, age", policy())
    whole = answer(data, "district, age", policy(POLICY.replace("min_mean = 2.0", "min_population = 1")))
    shown = whole.cells
    inner = shown[(shown["district"] != "Total") & (shown["age"] != "Total")]
    failing = inner.groupby("district", observed=True)["count"].mean() < 2
    assert tuple(failing[failing].index) == SMALL
    gone = release.cells["district"].isin(SMALL)
    assert release.cells.loc[gone, "count"].isna().all()
    assert (release.cells.loc[gone, "status"] == "c").all()
    assert release.cells.loc[~gone, "count"].tolist() == shown.loc[~gone, "count"].tolist()
    assert any("Not given for 3 of 10 categories of district (d7, d8, d9)" in note for note in release.notes)


def test_a_coarser_table_is_given_for_all() -> None:
    """Two cells an area are not too many."""
    release = answer(residents(), "district, sex", policy())
    assert not release.marked.any()
    assert not any("Not given" in note for note in release.notes)


def test_a_filter_by_such_an_area_is_refused_and_measures_are_hidden_too() -> None:
    """By the same decision, for every statistic."""
    data = residents()
    with pytest.raises(dc.Refused) as caught:
        answer(data, Query.of("age", where="district=d8"), policy())
    assert caught.value.rule == "areas"
    assert len(answer(data, Query.of("age", where="district=d1"), policy())) == 11
    for statistic in ("sum", "mean", "percent"):
        release = answer(data, Query.of("district, age", measure="pay", statistic=statistic), policy())
        assert release.marked[release.cells["district"].isin(SMALL)].all()


def test_no_area_is_left_out_alone() -> None:
    """It would be its group less the others: the smallest of these is left out, too, in every group."""
    dimension = dc.Dimension.from_prefix("nace", ["A01", "A02", "A03", "B05", "B06"], [1])
    people = np.zeros(len(dimension.codes))
    for code, number in {"A01": 5, "A02": 90, "A03": 40, "B05": 70, "B06": 80}.items():
        people[dimension.position[code]] = number
    failing = np.zeros(len(dimension.codes), bool)
    failing[dimension.position["A01"]] = True
    gone = with_company(dimension, failing, people)
    assert [dimension.codes[k] for k in np.flatnonzero(gone)] == ["A01", "A03"]


@given(st.integers(0, 10_000))
def test_no_failing_area_follows_from_what_is_given(seed: int) -> None:
    """Random areas in groups, groups in larger ones, groups that cross: checked by the rank of what is given."""
    rng = np.random.default_rng(seed)
    names = [f"a{k}" for k in range(int(rng.integers(3, 8)))]
    groups = {name: f"g{rng.integers(3)}" for name in names}
    larger = {group: f"G{rng.integers(2)}" for group in sorted(set(groups.values()))}
    crossing = {name: f"x{rng.integers(3)}" for name in names}
    hierarchies = [{**groups, **larger}, *([crossing] if rng.random() < 0.5 else [])]
    dimension = dc.Dimension.from_parents("area", *hierarchies, total="All")
    matrix = dimension.matrix.toarray().astype(float)
    inner = rng.integers(1, 100, len(names))
    people = inner @ matrix
    failing = (people < 40) & ~dimension.is_whole
    gone = with_company(dimension, failing, people)
    assert (gone >= failing).all()
    assert not (gone & dimension.is_whole).any()
    shown = matrix[:, ~gone]
    rank = np.linalg.matrix_rank(shown)
    follow = [
        code
        for code in np.flatnonzero(failing)
        if np.linalg.matrix_rank(np.column_stack([shown, matrix[:, code]])) == rank
    ]
    assert not follow or (gone | dimension.is_whole).all()  # the areas are one: nothing is left to leave out


def test_a_group_does_not_follow_from_the_one_above_it() -> None:
    """Both areas of A are left out and so is A; G less B would be A, so something of B is left out, too."""
    parents = {"a1": "A", "a2": "A", "b1": "B", "b2": "B", "A": "G", "B": "G", "c1": "C", "c2": "C"}
    dimension = dc.Dimension.from_parents("area", parents, total="All")
    inner = {"a1": 3, "a2": 5, "b1": 300, "b2": 200, "c1": 400, "c2": 500}
    people = np.array([inner[leaf] for leaf in dimension.leaves]) @ dimension.matrix.toarray().astype(float)
    gone = with_company(dimension, (people < 40) & ~dimension.is_whole, people)
    assert [dimension.codes[k] for k in np.flatnonzero(gone)] == ["A", "a1", "a2", "B", "b2"]


def test_the_guard_does_not_take_left_out_areas_for_told() -> None:
    """What a table did not give was not given."""
    data = residents()
    guard = Guard(RecordCounting(data), policy())
    (fine,) = guard.geometries(Query.of("district, age"))
    (coarse,) = guard.geometries(Query.of("district, sex"))
    axis = guard.axis["district"]
    told, every = (guard.families[axis][one.families[axis]] for one in (fine, coarse))
    bits = {1 << guard.dimensions[axis].leaf_position[code] for code in SMALL}
    assert every - told == bits


def test_the_section_names_a_variable_and_a_rule() -> None:
    """One without the other would do nothing."""
    for stated in ({"variable": "district"}, {"min_mean": 2.0}):
        with pytest.raises(dc.InputError, match="names a variable, and a rule"):
            AreaRules(**stated)
    with pytest.raises(dc.InputError, match="did you mean 'district'"):
        policy(POLICY.replace('"district"', '"distrikt"')).check(residents().dimensions)
