"""The engine elsewhere: any database that Ibis speaks to groups the records where they are.

Only the inner cells come back, the same to the bit as DuckDB's on the same records. Nothing is written but a
temporary table with the pads of a secret, and no message of the database is passed on.
"""

from __future__ import annotations

import threading
import weakref
from functools import cached_property
from typing import Any

from discreet.base.texts import natural
from discreet.engines.checks import TOO_LARGE, refuse_other_than_numbers
from discreet.engines.duckdb.source import check_names
from discreet.engines.ibis.answer import Answer
from discreet.engines.ibis.checks import code_fault, faults
from discreet.engines.ibis.columns import Column, family, finite, nearest_whole, total
from discreet.engines.ibis.dialects import digests, pads, trial
from discreet.engines.ibis.plan import Plan
from discreet.engines.ibis.source import closed_if_refused, fetch, is_url, open_table, quietly, small_table
from discreet.engines.protocol import MOST_DECIMALS, CountedGroups, Grouping, Hmac, Key
from discreet.errors import InputError, headings

_STATED_DECIMALS = 12  # looked for in a column of decimal numbers of no stated scale
_EXACT = float(2**52)  # doubles from here on are whole


class Ibis:
    """Records in a database. A table that changes meanwhile gives answers that are each of one moment."""

    def __init__(self, table: Any, backend: Any, name: str) -> None:
        self._table, self._backend, self._name = table, backend, name
        self._dialect = str(backend.name)
        self._lock = threading.Lock()
        self._decimals: dict[str, int] = {}
        self._checked: set[Key] = set()
        self._pads: dict[bytes, Any] = {}
        check_names(name, table.columns)
        self._try_out(keyed=False)

    @classmethod
    def of(cls, source: Any, *, table: str | None = None) -> Ibis:
        """From a database's URL, an Ibis table or connection, a Spark session or data frame.

        ``table`` names the table of a URL, a connection or a session, with its schema before a point if need be. What
        the engine in this process reads, files and data frames, is read too.
        """
        relation, backend, name = open_table(source, table)
        if not is_url(source):
            return cls(relation, backend, name)
        with closed_if_refused(backend):
            engine = cls(relation, backend, name)
        weakref.finalize(engine, backend.disconnect)  # the connection is ours, so it ends with the engine
        return engine

    def __repr__(self) -> str:
        return f"Ibis({self._name}: {len(self._table.columns)} columns)"

    # -- questions ----------------------------------------------------------------------------------------------

    def columns(self) -> dict[str, str]:
        """Each column's kind: text, integer, decimal, float, boolean or other."""
        return {name: family(kind) for name, kind in self._table.schema().items()}

    @cached_property
    def _rows(self) -> int:
        return int(self._fetch(self._table.aggregate(n=self._table.count()))["n"][0].as_py())

    def rows(self) -> int:
        """How many records there are."""
        return self._rows

    def categories(self, column: str) -> tuple[str, ...]:
        """The codes a column holds, as text in natural order; missing values are left out."""
        held = self._table.select(k=self._column(column).raw).distinct()
        c = Column(column, held.k, self._dialect)
        rows = self._fetch(held.select(code=c.text, missing=c.missing)).to_pylist()
        if any(row["code"] is None and not row["missing"] for row in rows):
            raise InputError(f"column {column!r} holds numbers that are not whole; they are not codes")
        return tuple(sorted({row["code"] for row in rows if row["code"] is not None}, key=natural))

    def decimals(self, column: str) -> int:
        """The fewest decimals that write every value of a column, at most 6 for binary numbers and text."""
        if column not in self._decimals:
            self._decimals[column] = self._find_decimals(self._number(column, "magnitude"))
        return self._decimals[column]

    def _find_decimals(self, c: Column) -> int:
        import ibis

        if c.family == "integer":
            return 0
        if c.family == "decimal" and c.kind.scale is not None:
            return int(c.kind.scale)
        if c.family == "decimal":
            most = _STATED_DECIMALS
            tests = [(c.raw == c.rounded(d), d) for d in range(most)]
        else:
            most, x = MOST_DECIMALS, c.number
            tests = [(_written(x, d, short=c.kind.is_float32()), d) for d in range(most)]
        digits = self._table.select(
            d=ibis.cases((finite(c.number), ibis.cases(*tests, else_=most)), else_=0).cast("int64")
        )
        return int(self._fetch(digits.aggregate(d=digits.d.max()))["d"][0].as_py())

    def duplicates(self, column: str) -> tuple[int, int]:
        """How many units occur more than once, and how many records have no unit."""
        groups = self._table.select(k=self._column(column).raw).group_by("k").aggregate(n=lambda t: t.count())
        missing = Column(column, groups.k, self._dialect).missing
        counted = groups.select("n", gone=missing)
        repeated = counted.count(where=(counted.n > 1) & ~counted.gone)
        lost = total(counted.n, where=counted.gone)
        row = self._fetch(counted.aggregate(repeated=repeated, lost=lost)).to_pylist()[0]
        return int(row["repeated"]), int(row["lost"])

    def base_cells(self, grouping: Grouping) -> CountedGroups:
        """The non-empty inner cells; every fault of the records read is refused in one message."""
        self._check_columns(grouping)
        decimals = grouping.decimals
        if decimals is None:
            decimals = 0 if grouping.magnitude is None else self.decimals(grouping.magnitude)
        secret = self._secret(grouping.record_key) if isinstance(grouping.record_key, Hmac) else None
        plan = Plan(grouping, self._table, self._dialect, decimals, secret)
        for key, _ in grouping.where:
            self._check_filter(key)
        answer = Answer(plan, self._fetch(plan.expression))
        if not answer.usable:
            raise InputError("; ".join(faults(plan, self._fetch)) or TOO_LARGE)
        return answer.groups()

    # -- refusals -----------------------------------------------------------------------------------------------

    def _check_columns(self, grouping: Grouping) -> None:
        for name in grouping.columns:
            self._column(name)
        named = {"magnitude": grouping.magnitude, "weight": grouping.weight, "record key": grouping.record_key}
        for role, column in named.items():
            if isinstance(column, str):
                self._number(column, role)

    def _column(self, name: str) -> Column:
        if name not in self._table.columns:
            raise InputError(f"{self._name} has no column {name!r}; {headings(self._table.columns, name)}")
        return Column(name, self._table[name], self._dialect)

    def _number(self, name: str, role: str) -> Column:
        column = self._column(name)
        refuse_other_than_numbers(column, name, role)
        return column

    def _check_filter(self, key: Key) -> None:
        """A filter must not hide records with a wrong code, so its column is looked at as a whole, once."""
        if key in self._checked:
            return
        if fault := code_fault(key, self._column(key.column), self._table, self._fetch):
            raise InputError(fault)
        self._checked.add(key)

    # -- running ------------------------------------------------------------------------------------------------

    def _secret(self, key: Hmac) -> Any:
        """The pads as a table of the database, made once a secret."""
        if not self._pads:
            digests(self._dialect)
            self._try_out(keyed=True)
        if key.secret not in self._pads:
            pad_table = quietly(
                "cannot make a temporary table for record keys", lambda: small_table(self._backend, pads(key))
            )
            self._pads[key.secret] = pad_table
        return self._pads[key.secret]

    def _try_out(self, keyed: bool) -> None:
        """Refuse a database that rounds, compares or hashes in a way of its own."""
        asked, wanted = trial(keyed, self._dialect)
        one = self._table.limit(1)  # the records' own place, and one question less: there must be one
        rows = self._fetch(one.select(**{name: value.cast("int64") for name, value in asked.items()})).to_pylist()
        if not rows:
            raise InputError(f"{self._name} holds no records")
        if differs := [name for name, value in wanted.items() if rows[0][name] != value]:
            raise InputError(
                f"{self._dialect} computes otherwise than discreet expects ({', '.join(differs)}); load the microdata "
                "into this process instead"
            )

    def _fetch(self, expression: Any) -> Any:
        """An expression's rows as an Arrow table."""
        with self._lock:
            return quietly(f"{self._name} could not be read", lambda: fetch(self._backend, expression))


def _written(x: Any, decimals: int, *, short: bool) -> Any:
    """Whether so many decimals write a double: k / 10**d rounds to the same double that the text of k / 10**d does."""
    import ibis

    scale = float(10**decimals)
    scaled = x * scale
    rounded = ibis.cases((scaled.abs() < _EXACT, nearest_whole(scaled).cast("float64")), else_=scaled)
    back = rounded / scale
    return (back.cast("float32").cast("float64") if short else back) == x
