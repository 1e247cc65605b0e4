"""Codes that lie within others by their names: 01 and 011, A and A1, 0-14 and 5-9; and codes of one level."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise

_BETWEEN = re.compile(r"\D*?(\d+)\s*(?:-|–|—|_|to|bis|à|t/m)\s*(\d+)\D*", re.IGNORECASE)
_UP_TO = re.compile(r"(?:<|under|below|less than|unter|moins de|menos de)\s*(\d+)\D*", re.IGNORECASE)
_FROM = re.compile(r"\D*?(\d+)\s*(?:\+|(?:and|or|und|et|ou|y|o)\s+[^\W\d]+)\D*", re.IGNORECASE)
_ABOVE = re.compile(r"(?:>=|≥|>|over|above|ab|über|plus de)\s*(\d+)\D*", re.IGNORECASE)
_ONE = re.compile(r"\D{0,2}(\d+)\D*")
SHORT = 3
"""Letters of a code that is no word."""


def within_by_name(codes: Sequence[str]) -> dict[str, list[str]]:
    """Codes with two or more others directly within them, by what they are called.

    >>> within_by_name(["01", "011", "012", "02"]), within_by_name(["0-14", "0-4", "5-14", "15+"])
    ({'01': ['011', '012']}, {'0-14': ['0-4', '5-14']})
    >>> within_by_name(["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"])
    {}
    """
    spans = number_spans(codes)
    if not spans and _enumerated(codes):
        return {}
    below: dict[str, list[str]] = {}
    ordered = sorted(codes, key=len)
    for code in codes:
        if spans:
            around = [c for c in codes if c != code and _inside(spans[code], spans[c])]
            nearest = min(around, key=lambda c: spans[c][1] - spans[c][0], default=None)
        else:
            nearest = next((c for c in reversed(ordered) if len(c) < len(code) and _begins(code, c)), None)
        if nearest is not None:
            below.setdefault(nearest, []).append(code)
    return {parent: parts for parent, parts in below.items() if len(parts) > 1}


def same_level(codes: Sequence[str]) -> bool:
    """Whether codes are of one level by their form: short ones or numbered ones alike, or ranges that share nothing.

    >>> same_level(["A", "B", "C"]), same_level(["r1", "r2", "r10"]), same_level(["North", "Ayr", "Bute", "South"])
    (True, True, False)
    >>> same_level(["0-14", "15-64", "65+"]), same_level(["0-14", "5-9", "65+"])
    (True, False)
    """
    if spans := number_spans(codes):
        ordered = sorted(spans.values())
        return all(one[1] < other[0] for one, other in pairwise(ordered))
    forms = {re.sub(r"[^\W\d_]", "a", re.sub(r"\d+", "9", code)) for code in codes}
    return len(forms) == 1 and all("9" in form or len(form) <= SHORT for form in forms)


def number_spans(codes: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Codes that are ranges of numbers, such as ages, with their ends; nothing unless all are, and one is no number."""
    spans: dict[str, tuple[float, float]] = {}
    ranges = 0
    for code in codes:
        text = code.strip()
        if match := _BETWEEN.fullmatch(text):
            spans[code] = (float(match[1]), float(match[2]))
        elif match := _UP_TO.fullmatch(text):
            spans[code] = (-math.inf, float(match[1]) - 1)
        elif match := _FROM.fullmatch(text) or _ABOVE.fullmatch(text):
            spans[code] = (float(match[1]), math.inf)
        elif match := _ONE.fullmatch(text):
            spans[code] = (float(match[1]), float(match[1]))
            ranges -= 1
        else:
            return {}
        ranges += 1
    return spans if ranges and all(low <= high for low, high in spans.values()) else {}


def _inside(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return other[0] <= one[0] and one[1] <= other[1] and one != other


def _begins(code: str, start: str) -> bool:
    """Whether a code begins with another as the codes of parts do: not in the middle of a word."""
    if not code.startswith(start) or not start:
        return False
    after = code[len(start)]
    return not (after.isalpha() and start[-1].isalpha()) or (code.isupper() and len(code) <= 2 * SHORT)


def _enumerated(codes: Sequence[str]) -> bool:
    """Whether codes are numbers one after the other (1 to 12), perhaps behind the same letters, at most one lacking."""
    parts = [re.fullmatch(r"(\D*)(0|[1-9]\d*)", code) for code in codes]
    if not all(parts) or len({match[1] for match in parts if match}) > 1:
        return False
    numbers = {int(match[2]) for match in parts if match}
    return max(numbers) - min(numbers) + 1 <= len(numbers) + 1
