"""Rows in the order of their counts: what the order gives away is refused, and the order itself is said."""

from __future__ import annotations

import itertools

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc


def protected(counts: list[int], under: int = 6) -> tuple[pd.Series, tuple[str, ...]]:
    """The counts with their total, protected, and what is said."""
    series = pd.Series([*counts, sum(counts)], index=[*"abcdefgh"[: len(counts)], "Total"], name="deaths")
    reports: list[dc.ProtectionReport] = []
    return dc.suppress_small_counts(series, under=under, total="Total", report=reports.append), reports[0].remarks


def fits(after: pd.Series, total: int) -> list[tuple[int, ...]]:
    """All ways to fill the hidden counts, each 1 at least, that keep the order and add up, by trying them all."""
    rows = after.iloc[:-1].tolist()
    gone = [k for k, value in enumerate(rows) if value is pd.NA]
    rest = total - sum(value for value in rows if value is not pd.NA)
    ways = []
    for values in itertools.product(range(1, rest + 1), repeat=len(gone)):
        if sum(values) == rest:
            full = list(rows)
            for k, value in zip(gone, values, strict=True):
                full[k] = value
            if all(a >= b for a, b in itertools.pairwise(full)):
                ways.append(values)
    return ways


def test_an_order_that_gives_counts_away_is_refused() -> None:
    """Of 11 between two rows of at most 6 the first is 6 and the second 5; in another order both stay open."""
    with pytest.raises(dc.Refused, match="in the order of column B, and with it 2 hidden counts follow"):
        protected([40, 12, 6, 6, 5])
    after, remarks = protected([12, 6, 40, 5, 6])
    assert after.isna().sum() == 2
    assert not any("order" in text for text in remarks)


def test_an_order_is_said() -> None:
    """Also where it leaves several values, up and down."""
    for counts in ([400, 120, 90, 30, 3, 2], [2, 3, 30, 90, 120, 400]):
        _, remarks = protected(counts)
        assert any(text.startswith("the rows stand in the order of column B") for text in remarks)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 14), min_size=4, max_size=6))
def test_what_comes_back_in_order_leaves_several_values(counts: list[int]) -> None:
    """No hidden count is the same in all fillings in order, if the hidden ones stand in one run."""
    counts = sorted(counts, reverse=True)
    try:
        after, _ = protected(counts)
    except dc.Refused:
        return
    gone = [k for k, value in enumerate(after.iloc[:-1].tolist()) if value is pd.NA]
    if not gone or len({*counts}) == 1 or gone[-1] - gone[0] + 1 != len(gone) or after.iloc[-1] is pd.NA:
        return
    ways = fits(after, sum(counts))
    assert ways
    assert all(len({way[k] for way in ways}) > 1 for k in range(len(gone)))
