"""A population below the minimum is not broken down: by a filter, as rows, or by subtraction."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from discreet.data.dimension import Dimension
from discreet.datasets import census
from discreet.errors import Refused
from discreet.methods.by_hand import Publish
from discreet.methods.contract import protect
from discreet.methods.perturb.cell_key import CellKey
from discreet.policy import Policy, Query, answer, parse_policy
from discreet.policy.populations import Closed, population_counts
from discreet.policy.pretabular import cube_of
from discreet.tables.table import Table

METHOD = '[[method]]\nname = "cell-key"\nd = 5\nv = 3\n'
LEAST = 60


def policy(query: str = "max_dimensions = 3", least: int = LEAST) -> Policy:
    return parse_policy(f"[query]\n{query}\n[table]\nmin_population = {least}\n{METHOD}")


@pytest.fixture(scope="module")
def cube() -> Table:
    return cube_of(census(n=20_000))


def closed_of(table: Table, least: int, filters: int = 1) -> Closed:
    made = policy(f"max_filters = {filters}", least)
    return Closed.of(table.dimensions, made, partial(population_counts, protect(table, CellKey(5, 3, seed=1))))


@pytest.mark.parametrize("name", ["citizenship", "occupation", "age"])
def test_a_filter_and_a_row_are_told_alike(cube: Table, name: str) -> None:
    """What is refused as a filter is not shown as rows, and what is shown has the same numbers both ways."""
    others = ["sex", "region"]
    wide = answer(cube, Query.of([name, *others]), policy())
    frame = wide.cells
    refused = set()
    for code in next(d for d in cube.dimensions if d.name == name).leaves:
        rows = frame[(frame[name] == code)]
        parts = rows[~((rows.sex == "Total") & (rows.region == "Total"))]["count"]
        try:
            one = answer(cube, Query.of(others, where={name: code}), policy()).cells
            assert rows["count"].tolist() == one["count"].tolist()
        except Refused:
            assert parts.isna().all()
            refused.add(code)
    assert refused
    assert any(code in note for note in wide.notes for code in refused)


def test_the_number_of_a_small_population_itself_is_given(cube: Table) -> None:
    """How many there are is one number; only how they are made up is not told."""
    alone = answer(cube, "citizenship", policy()).cells
    assert alone["count"].notna().all()
    frame = answer(cube, "citizenship, sex", policy()).cells
    assert frame[frame.sex == "Total"]["count"].tolist() == alone["count"].tolist()
    assert frame[frame.citizenship == "STL"]["count"].isna().sum() == 2


@pytest.mark.parametrize("seed", range(20))
def test_nothing_small_is_left_by_subtraction(seed: int) -> None:
    """What is not shown of a sum has as many people together as a single population must have, or nobody."""
    rng = np.random.default_rng(seed)
    area = Dimension.from_parents("area", {f"a{k}": f"g{k // 4}" for k in range(12)})
    counts = rng.poisson(rng.choice([0.0, 1.0, 20.0, 60.0], size=(12, 3)))
    table = Table.of(counts, [area, Dimension.flat("sex", ["f", "m", "x"])])
    least = 100
    closed = closed_of(table, least)
    people = population_counts(protect(table, CellKey(5, 3, seed=1)), (0,))
    shut = closed.by_axes[(0,)]
    assert shut[np.flatnonzero((people < least) & (np.array(area.codes) != "Total"))].all()
    for _, parts in area.relations:
        at = [area.position[part] for part, _ in parts if shut[area.position[part]]]
        together = np.maximum(people[at], 0).sum()
        assert together == 0 or together >= least or len(at) == len(parts)


def test_pairs_are_looked_at_where_two_filters_may_be_asked(cube: Table) -> None:
    """With two filters a population is named by two variables, so rows of two are held to the minimum too."""
    made = policy("max_dimensions = 3\nmax_filters = 2", 200)
    frame = answer(cube, "age, occupation, sex", made).cells
    for age, occupation in (("20-24", "0"), ("40-44", "0"), ("40-44", "2"), ("60-64", "5")):
        rows = frame[(frame.age == age) & (frame.occupation == occupation) & (frame.sex != "Total")]["count"]
        try:
            one = answer(cube, Query.of("sex", where={"age": age, "occupation": occupation}), made).cells
            assert rows.tolist() == one["count"].tolist()[1:]
        except Refused:
            assert rows.isna().all()


def test_decided_by_what_is_shown() -> None:
    """Two truths that are shown alike are treated alike."""
    shape = (4, 3)
    one, other = (Table.of(np.full(shape, n), ["area", "sex"]) for n in (10, 3))
    shown = Publish()(one)
    same = replace(shown, table=other, truthful=None)
    masks = [
        Closed.of(p.table.dimensions, policy(least=40), partial(population_counts, p)).cells(p.table.layout)
        for p in (shown, same)
    ]
    assert masks[0].any()
    assert (masks[0] == masks[1]).all()


def test_a_filter_counts_as_a_dimension(cube: Table) -> None:
    """A table of two variables and a filter is a cut of one of three."""
    made = policy("max_dimensions = 2", 0)
    with pytest.raises(Refused, match="3 variables are asked") as caught:
        answer(cube, Query.of("sex, age", where="region=R1"), made)
    assert caught.value.rule == "max_dimensions"
    assert len(answer(cube, Query.of("sex", where="region=R1"), made))
