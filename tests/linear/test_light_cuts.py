"""Light cuts of a two-way table, against all combinations of rows and columns by brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from discreet.base.annotations import Array
from discreet.linear.light_cuts import INSIDE, light_cut


def lightest(weights: Array) -> float:
    """The least weight above 0 of the cells where sums of rows and columns with coefficients 0 and 1 are not zero."""
    rows, columns = weights.shape
    best = np.inf
    for values in itertools.product((0, 1), repeat=rows + columns):
        apart = np.array(values[:rows])[:, None] != np.array(values[rows:])[None, :]
        weight = float(weights[apart].sum())
        if weight > 0:
            best = min(best, weight)
    return best


@pytest.mark.parametrize("seed", range(40))
def test_a_cut_is_light_exactly_if_a_combination_is(seed: int) -> None:
    """Just above the lightest there is a cut, and it is that light; at the lightest there is none."""
    rng = np.random.default_rng(seed)
    weights = rng.choice([0, 0, 1, 5, 20, 60], size=(rng.integers(1, 5), rng.integers(1, 5)))
    if not weights.any():
        assert light_cut(weights, 10) is None
        return
    least = lightest(weights)
    assert light_cut(weights, least) is None
    sides = light_cut(weights, least + 1)
    assert sides is not None
    rows, columns = (side == INSIDE for side in sides)
    assert weights[rows[:, None] != columns[None, :]].sum() == least


def test_no_coefficient_but_0_and_1_is_lighter() -> None:
    """Values of rows and columns may be any numbers: their levels are cuts, each no heavier than the combination."""
    rng = np.random.default_rng(3)
    for _ in range(10):
        weights = rng.choice([0, 3, 20, 60], size=(3, 3))
        least = lightest(weights)
        for values in itertools.product((-2, -1, 0, 1), repeat=6):
            apart = np.array(values[:3])[:, None] != np.array(values[3:])[None, :]
            assert not 0 < weights[apart].sum() < least


def test_long_lists_take_a_second_at_most() -> None:
    """Several hundred rows and columns with small numbers everywhere, so that no single edge is heavy."""
    rng = np.random.default_rng(1)
    weights = rng.poisson(2.0, size=(671, 300))
    assert light_cut(weights, 300) is None
    weights[5] = 0
    weights[5, 7] = 4
    weights[6] = 0
    weights[6, 8:12] = 70
    sides = light_cut(weights, 300)
    assert sides is not None
    assert np.flatnonzero(sides[0] == INSIDE).tolist() in ([5], [6])
