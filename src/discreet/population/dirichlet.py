"""Dirichlet cell probabilities and multinomial counts (Takemura 1999)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.base.arguments import checked
from discreet.errors import InputError
from discreet.information import Floats, read_values
from discreet.population.estimate import Estimate
from discreet.population.loglinear import Terms
from discreet.population.multinomial import cell_means, notes
from discreet.population.poisson_gamma import maximum
from discreet.population.sample import Population, as_sample


@checked
@dataclass(frozen=True)
class Dirichlet:
    r"""Cell probabilities are Dirichlet; given f, the units not sampled are Dirichlet-multinomial and add up to N - n.

    .. math:: \pi \sim \mathrm{Dirichlet}(\alpha_1, \ldots, \alpha_K), \quad
              F - f | f \sim \mathrm{DirMult}(N - n; \alpha_1 + f_1, \ldots, \alpha_K + f_K)

    Section 2.3.2.2.2 of [Ant16]_. α_i is 𝒜/K without terms (the default, every cell has a chance), else 𝒜 times the
    probabilities of a log-linear model; 𝒜, the sum of the α_i in a stratum, by maximum likelihood.

    >>> round(Dirichlet().fit([0, 0, 1, 3, 6, 2], 120).fitted["A"], 3)
    4.986
    """

    terms: Terms = ()

    def fit(self, counts: Any, population: Population | None = None, **known: Any) -> Estimate:
        """The population given a sample of it; ``known`` as in :func:`read_sample`.

        >>> Dirichlet().fit([0, 0, 1, 3, 6, 2], 120)
        <Dirichlet(terms=()): 6 cells, n 12 of 120, A 4.986>
        """
        from scipy.special import gammaln

        sample = as_sample(counts, population, known)
        model = sample.model(self.terms)
        n, f = sample.sizes.astype(np.float64), sample.counts
        share = cell_means(sample, model) / n[sample.stratum]
        q, x = share[share > 0], f[share > 0]
        # log P(f | n), plus that of n as a Poisson number of mean n, so that it can be compared with the other models
        of_n = float((n * np.log(n) - n).sum() - gammaln(x + 1).sum())

        def log_likelihood(total: float) -> float:
            cells = (gammaln(total * q + x) - gammaln(total * q)).sum()
            return float(cells + (gammaln(total) - gammaln(total + n)).sum() + of_n)

        total = maximum(log_likelihood)
        return Estimate(
            repr(self),
            sample,
            "dirichlet",
            total * share + f,
            fitted={"A": total},
            likelihood=log_likelihood(total),
            base=model,
            more=1,
            notes=notes(model),
        )


@checked
def takemura_uniques(alpha: Any, population: int) -> Floats:
    r"""Pr(F_i = 1) of every cell before a sample is seen; their sum is the expected number of population uniques.

    .. math:: \Pr(F_i = 1) = N \alpha_i \frac{\Gamma(\mathcal A)\,\Gamma(\mathcal A - \alpha_i + N - 1)}
              {\Gamma(\mathcal A + N)\,\Gamma(\mathcal A - \alpha_i)}

    Section 2.3.2.2.2 of [Ant16]_.

    >>> takemura_uniques([1.0, 1.0], 3).round(4)
    array([0.25, 0.25])
    """
    from scipy.special import gammaln

    a = read_values(alpha, "alpha").ravel()
    total, n = a.sum(), float(population)
    if a.size < 2 or np.any(a <= 0) or population < 1:
        raise InputError("alpha needs two or more positive numbers, and population one unit or more")
    logs = np.log(n * a) + gammaln(total) + gammaln(total - a + n - 1) - gammaln(total + n) - gammaln(total - a)
    out: Floats = np.exp(logs)
    return out
