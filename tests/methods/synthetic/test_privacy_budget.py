"""A synthetic population under a privacy budget: the law of the noise, what it is spent on, and what it costs."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.datasets import census
from discreet.errors import InputError
from discreet.methods.synthetic.discrete_normal import KeyedBits, bernoulli_exp, discrete_laplace, draws
from discreet.methods.synthetic.privacy_budget import DiscreteGaussian
from discreet.policy.pretabular import cube_of
from discreet.tables.table import Table

N = 20_000


def chi_square(values: np.ndarray, chance: np.ndarray) -> float:
    """Squared gaps between counted and expected numbers, in units of what chance alone gives (about 1)."""
    expected = chance * len(values)
    most = len(chance) // 2
    counted = np.array([(values == k).sum() for k in range(-most, most + 1)])
    keep = expected > 5
    return float(((counted[keep] - expected[keep]) ** 2 / expected[keep]).mean())


@pytest.mark.parametrize("v", [Fraction(1, 4), Fraction(3), Fraction(63, 2)])
def test_draws_follow_the_discrete_normal_law(v: Fraction) -> None:
    """P(x) in proportion to exp(-x**2 / 2v), as frequencies of twenty thousand draws."""
    values = np.array(list(itertools.islice(draws(b"a key for the test", v), N)))
    x = np.arange(-60, 61)
    weight = np.exp(-(x**2) / (2 * float(v)))
    assert 0.3 < chi_square(values, weight / weight.sum()) < 2.2


def test_draws_follow_the_discrete_laplace_law() -> None:
    """P(x) in proportion to exp(-|x|/3)."""
    bits = KeyedBits(b"another key")
    values = np.array([discrete_laplace(bits, 3) for _ in range(N)])
    x = np.arange(-60, 61)
    weight = np.exp(-np.abs(x) / 3)
    assert 0.3 < chi_square(values, weight / weight.sum()) < 2.2


@pytest.mark.parametrize(("numerator", "denominator"), [(0, 1), (1, 3), (1, 1), (7, 3)])
def test_a_coin_with_an_exponential_chance(numerator: int, denominator: int) -> None:
    """True with chance exp(-numerator/denominator)."""
    bits = KeyedBits(b"a third key")
    share = np.mean([bernoulli_exp(bits, numerator, denominator) for _ in range(N)])
    assert share == pytest.approx(math.exp(-numerator / denominator), abs=0.015)


def test_bits_are_even_and_repeat_with_their_key() -> None:
    """Every number below a limit comes as often, and a key gives the same ones again."""
    one, other = KeyedBits(b"k"), KeyedBits(b"k")
    numbers = [one.below(7) for _ in range(7_000)]
    assert numbers == [other.below(7) for _ in range(7_000)]
    assert np.bincount(numbers).min() > 850
    assert len(np.bincount(numbers)) == 7


def test_the_budget_is_shared_by_all_tables() -> None:
    """rho = sum over the tables of 1 / (2 v): the sensitivity of each is one."""
    method = DiscreteGaussian(rho=0.5, seed=1)
    assert sum(1 / (2 * method.variance(29)) for _ in range(29)) == Fraction(1, 2)
    assert method.epsilon(1e-5) == pytest.approx(0.5 + 2 * math.sqrt(0.5 * math.log(1e5)))


def test_other_data_have_noise_of_their_own() -> None:
    """One record more changes all noise, so that a difference of two editions does not cancel it."""
    counts = np.full((3, 4), 1000)
    more = counts.copy()
    more[0, 0] += 1
    method = DiscreteGaussian(rho=1, seed=1)
    one, again, other = (method.drawn(Table.of(c, ["a", "b"])) for c in (counts, counts, more))
    assert (one == again).all()
    assert (one != other).sum() > 6


def test_counts_are_whole_consistent_and_near() -> None:
    """As near as the budget allows: standard error about that of the noise, none below zero, everything adds up."""
    cube = cube_of(census(n=10_000))
    method = DiscreteGaussian(rho=1, secret=b"a secret of sixteen bytes")
    drawn = method.drawn(cube).reshape(cube.layout.shape)
    true = cube.statistics["count"].inner.reshape(cube.layout.shape)
    assert drawn.min() >= 0
    gaps = []
    for axes in itertools.combinations(range(7), 2):
        rest = tuple(a for a in range(7) if a not in axes)
        one, other = drawn.sum(axis=rest).ravel(), true.sum(axis=rest).ravel()
        gaps.append((one - other)[other > 100])
    assert 1 < np.sqrt((np.concatenate(gaps) ** 2).mean()) < 1.5 * math.sqrt(29 / 2)


def test_budgets_that_protect_nothing_are_refused() -> None:
    """And noise that anybody could draw again."""
    from discreet.methods.effect import check_effect

    with pytest.raises(InputError, match="rho above"):
        check_effect(DiscreteGaussian(rho=1000, seed=1))
    with pytest.raises(InputError, match="comes from a secret"):
        DiscreteGaussian()(Table.of([[3, 0], [1, 2]], ["area", "sex"]))
