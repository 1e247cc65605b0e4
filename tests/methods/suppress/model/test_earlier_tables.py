"""Tables that are out already, and last period's pattern."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings

import discreet as dc
from discreet import Refused, Table
from discreet.audits.known import Known, unmovable
from tests.problems import suppressed, two_way
from tests.strategies import tables


@settings(deadline=None, max_examples=40)
@given(tables())
def test_last_periods_pattern_is_enough_for_the_same_table(table: Table) -> None:
    """Elimination that prefers the cells hidden last time hides no others."""
    rule = dc.Threshold(3)
    done = suppressed(table, rule, singletons="none")
    assume(done is not None)
    assert done is not None
    repeated = dc.protect(table, dc.Suppress(rule, singletons="none", last=done, repair="off"))
    assert (repeated.hidden <= done.hidden).all()


def test_tables_added_later_leave_the_old_ones_as_they_are() -> None:
    """The first table stays; what it shows limits the second, and when nothing can be done its cells are to blame."""
    counts = np.array([[[9, 8], [7, 12]], [[3, 9], [11, 6]], [[10, 9], [9, 14]]])
    full = Table.of(counts, ["a", "b", "c"])
    first = dc.protect(full.with_margins([("a", "b")]), dc.Suppress(dc.Threshold(4)))
    second_table = full.with_margins([("a", "c"), ("b", "c")])
    second = dc.protect(second_table, dc.Suppress(dc.Threshold(10), earlier=[first]))
    both = full.with_margins([("a", "c"), ("b", "c"), ("a", "b")])
    gone = np.zeros(len(both), bool)
    gone[: len(second_table)] = second.hidden
    primary = np.flatnonzero(dc.Threshold(10)(both) & gone)
    assert not unmovable(Known.hiding(both, gone), primary).any()
    shown = dc.protect(full.with_margins([("a", "b", "c")]), dc.Publish())
    with pytest.raises(Refused) as caught:
        dc.protect(second_table, dc.Suppress(dc.Threshold(16), earlier=[shown]))
    assert "published before" in str(caught.value) or "out already" in str(caught.value)


def test_last_periods_pattern_is_preferred() -> None:
    """With slightly other numbers the same cells are hidden again."""
    rng = np.random.default_rng(4)
    counts = rng.poisson(rng.gamma(0.6, 9, (6, 6)))
    before = dc.protect(two_way(counts), dc.Suppress(dc.Threshold(3)))
    later = two_way(np.where(counts > 5, counts + rng.integers(-2, 3, counts.shape), counts))
    free, kept = (dc.protect(later, dc.Suppress(dc.Threshold(3), last=p)) for p in (None, before))
    assert (kept.hidden & ~before.hidden).sum() <= (free.hidden & ~before.hidden).sum()
    assert not (kept.hidden & ~before.hidden).any()
