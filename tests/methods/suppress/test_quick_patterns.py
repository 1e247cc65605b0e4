"""The exact method never returns a dearer pattern than elimination with clean-up or sub-tables from above."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.base.annotations import Array
from discreet.base.compiled import is_in_memory
from discreet.errors import OutOfTimeError
from discreet.methods.suppress import quick_patterns, solve
from discreet.methods.suppress.attacker.feasibility import met
from discreet.methods.suppress.exact.optimal import Optimal
from discreet.methods.suppress.gauss._random_move import eliminate_rows
from discreet.methods.suppress.heuristics.elimination import pattern_by_elimination
from discreet.methods.suppress.heuristics.incumbent import SharedPattern
from discreet.methods.suppress.heuristics.prune import clean_up
from discreet.methods.suppress.hitas.hitas import Modular
from discreet.methods.suppress.model.problem import Problem
from discreet.methods.suppress.model.solution import OPTIMAL, TIME, Solution
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning
from discreet.methods.suppress.quick_patterns import Portfolio, solution_of
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


@pytest.mark.parametrize("method", [Optimal(time=0.2), Modular(time=0.2, exact=1)], ids=["exact", "sub-tables"])
def test_what_others_have_found_is_taken_and_what_is_found_is_told(method: Any) -> None:
    """A method beside others returns nothing dearer than theirs, and sub-tables hand over what they find."""
    problem = larger_problem(2)
    cheap = clean_up(problem, problem.hidden | problem.free)[0]
    shared = SharedPattern(problem)
    shared.offer(problem.hidden | problem.free)
    shared.offer(cheap)
    shared.offer(problem.hidden | problem.free)
    solution = method.solve(problem, shared=shared)
    assert shared.cost <= problem.cost(cheap)
    assert solution.cost <= problem.cost(cheap)
    assert met(problem, solution.hidden).all()


@pytest.mark.parametrize("sizes", [{}, {"large": 0}], ids=["as it is", "large"])
def test_a_pattern_that_arrives_during_the_search_is_taken(sizes: dict[str, Any]) -> None:
    """What another thread puts down after the search has begun is where the search goes on."""
    problem = larger_problem(1, (6, 5))
    best = Optimal(time=60).solve(problem)
    shared = SharedPattern(problem)

    class Watching:
        """Puts the optimal pattern down when the first one is reported."""

        def __call__(self, done: int, total: int) -> None:
            pass

        def tell(self, cost: float, bound: float) -> None:
            shared.offer(best.hidden)

    tuning = replace(DEFAULT, heuristics=replace(DEFAULT.heuristics, **sizes))
    found = Optimal(time=1).solve(problem, shared=shared, progress=Watching(), tuning=tuning)
    assert found.cost == best.cost


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("seed", range(2))
def test_the_exact_method_is_never_dearer_than_elimination_cleaned(
    seed: int, workers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one worker or more: its pattern protects and costs at most what elimination does, cleaned to the end."""
    monkeypatch.setenv("DISCREET_WORKERS", workers)
    problem = larger_problem(seed)
    solution = solution_of(Optimal(time=AMPLE, gap=0.9), problem, tuning=quickly())
    assert met(problem, solution.hidden).all()
    assert solution.cost <= problem.cost(clean_up(problem, pattern_by_elimination(problem))[0])
    assert solution.bound <= solution.cost == problem.cost(solution.hidden)


def quickly() -> Tuning:
    """Time enough for elimination, a second for sub-tables, whose search goes on as long as it may."""
    return replace(ALWAYS, limits=replace(ALWAYS.limits, by_subtables=1 / AMPLE, subtables_from=1))


def portfolio(problem: Problem, seconds: float = AMPLE) -> Portfolio:
    """Nothing found as yet."""
    return Portfolio(Optimal(time=seconds), problem, SharedPattern(problem), time.monotonic(), tuning=quickly())


def test_a_pattern_that_does_not_protect_is_left_out() -> None:
    """Of a pattern of the sensitive cells alone nothing is handed on; one that protects is."""
    problem = larger_problem(1)
    assert not met(problem, problem.hidden).all()
    methods = portfolio(problem)
    methods.eliminate(1.0, problem.hidden)
    assert methods.shared.pattern is None
    methods.eliminate(1.0, problem.hidden | problem.free)
    assert methods.shared.cost < problem.cost(problem.hidden | problem.free)


def test_elimination_counts_also_where_there_is_no_time_to_clean_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its pattern is proved by itself."""

    def late(*_: Any, **__: Any) -> None:
        raise OutOfTimeError

    monkeypatch.setattr(quick_patterns, "clean_up", late)
    problem = larger_problem(1)
    methods = portfolio(problem)
    methods.eliminate(1.0)
    assert methods.shared.cost == problem.cost(pattern_by_elimination(problem))


def test_the_cheapest_pattern_and_the_best_bound_of_all_are_told() -> None:
    """Whichever method has found them; a proof of the least cost stays one."""
    problem = larger_problem(1)
    everything = problem.hidden | problem.free
    cheap, dear = clean_up(problem, everything)[0], problem.cost(everything)
    methods = portfolio(problem)
    methods.shared.offer(cheap)
    cost = methods.shared.cost
    after = methods._with_best(Solution(everything, dear, 0.1 * cost, TIME, 1.0), [0.5 * cost])
    assert (after.cost, after.bound, after.status) == (cost, 0.5 * cost, TIME)
    assert np.array_equal(after.hidden, cheap)
    assert methods._with_best(Solution(everything, dear, 0.1 * cost, TIME, 1.0), [cost]).status == OPTIMAL
    proved = Solution(cheap, cost, cost, OPTIMAL, 1.0)
    assert methods._with_best(proved, []).status == OPTIMAL


@pytest.mark.parametrize("workers", ["1", "2"])
def test_another_method_may_have_a_pattern_where_the_exact_one_has_none(
    workers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is waited for and returned without a claim; where nobody has one the time that was given is named."""
    monkeypatch.setenv("DISCREET_WORKERS", workers)
    problem = larger_problem(1)

    def late(*_: Any, **__: Any) -> Any:
        raise OutOfTimeError

    monkeypatch.setattr(Optimal, "solve", late)
    monkeypatch.setattr(Portfolio, "eliminate", lambda self, *_: None)
    everything = problem.hidden | problem.free

    def offered(self: Portfolio, share: float) -> list[float]:
        self.shared.offer(everything)
        return [1.0]

    monkeypatch.setattr(Portfolio, "by_subtables", offered)
    solution = portfolio(problem).solution()
    assert (solution.cost, solution.bound, solution.status) == (problem.cost(everything), 1.0, TIME)
    monkeypatch.setattr(Portfolio, "by_subtables", lambda *_: [])
    with pytest.raises(OutOfTimeError, match="3600 seconds"):
        portfolio(problem).solution()


def test_elimination_is_machine_code_before_the_clock_starts() -> None:
    """Compiling takes longer than a short search has: afterwards nothing is left to compile for elimination."""
    solution_of(Optimal(time=1, gap=0.9), larger_problem(1), tuning=ALWAYS)
    assert is_in_memory(eliminate_rows)


def test_only_the_exact_method_has_the_others_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not where the problem is small, the method is another, or a state of the search is gone on from."""
    problem = larger_problem(1)
    begun: list[Any] = []
    monkeypatch.setattr(Portfolio, "solution", lambda self, eliminated: begun.append(eliminated))
    pattern = pattern_by_elimination(problem)
    solution_of(Optimal(time=1), problem, eliminated=pattern, tuning=ALWAYS)
    assert begun == [pattern]
    solved: list[Any] = []
    for method in (Optimal, Modular):
        monkeypatch.setattr(method, "solve", lambda self, *_, **__: solved.append(self))
    others = [Optimal(time=1), Modular(), Optimal(resume="state")]
    for other, tuning in zip(others, (DEFAULT, ALWAYS, ALWAYS), strict=True):
        solution_of(other, problem, tuning=tuning)
    assert solved == others
    assert begun == [pattern]


def test_a_table_hands_over_what_elimination_hides(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pattern to fall back on is where the exact method begins, in the first round at least: it protects."""
    handed: list[bool] = []

    def recorded(solver: Any, problem: Problem, *, eliminated: Array, progress: Any) -> Any:
        handed.append(bool(met(problem, eliminated).all()))
        return solution_of(solver, problem, eliminated=eliminated, progress=progress)

    monkeypatch.setattr(solve, "solution_of", recorded)
    table = dc.Table.of(np.random.default_rng(3).poisson(30, (5, 4, 3)), ["a", "b", "c"])
    dc.protect(table, dc.Suppress(dc.Threshold(22), method=dc.Optimal(time=60)))
    assert handed[0]
