"""A population below the minimum is not broken down: by a filter, as rows, or by subtraction."""

from __future__ import annotations

import contextlib
import itertools
from functools import partial

import numpy as np
import pytest

from discreet.base.annotations import Array
from discreet.data.dimension import Dimension
from discreet.datasets import census
from discreet.errors import InputError, Refused
from discreet.policy import Policy, Query, answer, parse_policy
from discreet.policy.answering import from_cube
from discreet.policy.pretabular import cube_of
from discreet.policy.whole_variables import WholeVariables
from discreet.tables.table import Table

METHOD = '[[method]]\nname = "cell-key"\nd = 5\nv = 3\n'
ROUNDED = '[[method]]\nname = "random-round"\nseed = 1\n'
LEAST = 60


def policy(query: str = "max_dimensions = 3", least: int = LEAST, method: str = METHOD) -> Policy:
    return parse_policy(f"[query]\n{query}\n[table]\nmin_population = {least}\n{method}")


@pytest.fixture(scope="module")
def cube() -> Table:
    return cube_of(census(n=20_000))


def whole_of(table: Table, made: Policy) -> WholeVariables:
    return WholeVariables(table.dimensions, made, partial(from_cube, table))


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
    whole = whole_of(table, policy("max_filters = 1", least, ROUNDED))
    people = whole.people(("area",))
    shut = whole.of_variables(("area",))
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
    rounded = policy(least=40, method='[[method]]\nname = "round"\nbase = 10\n')
    areas = np.array([[10, 10], [40, 20], [9, 11], [90, 90]])
    masks = [whole_of(Table.of(areas + more, ["area", "sex"]), rounded).of_variables(("area",)) for more in (0, 1)]
    assert masks[0].any()
    assert (masks[0] == masks[1]).all()


@pytest.mark.parametrize("seed", range(12))
def test_tables_at_all_levels_together_tell_of_nothing_small(seed: int) -> None:
    """All tables of a variable that there are: no combination of what they break down is about few people."""
    rng = np.random.default_rng(seed)
    first = {f"a{k}": f"g{k // 3}" for k in range(7)} | {"g0": "h0", "g1": "h0", "g2": "h1"}
    second = {f"a{k}": f"x{k % 3}" for k in range(7)}
    area = Dimension.from_parents("area", first, second).with_group("m", ["h0"], minus=["a4"])
    counts = 2 * rng.choice([1, 4, 15, 30, 100], size=(7, 2))  # even, so that nothing is rounded
    table = Table.of(counts, [area, Dimension.flat("sex", ["f", "m"])])
    made = policy("max_dimensions = 2", 100, '[[method]]\nname = "round"\nbase = 2\n')
    given = {"Total"}
    for level in area.levels:
        if level != "total":
            frame = answer(table, Query.of({"area": level, "sex": "sex"}), made).cells
            given |= set(frame[(frame.sex == "f") & frame["count"].notna()].area)
    for code in area.codes:
        with contextlib.suppress(Refused, InputError):
            answer(table, Query.of("sex", where={"area": code}), made)
            given.add(code)
    matrix = area.matrix.toarray()[:, np.array([area.position[code] for code in sorted(given)])]
    people = counts.sum(axis=1)
    for number in range(1, 8):
        for places in itertools.combinations(range(7), number):
            if people[list(places)].sum() < 100:
                outside = [k for k in range(7) if k not in places]
                assert np.linalg.matrix_rank(matrix[outside]) == np.linalg.matrix_rank(matrix)


def test_a_filter_counts_as_a_dimension(cube: Table) -> None:
    """A table of two variables and a filter is a cut of one of three."""
    made = policy("max_dimensions = 2", 0)
    with pytest.raises(Refused, match="3 variables are asked") as caught:
        answer(cube, Query.of("sex, age", where="region=R1"), made)
    assert caught.value.rule == "max_dimensions"
    assert len(answer(cube, Query.of("sex", where="region=R1"), made))


@pytest.mark.parametrize("seed", range(15))
def test_pairs_are_not_told_by_subtraction_either(seed: int) -> None:
    """Of two variables together: what is small follows from given pairs only if it follows from single variables."""
    rng = np.random.default_rng(seed)
    area = Dimension.from_parents("area", {f"a{k}": f"g{k // 2}" for k in range(4)})
    job = Dimension.flat("job", ["i", "j", "k"])
    counts = 2 * rng.choice([0, 2, 10, 30, 100, 300], size=(4, 3, 2))
    counts[0, 0] += 100
    table = Table.of(counts, [area, job, Dimension.flat("sex", ["f", "m"])])
    made = policy("max_dimensions = 3\nmax_filters = 2", 100, '[[method]]\nname = "round"\nbase = 2\n')
    whole = whole_of(table, made)
    single = whole.of_variables(("area",))[:, None] | whole.of_variables(("job",))[None, :]
    closed = (whole.of_variables(("area", "job")) | single).reshape(-1)
    people = whole.people(("area", "job"))
    matrix = np.kron(area.matrix.toarray(), job.matrix.toarray())
    assert people.reshape(-1).tolist() == (counts.sum(axis=2).reshape(-1) @ matrix).tolist()
    nobody = np.eye(12)[:, counts.sum(axis=2).reshape(-1) == 0]  # what is known to be empty helps whoever subtracts
    margins = (area.matrix.sum(axis=0) == 4)[:, None] | (job.matrix.sum(axis=0) == 3)[None, :]
    given, fewer = (
        np.hstack([matrix[:, ~closed & some.reshape(-1)], nobody]) for some in (np.ones_like(margins), margins)
    )
    small = (people.reshape(-1) < 100) & (people.reshape(-1) > 0) & ~margins.reshape(-1)
    assert closed[small].all()
    for code in np.flatnonzero(small):
        if _in_span(given, matrix[:, code]):
            assert _in_span(fewer, matrix[:, code])


def _in_span(columns: Array, target: Array) -> bool:
    together = np.column_stack([columns, target])
    return bool(np.linalg.matrix_rank(together) == np.linalg.matrix_rank(columns))


def test_what_a_higher_role_is_not_given_is_not_given_to_lower_ones(cube: Table) -> None:
    """Who has a role sees both, so what its policy withholds cannot be shown by another that chooses other codes."""
    lenient, strict = whole_of(cube, policy(least=60)), whole_of(cube, policy(least=600))
    strict.above = [lenient]
    own = whole_of(cube, policy(least=600))
    for d in cube.dimensions:
        withheld = strict.of_variables((d.name,))
        assert (withheld >= lenient.of_variables((d.name,))).all()
        assert withheld.sum() >= own.of_variables((d.name,)).sum() > 0 or not own.of_variables((d.name,)).any()
    free = whole_of(cube, policy(least=0))
    free.above = [lenient]
    assert (free.of_variables(("citizenship",)) == lenient.of_variables(("citizenship",))).all()
    assert free.closed(cube.dimensions[:3]).by_axes
