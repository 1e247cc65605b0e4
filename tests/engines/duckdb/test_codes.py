"""Codes, missing values, decimals and kinds of columns."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from discreet.engines.duckdb.engine import DuckDB
from discreet.engines.protocol import Grouping, Key, cell_order
from tests.engines.records import A, B


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([10, 9, 2], ("2", "9", "10")),
        ([10.0, float("nan"), 9.0], ("9", "10")),
        ([True, False, None], ("false", "true")),
        (["A10", "A9", "", None], ("A9", "A10")),
        (["01", "1"], ("01", "1")),
        (pd.array([3, None], dtype="Int64"), ("3",)),
        ([Decimal("2.0"), Decimal("1.0")], ("1", "2")),
    ],
)
def test_codes_are_text_in_natural_order(values: Any, codes: tuple[str, ...]) -> None:
    """Whole numbers have no decimal point, truth values are words, missing values are no code."""
    engine = DuckDB.of(pd.DataFrame({"a": values}))
    assert engine.categories("a") == codes
    key = Key(name="a", column="a", codes=(*codes, "?"), missing="?")
    got = engine.base_cells(Grouping(keys=(key,)))
    assert [key.codes[c] for c in got.codes[:, 0]] == [*codes, *(["?"] if len(got) > len(codes) else [])]


def test_missing_values_join_their_category() -> None:
    """NULL, empty text and the category itself are one cell."""
    key = Key(name="a", column="a", codes=("x", "?"), missing="?")
    got = DuckDB.of(pa.table({"a": ["", None, "?", "x"]})).base_cells(Grouping(keys=(key,)))
    assert got.count.tolist() == [1, 3]
    only = DuckDB.of(pa.table({"a": ["", None, "?", "x"], "b": [1, 1, 1, 2]})).base_cells(
        Grouping(keys=(B,), where=((key, ("?",)),))
    )
    assert only.count.tolist() == [3]


def test_no_keys_is_one_cell_and_no_records_none() -> None:
    """The grand total; and a filter that leaves nobody."""
    engine = DuckDB.of(pa.table({"a": ["N", "N"], "x": [1, 2]}))
    assert engine.base_cells(Grouping(keys=(), magnitude="x", top=1)).total.tolist() == [3]  # type: ignore[union-attr]
    nobody = engine.base_cells(Grouping(keys=(A,), magnitude="x", top=1, where=((A, ("S",)),)))
    assert len(nobody) == 0
    assert nobody.codes.shape == (0, 1)
    assert len(engine.base_cells(Grouping(keys=(), where=((A, ("S",)),)))) == 0
    assert len(engine.base_cells(Grouping(keys=(), contributor="a", magnitude="x", top=1, where=((A, ()),)))) == 0


def test_cell_order_survives_more_cells_than_a_number_holds() -> None:
    """Twelve dimensions of a thousand codes each."""
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 1000, (50, 12)).astype(np.int32)
    codes = np.concatenate([codes, codes[:5]])
    order = np.argsort(cell_order(codes, (1000,) * 12), kind="stable")
    assert codes[order].tolist() == sorted(codes.tolist())
    assert len(np.unique(cell_order(codes, (1000,) * 12))) == 50


@pytest.mark.parametrize(
    ("values", "decimals"),
    [
        ([1.0, 2.0], 0),
        ([0.1, 0.2 + 0.1], 6),
        ([0.1, 19.99], 2),
        (["0.125", "x", ""], 3),
        ([1, 2], 0),
        ([Decimal("1.50")], 2),
        (pa.array([1.1], pa.float32()), 1),
        ([float("nan"), float("inf"), None], 0),
    ],
)
def test_decimals_are_found(values: Any, decimals: int) -> None:
    """The fewest that write every value; six when binary noise needs more."""
    assert DuckDB.of(pa.table({"x": values})).decimals("x") == decimals


def test_kinds_of_columns() -> None:
    """Each column's family."""
    table = pa.table(
        {"t": ["a"], "i": [1], "f": [1.5], "b": [True], "d": [Decimal("1.5")], "o": pa.array([0], pa.date32())}
    )
    assert list(DuckDB.of(table).columns().values()) == ["text", "integer", "float", "boolean", "decimal", "other"]


def test_duplicates_are_counted() -> None:
    """Units that occur more than once, and records without one."""
    assert DuckDB.of(pa.table({"id": ["a", "b", "a", "c", "c", "c", "", None]})).duplicates("id") == (2, 2)
    assert DuckDB.of(pa.table({"id": [1, 2, 3]})).duplicates("id") == (0, 0)
