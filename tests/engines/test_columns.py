"""Columns of every kind of frame mean what they show: order, empty categories, periods, intervals, zones."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.engines.frames import coded

ZONED = pd.to_datetime(["2020-01-01", "2020-06-01", "2020-06-01"]).tz_localize("Europe/Berlin")
SEEN = ("2020-01-01 00:00:00+01:00", "2020-06-01 00:00:00+02:00")
SIZES = ["small", "large", "huge"]  # neither in the order of the alphabet nor all of them used
FRAMES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "pandas categories": (pd.DataFrame({"k": pd.Categorical(["large", "small", "small"], SIZES)}), tuple(SIZES)),
    "polars enum": (pl.DataFrame({"k": pl.Series(["large", "small", "small"], dtype=pl.Enum(SIZES))}), tuple(SIZES)),
    "arrow dictionary": (
        pa.table({"k": pa.DictionaryArray.from_arrays(pa.array([1, 0, 0]), pa.array(SIZES))}),
        tuple(SIZES),
    ),
    "polars categories": (pl.DataFrame({"k": pl.Series(["b", "a", "a"], dtype=pl.Categorical)}), ("a", "b")),
    "periods": (pd.DataFrame({"k": pd.PeriodIndex(["2020Q1", "2020Q2", "2020Q2"], freq="Q")}), ("2020Q1", "2020Q2")),
    "periods as objects": (
        pd.DataFrame(
            {"k": pd.Series([pd.Period("2020-01"), pd.Period("2020-02"), pd.Period("2020-02")], dtype=object)}
        ),
        ("2020-01", "2020-02"),
    ),
    "intervals": (pd.DataFrame({"k": pd.cut([1, 15, 15], [0, 10, 20, 30])}), ("(0, 10]", "(10, 20]", "(20, 30]")),
    "pandas zone": (pd.DataFrame({"k": ZONED}), SEEN),
    "categories in a zone": (pd.DataFrame({"k": pd.Categorical(ZONED)}), SEEN),
    "polars zone": (pl.DataFrame({"k": pl.from_pandas(pd.Series(ZONED))}), SEEN),
    "arrow zone": (pa.table({"k": pa.array(ZONED)}), SEEN),
    "nullable integers": (pd.DataFrame({"k": pd.array([10, 9, 9], dtype="Int64")}), ("9", "10")),
    "whole floats": (pd.DataFrame({"k": np.array([10, 9, 9], np.float32)}), ("9", "10")),
    "decimals": (pa.table({"k": pa.array([Decimal("2.00"), Decimal("1.00"), Decimal("1.00")])}), ("1", "2")),
    "truth values": (pd.DataFrame({"k": [True, False, False]}), ("false", "true")),
    "dates": (
        pl.DataFrame({"k": [dt.date(2020, 1, 2), dt.date(2020, 1, 1), dt.date(2020, 1, 1)]}),
        ("2020-01-01", "2020-01-02"),
    ),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_records_and_cells_have_the_same_codes(kind: str) -> None:
    """Counted here or counted before, a column gives the codes that it shows, in its order, empty ones too."""
    frame, codes = FRAMES[kind]
    counted = dc.tabulate(dc.Microdata.of(frame, dimensions=["k"]), by=["k"])
    assert counted.dimensions[0].leaves == codes
    assert counted.n == 3
    found = coded(frame["k"])
    assert found.codes == codes
    numbers = np.bincount(found.position, minlength=len(codes))
    assert counted.count[1:].tolist() == numbers.tolist()


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_of_cells_keeps_them(kind: str) -> None:
    """The same for ready tables: one row a cell."""
    frame, codes = FRAMES[kind]
    rows = frame[:2] if not isinstance(frame, pa.Table) else frame.slice(0, 2)
    if isinstance(rows, pd.DataFrame):
        rows = rows.assign(n=[5, 7])
    elif isinstance(rows, pl.DataFrame):
        rows = rows.with_columns(n=pl.Series([5, 7]))
    else:
        rows = rows.append_column("n", pa.array([5, 7]))
    table = dc.Table.of(rows, ["k"], count="n")
    assert table.dimensions[0].leaves == codes
    assert table.n == 12


def test_a_lazy_frame_and_chunks() -> None:
    """Collected query by query; dictionaries that differ from chunk to chunk are one."""
    frame, codes = FRAMES["polars enum"]
    assert dc.tabulate(dc.Microdata.of(frame.lazy(), dimensions=["k"]), by=["k"]).dimensions[0].leaves == codes
    parts = [pa.array(["b", "a"]).dictionary_encode(), pa.array(["c", "a"]).dictionary_encode()]
    table = pa.table({"k": pa.chunked_array(parts)})
    assert dc.tabulate(dc.Microdata.of(table, dimensions=["k"]), by=["k"]).count.tolist() == [4, 1, 2, 1]
    assert coded(table["k"]).codes == ("b", "a", "c")


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["a", None]),
        pd.Series([1.0, np.nan]),
        pd.Series([1, None], dtype="Int64"),
        pd.Series(pd.to_datetime(pd.Series(["2020-01-01", None]))),
        pd.Series(pd.Categorical(["a", None])),
        pl.Series(["a", None]),
        pl.Series([1.0, float("nan")]),
        pl.Series(["a", None], dtype=pl.Enum(["a"])),
        pa.array(["a", None]),
        pa.array([1.0, float("nan")]),
        pa.array(["a", None]).dictionary_encode(),
        ["a", None],
        np.array([1.0, np.nan]),
    ],
)
def test_what_is_missing_is_said(column: Any) -> None:
    """None, NaN, NaT and NA are no codes, in any kind of column."""
    assert coded(column).missing == 1
    frame = {"k": column, "n": [1, 2]}
    with pytest.raises(dc.InputError, match="1 row has no code"):
        dc.Table.of(frame, ["k"], count="n")


def test_series_keep_their_labels() -> None:
    """Counts by groups, with one or several levels, are the tables of their records."""
    people = pd.DataFrame(
        {"area": list("NNSSW"), "sex": list("fmffm"), "size": pd.Categorical(list("abbab"), list("cba"))}
    )
    data = dc.Microdata.of(people, dimensions=["area", "sex", "size"])
    for by in (["area"], ["area", "sex"], ["area", "sex", "size"]):
        expected = dc.tabulate(data, by=by)
        for counts in (people.groupby(by, observed=True).size(), people.value_counts(by)):
            table = dc.Table.of(counts)
            assert [d.name for d in table.dimensions] == by
            for row in expected.cells[expected.is_inner].itertuples(index=False):
                if getattr(row, "count"):  # noqa: B009 (a tuple has a method of this name)
                    where = {name: getattr(row, name) for name in by}
                    assert table.count[table.where(**where)].tolist() == [expected.count[expected.where(**where)][0]]
    assert dc.Table.of(people["size"].value_counts(sort=False)).dimensions[0].leaves == ("c", "b", "a")
    mean = people.assign(pay=[1.5, 2, 3, 4, 5]).groupby("area")["pay"].sum()
    assert dc.Table.of(mean, value="pay").value.tolist() == [15.5, 3.5, 7.0, 5.0]
    with pytest.raises(dc.InputError, match="1 level but 2 dimensions"):
        dc.Table.of(mean, ["a", "b"], value="pay")
    assert dc.Table.of(mean, ["region"], value="pay").dimensions[0].name == "region"


FIRMS = pd.DataFrame(
    {"area": list("NNSSWWNS"), "size": list("abababab"), "jobs": range(1, 9), "pay": [9, 2, 6, 5, 3, 5, 8, 7]}
)


@pytest.mark.parametrize("aggfunc", ["sum", "mean", "max", ["sum"], ["sum", "count"], ["min", "max"]])
@pytest.mark.parametrize("values", [["jobs", "pay"], ["pay"], "pay"])
def test_columns_and_functions_are_no_categories(aggfunc: Any, values: str | list[str]) -> None:
    """What pandas computes side by side is not added up as if it were people, whichever way the table lies."""
    pivot = FIRMS.pivot_table(index="area", columns="size", values=values, aggfunc=aggfunc)
    if pivot.columns.nlevels == 1:
        table = dc.Table.of(pivot, value="pay")
        assert table.measure == "pay"
        assert "count" not in table.statistics
        assert [d.name for d in table.dimensions] == ["area", "size"]
        assert sorted(table.statistic("pay").inner_values) == sorted(pivot.to_numpy().ravel())
        return
    for made in (pivot, pivot.T, pivot.unstack()):
        for value in (None, "pay"):
            with pytest.raises(dc.InputError, match="take one"):
                dc.Table.of(made, value=value)
    named = pivot.rename_axis(columns=[f"level {k}" for k in range(pivot.columns.nlevels)])
    total = {"level 0": "Total"}  # 'sum' is a category as soon as somebody says so
    assert len(dc.Table.of(named, value="x", decimals=1, total=total).dimensions) == pivot.columns.nlevels + 1


def test_a_table_of_sums_says_what_it_holds() -> None:
    """A Series with a name asks; decimals, empty cells and columns without a name say what to do."""
    sums = FIRMS.groupby("area")["pay"].sum()
    with pytest.raises(dc.InputError, match="say count='pay' if it counts records, value='pay'"):
        dc.Table.of(sums)
    assert dc.Table.of(sums, count="pay").n == dc.Table.of(sums, value="pay").value[0] == FIRMS["pay"].sum()
    pivot = FIRMS.pivot_table(index="area", columns="size", values="pay", aggfunc="sum")
    with pytest.raises(dc.InputError, match='such as value="turnover"'):
        dc.Table.of(pivot / 4)
    with pytest.raises(dc.InputError, match=r"1 cell of the table is empty.*fill_value"):
        dc.Table.of(pivot.mask((pivot.index.to_numpy() == "N")[:, None] & (pivot.columns.to_numpy() == "a")))
    with pytest.raises(dc.InputError, match="'sum', 'count'"):
        dc.Table.of(FIRMS.groupby("area")["pay"].agg(["sum", "count"]))
    with pytest.warns(dc.DiscreetWarning, match="rename_axis"):
        dc.Table.of(FIRMS.groupby("area")[["jobs", "pay"]].sum())
    with pytest.raises(dc.InputError, match="no column 'wage'"):
        dc.Table.of(FIRMS.set_index("area")[["jobs", "pay"]], value="wage")


def test_structured_arrays_and_columns_called_by_numbers() -> None:
    """Fields are columns; a number is a name like any other."""
    cells = np.array([("f", 3), ("m", 2)], dtype=[("sex", "U1"), ("n", "i4")])
    assert dc.Table.of(cells, ["sex"], count="n").count.tolist() == [5, 3, 2]
    assert dc.Table.of(pd.DataFrame([["f", 3], ["m", 2]]), ["0"], count="1").count.tolist() == [5, 3, 2]


@given(st.lists(st.integers(2**50, 2**64), min_size=1, max_size=4))
def test_large_counts_are_exact_or_an_error(numbers: list[int]) -> None:
    """No sum wraps around, and none is rounded on its way out."""
    for data in (numbers, {"k": [str(k) for k in range(len(numbers))], "count": numbers}):
        try:
            table = dc.Table.of(data, total={"k": "Total"} if isinstance(data, dict) else "Total")
        except dc.InputError as error:
            assert sum(numbers) >= 2**53, error  # noqa: PT017
            continue
        assert table.n == sum(numbers)
        shown = dc.protect(table, dc.Publish()).release().to_csv().decode().split("\r\n")
        assert shown[1].split(",")[1] == str(sum(numbers))


def test_large_magnitudes_of_records_are_an_error() -> None:
    """The same for what is summed here."""
    data = pd.DataFrame({"k": ["a", "a", "b"], "v": [2**62, 2**62, 1]})
    with pytest.raises(dc.InputError, match="too large"):
        dc.tabulate(dc.Microdata.of(data, dimensions=["k"], magnitudes=["v"]), by=["k"], value="v")
    with pytest.raises(dc.InputError, match="too large"):
        dc.Table.of([2**62, 2**62], value="v")
    with pytest.raises(dc.InputError, match="too large"):
        dc.Table.of(np.array([2**63, 1], np.uint64), value="v")


def test_what_holds_no_codes_is_refused_by_name(tmp_path: Any) -> None:
    """Times with a zone in a file, lists and records have no text of their own."""
    path = tmp_path / "x.parquet"
    pd.DataFrame({"k": ZONED, "s": [{"a": 1}] * 3}).to_parquet(path)
    for name in ("k", "s"):
        with pytest.raises(dc.InputError, match="holds no codes"):
            dc.tabulate(dc.Microdata.of(path, dimensions=[name]), by=[name])


@pytest.mark.parametrize("others", [{}, {"a": ["x", "y", "z"]}])
def test_a_column_of_mixed_values_is_named(others: dict[str, list[str]]) -> None:
    """With what to do, be it the only column or not."""
    frame = pd.DataFrame({"nace": [1, 2, "10-12"], **others})
    with pytest.raises(dc.InputError, match=r"column 'nace' mixes kinds of values; convert it to text"):
        dc.Microdata.of(frame, dimensions=["nace"])
