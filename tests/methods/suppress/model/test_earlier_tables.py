"""Tables that are out already, and last period's pattern."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from scipy.optimize import linprog

import discreet as dc
from discreet import Refused, Table
from discreet.audits.known import Known, unmovable
from discreet.base import deadline
from discreet.methods.suppress.model.earlier_tables import blame
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
    assert "published before" in str(caught.value) or "published already" in str(caught.value)


def test_last_periods_pattern_is_preferred() -> None:
    """With slightly other numbers the same cells are hidden again."""
    rng = np.random.default_rng(4)
    counts = rng.poisson(rng.gamma(0.6, 9, (6, 6)))
    before = dc.protect(two_way(counts), dc.Suppress(dc.Threshold(3)))
    later = two_way(np.where(counts > 5, counts + rng.integers(-2, 3, counts.shape), counts))
    free, kept = (dc.protect(later, dc.Suppress(dc.Threshold(3), last=p)) for p in (None, before))
    assert (kept.hidden & ~before.hidden).sum() <= (free.hidden & ~before.hidden).sum()
    assert not (kept.hidden & ~before.hidden).any()


def test_what_is_blamed_gives_the_cell_away() -> None:
    """The cell follows from the cells named, by the least sum of factors; none are named where it does not follow."""
    kinds = set()
    for seed in range(40):
        random = np.random.default_rng(seed)
        shape = ((3, 4), (3, 3, 2))[seed % 2]
        matrix = dc.Table.of(random.integers(1, 9, shape), ["a", "b", "c"][: len(shape)]).matrix
        dense = matrix.toarray().astype(float)
        cell = int(random.integers(dense.shape[1]))
        published = np.setdiff1d(np.flatnonzero(random.random(dense.shape[1]) < 0.7), [cell])
        guilty = blame(matrix, cell, published, 60.0)
        shown = dense[:, published]
        least = linprog(np.ones(2 * len(published)), A_eq=np.hstack([shown, -shown]), b_eq=dense[:, cell])
        kinds.add(follows := least.status == 0)
        assert (len(guilty) > 0) == follows
        assert np.isin(guilty, published).all()
        if follows:
            factors, *_ = np.linalg.lstsq(dense[:, guilty], dense[:, cell], rcond=None)
            np.testing.assert_allclose(dense[:, guilty] @ factors, dense[:, cell], atol=1e-9)
            assert np.abs(factors).sum() == pytest.approx(least.fun)
    assert kinds == {True, False}


def test_nobody_is_blamed_when_the_time_is_up() -> None:
    """A refusal is given all the same."""
    matrix = dc.Table.of(np.arange(12).reshape(3, 4), ["a", "b"]).matrix
    others = np.arange(1, matrix.shape[1])
    assert len(blame(matrix, 0, others, 60.0))
    with deadline.within(0):
        assert not len(blame(matrix, 0, others, 60.0))
