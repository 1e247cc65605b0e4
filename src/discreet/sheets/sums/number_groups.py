"""Labels that say which numbers they are of, as groups of ages do: "65+" is "65-74" and "75+" together."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

NO_END = 10**9
_AROUND = re.compile(
    r"\b(aged?|ages|years?( old| of age)?|yrs?|jahren?|jahre|ans|años|anos|anni|år|let|lat)\b", re.IGNORECASE
)
_BETWEEN = re.compile(r"(\d{1,6})\s*(?:-|\u2013|\u2014|to|bis|à|a|al|til|till|do)\s*(\d{1,6})", re.IGNORECASE)
_BELOW = re.compile(
    r"(?:under|below|less than|younger than|unter|moins de|menos de|meno di|onder|under|pod|<)\s*(\d{1,6})",
    re.IGNORECASE,
)
_FROM = re.compile(
    r"(\d{1,6})\s*(?:\+|and (?:over|older|above|more)|or (?:over|older|above|more)|plus|und (?:älter|mehr|darüber)"
    r"|et plus|y más|e più|e mais|en ouder|og over|och äldre|i więcej)|(?:\u2265|>=)\s*(\d{1,6})",
    re.IGNORECASE,
)
_CODED = re.compile(r"Y_?(GE|LT)?(?=\d)")
_SIGNS = {"GE": ">=", "LT": "<", None: ""}
"""Ages as Eurostat has them: Y_LT15, Y15-64, Y_GE65."""


def numbers_covered(label: str) -> tuple[int, int] | None:
    """The first and last whole number that a label is of; None if it does not say so.

    >>> numbers_covered("Aged 18 to 64 years"), numbers_covered("Under 65"), numbers_covered("North")
    ((18, 64), (0, 64), None)
    >>> numbers_covered("Y15-64"), numbers_covered("75+") == numbers_covered("Y_GE75") == (75, NO_END)
    ((15, 64), True)
    """
    text = " ".join(_AROUND.sub(" ", label).split()).strip(" .:")
    if match := _CODED.match(text):
        text = _SIGNS[match[1]] + text[match.end() :]
    if match := _BETWEEN.fullmatch(text):
        first, last = int(match[1]), int(match[2])
        return (first, last) if first <= last else None
    if (match := _BELOW.fullmatch(text)) and int(match[1]) > 0:
        return 0, int(match[1]) - 1
    if match := _FROM.fullmatch(text):
        return int(match[1] or match[2]), NO_END
    return (int(text), int(text)) if text.isascii() and text.isdecimal() and len(text) < 4 else None


def covered_by_others(codes: Sequence[str]) -> dict[int, list[int]]:
    """Labels whose numbers are exactly those of two or more others, each number once, and those others.

    The widest others are taken, so that groups of groups are a hierarchy. A label that is part of two is of the first.

    >>> covered_by_others(["0-17", "18-64", "65-74", "75+", "65+", "Under 65"])
    {4: [2, 3], 5: [0, 1]}
    """
    spans = {k: span for k, code in enumerate(codes) if (span := numbers_covered(code)) is not None}
    parts_of: dict[int, list[int]] = {}
    taken: set[int] = set()
    for whole in sorted(spans, key=lambda k: spans[k][1] - spans[k][0]):
        parts = _cover(spans, whole)
        if parts and not taken & {*parts}:
            parts_of[whole] = sorted(parts)
            taken |= {*parts}
    return dict(sorted(parts_of.items()))


def _cover(spans: Mapping[int, tuple[int, int]], whole: int) -> list[int]:
    """The widest labels inside another that follow each other from its first number to its last, if some do."""
    first, last = spans[whole]
    inside = [k for k, (low, high) in spans.items() if k != whole and first <= low and high <= last]
    inside = [k for k in inside if spans[k] != spans[whole]]
    parts: list[int] = []
    at = first
    while at <= last:
        next_ones = [k for k in inside if spans[k][0] == at]
        if not next_ones:
            return []
        widest = max(next_ones, key=lambda k: spans[k][1])
        parts.append(widest)
        at = spans[widest][1] + 1
    return parts if len(parts) > 1 else []
