"""Choosing a model, and how far its number of uniques may be off."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.population import (
    Estimate,
    Multinomial,
    Polya,
    choose,
    read_sample,
    unique_error,
)


def test_the_criteria_find_the_model_that_made_the_data() -> None:
    """Independent margins are found so; a table with strong association is not."""
    rng = np.random.default_rng(4)
    margins = np.outer([5, 3, 2], [4, 3, 2, 1]) / 100
    independent = rng.multinomial(800, margins.ravel()).reshape(3, 4)
    models = [Multinomial(()), Multinomial("main"), Multinomial("two-way")]
    for criterion in (None, "bic"):
        options: dict[str, Any] = {} if criterion is None else {"criterion": criterion}
        assert choose(independent, 8000, models, **options).best.model == "Multinomial(terms='main')"
    tied = independent + np.diag([200, 100, 80, 0])[:3]
    assert choose(tied, 9000, models).best.model == "Multinomial(terms='two-way')"
    summary = choose(independent, 8000).summary()
    assert set(summary.columns) == {"parameters", "log-likelihood", "aic", "bic", "error", "score"}
    with pytest.raises(InputError, match="criterion"):
        choose(independent, 8000, criterion="aicc")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="none of the models"):
        _ = choose(independent, 8000, [Polya()]).best


def test_error_of_uniques_is_that_of_the_expansion() -> None:
    """Its mean over samples is sum mu e^-mu (h(fitted) - h(mu)) for a slightly wrong model, its spread as stated."""
    rng = np.random.default_rng(5)
    p, fitted = 0.3, rng.gamma(3.0, 0.4, 400)
    truth = fitted * (1 + 0.1 * rng.standard_normal(400))
    unique, true = np.exp(-(1 - p) * fitted / p), np.exp(-(1 - p) * truth / p)
    exact = (truth * np.exp(-truth) * (unique - true)).sum()
    units = 4000
    found = []
    for _ in range(units):
        f = rng.poisson(truth)
        sample = read_sample(f, max(round(f.sum() / p), f.sum()))
        found.append(unique_error(Estimate("given", sample, "multinomial", fitted)))
    errors = np.array([u.error for u in found])
    assert abs(errors.mean() - exact) < 4 * errors.std() / math.sqrt(units) + 0.05 * abs(exact)
    assert errors.std() == pytest.approx(found[0].standard_error, rel=0.15)
    assert choose(rng.poisson(truth).reshape(20, 20), 1600, criterion="error").best.model.startswith("Multinomial")
