"""The engine in this process: DuckDB groups the records where they lie and hands back whole numbers.

Nothing is written to disk, no extension is fetched, and no message of DuckDB is passed on, as those quote values.
Where groups do not fit into the memory allowed, records are read several times, each time for a share of the groups.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

from discreet.base.texts import natural
from discreet.engines.checks import TOO_LARGE, refuse_other_than_numbers
from discreet.engines.dense import dense_cells
from discreet.engines.duckdb.checks import Check, checks, code_check
from discreet.engines.duckdb.plan import Plan, register_codes
from discreet.engines.duckdb.source import VIEW, Arrow, RecordSource, open_source
from discreet.engines.duckdb.sql import Column, identifier, share_of_records
from discreet.engines.protocol import MOST_DECIMALS, CountedGroups, Grouping, Key, joined
from discreet.errors import InputError, headings

T = TypeVar("T")

MEMORY = "1.5GB"  # what DuckDB may use unless told otherwise: a process that counts records stays under 2 GB
_SIZE = re.compile(r"\s*\d+(\.\d+)?\s*([kmgt]i?b)\s*", re.IGNORECASE)
_PASSES = (1, 4, 16, 64)  # over the records, each one for a share of the groups

_CONFIG = {
    "temp_directory": "",  # confidential records never spill to disk
    "python_enable_replacements": "false",  # a table name never means a Python variable
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "lock_configuration": "true",
}


class _FullError(InputError):
    """The groups do not fit into the memory allowed."""


class DuckDB:
    """Records that DuckDB can read. Data frames are not copied: leave them unchanged while this is in use."""

    def __init__(self, source: RecordSource, memory: str | None = None) -> None:
        import duckdb

        self._source = source
        self._memory = _size(MEMORY if memory is None else memory)
        self._lock = threading.Lock()  # a stream can be read by one query at a time, and one uses all cores anyway
        self._connection = duckdb.connect(config={**_CONFIG, "memory_limit": self._memory})
        self._decimals: dict[str, int] = {}
        self._checked: set[Key] = set()
        if not self._ask(f"SELECT count(*) FROM (FROM {VIEW} LIMIT 1)")[0]:
            raise InputError(f"{source.name} holds no records")

    @classmethod
    def of(cls, source: Any, *, table: str | None = None, memory: str | None = None) -> DuckDB:
        """From a pandas or polars frame, Arrow data, a DuckDB relation, or a CSV, Parquet or DuckDB file.

        A folder or pattern of Parquet files counts as one. ``table`` names a table of a DuckDB file. ``memory`` is what
        grouping may use, such as "4GB"; the data frame itself and the answer come on top.
        """
        return cls(open_source(source, table), memory)

    def __repr__(self) -> str:
        return f"DuckDB({self._source.name}: {len(self._kinds)} columns)"

    # -- questions ----------------------------------------------------------------------------------------------

    @cached_property
    def _kinds(self) -> dict[str, str]:
        import duckdb

        with self._lock:
            cursor = self._connection.cursor()
            try:
                self._source.describe(cursor)
                return {row[0]: row[1] for row in cursor.execute(f"DESCRIBE {VIEW}").fetchall()}
            except duckdb.Error as error:
                problem = self._safe(error)
            finally:
                cursor.close()
        raise InputError(problem)

    def columns(self) -> dict[str, str]:
        """Each column's kind: text, integer, decimal, float, boolean or other."""
        mixed = self._source.mixed if isinstance(self._source, Arrow) else frozenset()
        return {name: Column.of(name, kind).family for name, kind in self._kinds.items()} | dict.fromkeys(
            mixed, "other"
        )

    @cached_property
    def _rows(self) -> int:
        return int(self._ask(f"SELECT count(*) FROM {VIEW}")[0])

    def rows(self) -> int:
        """How many records there are."""
        return self._rows

    def categories(self, column: str) -> tuple[str, ...]:
        """The codes a column holds, as text in natural order; missing values are left out."""
        c = self._column(column).coded()
        rows = self._run(
            [column], lambda cursor: cursor.execute(f"SELECT DISTINCT {c.text}, {c.missing} FROM {VIEW}").fetchall()
        )
        if any(code is None and not missing for code, missing in rows):
            raise InputError(f"column {column!r} holds numbers that are not whole; they are not codes")
        return tuple(sorted((code for code, _ in rows if code is not None), key=natural))

    def decimals(self, column: str) -> int:
        """The fewest decimals that write every value of a column, at most 6 for binary numbers and text."""
        if column not in self._decimals:
            self._decimals[column] = self._find_decimals(self._number(column, "magnitude"))
        return self._decimals[column]

    def _find_decimals(self, c: Column) -> int:
        if c.family == "integer":
            return 0
        if c.family == "decimal":
            return int(c.kind.rstrip(")").split(",")[1])
        if c.family == "text":
            self._check_points(c)
        kind = "FLOAT" if c.kind == "FLOAT" else "DOUBLE"
        # k / 10**d rounds to the same double that the text of k / 10**d does, so equality is the right test
        tests = " ".join(f"WHEN (round(x * 1e{d}) / 1e{d})::{kind} = x THEN {d}" for d in range(MOST_DECIMALS))
        digits = self._ask(
            f"SELECT max(CASE {tests} ELSE {MOST_DECIMALS} END) FROM (SELECT {c.number} AS x FROM {VIEW}) "
            "WHERE isfinite(x)",
            [c.name],
        )[0]
        return int(digits or 0)

    def _check_points(self, c: Column) -> None:
        """Refuse numbers in which every point may part thousands, as in 1.234, unless their decimals are stated."""
        text = f"trim({c.sql}::VARCHAR)"
        parted = f"regexp_full_match({text}, '[+-]?[1-9][0-9]{{0,2}}([.][0-9]{{3}})')"
        points, doubtful = self._ask(
            f"SELECT count(*) FILTER (contains({text}, '.')), count(*) FILTER ({parted}) FROM {VIEW}", [c.name]
        )
        if points and points == doubtful:
            raise InputError(
                f"column {c.name!r}: every point has three digits behind it, so it may part thousands or decimals; "
                "state the decimals of the magnitude (decimals = 3), or write the numbers without points"
            )

    def duplicates(self, column: str) -> tuple[int, int]:
        """How many units occur more than once, and how many records have no unit."""
        c = self._column(column)

        def one(number: int, passes: int) -> tuple[Any, ...]:
            where = "" if passes == 1 else f"WHERE {share_of_records([c.sql], number, passes)}"
            return self._ask(
                f"SELECT count(*) FILTER (n > 1 AND NOT {c.missing}), coalesce(sum(n) FILTER ({c.missing}), 0) "
                f"FROM (SELECT {c.sql}, count(*) AS n FROM {VIEW} {where} GROUP BY {c.sql})",
                [column],
            )

        counts = self._in_passes(one)
        return sum(int(repeated) for repeated, _ in counts), sum(int(missing) for _, missing in counts)

    def base_cells(self, grouping: Grouping) -> CountedGroups:
        """The non-empty inner cells; every fault of the records read is refused in one message."""
        if isinstance(self._source, Arrow):
            columns = self._plan_columns(grouping)  # refuses what is not there
            if columns and (quick := dense_cells(grouping, self._source.data)) is not None:
                return quick
        decimals = grouping.decimals
        if decimals is None:
            decimals = 0 if grouping.magnitude is None else self.decimals(grouping.magnitude)
        plan = Plan(grouping, self._plan_columns(grouping), decimals)
        for key, _ in grouping.where:
            self._check_filter(key)
        groups = self._cells(plan)
        if groups is None:
            faults = [self._sentence(check, grouping.columns) for check in checks(plan)]
            raise InputError("; ".join(fault for fault in faults if fault) or TOO_LARGE)
        return groups

    def arrow(self, columns: Sequence[str] | None = None) -> Any:
        """The named columns (all, unless some are named) of every record as an Arrow table, in the source's order."""
        wanted = list(self._kinds) if columns is None else [self._column(name).name for name in columns]
        if isinstance(self._source, Arrow) and hasattr(self._source.data, "column_names"):
            return self._source.data.select(wanted)
        names = ", ".join(identifier(name) for name in wanted)
        return self._run(wanted, lambda cursor: cursor.sql(f"SELECT {names} FROM {VIEW}").to_arrow_table())

    # -- refusals -----------------------------------------------------------------------------------------------

    def _plan_columns(self, grouping: Grouping) -> dict[str, Column]:
        if grouping.magnitude is not None:
            self._number(grouping.magnitude, "magnitude")
        if grouping.weight is not None:
            self._number(grouping.weight, "weight")
        if isinstance(grouping.record_key, str):
            self._number(grouping.record_key, "record key")
        for key in (*grouping.keys, *(key for key, _ in grouping.where)):
            self._column(key.column).coded()
        return {name: self._column(name) for name in grouping.columns}

    def _column(self, name: str) -> Column:
        if name in self._kinds:
            return Column.of(name, self._kinds[name])
        if isinstance(self._source, Arrow) and name in self._source.mixed:
            raise InputError(f"column {name!r} mixes kinds of values; convert it to text or to numbers")
        raise InputError(f"{self._source.name} has no column {name!r}; {headings(self._kinds, name)}")

    def _number(self, name: str, role: str) -> Column:
        column = self._column(name)
        refuse_other_than_numbers(column, name, role)
        return column

    def _check_filter(self, key: Key) -> None:
        """A filter must not hide records with a wrong code, so its column is looked at as a whole, once."""
        if key in self._checked:
            return
        if fault := self._sentence(code_check(key, self._column(key.column)), [key.column]):
            raise InputError(fault)
        self._checked.add(key)

    def _sentence(self, check: Check, columns: Sequence[str]) -> str | None:
        def work(cursor: Any) -> Any:
            if check.key is not None:
                register_codes(cursor, "codes", check.key)
            return cursor.execute(check.sql).fetchone()

        return check.sentence(self._run(columns, work))

    # -- running ------------------------------------------------------------------------------------------------

    def _ask(self, sql: str, columns: Sequence[str] | None = None) -> tuple[Any, ...]:
        """One row."""
        wanted = list(columns) if columns is not None else list(self._kinds)[:1]
        row: tuple[Any, ...] = self._run(wanted, lambda cursor: cursor.execute(sql).fetchone())
        return row

    def _run(self, columns: Sequence[str], work: Callable[[Any], T]) -> T:
        """Work on a fresh cursor over the source. The error is raised outside the except clause, so that what
        DuckDB said is not even in its context."""
        import duckdb

        with self._lock:
            cursor = self._connection.cursor()
            try:
                self._source.bind(cursor, columns or list(self._kinds)[:1])
                return work(cursor)
            except duckdb.Error as error:
                problem, full = self._safe(error), isinstance(error, duckdb.OutOfMemoryException)
            finally:
                cursor.close()
        raise _FullError(problem) if full else InputError(problem)

    def _cells(self, plan: Plan) -> CountedGroups | None:
        """The inner cells in as few passes as memory allows; None if any record cannot be used."""
        columns = plan.grouping.columns
        if not plan.divisible:
            return self._run(columns, plan.run)
        parts = self._in_passes(lambda number, passes: self._run(columns, replace(plan, share=(number, passes)).run))
        whole = [groups for groups in parts if groups is not None]
        return joined(whole, plan.sizes) if len(whole) == len(parts) else None

    def _in_passes(self, work: Callable[[int, int], T]) -> list[T]:
        """All the shares of some work, in more and smaller shares while memory does not suffice."""
        for passes in _PASSES[:-1]:
            with suppress(_FullError):
                return [work(number, passes) for number in range(passes)]
        return [work(number, _PASSES[-1]) for number in range(_PASSES[-1])]

    def _safe(self, error: Any) -> str:
        """What went wrong, in our words."""
        import duckdb

        if isinstance(error, duckdb.ConversionException | duckdb.OutOfRangeException):
            return TOO_LARGE
        if isinstance(error, duckdb.OutOfMemoryException):
            return (
                f"{self._memory} of memory are not enough to group {self._source.name}, and records are never written "
                "to disk; allow more (memory=, --memory) or ask for less detail"
            )
        if line := re.search(r"CSV Error on Line: (\d+)", str(error)):
            return f"{self._source.name}, line {line[1]}: not the header's columns as text in UTF-8; correct the file"
        return f"{self._source.name} could not be read ({type(error).__name__})"


def _size(memory: str) -> str:
    """An amount of memory as DuckDB reads it.

    >>> _size(" 2 gb ")
    '2gb'
    """
    if not _SIZE.fullmatch(str(memory)) or not float(re.sub(r"[^\d.]", "", str(memory))):
        raise InputError(f"memory={memory!r}: give an amount such as '500MB' or '4GB'")
    return "".join(str(memory).split())
