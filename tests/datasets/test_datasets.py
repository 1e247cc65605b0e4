"""Synthetic data have the character they promise; the printed tables are the printed ones."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet import datasets
from discreet.data.microdata import Microdata
from discreet.datasets.business import SIZES
from discreet.datasets.census import CODES, NAMES, SHAPE, _fitted, _two_way
from discreet.datasets.printed import (
    INJURIES,
    RELIGION,
    SEX,
    TRAVEL,
    WILLENBORG,
    WILLENBORG_REDESIGNED,
)
from discreet.errors import InputError
from discreet.tables.table import Table
from discreet.tables.tabulation import tabulate

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def hypercube(persons: pa.Table) -> Ints:
    """The counts of all 245,700 cells."""
    index = [persons[name].combine_chunks().indices.to_numpy().astype(np.int64) for name in NAMES]
    return np.bincount(np.ravel_multi_index(index, SHAPE), minlength=int(np.prod(SHAPE))).reshape(SHAPE)


@pytest.fixture(scope="module")
def cube() -> Ints:
    return hypercube(datasets.census_arrow())


# -- census -----------------------------------------------------------------------------------------------------------

# JOS15 Table 1: smallest and largest count of the class, per cent of the cells; then our tolerance in points
JOS15_TABLE_1 = [
    (0, 0, 92.4, 0.5),
    (1, 1, 1.6, 0.4),
    (2, 2, 0.9, 0.3),
    (3, 5, 1.2, 0.3),
    (6, 8, 0.7, 0.3),
    (9, 10, 0.3, 0.2),
    (11, 10**9, 3.0, 0.4),
]


@pytest.mark.parametrize(("low", "high", "percent", "tolerance"), JOS15_TABLE_1)
def test_census_cells_are_distributed_as_in_jos15(
    cube: Ints, low: int, high: int, percent: float, tolerance: float
) -> None:
    """The share of cells of each size is near the one printed in JOS15 Table 1."""
    assert 100 * ((cube >= low) & (cube <= high)).mean() == pytest.approx(percent, abs=tolerance)


# JOS15 Table 2: population and zeros in per cent of the four output tables
JOS15_TABLE_2 = [(854_539, 62.4), (645_461, 23.3), (736_355, 47.0), (96_656, 35.9)]


@pytest.mark.parametrize("number", range(4))
def test_census_output_tables_resemble_jos15(cube: Ints, number: int) -> None:
    """The four output tables have nearly the printed population and share of zeros."""
    table = (
        cube[0].sum(axis=(0, 2, 5)),  # region 1: age x occupation x education
        cube[1].sum(axis=(2, 3, 4)),  # region 2: sex x age x citizenship
        cube[:, 0].sum(axis=(0, 1, 5)),  # men: activity x occupation x education
        cube[:, :, 9].sum(axis=(1, 2, 5)),  # the tenth age band: region x occupation x education
    )[number]
    population, zeros = JOS15_TABLE_2[number]
    assert table.size == (2457, 210, 585, 234)[number]
    assert table.sum() == pytest.approx(population, rel=0.01)
    assert 100 * (table == 0).mean() == pytest.approx(zeros, abs=6)


def test_census_structural_zeros_are_empty(cube: Ints) -> None:
    """No person stands in a cell that cannot exist; about three cells in four cannot."""
    structural = datasets.census_structural()
    assert structural.shape == SHAPE
    assert cube[structural].sum() == 0
    assert cube.sum() == 1_500_000
    assert 0.7 < structural.mean() < 0.8


def test_census_edit_rules() -> None:
    """Children and the old are not applicable throughout; the employed have worked; soldiers are nationals."""
    possible = ~datasets.census_structural()
    children, working = possible[:, :, :3], possible[:, :, 3:15]
    assert children[..., -1, -1, -1, :].all()
    assert not children[:, :, :, :-1].any()
    assert not working[:, :, :, -1].any()
    assert not possible[:, :, :, 0, list(CODES["occupation"]).index("NEV")].any()
    assert not possible[:, :, :, :, 0, :, 1:].any()


def test_census_fit_has_its_margins() -> None:
    """Iterative proportional fitting has met every two-way margin, and the margins agree with each other."""
    proportions, subscripts = _fitted()
    fitted = np.zeros(SHAPE)
    fitted[tuple(subscripts.astype(np.int64))] = proportions
    for axes, margin in _two_way().items():
        others = tuple(axis for axis in range(len(SHAPE)) if axis not in axes)
        np.testing.assert_allclose(fitted.sum(axis=others), margin, atol=2e-5)
        assert margin.sum() == pytest.approx(1)


@given(n=st.integers(1, 300), seed=st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_census_of_any_size(n: int, seed: int) -> None:
    """Any number of persons, the same for the same seed, each once, none in an impossible cell."""
    persons = datasets.census_arrow(n, seed)
    assert persons.equals(datasets.census_arrow(n, seed))
    assert persons["person"].to_pylist() == list(range(1, n + 1))
    assert not any(column.null_count for column in persons.columns)
    assert hypercube(persons)[datasets.census_structural()].sum() == 0


def test_census_depends_on_its_seed_and_is_shuffled() -> None:
    """Another seed is another population, and the order of the records says nothing."""
    one, other = datasets.census_arrow(2000, 1), datasets.census_arrow(2000, 2)
    assert not one.equals(other)
    assert pc.count_distinct(one["rkey"]).as_py() == 2000
    region = one["region"].combine_chunks().indices.to_numpy()
    assert abs(region[:1000].mean() - region[1000:].mean()) < 0.1


def test_census_microdata() -> None:
    """The persons come with their codebook, unit and key, and codes are those of the codebook."""
    made = datasets.census(50)
    assert (made.n, made.codebook.unit, made.codebook.key) == (50, "person", "rkey")
    assert made.codebook.source == "synthetic"
    made.check()
    persons = datasets.census_arrow(50)
    for dimension in datasets.census_dimensions():
        assert set(persons[dimension.name].to_pylist()) <= set(dimension.leaves)
        assert set(dimension.labels) == set(dimension.leaves)


@pytest.mark.parametrize("make", [datasets.census_arrow, datasets.business_arrow])
@pytest.mark.parametrize("n", [0, -5])
def test_an_empty_population_is_refused(make: object, n: int) -> None:
    """Fewer than one record is an error that says so."""
    assert callable(make)
    with pytest.raises(InputError, match="at least one"):
        make(n)


# -- business ---------------------------------------------------------------------------------------------------------


def column(firms: pa.Table, name: str) -> Floats:
    return np.asarray(firms[name].to_numpy(), dtype=np.float64)


@pytest.fixture(scope="module")
def firms() -> pa.Table:
    return datasets.business_arrow()


def test_business_turnover_is_skewed(firms: pa.Table) -> None:
    """The mean is far above the median, the largest hundredth of firms hold a third, and cents are exact."""
    turnover = column(firms, "turnover")
    assert turnover.min() > 0
    assert turnover.mean() > 3 * np.median(turnover)
    assert np.sort(turnover)[-1000:].sum() > turnover.sum() / 3
    np.testing.assert_array_equal(turnover, np.round(turnover, 2))


def test_business_weights(firms: pa.Table) -> None:
    """Weights have two decimals, are at least 1, are 1 for the largest class and fall with size."""
    weight, size = column(firms, "weight"), firms["size"].combine_chunks().indices.to_numpy()
    means = [weight[size == number].mean() for number in range(len(SIZES))]
    assert weight.min() == 1
    assert (weight[size == 3] == 1).all()
    assert means == sorted(means, reverse=True)
    np.testing.assert_array_equal(weight, np.round(weight, 2))


def test_business_sizes_follow_employees(firms: pa.Table) -> None:
    """The size class is the one that holds the number of employees."""
    size, employees = firms["size"].combine_chunks().indices.to_numpy(), column(firms, "employees")
    bounds = [*SIZES.values(), 10**9]
    for number in range(len(SIZES)):
        inside = employees[size == number]
        assert inside.size
        assert bounds[number] <= inside.min() <= inside.max() < bounds[number + 1]


def test_business_holdings_span(firms: pa.Table) -> None:
    """Some holdings span regions, some keep to one county, and the large firms belong to groups."""
    frame = firms.to_pandas()
    groups = frame.groupby("holding").agg(firms=("firm", "size"), counties=("region", "nunique"))
    large = groups[groups["firms"] > 5]
    assert (large["counties"] > 1).any()
    assert (large["counties"] == 1).any()
    shared = frame["holding"].map(groups["firms"]) > 1
    assert shared[frame["size"] == "250+"].mean() > 10 * shared[frame["size"] == "0-9"].mean()


def test_business_hierarchies() -> None:
    """Every group lies in its division and section, every county in its region."""
    region, activity, size = datasets.business_dimensions()
    assert (len(region.leaves), len(activity.leaves), len(size.leaves)) == (16, 61, 4)
    for code in activity.codes:
        if code != activity.total:
            assert all(leaf.startswith(code) for leaf in activity.leaves_of(code))
    assert sorted(region.leaves_of("N")) == ["N1", "N2", "N3", "N4"]
    assert set(activity.labels) == set(activity.codes) - {activity.total}


@given(n=st.integers(1, 300), seed=st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_business_of_any_size(n: int, seed: int) -> None:
    """Any number of firms, the same for the same seed, each once, with known codes."""
    firms = datasets.business_arrow(n, seed)
    assert firms.equals(datasets.business_arrow(n, seed))
    assert firms["firm"].to_pylist() == list(range(1, n + 1))
    assert not any(column.null_count for column in firms.columns)
    for dimension in datasets.business_dimensions():
        assert set(firms[dimension.name].to_pylist()) <= set(dimension.leaves)


def test_business_microdata() -> None:
    """The firms come with their codebook, and tabulating them adds up to all of them."""
    made = datasets.business(500)
    made.check()
    table = tabulate(made, ["region", "activity", "size"])
    assert table.array("count").sum() == made.n


# -- printed tables ---------------------------------------------------------------------------------------------------


def r1(counts: NDArray[np.int64]) -> float:
    """PSD14's risk with the weights (0.1, 0.8, 0.1) and natural logarithms, here only to catch a wrong digit."""
    f, size = counts.ravel(), counts.sum()
    p = f[f > 0] / size
    entropy = 1 + float(p @ np.log(p)) / np.log(f.size)
    return float(0.1 * (f == 0).mean() + 0.8 * entropy + 0.1 * (1 + 0.5 * np.log(size)) / np.sqrt(size))


# PSD14 Tables 3-5: R1 of the table, of its rows and of its columns, as printed
PSD14 = {
    "travel": (
        TRAVEL,
        0.2016,
        [0.3291, 0.3670, 0.4417, 0.4536, 0.4563, 0.3157, 0.4252, 0.3214, 0.3946, 0.3003],
        [0.0850, 0.2862, 0.0944, 0.3715, 0.0927, 0.0847, 0.6206, 0.1335, 0.0474, 0.5107, 0.0309],
    ),
    "sex": (
        SEX,
        0.0150,
        [0.0247, 0.0276, 0.0294, 0.0220, 0.0512, 0.0434, 0.0252, 0.0243, 0.0289, 0.0529],
        [0.0170, 0.0209],
    ),
    "religion": (
        RELIGION,
        0.2315,
        [0.4626, 0.4973, 0.3939, 0.4403, 0.3869, 0.5460, 0.3456, 0.3974, 0.5243, 0.4692],
        [0.0152, 0.3770, 0.5763, 0.4754, 0.2029, 0.2892, 0.1166, 0.0393, 0.0404],
    ),
}


@pytest.mark.parametrize("name", PSD14)
def test_psd14_tables_have_their_printed_risks(name: str) -> None:
    """Every printed R1 comes out to four decimals, so no digit is mistranscribed."""
    counts, whole, rows, columns = PSD14[name]
    assert r1(counts) == pytest.approx(whole, abs=5.1e-5)
    assert [r1(row) for row in counts] == pytest.approx(rows, abs=5.1e-5)
    assert [r1(column) for column in counts.T] == pytest.approx(columns, abs=5.1e-5)


def test_psd14_persons_are_the_same() -> None:
    """Sex and religion describe the same 2,449 persons, area by area."""
    assert SEX.sum() == RELIGION.sum() == 2449
    np.testing.assert_array_equal(SEX.sum(axis=1), RELIGION.sum(axis=1))


def test_willenborg_satisfies_what_is_printed() -> None:
    """ODF03 section 4.1 and Table 2: the four equations, the combined row and the printed totals."""
    (x1, x2), (x3, x4) = WILLENBORG[2:4, [1, 3]]
    assert (x1 + x2, x1 + x3, x2 + x4, x3 + x4) == (1537, 406, 2382, 1251)
    np.testing.assert_array_equal(WILLENBORG[2] + WILLENBORG[3], WILLENBORG_REDESIGNED[2])
    np.testing.assert_array_equal(WILLENBORG[[0, 1, 4]], WILLENBORG_REDESIGNED[[0, 1, 3]])
    assert WILLENBORG_REDESIGNED.sum(axis=1).tolist() == [387, 7143, 8179, 4430]
    assert WILLENBORG_REDESIGNED.sum(axis=0).tolist() == [1448, 4353, 4281, 4847, 5210]  # 1148 in print
    assert WILLENBORG_REDESIGNED.sum() == 20139


def test_injuries_totals() -> None:
    """LL21 Table 1: the printed row totals."""
    assert INJURIES.sum(axis=1).tolist() == [17, 11, 13, 15, 7]


def test_catalogue_names_every_dataset() -> None:
    """Each entry is a public function that gives what its kind says, in one short line."""
    kinds = {"microdata": Microdata, "table": Table}
    for entry in datasets.catalogue():
        make = getattr(datasets, entry.name)
        made = make(10) if entry.kind == "microdata" else make()
        assert isinstance(made, kinds[entry.kind])
        assert "\n" not in entry.description
        assert len(entry.description) < 100
    assert [entry.name for entry in datasets.catalogue()] == list(datasets.NAMES)


def test_printed_arrays_cannot_be_changed() -> None:
    """The constants are read-only, so one test cannot spoil another's table."""
    with pytest.raises(ValueError, match="read-only"):
        TRAVEL[0, 0] = 1
