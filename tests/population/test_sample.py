"""Strata, weights, and what is said of the population."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from discreet import Table
from discreet.errors import InputError
from discreet.population import (
    Dirichlet,
    Multinomial,
    Polya,
)
from tests.population.models import FIXED, FREE, SAMPLE, N


@pytest.mark.parametrize("model", [*FIXED[:5], *FREE], ids=repr)
def test_strata_keep_their_totals(model: Any) -> None:
    """With N by stratum, every stratum has its own: exactly, or in the mean by a factor of sampling error."""
    totals = [150, 90, 80]
    estimate = model.fit(SAMPLE, totals, strata=0)
    if estimate.fixed_total:
        assert np.all(estimate.draw(200, seed=1).sum(axis=2) == totals)
        assert np.allclose(estimate.mean.sum(axis=1), totals)
    else:
        assert np.all(estimate.mean >= SAMPLE)


def test_strata_may_be_columns() -> None:
    """Cells are put in order of their stratum and come back to their place."""
    counts = np.array([[5, 1], [0, 3], [2, 2]])
    F = Multinomial().fit(counts, [70, 30], strata=1).draw(100, seed=1)
    assert np.all(F.sum(axis=1) == [70, 30])
    assert np.all(counts <= F)


def test_weights_move_the_estimate() -> None:
    """A cell whose records carry more weight is larger in the population."""
    counts = np.array([10, 10])
    design = np.array([300.0, 100.0])
    estimate = Multinomial().fit(counts, 400, design=design)
    assert np.allclose(estimate.mean, 10 + 380 * np.array([0.75, 0.25]))
    assert Polya(theta=0).fit(counts, "weights", design=design).sample.population == 400
    assert math.isnan(estimate.log_likelihood)


def test_a_table_brings_names_and_structural_zeros() -> None:
    """Strata and terms by name, population by code, and no one in impossible cells."""
    structural = np.zeros((3, 4), bool)
    structural[0, 1] = True
    table = Table.of(SAMPLE, ["area", "age"], structural=structural)
    codes = table.dimensions[0].leaves
    estimate = Multinomial([("area",), ("age",)]).fit(
        table, dict(zip(codes, [150, 90, 80], strict=True)), strata="area"
    )
    F = estimate.draw(50, seed=1)
    assert np.all(F[:, 0, 1] == 0)
    assert np.all(F.sum(axis=2) == [150, 90, 80])
    with pytest.raises(InputError, match="every code"):
        Multinomial().fit(table, {"x": 1}, strata="area")


@pytest.mark.parametrize(
    ("counts", "population", "known", "message"),
    [
        (SAMPLE, 10, {}, "larger than the population"),
        (SAMPLE, [100, 2, 100], {"strata": 0}, "larger than the population"),
        (SAMPLE + 0.5, N, {}, "design="),
        (SAMPLE, 100, {"design": SAMPLE * 10.0}, "more than the population"),
        (SAMPLE, N, {"design": SAMPLE * 0.0}, "no weight"),
        (SAMPLE, [[1]], {"strata": 0}, "give a whole number"),
        (SAMPLE, [100, 100], {}, "one N"),
        (SAMPLE, "weights", {}, "needs design weights"),
        (SAMPLE, "sum", {}, "'weights'"),
        (SAMPLE, 99.5, {}, "give a whole number"),
        (SAMPLE, {"a": 4}, {}, "by name"),
        (SAMPLE * 0, N, {}, "nobody"),
        ([[3, 1], [0, 0]], [40, 40], {"strata": 0}, "merge it"),
        (SAMPLE, N, {"strata": 2}, "axes 0 to 1"),
        (SAMPLE, N, {"strata": "area"}, "not a dimension"),
        (SAMPLE, N, {"structural": SAMPLE > 5}, "structural zero"),
        (SAMPLE, N, {"structural": [True]}, "one shape"),
        (-SAMPLE, N, {}, "negative"),
    ],
)
def test_what_is_said_of_the_population_is_checked(counts: Any, population: Any, known: Any, message: str) -> None:
    """Wrong input is an error before anything is fitted, and no message holds a count."""
    with pytest.raises(InputError, match=message):
        Multinomial().fit(counts, population, **known)


def test_empty_margins_are_noted() -> None:
    """A category nobody was sampled in gets no chance from a log-linear model; the Dirichlet model gives it one."""
    counts = np.array([[4, 0], [3, 0]])
    assert "merge categories" in Multinomial().fit(counts, 70).notes[0]
    assert np.all(Dirichlet().fit(counts, 70).mean > 0)
    with pytest.raises(InputError, match="seed"):
        Multinomial().fit(counts, 70).draw(3, seed=-1)
    with pytest.raises(InputError, match="one or more"):
        Multinomial().fit(counts, 70).draw(0, seed=1)
