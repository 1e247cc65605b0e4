"""The short cut through memory: the same cells as the engine proper, or none at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet.engines.dense import dense_cells
from discreet.engines.duckdb.engine import DuckDB
from discreet.engines.protocol import Grouping, Key

A = Key(name="a", column="a", codes=("x", "y", "z"))
B = Key(name="b", column="b", codes=("0", "1", "2", "3"))
GROUPING = Grouping(keys=(A, B), record_key="k")


def records(n: int = 500) -> pa.Table:
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "a": pa.array(rng.choice(["z", "x", "y"], n)).dictionary_encode(),
            "b": pa.array(rng.integers(1, 4, n).astype(np.int8)),
            "k": rng.integers(0, 2**64, n, dtype=np.uint64),
        }
    )


def test_the_same_cells_as_sql(monkeypatch: pytest.MonkeyPatch) -> None:
    """Codes, counts and sums of keys; in one chunk or several with dictionaries of their own."""
    table = records()
    pieces = pa.concat_tables([records(100), pa.table({**records(80).to_pydict()}, schema=records(1).schema)])
    for data in (table, pieces):
        quick = dense_cells(GROUPING, data)
        assert quick is not None
        assert quick.key is not None
        with monkeypatch.context() as m:
            m.setattr("discreet.engines.duckdb.engine.dense_cells", lambda *_: None)
            slow = DuckDB.of(data).base_cells(GROUPING)
        assert slow.key is not None
        for one, two in ((quick.codes, slow.codes), (quick.count, slow.count), (quick.key, slow.key)):
            assert one.dtype == two.dtype
            assert (one == two).all()


@pytest.mark.parametrize(
    "change",
    [
        {"a": pa.array(["x", None, "y"]).dictionary_encode()},
        {"a": pa.array(["x", "w", "y"]).dictionary_encode()},
        {"a": pa.array(["x", "y", "y"])},
        {"b": pa.array([1, 2, 9])},
        {"b": pa.array([1, 2, None])},
        {"b": pa.array([1, 2, 10**9])},
        {"k": pa.array([1, 2, 3])},
        {"k": pa.array([1, 2, None], pa.uint64())},
    ],
)
def test_anything_else_is_left_to_the_engine(change: dict[str, Any]) -> None:
    """Missing or unknown codes, text, wide numbers, keys of another kind."""
    columns = {
        "a": pa.array(["x", "y", "y"]).dictionary_encode(),
        "b": pa.array([1, 2, 3]),
        "k": pa.array([1, 2, 3], pa.uint64()),
    }
    assert dense_cells(GROUPING, pa.table(columns)) is not None
    assert dense_cells(GROUPING, pa.table({**columns, **change})) is None


def test_sums_weights_and_filters_are_left_to_the_engine() -> None:
    """Only plain counts take the short cut."""
    table = records(10).append_column("v", pa.array(range(10)))
    for more in ({"magnitude": "v"}, {"weight": "v"}, {"where": ((A, ("x",)),)}):
        assert dense_cells(Grouping(keys=(A, B), **more), table) is None
