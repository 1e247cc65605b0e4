"""Big data on one machine: memory that stays flat as the records grow, tables protected part by part, other engines.

    python benchmarks/scale.py [memory] [parts] [engines] [--rows 10000000 50000000 200000000] [--folder DIR]

Without a section all run, at a modest size. Records are made by DuckDB in files of 10 million, in a folder that is
removed at the end (``--folder`` says where, ``--rows`` how many). Every run is a process of its own, so that its peak
memory is its own. Ratios count: a busy machine is slow throughout.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SIZES = {"region": 2, "sex": 2, "age": 21, "activity": 5, "occupation": 13, "education": 9, "citizenship": 5}
ROWS = (10_000_000, 30_000_000)
AREAS, GROUPS = 2_000, 40  # of the table that is protected in parts
DETAIL = {"sex": 2, "age": 100, "activity": 31}
FILE_ROWS = 10_000_000
ROW_SHARE = 10  # one record in so many for a database that keeps rows
MEGABYTE = 1024  # in the kilobytes of getrusage


# -- records ----------------------------------------------------------------------------------------------------


def make(folder: Path, rows: int, columns: dict[str, str]) -> None:
    """Parquet files of columns that are SQL over the record's number i; the same records each time."""
    import duckdb

    folder.mkdir(exist_ok=True)
    select = ", ".join(f"{sql} AS {name}" for name, sql in columns.items())
    with duckdb.connect(config={"memory_limit": "1GB", "temp_directory": ""}) as connection:
        for number, start in enumerate(range(0, rows, FILE_ROWS)):
            path = folder / f"{number:04d}.parquet"
            if not path.exists():
                records = f"SELECT {select} FROM range({start}, {min(start + FILE_ROWS, rows)}) AS r(i)"
                connection.execute(f"COPY ({records}) TO '{path}' (FORMAT parquet)")


def uniform(name: str) -> str:
    """SQL for a number in [0, 1) that belongs to a record and a name. Hashed once, names would go together."""
    return f"(hash(hash(i, '{name}')) / 18446744073709551616.0)"


def category(name: str, size: int, width: int = 2) -> str:
    """SQL for one of the codes 1, 2, ..., the first ones more often."""
    return f"lpad((1 + floor({size} * {uniform(name)} ** 1.5)::INTEGER)::VARCHAR, {width}, '0')"


def persons() -> dict[str, str]:
    """7 dimensions (245,700 cells), a skewed magnitude with 2 decimals and a 64-bit record key."""
    made = {name: category(name, size) for name, size in SIZES.items()}
    return made | {"income": f"round(100 * (1 - {uniform('income')}) ** -0.8, 2)", "rkey": "hash(i, 'key')"}


def residents() -> dict[str, str]:
    """2,000 areas by sex, age and activity, with a record key."""
    made = {"area": category("area", AREAS, 4), **{name: category(name, size, 3) for name, size in DETAIL.items()}}
    return made | {"rkey": "hash(i, 'key')"}


def codes(size: int, width: int = 2) -> list[str]:
    """The codes that ``category`` gives."""
    return [f"{c + 1:0{width}d}" for c in range(size)]


# -- in a process of its own ------------------------------------------------------------------------------------


def measured(way: str, *arguments: str) -> dict[str, Any]:
    """Seconds, peak megabytes and answer of one of the ``WAYS``."""
    command = [sys.executable, __file__, "--way", way, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def report(way: str, arguments: list[str]) -> None:
    """The other side of ``measured``."""
    began = time.perf_counter()
    answer = WAYS[way](*arguments)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MEGABYTE
    print(json.dumps({"seconds": seconds, "peak": peak, "answer": answer}))


def cube(path: str) -> list[int]:
    """All margins of the cube: count, income, key and the two largest incomes of every inner cell."""
    import discreet as dc
    from discreet.data.codebook import Magnitude

    dimensions = [dc.Dimension.flat(name, codes(size)) for name, size in SIZES.items()]
    income = Magnitude("income", decimals=2)
    people = dc.Microdata.of(path, dimensions=dimensions, magnitudes=[income], key="rkey")
    table = dc.tabulate(people, by=list(SIZES), value="income", top=2)
    return [len(table), table.n, int(table.key[0])]


def in_parts(path: str, out: str) -> list[Any]:
    """The table of areas with cell key noise, some cells at a time: how many cells, and a digest of the file."""
    import discreet as dc

    people, by = _residents(path)
    dc.protect_in_parts(people, by, dc.CellKey(d=2, v=1), out)
    return [_cells(people, by), _digest(out)]


def in_one_go(path: str, out: str) -> list[Any]:
    """The same with all cells in memory."""
    import discreet as dc

    people, by = _residents(path)
    dc.write(dc.protect(dc.tabulate(people, by=by), dc.CellKey(d=2, v=1)).release(), out)
    return [_cells(people, by), _digest(out)]


def _residents(path: str) -> tuple[Any, list[str]]:
    import discreet as dc

    parents = {code: f"G{k * GROUPS // AREAS + 1:02d}" for k, code in enumerate(codes(AREAS, 4))}
    area = dc.Dimension.from_parents("area", parents)
    rest = [dc.Dimension.flat(name, codes(size, 3)) for name, size in DETAIL.items()]
    people = dc.Microdata.of(path, dimensions=[area, *rest], key="rkey")
    return people, ["area", *DETAIL]


def _cells(people: Any, by: list[str]) -> int:
    return math.prod(len(people.dimension(name).codes) for name in by)


def _digest(path: str) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Watched:
    """Passes everything on, and counts the seconds that an engine's own calls take."""

    def __init__(self, inner: Any, clock: list[float]) -> None:
        self.inner, self.clock = inner, clock

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.inner, name)
        if not callable(found) or name == "compile":  # Ibis turning an expression into SQL is our share
            return found
        return lambda *given, **named: self._timed(found, *given, **named)

    def _timed(self, call: Callable[..., Any], *given: Any, **named: Any) -> Any:
        began = time.perf_counter()
        if call.__name__ == "to_pyarrow":
            self.inner.compile(given[0])  # it does that too, so the time of one is taken off
            self.clock[0] -= time.perf_counter() - began
            began = time.perf_counter()
        answer = call(*given, **named)
        self.clock[0] += time.perf_counter() - began
        plain = isinstance(answer, (dict, list, tuple, int, str, type(None))) or hasattr(answer, "column_names")
        return answer if plain else Watched(answer, self.clock)


def grouped(engine: Any, clock: list[float]) -> list[Any]:
    """The inner cells of the cube, twice, the quicker one: seconds, the share that is ours, how many, sums."""
    from discreet.engines.protocol import Grouping, Key

    keys = tuple(Key(name=name, column=name, codes=tuple(codes(size))) for name, size in SIZES.items())
    asked = Grouping(keys=keys, magnitude="income", decimals=2, record_key="rkey", top=2)
    best: list[Any] = []
    for _ in range(2):
        clock[0] = 0.0
        began = time.perf_counter()
        found = engine.base_cells(asked)
        seconds = time.perf_counter() - began
        held = hashlib.sha256()
        for array in (found.codes, found.count, found.total, found.key, found.top_value):
            held.update(array.tobytes())
        if not best or seconds < best[0]:
            best = [seconds, max(0.0, 1 - clock[0] / seconds), len(found), held.hexdigest()]
    return best


def on_duckdb(path: str) -> list[Any]:
    """DuckDB in this process."""
    from discreet.engines.duckdb.engine import DuckDB

    engine, clock = DuckDB.of(path), [0.0]
    engine._connection = Watched(engine._connection, clock)
    return grouped(engine, clock)


def on_ibis(path: str) -> list[Any]:
    """The other engine on the same DuckDB."""
    from discreet.engines.ibis.engine import Ibis

    return _watched(Ibis.of(path))


def on_spark(path: str) -> list[Any]:
    """The other engine on an Apache Spark cluster of two workers on this machine."""
    import pyspark
    from pyspark.sql import SparkSession

    from discreet.engines.ibis.engine import Ibis

    os.environ["SPARK_HOME"], os.environ["PYSPARK_PYTHON"] = str(Path(pyspark.__file__).parent), sys.executable
    given = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "4", "spark.executor.memory": "3g"}
    given |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.memory": "2g"}
    given |= dict.fromkeys(["spark.local.dir", "spark.sql.warehouse.dir"], str(Path(path).parent))
    session = SparkSession.builder.master("local-cluster[2,1,3072]").config(map=given).getOrCreate()
    try:
        return _watched(Ibis.of(session.read.parquet(path)))
    finally:
        session.stop()


def on_postgresql(path: str) -> list[Any]:
    """The other engine on a PostgreSQL of this machine; what it takes to bring the records there is not counted."""
    import postgresql
    from discreet.engines.ibis.engine import Ibis

    with postgresql.server() as url:
        postgresql.load(url, path, "persons")
        return _watched(Ibis.of(url, table="persons"))


def _watched(engine: Any) -> list[Any]:
    clock, backend = [0.0], engine._backend
    engine._backend = Watched(backend, clock)
    return grouped(engine, clock)


WAYS: dict[str, Callable[..., Any]] = {
    "cube": cube,
    "in parts": in_parts,
    "in one go": in_one_go,
    "DuckDB": on_duckdb,
    "Ibis on DuckDB": on_ibis,
    "Ibis on Spark": on_spark,
    "Ibis on PostgreSQL": on_postgresql,
}


# -- sections ---------------------------------------------------------------------------------------------------


def memory(folder: Path, rows: tuple[int, ...]) -> None:
    """Peak memory from records to the cube, for more and more records."""
    first = 0.0
    print(f"{'records':>13} {'seconds':>9} {'records/s':>12} {'peak MB':>9} {'by the first':>13}")
    for number in rows:
        make(folder / "persons", number, persons())
        found = measured("cube", str(folder / "persons"))
        assert found["answer"][1] == number
        first = first or found["peak"]
        seconds, peak = found["seconds"], found["peak"]
        print(f"{number:>13,} {seconds:>9.1f} {number / seconds:>12,.0f} {peak:>9.0f} {peak / first:>13.2f}")
    print(f"the cube has {found['answer'][0]:,} cells; peak under 2,000 MB wanted")


def parts(folder: Path, rows: tuple[int, ...]) -> None:
    """Cell key noise on a table of 20 million cells from the fewest records, in parts and in one go."""
    number = min(rows)
    make(folder / "residents", number, residents())
    print(f"{number:,} records by area, sex, age and activity")
    print(f"{'':>12} {'file':>9} {'cells':>12} {'seconds':>9} {'peak MB':>9}")
    for suffix in (".csv", ".parquet"):
        digests = set()
        for way in ("in parts", "in one go"):
            found = measured(way, str(folder / "residents"), str(folder / f"table{suffix}"))
            cells, digest = found["answer"]
            digests.add(digest)
            print(f"{way:>12} {suffix:>9} {cells:>12,} {found['seconds']:>9.1f} {found['peak']:>9.0f}")
        assert len(digests) == 1, "the bytes differ"
    print("the same bytes each time; peak in parts under 1,000 MB wanted")


def engines(folder: Path, rows: tuple[int, ...]) -> None:
    """Both engines on the fewest records side by side: the same bits, and how little of the time is ours.

    PostgreSQL, which keeps records row by row, gets a tenth of them, and so does DuckDB once more.
    """
    import postgresql

    number = min(rows)
    print("records to inner cells: count, sum, key, two largest")
    print(f"{'':>18} {'records':>12} {'seconds':>9} {'records/s':>12} {'ours':>7}")
    missing = {
        "Ibis on Spark": "needs Java" if shutil.which("java") is None else "",
        "Ibis on PostgreSQL": "needs Debian's postgresql" if postgresql.binaries() is None else "",
    }
    for size, ways in (
        (number, ("DuckDB", "Ibis on DuckDB", "Ibis on Spark")),
        (max(number // ROW_SHARE, 1), ("DuckDB", "Ibis on PostgreSQL")),
    ):
        make(folder / f"engines-{size}", size, persons())
        bits = set()
        for way in ways:
            if missing.get(way):
                print(f"{way:>18} skipped: {missing[way]}")
                continue
            seconds, ours, cells, digest = measured(way, str(folder / f"engines-{size}"))["answer"]
            bits.add((cells, digest))
            print(f"{way:>18} {size:>12,} {seconds:>9.1f} {size / seconds:>12,.0f} {ours:>7.1%}", flush=True)
        assert len(bits) == 1, "the bits differ"
    print("the same bits of the same records each time; under 10 % ours wanted")


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument(
        "sections", nargs="*", metavar="section", help=f"{', '.join(SECTIONS)}; all unless some are named"
    )
    parser.add_argument("--rows", nargs="+", type=int, default=list(ROWS), help="numbers of records, smallest first")
    parser.add_argument("--folder", type=Path, help="where the records are made; a folder in it is removed at the end")
    parser.add_argument("--way", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.way:
        report(arguments.way[0], arguments.way[1:])
        return
    for name in arguments.sections:
        if name not in SECTIONS:
            parser.error(f"no section {name!r}; known: {', '.join(SECTIONS)}")
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for name in arguments.sections or SECTIONS:
            print(f"-- {name}")
            SECTIONS[name](Path(folder), tuple(arguments.rows))


SECTIONS: dict[str, Callable[[Path, tuple[int, ...]], None]] = {
    "memory": memory,
    "parts": parts,
    "engines": engines,
}

if __name__ == "__main__":
    main()
