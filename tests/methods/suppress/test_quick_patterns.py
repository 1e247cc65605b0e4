"""The exact method never returns a dearer pattern than elimination with clean-up or sub-tables from above."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.base.annotations import Array
from discreet.base.compiled import is_in_memory
from discreet.methods.suppress import solve
from discreet.methods.suppress.attacker.feasibility import met
from discreet.methods.suppress.exact.optimal import Optimal
from discreet.methods.suppress.gauss._kernel import eliminate_columns
from discreet.methods.suppress.heuristics.elimination import pattern_by_elimination
from discreet.methods.suppress.heuristics.prune import clean_up
from discreet.methods.suppress.hitas.hitas import Modular
from discreet.methods.suppress.model.problem import Problem
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning
from discreet.methods.suppress.quick_patterns import begun, quick_patterns
from tests.problems import larger_problem

ALWAYS = replace(DEFAULT, limits=replace(DEFAULT.limits, quick_from=0))
AMPLE = 3600.0


@pytest.mark.parametrize("seed", range(3))
def test_a_search_is_never_dearer_than_what_it_begins_with(seed: int) -> None:
    """However short its time is: of a dear pattern and a cheap one it has at most the cost of the cheap one."""
    problem = larger_problem(seed)
    everything = problem.hidden | problem.free
    cheap = clean_up(problem, everything)[0]
    solution = Optimal(time=0.2).solve(problem, others=[everything, cheap])
    assert solution.cost <= problem.cost(cheap) < problem.cost(everything)
    assert met(problem, solution.hidden).all()


@pytest.mark.parametrize("sizes", [{}, {"in_turn": 0}, {"large": 0}], ids=["as it is", "of many cells", "large"])
def test_the_cheapest_of_others_is_where_the_search_begins(sizes: dict[str, Any]) -> None:
    """An optimal pattern given beforehand comes back, in whatever way the search goes."""
    problem = larger_problem(1, (6, 5))
    best = Optimal(time=60).solve(problem)
    tuning = replace(DEFAULT, heuristics=replace(DEFAULT.heuristics, **sizes))
    assert Optimal(time=1).solve(problem, others=[best.hidden], tuning=tuning).cost == best.cost


@pytest.mark.parametrize("seed", range(2))
def test_quick_patterns_are_those_of_the_quick_methods_cleaned(seed: int) -> None:
    """They protect, and the first, which has time enough, costs what elimination does when cleaned to the last cell."""
    problem = larger_problem(seed)
    patterns = quick_patterns(problem, AMPLE, tuning=quickly())
    assert patterns  # on a busy machine not those of sub-tables, which have two seconds
    for pattern in patterns:
        assert met(problem, pattern).all()
    eliminated = clean_up(problem, pattern_by_elimination(problem))[0]
    assert problem.cost(patterns[0]) == problem.cost(eliminated)


def quickly() -> Tuning:
    """Time enough for elimination, two seconds for sub-tables, whose search goes on as long as it may."""
    return replace(ALWAYS, limits=replace(ALWAYS.limits, by_subtables=2 / AMPLE))


def test_a_pattern_that_does_not_protect_is_left_out() -> None:
    """Clean-up proves what it begins with: of a pattern of the sensitive cells alone nothing is handed on."""
    problem = larger_problem(1)
    assert not met(problem, problem.hidden).all()
    patterns = quick_patterns(problem, AMPLE, problem.hidden, tuning=quickly())
    assert all(met(problem, pattern).all() for pattern in patterns)
    assert not any(np.array_equal(pattern, problem.hidden) for pattern in patterns)


def test_elimination_is_machine_code_before_the_clock_starts() -> None:
    """Compiling takes longer than a short search has: afterwards nothing is left to compile for elimination."""
    begun(Optimal(time=1), larger_problem(1), tuning=ALWAYS)
    assert is_in_memory(eliminate_columns)


def test_only_the_exact_method_begins_so_and_pays_for_it() -> None:
    """Its time is shorter by what the others took; a pattern of elimination at hand is taken; others are left alone."""
    problem = larger_problem(1)
    pattern = pattern_by_elimination(problem)
    exact = Optimal(time=AMPLE)
    solver, patterns = begun(exact, problem, pattern, tuning=quickly())
    assert solver.time < exact.time
    assert problem.cost(patterns[0]) <= problem.cost(pattern)
    assert begun(exact, problem) == (exact, [])  # a small problem, by the usual tuning
    for other in (Modular(), replace(exact, resume="state")):
        assert begun(other, problem, tuning=ALWAYS) == (other, [])


def test_a_table_hands_over_what_elimination_hides(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pattern to fall back on is where the exact method begins, in the first round at least: it protects."""
    handed: list[bool] = []

    def recorded(solver: Any, problem: Problem, eliminated: Array) -> tuple[Any, list[Array]]:
        handed.append(bool(met(problem, eliminated).all()))
        return begun(solver, problem, eliminated)

    monkeypatch.setattr(solve, "begun", recorded)
    table = dc.Table.of(np.random.default_rng(3).poisson(30, (5, 4, 3)), ["a", "b", "c"])
    dc.protect(table, dc.Suppress(dc.Threshold(22), method=dc.Optimal(time=60)))
    assert handed[0]
