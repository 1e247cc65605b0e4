"""Poisson cells with gamma rates around the means of a model (Bethlehem et al. 1990; Elamir and Skinner 2006)."""

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

_LEAST, _MOST = 1e-6, 1e5


@checked
@dataclass(frozen=True)
class PoissonGamma:
    r"""Rates λ_i are gamma with shape ν and the means of a log-linear model; ν by maximum likelihood.

    .. math:: f_i | \lambda_i \sim \mathrm{Po}(p \lambda_i), \quad F_i - f_i | \lambda_i \sim
              \mathrm{Po}((1-p) \lambda_i), \quad \lambda_i = \omega_i \hat\mu_i / p,
              \quad \omega_i \sim \mathrm{Gamma}(\nu, \nu)

    Without terms (the default) all cells have one mean: Bethlehem, Keller and Pannekoek, section 2.3.2.2.2 of [Ant16]_,
    where ν is written αN and β is 1/θ₂. With ``terms="main"`` it is (2.3.10) there. The sum is N in the mean.

    >>> round(PoissonGamma().fit([0, 0, 1, 3, 6, 2], 120).fitted["nu"], 3)
    1.253
    """

    terms: Terms = ()

    def fit(self, counts: Any, population: Population | None = None, **known: Any) -> Estimate:
        """The population given a sample of it; ``known`` as in :func:`read_sample`.

        >>> PoissonGamma("main").fit([[9, 1, 0], [4, 2, 2], [3, 0, 1]], 440)
        <PoissonGamma(terms='main'): 9 cells, n 22 of 440, nu 1e+05>
        """
        from scipy.special import gammaln, xlogy

        sample = as_sample(counts, population, known)
        model = sample.model(self.terms)
        means, f = cell_means(sample, model), sample.counts
        reached = means > 0
        m, x = means[reached], f[reached]

        def log_likelihood(nu: float) -> float:
            each = gammaln(nu + x) - gammaln(nu) - gammaln(x + 1) + xlogy(x, m / nu) - (nu + x) * np.log1p(m / nu)
            return float(each.sum())

        nu = maximum(log_likelihood)
        said = notes(model)
        if nu >= _MOST:
            said += ("the counts vary no more than the model's Poisson ones: the gamma part adds nothing",)
        p = sample.fraction
        scale = np.where(reached, (1.0 - p) / (p * (1.0 + nu / np.where(reached, means, 1.0))), 0.0)
        return Estimate(
            repr(self),
            sample,
            "gamma",
            nu + f,
            scale,
            fitted={"nu": nu},
            likelihood=log_likelihood(nu),
            base=model,
            more=1,
            notes=said,
        )


def maximum(log_likelihood: Callable[[float], float]) -> float:
    """The positive number up to _MOST that makes a log-likelihood of one hump largest: search on its logarithm."""
    from scipy.optimize import minimize_scalar

    minimum = minimize_scalar(
        lambda log_x: -log_likelihood(float(np.exp(log_x))),
        bounds=(np.log(_LEAST), np.log(_MOST)),
        method="bounded",
        options={"xatol": 1e-8, "maxiter": 200},
    )
    best = float(np.exp(minimum.x))
    return _MOST if log_likelihood(_MOST) >= log_likelihood(best) - 1e-6 else best  # a plateau: take its end


@checked
def bethlehem_uniques(population: int, alpha: float, beta: float) -> float:
    r"""Expected number of population uniques, :math:`N (1 + \beta)^{-(1 + \alpha N)}` ([Ant16]_ section 2.3.2.2.2).

    >>> round(bethlehem_uniques(100, 0.05, 2.0), 4)  # K = 1 / (alpha beta) = 10 cells
    0.1372
    """
    return float(population * (1.0 + beta) ** -(1.0 + alpha * population))


@checked
def elamir_skinner_theta(means: Floats, nu: float, fraction: float) -> Floats:
    r"""E(1/F | f = 1) of a cell with sample mean :math:`\mu = \exp(x^T\beta)` under (2.3.10).

    .. math:: \theta_j = \frac{p (\mu_j + \nu)}{(1-p) \mu_j \nu}
              \left[1 - \left(\frac{\mu_j + \nu}{\mu_j/p + \nu}\right)^\nu\right]

    Section 2.3.2.2.2 of [Ant16]_.

    >>> elamir_skinner_theta(np.array([1.0]), 2.0, 0.1).round(4)
    array([0.1563])
    """
    inside = (means + nu) / (means / fraction + nu)
    out: Floats = fraction * (means + nu) / ((1 - fraction) * means * nu) * (1.0 - inside**nu)
    return out
