"""Ranges that labels say: "16-24", "65+", "Within 2 weeks", "A*-C"; and which of them lie inside others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

NO_END = 10**12
MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_END = rf"[a-z][*+]{{0,2}}|\d{{1,6}}|{MONTH}"
_BETWEEN = re.compile(
    rf"(?<![\w*])({_END})\s*(?:-|\u2013|\u2014|\bto\b|\bbis\b|\btil\b|\btill\b)\s*({_END})(?![\w*])", re.IGNORECASE
)
_FROM = re.compile(
    r"(?<!\w)(?:(\d{1,6})\s*(?:(?P<counted>[^\W\d_]+) )?"
    r"(?:\+|(?:and|or) (?:over|older|above|more|higher|better)\b|plus\b"
    r"|und (?:älter|mehr|darüber)\b|et plus\b|y más\b|e più\b|e mais\b|en ouder\b|og over\b|och äldre\b|i więcej\b)"
    r"|(?:over|above|more than|longer than|older than|at least|mehr als|über|plus de|más de|>=?|\u2265)"
    r"\s*(\d{1,6})(?!\w))",
    re.IGNORECASE,
)
_BELOW = re.compile(
    r"(?<!\w)(?:under|below|less than|fewer than|younger than|within|up to|by (?:day|week|month|age)|at most|unter"
    r"|bis zu|moins de|menos de|meno di|onder|pod|<=?|\u2264)\s*(\d{1,6})(?!\w)",
    re.IGNORECASE,
)
_HOURS = {"h": 1, "d": 24, "w": 7 * 24, "m": 730, "y": 8760}
_UNIT = re.compile(
    r"\s*(?:full |whole |working |calendar )?(?:(?P<h>hours?|hrs?|stunden?|heures?|horas?)"
    r"|(?P<d>days?|tagen?|jours?|d[ií]as?|dagen|dagar|dage)|(?P<w>weeks?|wks?|wochen?|semaines?|semanas?|weken|veckor|uger)"
    r"|(?P<m>months?|mths?|monaten?|mois|mes(?:es)?|maanden|månader|måneder)"
    r"|(?P<y>years?|yrs?|jahren?|ans?|años?|anos?|anni|år))\b",
    re.IGNORECASE,
)
"""The unit of time behind a range; numbers without one are compared as years are."""
_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_IN_WORDS = {word: str(number) for number, word in enumerate(_WORDS, 1)}
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(_IN_WORDS)})\b", re.IGNORECASE)
PLURAL = re.compile(r"(?<=[^\W\d_]{3})s\b")
_AROUND = re.compile(r"\b(aged?|ages|years?( old| of age)?|yrs?|grades?|jahren?|jahre|ans|años|anos|anni|år)\b", re.I)


@dataclass(frozen=True)
class LabelRange:
    """What a label says beside its range, and the ends of the range: numbers, or grades and months as texts."""

    rest: str
    numbers: tuple[int, int] | None = None
    texts: tuple[str, str] | None = None


def label_range(label: str) -> LabelRange | None:
    """The range of a label; None if it says none.

    >>> label_range("Grades A*-C")
    LabelRange(rest='', numbers=None, texts=('a*', 'c'))
    >>> label_range("North-East")
    """
    label = _NUMBER_WORD.sub(lambda match: _IN_WORDS[match[0].casefold()], label)
    for pattern, ends in ((_BETWEEN, _between), (_FROM, _from), (_BELOW, _below)):
        match = pattern.search(label)
        if match is None:
            continue
        unit = _UNIT.match(label, match.end())
        behind = label[(unit or match).end() :]
        unit = unit or _UNIT.search(match[0].lstrip("0123456789"))
        counted = "" if unit else match.groupdict().get("counted") or ""  # "2 cars or more"
        rest = _AROUND.sub(" ", f"{label[: match.start()]} {counted} {behind}").casefold()
        rest = PLURAL.sub("", " ".join(rest.split()).strip(" .:,"))
        first, last = (str(text or "").casefold() for text in (match[1], match[match.re.groups]))
        if pattern is _BETWEEN and not first.isdecimal() and not last.isdecimal():
            return LabelRange(rest, texts=(first[:3], last[:3]))
        numbers = ends(match, _HOURS[unit.lastgroup or "y"] if unit else _HOURS["y"])
        return None if numbers is None else LabelRange(rest, numbers=numbers)
    return None


def _between(match: re.Match[str], unit: int) -> tuple[int, int] | None:
    first, last = match[1], match[2]
    if not (first.isdecimal() and last.isdecimal()):
        return None
    low, high = sorted((int(first), int(last)))
    grades = len(first) < 3  # written 9-4; the years 1999-00 are not such a range
    return (low * unit, (high + 1) * unit - 1) if grades or int(first) <= int(last) else None


def _from(match: re.Match[str], unit: int) -> tuple[int, int]:
    beyond = match[3] is not None and not re.match(r"at least|>=|\u2265", match[0], re.IGNORECASE)
    number = int(match[1] or match[3])
    beyond_years = number + 1 if unit == _HOURS["y"] else number  # "over 64" begins with the next year of age
    return (beyond_years if beyond else number) * unit, NO_END


def _below(match: re.Match[str], unit: int) -> tuple[int, int]:
    """From nothing on: "within 2 weeks" ends with them, "up to 15" with the whole last year of age."""
    up_to = re.match(r"within|up to|by|at most|bis zu|<=|\u2264", match[0], re.IGNORECASE)
    number = int(match[1])
    return 0, (number + 1 if up_to and unit == _HOURS["y"] else number) * unit - 1


def ranges_inside(ranges: Mapping[int, LabelRange]) -> list[tuple[int, int]]:
    """Pairs of which one range is part of the other; none where ranges of numbers cross.

    Of texts it has one end in common, and numbers tell which is wider.
    """
    alike: dict[tuple[str, bool], list[int]] = {}
    for k, found in ranges.items():
        alike.setdefault((found.rest, found.texts is None), []).append(k)
    pairs: list[tuple[int, int]] = []
    for (_, numbers), places in alike.items():
        some = _inside_numbers(ranges, places) if numbers else _inside_texts(ranges, places)
        if some is None:
            return []
        pairs += some
    return pairs


def ranges_apart(one: LabelRange | None, other: LabelRange | None) -> bool:
    """Whether two ranges of numbers of one kind have nothing in common, so that neither is part of the other.

    >>> ranges_apart(label_range("0-4"), label_range("10+"))
    True
    """
    if one is None or other is None or one.rest != other.rest or one.numbers is None or other.numbers is None:
        return False
    return one.numbers[1] < other.numbers[0] or other.numbers[1] < one.numbers[0]


def _inside_texts(ranges: Mapping[int, LabelRange], places: Sequence[int]) -> list[tuple[int, int]]:
    ends: dict[tuple[int, str], list[int]] = {}
    for k in places:
        for which, text in enumerate(ranges[k].texts or ()):
            ends.setdefault((which, text), []).append(k)
    pairs = {pair for same in ends.values() for pair in permutations(same, 2)}
    return sorted(pair for pair in pairs if ranges[pair[0]] != ranges[pair[1]])


def _inside_numbers(ranges: Mapping[int, LabelRange], places: Sequence[int]) -> list[tuple[int, int]] | None:
    """As above; None where two have some numbers in common, and each has some that the other has not."""
    pairs: list[tuple[int, int]] = []
    open_: list[tuple[int, int, int]] = []
    ends = {k: ranges[k].numbers or (0, NO_END) for k in places}
    for k in sorted(places, key=lambda k: (ends[k][0], -ends[k][1])):
        low, high = ends[k]
        while open_ and open_[-1][1] < low:
            open_.pop()
        if open_ and open_[-1][1] < high:
            return None
        pairs += [(k, whole) for first, last, whole in open_ if (first, last) != (low, high)]
        open_.append((low, high, k))
    return pairs
