"""Tables in parts: the bytes of one go, for methods that look at one cell at a time; all of the file or nothing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.engines.duckdb.engine import DuckDB
from discreet.engines.protocol import Grouping, Key
from discreet.formats.growing import GrowingParquet
from discreet.formats.parquet import ROW_GROUP, to_bytes
from discreet.methods import HOMES, RECIPES, cellwise, method_class
from tests.in_parts import AGES, AREA, frame, one_go, people

METHODS: list[Any] = [
    dc.Round(5),
    dc.RandomRound(3),
    dc.RandomRound(3, seed=7),
    dc.CellKey(d=2, v=1),
    dc.CellKey(d=3, v=2, zeros=0.3, seed=2),
    dc.CellKey(d=3, v=2, zeros=0.3, secret="a secret of many letters"),
    dc.Barnard(0.5),
    dc.Publish(),
]


@pytest.mark.parametrize("method", METHODS, ids=lambda m: f"{type(m).__name__}")
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_bytes_are_those_of_one_go(method: Any, suffix: str, tmp_path: Path) -> None:
    """Whatever the order of the dimensions and the size of the parts, groups, totals and differences included."""
    data = people()
    for by, cells in [(["area", "sex", "age"], 50), (["age", "sex", "area"], 20), (["sex", "area"], 500)]:
        path = dc.protect_in_parts(data, by, method, tmp_path / f"table.{suffix}", cells=cells)
        assert path.read_bytes() == one_go(data, by, method, suffix)


@pytest.mark.parametrize("where", [{"sex": "f"}, {"area": ["N", "d"]}, {"age": ["01"]}])
def test_populations(where: dict[str, Any], tmp_path: Path) -> None:
    """A filter on a dimension of the table, cut or not, or on another one."""
    data = people()
    for by in (["area", "sex"], ["sex", "area"]):
        path = dc.protect_in_parts(data, by, dc.RandomRound(3), tmp_path / "t.csv", where=where, cells=6)
        assert path.read_bytes() == one_go(data, by, dc.RandomRound(3), "csv", where=where)


@pytest.mark.parametrize("weight", [None, "w"])
def test_magnitudes_and_weights(weight: str | None, tmp_path: Path) -> None:
    """Sums with decimals, weighted or not."""
    data = people(weight=weight)
    for method in (dc.Round(0.05), dc.RandomRound(0.5), dc.Publish(measures=("x", "count"))):
        path = dc.protect_in_parts(data, ["area", "age"], method, tmp_path / "t.parquet", value="x", cells=15)
        assert path.read_bytes() == one_go(data, ["area", "age"], method, "parquet", value="x")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_random_tables(tmp_path: Path, data: st.DataObject) -> None:
    """Random codes, hierarchies, records, orders, sizes of parts and methods."""
    dimensions, columns = [], {}
    n = data.draw(st.integers(1, 30))
    for k in range(data.draw(st.integers(1, 3))):
        leaves = [f"{k}{c}" for c in range(data.draw(st.integers(1, 5)))]
        total = data.draw(st.sampled_from(["Total", "all, of it"]))
        made = dc.Dimension.flat(f"d{k}", leaves, total=total)
        if len(leaves) > 2 and data.draw(st.booleans()):
            made = made.with_group(f"g{k}", leaves[:2])
        dimensions.append(made)
        columns[f"d{k}"] = data.draw(st.lists(st.sampled_from(leaves), min_size=n, max_size=n))
    keys = data.draw(st.lists(st.integers(0, 2**64 - 1), min_size=n, max_size=n))
    table = pd.DataFrame({**columns, "r": np.array(keys, np.uint64)})
    records = dc.Microdata.of(table, dimensions=dimensions, key="r")
    by = data.draw(st.permutations([d.name for d in dimensions]))
    method, suffix = data.draw(st.sampled_from(METHODS)), data.draw(st.sampled_from(["csv", "parquet"]))
    cells = data.draw(st.integers(1, 40))
    path = dc.protect_in_parts(records, by, method, tmp_path / f"t.{suffix}", cells=cells)
    assert path.read_bytes() == one_go(records, list(by), method, suffix)


def test_parts_are_small_and_in_order() -> None:
    """No part is larger than asked, unless one code of the last dimension is; together they are all cells in order."""
    parts = dc.Parts.of(people(), ["age", "area", "sex"], cells=10)
    tables = list(parts)
    assert max(map(len, tables)) <= 10
    whole = dc.tabulate(people(), by=["age", "area", "sex"])
    assert len(parts) == len(whole)
    assert np.array_equal(np.concatenate([t.layout.codes for t in tables]), whole.layout.codes)
    assert np.array_equal(np.concatenate([t.count for t in tables]), whole.count)
    assert np.array_equal(np.concatenate([t.key for t in tables]), whole.key)
    assert np.array_equal(np.concatenate([t.structural for t in tables]), whole.structural)


def test_levels() -> None:
    """A dimension in less detail than the records."""
    parts = dc.Parts.of(people(), ["sex", "area"], levels={"area": "level 1"}, cells=4)
    whole = dc.tabulate(people(), by=["sex", "area"]).at_levels(area="level 1")
    assert np.array_equal(np.concatenate([t.count for t in parts]), whole.count)
    assert parts.dimensions == whole.dimensions


def test_parquet_row_groups_begin_where_they_would_in_one_go() -> None:
    """More cells than a row group holds, in parts that fit nowhere."""
    import io

    n = 2 * ROW_GROUP + 12_345
    a, b = dc.Dimension.flat("a", range(1500), total=None), dc.Dimension.flat("b", range(1500), total=None)
    flat, rng = np.arange(n), np.random.default_rng(1)

    def piece(rows: slice) -> dc.Release:
        codes = np.stack(np.unravel_index(flat[rows], (1500, 1500)), axis=1).astype(np.int32)
        return dc.Release(
            dimensions=(a, b), codes=codes, values={"count": values[rows]}, decimals={"count": 0}, method="m",
            status=np.where(np.isnan(values[rows]), "c", ""),
        )  # fmt: skip

    values = rng.poisson(3, n).astype(float)
    values[rng.random(n) < 0.01] = np.nan
    file = io.BytesIO()
    out = GrowingParquet(file)
    for start in range(0, n, 333_333):
        out.add(piece(slice(start, start + 333_333)))
    out.close()
    assert file.getvalue() == to_bytes(piece(slice(None)))


# -- refusals ---------------------------------------------------------------------------------------------------


def test_methods_say_whether_they_look_at_one_cell_at_a_time(tmp_path: Path) -> None:
    """Others are refused with the names of those that do; a function of the user's may say so too, and must."""
    assert cellwise() == [name for name in (HOMES | RECIPES) if method_class(name).contract.cellwise]
    for method in (dc.Suppress(dc.Threshold(3)), dc.SemiControlledRound(3, seed=1)):
        with pytest.raises(dc.InputError, match=r"needs the whole table.*'cell-key'"):
            dc.protect_in_parts(people(), ["area"], method, tmp_path / "t.csv")
    with pytest.raises(dc.InputError, match=r"does not state what it does.*contract = Contract"):
        dc.protect_in_parts(people(), ["area"], lambda t: dc.Round(3)(t), tmp_path / "t.csv")

    def thirds(table: dc.Table) -> dc.Protected:
        return dc.Round(3)(table)

    thirds.contract = dc.Round.contract  # type: ignore[attr-defined]
    path = dc.protect_in_parts(people(), ["area"], thirds, tmp_path / "t.csv", cells=2)
    assert path.read_bytes() == one_go(people(), ["area"], dc.Round(3), "csv")


def test_nothing_is_left_after_an_error(tmp_path: Path) -> None:
    """A wrong code in the last area is found late; the file of before stays, and no other is there."""
    records = frame(200)
    records.loc[records["area"] == "f", "age"] = "wrong"
    dimensions = [AREA, dc.Dimension.flat("age", AGES)]
    data = dc.Microdata.of(records, dimensions=dimensions, key="r")
    target = tmp_path / "t.csv"
    target.write_text("before")
    with pytest.raises(dc.InputError, match="age"):
        dc.protect_in_parts(data, ["area", "age"], dc.Round(3), target, cells=7)
    assert os.listdir(tmp_path) == ["t.csv"]
    assert target.read_text() == "before"


def test_what_cannot_be_written_in_parts(tmp_path: Path) -> None:
    """Formats that stand or fall as a whole, and sizes that are none."""
    with pytest.raises(dc.InputError, match=r"in one go; part by part: 'csv', 'parquet'"):
        dc.protect_in_parts(people(), ["area"], dc.Round(3), tmp_path / "t.xlsx")
    with pytest.raises(dc.InputError, match="cells=0"):
        dc.protect_in_parts(people(), ["area"], dc.Round(3), tmp_path / "t.csv", cells=0)
    with pytest.raises(dc.InputError, match="once"):
        dc.protect_in_parts(people(), ["area", "area"], dc.Round(3), tmp_path / "t.csv")
    assert not os.listdir(tmp_path)


# -- memory -----------------------------------------------------------------------------------------------------


def test_little_memory_takes_more_passes_and_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups in shares are the same groups; so are repeated units."""
    rng = np.random.default_rng(5)
    n = 4000
    records = pd.DataFrame({"a": rng.integers(0, 50, n), "b": rng.integers(0, 40, n), "u": rng.integers(0, 3500, n)})
    records = records.assign(
        x=rng.integers(-50, 50, n) / 4, r=rng.integers(0, 2**64, n, dtype=np.uint64), w=rng.random(n)
    )
    keys = tuple(Key(name=c, column=c, codes=tuple(map(str, range(50)))) for c in "ab")
    asked = Grouping(keys=keys, magnitude="x", weight="w", record_key="r", top=2)
    plain = DuckDB.of(records)
    want, repeated = plain.base_cells(asked), plain.duplicates("u")
    monkeypatch.setattr("discreet.engines.duckdb.engine._PASSES", (4,))
    engine = DuckDB.of(records)
    got = engine.base_cells(asked)
    sums = ("codes", "count", "total", "weight", "weighted_total", "key", "contributors")
    for name in (*sums, "top_value", "top_weight"):
        np.testing.assert_array_equal(getattr(got, name), getattr(want, name))
    assert engine.duplicates("u") == repeated


def test_a_full_memory_is_met_with_more_passes() -> None:
    """Two million groups in 100 MB: DuckDB runs out, the engine reads again and answers; nothing goes to disk."""
    n = 1_200_000
    rng = np.random.default_rng(6)
    records = pd.DataFrame({"a": rng.integers(0, 2000, n), "b": rng.integers(0, 2000, n), "u": np.arange(n)})
    keys = tuple(Key(name=c, column=c, codes=tuple(map(str, range(2000)))) for c in "ab")
    asked = Grouping(keys=keys, magnitude="u", top=2)
    runs: list[int] = []
    engine: Any = DuckDB.of(records, memory="100MB")
    run = engine._run

    def counted(*given: Any) -> Any:
        runs.append(1)
        return run(*given)

    engine._run = counted
    got = engine.base_cells(asked)
    assert len(runs) > 4
    assert int(got.count.sum()) == n
    assert len(got) == len(np.unique(records["a"] * 2000 + records["b"]))


def test_memory_is_an_amount() -> None:
    """A wrong amount is said, and too little is no crash."""
    for wrong in ("much", "0GB", "-1GB", "5", ""):
        with pytest.raises(dc.InputError, match="memory"):
            dc.Microdata.of(frame(5), dimensions=["sex"], memory=wrong)
    assert dc.tabulate(dc.Microdata.of(frame(5), dimensions=["sex"], memory="200 MiB"), by="sex").n == 5
    with pytest.raises(dc.InputError, match="engine is made"):
        dc.Microdata.of(DuckDB.of(frame(5)), dimensions=["sex"], memory="1GB")
