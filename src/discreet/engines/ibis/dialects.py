"""What databases call differently: SHA-256, hexadecimal numbers, the order of text by its bytes.

A function of a database is declared to Ibis by name. Whether it does what is expected is asked of the database itself
(``answers``), so that a dialect nobody has tried is refused rather than trusted.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from discreet.engines.ibis.columns import HALF, function, halves, nearest_whole
from discreet.engines.protocol import Hmac
from discreet.errors import InputError, listed

_TRIAL = Hmac(unit="", secret=b"not a secret but a trial key")
_WORD = "Zoë"
_ALL = 2**62  # records
INNER, OUTER = "discreet_inner_pad", "discreet_outer_pad"


@dataclass(frozen=True)
class Digests:
    """How a database makes them: text to the hexadecimal digits of its UTF-8 bytes, digits to the digits of their
    SHA-256, and eight digits to a number."""

    digits: Callable[[Any], Any]
    sha256: Callable[[Any], Any]
    number: Callable[[Any], Any]


def _duckdb() -> Digests:
    unhex, sha256 = function("unhex", ("string",), "binary"), function("sha256", ("binary",), "string")
    return Digests(
        function("hex", ("string",), "string"), lambda d: sha256(unhex(d)), lambda d: ("0x" + d).cast("int64")
    )


def _postgres() -> Digests:
    decode, encode = (
        function("decode", ("string", "string"), "binary"),
        function("encode", ("binary", "string"), "string"),
    )
    utf8, sha256 = function("convert_to", ("string", "string"), "binary"), function("sha256", ("binary",), "binary")
    byte = function("get_byte", ("binary", "int32"), "int32")
    return Digests(
        lambda text: encode(utf8(text, "UTF8"), "hex"),
        lambda d: encode(sha256(decode(d, "hex")), "hex"),
        lambda d: sum(byte(decode(d, "hex"), k).cast("int64") * 256 ** (3 - k) for k in range(4)),
    )


def _pyspark() -> Digests:
    unhex, sha2 = function("unhex", ("string",), "binary"), function("sha2", ("binary", "int32"), "string")
    base = function("conv", ("string", "int32", "int32"), "string")
    return Digests(
        function("hex", ("string",), "string"),
        lambda d: sha2(unhex(d), 256),
        lambda d: base(d, 16, 10).cast("int64"),
    )


def _bigquery() -> Digests:
    digits, unhex = function("to_hex", ("binary",), "string"), function("from_hex", ("string",), "binary")
    sha256 = function("sha256", ("binary",), "binary")
    return Digests(
        lambda text: digits(text.cast("binary")),
        lambda d: digits(sha256(unhex(d))),
        lambda d: ("0x" + d).cast("int64"),
    )


def _snowflake() -> Digests:
    unhex, sha2 = (
        function("hex_decode_binary", ("string",), "binary"),
        function("sha2", ("binary", "int32"), "string"),
    )
    number = function("to_number", ("string", "string"), "int64")
    return Digests(
        function("hex_encode", ("string",), "string"), lambda d: sha2(unhex(d), 256), lambda d: number(d, "XXXXXXXX")
    )


def _trino() -> Digests:
    digits, unhex = function("to_hex", ("binary",), "string"), function("from_hex", ("string",), "binary")
    utf8, sha256 = function("to_utf8", ("string",), "binary"), function("sha256", ("binary",), "binary")
    base = function("from_base", ("string", "int32"), "int64")
    return Digests(
        lambda text: digits(utf8(text)),
        lambda d: digits(sha256(unhex(d))),
        lambda d: base(d, 16),
    )


_DIGESTS: dict[str, Callable[[], Digests]] = {
    "duckdb": _duckdb,
    "postgres": _postgres,
    "pyspark": _pyspark,
    "databricks": _pyspark,
    "bigquery": _bigquery,
    "snowflake": _snowflake,
    "trino": _trino,
}


def digests(dialect: str) -> Digests:
    """How to make digests, or a refusal."""
    if dialect not in _DIGESTS:
        raise InputError(
            f"record keys cannot be made from unit ids on {dialect} (only on {listed(_DIGESTS)}); name a column of "
            "record keys instead"
        )
    return _DIGESTS[dialect]()


def hmac_digest(dialect: str, text: Any, inner: Any, outer: Any) -> Any:
    """The HMAC-SHA256 of a text in hexadecimal digits, as the pads are."""
    d = digests(dialect)
    return d.sha256(outer + d.sha256(inner + d.digits(text)))


def digest_halves(dialect: str, digest: Any) -> tuple[Any, Any]:
    """The first 8 bytes of a digest as two numbers of 32 bits."""
    d = digests(dialect)
    return d.number(digest.substr(0, 8)), d.number(digest.substr(8, 8))


def pads(key: Hmac) -> dict[str, list[str]]:
    """One row with both pads: a table, as what stands in a query is seen by whoever may see the database's log."""
    inner, outer = key.pads()
    return {INNER: [inner.hex()], OUTER: [outer.hex()]}


def by_bytes(dialect: str, text: Any) -> Any:
    """Something that orders text by its bytes; PostgreSQL would go by the language it was set up for."""
    if dialect == "postgres":
        return function("convert_to", ("string", "string"), "binary")(text, "UTF8")
    return text


def fenced(dialect: str, table: Any) -> Any:
    """A step whose columns are computed once a record, whoever uses them. PostgreSQL would write a step's expressions
    out wherever the next one names them, SHA-256 included; a limit that none reaches keeps it from that."""
    return table.limit(_ALL) if dialect == "postgres" else table


# -- does the database do what is expected ----------------------------------------------------------------------


def trial(keyed: bool, dialect: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Constants to compute, and what they should be."""
    import ibis

    if keyed:
        inner, outer = (ibis.literal(values[0]) for values in pads(_TRIAL).values())
        high, low = digest_halves(dialect, hmac_digest(dialect, ibis.literal(_WORD), inner, outer))
        digest = hmac.new(_TRIAL.secret, _WORD.encode(), hashlib.sha256).digest()
        number = int.from_bytes(digest[:8], "big")
        return {"high": high, "low": low}, {"high": number // HALF, "low": number % HALF}
    high, low = halves(ibis.literal(-5, "int64"))
    rounded = {"up": "2.5", "down": "-2.5", "almost": "0.49999999999999994", "odd": "4503599627370497"}
    asked: dict[str, Any] = {name: nearest_whole(ibis.literal(text).cast("float64")) for name, text in rounded.items()}
    asked |= {
        "high": high,
        "low": low,
        "case": ibis.cases((ibis.literal("a") == ibis.literal("A"), 1), else_=0),
        "padding": ibis.cases((ibis.literal("a") == ibis.literal("a "), 1), else_=0),
        "order": ibis.cases((by_bytes(dialect, ibis.literal("a")) > by_bytes(dialect, ibis.literal("B")), 1), else_=0),
    }
    wanted = {"up": 3, "down": -3, "almost": 0, "odd": 4503599627370497, "high": -1, "low": HALF - 5}
    return asked, {**wanted, "case": 0, "padding": 0, "order": 1}
