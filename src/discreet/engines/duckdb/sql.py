"""SQL for one column at a time: as a code, as a number, as a key. Nothing here runs a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.engines.protocol import PRODUCT_DECIMALS, WEIGHT_DECIMALS
from discreet.errors import InputError

_INTEGERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
_WIDE = {"HUGEINT", "UHUGEINT"}
_PLAIN = {"DATE", "TIME", "TIMESTAMP", "UUID"}  # besides text and numbers: what is written in one way only
MODULUS = "18446744073709551616::HUGEINT"  # 2**64


def identifier(name: str) -> str:
    """A quoted column or table name.

    >>> print(identifier('a "b" c'))
    "a ""b"" c"
    """
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A quoted text.

    >>> literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def family(kind: str) -> str:
    """The kind of column behind a DuckDB type.

    >>> family("DECIMAL(18,2)"), family("UBIGINT"), family("ENUM('a')"), family("DATE")
    ('decimal', 'integer', 'text', 'other')
    """
    if kind in _INTEGERS or kind in _WIDE:
        return "integer"
    if kind in {"VARCHAR", '"NULL"'} or kind.startswith("ENUM"):
        return "text"
    if kind.startswith("DECIMAL"):
        return "decimal"
    return {"FLOAT": "float", "DOUBLE": "float", "BOOLEAN": "boolean"}.get(kind, "other")


@dataclass(frozen=True)
class Column:
    """A column of the source, or (``sql``) of a subquery that passed it on unchanged."""

    name: str
    kind: str
    sql: str

    @classmethod
    def of(cls, name: str, kind: str) -> Column:
        return cls(name, kind, identifier(name))

    @property
    def family(self) -> str:
        return family(self.kind)

    def coded(self) -> Column:
        """Itself, if it can hold codes; times with a zone, lists and records are refused, as their text is not theirs.

        >>> Column.of("when", "DATE").coded().name
        'when'
        """
        plain = self.family != "other" or self.kind in _PLAIN or self.kind.startswith("TIMESTAMP_")
        if not plain:
            raise InputError(f"column {self.name!r} holds no codes (its type is {self.kind}); convert it to text")
        return self

    @property
    def missing(self) -> str:
        """True for no value: NULL, NaN, empty text."""
        if self.family == "text":
            return f"({self.sql} IS NULL OR {self.sql}::VARCHAR = '')"
        if self.family == "float":
            return f"({self.sql} IS NULL OR isnan({self.sql}))"
        return f"({self.sql} IS NULL)"

    @property
    def text(self) -> str:
        """The code as text; NULL where it is missing or a number that is not whole."""
        if self.family == "text":
            return f"nullif({self.sql}::VARCHAR, '')"
        if self.family in {"float", "decimal"}:
            return f"CASE WHEN {self.sql} = trunc({self.sql}) THEN TRY_CAST({self.sql} AS HUGEINT)::VARCHAR END"
        return f"{self.sql}::VARCHAR"

    def key(self, missing: str | None) -> str:
        """What to group by: the bare column where that is enough, as it is the quickest."""
        if missing is None:
            return self.sql
        return f"CASE WHEN {self.missing} THEN {literal(missing)} ELSE {self.text} END"

    @property
    def number(self) -> str:
        """As a double; NULL where text is no number."""
        return f"TRY_CAST({self.sql} AS DOUBLE)" if self.family == "text" else f"{self.sql}::DOUBLE"

    def fixed(self, decimals: int) -> str:
        """As a whole number of 10**-decimals, halves away from zero; NULL where that cannot be."""
        if self.family == "float":
            scaled = self.sql if decimals == 0 else f"{self.number} * 1e{decimals}"
            return f"TRY_CAST(round({scaled}) AS BIGINT)"
        if self.family == "integer":
            return f"TRY_CAST({self.sql}::HUGEINT * {10**decimals} AS BIGINT)" if decimals else self._bigint()
        exact = f"TRY_CAST({self.sql} AS DECIMAL(18, {decimals}))"  # text too: 0.1 never becomes binary
        return f"TRY_CAST({exact} * {10**decimals}::BIGINT AS BIGINT)"

    def _bigint(self) -> str:
        return f"TRY_CAST({self.sql} AS BIGINT)"

    @property
    def weight(self) -> str:
        """As a weight: a whole number of 10**-6, not below 0; NULL where that cannot be."""
        return f"CASE WHEN {self.number} >= 0 THEN TRY_CAST(round({self.number} * 1e{WEIGHT_DECIMALS}) AS BIGINT) END"

    def product(self, fixed: str) -> str:
        """Weight times a fixed-point number, rounded to 3 decimals more than that has."""
        return f"TRY_CAST(round({fixed} * {self.number} * 1e{PRODUCT_DECIMALS}) AS BIGINT)"

    @property
    def record_key(self) -> str:
        """As a whole number in -2**63 .. 2**64 - 1; NULL where it is none."""
        if self.kind in _INTEGERS:
            return self.sql
        if self.family == "text":
            digits = f"regexp_full_match({self.sql}::VARCHAR, '\\s*[+-]?[0-9]+\\s*')"
            whole = f"CASE WHEN {digits} THEN TRY_CAST({self.sql} AS HUGEINT) END"
        elif self.kind in _WIDE:
            whole = f"TRY_CAST({self.sql} AS HUGEINT)"
        elif self.family == "decimal":
            whole = f"CASE WHEN {self.sql} = trunc({self.sql}) THEN TRY_CAST({self.sql} AS HUGEINT) END"
        else:  # a double holds whole numbers up to 2**53 only
            exact = f"{self.sql} = trunc({self.sql}) AND abs({self.sql}) <= 9007199254740992"
            return f"CASE WHEN {exact} THEN TRY_CAST({self.sql} AS BIGINT) END"
        return f"CASE WHEN {whole} BETWEEN -9223372036854775808 AND 18446744073709551615 THEN {whole} END"

    @property
    def hmac(self) -> str:
        """The first 8 bytes of HMAC-SHA256 of the text; the pads are parameters, never part of the SQL."""
        inner = f"unhex(sha256($inner || encode({self.text})))"
        return f"('0x' || sha256($outer || {inner})[1:16])::UBIGINT"


def rank_within(fixed: str) -> str:
    """A number that orders by absolute value and still tells the sign: 5 -> 10, -5 -> 9, 0 -> 0."""
    return f"xor({fixed} * 2, {fixed} >> 63)"


def share_of_records(columns: Sequence[str], number: int, of: int) -> str:
    """True for the records of one of several shares; those with the same columns are in the same share.

    Hashed twice, as DuckDB's own tables go by the first hash and would fill unevenly.
    """
    return f"hash(hash({', '.join(columns)})) % {of} = {number}"
