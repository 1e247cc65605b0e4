"""Ways to records elsewhere: URLs, connections, Spark, the command line, programmes; what PostgreSQL has of its own."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from logging.handlers import BufferingHandler
from typing import Any

import psycopg
import pyarrow as pa
import pytest

import discreet as dc
from discreet.engines.duckdb.engine import DuckDB
from discreet.engines.ibis.engine import Ibis
from discreet.engines.ibis.source import PYSPARK_LOGS
from discreet.engines.protocol import Grouping, Hmac, Key
from discreet.errors import InputError
from tests import engine_kinds
from tests.engines.records import FULL, SECRET, people, refused

pytestmark = engine_kinds.QUIET


def tables(source: Any, **more: Any) -> Any:
    data = dc.Microdata.of(source, dimensions=["county", "sex"], unit="id", magnitudes=["pay"], secret=SECRET, **more)
    return dc.tabulate(data, by=["county", "sex"], value="pay", top=1)


@engine_kinds.ON_POSTGRESQL
def test_microdata_take_databases_and_ibis_tables(postgresql: str, tmp_path: Any) -> None:
    """A URL, a connection, a table with steps of the caller's own; files too, if Ibis is named."""
    import ibis

    name = engine_kinds.in_postgresql(postgresql, people())
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


@engine_kinds.ON_SPARK
def test_microdata_take_spark(spark: Any) -> None:
    """A data frame, and a session with the name of a table."""
    held = spark.createDataFrame(people())
    held.createOrReplaceTempView("people")
    truth = tables(people()).cells
    assert tables(held).cells.equals(truth)
    assert tables(spark, table="people").cells.equals(truth)
    assert "leave it out" in refused(lambda: Ibis.of(held, table="people"))


@engine_kinds.ON_SPARK
def test_what_spark_says_is_not_passed_on(spark: Any) -> None:
    """PySpark logs the errors it raises, and they quote values; neither the message nor the log may."""
    from pyspark.logger import PySparkLogger

    kept = BufferingHandler(100)
    logs = [PySparkLogger.getLogger(name) for name in PYSPARK_LOGS]
    spark.createDataFrame(pa.table({"a": ["1", "XSECRETX"]})).createOrReplaceTempView("trouble")
    failing = spark.sql("SELECT CAST(a AS INT) AS a FROM trouble")  # at a record, which the error quotes
    try:
        for log in logs:
            log.addHandler(kept)
        assert "could not be read (NumberFormatException)" in refused(lambda: Ibis.of(failing).categories("a"))
        assert kept.buffer == []
        with pytest.raises(Exception, match="XSECRETX"):
            failing.collect()
        assert "XSECRETX" in kept.buffer[0].getMessage()  # a log of the caller's own goes on
    finally:
        for log in logs:
            log.removeHandler(kept)


@engine_kinds.ON_POSTGRESQL
def test_wrong_places_are_refused_without_a_password(postgresql: str) -> None:
    """Neither the URL nor what the database said is in a message, an error's context or a repr."""
    address = "postgresql://me:XSECRETX@127.0.0.1:1/XSECRETX"
    assert "cannot connect to the postgresql database" in refused(lambda: Ibis.of(address, table="t"))
    assert "cannot connect to the nonsense database" in refused(lambda: Ibis.of("nonsense://XSECRETX"))
    name = engine_kinds.in_postgresql(postgresql, people())
    keyed = postgresql.replace("postgres@", "postgres:XSECRETX@")
    assert "XSECRETX" not in repr(dc.Microdata.of(keyed, table=name, dimensions=["sex"]))
    assert f"did you mean '{name}'?" in refused(lambda: Ibis.of(keyed, table=name + "x"))
    engine_kinds.in_postgresql(postgresql, people())
    assert "name the table of the postgresql database" in refused(lambda: Ibis.of(keyed))
    assert "by engine 'ibis'" in refused(lambda: tables(keyed, table=name, engine="duckdb"))
    assert "did you mean 'ibis'?" in refused(lambda: tables(people(), engine="ibbis"))
    assert "an engine already" in refused(lambda: tables(DuckDB.of(people()), engine="ibis"))
    assert "memory=" in refused(lambda: tables(keyed, table=name, memory="1GB"))


@engine_kinds.ON_POSTGRESQL
def test_postgresql_has_kinds_of_its_own(postgresql: str) -> None:
    """Padded text, enumerations, numbers of any size, NaN and infinity among decimals; a language's order of text."""
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
    words = "1 record has no value (missing or NaN: say what is meant, 0 or an estimate, or leave the record out)"
    assert words in refused(lambda: later.base_cells(Grouping(keys=(mood,), magnitude="n")))
    assert "1 record is infinite" in refused(lambda: later.base_cells(Grouping(keys=(mood,), magnitude="v")))


@engine_kinds.ON_POSTGRESQL
def test_secrets_stay_out_of_queries(postgresql: str) -> None:
    """A database's log may hold queries; the pads of a secret are a temporary table instead."""
    import ibis

    connection = ibis.connect(postgresql)
    engine = Ibis.of(connection, table=engine_kinds.in_postgresql(postgresql, people()))
    said: list[str] = []
    compile_ = connection.compile

    def compile_and_listen(*a: Any, **k: Any) -> Any:
        said.append(str(compile_(*a, **k)))
        return compile_(*a, **k)

    connection.compile = compile_and_listen
    sex = Key(name="sex", column="sex", codes=("f", "m"))
    key = Hmac(unit="id", secret=SECRET)
    engine.base_cells(Grouping(keys=(sex,), record_key=key))
    assert any("sha256" in sql.lower() for sql in said)
    assert not any(pad.hex() in sql for pad in key.pads() for sql in said)
    connection.disconnect()


@engine_kinds.ON_POSTGRESQL
def test_postgresql_makes_a_digest_once_a_record(postgresql: str) -> None:
    """A planner that wrote the digest out wherever it is used would make it two dozen times. The unit of this view
    counts how often it is asked for."""
    name = engine_kinds.in_postgresql(postgresql, people())
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute("CREATE SEQUENCE asked")
        connection.execute(
            "CREATE FUNCTION told(bigint) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS "
            "$$ BEGIN PERFORM nextval('asked'); RETURN $1; END $$"
        )
        connection.execute(f"CREATE VIEW telling AS SELECT told(id) AS id, sex, pay FROM {name}")
        sex = Key(name="sex", column="sex", codes=("f", "m"))
        asked = Grouping(keys=(sex,), magnitude="pay", decimals=2, top=1, record_key=Hmac(unit="id", secret=SECRET))
        found = Ibis.of(postgresql, table="telling").base_cells(asked)
        row = connection.execute("SELECT last_value FROM asked").fetchone()
    assert row == (len(people()),)
    assert found.key is not None
    assert found.key.tolist() == DuckDB.of(people()).base_cells(asked).key.tolist()  # type: ignore[union-attr]


@engine_kinds.ON_POSTGRESQL
def test_connections_end_with_engines_and_refusals(postgresql: str) -> None:
    """None is left open by an engine that is gone, nor by one that was never made."""
    name, empty = (engine_kinds.in_postgresql(postgresql, data) for data in (people(), people()[:0]))
    ours = f"{postgresql}?application_name=ending"
    with psycopg.connect(postgresql, autocommit=True) as connection:

        def open_ones() -> Any:
            return connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'ending'"
            ).fetchone()

        engine = Ibis.of(ours, table=name)
        assert engine.rows() == len(people())
        assert open_ones() == (1,)
        assert "holds no records" in refused(lambda: Ibis.of(ours, table=empty))
        assert "no table" in refused(lambda: Ibis.of(ours, table="nowhere"))
        del engine
        gc.collect()
        end = time.monotonic() + 20  # the server takes a moment to see it
        while open_ones() != (0,):
            assert time.monotonic() < end
            time.sleep(0.05)


def test_databases_with_ways_of_their_own_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that rounds halves to even, say; and record keys where SHA-256 has no known name."""
    from discreet.engines.ibis import dialects as ibis_dialects
    from discreet.engines.ibis import engine as ibis_engine

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

    from discreet.engines.ibis.plan import Plan

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
