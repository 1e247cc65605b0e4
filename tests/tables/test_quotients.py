"""Percentages beside counts: the true number is inside what they leave, and nothing that fits is outside."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.tables.quotients import Quotient, kept_quotients, narrowed_by_quotients, open_quotients


@settings(max_examples=60)
@given(st.integers(1, 400), st.data())
def test_the_interval_is_what_fits(whole: int, data: st.DataObject) -> None:
    """Of a hidden part beside its whole: exactly the numbers whose percentage is shown so."""
    part, decimals = data.draw(st.integers(0, whole)), data.draw(st.integers(0, 2))
    shown = round(100 * part / whole, decimals)
    one = Quotient(1, 0, shown, decimals)
    low, high = narrowed_by_quotients(
        np.array([float(whole), -np.inf]), np.array([float(whole), np.inf]), np.array([False, True]), [one], "count"
    )
    half = 0.5 * 10.0**-decimals + 1e-9
    fitting = [n for n in range(2 * whole + 2) if abs(100 * n / whole - shown) <= half]
    assert (low[1], high[1]) == (fitting[0], fitting[-1])
    assert low[1] <= part <= high[1]


@settings(max_examples=60)
@given(st.integers(1, 60), st.data())
def test_a_hidden_whole(part: int, data: st.DataObject) -> None:
    """The whole follows from a shown part as well; and with a rounded part the true ones stay inside."""
    whole = data.draw(st.integers(part, 200))
    shown = round(100 * part / whole, 1)
    one = Quotient(1, 0, shown, 1)
    hidden = np.array([True, False])
    low, high = narrowed_by_quotients(
        np.array([-np.inf, part]), np.array([np.inf, float(part)]), hidden, [one], "count"
    )
    assert low[0] <= whole <= high[0]
    about = float(5 * round(part / 5))
    low, high = narrowed_by_quotients(
        np.array([-np.inf, about - 2]), np.array([np.inf, about + 2]), hidden, [one], "count", (2.0, 2.0)
    )
    assert low[0] <= whole <= high[0]


def test_what_does_not_fit_is_refused() -> None:
    """7 is not 10 % of 9, whatever the rounding; the place is named, and no number."""
    one = Quotient(1, 0, 10.0, 0, place="D4")
    with pytest.raises(dc.InputError, match="percentages at 'D4'"):
        narrowed_by_quotients(np.array([9.0, 7.0]), np.array([9.0, 8.0]), np.array([False, True]), [one], "count")


def test_rows_that_are_kept_keep_their_quotients() -> None:
    one, two = Quotient(1, 0, 10.0, 0), Quotient(3, 2, 50.0, 0)
    kept = kept_quotients([one, two], np.array([False, True, True, True]))
    assert [(q.numerator, q.denominator, q.value) for q in kept] == [(2, 1, 50.0)]
    assert len(open_quotients([one, two], np.array([False, True, True, True]))) == 1
    assert not open_quotients([one, two], np.array([False, True, False, True]))
