"""Guesses of the true table from what is shown: possible, near, and sparse where it is sparse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.policy.posterior import guesses


@given(st.lists(st.integers(0, 400), min_size=1, max_size=30), st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_guesses_could_have_been_shown_like_this(counts: list[int], base: int, seed: int) -> None:
    """Every guessed count is one that the method moves to the shown one."""
    transition = dc.Transition.rounding(base)
    rng = np.random.default_rng(seed)
    shown = transition.sample(np.array(counts), rng)
    for was in guesses(shown, transition, rng, 3):
        assert all(g in dict(transition.outcomes(int(w))) for w, g in zip(was, shown, strict=True))


@pytest.mark.parametrize(
    "table", [dc.datasets.psd14_travel(), dc.datasets.psd14_religion()], ids=["travel", "religion"]
)
def test_expected_figures_are_near_the_true_ones(table: dc.Table) -> None:
    """Risk and utility guessed from the rounded table alone, beside those that know the truth."""
    rng = np.random.default_rng(7)
    transition = dc.Transition.rounding(3)
    true = table.array()
    shown = transition.sample(true, rng)
    was = guesses(shown, transition, rng, 200)
    now = np.broadcast_to(shown, was.shape)
    assert np.mean(dc.r2(was, now, axis=(1, 2)).value) == pytest.approx(dc.r2(true, shown).value, abs=0.02)
    assert np.mean(dc.r1(was, axis=(1, 2)).value) == pytest.approx(dc.r1(true).value, abs=0.03)
    mean = np.mean([dc.compare(w, shown).utility for w in was])
    assert mean == pytest.approx(dc.compare(true, shown).utility, abs=0.01)


def test_sparse_tables_are_believed_to_be_sparse() -> None:
    """With nothing but zeros and large counts shown, a zero is taken for a zero."""
    shown = np.array([0] * 900 + [300] * 100)
    was = guesses(shown, dc.Transition.rounding(3), np.random.default_rng(1), 20)
    assert (was[:, :900] == 0).mean() > 0.95
