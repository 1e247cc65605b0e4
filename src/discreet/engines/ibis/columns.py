"""Ibis expressions for one column at a time: as a code, as a number, as a key. Nothing here runs a query.

Only what databases agree on is used. They differ in how they round, in what an overflow does and in what a failed
conversion does, so everything is rounded, bounded and recognised here before it is converted.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cache, cached_property
from inspect import Parameter, Signature
from typing import Any

from discreet.engines.protocol import PRODUCT_DECIMALS, WEIGHT_DECIMALS
from discreet.errors import InputError

HALF = 2**32
_INT64 = 2**63
_LARGEST = 1.7976931348623157e308  # of doubles
_ALMOST_HALF = 0.49999999999999994  # the double before 0.5: adding it and cutting off rounds halves away from zero
_WHOLE_DIGITS = 18  # of a number written in decimals
_BLANK = " \t\n\r"
_WHOLE = f"^[{_BLANK}]*[+-]?0*[0-9]{{1,20}}[{_BLANK}]*$"
_NUMBER = f"^[{_BLANK}]*[+-]?([0-9]{{1,40}}([.][0-9]{{0,40}})?|[.][0-9]{{1,40}})([eE][+-]?[0-9]{{1,2}})?[{_BLANK}]*$"
_NAN = f"^[{_BLANK}]*[+-]?nan[{_BLANK}]*$"
_INFINITE = f"^[{_BLANK}]*[+-]?inf(inity)?[{_BLANK}]*$"


@cache
def function(name: str, takes: tuple[str, ...], gives: str) -> Any:
    """A function of the database."""
    import ibis

    def declared(*given: Any) -> Any: ...

    names = [Parameter(f"argument_{k}", Parameter.POSITIONAL_OR_KEYWORD) for k in range(len(takes))]
    declared.__signature__ = Signature(names)  # type: ignore[attr-defined]
    kinds = tuple(ibis.dtype(kind) for kind in takes)
    return ibis.udf.scalar.builtin(declared, name=name, signature=(kinds, ibis.dtype(gives)))


@cache
def _row_number() -> Any:
    import ibis

    def row_number() -> Any: ...

    return ibis.udf.agg.builtin(row_number, signature=((), ibis.dtype("int64")))


def row_number() -> Any:
    """The database's own, which counts from 1. Ibis counts from 0, and no optimiser sees through the subtraction: a
    database that knows that only the first few are wanted need not sort the rest."""
    return _row_number()()


def family(kind: Any) -> str:
    """The kind of column behind an Ibis type.

    >>> import ibis
    >>> [family(ibis.dtype(t)) for t in ("decimal(18, 2)", "uint64", "float32", "string", "date")]
    ['decimal', 'integer', 'float', 'text', 'other']
    """
    tests = {
        "integer": kind.is_integer(),
        "text": kind.is_string() or kind.is_null(),
        "decimal": kind.is_decimal(),
        "float": kind.is_floating(),
        "boolean": kind.is_boolean(),
    }
    return next((name for name, true in tests.items() if true), "other")


def nearest_whole(number: Any) -> Any:
    """A double as a whole number, halves away from zero; NULL where that does not fit into 64 bits."""
    import ibis

    up, down = (number + _ALMOST_HALF).floor(), -((-number + _ALMOST_HALF).floor())
    return ibis.cases(((number >= 0) & (number < float(_INT64)), up), ((number < 0) & (number > -float(_INT64)), down))


def not_a_number(number: Any) -> Any:
    """True for NaN; never NULL."""
    return number.isnan().fill_null(False)


def finite(number: Any) -> Any:
    """True for a double that is a number; never NULL. Not every database says so of infinity when asked by name."""
    return (number.abs() <= _LARGEST).fill_null(False) & ~not_a_number(number)


def infinite(number: Any) -> Any:
    """True for infinity; never NULL."""
    return (number.abs() > _LARGEST).fill_null(False) & ~not_a_number(number)


def product(fixed: Any, weight: Any) -> Any:
    """A weight (a double) times a fixed-point number, rounded to 3 decimals more than that has."""
    import ibis

    usable = (weight >= 0) & (weight < float(_INT64))
    return ibis.cases((usable, nearest_whole(fixed.cast("float64") * weight * float(10**PRODUCT_DECIMALS))))


def halves(number: Any) -> tuple[Any, Any]:
    """A whole number as high * 2**32 + low. Their sums fit into 64 bits for two thousand million records."""
    low = number.cast("int64") & (HALF - 1)
    # the difference is a multiple of 2**32, so that neither the conversion nor the division rounds
    return ((number - low).cast("float64") / float(HALF)).cast("int64"), low


def total(number: Any, where: Any = None) -> Any:
    """A sum as a whole number of 64 bits, 0 of none. Databases widen sums and Ibis does not know, hence the detour."""
    return number.sum(where=where).cast("decimal(38, 0)").cast("int64").fill_null(0)


def from_halves(high: Any, low: Any) -> Any:
    """The whole number that two sums of halves stand for; NULL where it does not fit into 64 bits."""
    import ibis

    carry, rest = halves(low)
    return ibis.cases(((high + carry).between(-(HALF // 2), HALF // 2 - 1), (high + carry) * HALF + rest))


@dataclass(frozen=True, eq=False)
class Column:
    """A column of the source, or of something that passed it on unchanged."""

    name: str
    value: Any
    dialect: str

    @cached_property
    def kind(self) -> Any:
        """Its Ibis type."""
        return self.value.type()

    @cached_property
    def family(self) -> str:
        return family(self.kind)

    @cached_property
    def raw(self) -> Any:
        """What to group by: the bare column, unless its values are of a kind that is best taken as text."""
        if self.kind.is_string() and self.dialect == "postgres":
            return self.value + ""  # an expression makes plain text of enumerations, and cuts the padding of char(n)
        if self.family != "other":
            return self.value.cast("string") if self.kind.is_null() else self.value
        plain = self.kind.is_date() or self.kind.is_uuid() or self.kind.is_unknown()
        if plain or (self.kind.is_timestamp() and self.kind.timezone is None):
            return self.value.cast("string")
        raise InputError(f"column {self.name!r} holds no codes (its type is {self.kind}); convert it to text")

    @property
    def _unbounded(self) -> bool:
        """PostgreSQL's numeric without a size may hold anything, infinity too."""
        return self.family == "decimal" and self.kind.precision is None

    @cached_property
    def missing(self) -> Any:
        """True for no value: NULL, NaN, empty text."""
        raw = self.raw
        if raw.type().is_string():
            return raw.isnull() | (raw == "")
        if self.family == "float":
            return raw.isnull() | raw.isnan()
        if self.family == "decimal" and self.dialect == "postgres":
            return raw.isnull() | (raw.cast("string") == "NaN")
        return raw.isnull()

    @cached_property
    def text(self) -> Any:
        """The code as text; NULL where it is missing or a number that is not whole."""
        import ibis

        raw = self.raw
        if raw.type().is_string():
            return raw.nullif("")
        if self.family == "boolean":
            return ibis.cases((raw, "true"), (~raw, "false"))
        if self.family == "float":
            inside = ibis.cases((raw == raw.floor(), raw.floor().cast("string")))
            return ibis.cases((raw.abs() < float(_INT64), inside))
        if self.family == "decimal":
            return self._bounded(ibis.cases((raw == self.rounded(0), raw.cast("decimal(38, 0)").cast("string"))))
        return raw.cast("string")

    def _bounded(self, value: Any) -> Any:
        """A value for decimal numbers of up to 37 digits, NULL for others; only some columns can hold those."""
        import ibis

        if not self._unbounded:
            return value
        most = ibis.literal(Decimal(10**37), "decimal(38, 0)")
        return ibis.cases(((self.raw < most) & (self.raw > -most), value))

    def rounded(self, decimals: int) -> Any:
        """A decimal number with fewer decimals."""
        if self._unbounded:  # Ibis has no type for the result
            return function("round", ("decimal", "int32"), "decimal")(self.raw, decimals)
        return self.raw.round(decimals)

    def key(self, missing: str | None) -> Any:
        """What to group by."""
        import ibis

        if missing is None:
            return self.raw
        return ibis.cases((self.missing, ibis.literal(missing)), else_=self.text)

    # -- numbers ------------------------------------------------------------------------------------------------

    @cached_property
    def number(self) -> Any:
        """As a double; NULL where text is no number."""
        import ibis

        if self.family == "text":
            low = self.raw.lower()
            # converted by the database: Ibis may take these literals for something else
            nan, up, down = (ibis.literal(name).cast("float64") for name in ("NaN", "Infinity", "-Infinity"))
            signed = ibis.cases((low.contains("-"), down), else_=up)
            return ibis.cases(
                (self.raw.re_search(_NUMBER), self.raw.cast("float64")),
                (low.re_search(_NAN), nan),
                (low.re_search(_INFINITE), signed),
            )
        if self._unbounded:
            name = self.raw.cast("string")
            special = name.isin(["NaN", "Infinity", "-Infinity"])
            return ibis.coalesce(
                ibis.cases((special, name.cast("float64")), else_=self._bounded(self.raw.cast("float64"))),
                ibis.cases((self.raw.notnull(), 1e300)),
            )
        return self.raw.cast("float64")

    def fixed(self, decimals: int) -> Any:
        """As a whole number of 10**-decimals, halves away from zero; NULL where that cannot be."""
        import ibis

        if self.family == "float":
            number = self.number
            return ibis.cases((number.abs() < float(_INT64), nearest_whole(number * float(10**decimals))))
        if self.family == "integer":
            most = (_INT64 - 1) // 10**decimals
            return ibis.cases(((self.raw <= most) & (self.raw >= -most), self.raw.cast("int64") * 10**decimals))
        if decimals >= _WHOLE_DIGITS:
            raise InputError(f"magnitude column {self.name!r} has {decimals} decimals; state how many to keep")
        limit = 10 ** (_WHOLE_DIGITS - decimals)
        size = self.raw if self.family == "decimal" else self.number
        inside = ibis.cases(((size < limit) & (size > -limit), self.raw.cast(f"decimal(19, {decimals})")))
        scale = ibis.literal(Decimal(10**decimals), f"decimal({decimals + 1}, 0)")
        return ibis.cases(((inside < limit) & (inside > -limit), (inside * scale).cast("int64")))

    @cached_property
    def weight(self) -> Any:
        """As a weight: a whole number of 10**-6, not below 0; NULL where that cannot be."""
        import ibis

        usable = (self.number >= 0) & (self.number < float(_INT64))
        return ibis.cases((usable, nearest_whole(self.number * float(10**WEIGHT_DECIMALS))))

    @cached_property
    def record_key(self) -> Any:
        """As a whole number in -2**63 .. 2**63 - 1 that is the key modulo 2**64; NULL where it is none."""
        import ibis

        if self.family == "float":  # a double holds whole numbers up to 2**53 only
            inside = ibis.cases((self.raw == self.raw.floor(), self.raw.floor()))
            return ibis.cases((self.raw.abs() <= float(2**53), inside))
        if self.family == "integer" and not self.kind.is_uint64():
            return self.raw.cast("int64")
        if self.kind.is_uint64():
            middle = ibis.literal(_INT64, "uint64")
            above = (self.raw - middle).cast("int64") - (_INT64 - 1) - 1
            return ibis.cases((self.raw < middle, self.raw.cast("int64")), (self.raw >= middle, above))
        exact = self.raw.cast("decimal(38, 0)")
        if self.family == "text":
            exact = ibis.cases((self.raw.re_search(_WHOLE), exact))
        elif self.family == "decimal":
            exact = self._bounded(ibis.cases((self.raw == self.rounded(0), exact)))
        low, middle, high = (ibis.literal(Decimal(v), "decimal(38, 0)") for v in (-_INT64, _INT64, 2 * _INT64))
        return ibis.cases(
            ((exact >= low) & (exact < middle), exact.cast("int64")),
            ((exact >= middle) & (exact < high), (exact - high).cast("int64")),
        )
