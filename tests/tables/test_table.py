"""Table: laws of the one matrix, ready tables, slices, linked tables, views."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Dimension, InputError, NotAdditiveError, Table
from discreet.tables.layout import Layout
from tests.strategies import dimension_lists, tables

COUNTS = np.array([[17, 0, 3], [12, 1, 0]])
AREA = Dimension.flat("area", ["N", "S"])
AGE = Dimension.from_parents("age", {"0-14": "young", "15-29": "young", "30+": "old"})


@given(tables())
def test_cells_are_the_matrix_times_the_inner_cells(table: Table) -> None:
    """Sums along the axes and the sparse matrix agree."""
    inner = table.statistic("count").inner
    assert table.matrix.shape == (len(inner), len(table))
    assert np.array_equal(table.matrix.T @ inner, table.count)
    assert np.array_equal(inner, table.array()[tuple(np.unravel_index(table.layout.inner, table.layout.shape))])


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_order_in_which_a_group_names_its_codes_does_not_matter(order: tuple[int, ...]) -> None:
    """Neighbours are added as one piece: only where they are neighbours."""
    codes = ["c0", "c1", "c3"]
    area = Dimension.flat("area", ["c0", "c1", "c2", "c3"]).with_group("odd", [codes[k] for k in order], minus=["c2"])
    table = Table.of([1, 10, 100, 1000], [area])
    assert table.count[table.where(area="odd")].tolist() == [911]


@given(dimension_lists(), st.integers(0, 2**32))
def test_keys_wrap_around(dims: list[Dimension], seed: int) -> None:
    """Unsigned sums are taken modulo 2**64, differences too."""
    layout = Layout.of(dims)
    keys = np.random.default_rng(seed).integers(0, 2**64, layout.n_inner, dtype=np.uint64)
    exact = [
        sum(int(k) * int(s) for k, s in zip(keys, column, strict=True)) % 2**64 for column in layout.matrix.toarray().T
    ]
    assert layout.aggregate(keys).tolist() == exact


@given(tables())
def test_inner_cells_and_structural_cells_are_known(table: Table) -> None:
    """A cell that is an inner cell has that cell's number; a structural one has no inner cell at all."""
    rows, inner = table.layout.inner_of_cell, table.statistic("count").inner
    assert np.array_equal(table.count[rows >= 0], inner[rows[rows >= 0]])
    assert np.array_equal(table.structural, np.diff(table.matrix.tocsc().indptr) == 0)


@given(tables(), st.data())
def test_a_slice_is_what_the_cells_say(table: Table, data: st.DataObject) -> None:
    """Slicing by any code, leaf or group, gives the cells that have that code."""
    if len(table.dimensions) < 2 or table.statistic("count").inner.size == 0:
        return
    full = Table.of(table.array(), table.dimensions)
    fixed = data.draw(st.sampled_from(table.dimensions))
    code = data.draw(st.sampled_from(fixed.codes))
    cut = full.slice(**{fixed.name: code})
    assert cut.count.tolist() == full.count[full.where(**{fixed.name: code})].tolist()
    if table.layout.possible is not None and not fixed.matrix[:, [fixed.position[code]]].toarray().min() < 0:
        same = Table.of(table.array(), table.dimensions, structural=~table.layout.possible.reshape(table.layout.shape))
        try:
            cut = same.slice(**{fixed.name: code})
        except InputError:
            return
        assert cut.count.tolist() == full.slice(**{fixed.name: code}).count.tolist()


@given(tables(), st.data())
def test_less_detail_is_what_the_cells_say(table: Table, data: st.DataObject) -> None:
    """At any level the cells are those of the full table; coarser groups and the total stay."""
    full = Table.of(table.array(), table.dimensions)
    levels = {d.name: data.draw(st.sampled_from([*d.levels])) for d in full.dimensions}
    coarse = full.at_levels(**levels)
    place = {tuple(codes): n for n, codes in enumerate(full.cells[list(levels)].astype(str).to_numpy().tolist())}
    for n, codes in enumerate(coarse.cells[list(levels)].astype(str).to_numpy().tolist()):
        assert coarse.count[n] == full.count[place[tuple(codes)]]
    assert coarse.n == full.n


@given(tables())
def test_a_frame_of_the_cells_reads_back_equal(table: Table) -> None:
    """The long form with all totals, in any row order, is the same table."""
    frame = Table.of(table.array(), table.dimensions).cells.sample(frac=1, random_state=1)
    columns = [d.name for d in table.dimensions]
    assert Table.of(frame[[*columns, "count"]], table.dimensions, count="count") == Table.of(
        table.array(), table.dimensions
    )


@given(tables())
def test_equality_and_pickle(table: Table) -> None:
    """A copy is equal, an edited one is not, and neither can be hashed."""
    assert pickle.loads(pickle.dumps(table)) == table
    edited = table.array().copy()
    edited.flat[table.layout.inner[0]] += 1
    assert Table.of(edited, table.dimensions) != Table.of(table.array(), table.dimensions)
    with pytest.raises(TypeError):
        hash(table)


def test_margins_are_linked_tables_over_common_inner_cells() -> None:
    """A cell that two margins share is one column."""
    table = Table.of(np.arange(24).reshape(2, 3, 4), ["a", "b", "c"], margins=[("a", "b"), ("b", "c")])
    assert len(table) == 3 * 4 + 4 * 5 - 4  # the b margin with its total stands in both
    assert table.layout.n_inner == 24
    assert not table.is_inner.any()
    assert np.array_equal(table.matrix.T @ np.arange(24), table.count)
    assert table.with_margins([("a", "b"), ("b", "c")]) == table


def test_margins_may_name_levels_and_codes() -> None:
    """A level, a list of codes, or all codes of a dimension."""
    table = Table.of(COUNTS, [AREA, AGE], margins=[{"area": "N", "age": "level 1"}, {"age": ["old", "total"]}])
    assert table.cells[["area", "age"]].astype(str).to_numpy().tolist() == [
        ["N", "young"], ["N", "old"], ["Total", "old"], ["Total", "Total"],
    ]  # fmt: skip
    assert table.count.tolist() == [17, 3, 3, 33]


def test_structural_zeros_by_combination() -> None:
    """They are no inner cells, and a published cell made of them alone is marked."""
    table = Table.of(COUNTS, [AREA, AGE], structural=[{"area": "N", "age": "15-29"}])
    assert table.layout.n_inner == 5
    assert table.cells.query("structural")[["area", "age"]].astype(str).to_numpy().tolist() == [["N", "15-29"]]
    with pytest.raises(InputError, match="1 cell declared structural zeros is not zero"):
        Table.of(COUNTS, [AREA, AGE], structural=[{"area": "N", "age": "0-14"}])
    with pytest.raises(InputError, match="every inner cell"):
        Table.of(COUNTS, [AREA, AGE], structural=[{"area": "Total"}])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_any_frame_will_do(make: Any) -> None:
    """Codes may be numbers; the rows left out are zeros; the total code is recognised."""
    frame = make({"area": [1, 1, 2], "sex": ["f", "m", "f"], "n": [3, 1, 2]})
    table = Table.of(frame, count="n")
    assert table.array().tolist() == [[3, 1], [2, 0]]
    assert table.dimensions[0].leaves == ("1", "2")


def test_a_crosstab_will_do() -> None:
    """What pd.crosstab gives, with or without margins."""
    people = pd.DataFrame({"area": list("NNS"), "sex": list("fmf")})
    for margins in (False, True):
        table = Table.of(pd.crosstab(people.area, people.sex, margins=margins, margins_name="Total"))
        assert (table.array().tolist(), [d.name for d in table.dimensions]) == ([[1, 1], [1, 0]], ["area", "sex"])


def ready(values: list[float], total: float, **options: Any) -> Table:
    frame = {"d": [*"abc"[: len(values)], "Total"], "v": [*values, total]}
    return Table.of(frame, ["d"], value="v", **options)


@pytest.mark.parametrize(
    ("values", "total", "options"),
    [
        ([0.1, 0.2], 0.3, {}),  # binary rounding
        ([0.1, 0.2], 0.1 + 0.2, {}),
        ([0.1, 0.7, 1e9 + 0.1], 1e9 + 0.9, {"decimals": 1}),
        ([1 / 3, 1 / 7, 2 / 3], 1 / 3 + 1 / 7 + 2 / 3, {}),  # weights have no decimals
        ([1.26, 1.26], 2.5, {"decimals": 1, "tolerance": 0.5}),  # parts rounded one by one
        ([-3, 5], 2, {}),
    ],
)
def test_no_false_alarm(values: list[float], total: float, options: dict[str, Any]) -> None:
    """Tables that add at their precision are taken."""
    table = ready(values, total, **options)
    assert table.value[0] == pytest.approx(total, abs=0.11)
    assert table.gaps().empty


def test_real_gaps_are_named_worst_first_without_values() -> None:
    """The message names relations, not numbers; trusting keeps the given totals and shows the gaps."""
    frame = Table.of(COUNTS, [AREA, AGE]).cells[["area", "age", "count"]].astype({"area": str, "age": str})
    frame.loc[(frame.area == "Total") & (frame.age == "young"), "count"] += 987654
    frame.loc[(frame.area == "S") & (frame.age == "Total"), "count"] += 1
    with pytest.raises(NotAdditiveError, match=r"2 totals.*area=Total, age=young; area=S, age=Total") as caught:
        Table.of(frame, [AREA, AGE], count="count")
    assert "987654" not in str(caught.value)
    assert "30" not in str(caught.value).replace("30+", "")
    assert Table.of(frame, [AREA, AGE], count="count", totals="compute") == Table.of(COUNTS, [AREA, AGE])
    trusted = Table.of(frame, [AREA, AGE], count="count", totals="trust")
    assert trusted.gaps().gap.tolist() == [987654, 1]


def test_rounded_parts_are_told_apart() -> None:
    """A gap that rounding explains comes with the option that accepts it."""
    with pytest.raises(NotAdditiveError, match=r"tolerance=0\.5 accepts"):
        ready([1.3, 1.3], 2.5, decimals=1)
    with pytest.raises(NotAdditiveError) as caught:
        ready([1.3, 1.3], 2.9, decimals=1)
    assert "tolerance=0.5" not in str(caught.value)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Table.of([[1, -1]]), "1 entry is negative"),
        (lambda: Table.of([[1.5, 1]]), "1 entry is not whole numbers"),
        (lambda: Table.of([[np.nan, 1]]), "1 entry is missing"),
        (lambda: Table.of([["x", 1]]), "must be numbers"),
        (lambda: Table.of([[True]]), "must be numbers"),
        (lambda: Table.of([]), "at least one cell"),
        (lambda: Table.of(COUNTS, ["a"]), "2 axes but 1 dimension is"),
        (lambda: Table.of(COUNTS, [AGE, AREA]), "shape \\(2, 3\\) but the dimensions have \\(3, 2\\)"),
        (lambda: Table.of(COUNTS, [AREA, AREA]), "shape"),
        (lambda: Table.of(COUNTS.T @ COUNTS, [AGE, AGE]), "named twice"),
        (lambda: Table.of({"a": ["x"], "n": [1]}, ["a"]), "name the column that holds counts"),
        (lambda: Table.of({"a": ["x"], "n": [1]}, ["b"], count="n"), "no column 'b'"),
        (lambda: Table.of({"a": ["x"], "n": [1]}, ["a"], count="m"), "no column 'm'"),
        (lambda: Table.of({"a": ["x", "x"], "n": [1, 2]}, ["a"], count="n"), "1 row repeats the cell"),
        (lambda: Table.of({"a": ["x", None], "n": [1, 2]}, ["a"], count="n"), "1 row has no code"),
        (lambda: Table.of({"area": ["N", "W"], "n": [1, 2]}, [AREA], count="n"), "1 row holds a code that is not"),
        (lambda: Table.of({"a": [], "n": []}, ["a"], count="n"), "has no (rows|codes)"),
        (lambda: Table.of([[1]], totals="maybe"), "totals can be"),
        (lambda: Table.of([[1.0]], value="v", decimals=99), "decimals can be 0 to 9"),
        (lambda: Table.of([[1e300]], value="v"), "too large"),
        (lambda: Table.of(COUNTS, [AREA, AGE], margins=[("aera",)]), "did you mean 'area'"),
        (lambda: Table.of(COUNTS, [AREA, AGE], margins=[]), "no margins given"),
        (
            lambda: Table.of(COUNTS, [AREA, AGE], structural=np.zeros((3, 2), bool)),
            "structural zeros are a truth array",
        ),
        (lambda: Table.of(COUNTS, [AREA, AGE], structural=[{"sex": "f"}]), "no dimension 'sex'"),
        (lambda: Table.of(COUNTS, [Dimension.flat("y", "ab", total=None), AGE], margins=[("age",)]), "has no total"),
        (lambda: Table.of(COUNTS, [AREA, AGE]).slice(area="N", age="old"), "at least one dimension"),
        (lambda: Table.of(COUNTS, [AREA, AGE]).where(area="Q"), "not a code of dimension 'area'"),
        (lambda: Table.of(COUNTS, [AREA, AGE]).key, "no cell keys"),
        (lambda: Table.of(COUNTS, [AREA, AGE]).contributions, "knows no contributions"),
        (lambda: Table.of(COUNTS, [AREA, AGE]).array("turnover"), "no statistic 'turnover'"),
        (lambda: Layout.of([Dimension.flat(c, range(1000)) for c in "abc"]), "1,000,000,000 inner cells"),
    ],
)
def test_a_wrong_table_is_refused_with_a_cure(make: Any, message: str) -> None:
    """Each mistake has its own sentence."""
    with pytest.raises(InputError, match=message):
        make()


def test_magnitudes_are_exact_and_read_as_floats() -> None:
    """0.1 added ten times is 1."""
    table = Table.of(np.full((10, 1), 0.1), ["a", "b"], value="turnover", count=np.ones((10, 1)))
    assert table.value[0] == 1.0
    assert (table.measure, table.statistic("turnover").decimals, table.count[0]) == ("turnover", 1, 10)


def test_text_and_html() -> None:
    """Totals last, labels in HTML, markup escaped, cut when large."""
    area = Dimension.flat("area", ["N", "S"], labels={"N": "North <b>"})
    table = Table.of(COUNTS, [area, AGE])
    assert str(table).splitlines()[0].split() == ["area", "young", "0-14", "15-29", "old", "30+", "Total"]
    assert str(table).splitlines()[-1].split() == ["Total", "30", "29", "1", "3", "3", "33"]
    assert "North &lt;b&gt;" in table._repr_html_()
    assert "confidential" in table._repr_html_()
    assert "17" not in repr(table)
    large = Table.of(np.ones((40, 30), int))
    assert str(large).splitlines()[-1] == "(17 more rows and 19 more columns not shown)"
    assert len(large._repr_html_()) < 20_000


def test_the_cube_of_the_census_fits() -> None:
    """7 dimensions with all margins: sums by axes, matrix sparse."""
    sizes = (2, 2, 21, 5, 13, 9, 5)
    counts = np.random.default_rng(1).poisson(0.3, sizes)
    table = Table.of(counts, [Dimension.flat(f"v{k}", range(n)) for k, n in enumerate(sizes)])
    assert len(table) == 997_920
    assert table.count[0] == counts.sum()
    cells = table.array(margins=True)
    assert np.array_equal(cells[1:, 0, 0, 0, 0, 0, 0], counts.sum(axis=(1, 2, 3, 4, 5, 6)))
    assert table.matrix.nnz == 245_700 * 2**7
    assert table.matrix.data.dtype == np.int8
