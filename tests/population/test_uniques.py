"""Closed forms of the literature: uniques, match probabilities, frequencies of frequencies."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from discreet.datasets.printed import RELIGION
from discreet.errors import InputError
from discreet.population import (
    Dirichlet,
    Multinomial,
    NegativeBinomial,
    Poisson,
    PoissonGamma,
    PoissonLogNormal,
    bethlehem_uniques,
    elamir_skinner_theta,
    entropy_from_frequencies,
    expectation,
    expected_xlogx,
    log_probability,
    loglinear,
    negative_binomial_frequencies,
    poisson_frequencies,
    takemura_uniques,
)
from tests.population.models import SAMPLE, N


def test_poisson_uniqueness_and_match_probability() -> None:
    """(2.3.7): P(F=1|f=1) = exp(-(1-p) lambda); E(1/F|f=1) = (1 - exp(-r))/r with r = (1-p) lambda."""
    estimate = Poisson().fit(SAMPLE, N)
    ones = np.flatnonzero(SAMPLE.ravel() == 1)
    r = estimate.a[ones]
    assert np.allclose(np.exp(log_probability(estimate, np.zeros(len(ones), int), ones)), np.exp(-r))
    assert np.allclose(expectation(estimate, np.reciprocal, ones), (1 - np.exp(-r)) / r)


def test_elamir_and_skinner_formula() -> None:
    """E(1/F | f=1) of the Poisson-gamma model is the printed expression, section 2.3.2.2.2 of Ant16."""
    estimate = PoissonGamma("main").fit(SAMPLE, N)
    ones = np.flatnonzero(SAMPLE.ravel() == 1)
    means = loglinear(SAMPLE).expected.ravel()[ones]
    found = elamir_skinner_theta(means, estimate.fitted["nu"], SAMPLE.sum() / N)
    assert np.allclose(expectation(estimate, np.reciprocal, ones), found, rtol=1e-9)


def test_log_normal_uniqueness_by_quadrature() -> None:
    """(2.3.6), the ratio of two integrals over lambda, by adaptive quadrature."""
    from scipy.integrate import quad

    estimate = PoissonLogNormal().fit(SAMPLE, N)
    p, sigma = SAMPLE.sum() / N, estimate.fitted["sigma"]
    cell = int(np.flatnonzero(SAMPLE.ravel() == 1)[0])
    eta = math.log(loglinear(SAMPLE).expected.ravel()[cell] / p) - sigma**2 / 2

    def integral(rate: float) -> float:
        def inside(t: float) -> float:
            return math.exp(t - rate * math.exp(t) - (t - eta) ** 2 / (2 * sigma**2))

        return float(quad(inside, eta - 12 * sigma, eta + 12 * sigma, epsabs=0, epsrel=1e-11, limit=400)[0])

    ours = math.exp(float(log_probability(estimate, np.array(0), np.array(cell))))
    assert ours == pytest.approx(integral(1.0) / integral(p), rel=1e-7)


def test_series_of_f_log_f() -> None:
    """Section 4.4.1 of Ant16 against a sum of 3000 terms."""
    s = np.arange(3000.0)
    for r, rate in ((0, 0.3), (4, 17.0), (2, 900.0)):
        p = stats.poisson.pmf(s, rate)
        assert expected_xlogx(np.array(r), np.array(rate)) == pytest.approx(
            float((p * np.where(s + r > 0, (s + r) * np.log(np.maximum(s + r, 1)), 0)).sum()), rel=1e-12
        )


def test_frequencies_of_frequencies() -> None:
    """(4.5.2) and (4.5.3) add up to the cells and the units; (4.5.1) is the entropy."""
    numbers = negative_binomial_frequencies(90, 27.2, 0.02, 40_000)
    assert numbers.sum() == pytest.approx(90)
    assert (numbers * np.arange(40_001)).sum() == pytest.approx(90 * 27.2)
    assert numbers == pytest.approx(90 * stats.nbinom.pmf(np.arange(40_001), 27.2 * 0.02, 0.02 / 1.02))
    rates = np.array([0.5, 3.0, 9.0])
    assert poisson_frequencies(rates, 60) @ np.arange(61) == pytest.approx(12.5)
    table = RELIGION.ravel()
    assert entropy_from_frequencies(np.bincount(table)) == pytest.approx(stats.entropy(table))
    with pytest.raises(InputError):
        entropy_from_frequencies([3])


def test_uniques_of_bethlehem_and_takemura() -> None:
    """The printed expectations against the distributions they come from."""
    alpha, beta, units = 0.02, 5.0, 300  # K = 1/(alpha beta) = 10 cells, gamma shape alpha N and scale beta
    exact = 10 * stats.nbinom.pmf(1, alpha * units, 1 / (1 + beta))
    assert bethlehem_uniques(units, alpha, beta) == pytest.approx(exact)
    a = np.array([0.5, 1.5, 3.0])
    assert np.allclose(takemura_uniques(a, 20), [stats.betabinom.pmf(1, 20, x, a.sum() - x) for x in a])
    with pytest.raises(InputError):
        takemura_uniques([1.0], 5)


def test_likelihoods_are_maximal() -> None:
    """nu and A cannot be moved to a higher likelihood of the sample."""
    counts = np.array([0, 0, 1, 3, 6, 2, 0, 11])
    gamma, dirichlet = PoissonGamma().fit(counts, 230), Dirichlet().fit(counts, 230)
    f, mean = counts, counts.mean()
    for factor in (0.9, 1.1):
        nu = gamma.fitted["nu"] * factor
        assert stats.nbinom.logpmf(f, nu, nu / (nu + mean)).sum() < gamma.log_likelihood
        a = np.full(8, dirichlet.fitted["A"] * factor / 8)
        other = stats.dirichlet_multinomial.logpmf(f, a, f.sum()) + stats.poisson.logpmf(f.sum(), f.sum())
        assert other < dirichlet.log_likelihood
    assert stats.poisson.logpmf(f, mean).sum() == pytest.approx(Multinomial(()).fit(counts, 230).log_likelihood)


def test_counts_without_overdispersion_are_noted() -> None:
    """Models of overdispersion fall back to equal rates, and say so."""
    flat = np.full((3, 3), 4)
    for model in (NegativeBinomial(), PoissonGamma(), PoissonLogNormal()):
        estimate = model.fit(flat, 360)
        assert "no more than" in estimate.notes[0]
        assert np.allclose(estimate.mean, 40, rtol=0.01)
