"""Which model: information criteria, and how wrong a model's count of risky uniques is likely to be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from discreet.base.arguments import checked
from discreet.errors import InputError, nearest
from discreet.population.dirichlet import Dirichlet
from discreet.population.estimate import Estimate
from discreet.population.multinomial import Multinomial
from discreet.population.negative_binomial import NegativeBinomial
from discreet.population.poisson_gamma import PoissonGamma
from discreet.population.poisson_lognormal import PoissonLogNormal
from discreet.population.sample import Population, as_sample

if TYPE_CHECKING:
    import pandas as pd

Criterion: TypeAlias = Literal["aic", "bic", "error"]
_CRITERIA = ("aic", "bic", "error")


@dataclass(frozen=True, eq=False)
class Choice:
    """Models side by side, and the best of them by the criterion asked for.

    >>> choose([[9, 1, 0], [4, 2, 2], [3, 0, 1]], 440, criterion="bic").best.model
    "Multinomial(terms='main')"
    """

    estimates: tuple[Estimate, ...]
    criterion: Criterion

    @property
    def best(self) -> Estimate:
        """The estimate with the least value of the criterion."""
        column = self.summary()["score" if self.criterion == "error" else self.criterion].to_numpy(dtype=float)
        value = np.abs(column) if self.criterion == "error" else column
        if np.isnan(value).all():
            raise InputError(f"none of the models has the criterion {self.criterion!r}: choose another or other models")
        return self.estimates[int(np.nanargmin(value))]

    def summary(self) -> pd.DataFrame:
        """One row a model: parameters, log-likelihood, AIC, BIC, and the error test; NaN where it has none.

        >>> choose([[9, 1, 0], [4, 2, 2], [3, 0, 1]], 440).summary()["aic"].round(1).iloc[:2].tolist()
        [45.0, 36.0]
        """
        import pandas as pd

        rows = []
        for e in self.estimates:
            error = unique_error(e)
            rows.append(
                {
                    "model": e.model,
                    "parameters": e.parameters,
                    "log-likelihood": e.log_likelihood,
                    "aic": 2 * e.parameters - 2 * e.log_likelihood,
                    "bic": e.parameters * math.log(len(e.sample.counts)) - 2 * e.log_likelihood,
                    "error": error.error,
                    "score": error.score,
                }
            )
        return pd.DataFrame(rows).set_index("model")


@dataclass(frozen=True)
class UniqueError:
    """Estimated error of the number of sample uniques that are population uniques, and it in standard errors.

    >>> UniqueError(error=3.0, standard_error=1.5).score
    2.0
    """

    error: float
    standard_error: float

    @property
    def score(self) -> float:
        """Error divided by its standard error: beyond ±2 the model is doubtful for counting uniques."""
        return self.error / self.standard_error if self.standard_error > 0 else math.nan


@checked
def unique_error(estimate: Estimate) -> UniqueError:
    r"""How much too large a log-linear model's τ₁ (sample uniques that are population uniques) is, by its residuals.

    .. math:: \hat B = \sum_i (1-p)\,h_i \left\{ \frac{\hat\mu_i e^{-\hat\mu_i}}{p} (f_i - \hat\mu_i) +
              \frac{e^{-\hat\mu_i}}{p} \left[1 - \hat\mu_i - \frac{(1-p)\hat\mu_i}{2p}\right]
              [(f_i - \hat\mu_i)^2 - f_i] \right\}, \quad h_i = e^{-(1-p)\hat\mu_i/p}

    The second-order expansion of :math:`\mu_i e^{-\mu_i} [h(\hat\mu_i) - h(\mu_i)]` about the fitted means, where the
    square is replaced by an unbiased estimate; its variance is that of Poisson counts with those means. In the manner
    of Skinner and Shlomo (2008), who choose the model whose error is least; it is trustworthy for small misfits, and a
    large score only says that the model does not fit. Only log-linear models (Multinomial, Poisson) of unweighted
    counts have it; others give NaN.

    >>> table = [[30, 1, 1], [1, 6, 0], [0, 1, 4]]
    >>> [round(unique_error(Multinomial(terms).fit(table, 440)).score, 1) for terms in ("main", ())]
    [-8.2, -33.5]
    """
    sample = estimate.sample
    if estimate.law not in ("multinomial", "poisson") or sample.design is not None:
        return UniqueError(math.nan, math.nan)
    p = sample.fraction
    mu = estimate.a if estimate.law == "multinomial" else estimate.a * p / np.maximum(1 - p, 1e-300)
    front = (1 - p) * np.exp(-(1 - p) * mu / p - mu) / p
    one, two = front * mu, front * (1 - mu - (1 - p) * mu / (2 * p))
    residual = sample.counts - mu
    error = float((one * residual + two * (residual**2 - sample.counts)).sum())
    return UniqueError(error, float(np.sqrt((one**2 * mu + 2 * two**2 * mu**2).sum())))


@checked
def choose(
    counts: Any,
    population: Population | None = None,
    models: Sequence[Any] | None = None,
    *,
    criterion: Criterion = "aic",
    **known: Any,
) -> Choice:
    """Fit several models to one sample and compare them; [Ant16]_ section 4.8 shows how much the choice matters.

    By default: log-linear models of every order, and the mixed ones around the main effects (Dirichlet, Poisson-gamma,
    Poisson-log-normal, negative binomial). ``criterion="error"`` takes the log-linear model whose :func:`unique_error`
    is least in standard errors, of either sign. Pólya's urn has no likelihood of the cells and so no criterion.

    >>> choose([[9, 1, 0], [4, 2, 2], [3, 0, 1]], 440).best.model
    "Multinomial(terms='main')"
    """
    if criterion not in _CRITERIA:
        raise InputError(f"unknown criterion {criterion!r}: {nearest(str(criterion), _CRITERIA)}")
    sample = as_sample(counts, population, known)
    if models is None:
        orders = [Multinomial(k) for k in range(2, len(sample.shape))]
        mixed = [Dirichlet("main"), PoissonGamma("main"), PoissonLogNormal("main"), NegativeBinomial()]
        models = [Multinomial(()), Multinomial("main"), *orders, *mixed]
    return Choice(tuple(model.fit(sample) for model in models), criterion)
