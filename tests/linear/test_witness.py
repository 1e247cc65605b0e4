"""Which variables can move: those with two possible values, and no others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from discreet.linear.integer import SHORT
from discreet.linear.linear_tuning import LINEAR
from discreet.linear.pushed_points import two_values
from discreet.linear.witness import movable, movement
from tests.linear.systems import by_scipy, chain, random_system, random_tree


@pytest.mark.parametrize("bounded", [True, False])
def test_what_moves_has_two_values_by_another_solver(bounded: bool) -> None:
    """Fractions: whether the interval holds two whole units."""
    seen = set()
    for seed in range(40):
        system = random_system(seed, bounded=bounded)
        expected = two_values(*by_scipy(system))
        assert (movable(system, np.arange(system.size)) == expected).all()
        seen |= set(expected.tolist())
    assert seen == {True, False}


@pytest.mark.parametrize("largest", [1, 2])
def test_what_moves_in_whole_numbers_does(largest: int) -> None:
    """A second whole value exists wherever fractions leave three whole values or fewer; none that exists is missed."""
    fractions_alone = 0
    for seed in range(40):
        system = random_system(seed, integer=True, largest=largest, bounded=True)
        least, most = by_scipy(system)
        low, high = by_scipy(replace(system, integer=False))
        expected, moves = most - least > 0.5, movable(system, np.arange(system.size))
        assert moves[expected].all()
        short = high - low <= SHORT + 1e-6
        assert (moves == expected)[short].all()
        fractions_alone += int((two_values(low, high) & ~expected)[short].sum())
    assert largest == 1 or fractions_alone > 0


@pytest.mark.parametrize("integer", [False, True])
def test_trees_and_long_chains(integer: bool) -> None:
    """By propagation where that is exact; a chain whose ends have no room left does not move."""
    for seed in range(20):
        system = random_tree(seed, integer=integer)
        least, most = by_scipy(system)
        assert (movable(system, np.arange(system.size)) == two_values(least, most)).all()
    n = 200
    loose, tight = chain(n, n + 1.0, integer=integer), chain(n, float(n), integer=integer)
    everything = np.arange(loose.size)
    assert movable(loose, everything).all()
    assert not movable(tight, everything).any()


def test_two_values() -> None:
    """Whole units within an interval, up to rounding."""
    low, high = np.array([0.0, 0.2, 0.0, 3.0, -np.inf]), np.array([1.0, 1.1, 0.9999999, 3.0, np.inf])
    assert two_values(low, high)[:4].tolist() == [True, False, True, False]


def test_without_proofs_nothing_moves_that_does_not() -> None:
    """What is taken to have one value may have two; what is said to move does, and by many points most of it."""
    said = moving = 0
    for seed in range(40):
        system = random_system(seed, bounded=True)
        everything = np.arange(system.size)
        quick = movement(system, everything, tuning=replace(LINEAR, few=0, pushed_few=0, large=0), proofs=0)
        expected = movable(system, everything)
        assert not (quick.moves & ~expected).any()
        said += int(quick.moves.sum())
        moving += int(expected.sum())
    assert said >= 0.9 * moving
