"""Ant16 sections 2.3.2.2.2 and 4.3 to 4.6: populations behind a sample, by formula, quadrature and simulation."""

from __future__ import annotations

import itertools
import math
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import discreet as dc
from discreet import population, risk
from tests.papers import own

F = np.array([[0, 0, 1, 9], [12, 2, 1, 0], [1, 8, 0, 15]])


def quiet(model: Any, counts: Any, n: Any, **known: Any) -> population.Estimate:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dc.DiscreetWarning)
        estimate: population.Estimate = model.fit(counts, n, **known)
        return estimate


def test_bethlehem() -> None:
    """K cells, gamma rates with mean N/K: K Pr(F = 1), the probability by quadrature."""
    for n, alpha, beta in ((100, 0.05, 2.0), (500, 0.01, 3.0)):
        cells = 1 / (alpha * beta)
        rate = stats.gamma(alpha * n, scale=beta)
        one = integrate.quad(lambda x, rate=rate: x * math.exp(-x) * rate.pdf(x), 0, np.inf)[0]
        assert population.bethlehem_uniques(n, alpha, beta) == pytest.approx(cells * one, rel=1e-6)


def test_takemura() -> None:
    """Dirichlet-multinomial: Pr(F_i = 1) is beta-binomial; expected uniques are their sum."""
    alpha, n = np.array([0.3, 1.2, 4.0, 0.05]), 40
    expected = [stats.betabinom(n, a, alpha.sum() - a).pmf(1) for a in alpha]
    assert np.allclose(population.takemura_uniques(alpha, n), expected)
    assert population.takemura_uniques(alpha, n).sum() == pytest.approx(sum(expected))
    drawn = np.random.default_rng(1).dirichlet(alpha, 4000)
    counts = np.array([np.random.default_rng(k).multinomial(n, p) for k, p in enumerate(drawn)])
    assert np.allclose((counts == 1).mean(axis=0), expected, atol=0.03)


def test_poisson_sampling() -> None:
    """(2.3.1), (2.3.4): F - f given f is Poisson with mean (1-p) λ; λ from independence, p = n/N."""
    found = quiet(population.Poisson("main"), F, 250)
    n = F.sum()
    fitted = np.outer(F.sum(axis=1), F.sum(axis=0)) / n
    rate = (250 - n) * fitted / n
    assert np.allclose(found.mean, F + rate)
    drawn = found.draw(3000, seed=2) - F
    assert np.allclose(drawn.mean(axis=0), rate, atol=5 * np.sqrt(rate / 3000) + 0.05)
    assert np.allclose(drawn.var(axis=0), rate, rtol=0.2)


def test_skinner_holmes_uniqueness_of_a_person() -> None:
    """P_1 / sum of j P_j with every P_j by quadrature and summed; log-normal, gamma and uniform rates."""
    for rate in (stats.lognorm(0.8, scale=1.5), stats.gamma(1.3, scale=2.0), stats.uniform(0.5, 4)):
        low, high = rate.ppf(1e-13), rate.ppf(1 - 1e-13)
        x = np.exp(np.linspace(math.log(max(low, 1e-9)), math.log(high), 20_001))
        p = [np.trapezoid(stats.poisson.pmf(j, x) * rate.pdf(x), x) for j in range(150)]
        expected = p[1] / sum(j * q for j, q in enumerate(p))
        assert population.skinner_holmes_unique(rate) == pytest.approx(expected, rel=2e-4)
    with pytest.raises(dc.InputError):
        population.skinner_holmes_unique(lambda x: np.exp(-x) / 2)


def test_uniqueness_given_sample_uniqueness_log_normal() -> None:
    """(2.3.6): the quotient of two integrals, for every cell with one in the sample."""
    found = quiet(population.PoissonLogNormal("main"), F, 250)
    sigma, p = found.fitted["sigma"], F.sum() / 250
    mean = np.outer(F.sum(axis=1), F.sum(axis=0)) / F.sum()
    unique = np.asarray(risk.cell_measures(found)["unique"]).reshape(F.shape)
    for at in np.argwhere(F == 1):
        centre = math.log(mean[tuple(at)] / p) - sigma**2 / 2

        def height(u: float, share: float, centre: float = centre) -> float:
            return math.exp(u - share * math.exp(u) - (u - centre) ** 2 / (2 * sigma**2))

        high, low = (
            integrate.quad(height, centre - 12 * sigma, centre + 12 * sigma, (s,), limit=200)[0] for s in (1, p)
        )
        assert unique[tuple(at)] == pytest.approx(high / low, rel=1e-8)


def test_sigma_of_the_log_normal_model() -> None:
    """(4.5.4): σ² from the moments and x β from the fitted means."""
    found = quiet(population.PoissonLogNormal("main"), F, 250)
    mean = np.outer(F.sum(axis=1), F.sum(axis=0)) / F.sum()
    variance = math.log(((F**2 - F) / mean**2).sum() / (F / mean).sum())
    assert found.fitted["sigma"] == pytest.approx(math.sqrt(variance))


def test_uniqueness_given_sample_uniqueness_poisson() -> None:
    """(2.3.7): exp(-(1-p) μ/p), μ the fitted mean of the sample."""
    found = quiet(population.Poisson("main"), F, 250)
    p, mean = F.sum() / 250, np.outer(F.sum(axis=1), F.sum(axis=0)) / F.sum()
    assert np.allclose(
        np.asarray(risk.cell_measures(found)["unique"])[F.ravel() == 1], np.exp(-(1 - p) * mean / p)[F == 1]
    )


@pytest.mark.parametrize(("s", "r"), [(0, 0), (1, 0), (1, 1), (3, 1), (5, 5), (4, 2)])
def test_elamir_cells(s: int, r: int) -> None:
    """(2.3.8): by SciPy's Poisson for f and F - f; summed over r it is (4.5.3)."""
    rates, p = np.array([0.0, 0.3, 2.0, 7.5]), 0.2
    expected = np.sum(stats.poisson.pmf(r, p * rates) * stats.poisson.pmf(s - r, (1 - p) * rates))
    assert population.elamir_cells(rates, p, population=s, sample=r) == pytest.approx(expected)
    every = sum(population.elamir_cells(rates, p, population=s, sample=k) for k in range(s + 1))
    assert every == pytest.approx(population.poisson_frequencies(rates, s)[s])
    for wrong in ({"population": 1, "sample": 2}, {"population": 1, "sample": -1}):
        with pytest.raises(dc.InputError):
            population.elamir_cells(rates, p, **wrong)


def test_theta_of_elamir_and_skinner() -> None:
    """(2.3.9), (2.3.10): E(1/F | f = 1) with gamma rates, by summing over F given f."""
    p, nu = 0.1, 2.5
    for mu in (0.4, 1.0, 3.0):
        shape, rate = nu + 1, nu / mu + 1  # of the sample's rate given f = 1
        scale = (1 - p) / p / rate  # F - 1 is negative binomial
        more = stats.nbinom(shape, 1 / (1 + scale))
        x = np.arange(20_000)
        expected = (more.pmf(x) / (1 + x)).sum()
        assert population.elamir_skinner_theta(np.array([mu]), nu, p)[0] == pytest.approx(expected, rel=1e-6)
    found = quiet(population.PoissonGamma("main"), F, 250)
    mean = np.outer(F.sum(axis=1), F.sum(axis=0)) / F.sum()
    theta = population.elamir_skinner_theta(mean[F == 1], found.fitted["nu"], F.sum() / 250)
    assert np.allclose(np.asarray(risk.cell_measures(found)["match"])[F.ravel() == 1], theta, rtol=1e-6)


# -- chapter 4 -------------------------------------------------------------------------------------------------------


def test_sampling_as_protection() -> None:
    """(4.3.1): R2(F, f), and the estimate of it that assess_sample gives lies near its mean over samples."""
    rng = np.random.default_rng(3)
    truth = rng.poisson(rng.gamma(0.8, 30, (6, 5)))
    sample = rng.multivariate_hypergeometric(truth.ravel(), truth.sum() // 5).reshape(truth.shape)
    parts = own.terms(truth, sample)
    assert dc.r2(truth, sample).value == pytest.approx(own.weighted(parts))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dc.DiscreetWarning)
        found = dc.assess_sample(sample, int(truth.sum()), seed=1)
    assert abs(found.value - own.weighted(parts)) < 0.05


def test_expected_x_log_x() -> None:
    """(4.4.1): E(F log F | f) with F - f Poisson, summed far enough."""
    for f, rate in itertools.product((0, 1, 5), (0.2, 3.0, 40.0)):
        x = np.arange(400)
        expected = (stats.poisson.pmf(x, rate) * own.plogp(f + x)).sum()
        assert population.expected_xlogx(np.array([f]), np.array([rate]))[0] == pytest.approx(expected, abs=1e-10)


def test_entropy_from_frequencies_of_frequencies() -> None:
    """(4.5.1): the entropy of a table needs only how many cells hold how many."""
    assert population.entropy_from_frequencies(np.bincount(F.ravel())) == pytest.approx(own.entropy(F))


def test_negative_binomial() -> None:
    """(4.5.2): N_r by SciPy; θ from the moments; posterior mean and variance of F by gamma-Poisson."""
    one, two = 3.0, 0.4
    law = stats.nbinom(one * two, two / (1 + two))
    assert np.allclose(population.negative_binomial_frequencies(50, one, two, 20), 50 * law.pmf(np.arange(21)))
    found = population.NegativeBinomial().fit(F, 250)
    f, p = F.ravel().astype(float), F.sum() / 250
    first, second = f.mean(), (f * (f - 1)).mean()
    theta = (first / p, p * first / (second - first**2))
    assert (found.fitted["theta 1"], found.fitted["theta 2"]) == pytest.approx(theta)
    shape, rate = theta[0] * theta[1] + f, theta[1] + p
    assert np.allclose(found.mean.ravel(), f + (1 - p) * shape / rate)
    drawn = found.draw(4000, seed=1).reshape(4000, -1)
    spread = (1 - p) * shape / rate * (1 + (1 - p) / rate)
    assert np.allclose(drawn.var(axis=0), spread, rtol=0.25)


def test_numbers_of_cells_from_rates() -> None:
    """(4.5.3): N_s as a sum of Poisson probabilities."""
    rates = np.array([0.0, 0.5, 2.0, 9.0])
    assert np.allclose(
        population.poisson_frequencies(rates, 15), [np.sum(stats.poisson.pmf(s, rates)) for s in range(16)]
    )


def test_log_linear_multinomial() -> None:
    """4.6.1: own iterative proportional fitting of two-way margins; draws have the mean and add up to N."""
    x = np.random.default_rng(4).poisson(3, (3, 3, 2)) + 1
    fit = np.ones(x.shape)
    for _ in range(500):
        for axis in range(3):
            fit *= x.sum(axis=axis, keepdims=True) / fit.sum(axis=axis, keepdims=True)
    assert np.allclose(population.loglinear(x, "two-way").probabilities, fit / x.sum(), atol=1e-7)
    found = quiet(population.Multinomial("two-way"), x, 1000)
    left = 1000 - x.sum()
    assert np.allclose(found.mean, x + left * fit / x.sum(), atol=1e-4)
    drawn = found.draw(2000, seed=3)
    assert (drawn.sum(axis=(1, 2, 3)) == 1000).all()
    assert np.allclose(drawn.mean(axis=0), found.mean, atol=5 * math.sqrt(left / 4 / 2000))
    margins = [((0,), [60.0, 40.0]), ((1,), [50.0, 50.0])]
    assert np.allclose(population.ipf(np.ones((2, 2)), margins).values, [[30, 30], [20, 20]])


def test_polya_urn_ball_by_ball() -> None:
    """4.6.2, UNECE15 section 5.2: an urn of our own; a black ball opens an empty cell; θ solves (5)."""
    f, n, theta = np.array([3, 1, 0, 0, 2]), 40, 1.5
    found = quiet(population.Polya((), theta=theta), f, n)
    rng, own_draws = np.random.default_rng(9), []
    for _ in range(2000):
        cells = f.copy()
        while cells.sum() < n:
            black = theta if (cells == 0).any() else 0.0
            if rng.random() * (cells.sum() + black) < black:
                cells[rng.choice(np.flatnonzero(cells == 0))] = 1
            else:
                cells[rng.choice(5, p=cells / cells.sum())] += 1
        own_draws.append(cells)
    opened = sum(2.0 / (6 + 2.0 + z - 1) for z in range(1, n - 6 + 1))
    assert population.polya_theta(opened, 6, n) == pytest.approx(2.0)
    ours, theirs = found.draw(2000, seed=1), np.array(own_draws)
    assert (ours.sum(axis=1) == n).all()
    assert np.allclose(ours.mean(axis=0), theirs.mean(axis=0), atol=0.8)
    assert np.allclose((ours == 0).mean(axis=0), (theirs == 0).mean(axis=0), atol=0.05)
    assert np.allclose(ours.std(axis=0), theirs.std(axis=0), rtol=0.12)


def test_strata_weights_and_structural_zeros() -> None:
    """4.6: each stratum keeps its N; sums of weights stand in for it; nothing appears where nothing can be."""
    counts = np.array([[12, 3], [7, 2]])
    drawn = quiet(population.Multinomial(), counts, [150, 225], strata=0).draw(50, seed=1)
    assert (drawn.sum(axis=2) == [150, 225]).all()
    weights = counts * np.array([[10.0], [25.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dc.DiscreetWarning)
        known = dc.assess_sample(counts, [150, 225], strata=0, design=weights)
        summed = dc.assess_sample(counts, "weights", strata=0, design=weights)
    assert known.value == summed.value
    hole = np.array([[False, False], [True, False]])
    empty = quiet(population.Multinomial(), [[12, 3], [0, 2]], 200, structural=hole).draw(50, seed=1)
    assert (empty[:, 1, 0] == 0).all()
    assert (empty.sum(axis=(1, 2)) == 200).all()
