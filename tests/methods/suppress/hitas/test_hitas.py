"""Sub-table by sub-table: patterns protect the whole system, and parts are as good as the whole."""

from __future__ import annotations

import time

import numpy as np
import pytest

from discreet import Dimension
from discreet.errors import InputError
from discreet.methods.suppress.attacker.feasibility import examine
from discreet.methods.suppress.exact.optimal import Optimal
from discreet.methods.suppress.hitas.hitas import Modular, SubtableRun
from discreet.methods.suppress.model.independent_parts import restrict
from discreet.methods.suppress.model.problem import Problem, Requirements
from discreet.methods.suppress.model.solution import UnprotectedError
from discreet.tables.layout import Layout
from discreet.tables.relations import of_layout
from tests.problems import AREAS, blocks_of_layout, hierarchical, least_cost, square


def above(problem: Problem, layout: Layout, threads: int | None = None) -> np.ndarray | None:
    """What the way from above alone finds."""
    run = SubtableRun(Modular(time=120, threads=threads), problem, time.monotonic(), None)
    return run.from_above(blocks_of_layout(layout))


@pytest.mark.parametrize("seed", range(5))
def test_patterns_protect_the_whole_system(seed: int) -> None:
    """Every need is met by moves that keep all sums, whatever the sub-tables look like."""
    problem, _ = hierarchical(seed, zeros=0.15 * (seed % 2))
    found = Modular(time=3, exact=15).solve(problem)
    assert examine(problem, found.hidden).met.all()
    assert found.hidden[problem.hidden].all()
    assert not (found.hidden & np.isinf(problem.weight)).any()
    assert found.cost == pytest.approx(problem.cost(found.hidden))
    assert found.bound <= Optimal(time=20).solve(problem).cost + 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_from_above_protects_by_itself_and_is_near_the_least_cost(seed: int) -> None:
    """The way from above needs no repair, and costs at most twice the optimum on small tables."""
    problem, layout = hierarchical(seed)
    pattern = above(problem, layout)
    assert pattern is not None
    assert examine(problem, pattern).met.all()
    least = Optimal(time=60).solve(problem)
    assert least.bound - 1e-6 <= problem.cost(pattern) <= 2 * least.cost


@pytest.mark.parametrize("seed", range(4))
def test_tiny_tables_reach_the_least_cost(seed: int) -> None:
    """Never below what trying everything finds, and on so small a table not above."""
    random = np.random.default_rng(seed)
    problem = square(random.integers(1, 40, (3, 2)).tolist(), [int(random.integers(0, 2))])
    assert Modular(time=3, exact=4).solve(problem).cost == pytest.approx(least_cost(problem))
    assert Modular(time=3).solve(problem).cost == pytest.approx(least_cost(problem))


def test_a_sub_table_sends_those_above_back_to_work() -> None:
    """Where the part beside a sensitive one must be published, its total is hidden, and then another one above."""
    layout = Layout.of([Dimension.from_parents("area", {"n1": "N", "n2": "N", "s1": "S", "s2": "S"})])
    code = {c: k for k, c in enumerate(layout.dimensions[0].codes)}
    value = layout.aggregate(np.array([4, 30, 20, 15])).astype(float)
    weight = value.copy()
    weight[code["n2"]] = np.inf
    hidden = np.arange(len(value)) == code["n1"]
    needs = Requirements.of(np.array([code["n1"]]), np.ones(1), np.ones(1))
    problem = Problem(of_layout(layout), value, value, weight, hidden, needs)
    pattern = above(problem, layout)
    assert pattern is not None
    shown = {c for c, k in code.items() if pattern[k]}
    assert shown == {"n1", "N", "S", "s2"}  # S is cheaper than the total; of its parts s2 is


def test_threads_change_nothing() -> None:
    """One thread and two find the same pattern when nothing runs out of time."""
    problem, layout = hierarchical(3)
    one, two = above(problem, layout, 1), above(problem, layout, 2)
    assert one is not None
    assert two is not None
    assert np.array_equal(one, two)


def test_linked_tables_get_one_pattern() -> None:
    """Tables that share a margin are one system, and the pattern protects each of them alone, too."""
    dims = [Dimension.from_parents("area", AREAS), Dimension.flat("sex", ["f", "m"]), Dimension.flat("age", range(3))]
    margins = [["area", "sex"], ["area", "age"]]
    layout = Layout.of(dims, margins)
    random = np.random.default_rng(5)
    inner = random.integers(1, 30, layout.n_inner)
    rows, n = of_layout(layout), len(layout)
    value = np.concatenate([layout.aggregate(inner), inner]).astype(float)[: rows.shape[1]]
    unseen = np.arange(len(value)) >= n  # inner cells that no table shows
    sensitive = random.choice(np.flatnonzero((layout.codes[:, 0] > 0) & (layout.aggregate(inner) < 60)), 4, False)
    hidden = unseen | np.isin(np.arange(len(value)), sensitive)
    needs = Requirements.of(sensitive, 0.2 * value[sensitive], 0.2 * value[sensitive])
    problem = Problem(rows, value, 2 * value, np.where(unseen, 0, value), hidden, needs)
    found = Modular(time=4, exact=10).solve(problem)
    assert examine(problem, found.hidden).met.all()
    for margin in margins:
        own = Layout.of(dims, [margin])
        at = np.flatnonzero(np.isin(layout.flat, own.flat))
        inside = np.flatnonzero(np.add.reduceat(np.isin(rows.indices, at), rows.indptr[:-1]) == np.diff(rows.indptr))
        alone = restrict(problem, at, inside)
        assert len(alone.needs)
        assert examine(alone, found.hidden[at]).met.all()


def test_what_cannot_be_protected_is_named() -> None:
    """The same error as the exact method's, with the numbers of the needs."""
    problem = square([[5, 6], [7, 8]], [0], weight=np.full(9, np.inf))
    for method in (Modular(), Modular(exact=1)):
        with pytest.raises(UnprotectedError, match="cannot be met"):
            method.solve(problem)


@pytest.mark.parametrize("wrong", [{"time": 0}, {"exact": 0}, {"largest": 2}])
def test_parameters_are_checked(wrong: dict[str, int]) -> None:
    """Nonsense is an error before anything is computed."""
    with pytest.raises(InputError):
        Modular(**wrong)


def test_progress_counts_the_time() -> None:
    """The bar moves forward and never beyond its end."""
    problem, _ = hierarchical(2)
    said: list[tuple[int, int]] = []
    Modular(time=2, exact=15).solve(problem, progress=lambda done, total: said.append((done, total)))
    assert said
    assert all(0 <= done <= total == 2 for done, total in said)
    assert [d for d, _ in said] == sorted(d for d, _ in said)
