"""Populations behind a sample table: models of F given f, fitted, drawn from, and computed with.

[Ant16]_ is L. Antal's thesis (Manchester, 2016); [UNECE15]_ its section 4.7 (Antal, Shlomo and Elliot, UNECE work
session 2015); [ASE15]_ a short paper of the same authors and year. N, F: the population; n, f: the sample.
"""

from discreet.population.choice import Choice, UniqueError, choose, unique_error
from discreet.population.dirichlet import Dirichlet, takemura_uniques
from discreet.population.estimate import Estimate
from discreet.population.ipf import Fitted, ipf
from discreet.population.loglinear import LogLinear, loglinear
from discreet.population.marginals import expectation, expected_xlogx, log_probability
from discreet.population.multinomial import Multinomial, Poisson
from discreet.population.negative_binomial import (
    NegativeBinomial,
    entropy_from_frequencies,
    negative_binomial_frequencies,
    poisson_frequencies,
)
from discreet.population.poisson_gamma import PoissonGamma, bethlehem_uniques, elamir_skinner_theta
from discreet.population.poisson_lognormal import PoissonLogNormal
from discreet.population.polya import Polya, polya_theta
from discreet.population.sample import SampleCounts, read_sample
from discreet.population.uniques import elamir_cells, skinner_holmes_unique

__all__ = [
    "Choice",
    "Dirichlet",
    "Estimate",
    "Fitted",
    "LogLinear",
    "Multinomial",
    "NegativeBinomial",
    "Poisson",
    "PoissonGamma",
    "PoissonLogNormal",
    "Polya",
    "SampleCounts",
    "UniqueError",
    "bethlehem_uniques",
    "choose",
    "elamir_cells",
    "elamir_skinner_theta",
    "entropy_from_frequencies",
    "expectation",
    "expected_xlogx",
    "ipf",
    "log_probability",
    "loglinear",
    "negative_binomial_frequencies",
    "poisson_frequencies",
    "polya_theta",
    "read_sample",
    "skinner_holmes_unique",
    "takemura_uniques",
    "unique_error",
]
