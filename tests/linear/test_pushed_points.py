"""Points pushed for many variables at once: they show what moves and nothing else; what is in doubt is said to be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from discreet.linear.integer import SHORT
from discreet.linear.linear_tuning import LinearTuning
from discreet.linear.program import InteriorProgram, SystemProgram
from discreet.linear.pushed_points import PushedPoints, two_values
from discreet.linear.system import System
from discreet.linear.whole_moves import MovePool, has_whole_point
from discreet.linear.witness import movable, movement
from tests.linear.systems import by_scipy, random_system
from tests.linear.test_whole_moves import with_point

PUSHED = LinearTuning(walks=(), large=0, few=0, pushed_few=0)
"""Every program counts as a large one, and no variable is looked at by itself before it is pushed."""


@pytest.mark.parametrize("bounded", [True, False])
def test_fractions_that_are_pushed_move_as_by_another_solver(bounded: bool) -> None:
    """Whether an interval holds two whole units, with and without a known solution."""
    seen = set()
    for seed in range(30):
        system = random_system(seed, bounded=bounded)
        expected = two_values(*by_scipy(system))
        answer = movement(system, np.arange(system.size), tuning=PUSHED)
        assert (answer.moves == expected).all()
        assert not answer.doubt.any()
        seen |= set(expected.tolist())
    assert seen == {True, False}


@pytest.mark.parametrize("largest", [1, 2])
def test_whole_numbers_are_certain_or_in_doubt(largest: int) -> None:
    """Short intervals that are pushed are never said to move without a second whole value; none is said to stay."""
    doubts = 0
    for seed in range(30):
        system = with_point(random_system(seed, integer=True, largest=largest, bounded=True))
        least, most = by_scipy(system)
        low, high = by_scipy(replace(system, integer=False))
        expected = most - least > 0.5
        answer = movement(system, np.arange(system.size), tuning=PUSHED)
        short = high - low <= SHORT + 1e-6
        assert not (answer.moves & answer.doubt).any()
        assert expected[answer.moves & short].all()
        assert not expected[~answer.moves & ~answer.doubt].any()
        doubts += int(answer.doubt.sum())
        more = movement(system, np.arange(system.size), tuning=replace(PUSHED, few=1_000))
        assert not more.doubt.any()
        assert (more.moves == expected)[short].all()
    assert doubts > 0


def test_what_is_in_doubt_does_not_count_as_moving(monkeypatch: pytest.MonkeyPatch) -> None:
    """``movable`` fails closed: without time for whole numbers, fewer variables move, never more."""
    from discreet.linear import witness

    fewer = 0
    for seed in range(20):
        system = random_system(seed, integer=True, largest=2, bounded=True)
        everything = np.arange(system.size)
        sure = movable(system, everything)
        with monkeypatch.context() as patch:
            patch.setattr(witness.movement, "__defaults__", (None, PUSHED))
            hasty = movable(system, everything)
        least, most = by_scipy(replace(system, integer=False))
        assert not (hasty & ~sure)[most - least <= SHORT].any()
        fewer += int((sure & ~hasty).sum())
    assert fewer > 0


def test_interior_points_fit_and_large_programs_find_the_same_minimum() -> None:
    """A pushed point is a solution; a program that begins inside ends where the simplex method does."""
    for seed in range(20):
        system = random_system(seed, bounded=True)
        rng = np.random.default_rng(seed)
        small, large = SystemProgram(system), SystemProgram(system, tuning=replace(PUSHED, warm_steps=1))
        inside = InteriorProgram(system)
        for _ in range(3):
            cost = rng.normal(size=system.size)
            one, two = small.minimum(cost), large.minimum(cost)
            three = inside.minimum_within(cost, system.lower, system.upper)
            assert one is not None
            assert two is not None
            assert three is not None
            assert np.isclose(cost @ one, cost @ two, atol=1e-5)
            assert np.isclose(cost @ one, cost @ three, atol=1e-3 * (1 + np.abs(cost @ one)))
            assert np.allclose(system.rows @ three, system.rhs, atol=1e-4)
            assert (three >= system.lower).all()
            assert (three <= system.upper).all()


def test_pushes_show_most_of_a_cube_in_few_runs() -> None:
    """A cube with lines known: everything moves, shown by far fewer points than there are variables."""
    at = np.indices((6, 6, 6)).reshape(3, -1)
    lines = [np.equal.outer(np.arange(36), np.delete(at, d, 0).T @ [6, 1]) for d in range(3)]
    rows = csr_array(np.concatenate(lines).astype(float))
    ones = np.ones(216)
    system = System(rows, rows @ ones, 0 * ones, 9 * ones, True, ones)
    pushed = PushedPoints(system, ones, ones.copy(), ones.copy(), PUSHED)
    assert not len(pushed.push(np.arange(216), 1.0, 0.0, 12))


def test_moves_of_a_pool_hold_for_those_who_know_some_variables() -> None:
    """What is said to move while some variables stay does so by another solver; nearly all that can is said to."""
    can = moved = 0
    for seed in range(30):
        system = with_point(random_system(seed, integer=True, bounded=True))
        assert has_whole_point(system)
        assert system.point is not None
        everything = np.arange(system.size)
        pool = MovePool(system, everything)
        for turn in range(3):
            known = np.random.default_rng(turn).choice(system.size, 2, replace=False)
            left = pool.unmoved(known, everything)
            assert np.isin(known, left).all()
            lower, upper = system.lower.copy(), system.upper.copy()
            lower[known] = upper[known] = system.point[known]
            least, most = by_scipy(replace(system, lower=lower, upper=upper))
            moves = np.setdiff1d(everything, left)
            assert (most - least > 0.5)[moves].all()
            can += int((most - least > 0.5).sum())
            moved += len(moves)
    assert can > 0
    assert moved >= 0.9 * can


def test_programs_for_single_variables_leave_what_has_one_value() -> None:
    """Of what no push has moved, exactly the variables without two whole units between their ends stay."""
    seen = set()
    for seed in range(30):
        for known in (False, True):
            system = random_system(seed, bounded=seed % 2 == 0, integer=known)
            system = with_point(system) if known else system
            base = system.point if known and has_whole_point(system) else None
            low = np.full(system.size, np.inf) if base is None else base.copy()
            high = np.full(system.size, -np.inf) if base is None else base.copy()
            left = PushedPoints(system, base, low, high, PUSHED).one_by_one(np.arange(system.size))
            moves = two_values(*by_scipy(replace(system, integer=False)))
            assert (np.isin(np.arange(system.size), left) == ~moves).all()
            assert (two_values(low, high) == moves).all()
            seen |= set(moves.tolist())
    assert seen == {True, False}
