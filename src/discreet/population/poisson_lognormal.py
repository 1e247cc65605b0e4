"""Poisson cells with log-normal rates around a log-linear model (Skinner and Holmes 1993, 1998)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.base.arguments import checked
from discreet.information import Floats
from discreet.population.estimate import Estimate
from discreet.population.loglinear import Terms
from discreet.population.multinomial import cell_means, notes
from discreet.population.sample import Population, as_sample

NODES = 48
"""Points of the trapezoidal rule for log λ given f; it spans all but exp(-DROP) of the density's height, where the
rule's error is far below 1e-12 for so smooth a function."""
DROP = 36.0


@checked
@dataclass(frozen=True)
class PoissonLogNormal:
    r"""Rates with :math:`\log \lambda_i = x_i^T \beta + \varepsilon_i`, ε normal with variance σ².

    .. math:: \hat\sigma^2 = \log \frac{\sum_i (f_i^2 - f_i)/\hat\mu_i^2}{\sum_i f_i/\hat\mu_i}, \qquad
              x_i^T \hat\beta = \log \frac{\hat\mu_i}{p \exp(\hat\sigma^2/2)}

    Equation (4.5.4) of [Ant16]_ and what follows it. Given f_i, log λ_i has the density proportional to
    :math:`\lambda^{f_i} e^{-p\lambda}` times the normal one, taken at NODES points; F_i - f_i is then Poisson.

    >>> round(PoissonLogNormal(()).fit([0, 0, 1, 3, 6, 2], 120).fitted["sigma"], 3)
    0.678
    """

    terms: Terms = "main"

    def fit(self, counts: Any, population: Population | None = None, **known: Any) -> Estimate:
        """The population given a sample of it; ``known`` as in :func:`read_sample`.

        >>> PoissonLogNormal("main").fit([[9, 1, 0], [4, 2, 2], [3, 0, 1]], 440)
        <PoissonLogNormal(terms='main'): 9 cells, n 22 of 440, sigma 0.001>
        """
        sample = as_sample(counts, population, known)
        model = sample.model(self.terms)
        means, f, said = cell_means(sample, model), sample.counts.astype(np.float64), notes(model)
        reached = means > 0
        m, x = means[reached], f[reached]
        variance = float(np.log(max(((x * x - x) / m**2).sum(), 1e-300) / (x / m).sum()))
        if variance <= 1e-6:
            variance = 1e-6
            said += ("the counts vary no more than the model's Poisson ones: the log-normal part adds nothing",)
        p = sample.fraction
        centre = np.log(np.where(reached, means, 1e-300) / p) - variance / 2
        points, mass, normaliser = _posterior(f, centre, variance, p)
        cumulated = np.cumsum(mass, axis=1)
        return Estimate(
            repr(self),
            sample,
            "nodes",
            means,
            nodes=np.where(reached[:, None], np.exp(points) * (1.0 - p)[:, None], 0.0),
            node_mass=cumulated / cumulated[:, -1:],
            fitted={"sigma": float(np.sqrt(variance))},
            likelihood=float(normaliser[reached].sum()),
            base=model,
            more=1,
            notes=said,
        )


def _posterior(f: Floats, centre: Floats, variance: float, p: Floats) -> tuple[Floats, Floats, Floats]:
    """Nodes log λ, their probabilities given f, and log P(f); one row a cell."""
    from scipy.special import gammaln

    def height(t: Floats) -> Floats:
        out: Floats = f * t - p * np.exp(np.minimum(t, 700.0)) - (t - centre) ** 2 / (2 * variance)
        return out

    mode = _mode(f, centre, variance, p)
    low = mode - _reach(lambda d: height(mode) - height(mode - d), len(f))
    high = mode + _reach(lambda d: height(mode) - height(mode + d), len(f))
    points = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, NODES)
    logs = f[:, None] * points - p[:, None] * np.exp(points) - (points - centre[:, None]) ** 2 / (2 * variance)
    top = logs.max(axis=1, keepdims=True)
    mass = np.exp(logs - top)
    total = mass.sum(axis=1, keepdims=True)
    step = (high - low) / (NODES - 1)
    normaliser = np.log(total[:, 0] * step) + top[:, 0] - 0.5 * np.log(2 * np.pi * variance)
    return points, mass / total, normaliser + f * np.log(p) - gammaln(f + 1)


def _mode(f: Floats, centre: Floats, variance: float, p: Floats) -> Floats:
    """Where f - p e^t - (t - centre)/σ² is 0: the slope falls with t, so bisection cannot miss."""
    low = np.minimum(centre, np.log(np.maximum(f, 1e-12) / p)) - 1.0 - 30.0 * np.sqrt(variance)
    high = centre + variance * f + 1.0
    for _ in range(80):
        t = 0.5 * (low + high)
        rising = f - p * np.exp(np.minimum(t, 700.0)) - (t - centre) / variance > 0
        low, high = np.where(rising, t, low), np.where(rising, high, t)
    return np.asarray(0.5 * (low + high))


def _reach(drop: Callable[[Floats], Floats], cells: int) -> Floats:
    """The distance from the mode at which the log density has dropped by DROP."""
    low, high = np.zeros(cells), np.full(cells, 1e-6)
    while np.any(short := drop(high) < DROP):
        low, high = np.where(short, high, low), np.where(short, 2 * high, high)
    for _ in range(40):
        middle = 0.5 * (low + high)
        short = drop(middle) < DROP
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return high
