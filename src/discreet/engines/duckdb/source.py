"""Data frames, files and database tables as something DuckDB can read, without a detour through pandas."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from discreet.base.files import exists
from discreet.base.kinds import is_text
from discreet.base.texts import as_csv
from discreet.engines.duckdb.sql import identifier, literal
from discreet.engines.frames import Coded, coded, is_plain
from discreet.errors import InputError, listed, nearest

VIEW = "source"
_HEAD = 64 * 1024  # bytes of a text file that are looked at before it is read
_DELIMITERS = ",;\t|"
SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".duckdb")


class RecordSource(Protocol):
    """Where records come from. ``name`` is what messages call it."""

    @property
    def name(self) -> str: ...

    def describe(self, cursor: Any) -> None:
        """Make the view ``source`` exist, with or without records, so that its columns can be seen."""

    def bind(self, cursor: Any, columns: Sequence[str]) -> None:
        """Make the view ``source`` exist with at least these columns; it may be readable only once."""


@dataclass(frozen=True)
class Sql:
    """What DuckDB reads by itself: a file, or a table of an attached database."""

    name: str
    select: str
    attach: str | None = None

    def describe(self, cursor: Any) -> None:
        if self.attach is not None:
            cursor.execute(f"ATTACH IF NOT EXISTS {literal(self.attach)} AS discreet_file (READ_ONLY)")
        cursor.execute(f"CREATE OR REPLACE TEMP VIEW {VIEW} AS {self.select}")

    def bind(self, cursor: Any, columns: Sequence[str]) -> None:
        self.describe(cursor)


@dataclass(frozen=True, eq=False)
class Arrow:
    """An Arrow table or dataset; ``mixed`` names pandas columns that hold more than one kind of value."""

    name: str
    data: Any
    mixed: frozenset[str] = frozenset()

    def describe(self, cursor: Any) -> None:
        cursor.register(VIEW, with_zones(self.data.schema.empty_table()))

    def bind(self, cursor: Any, columns: Sequence[str]) -> None:
        cursor.register(VIEW, with_zones(self.data, columns))


@dataclass(frozen=True, eq=False)
class Lazy:
    """A polars LazyFrame: each query collects only the columns it needs."""

    name: str
    frame: Any

    def describe(self, cursor: Any) -> None:
        cursor.register(VIEW, with_zones(self.frame.collect_schema().to_frame().to_arrow()))

    def bind(self, cursor: Any, columns: Sequence[str]) -> None:
        from polars.exceptions import PolarsError

        with suppress(PolarsError):  # not chained to ours: its message may hold values
            cursor.register(VIEW, with_zones(self.frame.select(list(columns)).collect().to_arrow()))
            return
        raise InputError(f"{self.name} could not be collected; check the steps that lead to it")


@dataclass(frozen=True, eq=False)
class Relation:
    """A relation of the caller's own DuckDB connection, streamed into ours query by query."""

    name: str
    relation: Any

    def describe(self, cursor: Any) -> None:
        cursor.register(VIEW, self._reader(self.relation.columns).schema.empty_table())

    def bind(self, cursor: Any, columns: Sequence[str]) -> None:
        cursor.register(VIEW, self._reader(columns))

    def _reader(self, columns: Sequence[str]) -> Any:
        import duckdb
        import pyarrow as pa

        return pa.RecordBatchReader.from_stream(self.relation.select(*(duckdb.ColumnExpression(c) for c in columns)))


def open_source(source: Any, table: str | None = None) -> RecordSource:
    """The right kind of RecordSource for what the caller has. ``table`` names a table of a ``.duckdb`` file."""
    if isinstance(source, str | Path):
        return _from_path(source, table)
    if table is not None:
        raise InputError("table= names a table of a .duckdb file; leave it out for other data")
    module, kind = type(source).__module__.split(".")[0].strip("_"), type(source).__name__
    if module == "pandas" and kind == "DataFrame":
        return _from_pandas(source)
    if module == "polars" and kind == "DataFrame":
        check_names("the data frame", source.columns)
        return Arrow("the data frame", source.to_arrow())
    if module == "polars" and kind == "LazyFrame":
        check_names("the lazy frame", source.collect_schema().names())
        return Lazy("the lazy frame", source)
    if module == "pyarrow" and hasattr(source, "schema") and kind != "RecordBatchReader":
        check_names("the Arrow data", source.schema.names)
        return Arrow("the Arrow data", _arrow_table(source))
    if kind == "DuckDBPyRelation":
        check_names("the relation", source.columns)
        return Relation("the relation", source)
    raise InputError(
        f"cannot read data from a {kind}; give a pandas or polars data frame, an Arrow table or dataset, "
        "a DuckDB relation or the path of a CSV, Parquet or DuckDB file"
    )


def _arrow_table(data: Any) -> Any:
    import pyarrow as pa

    return pa.Table.from_batches([data]) if isinstance(data, pa.RecordBatch) else data


def _from_pandas(frame: Any) -> Arrow:
    """Column by column and mostly without copying; a column of mixed objects is left out, refused only if used."""
    import pyarrow as pa

    names = [str(name) for name in frame.columns]
    check_names("the data frame", names)
    check_text("the data frame", names)
    arrays = {name: _array(frame.iloc[:, k]) for k, name in enumerate(names)}
    usable = {name: array for name, array in arrays.items() if array is not None}
    if arrays and not usable:
        raise InputError(f"column {names[0]!r} mixes kinds of values; convert it to text or to numbers")
    return Arrow("the data frame", pa.table(usable), frozenset(arrays.keys() - usable.keys()))


def with_zones(data: Any, columns: Sequence[str] | None = None) -> Any:
    """Arrow data whose times with a zone are text in that zone, which DuckDB would take for times in its own.

    Only the named columns are turned to text; other times with a zone are left out.
    """
    import pyarrow as pa

    zoned = [field.name for field in data.schema if pa.types.is_timestamp(field.type) and field.type.tz is not None]
    if not zoned:
        return data
    wanted = zoned if columns is None else [name for name in zoned if name in columns]
    kept = [name for name in data.schema.names if name not in zoned or name in wanted]
    table = data.select(kept) if hasattr(data, "column_names") else data.to_table(columns=kept)
    for name in wanted:
        texts = _texts(coded(table.column(name)))
        table = table.set_column(table.column_names.index(name), name, texts)
    return table


def _texts(codes: Coded) -> Any:
    """Codes as an Arrow column of text, each code held once."""
    import pyarrow as pa

    places = pa.array(codes.position, pa.int32(), mask=codes.position < 0)
    return pa.DictionaryArray.from_arrays(places, pa.array(codes.codes, pa.string()))


def _array(column: Any) -> Any:
    import pyarrow as pa

    if not is_plain(column):
        return _texts(coded(column))
    for kind in (None, pa.uint64()):  # Python objects may be whole numbers that only fit without a sign
        with suppress(pa.ArrowException, TypeError, ValueError, OverflowError):
            return pa.array(column, kind, from_pandas=True)
    return None


def check_text(where: str, names: Iterable[str]) -> None:
    """Refuse names that no file or database can hold."""
    if any(not is_text(name) for name in names):
        raise InputError(f"{where} has a column whose name holds a lone surrogate, half a character; rename it")


def check_names(where: str, names: Iterable[str]) -> None:
    """SQL does not tell upper from lower case, so neither do we."""
    times = Counter(name.casefold() for name in names)
    if not times:
        raise InputError(f"{where} has no columns")
    if repeated := [name for name, n in times.items() if n > 1]:
        raise InputError(f"{where} has more than one column called {listed(repeated)} (in any case); rename them")


def _from_path(source: str | Path, table: str | None) -> RecordSource:
    path = Path(source)
    suffix = next((s for s in sorted(SUFFIXES, key=len, reverse=True) if path.name.lower().endswith(s)), "")
    if table is not None and suffix != ".duckdb":
        raise InputError("table= names a table of a .duckdb file; leave it out for other data")
    there = exists(path)
    if (there and path.is_dir()) or (any(c in path.name for c in "*?") and not there):
        return _parquet_files(path)
    if not there:
        raise InputError(f"file not found: {path.name[:80]!r}")
    if not suffix:
        raise InputError(f"cannot tell what kind of file {path.name!r} is; known endings: {', '.join(SUFFIXES)}")
    if path.stat().st_size == 0:
        raise InputError(f"{path.name!r} is empty")
    if suffix == ".parquet":
        return _parquet(path.name, [path])
    return _database(path, table) if suffix == ".duckdb" else _text_file(path, "\t" if "tsv" in suffix else None)


# -- Parquet ----------------------------------------------------------------------------------------------------


def _parquet_files(path: Path) -> Sql:
    files = sorted(path.rglob("*.parquet") if path.is_dir() else path.parent.glob(path.name))
    if not files:
        raise InputError(f"no Parquet files in {path.name!r}")
    return _parquet(path.name, files)


def _parquet(name: str, files: list[Path]) -> Sql:
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = None
    with suppress(pa.ArrowException, OSError):  # said below, without what Arrow quotes
        names = pq.read_schema(files[0]).names
    if names is None:
        raise InputError(f"{files[0].name!r} is not a readable Parquet file")
    check_names(repr(name), names)
    listing = ", ".join(literal(_no_pattern(str(f))) for f in files)
    return Sql(repr(name), f"SELECT * FROM read_parquet([{listing}], hive_types_autocast = false)")


def _no_pattern(path: str) -> str:
    """A path in which ``*``, ``?`` and ``[`` stand for themselves."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in path)


# -- DuckDB files -----------------------------------------------------------------------------------------------


def _database(path: Path, table: str | None) -> Sql:
    import duckdb

    kind = None
    with suppress(duckdb.Error), duckdb.connect(config={"autoinstall_known_extensions": "false"}) as connection:
        connection.execute(f"ATTACH {literal(str(path))} AS discreet_file (READ_ONLY)")
        kind = connection.execute(
            "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = 'discreet_file'"
        ).fetchall()
    if kind is None:
        raise InputError(f"{path.name!r} cannot be opened as a DuckDB file; if it is open elsewhere, give a relation")
    names = sorted(name if schema == "main" else f"{schema}.{name}" for schema, name in kind)
    if table is None and len(names) != 1:
        raise InputError(f"{path.name!r} holds {len(names)} tables; name one (table=): {listed(names)}")
    wanted = names[0] if table is None else table
    if wanted not in names:
        raise InputError(f"{path.name!r} has no table {wanted!r}; {nearest(wanted, names)}")
    schema, name = next((s, n) for s, n in kind if wanted == (n if s == "main" else f"{s}.{n}"))
    select = f"SELECT * FROM discreet_file.{identifier(schema)}.{identifier(name)}"
    return Sql(f"table {wanted!r} of {path.name!r}", select, str(path))


# -- text files -------------------------------------------------------------------------------------------------


def _text_file(path: Path, delimiter: str | None) -> Sql:
    """Every column is read as text, so that the code 01 stays 01. The header is read here: nothing is guessed."""
    head = _head(path)
    if b"\0" in head:
        raise InputError(f"{path.name!r} is not a text file")
    text = None
    with suppress(UnicodeDecodeError):  # its message quotes bytes
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(head)
    if text is None:
        raise InputError(f"{path.name!r} is not text in UTF-8; save it as UTF-8")
    with as_csv(repr(path.name)):
        rows = {d: next(csv.reader(io.StringIO(text, newline=""), delimiter=d), []) for d in delimiter or _DELIMITERS}
    delimiter = max(rows, key=lambda d: len(rows[d]))
    names = [name or f"column {k + 1}" for k, name in enumerate(rows[delimiter])]
    if not any(rows[delimiter]):
        raise InputError(f"{path.name!r} has no header: its first line must name the columns")
    check_names(repr(path.name), names)
    columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in names)
    options = f"auto_detect = false, header = true, delim = {literal(delimiter)}, quote = '\"', escape = '\"'"
    read = f"read_csv([{literal(_no_pattern(str(path)))}], {options}, columns = {{{columns}}})"
    return Sql(repr(path.name), f"SELECT * FROM {read}")


def _head(path: Path) -> bytes:
    problem = ""
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
            return file.read(_HEAD)
    except (OSError, EOFError, zlib.error) as error:
        problem = getattr(error, "strerror", None) or "not a readable gzip file"
    raise InputError(f"cannot read {path.name!r}: {problem}")
