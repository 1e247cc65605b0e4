"""Models of the population behind a sample, by the names that a policy uses."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from discreet.errors import InputError, nearest

if TYPE_CHECKING:
    from discreet.risk.sample_risk import PopulationModel

MODELS = ("loglinear", "polya", "poisson", "dirichlet", "negative-binomial", "poisson-gamma", "poisson-lognormal")


def model_of(name: str) -> PopulationModel:
    """A model around the main effects of the table; "loglinear" is the multinomial one that ``assess_sample`` uses.

    >>> model_of("polya")
    Polya(terms='main', zeros=None, theta=None)
    """
    from discreet import population as p

    if name not in MODELS:
        raise InputError(f"no model of a population {name!r}; {nearest(name, MODELS)}")
    models: dict[str, Callable[[], PopulationModel]] = {
        "loglinear": lambda: p.Multinomial("main"),
        "polya": lambda: p.Polya("main"),
        "poisson": lambda: p.Poisson("main"),
        "dirichlet": lambda: p.Dirichlet("main"),
        "negative-binomial": lambda: p.NegativeBinomial(),
        "poisson-gamma": lambda: p.PoissonGamma("main"),
        "poisson-lognormal": lambda: p.PoissonLogNormal("main"),
    }
    return models[name]()
