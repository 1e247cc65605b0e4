"""Tables that live elsewhere: a database by its URL, an Ibis table, Spark; or here, through Ibis on DuckDB."""

from __future__ import annotations

import re
import sys
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from discreet.engines.duckdb.source import VIEW, Relation, check_names, open_source
from discreet.errors import InputError, listed, nearest

T = TypeVar("T")

PYSPARK_LOGS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
_URL = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)


def is_url(source: Any) -> bool:
    """Whether a source is the URL of a database.

    >>> is_url("postgres://me@host/people"), is_url("people.parquet")
    (True, False)
    """
    return isinstance(source, str) and _URL.match(source) is not None


def elsewhere(source: Any) -> bool:
    """Whether a source is one that only Ibis can reach."""
    return is_url(source) or type(source).__module__.split(".")[0] in {"ibis", "pyspark"}


def library() -> Any:
    """Ibis, or what to install."""
    try:
        import ibis
    except ImportError:
        raise InputError("data in another place are read with Ibis: pip install 'discreet[ibis]'") from None
    return ibis


@contextmanager
def _unlogged() -> Iterator[None]:
    """PySpark writes what Spark says to logs of its own, too; while it is not loaded, it cannot."""
    logs = []
    if "pyspark" in sys.modules:
        with suppress(ImportError):  # older versions have no such logs
            from pyspark.logger import PySparkLogger

            logs = [PySparkLogger.getLogger(name) for name in PYSPARK_LOGS]
    before = [log.disabled for log in logs]
    for log in logs:
        log.disabled = True
    try:
        yield
    finally:
        for log, was in zip(logs, before, strict=True):
            log.disabled = was


def quietly(problem: str, work: Callable[[], T]) -> T:
    """The result of some work of Ibis. What a database says when it fails may quote values or passwords, so only the
    kind of error is passed on; ours is raised outside the except clause, so that not even its context has more.
    What Ibis calls that its drivers deprecate is not the caller's to mend."""
    with warnings.catch_warnings(), _unlogged():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return work()
        except InputError:
            raise
        except Exception as error:  # noqa: BLE001 - every backend has kinds of its own
            kind = type(error).__name__
    raise InputError(f"{problem} ({kind})")


@contextmanager
def closed_if_refused(backend: Any) -> Iterator[None]:
    """A connection of ours does not outlive the refusal of what it was made for."""
    try:
        yield
    except InputError:
        backend.disconnect()
        raise


def open_table(source: Any, table: str | None) -> tuple[Any, Any, str]:
    """A table, the backend that holds it, and what messages call it."""
    ibis = library()
    root, kind = type(source).__module__.split(".")[0], type(source).__name__
    if is_url(source):
        scheme = source.partition("://")[0]
        backend = quietly(f"cannot connect to the {scheme} database", lambda: ibis.connect(source))
        with closed_if_refused(backend):
            return _named(backend, table, f"the {scheme} database")
    if root == "ibis" and hasattr(source, "list_tables"):
        return _named(source, table, f"the {source.name} database")
    if root == "pyspark" and kind == "SparkSession":
        return _named(quietly("cannot use the Spark session", lambda: ibis.pyspark.connect(source)), table, "Spark")
    if table is not None and elsewhere(source):
        raise InputError("table= names a table of a database; leave it out for a table or a data frame")
    if root == "ibis" and isinstance(source, ibis.Table):
        backend = quietly("cannot find the backend of the Ibis table", source.get_backend)
        return source, backend, "the Ibis table"
    if root == "pyspark" and kind == "DataFrame":
        return _spark_frame(ibis, source)
    if elsewhere(source):
        raise InputError(f"cannot read data from a {kind}; give a table, a connection with table=, or a data frame")
    return _here(ibis, source, table)


def _named(backend: Any, table: str | None, place: str) -> tuple[Any, Any, str]:
    """A table by name, which may be that of a schema before a point."""
    if table is None:
        names = _tables(backend)
        if len(names) != 1:
            known = f": {listed(names)}" if names else ""
            raise InputError(f"name the table of {place} that holds the records (table=){known}")
        table = names[0]
    schema, point, name = table.rpartition(".")
    # a name with a point in it comes second: Spark finds a schema's table by it, but then cannot read it
    tries = [(name, tuple(schema.split(".")) if "." in schema else schema), (table, None)]
    for wanted, database in tries if point else tries[1:]:
        with suppress(InputError):
            relation = quietly("", lambda w=wanted, d=database: backend.table(w, database=d))  # type: ignore[misc]
            return relation, backend, f"table {table!r} of {place}"
    names = _tables(backend)
    hint = f"; {nearest(table, names)}" if names else ""
    raise InputError(f"{place} has no table {table!r} that can be read{hint}")


def _tables(backend: Any) -> list[str]:
    """The names of its tables, none where they cannot be listed: they only serve to advise."""
    with suppress(InputError):
        return sorted(quietly("", backend.list_tables))
    return []


def _spark_frame(ibis: Any, frame: Any) -> tuple[Any, Any, str]:
    """A data frame of Spark, under a name of its own for as long as it is in use."""
    from ibis.util import gen_name

    session, name = frame.sparkSession, gen_name("discreet")
    check_names("the Spark data frame", frame.columns)
    backend = quietly("cannot use the Spark session", lambda: ibis.pyspark.connect(session))
    quietly("cannot use the Spark data frame", lambda: frame.createOrReplaceTempView(name))
    table = quietly("cannot use the Spark data frame", lambda: backend.table(name))
    weakref.finalize(backend, _drop_view, session, name)
    return table, backend, "the Spark data frame"


def small_table(backend: Any, columns: dict[str, list[str]]) -> Any:
    """A few texts as a temporary table of the database: sent beside queries, never in them."""
    import pyarrow as pa
    from ibis.util import gen_name

    ibis = library()
    if backend.name != "pyspark":
        return ibis.memtable(pa.table(columns))
    # as Ibis would do it, without the detour through pandas
    session, name = _session(backend), gen_name("discreet")
    rows = list(zip(*columns.values(), strict=True))
    frame = session.createDataFrame(rows, ", ".join(f"{column} string" for column in columns))
    frame.createOrReplaceTempView(name)
    weakref.finalize(backend, _drop_view, session, name)
    return backend.table(name)


def fetch(backend: Any, expression: Any) -> Any:
    """An expression's rows as an Arrow table; from Spark directly, as Ibis would go row by row through pandas."""
    with _steps():
        if backend.name == "pyspark" and hasattr(frame := backend.raw_sql(backend.compile(expression)), "toArrow"):
            return frame.toArrow()
        return backend.to_pyarrow(expression, limit=None)


@contextmanager
def _steps() -> Iterator[None]:
    """Steps stay steps: put into one, what is used several times would be written out, and computed, as often."""
    options = library().options.sql
    before, options.fuse_selects = options.fuse_selects, False
    try:
        yield
    finally:
        options.fuse_selects = before


def _session(backend: Any) -> Any:
    return backend.raw_sql("SELECT 1").sparkSession


def _drop_view(session: Any, name: str) -> None:
    if session.getActiveSession() is not None:
        session.catalog.dropTempView(name)


def _here(ibis: Any, source: Any, table: str | None) -> tuple[Any, Any, str]:
    """A data frame or file, read by DuckDB under Ibis with the same care as without."""
    import duckdb

    opened = open_source(Path(source) if isinstance(source, str) else source, table)
    if isinstance(opened, Relation):  # a stream can be read once only
        opened = open_source(opened.relation.to_arrow_table())
    raw = duckdb.connect(config={"temp_directory": "", "autoinstall_known_extensions": "false"})
    backend = quietly(f"{opened.name} could not be read", lambda: ibis.duckdb.from_connection(raw))
    quietly(f"{opened.name} could not be read", lambda: opened.describe(raw))
    names = [row[0] for row in raw.execute(f"DESCRIBE {VIEW}").fetchall()]
    quietly(f"{opened.name} could not be read", lambda: opened.bind(raw, names))
    return quietly(f"{opened.name} could not be read", lambda: backend.table(VIEW)), backend, opened.name
