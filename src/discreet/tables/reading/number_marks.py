"""What stands in place of a number in a published table: marks and ranges, known to everybody or stated by a caller."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from discreet.errors import InputError, listed, nearest

SUPPRESSED, ZERO, UNAVAILABLE, FLAG = "suppressed", "zero", "unavailable", "flag"
MEANINGS = (SUPPRESSED, ZERO, UNAVAILABLE, FLAG)
KNOWN_MARKS = frozenset(
    (
        *("", "c", "(c)", "[c]", ":c", "x", "(x)", "[x]", "*", "**", "#", "s", "(s)", "d", "(d)"),
        *(".", "..", "...", ":", "\u2026", "\u00d7", "\u2022", "n.a.", "na", "n/a", "nan", "null"),
        *("suppressed", "confidential", "hidden"),
    )
)
"""Texts that stand for a number that is not shown, in small letters; why it is not makes no difference to an audit."""
_NUMBER = r"\d[\d.,' \u00a0\u202f\u2019]*"
_BELOW = {"<": True, "<=": False, "\u2264": False, "under": True, "below": True, "less than": True, "fewer than": True}
_BELOW |= {"up to": False, "at most": False}
_ABOVE = {">": True, ">=": False, "\u2265": False, "over": True, "above": True, "more than": True, "at least": False}
_SIDED = re.compile(rf"({'|'.join(sorted((*_BELOW, *_ABOVE), key=len, reverse=True))})\s*({_NUMBER})")
_ENDED = re.compile(rf"({_NUMBER}?)\s*(\+|or more|and over|or fewer|or less)")
_BETWEEN = re.compile(rf"({_NUMBER}?)\s*(?:-|\u2013|\u2014|\.\.|to)\s*({_NUMBER})")
_FLAGGED = re.compile(r"([+-]?\d[\d.,' \u00a0\u202f\u2019]*?)\s*([^\d\s.,'+%-].{0,7}|[+%-])")


@dataclass(frozen=True)
class NumberRange:
    """The ends of a range as they are written; "" where it has none. ``strict``: they are not part of it."""

    low: str
    high: str
    strict: bool = False


@dataclass(frozen=True)
class NumberMarks:
    """What the marks of a table stand for, beyond those that everybody uses.

    ``stated``: by mark one of ``MEANINGS``, or the range of numbers that it stands for, such as "1-4".
    ``zeros_hidden``: "<5" and what is not shown may be zero, too; without it "<5" is 1 to 4 and a count that is not
    shown 1 at least, as a zero would have been shown.
    ``negative``: numbers may be negative, so that "<5" has no lower end.

    >>> marks = NumberMarks({"-": "zero", "[low]": "1-4"})
    >>> marks.meaning("-"), marks.meaning("[low]"), marks.meaning("C"), marks.meaning("q")
    ('zero', '1-4', 'suppressed', None)
    """

    stated: Mapping[str, str] = field(default_factory=dict)
    zeros_hidden: bool = False
    negative: bool = False

    def __post_init__(self) -> None:
        own: dict[str, str] = {}
        for mark, meaning in self.stated.items():
            plain = plain_mark(mark)
            if meaning not in MEANINGS and number_range(meaning) is None:
                raise InputError(
                    f"the mark {mark!r} can stand for {listed(MEANINGS)} or a range such as '1-4', not {meaning!r}; "
                    f"{nearest(meaning, MEANINGS)}"
                )
            if own.setdefault(plain, meaning) != meaning:
                raise InputError(f"the mark {mark!r} is said to stand for two things; say one of them")
            if meaning != FLAG and plain[:1].isdecimal() and not plain.strip("0123456789.,"):
                raise InputError(f"{mark!r} is a number; a mark stands in place of one")
        object.__setattr__(self, "stated", own)

    @property
    def zero_or_less(self) -> bool:
        """Whether a number that is not shown may be zero or negative."""
        return self.zeros_hidden or self.negative

    def meaning(self, text: str) -> str | None:
        """What a text that is not a number stands for: suppressed, zero, unavailable or a range; None if unknown."""
        plain = plain_mark(text)
        if (stated := self.stated.get(plain)) is not None:
            return None if stated == FLAG else stated
        if plain in KNOWN_MARKS:
            return SUPPRESSED
        return plain if number_range(plain) is not None else None

    def is_flag(self, text: str) -> bool:
        """Whether a text is a flag that a caller has stated, with or without brackets around it."""
        plain = plain_mark(text)
        return self.stated.get(plain) == FLAG or self.stated.get(plain.strip("[]()")) == FLAG


def plain_mark(text: str) -> str:
    """A mark as it is compared: without blanks around it, in small letters."""
    return text.strip().casefold()


def number_range(text: str) -> NumberRange | None:
    """The range that a text names, None if it is none.

    >>> number_range("<5"), number_range("1-4")
    (NumberRange(low='', high='5', strict=True), NumberRange(low='1', high='4', strict=False))
    >>> number_range("100 or more").low, number_range("-4")
    ('100', None)
    """
    plain = plain_mark(text)
    if len(plain) > 2 and plain[0] + plain[-1] in ("[]", "()"):
        plain = plain[1:-1].strip()
    if match := _SIDED.fullmatch(plain):
        sign, number = match[1], match[2].strip()
        return NumberRange("", number, _BELOW[sign]) if sign in _BELOW else NumberRange(number, "", _ABOVE[sign])
    if match := _ENDED.fullmatch(plain):
        number = match[1].strip()
        return NumberRange("", number) if match[2] in ("or fewer", "or less") else NumberRange(number, "")
    match = _BETWEEN.fullmatch(plain)
    return NumberRange(match[1].strip(), match[2].strip()) if match else None


def flagged_number(text: str) -> tuple[str, str] | None:
    """A number and the flag behind it, None if a text is not both.

    >>> flagged_number("5p"), flagged_number("1,234 [r]"), flagged_number("p5")
    (('5', 'p'), ('1,234', '[r]'), None)
    """
    match = _FLAGGED.fullmatch(text.strip())
    return (match[1].strip(), match[2].strip()) if match else None


def may_be_named(mark: str) -> bool:
    """Whether a text is a mark that a message may repeat, and not, perhaps, a word from somebody's record.

    >>> may_be_named("[low]"), may_be_named("–"), may_be_named("Miller")
    (True, True, False)
    """
    letters = sum(letter.isalpha() for letter in mark)
    bracketed = mark[:1] + mark[-1:] in ("[]", "()")
    return len(mark) <= 12 and (letters <= 3 or (bracketed and letters <= 8)) and sum(c.isdecimal() for c in mark) <= 2
