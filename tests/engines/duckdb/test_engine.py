"""The engine against plain Python, on every kind of source; and everything it must refuse."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engines.duckdb.engine import DuckDB
from discreet.engines.protocol import Engine, Grouping
from tests.engines.records import (
    FULL,
    MISSING,
    SOURCES,
    A,
    B,
    Record,
    arrow,
    cells_of,
    equals_python,
    records,
    same,
)

# -- plain Python -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", SOURCES)
@settings(max_examples=6, deadline=None)
@given(rows=records)
def test_groups_equal_plain_python_on_every_source(kind: str, rows: list[Record]) -> None:
    """Counts, exact sums, keys mod 2**64 and merged contributions are what a loop over records gives."""
    with tempfile.TemporaryDirectory() as folder:
        engine = DuckDB.of(SOURCES[kind](rows, Path(folder)))
        got = engine.base_cells(FULL)
        assert isinstance(engine, Engine)
        assert engine.rows() == len(rows)
        bare = engine.base_cells(Grouping(keys=(MISSING, B), magnitude="x", decimals=2, top=2))
        del engine
    equals_python(got, rows)
    assert got.codes.dtype == np.int32
    assert got.key is not None
    assert got.key.dtype == np.uint64
    assert bare.spanning is None
    assert bare.contributors.tolist() == bare.count.tolist()
    for row, cell in zip(bare.top_value, cells_of(rows).values(), strict=True):  # type: ignore[arg-type]
        sizes = sorted((abs(float(r["x"])) for r in cell.rows), reverse=True)[:2]
        assert np.abs(row[: len(sizes)]).tolist() == sizes
        assert np.isnan(row[len(sizes) :]).all()


@settings(max_examples=15, deadline=None)
@given(rows=records, order=st.randoms(use_true_random=False))
def test_same_bits_on_every_run_and_in_every_order(rows: list[Record], order: Any) -> None:
    """Neither threads nor the order of records can change an answer."""
    first = DuckDB.of(arrow(rows)).base_cells(FULL)
    same(first, DuckDB.of(arrow(rows)).base_cells(FULL))
    shuffled = list(rows)
    order.shuffle(shuffled)
    same(first, DuckDB.of(arrow(shuffled)).base_cells(FULL))


def test_many_rows_give_the_same_bits_twice() -> None:
    """More rows than one thread takes at a time."""
    rng = np.random.default_rng(1)
    n = 400_000
    table = pa.table(
        {
            "a": pa.array(["N", "S"]).take(pa.array(rng.integers(0, 2, n))),
            "x": np.round(rng.lognormal(5, 2, n), 2),
            "w": np.round(rng.uniform(1, 9, n), 3),
            "r": rng.integers(0, 2**64, n, dtype=np.uint64),
            "h": rng.integers(0, n // 3, n),
        }
    )
    grouping = Grouping(keys=(A,), magnitude="x", weight="w", record_key="r", contributor="h", top=3)
    engine = DuckDB.of(table)
    same(engine.base_cells(grouping), engine.base_cells(grouping))
    assert engine.decimals("x") == 2


def test_weights_of_one_change_nothing() -> None:
    """A weighted total with weights 1 is the total."""
    table = pa.table({"a": ["N"] * 3, "x": [0.125, 1e9, -7.5], "w": [1, 1, 1]})
    got = DuckDB.of(table).base_cells(Grouping(keys=(A,), magnitude="x", decimals=2, weight="w", top=3))
    assert got.total is not None
    assert got.weighted_total is not None
    assert (got.weighted_total == got.total * 1000).all()
    assert got.top_value is not None
    assert got.top_value.tolist() == [[1e9, -7.5, 0.13]]
