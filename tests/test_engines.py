"""One suite over all engines: DuckDB here, and Ibis on DuckDB, on a PostgreSQL and on an Apache Spark cluster."""

from __future__ import annotations

import hashlib
import hmac
import os
import shutil
from collections.abc import Callable, Iterator
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings

import discreet as dc
from discreet.duckdb_engine import DuckDB
from discreet.engine import Engine, Grouping, Groups, Hmac, Key, Spanning
from discreet.errors import InputError
from discreet.ibis_engine import Ibis
from tests import engines
from tests.database import database
from tests.test_engine import (
    FULL,
    MISSING,
    SECRET,
    A,
    B,
    Record,
    arrow,
    cells_of,
    check_contributions,
    records,
    refused,
)

pytestmark = [
    pytest.mark.xdist_group("engines"),
    # neither PySpark nor Ibis closes its sockets: that is left to the collector, which warns
    pytest.mark.filterwarnings("ignore::ResourceWarning:pyspark"),
    pytest.mark.filterwarnings("ignore:.*:pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The address of a PostgreSQL of our own."""
    with database() as made:
        yield made.url


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A session on a cluster of two workers."""
    if shutil.which("java") is None and not os.environ.get("CI"):
        pytest.skip("Apache Spark needs Java: apt-get install openjdk-17-jre-headless")
    with engines.spark() as session:
        yield session


@pytest.fixture(scope="session", params=engines.KINDS)
def make(request: pytest.FixtureRequest) -> engines.Make:
    """What makes an engine from records."""
    place = {"ibis on postgresql": "postgresql", "ibis on spark": "spark"}.get(request.param)
    return engines.Make(request.param, None if place is None else request.getfixturevalue(place))


# -- the same answers -------------------------------------------------------------------------------------------------


def alike(left: Groups, right: Groups) -> None:
    """The same bits; contributors are the same ones, whatever their numbers."""
    names: dict[int, int] = {-1: -1}
    for f in ("codes", "count", "contributors", "total", "weight", "weighted_total", "key", "top_value", "top_weight"):
        exactly(f, getattr(left, f), getattr(right, f))
    assert left.decimals == right.decimals
    pairs = [(left.top_contributor, right.top_contributor)]
    assert (left.spanning is None) == (right.spanning is None)
    if isinstance(left.spanning, Spanning) and isinstance(right.spanning, Spanning):
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


def frame(seed: int, n: int, holdings: pa.Array) -> pa.Table:
    """Records with ties, zeros, negatives, halves that must be rounded, big keys, and every kind of column."""
    rng = np.random.default_rng(seed)
    whole = rng.integers(-4, 5, n)
    x = np.where(rng.random(n) < 0.5, whole * 0.125, np.round(rng.normal(0, 1e6, n), 3))
    return pa.table(
        {
            "a": pa.array(np.array(["N", "S", 'it\'s "E"', None, ""], object)[rng.integers(0, 5, n)], pa.string()),
            "b": pa.array(np.array([0, 1, -5])[rng.integers(0, 3, n)], pa.int64()),
            "x": x,
            "d": pa.array([Decimal(int(v)).scaleb(-3) for v in rng.integers(-(10**6), 10**6, n)], pa.decimal128(15, 3)),
            "i": pa.array(rng.integers(-3, 4, n), pa.int32()),
            "t": pa.array([f"{v:.4f}" if v < 0 else f" {v:.3e}" for v in x]),
            "f": pa.array(np.round(rng.normal(0, 9, n), 1), pa.float32()),
            "w": np.where(rng.random(n) < 0.2, 1.0, rng.integers(0, 10**7, n) / 7),
            "r": pa.array(rng.integers(0, 2**64, n, dtype=np.uint64)),
            "s": pa.array([str(v) for v in rng.integers(-(2**63), 2**63, n)]),
            "h": holdings.take(pa.array(rng.integers(0, len(holdings), n))),
            "id": pa.array(range(n), pa.int64()),
            "y": pa.array(rng.random(n) < 0.3),
            "e": pa.array([date(2020, 1, 1 + int(v)) for v in rng.integers(0, 3, n)]),
        }
    )


HOLDINGS = {
    "text": pa.array(["b", "B", "a", "ä", "Z z", "z", "", None, None], pa.string()),
    "integer": pa.array([10, 9, -1, 2**62, None, None], pa.int64()),
    "decimal": pa.array([Decimal("10"), Decimal("9"), Decimal("-1.5"), None], pa.decimal128(12, 1)),
    "float": pa.array([10.0, 9.0, -1.5, float("nan"), None], pa.float64()),
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


@pytest.mark.parametrize("kind", HOLDINGS)
def test_every_engine_gives_the_bits_that_duckdb_gives(make: engines.Make, kind: str) -> None:
    """Counts, sums, keys, largest contributions, those who span cells: of every kind of column."""
    if make.slow and kind != "text":
        return  # the kinds are told apart in our code, and Spark takes seconds a question
    data = frame(len(kind), 300, HOLDINGS[kind])
    data = data.append_column("d2", pa.array([abs(v) for v in data["d"].to_pylist()], pa.decimal128(15, 3)))
    truth, engine = DuckDB.of(data), make(data)
    for name in ("everything", "keys of units") if make.slow else GROUPINGS:
        alike(truth.base_cells(GROUPINGS[name]), engine.base_cells(GROUPINGS[name]))
    for column in () if make.slow else ("x", "d", "t", "f"):
        assert truth.decimals(column) == engine.decimals(column), column


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=records)
def test_groups_equal_plain_python(make: engines.Make, rows: list[Record]) -> None:
    """Counts, exact sums, keys mod 2**64 and merged contributions are what a loop over records gives."""
    if make.slow and len(rows) < 20:
        return
    engine = make(arrow(rows))
    got, cells = engine.base_cells(FULL), cells_of(rows)
    assert isinstance(engine, Engine)
    assert engine.rows() == len(rows)
    assert [tuple(c) for c in got.codes.tolist()] == list(cells)
    assert got.count.tolist() == [len(c.rows) for c in cells.values()]
    assert got.total is not None
    assert got.total.tolist() == [sum(int(r["x"] * 100) for r in c.rows) for c in cells.values()]
    assert got.weight is not None
    assert got.weight.tolist() == [sum(int(r["w"] * 10**6) for r in c.rows) for c in cells.values()]
    assert got.weighted_total is not None
    assert got.weighted_total.tolist() == [sum(w for _, w in c.given.values()) for c in cells.values()]
    assert got.key is not None
    assert got.key.tolist() == [sum(r["r"] for r in c.rows) % 2**64 for c in cells.values()]
    check_contributions(got, list(cells.values()))


def test_keys_of_units_are_pythons(make: engines.Make) -> None:
    """HMAC-SHA256 of the id as text, for any id and a long secret; and twice the same."""
    ids = ["1", "Zoë", "it's", "a\\b", " x ", "漢字", "%s $1 :a {b}"]
    key = Key(name="id", column="id", codes=tuple(ids))
    engine = make(pa.table({"id": ids}))
    for secret in (b"long " * 40, SECRET):
        asked = Grouping(keys=(key,), record_key=Hmac(unit="id", secret=secret))
        digest = [hmac.new(secret, i.encode(), hashlib.sha256).digest() for i in ids]
        assert engine.base_cells(asked).key.tolist() == [int.from_bytes(d[:8], "big") for d in digest]


def test_record_keys_wrap(make: engines.Make) -> None:
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
        assert engine.base_cells(Grouping(keys=(A,), record_key=name)).key.tolist() == [sum(plain) % 2**64], name


def test_codes_are_text_in_natural_order(make: engines.Make) -> None:
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
    for name, (_, codes) in columns.items():
        assert sorted(engine.categories(name)) == sorted(codes), name
        if make.slow and name not in {"f", "d", "b"}:
            continue
        key = Key(name=name, column=name, codes=(*codes, "?"), missing="?")
        got = engine.base_cells(Grouping(keys=(key,)))
        assert {key.codes[c] for c in got.codes[:, 0]} - {"?"} == set(codes)
        assert got.count.sum() == 4
    assert engine.categories("i") == ("2", "9", "10")


def test_questions_about_columns(make: engines.Make) -> None:
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


def same_words(data: pa.Table, make: engines.Make, *asked: Grouping) -> list[str]:
    """The messages, which are DuckDB's."""
    truth, engine = DuckDB.of(data), make(data)
    found = []
    for grouping in asked:
        found.append(refused(lambda g=grouping: engine.base_cells(g)))  # type: ignore[misc]
        assert found[-1] == refused(lambda g=grouping: truth.base_cells(g))  # type: ignore[misc]
    return found


def test_faults_are_refused_in_the_same_words(make: engines.Make) -> None:
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
    messages = same_words(pa.table(columns), make, *(asked[:2] if make.slow else asked))
    assert "3 records hold a code that is not in the codebook" in messages[0]
    assert "record key column 'k': 2 records have no value, 2 records hold no whole number" in messages[0]


@pytest.mark.parametrize("contributor", [None, "h"])
def test_sums_that_do_not_fit_are_refused(make: engines.Make, contributor: str | None) -> None:
    """They neither wrap around nor become inexact."""
    data = pa.table({"a": ["N"] * 9, "x": [987654321e9] * 9, "w": [1e6] * 9, "h": ["g"] * 9, "i": [2**62 + 1] * 9})
    asked = [
        Grouping(keys=(A,), magnitude=name, decimals=decimals, weight=weight, contributor=contributor, top=top)
        for name, decimals, weight, top in (("x", 1, None, 1), ("x", 12, None, 0), ("x", 0, "w", 1), ("i", 0, None, 0))
    ]
    for message in same_words(data, make, *(asked[:1] if make.slow else asked)):
        assert "fewer decimals" in message


def test_columns_must_exist_and_fit(make: engines.Make) -> None:
    """Unknown and non-numeric ones, and tables without records."""
    engine = make(pa.table({"area": ["N"], "b": [True], "c": [1.5]}))
    assert "no column 'aera'; did you mean 'area'?" in refused(lambda: engine.categories("aera"))
    assert "does not hold numbers" in refused(lambda: engine.decimals("b"))
    assert "not whole" in refused(lambda: engine.categories("c"))
    assert "holds no records" in refused(lambda: make(pa.table({"a": pa.array([], pa.string())})))


# -- ways in ----------------------------------------------------------------------------------------------------------


def people() -> pa.Table:
    return pa.table({"id": [1, 2, 3], "county": ["01", "01", "02"], "sex": ["f", "m", "f"], "pay": [10.5, 8.0, 9.25]})


def tables(source: Any, **more: Any) -> Any:
    data = dc.Microdata.of(source, dimensions=["county", "sex"], unit="id", magnitudes=["pay"], secret=SECRET, **more)
    return dc.tabulate(data, by=["county", "sex"], value="pay", top=1)


def test_microdata_take_databases_and_ibis_tables(postgresql: str, tmp_path: Any) -> None:
    """A URL, a connection, a table with steps of the caller's own; files too, if Ibis is named."""
    import ibis

    name = engines.in_postgresql(postgresql, people())
    connection = ibis.connect(postgresql)
    truth = tables(people()).cells
    for source, more in (
        (postgresql, {"table": name}),
        (postgresql, {"table": f"public.{name}"}),
        (connection, {"table": name}),
        (connection.table(name), {}),
        (ibis.memtable(people()), {}),
        (people(), {"engine": "ibis"}),
    ):
        found = tables(source, **more)
        assert found.cells.equals(truth), source
    some = connection.table(name).filter(lambda t: t.county == "01")
    assert tables(some).cells["count"].iloc[0] == 2
    connection.disconnect()


def test_microdata_take_spark(spark: Any) -> None:
    """A data frame, and a session with the name of a table."""
    held = spark.createDataFrame(people())
    held.createOrReplaceTempView("people")
    truth = tables(people()).cells
    assert tables(held).cells.equals(truth)
    assert tables(spark, table="people").cells.equals(truth)
    assert "leave it out" in refused(lambda: Ibis.of(held, table="people"))


def test_wrong_places_are_refused_without_a_password(postgresql: str) -> None:
    """Neither the URL nor what the database said is in a message, an error's context or a repr."""
    address = "postgresql://me:XSECRETX@127.0.0.1:1/XSECRETX"
    assert "cannot connect to the postgresql database" in refused(lambda: Ibis.of(address, table="t"))
    assert "cannot connect to the nonsense database" in refused(lambda: Ibis.of("nonsense://XSECRETX"))
    name = engines.in_postgresql(postgresql, people())
    keyed = postgresql.replace("postgres@", "postgres:XSECRETX@")
    assert "XSECRETX" not in repr(dc.Microdata.of(keyed, table=name, dimensions=["sex"]))
    assert f"did you mean '{name}'?" in refused(lambda: Ibis.of(keyed, table=name + "x"))
    engines.in_postgresql(postgresql, people())
    assert "name the table of the postgresql database" in refused(lambda: Ibis.of(keyed))
    assert "by engine 'ibis'" in refused(lambda: tables(keyed, table=name, engine="duckdb"))
    assert "did you mean 'ibis'?" in refused(lambda: tables(people(), engine="ibbis"))
    assert "an engine already" in refused(lambda: tables(DuckDB.of(people()), engine="ibis"))
    assert "memory=" in refused(lambda: tables(keyed, table=name, memory="1GB"))


def test_postgresql_has_kinds_of_its_own(postgresql: str) -> None:
    """Padded text, enumerations, numbers of any size, NaN and infinity among decimals; a language's order of text."""
    import psycopg

    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute("CREATE TYPE mood AS ENUM ('sad', 'glad')")
        connection.execute(
            'CREATE TABLE kinds ("C" char(4), m mood, n numeric, v numeric, u uuid, j json, s timestamp)'
        )
        connection.execute(
            "INSERT INTO kinds VALUES "
            "('ab', 'sad', 1.25, 7, '00000000-0000-0000-0000-000000000001', '{}', '2020-01-01'),"
            "('a', 'glad', -2, 8, '00000000-0000-0000-0000-000000000001', '{}', '2020-01-01 12:30'),"
            "(' ', 'glad', 3, 1e60, '00000000-0000-0000-0000-000000000002', '{}', '2020-01-01 12:30')"
        )
    engine = Ibis.of(postgresql, table="kinds")
    assert engine.categories("C") == ("a", "ab")
    assert engine.categories("m") == ("glad", "sad")
    assert engine.categories("s") == ("2020-01-01 00:00:00", "2020-01-01 12:30:00")
    assert engine.duplicates("u") == (1, 0)
    assert engine.decimals("n") == 2
    assert "holds no codes (its type is json)" in refused(lambda: engine.categories("j"))
    mood = Key(name="mood", column="m", codes=("sad", "glad"))
    found = engine.base_cells(Grouping(keys=(mood,), magnitude="n", contributor="u", top=1))
    assert found.total is not None
    assert found.total.tolist() == [125, 100]
    assert "1 record is too large" in refused(lambda: engine.base_cells(Grouping(keys=(mood,), magnitude="v")))
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute("INSERT INTO kinds (\"C\", m, n, v) VALUES ('a', 'sad', 'NaN', 'Infinity')")
    later = Ibis.of(postgresql, table="kinds")
    words = "1 record has no value (missing or NaN)"
    assert words in refused(lambda: later.base_cells(Grouping(keys=(mood,), magnitude="n")))
    assert "1 record is infinite" in refused(lambda: later.base_cells(Grouping(keys=(mood,), magnitude="v")))


def test_secrets_stay_out_of_queries(postgresql: str) -> None:
    """A database's log may hold queries; the pads of a secret are a temporary table instead."""
    import ibis

    connection = ibis.connect(postgresql)
    engine = Ibis.of(connection, table=engines.in_postgresql(postgresql, people()))
    said: list[str] = []
    compile_ = connection.compile
    connection.compile = lambda *a, **k: said.append(str(compile_(*a, **k))) or compile_(*a, **k)  # type: ignore[method-assign]
    sex = Key(name="sex", column="sex", codes=("f", "m"))
    key = Hmac(unit="id", secret=SECRET)
    engine.base_cells(Grouping(keys=(sex,), record_key=key))
    assert any("sha256" in sql.lower() for sql in said)
    assert not any(pad.hex() in sql for pad in key.pads() for sql in said)
    connection.disconnect()


def test_databases_with_ways_of_their_own_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that rounds halves to even, say; and record keys where SHA-256 has no known name."""
    from discreet import ibis_dialects, ibis_engine

    def half_even(keyed: bool, dialect: str) -> Any:
        asked, wanted = ibis_dialects.trial(keyed, dialect)
        return asked, {**wanted, "up": 2}

    monkeypatch.setattr(ibis_engine, "trial", half_even)
    assert "computes otherwise than discreet expects (up)" in refused(lambda: Ibis.of(people()))
    with pytest.raises(InputError, match="cannot be made from unit ids on sqlite"):
        ibis_dialects.digests("sqlite")


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake", "trino"])
def test_the_expression_can_be_said_in_other_dialects(dialect: str) -> None:
    """Not run there, but translated without a word that the dialect lacks."""
    import ibis

    from discreet.ibis_plan import Plan

    data = ibis.table(
        {"a": "string", "b": "int64", "x": "float64", "w": "float64", "r": "decimal(20,0)", "h": "string"}
    )
    sql = str(ibis.to_sql(Plan(FULL, data, dialect, 2).expression, dialect=dialect))
    assert "ROW_NUMBER() OVER" in sql


@pytest.fixture
def no_ibis(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """As if Ibis were not installed."""
    import sys

    monkeypatch.setitem(sys.modules, "ibis", None)
    return lambda: None


def test_without_ibis_the_extra_is_named(no_ibis: Any) -> None:
    """What to install."""
    assert "discreet[ibis]" in refused(lambda: Ibis.of("postgres://somewhere/x"))
