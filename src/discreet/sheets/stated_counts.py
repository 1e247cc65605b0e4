"""Populations that headers state, as in "Treated (N = 40)"."""

from __future__ import annotations

import re

HEADER_COUNT = re.compile(r"[\s,;:]*[(\[]?\s*\bn\s*=\s*(\d[\d,. \u00a0\u202f]*\d|\d)\s*[)\]]?", re.IGNORECASE)


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
    return HEADER_COUNT.sub("", text).strip() or text
