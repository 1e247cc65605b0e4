"""Barnardisation: by one at most, unbiased, zeros stay."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.methods.perturb.noise import moments
from tests.strategies import tables


@given(tables(9), st.floats(0, 1), st.integers(0, 9))
def test_by_one_at_most(table: dc.Table, p: float, seed: int) -> None:
    """Zeros stay, nothing turns negative, the bounds hold the truth."""
    if (table.count < 0).any():
        return
    made = dc.protect(table, dc.Barnard(p, seed=seed))
    shown = made.published["count"]
    assert (np.abs(shown - table.count) <= 1).all()
    assert (shown[table.count == 0] == 0).all()
    assert (made.room.lower <= table.count).all()
    assert (made.room.upper >= table.count).all()


def test_unbiased_and_as_often_as_said() -> None:
    """Exactly by the matrix, and by draws."""
    mean, variance = moments(np.arange(9), dc.Barnard(0.7).transition())
    assert np.abs(mean).max() < 1e-12
    assert variance[1:].tolist() == pytest.approx([0.3] * 8)
    table = dc.Table.of(np.full((60, 60), 5), ["a", "b"])
    change = dc.Barnard(0.7, seed=1)(table).published["count"] - table.count
    assert abs((change == 0).mean() - 0.7) < 0.04
    assert abs(change.mean()) < 0.04
    with pytest.raises(dc.InputError, match="p="):
        dc.Barnard(1.2)
