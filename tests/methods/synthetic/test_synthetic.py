"""A synthetic population: it fits noisy margins, knows nothing else of the true one, and everything adds up."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from discreet.data.dimension import Dimension
from discreet.data.microdata import Microdata
from discreet.datasets import census, census_structural
from discreet.errors import InputError
from discreet.methods.keys import Secret
from discreet.methods.synthetic import first_population
from discreet.methods.synthetic.crossing import InnerCells, crossings
from discreet.methods.synthetic.noisy_margins import Measurement, keyed_noise
from discreet.methods.synthetic.synthetic import Synthetic
from discreet.policy import Query, answer, parse_policy, ready
from discreet.policy.pretabular import cube_of
from discreet.tables.table import Table
from discreet.tables.tabulation import tabulate

SECRET = b"a secret of sixteen bytes or more"
POLICY = '[query]\nmax_dimensions = 3\n[[before]]\nname = "synthetic"\nseed = 7\n[guard]\naction = "off"\n'


@pytest.fixture(scope="module")
def cube() -> Table:
    return cube_of(census(n=40_000))


@pytest.fixture(scope="module")
def pair(cube: Table) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """True and synthetic counts."""
    shape = cube.layout.shape
    return cube.statistics["count"].inner.reshape(shape), Synthetic(group=0, secret=SECRET).drawn(cube).reshape(shape)


def margins(counts: NDArray[np.int64], order: int) -> NDArray[np.int64]:
    """All counts of so many variables, end to end."""
    axes = range(counts.ndim)
    kept = itertools.combinations(axes, order)
    return np.concatenate([counts.sum(axis=tuple(a for a in axes if a not in some)).ravel() for some in kept])


@pytest.mark.parametrize(("order", "most"), [(1, 1.8), (2, 1.8), (3, 1.9)])
def test_large_counts_are_as_near_as_the_noise(
    pair: tuple[NDArray[np.int64], NDArray[np.int64]], order: int, most: float
) -> None:
    """No worse than cell keys of variance 3, although everything adds up."""
    true, shown = (margins(counts, order) for counts in pair)
    gap = (shown - true)[true > 100]
    assert 0.5 < np.sqrt((gap**2).mean()) < most


def test_small_counts_are_not_recovered(pair: tuple[NDArray[np.int64], NDArray[np.int64]]) -> None:
    """Of the counts 1 to 3 fewer come out than the best single number would guess."""
    for order in (2, 3):
        true, shown = (margins(counts, order) for counts in pair)
        small = (true >= 1) & (true <= 3)
        best = max(float((true[small] == n).mean()) for n in (1, 2, 3))
        assert (shown[small] == true[small]).mean() < best


def test_zeros_tell_nothing_for_sure(pair: tuple[NDArray[np.int64], NDArray[np.int64]]) -> None:
    """Cells of two variables that hold somebody may be empty, and empty ones may hold somebody."""
    true, shown = (margins(counts, 2) for counts in pair)
    assert ((true > 0) & (shown == 0)).any()
    assert ((true == 0) & (shown > 0)).any()


def test_what_is_not_measured_is_not_known() -> None:
    """Two populations with the same tables of two variables give the same synthetic one, to the last cell."""
    rng = np.random.default_rng(3)
    one = rng.integers(5, 30, size=(2, 2, 2, 3))
    sign = np.fromfunction(lambda i, j, k, m: (-1.0) ** (i + j + k), one.shape).astype(int)
    other = one + 4 * sign
    assert (one != other).all()
    method = Synthetic(seed=1, large=400)
    names = ["a", "b", "c", "d"]
    same = [method.drawn(Table.of(counts, names)).tolist() for counts in (one, other)]
    assert same[0] == same[1]


def test_the_same_secret_gives_the_same_people(cube: Table) -> None:
    """And another secret gives others."""
    small = cube_of(census(n=3_000))
    first, again = (Synthetic(secret=SECRET).drawn(small) for _ in range(2))
    assert (first == again).all()
    assert (first != Synthetic(secret=b"another secret of enough bytes").drawn(small)).any()


def test_a_set_of_records_has_one_noise(cube: Table) -> None:
    """Cells of different margins that hold the same records are measured alike, so measuring twice tells no more."""
    cells = InnerCells.of(cube)
    noise = keyed_noise(3.0, Secret(SECRET))
    found = {c.axes: c for c in crossings(cells.dimensions, 2)}
    how = Measurement(v=3.0, large=100, zero=0)
    names = [d.name for d in cells.dimensions]
    activity, occupation = names.index("activity"), names.index("occupation")
    alone, both = how.margins(cells, [found[(activity,)], found[(activity, occupation)]], noise)
    # all who are not asked about work are "not applicable" in both
    assert alone.goal[-1] == both.goal.reshape(both.crossing.shape)[-1, -1]
    assert alone.goal[0] != both.goal.reshape(both.crossing.shape)[0].sum()


def test_structural_zeros_stay_empty() -> None:
    """Nobody is put where nobody can be."""
    data = census(n=3_000)
    names = [d.name for d in data.dimensions]
    table = tabulate(data, by=names, structural=census_structural(), margins=[names])
    drawn = Synthetic(secret=SECRET).drawn(table)
    assert len(drawn) == table.layout.n_inner < census_structural().size
    assert abs(int(drawn.sum()) - 3_000) < 12


def test_groups_are_measured_too() -> None:
    """The large sums of a hierarchy are as near as those of single codes, though each has many parts."""
    leaves = {f"a{k:03}": f"g{k // 40}" for k in range(160)}
    area = Dimension.from_parents("area", leaves)
    counts = np.random.default_rng(1).poisson(8.0, size=(160, 2, 5))
    table = Table.of(counts, [area, Dimension.flat("sex", ["f", "m"]), Dimension.flat("age", list("abcde"))])
    drawn = Synthetic(group=0, seed=2).drawn(table).reshape(counts.shape)
    gap = (drawn - counts).reshape(4, 40, 2, 5).sum(axis=1)
    assert np.sqrt((gap**2).mean()) < 2.5


def test_cubes_too_large_to_be_looked_at_whole(cube: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Combinations are drawn instead, and the tables of two variables still fit."""
    monkeypatch.setattr(first_population, "MOST_CELLS", 1000)
    true = cube.statistics["count"].inner.reshape(cube.layout.shape)
    drawn = Synthetic(secret=SECRET).drawn(cube).reshape(true.shape)
    gap = (margins(drawn, 2) - margins(true, 2))[margins(true, 2) > 100]
    assert np.sqrt((gap**2).mean()) < 2.5


def test_answers_add_up(cube: Table) -> None:
    """Every answer is a sum of the same people: totals of one table are the cells of another."""
    policy = parse_policy(POLICY)
    data = cube_of(census(n=3_000))
    wide = answer(data, Query.of("sex, age, region"), policy).cells
    narrow = answer(data, Query.of("sex, age"), policy).cells
    whole = wide[wide.region == "Total"].drop(columns="region").reset_index(drop=True)
    assert whole["count"].tolist() == narrow["count"].tolist()
    parts = wide[(wide.region != "Total") & (wide.sex != "Total") & (wide.age != "Total")]["count"].sum()
    assert parts == narrow["count"].iloc[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [('name = "synthetic"\nv = 0.1', "leaves most margins"), ('name = "synthetic"\norder = 9', "order")],
)
def test_parameters_that_do_not_protect_are_refused(text: str, words: str) -> None:
    """By what is wrong."""
    with pytest.raises(InputError, match=words):
        parse_policy(f"[[before]]\n{text}")


def test_chances_come_from_somewhere() -> None:
    """Without keys, secret or seed the noise would be everybody's to know."""
    with pytest.raises(InputError, match="takes its random numbers from a secret"):
        Synthetic()(Table.of([[3, 0], [1, 2]], ["area", "sex"]))


@pytest.mark.parametrize("counts", [[[0, 0], [0, 0]], [[1, 0], [0, 0]], [[5, 2], [900, 1]]])
def test_tiny_tables(counts: list[list[int]]) -> None:
    """Whole counts, none below zero, about as many people."""
    shown = Synthetic(seed=4)(Table.of(counts, ["area", "sex"])).published["count"]
    assert (shown >= 0).all()
    assert abs(shown[0] - np.sum(counts)) <= 10


def test_another_secret_is_another_population_in_one_process() -> None:
    """What steps have made of data is kept by the secret too."""
    data = cube_of(census(n=1_000))
    made = [
        replace(parse_policy('[[before]]\nname = "synthetic"\n'), secret=secret) for secret in (SECRET, SECRET[::-1])
    ]
    one, other, again = (cube_of(ready(data, policy)).statistics["count"].inner for policy in (*made, made[0]))
    assert (one == again).all()
    assert (one != other).any()


def test_records_too_many_for_a_cube() -> None:
    """Twelve variables of six codes have two thousand million combinations; people are drawn as records then."""
    rng = np.random.default_rng(1)
    kind = rng.integers(0, 3, size=4_000)
    names = [f"v{k}" for k in range(12)]
    columns = {name: np.char.add("c", ((kind + rng.integers(0, 4, size=4_000)) % 6).astype(str)) for name in names}
    dimensions = [Dimension.flat(name, [f"c{k}" for k in range(6)]) for name in names]
    data = Microdata.of(pa.table({name: pa.array(values) for name, values in columns.items()}), dimensions=dimensions)
    policy = parse_policy(POLICY)
    drawn = ready(data, policy)
    assert isinstance(drawn, Microdata)
    assert drawn.codebook.key is None
    shown = answer(data, Query.of("v0, v5"), policy).cells["count"].to_numpy(int)
    true = tabulate(data, by=["v0", "v5"]).count
    assert np.sqrt(np.mean((shown - true)[true > 100] ** 2)) < 3


def test_small_counts_of_three_variables_are_never_measured() -> None:
    """Two variables have no such limit, since all of theirs are measured."""
    with pytest.raises(InputError, match="order=2"):
        Synthetic(seed=1, large=0)
    assert Synthetic(seed=1, large=0, order=2).order == 2
