"""Branch and cut of our own: against all patterns of small problems, on one core and on two."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.methods.suppress.attacker.feasibility import examine
from discreet.methods.suppress.exact import tree
from discreet.methods.suppress.exact.branch_and_cut import BranchAndCut
from discreet.methods.suppress.exact.branching import nearest_to_a_half
from discreet.methods.suppress.exact.fixing import Stage, _translated
from discreet.methods.suppress.exact.master import Relaxation
from discreet.methods.suppress.exact.nodes import Node
from discreet.methods.suppress.exact.optimal import Optimal
from discreet.methods.suppress.heuristics.incumbent import Goal, Incumbent
from discreet.methods.suppress.model.clock import Clock
from discreet.methods.suppress.model.condense import condense
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning
from tests.problems import TIME, Judge, condensed, least_cost, minimal_patterns, on_small_problems, small_problem

Array = NDArray[Any]


def tuned(**exact: Any) -> Tuning:
    """The usual values of branch and cut but for some."""
    return replace(DEFAULT, exact=replace(DEFAULT.exact, **exact))


def root(kind: str, seed: int, *, unity: bool = False, **exact: float) -> Stage:
    """A problem of which nothing is known but that everything hidden protects; ``exact`` are tuning values."""
    small = condensed(kind, seed)
    problem = small.small
    if unity:
        weight = np.where(problem.free, 1.0, problem.weight)
        problem = type(problem)(problem.rows, problem.down, problem.up, weight, problem.hidden, problem.needs)
        small = type(small)(small.whole, problem, small.moves, small.group, small.base, small.hopeless)
    best = Incumbent(problem, 0.0, lambda cost, bound: None, problem.hidden | problem.free)
    return Stage(small, best, tuning=tuned(**exact))


@pytest.mark.parametrize("shared", [0, 10_000])
@on_small_problems
def test_the_tree_finds_and_proves_the_least_cost(
    kind: str, seed: int, shared: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a pattern that hides everything, without any other search; with two workers and with one."""
    monkeypatch.setenv("DISCREET_WORKERS", "2")
    level = root(kind, seed, shared=shared)
    grown = tree.Tree(level)
    assert len(grown.workers) == (1 if shared else 2)
    assert grown.run(time.monotonic() + TIME, 0.0)
    best, cost = level.best, least_cost(level.problem)
    assert best.cost == pytest.approx(cost)
    assert best.bound == pytest.approx(cost)
    assert Judge(level.problem)(best.pattern)


@on_small_problems
def test_a_bound_of_the_tree_holds_whenever_it_is_stopped(kind: str, seed: int) -> None:
    """After no time at all, and after a little."""
    for seconds in (0.0, 0.02, 0.1):
        level = root(kind, seed)
        tree.Tree(level).run(time.monotonic() + seconds, 0.0)
        assert level.best.bound <= least_cost(level.problem) + 1e-6
        assert Judge(level.problem)(level.best.pattern)


@on_small_problems
def test_a_dive_ends_in_a_pattern_that_protects(kind: str, seed: int) -> None:
    """Never cheaper than the cheapest, and cheaper than everything."""
    level = root(kind, seed)
    level.relaxation.run(time.monotonic() + 5)
    tree.Tree(level).dive(time.monotonic() + 0.3)
    assert examine(level.problem, level.best.pattern).met.all()
    assert level.best.cost >= least_cost(level.problem) - 1e-6


@on_small_problems
def test_steps_from_the_bound_lead_to_the_least_cost(kind: str, seed: int) -> None:
    """Nothing within reach is proved, one step on it is found; so it is by ``Optimal`` with weights of one."""
    level = root(kind, seed, unity=True)
    cost = least_cost(level.problem)
    if cost > 0:
        short = Stage(level.small, Goal(level.best, cost - 1))
        assert tree.Tree(short).run(time.monotonic() + TIME, 0.0)
        assert level.best.bound == cost
    level = root(kind, seed, unity=True)
    BranchAndCut().step_by_step(level, Clock(time.monotonic(), TIME))
    assert (level.best.cost, level.best.bound) == (cost, cost)


@on_small_problems
def test_the_rule_for_flat_nodes_leads_to_the_least_cost(kind: str, seed: int) -> None:
    """Used at every node, whatever is missing."""
    level = root(kind, seed, unity=True, flat=np.inf)
    grown = tree.Tree(level)
    assert grown.run(time.monotonic() + TIME, 0.0)
    cost = least_cost(level.problem)
    assert (level.best.cost, level.best.bound) == (cost, cost)
    assert Judge(level.problem)(level.best.pattern)


def test_a_flat_node_decides_what_is_near_a_half_and_has_closed_others() -> None:
    """Nearest to a half; of two as near the one with more room; one that has closed nodes before others."""
    level = root("three-way", 0, unity=True)
    grown = tree.Tree(level)
    relaxation, problem, free = grown.workers[0].relaxation, level.problem, level.relaxation.free
    room = np.minimum(problem.up, problem.down)[free]
    large, small = int(np.argmax(room)), int(np.argmin(room))
    assert room[large] > room[small]
    other = next(k for k in range(len(free)) if k not in (large, small))
    among = np.array([other, small, large])

    def chosen(**x: float) -> int:
        relaxation.x[free[among]] = [x["other"], x["small"], x["large"]]
        return nearest_to_a_half(relaxation, among, grown.nodes.conflicts)

    assert chosen(other=0.9, small=0.5, large=0.5) == large
    assert chosen(other=0.9, small=0.5, large=0.6) == small
    grown.nodes.give(0, Node(np.zeros(len(free)), np.ones(len(free)), 0.0, (other,)), [])
    assert chosen(other=0.9, small=0.5, large=0.6) == other
    assert chosen(other=1 - 1e-5, small=0.5 - 1e-3, large=0.5) == other


@on_small_problems
def test_a_node_without_patterns_is_proved_to_be_one(kind: str, seed: int) -> None:
    """Everything published: no level can be reached, which the solver's ray shows."""
    small = condensed(kind, seed)
    relaxation = Relaxation(small)
    relaxation.run(time.monotonic() + 5)
    if not relaxation.cuts:
        assert least_cost(small.small) == 0
        return
    nothing = np.zeros(len(relaxation.free))
    relaxation.bounded(nothing, nothing)
    relaxation.solve()
    assert relaxation.bound == np.inf
    relaxation.bounded(nothing, np.ones(len(nothing)))
    relaxation.solve()
    assert relaxation.bound <= least_cost(small.small) + 1e-6
    fresh = Relaxation(small)  # the first programme is presolved, which tells the impossible without a ray
    fresh.add(relaxation.rows)
    fresh.bounded(nothing, nothing)
    fresh.solve()
    assert fresh.bound == np.inf


@on_small_problems
def test_inequalities_hold_in_the_smaller_problem_too(kind: str, seed: int) -> None:
    """Some cells settled as a cheapest pattern has them: that pattern satisfies what is left of each inequality."""
    level = root(kind, seed)
    level.relaxation.run(time.monotonic() + 5)
    problem, random = level.problem, np.random.default_rng(seed)
    pattern = min(minimal_patterns(problem), key=problem.cost)
    settled = problem.free & (random.random(len(problem)) < 0.4)
    small = condense(problem.settled(settled & ~pattern, settled & pattern))
    assert not len(small.hopeless)
    x = small.shrink(pattern).astype(float)
    kept = [row for row in level.relaxation.rows if _translated(row, small, DEFAULT.exact.least_left) is not None]
    for row in kept:
        plane = _translated(row, small, DEFAULT.exact.least_left)
        assert plane is not None
        assert float(plane.plane.coefficient @ x[plane.plane.cell]) >= plane.plane.right - 1e-6


def test_optimal_with_many_cores_is_the_optimum() -> None:
    """The whole way, trees of two workers throughout."""
    for seed in (0, 1):
        problem = small_problem("hierarchical", seed)
        assert Optimal(time=TIME).solve(problem, tuning=tuned(shared=0)).cost == pytest.approx(least_cost(problem))
