"""Expectations over a transition matrix: against enumeration, against draws."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.information import hellinger
from discreet.methods.perturb.noise import expected_hellinger, moments
from discreet.risk import Transition

MATRICES = [Transition.rounding(3), dc.CellKey(d=2, v=1).transition(), dc.Barnard(0.6).transition()]


@settings(max_examples=40)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=4).filter(any), st.integers(0, 2))
def test_expected_hellinger_is_the_mean_over_all_tables(counts: list[int], which: int) -> None:
    """Enumerated for up to four cells, to nine digits."""
    transition = MATRICES[which]
    mean = 0.0
    for choice in itertools.product(*[transition.outcomes(c) for c in counts]):
        p = math.prod(q for _, q in choice)
        gap = sum((math.sqrt(j) - math.sqrt(c)) ** 2 for (j, _), c in zip(choice, counts, strict=True))
        mean += p * math.sqrt(gap / 2)
    assert expected_hellinger(counts, transition) == pytest.approx(mean, rel=1e-9, abs=1e-12)


def test_large_tables_agree_with_draws() -> None:
    """JOS15-sized counts, where nothing can be enumerated."""
    rng = np.random.default_rng(1)
    counts = rng.negative_binomial(0.4, 0.03, 3000)
    drawn = [float(hellinger(counts, MATRICES[1].sample(counts, rng), counts=True)) for _ in range(60)]
    assert abs(expected_hellinger(counts, MATRICES[1]) - np.mean(drawn)) < 4.5 * np.std(drawn) / np.sqrt(60)


def test_pictures_of_noise() -> None:
    """Bars for a matrix, dots for a table; axes are handed through."""
    ax = dc.plot.noise(MATRICES[1], (1, 2, 50), title="cell keys")
    assert len(ax.containers) == 3
    assert dc.plot.changes([1, 2, 3], [0, 3, 3], ax=ax) is ax
    assert len(dc.plot.png(ax, dpi=50)) < 40_000


def test_moments_are_those_of_the_rows() -> None:
    """In the shape of the counts; no noise, no distance."""
    mean, variance = moments([[0, 1], [2, 50]], MATRICES[2])
    assert mean.shape == (2, 2)
    assert variance == pytest.approx(np.array([[0, 0.4], [0.4, 0.4]]))
    assert expected_hellinger([3, 6], Transition.rounding(3)) == 0
