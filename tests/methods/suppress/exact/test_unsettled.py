"""A solver that gives up: nothing is called proved for it, and no pattern that protects is lost by it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dc
from discreet.errors import Unjudged
from discreet.linear.highs import Outcome
from discreet.methods.suppress import by_solver
from discreet.methods.suppress.attacker.furthest_move import Aim, FurthestMove, Limits, aims
from discreet.methods.suppress.exact import tree
from discreet.methods.suppress.exact.fixing import Stage
from discreet.methods.suppress.exact.optimal import Optimal, lower_bound
from discreet.methods.suppress.heuristics.incumbent import Incumbent
from discreet.methods.suppress.hitas.hitas import Modular
from tests.problems import TIME, Judge, condensed, larger_problem, least_cost, on_small_problems, small_problem, sound

Array = NDArray[Any]


class GivesUp:
    """A solver that settles nothing so many times: then it says nothing, or that everything is hidden."""

    def __init__(self, solver: Any, times: int, point: Callable[[int], Array]) -> None:
        self.solver, self.times, self.point = solver, times, point
        self.unsettled = False

    def run(self, *again: Any, **how: Any) -> Outcome:
        self.unsettled = self.times > 0
        self.times -= 1
        return Outcome.UNSETTLED if self.unsettled else self.solver.run(*again, **how)

    def answer(self) -> tuple[Array, Array]:
        lp = self.solver.highs.getLp()
        return (self.point(lp.num_col_), self.point(lp.num_row_) * 0) if self.unsettled else self.solver.answer()

    @property
    def row_values(self) -> Array:
        return self.point(self.solver.highs.getLp().num_row_) if self.unsettled else self.solver.row_values

    @property
    def ray(self) -> Array | None:
        return None if self.unsettled else self.solver.ray

    def __getattr__(self, name: str) -> Any:
        return getattr(self.solver, name)


def nothing(many: int) -> Array:
    return np.empty(0)


POINTS = pytest.mark.parametrize("point", [nothing, np.ones], ids=["nothing", "everything"])


def unsolved(kind: str, seed: int) -> Stage:
    """A problem of which nothing is known but that everything hidden protects."""
    small = condensed(kind, seed)
    best = Incumbent(small.small, 0.0, lambda cost, bound: None, small.small.hidden | small.small.free)
    return Stage(small, best)


@POINTS
@on_small_problems
def test_a_node_that_is_not_settled_stays_open(kind: str, seed: int, point: Callable[[int], Array]) -> None:
    """Its pattern may be any: nothing is proved by it. Settled the next time, the tree ends with the proof."""
    level = unsolved(kind, seed)
    grown = tree.Tree(level)
    assert len(grown.workers) == 1
    relaxation: Any = grown.workers[0].relaxation
    relaxation.solver = GivesUp(relaxation.solver, 10**9, point)
    cost = least_cost(level.problem)
    assert not grown.run(time.monotonic() + 0.5, 0.0)
    assert level.best.bound <= cost + 1e-6
    assert grown.nodes.left
    relaxation.solver.times = 0
    assert grown.run(time.monotonic() + TIME, 0.0)
    assert level.best.cost == pytest.approx(cost)
    assert level.best.bound == pytest.approx(cost)


@POINTS
@pytest.mark.parametrize("after", [1, 2, 4])
@on_small_problems
def test_a_solver_that_gives_up_once_proves_nothing_too_dear(
    kind: str, seed: int, after: int, point: Callable[[int], Array]
) -> None:
    """Somewhere in the tree, at both tries of one program: what is proved then is still true."""
    level = unsolved(kind, seed)
    grown = tree.Tree(level)
    relaxation: Any = grown.workers[0].relaxation
    solve, calls = relaxation.solve, 0

    def counted() -> None:
        nonlocal calls
        calls += 1
        if calls == after:
            relaxation.solver = GivesUp(relaxation.solver, 2, point)
        solve()

    relaxation.solve = counted
    ended = grown.run(time.monotonic() + TIME, 0.0)
    cost = least_cost(level.problem)
    assert level.best.bound <= cost + 1e-6
    assert Judge(level.problem)(level.best.pattern)
    if ended:
        assert level.best.cost == pytest.approx(cost)


@pytest.mark.parametrize("solver", ["highs", "scip"])
@pytest.mark.parametrize("after", [0, 3, 20, 60])
def test_an_attackers_program_not_settled_loses_no_pattern(
    solver: str, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pattern at hand stands, and no bound is beyond the least cost."""
    if solver == "scip":
        pytest.importorskip("pyscipopt")
    problem = small_problem("hierarchical", 1)
    cost = least_cost(problem)
    assert Optimal(time=TIME, solver=solver).solve(problem).cost == pytest.approx(cost)  # and all is compiled
    give_up(monkeypatch, after)
    solution = Optimal(time=3, solver=solver).solve(problem)
    assert sound(problem, solution)
    assert solution.bound <= cost + 1e-6
    assert solution.status == "time" or solution.cost == pytest.approx(cost)
    assert lower_bound(problem, 1.0) <= cost + 1e-6


def give_up(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """Let the attacker's programs of separation be unsettled from one on."""
    limits, calls = FurthestMove.limits, 0

    def few(self: FurthestMove, aim: Aim, x: Array, cap: float, tolerance: float) -> Limits:
        nonlocal calls
        calls += 1
        if calls > after:
            raise Unjudged("not settled")
        return limits(self, aim, x, cap, tolerance)

    monkeypatch.setattr(FurthestMove, "limits", few)


def test_sub_tables_without_separation_protect(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound is that of nothing at all; the pattern is one."""
    problem = larger_problem(1)
    assert sound(problem, Modular(time=5, exact=5).solve(problem))
    give_up(monkeypatch, 0)
    solution = Modular(time=3, exact=5).solve(problem)
    assert sound(problem, solution)
    assert solution.status == "time"


def test_a_start_is_returned_if_no_pattern_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is when the time is up; without one the doubt is told."""
    problem = small_problem("two-way", 1)
    start = problem.hidden | problem.free

    def unjudged(*_: Any) -> Any:
        raise Unjudged("not settled")

    monkeypatch.setattr(Optimal, "_solve", unjudged)
    solution = Optimal(time=1).solve(problem, start=start)
    assert (solution.status, solution.bound) == ("time", 0.0)
    assert np.array_equal(solution.hidden, start)
    with pytest.raises(Unjudged, match="not settled"):
        Optimal(time=1).solve(problem)


@pytest.mark.parametrize("where", ["solved", "_audited"])
def test_elimination_takes_the_place_of_a_pattern_that_is_not_judged(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Audited before, and nothing is claimed of its cost; without a limit there is none, and the doubt is told."""
    table = dc.Table.of([[20, 50, 9], [10, 2, 8], [30, 7, 5]], ["area", "sex"])

    def unjudged(*_: Any) -> Any:
        raise Unjudged("not settled")

    monkeypatch.setattr(by_solver, where, unjudged)
    how = dc.Suppress(dc.Threshold(3), method=dc.Optimal(time=5))
    done = dc.protect(table, how)
    assert done.details["solver status"] == "time"
    assert done.details["bound"] == 0
    assert dc.audit(done).ok
    monkeypatch.setattr(by_solver, "fall_back", lambda *_: None)
    with pytest.raises(Unjudged, match="not settled"):
        dc.protect(table, how)


def test_an_empty_answer_is_unjudged() -> None:
    """A solver that hands over no point gives no move."""
    small = condensed("two-way", 1)
    program: Any = FurthestMove(small)
    assert not program.by_moves
    program.solver = GivesUp(program.solver, 10, nothing)
    aim = aims(small.small)[0]
    with pytest.raises(Unjudged, match="does not settle"):
        program.limits(aim, np.ones(len(small.small)), 1.0, 1e-6)
