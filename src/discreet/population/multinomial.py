"""Log-linear cell probabilities with multinomial or Poisson counts ([Ant16]_ section 4.6.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.base.arguments import checked
from discreet.information import Floats
from discreet.population.estimate import Estimate
from discreet.population.loglinear import LogLinear, Terms
from discreet.population.sample import Population, SampleCounts, as_sample


@checked
@dataclass(frozen=True)
class Multinomial:
    r"""The units not sampled fall independently into cells with probabilities of a log-linear model.

    .. math:: F - f \sim \mathrm{Multinom}(N - n; \hat p_1, \ldots, \hat p_K)

    Equation (4.6.1) of [Ant16]_, (3) of [ASE15]_. Every population adds up to N.

    >>> estimate = Multinomial().fit([[3, 1], [1, 1]], 60)
    >>> estimate.mean.round(2)
    array([[27., 13.],
           [13.,  7.]])
    """

    terms: Terms = "main"

    def fit(self, counts: Any, population: Population | None = None, **known: Any) -> Estimate:
        """The population given a sample of it; ``known`` as in :func:`read_sample`.

        >>> Multinomial("main").fit([[3, 1], [1, 1]], 60)
        <Multinomial(terms='main'): 4 cells, n 6 of 60>
        """
        sample = as_sample(counts, population, known)
        model = sample.model(self.terms)
        expected = cell_means(sample, model)
        return Estimate(repr(self), sample, "multinomial", expected, base=model, notes=notes(model))


@checked
@dataclass(frozen=True)
class Poisson:
    r"""Independent Poisson cells with the rates of a log-linear model; the sum is N only in the mean.

    .. math:: F_i - f_i \sim \mathrm{Po}((1 - p) N \hat p_i)

    Equation (2.3.4) of [Ant16]_ with λ_i of its section 4.6.1.2.

    >>> Poisson().fit([[3, 1], [1, 1]], 60).mean.round(2)
    array([[27., 13.],
           [13.,  7.]])
    """

    terms: Terms = "main"

    def fit(self, counts: Any, population: Population | None = None, **known: Any) -> Estimate:
        """The population given a sample of it; ``known`` as in :func:`read_sample`.

        >>> Poisson("main").fit([[3, 1], [1, 1]], 60)
        <Poisson(terms='main'): 4 cells, n 6 of 60>
        """
        sample = as_sample(counts, population, known)
        model = sample.model(self.terms)
        rates = cell_means(sample, model) * (sample.left / sample.sizes)[sample.stratum]
        return Estimate(repr(self), sample, "poisson", rates, base=model, notes=notes(model))


def cell_means(sample: SampleCounts, model: LogLinear) -> Floats:
    """Expected sample counts of the cells by the model, scaled to the sample size of each stratum."""
    expected = model.expected.ravel()[sample.place]
    out: Floats = expected * (sample.sizes[sample.stratum] / sample.sums(expected))
    return out


def notes(model: LogLinear) -> tuple[str, ...]:
    """What to know of a log-linear model before relying on it."""
    said = []
    if not model.converged:
        said.append(f"the log-linear model stopped {model.gap:.1e} of the total away from its margins")
    if model.unreached:
        said.append(
            f"{model.unreached} of {int(np.sum(model.possible))} cells get no chance, because a margin of the model is "
            "empty in the sample: merge categories, drop terms, or compare with Dirichlet(), which gives all a chance"
        )
    return tuple(said)
