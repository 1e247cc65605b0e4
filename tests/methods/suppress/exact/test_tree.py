"""Branch and cut of our own: against all patterns of small problems, on one core and on two."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.methods.suppress.attacker.feasibility import check
from discreet.methods.suppress.exact import tree, worker
from discreet.methods.suppress.exact._kernels import COVERED, GAINED, HIDDEN
from discreet.methods.suppress.exact.branching import HUGE, LAST, ConflictHistory, nearest_to_a_half
from discreet.methods.suppress.exact.fixing import Level, _translated
from discreet.methods.suppress.exact.inequalities import Cut, Plane
from discreet.methods.suppress.exact.master import Relaxation
from discreet.methods.suppress.exact.nodes import Node
from discreet.methods.suppress.exact.optimal import Optimal
from discreet.methods.suppress.exact.search import Search
from discreet.methods.suppress.exact.separation import Separation
from discreet.methods.suppress.heuristics.incumbent import Clock, Goal, Incumbent
from discreet.methods.suppress.model.condense import condense
from tests.methods.suppress.exact.test_optimal import TIME, Judge, condensed, everywhere, least, made, points, smallest

Array = NDArray[Any]


def root(kind: str, seed: int, *, unity: bool = False) -> Level:
    """A problem of which nothing is known but that everything hidden protects."""
    small = condensed(kind, seed)
    problem = small.small
    if unity:
        weight = np.where(problem.free, 1.0, problem.weight)
        problem = type(problem)(problem.rows, problem.down, problem.up, weight, problem.hidden, problem.needs)
        small = type(small)(small.whole, problem, small.moves, small.group, small.base, small.hopeless)
    best = Incumbent(problem, 0.0, lambda cost, bound: None, problem.hidden | problem.free)
    return Level(small, best, 0.0, None, [])


@pytest.mark.parametrize("shared", [0, 10_000])
@everywhere
def test_the_tree_finds_and_proves_the_least_cost(
    kind: str, seed: int, shared: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a pattern that hides everything, without any other search; with two workers and with one."""
    monkeypatch.setattr(tree, "SHARED", shared)
    level = root(kind, seed)
    grown = tree.Tree(level)
    assert len(grown.workers) == (1 if shared else tree.THREADS)
    assert grown.run(time.monotonic() + TIME, 0.0)
    best, cost = level.best, least(level.problem)
    assert best.cost == pytest.approx(cost)
    assert best.bound == pytest.approx(cost)
    assert Judge(level.problem)(best.pattern)


@everywhere
def test_a_bound_of_the_tree_holds_whenever_it_is_stopped(kind: str, seed: int) -> None:
    """After no time at all, and after a little."""
    for seconds in (0.0, 0.02, 0.1):
        level = root(kind, seed)
        tree.Tree(level).run(time.monotonic() + seconds, 0.0)
        assert level.best.bound <= least(level.problem) + 1e-6
        assert Judge(level.problem)(level.best.pattern)


@everywhere
def test_a_dive_ends_in_a_pattern_that_protects(kind: str, seed: int) -> None:
    """Never cheaper than the cheapest, and cheaper than everything."""
    level = root(kind, seed)
    level.relaxation.run(time.monotonic() + 5)
    tree.Tree(level).dive(time.monotonic() + 0.3)
    assert check(level.problem, level.best.pattern).met.all()
    assert level.best.cost >= least(level.problem) - 1e-6


@everywhere
def test_steps_from_the_bound_lead_to_the_least_cost(kind: str, seed: int) -> None:
    """Nothing within reach is proved, one step on it is found; so it is by ``Optimal`` with weights of one."""
    level = root(kind, seed, unity=True)
    cost = least(level.problem)
    if cost > 0:
        short = Level(level.small, Goal(level.best, cost - 1), 0.0, None, [])
        assert tree.Tree(short).run(time.monotonic() + TIME, 0.0)
        assert level.best.bound == cost
    level = root(kind, seed, unity=True)
    Search().step_by_step(level, Clock(time.monotonic(), TIME))
    assert (level.best.cost, level.best.bound) == (cost, cost)


@everywhere
def test_the_rule_for_flat_nodes_leads_to_the_least_cost(kind: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Used at every node, whatever is missing."""
    monkeypatch.setattr(worker, "FLAT", np.inf)
    level = root(kind, seed, unity=True)
    grown = tree.Tree(level)
    assert grown.run(time.monotonic() + TIME, 0.0)
    cost = least(level.problem)
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


def test_the_last_choices_before_the_latest_nodes_are_blamed_most() -> None:
    """And no number of nodes is too large to count."""
    blame, cells = ConflictHistory(9), np.arange(9)
    assert blame.share(cells).tolist() == [0.0] * 9
    blame.closed(())
    assert blame.share(cells).tolist() == [0.0] * 9
    blame.closed(range(LAST + 2))
    assert blame.share(cells).tolist() == [0.0, 0.0, *[1.0] * LAST, *[0.0] * (7 - LAST)]
    blame.closed([8])
    share = blame.share(cells)
    assert share[8] == 1
    assert 0 < share[2] < 1
    for _ in range(20_000):
        blame.closed([7])
    share = blame.share(cells)
    assert share[7] == 1
    assert share[8] < 1e-9
    assert blame.worth <= HUGE


@everywhere
def test_a_node_without_patterns_is_proved_to_be_one(kind: str, seed: int) -> None:
    """Everything published: no level can be reached, which the solver's ray shows."""
    small = condensed(kind, seed)
    relaxation = Relaxation(small)
    relaxation.run(time.monotonic() + 5)
    if not relaxation.cuts:
        assert least(small.small) == 0
        return
    nothing = np.zeros(len(relaxation.free))
    relaxation.bounded(nothing, nothing)
    relaxation.solve()
    assert relaxation.bound == np.inf
    relaxation.bounded(nothing, np.ones(len(nothing)))
    relaxation.solve()
    assert relaxation.bound <= least(small.small) + 1e-6
    fresh = Relaxation(small)  # the first programme is presolved, which tells the impossible without a ray
    fresh.add(relaxation.rows)
    fresh.bounded(nothing, nothing)
    fresh.solve()
    assert fresh.bound == np.inf


@everywhere
def test_inequalities_hold_in_the_smaller_problem_too(kind: str, seed: int) -> None:
    """Some cells settled as a cheapest pattern has them: that pattern satisfies what is left of each inequality."""
    level = root(kind, seed)
    level.relaxation.run(time.monotonic() + 5)
    problem, random = level.problem, np.random.default_rng(seed)
    pattern = min(smallest(problem), key=problem.cost)
    settled = problem.free & (random.random(len(problem)) < 0.4)
    small = condense(problem.settled(settled & ~pattern, settled & pattern))
    assert not len(small.hopeless)
    x = small.shrink(pattern).astype(float)
    kept = [row for row in level.relaxation.rows if _translated(row, small) is not None]
    for row in kept:
        plane = _translated(row, small)
        assert plane is not None
        assert float(plane.plane.coefficient @ x[plane.plane.cell]) >= plane.plane.right - 1e-6


def test_covers_are_those_of_the_plain_loop() -> None:
    """The compiled loop chooses as many cells as trying all numbers does."""
    random = np.random.default_rng(1)
    for _ in range(200):
        n = int(random.integers(2, 12))
        cut = Cut(random.permutation(15)[:n], random.uniform(0.05, 1, n))
        x = np.clip(random.uniform(-0.5, 1.2, 15), 0, 1)
        order = np.argsort(-x[cut.cell], kind="stable")
        best = cut.slack(x)
        for k in range(1, n):
            rest = 1 - cut.coefficient[order[:k]].sum()
            if rest < COVERED or x[cut.cell[order[k - 1]]] < HIDDEN:
                break
            best = min(best, float(np.minimum(cut.coefficient[order[k:]] / rest, 1) @ x[cut.cell[order[k:]]]) - 1)
        assert best - 1e-9 <= cut.covered(x).slack(x) <= best + GAINED * n


def test_known_moves_are_tried_on_a_pattern() -> None:
    """They are possible where no cell goes further than the pattern lets it, and without moves nothing is known."""
    small = condensed("three-way", 0)
    separation = Separation(small)
    everything = np.where(small.small.hidden | small.small.free, 1.0, 0.0)
    assert separation.short(everything) == separation.order
    separation(everything)
    assert not separation.short(everything)
    assert separation.short(np.zeros(len(everything))) == separation.order
    for x in points(small.small, 1, 6):
        for k in range(len(separation.aims)):
            witness, room = separation.witness[k], np.zeros(len(x))
            np.maximum.at(room, witness.cells, np.abs(witness.by))
            limit = np.where(np.isfinite(small.small.up), np.minimum(small.small.up, small.small.down), 0) * x
            if (room <= limit).all():
                assert k not in separation.short(x)


def test_optimal_with_many_cores_is_the_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole way, trees of two workers throughout."""
    monkeypatch.setattr(tree, "SHARED", 0)
    for seed in (0, 1):
        problem = made("hierarchical", seed)
        assert Optimal(time=TIME).solve(problem).cost == pytest.approx(least(problem))


def test_an_inequality_of_any_sign_keeps_its_name() -> None:
    """The name tells equal ones from others."""
    one = Plane(np.array([1, 2]), np.array([1.0, -0.5]), 0.25)
    assert one.name == Plane(np.array([1, 2]), np.array([1.0, -0.5]), 0.25).name
    assert one.name != Plane(np.array([1, 2]), np.array([1.0, -0.5]), 0.5).name
    assert one.plane is one
