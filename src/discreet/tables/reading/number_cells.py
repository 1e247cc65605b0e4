"""What stands in the cells of a published table: numbers, marks for what is not shown, ranges."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from discreet.base.annotations import Array
from discreet.base.number_texts import parse_number
from discreet.errors import InputError
from discreet.tables.reading.number_marks import (
    SUPPRESSED,
    UNAVAILABLE,
    ZERO,
    NumberMarks,
    NumberRange,
    flagged_number,
    may_be_named,
    number_range,
    plain_mark,
)
from discreet.tables.reading.raw_table import HIDDEN, NOT_AVAILABLE

NAMED = 5  # marks that one message names
_LIKE_A_NUMBER = re.compile(r"[+-]?[\d.,' \u00a0\u202f\u2019_]*\d[\d.,]*(?:[eE][+-]?\d+)?")


NO_MARKS = NumberMarks()


@dataclass(frozen=True)
class NumberSigns:
    """How the numbers of a file are written: the sign before decimals, the one between thousands, marks."""

    decimal: str | None = None
    thousands: str | None = None
    marks: NumberMarks = NO_MARKS


PLAIN_SIGNS = NumberSigns()


@dataclass(frozen=True, eq=False)
class NumberCells:
    """A column of numbers: NaN where none is shown; the least and greatest value where a range stands."""

    values: Array
    decimals: int
    ranges: tuple[Array, Array] | None
    status: Array
    """Per cell HIDDEN where a number is not shown, NOT_AVAILABLE where nobody has one, else ""."""
    assumed: tuple[str, ...] = ()
    """What was taken as so, a sentence for each, with the option that says otherwise."""


def number_cells(
    texts: Sequence[str], what: str, *, plain: bool, signs: NumberSigns = PLAIN_SIGNS, lines: Sequence[int] = ()
) -> NumberCells:
    """Texts of a column read; ``plain``: numbers have a decimal point and nothing between thousands, unless said.

    A range of whole numbers ends one before the number that it names, and begins at one: <5 is 1 to 4. ``lines``: the
    line of the file that each text stands in, for messages.

    >>> cells = number_cells(["7", "<5", "c", "1-4"], "count", plain=True)
    >>> cells.values.tolist(), [side.tolist() for side in cells.ranges]
    ([7.0, nan, nan, nan], [[-inf, 1.0, -inf, 1.0], [inf, 4.0, inf, 4.0]])
    """
    kinds, unknown = _read_texts(texts, signs.marks)
    if unknown:
        raise InputError(_not_understood(what, texts, unknown, lines))
    ranges = {text: one for text, one in kinds.items() if isinstance(one, NumberRange)}
    ends = sorted({end for one in ranges.values() for end in (one.low, one.high) if end})
    shown = {text: one[0] for text, one in kinds.items() if isinstance(one, tuple)}
    numbers, decimals = _parsed([*shown.values(), *ends], what, plain, signs)
    number_of = dict(zip(shown, numbers.tolist(), strict=False))
    number_of |= {text: 0.0 for text, one in kinds.items() if one == ZERO}
    values = np.array([number_of.get(text, np.nan) for text in texts], float)
    marked = {UNAVAILABLE: NOT_AVAILABLE, ZERO: ""}
    status = np.array(["" if t in number_of else marked.get(str(kinds[t]), HIDDEN) for t in texts], object)
    if not ranges:
        return NumberCells(values, decimals, None, status)
    value_of = dict(zip(ends, numbers[len(shown) :].tolist(), strict=True))
    negative = signs.marks.negative or bool((values < 0).any())
    floor = -math.inf if negative else 0.0 if signs.marks.zeros_hidden else 10.0**-decimals
    bounds = {text: _bounds(one, value_of, 10.0**-decimals, floor) for text, one in ranges.items()}
    if turned := [text for text, (low, high) in bounds.items() if low > high]:
        raise InputError(f"{what}, {_where(texts, turned[0], lines)}: a range ends before it begins; correct it")
    least, most = (np.array([bounds[t][k] if t in bounds else open_ for t in texts]) for k, open_ in _OPEN)
    assumed = [_from_one(text, bounds[text]) for text, one in ranges.items() if not one.low and floor > 0]
    return NumberCells(values, decimals, (least, most), status, tuple(assumed))


def assumed_of(columns: Iterable[NumberCells]) -> tuple[str, ...]:
    """What was taken as so of several columns, each sentence once."""
    return tuple(dict.fromkeys(text for column in columns for text in column.assumed))


def _from_one(text: str, bounds: tuple[float, float]) -> str:
    ends = f"{bounds[0]:g} to {bounds[1]:g}"
    return f"{text.strip()!r} is read as {ends}: a zero would have been shown; if it may be 0, too, say --zeros-hidden"


_OPEN = ((0, -np.inf), (1, np.inf))
Kind = NumberRange | tuple[str] | str


def _read_texts(texts: Sequence[str], marks: NumberMarks) -> tuple[dict[str, Kind], list[str]]:
    """By distinct text a number (in a tuple), a range or what its mark stands for; and those that are none of it."""
    kinds: dict[str, Kind] = {}
    unknown = []
    for text in dict.fromkeys(texts):
        if _LIKE_A_NUMBER.fullmatch(text.strip()):
            kinds[text] = (text.strip(),)
        elif (meaning := marks.meaning(text)) is not None:
            kinds[text] = meaning if meaning in (SUPPRESSED, ZERO, UNAVAILABLE) else _known_range(meaning)
        elif (flagged := flagged_number(text)) is not None and marks.is_flag(flagged[1]):
            kinds[text] = (flagged[0],)
        else:
            unknown.append(text)
    return kinds, unknown


def _known_range(text: str) -> NumberRange:
    known = number_range(text)
    assert known is not None  # NumberMarks takes no other
    return known


def _bounds(one: NumberRange, value_of: dict[str, float], unit: float, floor: float) -> tuple[float, float]:
    """Least and greatest value of a range."""
    step = unit if one.strict else 0.0
    high = value_of[one.high] - step if one.high else math.inf
    if one.low:
        return value_of[one.low] + step, high
    return (floor if floor <= high else min(0.0, high)), high


def _where(texts: Sequence[str], text: str, lines: Sequence[int]) -> str:
    """The line in which a text first stands."""
    at = texts.index(text)
    return f"line {lines[at]}" if lines else f"entry {at + 1}"


def _not_understood(what: str, texts: Sequence[str], unknown: Sequence[str], lines: Sequence[int]) -> str:
    """The message on texts that are neither numbers nor marks: where they stand, and what settles them."""
    where = partial(_where, texts, lines=lines)
    flags = {flagged[1]: text for text in unknown if (flagged := flagged_number(text)) is not None}
    if flags:
        flag, text = next(iter(flags.items()))
        if not may_be_named(flag):
            return f"{what}, {where(text)}: text stands behind a number; write the number alone"
        return (
            f"{what}, {where(text)}: what the flag {flag!r} behind a number means is not known; if such numbers are "
            f"as they are shown, say so: --flag {flag!r} (marks={{{flag!r}: 'flag'}})"
        )
    named = [text for text in unknown if may_be_named(text.strip())]
    if not named:
        return (
            f"{what}, {where(unknown[0])}: text that is neither a number nor a mark stands there; a number that is not "
            "shown is an empty field, or c"
        )
    mark = named[0].strip()
    more = ", ".join(f"{text.strip()!r} ({where(text)})" for text in named[1:NAMED])
    return (
        f"{what}, {where(named[0])}: what the mark {mark!r} stands for is not known; say --suppressed {mark!r} (a "
        f"number that is not shown), --suppressed '{mark}=1-4' (one of these), --zero {mark!r} (none there) or "
        f"--unavailable {mark!r} (nobody has it); in Python marks={{{mark!r}: 'suppressed'}}"
        + (f". Not known either: {more}" if more else "")
    )


def _parsed(texts: Sequence[str], what: str, plain: bool, signs: NumberSigns) -> tuple[Array, int]:
    said = signs.decimal is not None or signs.thousands is not None
    if plain and not said and all(_is_number(text) for text in texts):
        numbers = np.array([float(t) for t in texts])
        return numbers, max((len(t.lower().partition("e")[0].partition(".")[2]) for t in texts), default=0)
    numbers, decimals = parse_number(texts, what, decimal=signs.decimal, thousands=signs.thousands)
    return np.asarray(numbers, float), decimals


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text)) and "_" not in text
    except ValueError:
        return False


def may_be_numbers(texts: Sequence[str], marks: NumberMarks = NO_MARKS, *, named: bool = False) -> bool:
    """Whether a column may be one of numbers, marks and ranges: some number or range is among them, or a mark of signs.

    Letters such as c and x alone are codes, unless the column is ``named`` as numbers are. Texts that are not known are
    let through if they are few: what they stand for is asked when the column is read.
    """
    kinds, unknown = _read_texts(texts, marks)
    flagged = {text for text in unknown if flagged_number(text) is not None}
    strange = set(unknown) - flagged
    if len(strange) > NAMED or (2 * sum(text in strange for text in texts) > len(texts) and not named):
        return False
    numeric = flagged or any(isinstance(one, (tuple, NumberRange)) for one in kinds.values())
    stated = any(plain_mark(text) in marks.stated for text in kinds)
    signs = any(text.strip() and not any(letter.isalpha() for letter in text) for text in kinds)
    return bool(numeric or stated or signs or (named and kinds))
