"""Populations given a sample: fitted models, draws and single cells, law by law."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from discreet.errors import InputError
from discreet.information import xlogx
from discreet.population import (
    Estimate,
    Polya,
    expectation,
    log_probability,
    polya_theta,
    read_sample,
)
from tests.population.models import SAMPLE, N, every, exact

# -- draws -----------------------------------------------------------------------------------------------------------


@every
def test_draws_hold_the_sample_and_add_up(model: Any) -> None:
    """F >= f always; the sum is N where it is fixed, else in the mean."""
    estimate = model.fit(SAMPLE, N)
    F = estimate.draw(4000, seed=1)
    assert F.shape == (4000, 3, 4)
    assert np.all(SAMPLE <= F)
    totals = F.sum(axis=(1, 2))
    if estimate.fixed_total:
        assert np.all(totals == N)
    else:
        assert abs(totals.mean() - estimate.mean.sum()) < 5 * totals.std() / math.sqrt(4000)


@exact
def test_draws_have_the_cells_distribution(model: Any) -> None:
    """Means, chances of 0 and 1, and E(F log F) of drawn cells are the computed ones, to 5 standard errors."""
    estimate = model.fit(SAMPLE, N)
    M = 20_000
    F = estimate.draw(M, seed=2).reshape(M, -1)
    every_cell = np.arange(12)
    f = SAMPLE.ravel()
    for count in (0, 1, 5):
        p = np.exp(log_probability(estimate, count - f, every_cell))
        assert np.all(np.abs(np.equal(F, count).mean(0) - p) <= 5 * np.sqrt(p * (1 - p) / M) + 5e-4)
    for g in (np.positive, xlogx):
        drawn = g(F.astype(float))
        gap = np.abs(drawn.mean(0) - expectation(estimate, g))
        assert np.all(gap <= 5 * drawn.std(0) / math.sqrt(M) + 1e-9)
    assert np.allclose(expectation(estimate, lambda x: x), estimate.mean.ravel(), rtol=2e-6, atol=1e-9)


def test_an_urn_that_runs_out_of_empty_cells() -> None:
    """The chance that a cell stays empty is exact even then, as it is when theta is larger than the sample."""
    for theta in (1.0, 3.0, 40.0):
        estimate = Polya(theta=theta).fit(SAMPLE, 90)
        zero = (estimate.draw(40_000, seed=3) == 0).reshape(40_000, -1).mean(0)
        p = np.exp(log_probability(estimate, -SAMPLE.ravel(), np.arange(12)))
        assert np.all(np.abs(zero - p) <= 5 * np.sqrt(p * (1 - p) / 40_000) + 1e-4)


@every
def test_probabilities_sum_to_one(model: Any) -> None:
    """Every cell's distribution is one."""
    estimate = model.fit(SAMPLE, N)
    x = np.arange(6000)
    for cell in range(12):
        assert np.exp(log_probability(estimate, x, np.array(cell))).sum() == pytest.approx(1, abs=1e-9)


def test_draws_are_the_seeds() -> None:
    """Equal seeds, equal populations; the first draws do not depend on how many follow."""
    estimate = Polya().fit(SAMPLE, N)
    many = estimate.draw(50, seed=3)
    assert np.array_equal(many[:7], estimate.draw(7, seed=3))
    assert not np.array_equal(many, estimate.draw(50, seed=4))


def test_multinomial_draws_against_exact_probabilities() -> None:
    """All 28 tables of 6 units more in 3 cells come up as often as they should (chi-square, p > 0.001)."""
    estimate = Estimate("given", read_sample([1, 1, 1], 9), "multinomial", np.array([0.2, 0.5, 0.3]))
    M = 60_000
    F = estimate.draw(M, seed=5) - 1
    outcomes = [c for c in itertools.product(range(7), repeat=3) if sum(c) == 6]
    expected = np.array([stats.multinomial.pmf(c, 6, [0.2, 0.5, 0.3]) for c in outcomes]) * M
    seen = np.array([np.equal(F, c).all(axis=1).sum() for c in outcomes])
    assert stats.chisquare(seen, expected).pvalue > 0.001


def test_multinomial_of_many_units_by_binomials_and_by_tables() -> None:
    """Both ways to draw a multinomial have its variances: small tables use alias tables, huge counts do not."""
    for left in (900, 3 * 10**9):
        estimate = Estimate("given", read_sample([1, 1, 1, 0], left + 3), "multinomial", np.array([0.6, 0.1, 0.3, 0.0]))
        F = estimate.draw(20_000, seed=6) - [1, 1, 1, 0]
        p = np.array([0.6, 0.1, 0.3])
        assert np.all(F[:, 3] == 0)
        assert np.all(np.abs(F[:, :3].mean(0) - left * p) < 5 * np.sqrt(left * p * (1 - p) / 20_000))
        assert np.allclose(F[:, :3].var(0), left * p * (1 - p), rtol=0.06)
        assert np.corrcoef(F[:, 0], F[:, 2])[0, 1] == pytest.approx(-math.sqrt(0.6 * 0.3 / (0.4 * 0.7)), abs=0.02)


def by_hand(f: list[int], theta: float, draws: int) -> dict[tuple[int, ...], float]:
    """Pólya's urn by enumeration: the distribution of (old counts..., sorted new colours) after so many draws."""
    empty = f.count(0)
    state: dict[tuple[tuple[int, ...], tuple[int, ...]], float] = {(tuple(c for c in f if c), ()): 1.0}
    for _ in range(draws):
        after: dict[tuple[tuple[int, ...], tuple[int, ...]], float] = {}
        for (old, new), p in state.items():
            room = theta if len(new) < empty else 0.0
            total = sum(old) + sum(new) + room
            moves = [(c / total, (tuple(x + (i == j) for j, x in enumerate(old)), new)) for i, c in enumerate(old)]
            moves += [
                (c / total, (old, tuple(sorted(x + (i == j) for j, x in enumerate(new))))) for i, c in enumerate(new)
            ]
            if room:
                moves.append((room / total, (old, tuple(sorted((*new, 1))))))
            for q, key in moves:
                after[key] = after.get(key, 0.0) + p * q
        state = after
    return {(*old, -1, *new): p for (old, new), p in state.items()}


@pytest.mark.parametrize(("theta", "draws"), [(0.7, 5), (6.0, 5), (0.7, 7), (3.0, 8)])
def test_polya_against_the_urn_by_hand(theta: float, draws: int) -> None:
    """Every outcome of a small urn, one that runs out of empty cells included, has its probability (chi-square).

    From 7 draws on the urn is cut by bars instead of gamma variables.
    """
    f = [2, 0, 1, 0]
    exact = by_hand(f, theta, draws)
    M = 60_000
    seen: dict[tuple[int, ...], int] = {}
    for row in Polya(theta=theta).fit(f, 3 + draws).draw(M, seed=8).tolist():
        key = (row[0], row[2], -1, *sorted(x for x in (row[1], row[3]) if x))
        seen[key] = seen.get(key, 0) + 1
    assert set(seen) <= set(exact)
    expected = np.array([p * M for p in exact.values()])
    counted = np.array([seen.get(key, 0) for key in exact])
    kept = expected > 5
    assert ((counted - expected)[kept] ** 2 / expected[kept]).sum() < stats.chi2.isf(0.001, kept.sum())


@given(st.floats(0.01, 0.98), st.integers(1, 500), st.integers(1, 5000))
@settings(max_examples=60, deadline=None)
def test_theta_solves_equation_5(share: float, n: int, left: int) -> None:
    """The expected number of new colours is the one asked for."""
    theta = polya_theta(share * left, n, n + left)
    assert sum(theta / (n + theta + z) for z in range(left)) == pytest.approx(share * left, rel=1e-6)


def test_theta_at_the_edges() -> None:
    """Nothing to open is no black ball; more than can be opened is an error."""
    assert polya_theta(0, 5, 50) == 0
    with pytest.raises(InputError, match="no number of black balls"):
        polya_theta(45, 5, 50)
    with pytest.raises(InputError, match="more empty cells"):
        Polya(zeros=9).fit(SAMPLE, N)
    with pytest.raises(InputError, match="units not sampled"):
        Polya(zeros=0).fit(SAMPLE, SAMPLE.sum() + 2)
    nearly = Polya().fit(np.diag([10] * 10), 101)
    assert "theta was cut" in nearly.notes[-1]
    assert np.all(nearly.draw(50, seed=1).sum(axis=(1, 2)) == 101)
