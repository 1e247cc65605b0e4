"""What the tests of engines share: an Apache Spark of our own, and the same records put into each."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.engines.duckdb.engine import DuckDB
from discreet.engines.ibis.engine import Ibis
from discreet.engines.protocol import Engine

ON_POSTGRESQL, ON_SPARK = pytest.mark.xdist_group("postgresql"), pytest.mark.xdist_group("spark")  # one of each will do
KINDS = (
    "duckdb",
    "ibis on duckdb",
    pytest.param("ibis on postgresql", marks=ON_POSTGRESQL),
    pytest.param("ibis on spark", marks=ON_SPARK),
)
QUICK = KINDS[:3]  # where a question about a few records takes no second
# PySpark does not close its sockets: that is left to the collector, which warns in whatever test runs by then
LEFT_OPEN = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
QUIET = [
    pytest.mark.filterwarnings("ignore::ResourceWarning:pyspark"),
    pytest.mark.filterwarnings("ignore:.*:pytest.PytestUnraisableExceptionWarning"),
]
# what is quick for a few hundred records: no compiling, neither of queries nor of Java to its best
_SMALL = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "2",
}
SETTINGS = {"spark.sql.adaptive.enabled": "true", "spark.sql.codegen.wholeStage": "true"}  # as Spark comes
_NUMBER = count()


@contextmanager
def spark() -> Iterator[Any]:
    """A session on a cluster of two workers, each a process of its own, with PySpark's own Spark and this Java."""
    import pyspark
    from pyspark.sql import SparkSession

    folder = tempfile.mkdtemp(prefix="discreet-spark-")
    os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
    os.environ["SPARK_LOCAL_DIRS"] = os.environ["SPARK_WORKER_DIR"] = folder
    os.environ["PYSPARK_PYTHON"] = sys.executable
    given = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "1g",
        "spark.sql.warehouse.dir": folder,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **_SMALL,
    }
    builder = SparkSession.builder.appName("discreet").master("local-cluster[2,1,1024]")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # PySpark leaves the pipes of the JVM it starts open
        session = builder.config(map=given).getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        try:
            yield session
        finally:
            gateway = session.sparkContext._gateway
            session.stop()
            gateway.shutdown()
            gateway.proc.stdin.close()
            gateway.proc.wait()
            shutil.rmtree(folder, ignore_errors=True)


# -- the same records in each ---------------------------------------------------------------------------------------


def plain(data: Any) -> pa.Table:
    """As an Arrow table of types that databases have; a number of 64 bits without a sign becomes a decimal."""
    table = data if isinstance(data, pa.Table) else pa.Table.from_pandas(data, preserve_index=False)
    for k, field in enumerate(table.schema):
        if pa.types.is_uint64(field.type):
            table = table.set_column(k, field.name, table[k].cast(pa.decimal128(20, 0)))
        elif pa.types.is_null(field.type) or pa.types.is_large_string(field.type):
            table = table.set_column(k, field.name, table[k].cast(pa.string()))
    return table


def _type(kind: pa.DataType) -> str:
    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    names = {pa.string(): "text", pa.int64(): "bigint", pa.int32(): "integer", pa.float64(): "double precision"}
    return {**names, pa.float32(): "real", pa.bool_(): "boolean", pa.date32(): "date"}[kind]


def in_postgresql(url: str, data: Any) -> str:
    """Records as a new table; returns its name."""
    import psycopg

    table, name = plain(data), f"records_{next(_NUMBER)}"
    columns = ", ".join('"' + f.name.replace('"', '""') + f'" {_type(f.type)}' for f in table.schema)
    with psycopg.connect(url, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {name} ({columns})")
        with cursor.copy(f"COPY {name} FROM STDIN") as copy:
            for row in zip(*table.to_pydict().values(), strict=True):
                copy.write_row(row)
    return name


@dataclass(frozen=True)
class Make:
    """Makes an engine of a kind from records; ``place`` is a URL or a Spark session."""

    kind: str
    place: Any = None

    def __call__(self, data: Any) -> Engine:
        if self.kind == "duckdb":
            return DuckDB.of(data)
        if self.kind == "ibis on duckdb":
            return Ibis.of(data)
        if self.kind == "ibis on postgresql":
            return Ibis.of(self.place, table=in_postgresql(self.place, data))
        return Ibis.of(self.place.createDataFrame(plain(data)))
