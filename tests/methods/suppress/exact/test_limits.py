"""The exact method's manners: time, gap, a start, what it tells and what it refuses."""

from __future__ import annotations

import importlib.util
import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import discreet as dc
from discreet import InputError
from discreet.methods.suppress.exact.optimal import Optimal
from discreet.methods.suppress.model.problem import Problem, Requirements
from discreet.methods.suppress.model.solution import UnprotectedError
from tests.problems import TIME, Judge, larger_problem, least_cost, small_problem, sound, with_both_solvers


@with_both_solvers
def test_the_time_is_kept(solver: str) -> None:
    """A pattern that protects and a bound that is one, soon after the time is up."""
    problem = larger_problem(1, (40, 30), 0.1)
    began = time.monotonic()
    found = Optimal(time=1, solver=solver).solve(problem)
    assert time.monotonic() - began < 20  # a first pattern is always finished
    assert sound(problem, found)
    assert 0 <= found.bound < found.cost
    assert found.status == "time"
    assert 0 < found.gap <= 1
    assert "gap" in repr(found)


@with_both_solvers
def test_the_gap_is_enough(solver: str) -> None:
    """Within half of the least cost nothing more is looked for, and the bound holds for the optimum."""
    problem = larger_problem(2, (8, 6))
    found = Optimal(time=TIME, gap=0.5, solver=solver).solve(problem)
    assert found.status in ("gap", "optimal")
    assert found.gap <= 0.5
    assert sound(problem, found)
    best = Optimal(time=TIME).solve(problem)
    assert found.bound <= best.cost + 1e-6
    assert best.cost <= found.cost + 1e-6


def test_a_pattern_to_start_with_is_used() -> None:
    """What is found is never dearer."""
    problem = larger_problem(3, (30, 20), 0.2)
    good = Optimal(time=3).solve(problem)
    found = Optimal(time=0.2, seed=2).solve(problem, start=good.hidden)
    assert found.cost <= good.cost
    assert sound(problem, found)


def test_a_bad_start_does_no_harm() -> None:
    """A pattern that does not protect is no start."""
    problem = small_problem("two-way", 1)
    assert Optimal(time=TIME).solve(problem, start=problem.hidden).cost == pytest.approx(least_cost(problem))


@with_both_solvers
def test_needs_that_no_pattern_meets_are_named(solver: str) -> None:
    """By their numbers, those of others' company too."""
    problem = small_problem("two-way", 0)
    level = problem.needs.below.copy()
    level[1] = problem.down[problem.needs.cell[1]] + 1
    with pytest.raises(UnprotectedError, match="cannot be met") as told:
        Optimal(time=TIME, solver=solver).solve(problem.with_needs(replace(problem.needs, below=level)))
    assert told.value.needs.tolist() == [1]
    bare = replace(problem, weight=np.where(problem.hidden, 0, np.inf))
    judge = Judge(bare)
    unmet = [k for k in range(len(bare.needs)) if not judge.met(bare.hidden, k)]
    with pytest.raises(UnprotectedError) as told:
        Optimal(time=TIME, solver=solver).solve(bare)
    assert told.value.needs.tolist() == unmet


@with_both_solvers
def test_needs_that_only_bounds_rule_out_are_named(solver: str) -> None:
    """A cell whose company has too little room."""
    rows = csr_array([[1.0, 1, 1, 0], [0, 0, 1, 1.0]])
    needs = Requirements.of(np.array([0]), np.array([4.0]), np.array([4.0]))
    down = up = np.array([9.0, 1, 2, 5])
    problem = Problem(rows, down, up, np.array([0, 1.0, 1, 1]), np.array([True, False, False, False]), needs)
    with pytest.raises(InputError, match="cannot be met"):
        Optimal(time=TIME, solver=solver).solve(problem)


def test_who_watches_is_told() -> None:
    """Costs fall, bounds rise, the bar does not pass its end."""

    class Watch:
        said: list[tuple[float, float]]
        bars: list[tuple[int, int]]

        def __init__(self) -> None:
            self.said, self.bars = [], []

        def __call__(self, done: int, total: int) -> None:
            self.bars.append((done, total))

        def tell(self, cost: float, bound: float) -> None:
            self.said.append((cost, bound))

    watch = Watch()
    found = Optimal(time=3).solve(larger_problem(5), progress=watch)
    costs, bounds = np.array(watch.said).T
    assert (np.diff(costs) <= 1e-9).all()
    assert (np.diff(bounds) >= -1e-9).all()
    assert costs[-1] == pytest.approx(found.cost)
    assert all(0 <= done <= total for done, total in watch.bars)


def test_without_scip_the_way_to_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for by name it is an error with a cure; otherwise HiGHS does the work."""
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "pyscipopt" else find(name, *a))
    with pytest.raises(InputError, match=r"pip install 'discreet\[optimal\]'"):
        Optimal(solver="scip")
    monkeypatch.setitem(sys.modules, "pyscipopt", None)  # whoever imports it fails
    found = Optimal(time=TIME).solve(small_problem("two-way", 2))
    assert found.cost == pytest.approx(least_cost(small_problem("two-way", 2)))


@pytest.mark.parametrize("wrong", [{"time": 0}, {"time": -1}, {"gap": 1}, {"gap": -0.1}, {"solver": "cplex"}])
def test_parameters_are_checked(wrong: dict[str, Any]) -> None:
    """Nonsense is an error before anything is computed."""
    with pytest.raises(InputError):
        dc.Optimal(**wrong)
