"""Populations that headers and labels state, as in "Treated (N = 40)"."""

from __future__ import annotations

import re

HEADER_COUNT = re.compile(r"[\s,;:]*[(\[]?\s*\bn\s*=\s*(\d[\d,. \u00a0\u202f]*\d|\d)\s*[)\]]?", re.IGNORECASE)


HEADER_MARK = re.compile(
    r"[\s,;:]*[(\[]?\s*\bn\s*=\s*([*\u2020\u2021\u00a7#~]{1,3}|\[[a-z]{1,2}\]|[cxz]\b|\.{2,3}|[<\u2264]\s?\d+)\s*[)\]]?",
    re.IGNORECASE,
)


def states_mark(text: str) -> bool:
    """Whether a header states a population that is hidden.

    >>> states_mark("Treated (N = *)"), states_mark("Treated (N = 40)")
    (True, False)
    """
    return HEADER_MARK.search(text) is not None


def stated_count(text: str) -> float | None:
    """The population that a header states; None if it states none.

    >>> stated_count("Treated (N = 1,040)"), stated_count("2020")
    (1040.0, None)
    """
    match = HEADER_COUNT.search(text)
    return float(re.sub(r"\D", "", match[1])) if match else None


def without_header_count(text: str) -> str:
    """A header without the population it states.

    >>> without_header_count("Treated (N = 40)"), without_header_count("Total")
    ('Treated', 'Total')
    """
    return HEADER_MARK.sub("", HEADER_COUNT.sub("", text)).strip() or text


def with_other_count(text: str, count: str) -> str:
    """A header or label that states another count, or a mark in its place.

    >>> with_other_count("Treated (N = 1,040)", "*"), with_other_count("North, n=56", "60")
    ('Treated (N = *)', 'North, n=60')
    """
    match = HEADER_COUNT.search(text)
    return text if match is None else text[: match.start(1)] + count + text[match.end(1) :]
