"""Cell risk in bits."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.risk.cell import bits, cell_risk, distribution_bits, possible_values, risk_of_bits


def test_one_value_is_infinite_risk() -> None:
    """m = 1 is disclosure however wide the interval."""
    assert cell_risk(possible_values([3, 0.2], [3, 1.9])).tolist() == [np.inf, np.inf]


def test_uniform_is_the_largest_uncertainty() -> None:
    """Equation (2) with equal probabilities is equation (3); any other distribution is riskier."""
    assert np.isclose(distribution_bits(np.full(407, 1 / 407)), bits(407))
    assert risk_of_bits(distribution_bits([0.9, 0.1])) > cell_risk(2)


def test_decimals_refine_the_grid() -> None:
    assert possible_values([0.1], [0.3], decimals=1).tolist() == [3.0]
    assert possible_values([0], [np.inf]).tolist() == [np.inf]


def test_bad_input() -> None:
    with pytest.raises(InputError):
        possible_values([3], [1])
    with pytest.raises(InputError):
        distribution_bits([0.5, 0.6])
