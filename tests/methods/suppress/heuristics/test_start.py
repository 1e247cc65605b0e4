"""Patterns found, checked and cleaned: held to linear programs and to all subsets of small problems."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.methods.suppress.exact.branch_and_cut import solve_small
from discreet.methods.suppress.heuristics.start import start_pattern
from discreet.methods.suppress.model.condense import condense
from tests.problems import least_cost, protects, random_problem

Array = NDArray[Any]


def test_the_pattern_found_is_seldom_dearer_than_the_best() -> None:
    """Never below the optimum of all subsets, equal to it in most problems; hopeless ones are refused by name."""
    equal = solved = 0
    for seed in range(10):
        p = random_problem(seed, (3, 4), free=7, coalitions=seed % 2 == 0)
        best = least_cost(p)
        if np.isinf(best):
            with pytest.raises(InputError, match="cannot be met even if"):
                start_pattern(p, solve_small=solve_small, seconds=5, rounds=2)
            continue
        pattern = start_pattern(p, solve_small=solve_small, seconds=5, rounds=6)
        assert protects(p, pattern).all()
        assert p.cost(pattern) >= best - 1e-9
        solved += 1
        equal += p.cost(pattern) <= best + 1e-9
    assert solved >= 3
    assert equal >= 0.8 * solved


def test_the_same_seed_and_rounds_give_the_same_pattern() -> None:
    """Threads do not change a result."""
    p = random_problem(3, (5, 5, 4))
    one, two = (start_pattern(p, solve_small=solve_small, seconds=120, seed=4, rounds=6) for _ in range(2))
    assert (one == two).all()


def test_time_is_kept() -> None:
    """The search ends when it should."""
    begin = time.monotonic()
    start_pattern(random_problem(3, (5, 5, 4)), solve_small=solve_small, seconds=1.5)
    assert time.monotonic() - begin < 6  # far more than the budget only on a machine that stands still


def test_a_start_is_never_made_worse() -> None:
    """A given pattern that protects is the worst that can come out."""
    p = random_problem(3, (5, 5, 4))
    start = p.hidden | p.free
    assert p.cost(start_pattern(p, solve_small=solve_small, seconds=20, start=start, rounds=2)) <= p.cost(start)


def test_a_condensed_problem_is_taken_as_it_is() -> None:
    """The pattern is one of the smaller problem, and leads to one that protects the whole."""
    p = random_problem(3, (5, 5, 4))
    small = condense(p)
    pattern = start_pattern(small.small, solve_small=solve_small, seconds=60, rounds=3, condensed=small)
    assert len(pattern) == len(small.small)
    assert protects(p, small.expand(pattern)).all()
