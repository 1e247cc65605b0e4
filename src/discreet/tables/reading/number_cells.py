"""What stands in the cells of a published table: numbers, marks for what is not shown, ranges."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.base.annotations import Array
from discreet.base.number_texts import parse_number
from discreet.errors import InputError

MARKS = frozenset(
    (
        *("", "c", "(c)", "[c]", ":c", "x", "(x)", "*", "**", "#", "s", "(s)", "d", "(d)"),
        *(".", "..", "...", ":", "\u2026", "\u00d7", "\u2022", "n.a.", "na", "n/a", "nan", "null"),
        *("suppressed", "confidential", "hidden"),
    )
)
"""Texts that stand for a number that is not shown, in small letters."""
_BELOW = re.compile(r"(<=?|\u2264|>=?|\u2265)\s*(.+)")
_BETWEEN = re.compile(r"(\d[\d.,]*)\s*(?:-|\u2013|\u2014|\.\.|to)\s*(\d[\d.,]*)")


@dataclass(frozen=True, eq=False)
class NumberCells:
    """A column of numbers: NaN where none is shown; the least and greatest value where a range stands."""

    values: Array
    decimals: int
    ranges: tuple[Array, Array] | None


def number_cells(
    texts: Sequence[str], what: str, *, plain: bool, decimal: str | None = None, thousands: str | None = None
) -> NumberCells:
    """Texts of a column read; ``plain``: numbers have a decimal point and nothing between thousands.

    A range of whole numbers ends one before the number that it names: <5 is 4 at most.

    >>> cells = number_cells(["7", "<5", "c", "1-4"], "count", plain=True)
    >>> cells.values.tolist(), [side.tolist() for side in cells.ranges]
    ([7.0, nan, nan, nan], [[-inf, -inf, -inf, 1.0], [inf, 4.0, inf, 4.0]])
    """
    stripped = [text.strip() for text in texts]
    marked = [text.casefold() in MARKS for text in stripped]
    ranged = [None if hidden else _range(text) for text, hidden in zip(stripped, marked, strict=True)]
    ends = sorted({end for one in ranged if one is not None for end in one[:2] if end})
    shown = [t for t, hidden, one in zip(stripped, marked, ranged, strict=True) if not hidden and one is None]
    numbers, decimals = _parsed([*shown, *ends], what, plain, decimal, thousands)
    values = np.full(len(texts), np.nan)
    at = np.array([not hidden and one is None for hidden, one in zip(marked, ranged, strict=True)], bool)
    values[at] = numbers[: len(shown)]
    if not ends:
        return NumberCells(values, decimals, None)
    value_of = dict(zip(ends, numbers[len(shown) :].tolist(), strict=True))
    unit = 10.0**-decimals
    least, most = np.full(len(texts), -np.inf), np.full(len(texts), np.inf)
    for k, one in enumerate(ranged):
        if one is not None:
            low, high, strict = one
            least[k] = value_of[low] + (unit if strict else 0) if low else -np.inf
            most[k] = value_of[high] - (unit if strict else 0) if high else np.inf
    return NumberCells(values, decimals, (least, most))


def _range(text: str) -> tuple[str, str, bool] | None:
    """The ends of a range as text, and whether they are not part of it; None if it is no range.

    >>> _range("<5"), _range("1-4"), _range("-4")
    (('', '5', True), ('1', '4', False), None)
    """
    if match := _BELOW.fullmatch(text):
        strict = match[1] in "<>"
        return ("", match[2], strict) if match[1] in ("<", "<=", "\u2264") else (match[2], "", strict)
    match = _BETWEEN.fullmatch(text)
    return (match[1], match[2], False) if match else None


def _parsed(
    texts: Sequence[str], what: str, plain: bool, decimal: str | None, thousands: str | None
) -> tuple[Array, int]:
    if not plain:
        numbers, decimals = parse_number(texts, what, decimal=decimal, thousands=thousands)
        return np.asarray(numbers, float), decimals
    if not all(_is_number(text) for text in texts):
        raise InputError(f"{what} should hold numbers; a number that is not shown is an empty field, or c")
    return np.array([float(t) for t in texts]), max((len(t.partition(".")[2]) for t in texts), default=0)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def may_be_numbers(texts: Sequence[str]) -> bool:
    """Whether a column may be one of numbers, marks and ranges, some number among them."""
    some = False
    for text in texts:
        stripped = text.strip()
        if stripped.casefold() in MARKS or _range(stripped) is not None:
            continue
        if not re.fullmatch(r"[+-]?[\d.,' \u00a0\u202f\u2019_]*\d[\d.,]*(?:[eE][+-]?\d+)?", stripped):
            return False
        some = True
    return some
