"""Uniques and rare units before a sample is looked at: rates drawn from any density, and cells with F = s and f = r."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from discreet.base.arguments import checked
from discreet.errors import InputError
from discreet.information import Floats, read_values

_GRID = np.linspace(-30.0, 30.0, 240_001)
"""log λ of the trapezoidal rule: steps of 0.00025, from rates of 1e-13 to 1e13."""


@checked
def skinner_holmes_unique(density: Callable[[Floats], Any] | Any) -> float:
    r"""Probability that a person is a population unique when the rates of the cells have the density g.

    .. math:: \Pr(F = 1) = \frac{P_1}{\sum_j j P_j}, \qquad
              P_j = \int \frac{e^{-\lambda} \lambda^j}{j!} g(\lambda) d\lambda

    Skinner and Holmes (1998), section 2.3.2.2.2 of [Ant16]_. ``density`` is a function of an array of rates, or has
    ``pdf`` as a frozen distribution of SciPy does. The sum below is the mean rate.

    >>> from scipy.stats import gamma
    >>> round(skinner_holmes_unique(gamma(2.0)), 6)  # ∫ λ² e^(-2λ) dλ / 2 = 1/8
    0.125
    """
    g = getattr(density, "pdf", density)
    if not callable(g):
        raise InputError("density is a function from rates to their density, or has a method pdf")
    rate = np.exp(_GRID)
    height = np.asarray(g(rate), float)
    if height.shape != rate.shape or not np.isfinite(height).all() or (height < 0).any():
        raise InputError("the density gives one finite number of 0 or more for every rate")
    mass = height * rate * (_GRID[1] - _GRID[0])  # g(λ) dλ with λ = exp(u)
    if abs(mass.sum() - 1) > 1e-3:  # a density with jumps is that far out
        raise InputError("the density of the rates does not sum to 1 over rates from 1e-13 to 1e13")
    return float((mass * rate * np.exp(-rate)).sum() / (mass * rate).sum())


@checked
def elamir_cells(rates: Any, fraction: float, *, population: int, sample: int) -> float:
    r"""Expected number of cells with ``population`` units of which ``sample`` are in the sample.

    .. math:: \sum_i \frac{(p\lambda_i)^r [(1-p)\lambda_i]^{s-r} e^{-\lambda_i}}{r!\,(s-r)!}

    Elamir (2004), equation (2.3.8) of [Ant16]_: F Poisson with mean λ, f Poisson with mean pλ, F − f independent of f.

    >>> round(elamir_cells([1.0, 3.0], 0.5, population=2, sample=1), 4)
    0.204
    """
    from scipy.special import gammaln, xlogy

    rate = read_values(rates, "rates").ravel()
    if not 0 <= fraction <= 1:
        raise InputError(f"fraction={fraction}: give the share of the population in the sample, from 0 to 1")
    if sample < 0 or population < sample:
        raise InputError(
            f"sample={sample}, population={population}: give 0 or more, and no more than in the population"
        )
    seen, unseen = fraction * rate, (1 - fraction) * rate
    rest = population - sample
    log = xlogy(sample, seen) + xlogy(rest, unseen) - rate - gammaln(sample + 1) - gammaln(rest + 1)
    return float(np.exp(log).sum())
