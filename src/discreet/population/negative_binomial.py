"""Negative binomial counts and the frequencies of frequencies they imply ([Ant16]_ section 4.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.base.arguments import checked
from discreet.errors import InputError
from discreet.information import Array, Floats, read_values, xlogx
from discreet.population.estimate import Estimate
from discreet.population.sample import Population, SampleCounts, as_sample

_ALIKE = 1e5
"""theta_2 where the counts are no more dispersed than Poisson: the rates of the cells are then all but equal."""


@checked
@dataclass(frozen=True)
class NegativeBinomial:
    r"""Rates λ_i are gamma with mean θ₁ and variance θ₁/θ₂, alike for all cells of a stratum; moments of the sample.

    .. math:: \hat\theta_1 = \hat\mu_1/p, \quad \hat\theta_2 = p\,\hat\mu_1/(\hat\mu_2 - \hat\mu_1^2), \quad
              \hat\mu_1 = n/K, \quad \hat\mu_2 = \tfrac1K \sum f_i (f_i - 1)

    Skinner and Shlomo (2012), section 4.5.1 of [Ant16]_. Given f_i, the rate is gamma with shape θ₁θ₂ + f_i and
    F_i - f_i Poisson with mean (1 - p) λ_i, so the sum is N only in the mean. Weights are not used.

    >>> estimate = NegativeBinomial().fit([0, 0, 1, 3, 6, 2], 120)
    >>> round(estimate.fitted["theta 1"], 3), round(estimate.fitted["theta 2"], 4)
    (20.0, 0.0857)
    """

    def fit(self, counts: Any, population: Population | None = None, **known: Any) -> Estimate:
        """The population given a sample of it; ``known`` as in :func:`read_sample`.

        >>> NegativeBinomial().fit([0, 0, 1, 3, 6, 2, 0, 9], 210)
        <NegativeBinomial(): 8 cells, n 21 of 210, theta 1 26.25, theta 2 0.03827>
        """
        sample = as_sample(counts, population, known)
        pairs = [_moments(sample, h) for h in range(len(sample.totals))]
        one, two = (np.array([pair[k] for pair in pairs])[sample.stratum] for k in (0, 1))
        said: tuple[str, ...] = ()
        if np.any(two >= _ALIKE):
            said = ("the counts vary no more than Poisson ones: all cells get the same rate; use a log-linear model",)
        p, shape = sample.fraction, one * two
        likelihood = float(_log_pmf(sample.counts, shape, p / two).sum())
        return Estimate(
            repr(self),
            sample,
            "gamma",
            shape + sample.counts,
            (1.0 - p) / (two + p),
            fitted={"theta 1": float(one.mean()), "theta 2": float(two.mean())},
            likelihood=likelihood,
            more=2 * len(sample.totals),
            notes=said,
        )


def _moments(sample: SampleCounts, h: int) -> tuple[float, float]:
    f = sample.counts[sample.edges[h] : sample.edges[h + 1]].astype(np.float64)
    p = float(sample.sizes[h] / sample.totals[h])
    first, second = f.mean(), (f * (f - 1)).mean()
    beyond = second - first**2
    return first / p, p * first / beyond if beyond > p * first / _ALIKE else _ALIKE


def _log_pmf(x: Array, shape: Floats, scale: Floats) -> Floats:
    from scipy.special import gammaln, xlogy

    out: Floats = gammaln(shape + x) - gammaln(shape) - gammaln(x + 1) + xlogy(x, scale) - (shape + x) * np.log1p(scale)
    return out


@checked
def negative_binomial_frequencies(cells: int, theta_1: float, theta_2: float, most: int) -> Floats:
    r"""Expected numbers of cells with 0, 1, ..., ``most`` units, before the sample is looked at.

    .. math:: \hat N_r = K \frac{\Gamma(r + \theta_1\theta_2)\, \theta_2^{\theta_1\theta_2}}
              {r!\, \Gamma(\theta_1\theta_2) (1 + \theta_2)^{r + \theta_1\theta_2}}

    Equation (4.5.2) of [Ant16]_.

    >>> negative_binomial_frequencies(100, 2.0, 0.5, 3).round(3)
    array([33.333, 22.222, 14.815,  9.877])
    """
    r = np.arange(most + 1)
    out: Floats = cells * np.exp(_log_pmf(r, np.array(theta_1 * theta_2), np.array(1.0 / theta_2)))
    return out


@checked
def poisson_frequencies(rates: Any, most: int) -> Floats:
    r"""Expected numbers of cells with 0, 1, ..., ``most`` units when cell i is Poisson with mean λ_i.

    .. math:: \hat N_s = \sum_i e^{-\lambda_i} \lambda_i^s / s!

    Equation (4.5.3) of [Ant16]_, which sums (2.3.8) over the sample counts.

    >>> poisson_frequencies([0.0, 1.0], 2).round(4)
    array([1.3679, 0.3679, 0.1839])
    """
    from scipy.special import gammaln, xlogy

    rate = read_values(rates, "rates").ravel()[:, None]
    s = np.arange(most + 1)
    out: Floats = np.exp(xlogy(s, rate) - rate - gammaln(s + 1)).sum(axis=0)
    return out


@checked
def entropy_from_frequencies(frequencies: Any) -> float:
    r"""H(X) from the numbers N_r of cells that hold r = 0, 1, 2, ... units; they need not be whole.

    .. math:: H(X) = - \sum_r N_r \frac{r}{N} \log \frac{r}{N}, \qquad N = \sum_r r N_r

    Equation (4.5.1) of [Ant16]_.

    >>> round(entropy_from_frequencies([1, 0, 1, 0, 1]), 4)  # the table 0, 2, 4
    0.6365
    """
    numbers = read_values(frequencies, "frequencies").ravel()
    r = np.arange(numbers.size, dtype=np.float64)
    total = float(r @ numbers)
    if total <= 0:
        raise InputError("the frequencies hold nobody: give the numbers of cells with 0, 1, 2, ... units")
    return float(np.log(total) - numbers @ xlogx(r) / total)
