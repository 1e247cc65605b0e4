"""What can be wrong with records, in words: refusals name columns and counts of records, never a value."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from discreet.engines.protocol import Key
from discreet.errors import InputError, listed

TOO_LARGE = "a value or a sum is too large for whole-number arithmetic; state fewer decimals for the magnitude"


@dataclass(frozen=True)
class Words:
    """What to say of one record and of several."""

    one: str
    many: str


NOT_WHOLE = Words("holds a number that is not whole, so no code", "hold a number that is not whole, so no code")
NO_CODE = Words(
    'has no value; correct the data or give missing values a category (missing = "Unknown", or --missing Unknown)',
    'have no value; correct the data or give missing values a category (missing = "Unknown", or --missing Unknown)',
)
NO_NUMBER = Words(
    "has no value (missing or NaN: say what is meant, 0 or an estimate, or leave the record out)",
    "have no value (missing or NaN: say what is meant, 0 or an estimate, or leave the records out)",
)
_WRITTEN = (
    "text that is not a number (1234.5 is one; a decimal comma and signs between thousands are not read from records: "
    'pandas.read_csv(path, decimal=",", thousands=".") gives a data frame of numbers to read instead)'
)
TEXT = Words(f"holds {_WRITTEN}", f"hold {_WRITTEN}")
INFINITE = Words("is infinite", "are infinite")
NEGATIVE = Words("is negative", "are negative")
LARGE = Words("is too large: state fewer decimals", "are too large: state fewer decimals")
NO_VALUE = Words("has no value", "have no value")
NO_KEY = Words("holds no whole number", "hold no whole number")


class Typed(Protocol):
    """A column as an engine sees it."""

    @property
    def family(self) -> str:
        """What kinds of type have in common: numbers, text, truth values."""

    @property
    def kind(self) -> str:
        """The type as the database calls it."""


def refuse_other_than_numbers(column: Typed, name: str, role: str) -> None:
    """Magnitudes, weights and record keys are numbers, or text that holds them."""
    if column.family in {"boolean", "other"}:
        raise InputError(f"{role} column {name!r} does not hold numbers (its type is {column.kind})")


def unknown_code(key: Key) -> Words:
    """Of codes outside the codebook; the codebook's own may be named."""
    advice = f"a code that is not in the codebook (allowed: {listed(key.codes)}); correct the data or add the code"
    if any(code.isdecimal() and code.startswith("0") and len(code) > 1 for code in key.codes):
        advice += "; codes of the codebook have leading zeros, which are lost where codes are read as numbers"
    if any(unicodedata.normalize("NFD", code) != code for code in key.codes):
        advice += "; letters that look the same may be composed differently (Unicode NFC and NFD): write both alike"
    return Words(f"holds {advice}", f"hold {advice}")


def sentence(what: str, counts: Sequence[int], words: Sequence[Words]) -> str | None:
    """How many records, and what is wrong with them; None if nothing is.

    >>> [sentence("column 'x'", [n], [NEGATIVE]) for n in (1, 3, 0)]
    ["column 'x': 1 record is negative", "column 'x': 3 records are negative", None]
    """
    pairs = zip(counts, words, strict=True)
    parts = [f"1 record {w.one}" if n == 1 else f"{int(n)} records {w.many}" for n, w in pairs if n]
    return f"{what}: {', '.join(parts)}" if parts else None
