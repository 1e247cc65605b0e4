"""Where the GROUP BY runs: what an engine is asked for, and what it answers.

An engine knows columns and codes, nothing of dimensions, rules or tables, so that another one (a database, a cluster)
can stand in for the one in this process. It answers with the non-empty inner cells only: margins are sums of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Protocol, runtime_checkable

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import InputError, nearest

WEIGHT_DECIMALS = 6  # weights are summed as whole numbers of 10**-6
PRODUCT_DECIMALS = 3  # weight times magnitude keeps this many decimals more than the magnitude
MOST_DECIMALS = 6  # found in a column of binary numbers; a stated precision may go further
SECRET_BYTES = 16  # the shortest secret accepted


@dataclass(frozen=True, kw_only=True)
class Key:
    """A classifying column and the codes it may hold; the position in ``codes`` is what the result holds.

    ``missing`` is the code given to missing values; without one they are refused.
    """

    name: str
    column: str
    codes: tuple[str, ...]
    missing: str | None = None

    def __post_init__(self) -> None:
        if self.missing is not None and self.missing not in self.codes:
            raise InputError(
                f"dimension {self.name!r}: the category for missing values, {self.missing!r}, is not among its codes"
            )


@dataclass(frozen=True, kw_only=True)
class Hmac:
    """Record keys made from unit ids: the first 8 bytes, big endian, of HMAC-SHA256(secret, id as UTF-8 text).

    A record's key depends on its own id alone, so editing one record never changes another's.
    """

    unit: str
    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.secret) < SECRET_BYTES:
            raise InputError(f"the secret has {len(self.secret)} bytes; give at least {SECRET_BYTES}")

    def pads(self) -> tuple[bytes, bytes]:
        """The inner and outer pad of RFC 2104: HMAC(m) = H(outer + H(inner + m)) for SHA-256's 64-byte blocks."""
        import hashlib

        key = self.secret if len(self.secret) <= 64 else hashlib.sha256(self.secret).digest()
        block = key.ljust(64, b"\0")
        return bytes(b ^ 0x36 for b in block), bytes(b ^ 0x5C for b in block)


@dataclass(frozen=True, kw_only=True)
class Grouping:
    """What is asked of an engine.

    ``contributor`` is the column of the holding a record belongs to; a record without one is its own contributor, as
    every record is when there is no such column. ``top`` is how many of a cell's largest contributions to keep.
    ``where`` keeps the records whose column holds one of some codes.
    """

    keys: tuple[Key, ...]
    magnitude: str | None = None
    decimals: int | None = None
    weight: str | None = None
    record_key: str | Hmac | None = None
    contributor: str | None = None
    top: int = 0
    where: tuple[tuple[Key, tuple[str, ...]], ...] = ()

    def __post_init__(self) -> None:
        if self.top < 0 or (self.top and self.magnitude is None):
            raise InputError("the largest contributions (top) are those to a magnitude: name one, or leave top at 0")
        if self.decimals is not None and not 0 <= self.decimals <= 12:
            raise InputError(f"decimals is {self.decimals}; give a number from 0 to 12")
        for key, wanted in self.where:
            for code in wanted:
                if code not in key.codes:
                    raise InputError(
                        f"filter on dimension {key.name!r}: unknown code {code!r}; {nearest(code, key.codes)}"
                    )

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is read, once."""
        unit = self.record_key.unit if isinstance(self.record_key, Hmac) else self.record_key
        named = (self.magnitude, self.weight, unit, self.contributor)
        keys = (*self.keys, *(key for key, _ in self.where))
        return tuple(dict.fromkeys([*(key.column for key in keys), *(c for c in named if c is not None)]))


@dataclass(frozen=True, eq=False)
class SpanningParts:
    """Contributors who stand in more than one inner cell: one row per contributor and cell."""

    group: Array  # int64[p], row of Groups
    contributor: Array  # int64[p]
    value: Array | None  # int64[p], in units of 10**-decimals
    weighted: Array | None  # int64[p], in units of 10**-(decimals + 3)


@dataclass(frozen=True, eq=False)
class CountedGroups:
    """The non-empty inner cells, in the order of their codes. All sums are of whole numbers, so they are exact.

    The largest contributions rank by absolute value, as rules compare sizes, and keep their sign. Those who span
    several cells are neither in ``top_*`` nor in ``contributors`` but in ``spanning``: what they give to a margin
    cannot be had from each cell's largest. The numbers that stand for contributors hold within one answer only.
    """

    codes: Array  # int32[n, d], positions in each Key's codes
    count: Array  # int64[n], records
    decimals: int  # of the magnitude
    contributors: Array  # int64[n], distinct contributors, those who span cells left out
    total: Array | None = None  # int64[n], in units of 10**-decimals
    weight: Array | None = None  # int64[n], in units of 10**-6
    weighted_total: Array | None = None  # int64[n], in units of 10**-(decimals + 3), rounded record by record
    key: Array | None = None  # uint64[n], sum of record keys mod 2**64
    value_key: Array | None = None  # uint64[n], the same of records whose magnitude is not 0
    givers: Array | None = None  # int64[n], records whose magnitude is not 0, where there are keys of them
    top_value: Array | None = None  # float64[n, top], NaN where a cell has fewer
    top_weight: Array | None = None  # float64[n, top]; a holding's is its weighted sum by its sum, 1 where that is 0
    top_contributor: Array | None = None  # int64[n, top], -1 for a record that is its own contributor and for none
    spanning: SpanningParts | None = None  # None without a contributor column

    def __len__(self) -> int:
        return len(self.count)

    def __repr__(self) -> str:
        return f"Groups({len(self)} inner cells of {self.codes.shape[1]} dimensions)"


@runtime_checkable
class Engine(Protocol):
    """Anything that can group records. Refusals name columns and counts of records, never a value."""

    def columns(self) -> dict[str, str]:
        """Each column's kind: text, integer, decimal, float, boolean or other."""

    def rows(self) -> int:
        """How many records there are."""

    def categories(self, column: str) -> tuple[str, ...]:
        """The codes a column holds, as text in natural order; missing values are left out."""

    def decimals(self, column: str) -> int:
        """The fewest decimals that write every value of a column."""

    def duplicates(self, column: str) -> tuple[int, int]:
        """How many units occur more than once, and how many records have no unit."""

    def base_cells(self, grouping: Grouping) -> CountedGroups:
        """The non-empty inner cells."""


def cell_order(codes: Array, sizes: tuple[int, ...]) -> Array:
    """One number per row that orders rows by their codes, first column first; equal rows get equal numbers.

    >>> cell_order(np.array([[1, 0], [0, 2], [1, 0]]), (2, 3)).tolist()
    [3, 2, 3]
    """
    flat, most = np.zeros(len(codes), np.int64), 1
    for k, size in enumerate(sizes):
        if most * size >= 2**62:  # too many possible cells for one number: count the occurring ones only
            _, flat = np.unique(flat, return_inverse=True)
            most = len(codes) + 1
        flat, most = flat * size + codes[:, k], most * size
    return flat


def joined(parts: Sequence[CountedGroups], sizes: tuple[int, ...]) -> CountedGroups:
    """Groups that share no cell, and know no contributors who span cells, as one answer."""
    if len(parts) == 1:
        return parts[0]
    fields_of: dict[str, Any] = {}
    order = np.argsort(cell_order(np.concatenate([part.codes for part in parts]), sizes))
    for field_ in fields(CountedGroups):
        values = [getattr(part, field_.name) for part in parts]
        array = isinstance(values[0], np.ndarray)
        fields_of[field_.name] = np.concatenate(values)[order] if array else values[0]
    return CountedGroups(**fields_of)
