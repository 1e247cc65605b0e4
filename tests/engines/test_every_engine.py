"""One suite over all engines: DuckDB here, and Ibis on DuckDB, on a PostgreSQL and on an Apache Spark cluster."""

from __future__ import annotations

import hashlib
import hmac
import random
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings

from discreet.engines.duckdb.engine import DuckDB
from discreet.engines.ibis.engine import Ibis
from discreet.engines.protocol import CountedGroups, Engine, Grouping, Hmac, Key, SpanningParts
from tests import engine_kinds
from tests.engines.records import (
    FULL,
    MISSING,
    SECRET,
    A,
    B,
    Record,
    arrow,
    equals_python,
    records,
    refused,
)

pytestmark = engine_kinds.QUIET


# -- the same answers -------------------------------------------------------------------------------------------------


def alike(left: CountedGroups, right: CountedGroups) -> None:
    """The same bits; contributors are the same ones, whatever their numbers."""
    names: dict[int, int] = {-1: -1}
    for f in ("codes", "count", "contributors", "total", "weight", "weighted_total", "key", "top_value", "top_weight"):
        exactly(f, getattr(left, f), getattr(right, f))
    assert left.decimals == right.decimals
    pairs = [(left.top_contributor, right.top_contributor)]
    assert (left.spanning is None) == (right.spanning is None)
    if isinstance(left.spanning, SpanningParts) and isinstance(right.spanning, SpanningParts):
        for f in ("group", "value", "weighted"):
            exactly(f, getattr(left.spanning, f), getattr(right.spanning, f))
        pairs.append((left.spanning.contributor, right.spanning.contributor))
    for a, b in pairs:
        assert (a is None) == (b is None)
        if a is not None and b is not None:
            assert a.dtype == b.dtype == np.int64
            for one, other in zip(a.ravel().tolist(), b.ravel().tolist(), strict=True):
                assert names.setdefault(one, other) == other
    assert len(set(names.values())) == len(names)


def exactly(name: str, left: Any, right: Any) -> None:
    assert (left is None) == (right is None), name
    if left is not None:
        assert left.dtype == right.dtype, name
        np.testing.assert_array_equal(left, right, err_msg=name)


def frame(seed: int, n: int) -> pa.Table:
    """Records with ties, zeros, negatives, halves that must be rounded, big keys, and every kind of column."""
    rng = np.random.default_rng(seed)
    whole = rng.integers(-4, 5, n)
    x = np.where(rng.random(n) < 0.5, whole * 0.125, np.round(rng.normal(0, 1e6, n), 3))
    d = [Decimal(int(v)).scaleb(-3) for v in rng.integers(-(10**6), 10**6, n)]
    return pa.table(
        {
            "a": pa.array(np.array(["N", "S", 'it\'s "E"', None, ""], object)[rng.integers(0, 5, n)], pa.string()),
            "b": pa.array(np.array([0, 1, -5])[rng.integers(0, 3, n)], pa.int64()),
            "x": x,
            "d": pa.array(d, pa.decimal128(15, 3)),
            "d2": pa.array([abs(v) for v in d], pa.decimal128(15, 3)),
            "i": pa.array(rng.integers(-3, 4, n), pa.int32()),
            "t": pa.array([f"{v:.4f}" if v < 0 else f" {v:.3e}" for v in x]),
            "f": pa.array(np.round(rng.normal(0, 9, n), 1), pa.float32()),
            "w": np.where(rng.random(n) < 0.2, 1.0, rng.integers(0, 10**7, n) / 7),
            "r": pa.array(rng.integers(0, 2**64, n, dtype=np.uint64)),
            "s": pa.array([str(v) for v in rng.integers(-(2**63), 2**63, n)]),
            **{f"h {kind}": held.take(pa.array(rng.integers(0, len(held), n))) for kind, held in HOLDINGS.items()},
            "id": pa.array(range(n), pa.int64()),
            "y": pa.array(rng.random(n) < 0.3),
            "e": pa.array([date(2020, 1, 1 + int(v)) for v in rng.integers(0, 3, n)]),
        }
    )


FEW = range(100)  # holdings with a few records each, many of them in one cell only; those named below are in most
HOLDINGS = {
    "text": pa.array(["b", "B", "a", "ä", "Z z", "z", "", None, None, *(f"u{k}" for k in FEW)], pa.string()),
    "integer": pa.array([10, 9, -1, 2**62, None, None, *(1000 - k for k in FEW)], pa.int64()),
    "decimal": pa.array([Decimal("10"), Decimal("-1.5"), None, *(Decimal(k) / 2 for k in FEW)], pa.decimal128(12, 1)),
    "float": pa.array([10.0, 9.0, -1.5, float("nan"), None, *(k / 4 for k in FEW)], pa.float64()),
    "boolean": pa.array([True, False, None], pa.bool_()),
}
Y = Key(name="yes", column="y", codes=("false", "true"))
E = Key(name="day", column="e", codes=("2020-01-01", "2020-01-02", "2020-01-03"))
GROUPINGS = {
    "everything": Grouping(keys=(MISSING, B), magnitude="x", weight="w", record_key="r", contributor="h", top=3),
    "fewer decimals": Grouping(keys=(B, Y), magnitude="x", decimals=2, weight="w", top=2),
    "decimals": Grouping(keys=(E,), magnitude="d", decimals=1, record_key="s", contributor="h", top=1),
    "text": Grouping(keys=(MISSING,), magnitude="t", decimals=3, weight="d2", top=2),
    "short floats": Grouping(keys=(), magnitude="f", contributor="h", top=4),
    "filters": Grouping(keys=(B,), magnitude="i", decimals=2, top=2, where=((MISSING, ("01", "S")), (Y, ("true",)))),
    "keys of units": Grouping(keys=(B,), record_key=Hmac(unit="id", secret=SECRET), contributor="id"),
    "counts": Grouping(keys=(B, Y, E), contributor="h"),
}


def variants(name: str) -> list[Grouping]:
    """A grouping with every kind of holding, if it has holdings that may be of several kinds."""
    asked = GROUPINGS[name]
    return [replace(asked, contributor=f"h {kind}") for kind in HOLDINGS] if asked.contributor == "h" else [asked]


@pytest.fixture(scope="session")
def pair(make: engine_kinds.Make) -> tuple[DuckDB, Engine]:
    """DuckDB and another engine with the same 400 records."""
    data = frame(5, 400)
    return DuckDB.of(data), make(data)


@pytest.mark.parametrize("name", GROUPINGS)
def test_every_engine_gives_the_bits_that_duckdb_gives(pair: tuple[DuckDB, Engine], name: str) -> None:
    """Counts, sums, keys, largest contributions, those who span cells: of every kind of column and holding."""
    truth, engine = pair
    for asked in variants(name):
        alike(truth.base_cells(asked), engine.base_cells(asked))


def test_the_records_have_what_must_be_told_apart() -> None:
    """Holdings in one cell and in several, records without one, ties: else the test above would show little."""
    engine = DuckDB.of(frame(5, 400))
    for asked in variants("everything"):
        found = engine.base_cells(asked)
        assert found.top_contributor is not None
        assert found.spanning is not None
        assert (found.top_contributor == -1).any()
        assert len(found.spanning.group)
        assert asked.contributor == "h boolean" or (found.top_contributor >= 0).any()
    alone = engine.base_cells(variants("short floats")[-1]).top_contributor
    assert alone is not None
    assert (alone >= 0).any()


@pytest.mark.parametrize("column", ["x", "d", "t", "f", "i"])
def test_every_engine_finds_the_decimals_that_duckdb_finds(pair: tuple[DuckDB, Engine], column: str) -> None:
    """Of doubles, decimals, text, short floats and whole numbers."""
    truth, engine = pair
    assert truth.decimals(column) == engine.decimals(column)


@engine_kinds.ON_SPARK
def test_spark_as_it_comes_gives_the_same_bits(spark: Any) -> None:
    """Queries compiled, plans changed while they run, records in many partitions: none of it changes a bit."""
    data = frame(6, 20_000)
    before = {name: spark.conf.get(name) for name in engine_kinds.SETTINGS}
    try:
        for name, value in engine_kinds.SETTINGS.items():
            spark.conf.set(name, value)
        truth, engine = DuckDB.of(data), Ibis.of(spark.createDataFrame(engine_kinds.plain(data)).repartition(7))
        for asked in (replace(variants("everything")[0], decimals=1), GROUPINGS["keys of units"]):
            alike(truth.base_cells(asked), engine.base_cells(asked))
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


# -- plain Python -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", engine_kinds.QUICK, indirect=True)
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=records)
def test_groups_equal_plain_python(make: engine_kinds.Make, rows: list[Record]) -> None:
    """Whatever the records; Spark is asked below for many sets of records at a time."""
    engine = make(arrow(rows))
    assert isinstance(engine, Engine)
    assert engine.rows() == len(rows)
    equals_python(engine.base_cells(FULL), rows)


RUNS = 60


def many() -> list[list[Record]]:
    """Sets of 1 to 25 records; small numbers as well as large ones, so that there are ties, zeros and halves."""
    rng = random.Random(3)
    return [[some(rng) for _ in range(rng.randint(1, 25))] for _ in range(RUNS)]


def some(rng: random.Random) -> Record:
    x = rng.choice([rng.randint(-200, 200), rng.randint(-(10**8), 10**8), 0])
    return {
        "a": rng.choice([*A.codes[:3], None]),
        "b": rng.choice([0, 1, -5]),
        "x": Decimal(x).scaleb(-2),
        "w": Decimal(rng.choice([0, 1000, rng.randint(0, 10**6)])).scaleb(-3),
        "r": rng.choice([0, 2**64 - 1, rng.randrange(2**64)]),
        "h": rng.choice(["g1", "g2", "g3", None]),
    }


def keys_of(engine: Engine, asked: Grouping) -> list[int]:
    """The record keys of the cells."""
    found = engine.base_cells(asked).key
    assert found is not None
    return [int(key) for key in found]


def part_of(whole: CountedGroups, run: int) -> CountedGroups:
    """The cells of one run, and those who span several of them."""
    rows, spanning = np.flatnonzero(whole.codes[:, 0] == run), whole.spanning
    assert spanning is not None
    mine = np.isin(spanning.group, rows)
    columns: list[Any] = [spanning.group - rows[0], spanning.contributor, spanning.value, spanning.weighted]
    kept = SpanningParts(*(column[mine] for column in columns))
    names = ("count", "contributors", "total", "weight", "weighted_total", "key")
    arrays = {f: getattr(whole, f)[rows] for f in (*names, "top_value", "top_weight", "top_contributor")}
    return replace(whole, codes=whole.codes[rows, 1:], spanning=kept, **arrays)


def test_many_sets_of_records_equal_plain_python(make: engine_kinds.Make) -> None:
    """Sixty at once, told apart by one more dimension: one question, for engines whose every question takes long."""
    runs = many()
    rows = [{**r, "h": r["h"] and f"{k} {r['h']}"} for k, run in enumerate(runs) for r in run]
    data = arrow(rows).append_column("run", pa.array([k for k, run in enumerate(runs) for _ in run], pa.int64()))
    engine, key = make(data), Key(name="run", column="run", codes=tuple(str(k) for k in range(RUNS)))
    found = engine.base_cells(replace(FULL, keys=(key, *FULL.keys)))
    assert engine.rows() == len(rows)
    for k, run in enumerate(runs):
        equals_python(part_of(found, k), run)


def test_keys_of_units_are_pythons(make: engine_kinds.Make) -> None:
    """HMAC-SHA256 of the id as text, for any id and a long secret; and twice the same."""
    ids = ["1", "Zoë", "it's", "a\\b", " x ", "漢字", "%s $1 :a {b}"]
    key = Key(name="id", column="id", codes=tuple(ids))
    engine = make(pa.table({"id": ids}))
    for secret in (b"long " * 40, SECRET):
        asked = Grouping(keys=(key,), record_key=Hmac(unit="id", secret=secret))
        digest = [hmac.new(secret, i.encode(), hashlib.sha256).digest() for i in ids]
        assert keys_of(engine, asked) == [int.from_bytes(d[:8], "big") for d in digest]


def test_record_keys_wrap(make: engine_kinds.Make) -> None:
    """Signed, unsigned, as text, as doubles: modulo 2**64 all the same."""
    keys = {
        "i": pa.array([-1, 5, 2**62], pa.int64()),
        "u": pa.array([2**64 - 1, 5, 2**63], pa.uint64()),
        "t": ["-1", " 5", str(2**64 - 1)],
        "f": [-1.0, 5.0, 2.0**53],
        "d": pa.array([Decimal(-(2**63)), Decimal(2**64 - 1), Decimal(7)], pa.decimal128(38, 0)),
    }
    engine = make(pa.table({"a": ["N"] * 3, **keys}))
    for name, values in keys.items():
        plain = [int(v) for v in (values.to_pylist() if isinstance(values, pa.Array) else values)]
        assert keys_of(engine, Grouping(keys=(A,), record_key=name)) == [sum(plain) % 2**64], name


def test_codes_are_text_in_natural_order(make: engine_kinds.Make) -> None:
    """Whole numbers have no decimal point, truth values are words, missing values are no code."""
    columns: dict[str, tuple[Any, tuple[str, ...]]] = {
        "i": (pa.array([10, 9, 2, None], pa.int32()), ("2", "9", "10")),
        "f": ([10.0, float("nan"), 9.0, -0.0], ("0", "9", "10")),
        "b": ([True, False, None, None], ("false", "true")),
        "t": (["A10", "A9", "", None], ("A9", "A10")),
        "z": (["01", "1", "a ", "A"], ("01", "1", "A", "a ")),
        "d": (pa.array([Decimal("2.0"), Decimal("1.0"), None, None], pa.decimal128(9, 1)), ("1", "2")),
        "n": (pa.array([None] * 4, pa.string()), ()),
        "e": (pa.array([date(2020, 5, 17)] * 3 + [None], pa.date32()), ("2020-05-17",)),
    }
    engine = make(pa.table({name: values for name, (values, _) in columns.items()}))
    keys = []
    for name, (_, codes) in columns.items():
        assert sorted(engine.categories(name)) == sorted(codes), name
        keys.append(Key(name=name, column=name, codes=(*codes, "?"), missing="?"))
    got = engine.base_cells(Grouping(keys=tuple(keys)))
    assert got.count.sum() == 4
    for k, key in enumerate(keys):
        assert {key.codes[c] for c in got.codes[:, k]} - {"?"} == set(key.codes[:-1]), key.name
    assert engine.categories("i") == ("2", "9", "10")


def test_questions_about_columns(make: engine_kinds.Make) -> None:
    """Kinds, decimals, duplicates, rows, filters that leave nobody."""
    data = pa.table(
        {
            "a": ["N", "N", "S", ""], "x": [0.1, 19.99, float("nan"), None], "y": [0.1 + 0.2, 1.0, 1e300, -1e17],
            "t": ["0.125", "x", "", "inf"], "i": [1, 2, 3, 3], "b": [True] * 4,
            "d": pa.array([Decimal("1.50")] * 4, pa.decimal128(9, 2)), "e": pa.array([date(2020, 1, 1)] * 4),
        }
    )  # fmt: skip
    engine = make(data)
    kinds = ["text", "float", "float", "text", "integer", "boolean", "decimal", "other"]
    assert list(engine.columns().values()) == kinds
    assert [engine.decimals(c) for c in ("x", "y", "t", "i", "d")] == [2, 6, 3, 0, 2]
    assert engine.duplicates("a") == (1, 1)
    assert engine.duplicates("i") == (1, 0)
    assert engine.rows() == 4
    nobody = engine.base_cells(Grouping(keys=(A,), magnitude="i", top=1, where=((Key(**MISSING_A), ("it",)),)))
    assert len(nobody) == 0
    assert nobody.codes.shape == (0, 1)
    assert len(engine.base_cells(Grouping(keys=(), magnitude="i", top=1, where=((Key(**MISSING_A), ()),)))) == 0


MISSING_A: dict[str, Any] = {"name": "area", "column": "a", "codes": ("N", "S", "it", "?"), "missing": "?"}


# -- the same refusals ------------------------------------------------------------------------------------------------


def same_words(data: pa.Table, make: engine_kinds.Make, *asked: Grouping) -> list[str]:
    """The messages, which are DuckDB's."""
    truth, engine = DuckDB.of(data), make(data)
    found = []
    for grouping in asked:
        found.append(refused(lambda g=grouping: engine.base_cells(g)))  # type: ignore[misc]
        assert found[-1] == refused(lambda g=grouping: truth.base_cells(g))  # type: ignore[misc]
    return found


def test_faults_are_refused_in_the_same_words(make: engine_kinds.Make) -> None:
    """Wrong codes, missing values, unusable numbers, by count; a filter does not hide wrong codes."""
    x = [1.0, float("nan"), None, float("inf"), float("-inf"), 987654321e15]
    w = [-987654321.0, -1.0, 1.0, float("nan"), float("inf"), None]
    columns: dict[str, Any] = {
        "a": ["XSECRETX", "XSECRETX", "N", None, "", "n"], "b": [987654321, 1, None, 1, 1, 1],
        "c": [987654321.5, 2.5, 1.0, 1.0, float("nan"), 1.0], "x": x, "w": w,
        "t": ["XSECRETX", "nan", None, " INF ", "-infinity", "1e30"],
        "k": ["1", "987654321.5", None, "", "2", "9" * 21],
        "id": ["XSECRETX", None, "", "a", "b", "c"], "g": ["N"] * 6,
    }  # fmt: skip
    good = Key(name="good", column="g", codes=("N",))
    wrong = Key(name="half", column="c", codes=("1", "2"))
    asked = [
        Grouping(keys=(A, B, wrong), magnitude="x", weight="w", decimals=3, record_key="k"),
        Grouping(keys=(good,), magnitude="t", decimals=2, contributor="id"),
        Grouping(keys=(good,), record_key=Hmac(unit="id", secret=SECRET)),
        Grouping(keys=(good,), where=((A, ("N",)),)),
    ]
    messages = same_words(pa.table(columns), make, *asked)
    assert "3 records hold a code that is not in the codebook" in messages[0]
    assert "record key column 'k': 2 records have no value, 2 records hold no whole number" in messages[0]


@pytest.mark.parametrize("contributor", [None, "h"])
def test_sums_that_do_not_fit_are_refused(make: engine_kinds.Make, contributor: str | None) -> None:
    """They neither wrap around nor become inexact."""
    data = pa.table({"a": ["N"] * 9, "x": [987654321e9] * 9, "w": [1e6] * 9, "h": ["g"] * 9, "i": [2**62 + 1] * 9})
    asked = [
        Grouping(keys=(A,), magnitude=name, decimals=decimals, weight=weight, contributor=contributor, top=top)
        for name, decimals, weight, top in (("x", 1, None, 1), ("x", 12, None, 0), ("x", 0, "w", 1), ("i", 0, None, 0))
    ]
    for message in same_words(data, make, *asked):
        assert "fewer decimals" in message


def test_columns_must_exist_and_fit(make: engine_kinds.Make) -> None:
    """Unknown and non-numeric ones, and tables without records."""
    engine = make(pa.table({"area": ["N"], "b": [True], "c": [1.5]}))
    assert "no column 'aera'; did you mean 'area'?" in refused(lambda: engine.categories("aera"))
    assert "does not hold numbers" in refused(lambda: engine.decimals("b"))
    assert "not whole" in refused(lambda: engine.categories("c"))
    assert "holds no records" in refused(lambda: make(pa.table({"a": pa.array([], pa.string())})))
