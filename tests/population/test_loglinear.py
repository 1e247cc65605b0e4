"""Iterative proportional fitting and log-linear models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.datasets.printed import RELIGION
from discreet.errors import DiscreetWarning, InputError
from discreet.population import (
    ipf,
    loglinear,
)
from tests.population.models import SAMPLE


@given(st.lists(st.integers(0, 9), min_size=24, max_size=24), st.sampled_from(["main", "two-way", [(0, 1), (2,)]]))
@settings(max_examples=30, deadline=None)
def test_a_fit_has_the_margins_of_its_terms(cells: list[int], terms: Any) -> None:
    """Every fitted margin is the sample's, to the tolerance."""
    counts = np.array(cells, float).reshape(2, 3, 4) + 0.5  # inside, so that the fit exists
    fit = loglinear(counts, terms, tolerance=1e-9)
    assert fit.converged
    for term in fit.terms:
        rest = tuple(a for a in range(3) if a not in term)
        assert np.allclose(fit.expected.sum(axis=rest), counts.sum(axis=rest), rtol=1e-6)


def test_main_effects_are_the_product_of_the_margins() -> None:
    """Section 5.1 of UNECE15, and 72 = 8 x 9 degrees of freedom."""
    fit = loglinear(RELIGION)
    assert np.allclose(fit.expected, np.outer(RELIGION.sum(1), RELIGION.sum(0)) / RELIGION.sum())
    assert (fit.parameters, fit.degrees_of_freedom) == (18, 72)
    assert fit.deviance > fit.degrees_of_freedom


def test_two_way_model_against_a_direct_maximisation() -> None:
    """The likelihood of the model without three-way interaction cannot be improved in the direction of a margin."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(8, (3, 3, 2)) + 1
    fit = loglinear(counts, "two-way", tolerance=1e-11)
    assert fit.degrees_of_freedom == 2 * 2 * 1
    logs = np.log(fit.expected)
    interaction = (logs[0, 0] - logs[0, 1] - logs[1, 0] + logs[1, 1])[[0, 1]]
    assert interaction[0] == pytest.approx(interaction[1], abs=1e-7)  # conditional odds ratios are all equal
    assert loglinear(counts, 3).deviance == pytest.approx(0, abs=1e-9)


def test_structural_zeros_stay_empty() -> None:
    """Quasi-independence: the margins hold over the possible cells only."""
    structural = np.eye(3, dtype=bool)
    counts = np.array([[0, 4, 6], [5, 0, 2], [3, 7, 0]])
    fit = loglinear(counts, structural=structural, tolerance=1e-10)
    assert np.all(fit.expected[structural] == 0)
    assert np.allclose(fit.expected.sum(0), counts.sum(0))
    assert fit.degrees_of_freedom == 6 - 5
    with pytest.raises(InputError, match="structural zero"):
        loglinear(counts + 1, structural=structural)


def test_fitting_that_does_not_converge_is_said() -> None:
    """Too few rounds give a warning that says what to do, and the gap."""
    margins = [((0,), [6.0, 4.0]), ((1,), [5.0, 5.0])]
    with pytest.warns(DiscreetWarning, match="allow more iterations"):
        fit = ipf([[1, 2], [3, 1]], margins, iterations=1)
    assert not fit.converged
    assert fit.gap > 0
    with pytest.warns(DiscreetWarning, match="not converged"):
        loglinear(np.arange(1, 9).reshape(2, 2, 2), "two-way", tolerance=1e-12, iterations=2)


@pytest.mark.parametrize(
    ("margins", "message"),
    [
        ([((0,), [1, 2]), ((1,), [5, 5])], "one and the same total"),
        ([((0,), [1, 2, 3])], "must be"),
        ([((1, 0), [[1, 2], [3, 4]])], "rising order"),
        ([((0,), [1, 2]), ((1,), [0, 3])], None),
    ],
)
def test_margins_that_cannot_be_met(margins: Any, message: str | None) -> None:
    """Wrong shapes and totals are errors; zeros in a margin are fine."""
    if message is None:
        assert ipf(np.ones((2, 2)), margins).values[:, 0].sum() == 0
        return
    with pytest.raises(InputError, match=message):
        ipf(np.ones((2, 2)), margins)
    with pytest.raises(InputError, match="no scaling can meet"):
        ipf([[0, 0], [1, 1]], [((0,), [1, 1])])


@pytest.mark.parametrize("terms", ["mian", -1, [(0, 5)], [("area",)]])
def test_unknown_terms(terms: Any) -> None:
    """A misspelt order, an axis that is not there and a name without names are errors."""
    with pytest.raises(InputError):
        loglinear(SAMPLE, terms)
