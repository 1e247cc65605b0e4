"""The exact method on problems so small that all patterns can be tried: costs, bounds, inequalities, and manners."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.methods.suppress.exact.optimal import Optimal, lower_bound
from tests.problems import TIME, Judge, least_cost, on_small_problems, small_problem, with_both_solvers

Array = NDArray[Any]


@with_both_solvers
@on_small_problems
def test_the_least_cost_is_found_and_proved(kind: str, seed: int, solver: str) -> None:
    """The same as by trying all patterns, for needs, weights and bounds of all kinds."""
    problem = small_problem(kind, seed)
    found = Optimal(time=TIME, solver=solver).solve(problem)
    assert found.status == "optimal"
    assert found.cost == found.bound == pytest.approx(least_cost(problem))
    assert problem.cost(found.hidden) == pytest.approx(found.cost)
    assert Judge(problem)(found.hidden)
    assert not (found.hidden & np.isinf(problem.weight)).any()
    assert found.gap == 0
    assert "optimal" in repr(found)


@on_small_problems
def test_the_relaxation_alone_is_a_bound(kind: str, seed: int) -> None:
    """Below the least cost, whatever time it has."""
    for seconds in (0.0, 5.0):
        assert lower_bound(small_problem(kind, seed), seconds) <= least_cost(small_problem(kind, seed)) + 1e-6


@with_both_solvers
def test_free_cells_cost_nothing(solver: str) -> None:
    """Weights of nothing are allowed, and so are other weights than whole ones."""
    problem = small_problem("two-way", 0)
    random = np.random.default_rng(3)
    weight = np.where(problem.free, random.random(len(problem)).round(3), problem.weight)
    weight[np.flatnonzero(problem.free)[:2]] = 0
    problem = replace(problem, weight=weight)
    found = Optimal(time=TIME, solver=solver).solve(problem)
    assert found.cost == pytest.approx(least_cost(problem))
    assert found.bound <= least_cost(problem) + 1e-9


@with_both_solvers
def test_two_runs_find_the_same(solver: str) -> None:
    """The seed decides, not the clock."""
    one, two = (Optimal(time=TIME, solver=solver).solve(small_problem("hierarchical", 2)) for _ in range(2))
    assert np.array_equal(one.hidden, two.hidden)
    assert (one.cost, one.bound) == (two.cost, two.bound)


def test_nothing_to_do_costs_nothing() -> None:
    """Without needs no cell is hidden for others' sake."""
    problem = small_problem("two-way", 0)
    found = Optimal(time=TIME).solve(problem.with_needs(problem.needs.take(np.empty(0, np.int64))))
    assert (found.cost, found.bound, found.status) == (0, 0, "optimal")
    assert np.array_equal(found.hidden, problem.hidden)
