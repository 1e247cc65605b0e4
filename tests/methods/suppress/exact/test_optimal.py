"""The exact method on problems so small that all patterns can be tried: costs, bounds, inequalities, and manners."""

from __future__ import annotations

import importlib.util
import stat
import sys
import time
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import highspy
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack, vstack

import discreet as dc
from discreet import Dimension, InputError
from discreet.linear import null_space as moves
from discreet.methods.suppress.attacker.feasibility import check
from discreet.methods.suppress.attacker.furthest_move import FAR
from discreet.methods.suppress.exact.inequalities import Bridge, bridge
from discreet.methods.suppress.exact.master import Relaxation
from discreet.methods.suppress.exact.optimal import Optimal, lower_bound
from discreet.methods.suppress.exact.separation import Separation, violated
from discreet.methods.suppress.model.condense import Condensed, condense
from discreet.methods.suppress.model.problem import Needs, Problem
from discreet.methods.suppress.model.solution import Solution, UnprotectedError
from discreet.tables.layout import Layout
from discreet.tables.relations import of_layout

Array = NDArray[Any]
SOLVERS = ("scip", "highs")
KINDS = ("two-way", "three-way", "hierarchical")
SEEDS = (0, 1, 4)
FREE = {"two-way": 12, "three-way": 18, "hierarchical": 17}  # cells with a choice
TIME = 20


def layout_of(kind: str) -> Layout:
    if kind == "two-way":
        return Layout.of([Dimension.flat(name, range(3)) for name in "ab"])
    if kind == "three-way":
        return Layout.of([Dimension.flat(name, range(2)) for name in "abc"])
    area = Dimension.from_parents("area", {"n1": "N", "n2": "N", "s1": "S", "s2": "S", "w1": "W"})
    return Layout.of([area, Dimension.flat("sex", ["f", "m"])])


def drawn(kind: str, seed: int) -> Problem:
    """A table whose needs, weights and bounds are of all kinds; cells outside of some short moves must be published."""
    random = np.random.default_rng((KINDS.index(kind), seed))
    layout = layout_of(kind)
    rows, value = of_layout(layout), layout.aggregate(random.integers(1, 30, layout.n_inner)).astype(float)
    n = len(value)
    cell = random.choice(np.flatnonzero(layout.inner_of_cell >= 0), 3, replace=False)
    hidden = np.isin(np.arange(n), cell)
    open_ = np.zeros(n, bool)
    for turn in range(24):
        wider = (open_ | short_move(rows, int(cell[turn % 3]), random)) & ~hidden
        open_ = wider if wider.sum() <= FREE[kind] else open_
    weight = np.where(hidden, 0, np.where(open_, np.ones(n) if seed % 2 else value, np.inf))
    down, up = (np.where(hidden, value, np.ceil(random.uniform(0.05, 0.8, n) * value)) for _ in range(2))
    up[~hidden & (random.random(n) < 0.2)] = np.inf
    below, above = np.ceil(0.3 * value[cell]), np.ceil(0.4 * value[cell])
    needs = Needs.of(cell, below, above * [1, 1, 0], np.ceil(value[cell] * [0, 0.7, 0]))
    insider = Needs(cell[:1], np.zeros(1), np.zeros(1), np.ones(1), np.zeros(1, np.int64), (cell[1:2],))
    return Problem(rows, down, up, weight, hidden, needs + insider if seed % 3 else needs)


def short_move(rows: csr_array, cell: int, random: np.random.Generator) -> Array:
    """Cells of a move of this one, as short as random prices make it."""
    price, start = random.random(rows.shape[1]) + 0.1, np.zeros(rows.shape[0])
    one = csr_array(([1.0, -1.0], ([0, 0], [cell, cell + rows.shape[1]])), shape=(1, 2 * rows.shape[1]))
    equal = vstack([hstack([rows, -rows]), one], format="csr")
    done = linprog(np.tile(price, 2), A_eq=equal, b_eq=np.append(start, 1.0), method="highs")
    return np.abs(done.x[: len(price)] - done.x[len(price) :]) > 1e-9


@cache
def made(kind: str, seed: int) -> Problem:
    """The first such table that can be protected, though not by its sensitive cells alone."""
    for turn in range(1000):
        problem = drawn(kind, seed + 100 * turn)
        judge = Judge(problem)
        if judge(problem.hidden | problem.free) and not judge(problem.hidden):
            return problem
    raise AssertionError("none in a thousand")


@cache
def smallest(problem: Problem) -> tuple[Array, ...]:
    """Every protecting pattern that protects no more when any of its cells is published."""
    free, judge = np.flatnonzero(problem.free), Judge(problem)
    found: list[frozenset[int]] = []

    def branch(pattern: Array, rest: Array) -> None:
        """All of them between a pattern and the same with the rest."""
        if judge(pattern):
            found.append(frozenset(np.flatnonzero(pattern & ~problem.hidden).tolist()))
        elif len(rest) and judge(pattern | np.isin(np.arange(len(pattern)), rest)):
            branch(pattern, rest[1:])
            branch(pattern | (np.arange(len(pattern)) == rest[0]), rest[1:])

    branch(problem.hidden, free)
    kept = [one for one in found if not any(other < one for other in found)]
    return tuple(with_cells(problem, one) for one in kept)


class Judge:
    """Whether patterns protect, by one linear programme after the other as one would write them."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.n = problem, len(problem)
        self.order = list(range(len(problem.needs)))
        rows, nothing = problem.rows, np.zeros(problem.rows.shape[0])
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = self.n, rows.shape[0]
        lp.col_cost_ = lp.col_lower_ = lp.col_upper_ = np.zeros(self.n)
        lp.row_lower_ = lp.row_upper_ = nothing
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = rows.indptr, rows.indices, rows.data
        self.highs = highspy.Highs()
        self.highs.setOptionValue("output_flag", False)
        self.highs.passModel(lp)

    def __call__(self, pattern: Array) -> bool:
        for place, k in enumerate(self.order):
            if not self.met(pattern, k):
                self.order.insert(0, self.order.pop(place))  # asked first next time
                return False
        return True

    def met(self, pattern: Array, need: int) -> bool:
        needs, cell = self.problem.needs, int(self.problem.needs.cell[need])
        able = pattern.copy()
        if needs.coalition[need] >= 0:
            able[needs.known[needs.coalition[need]]] = False
        down, up = (np.minimum(side, 1e6) * able for side in (self.problem.down, self.problem.up))
        self.highs.changeColsBounds(self.n, np.arange(self.n, dtype=np.int32), -down, up)
        ends = []
        for sign in (1.0, -1.0):
            self.highs.changeColCost(cell, sign)
            self.highs.run()
            ends.append(-float(self.highs.getInfo().objective_function_value))
        self.highs.changeColCost(cell, 0.0)
        wanted = (ends[0], needs.below[need]), (ends[1], needs.above[need]), (sum(ends), needs.sliding[need])
        return all(got >= asked - 1e-6 for got, asked in wanted)


def with_cells(problem: Problem, cells: Any) -> Array:
    pattern = problem.hidden.copy()
    pattern[list(cells)] = True
    return pattern


def least(problem: Problem) -> float:
    return min(problem.cost(pattern) for pattern in smallest(problem))


@cache
def condensed(kind: str, seed: int) -> Condensed:
    return condense(made(kind, seed))


def points(problem: Problem, seed: int, many: int) -> list[Array]:
    """Patterns in fractions, from nearly whole to none in particular."""
    random = np.random.default_rng(seed)
    found = []
    for k in range(many):
        x = random.random(len(problem)) ** (1 + k % 4) * (random.random(len(problem)) < 0.3 + 0.2 * (k % 3))
        found.append(np.where(problem.hidden, 1.0, np.where(problem.free, x, 0.0)))
    return found


everywhere = pytest.mark.parametrize(("kind", "seed"), [(kind, seed) for kind in KINDS for seed in SEEDS])
with_both = pytest.mark.parametrize("solver", SOLVERS)


def table(seed: int, shape: tuple[int, int] = (14, 10), share: float = 0.12) -> Problem:
    """One that is not solved in no time."""
    random = np.random.default_rng(seed)
    layout = Layout.of([Dimension.flat(name, range(size)) for name, size in zip("ab", shape, strict=True)])
    value = layout.aggregate(random.lognormal(3, 1.2, layout.n_inner).round() + 1).astype(float)
    hidden = (layout.inner_of_cell >= 0) & (random.random(len(value)) < share)
    cell = np.flatnonzero(hidden)
    needs = Needs.of(cell, 0.15 * value[cell], 0.15 * value[cell])
    return Problem(of_layout(layout), value, value, value.copy(), hidden, needs)


# -- costs ------------------------------------------------------------------------------------------------------------


@with_both
@everywhere
def test_the_least_cost_is_found_and_proved(kind: str, seed: int, solver: str) -> None:
    """The same as by trying all patterns, for needs, weights and bounds of all kinds."""
    problem = made(kind, seed)
    found = Optimal(time=TIME, solver=solver).solve(problem)
    assert found.status == "optimal"
    assert found.cost == found.bound == pytest.approx(least(problem))
    assert problem.cost(found.hidden) == pytest.approx(found.cost)
    assert Judge(problem)(found.hidden)
    assert not (found.hidden & np.isinf(problem.weight)).any()
    assert found.gap == 0
    assert "optimal" in repr(found)


@everywhere
def test_the_relaxation_alone_is_a_bound(kind: str, seed: int) -> None:
    """Below the least cost, whatever time it has."""
    for seconds in (0.0, 5.0):
        assert lower_bound(made(kind, seed), seconds) <= least(made(kind, seed)) + 1e-6


@with_both
def test_free_cells_cost_nothing(solver: str) -> None:
    """Weights of nothing are allowed, and so are other weights than whole ones."""
    problem = made("two-way", 0)
    random = np.random.default_rng(3)
    weight = np.where(problem.free, random.random(len(problem)).round(3), problem.weight)
    weight[np.flatnonzero(problem.free)[:2]] = 0
    problem = replace(problem, weight=weight)
    found = Optimal(time=TIME, solver=solver).solve(problem)
    assert found.cost == pytest.approx(least(problem))
    assert found.bound <= least(problem) + 1e-9


@with_both
def test_two_runs_find_the_same(solver: str) -> None:
    """The seed decides, not the clock."""
    one, two = (Optimal(time=TIME, solver=solver).solve(made("hierarchical", 2)) for _ in range(2))
    assert np.array_equal(one.hidden, two.hidden)
    assert (one.cost, one.bound) == (two.cost, two.bound)


def test_nothing_to_do_costs_nothing() -> None:
    """Without needs no cell is hidden for others' sake."""
    problem = made("two-way", 0)
    found = Optimal(time=TIME).solve(problem.with_needs(problem.needs.take(np.empty(0, np.int64))))
    assert (found.cost, found.bound, found.status) == (0, 0, "optimal")
    assert np.array_equal(found.hidden, problem.hidden)


# -- inequalities -----------------------------------------------------------------------------------------------------


@everywhere
def test_no_inequality_cuts_off_a_pattern_that_protects(kind: str, seed: int) -> None:
    """At patterns in fractions: each is violated there and satisfied by all that protect, strengthened ones too."""
    small = condensed(kind, seed)
    patterns = np.array(smallest(small.small), float)
    separation = Separation(small)
    many = 0
    for k, x in enumerate(points(small.small, seed, 12)):
        for cut in separation(x, cap=FAR if k % 2 else 1.0):
            many += 1
            assert (cut.coefficient > 0).all()
            assert (cut.coefficient <= 1).all()
            assert small.small.free[cut.cell].all()
            for one in (cut, cut.covered(x)):
                assert (patterns[:, one.cell] @ one.coefficient >= 1 - 1e-6).all()
            assert cut.covered(x).slack(x) <= cut.slack(x) + 1e-9
    assert many or len(patterns) == 1


@everywhere
def test_whole_patterns_are_judged_rightly(kind: str, seed: int) -> None:
    """One that protects violates nothing, and one that does not violates something."""
    small = condensed(kind, seed)
    problem, separation = small.small, Separation(small)
    for pattern in smallest(problem):
        assert not violated(separation, pattern.astype(float))
        for cell in np.flatnonzero(pattern & ~problem.hidden)[:3]:
            x = np.where(np.arange(len(pattern)) == cell, 0.0, pattern)
            found = violated(separation, x)
            assert found
            assert min(cut.slack(x) for cut in found) < 0


@everywhere
def test_the_relaxation_keeps_every_smallest_pattern(kind: str, seed: int) -> None:
    """All of its inequalities hold for them, bridges too: no cell is in them without company."""
    small = condensed(kind, seed)
    relaxation = Relaxation(small)
    relaxation.run(time.monotonic() + 5)
    bridges = [row for row in relaxation.rows if isinstance(row, Bridge)]
    for x in points(small.small, seed, 6):
        for cell in np.flatnonzero(small.small.free & (x > 0.1)):
            if (row := bridge(relaxation.separation.programs[0], int(cell), x)) is not None:
                assert x[row.others].sum() < x[cell]
                bridges.append(row)
    for pattern in smallest(small.small):
        x = pattern.astype(float)
        assert all(cut.slack(x) >= -1e-6 for cut in relaxation.cuts)
        assert all(x[row.others].sum() >= x[row.cell] for row in bridges)
    assert relaxation.bound <= least(small.small) + 1e-6


@everywhere
def test_what_is_fixed_is_so_in_every_cheaper_pattern(kind: str, seed: int) -> None:
    """Reduced costs of the relaxation against all patterns cheaper than a dear one."""
    from discreet.methods.suppress.exact.fixing import Level
    from discreet.methods.suppress.heuristics.incumbent import Incumbent

    small = condensed(kind, seed)
    problem = small.small
    dear = max(smallest(problem), key=problem.cost)
    level = Level(small, Incumbent(problem, small.base, lambda cost, bound: None, dear), 0.0, None, [])
    level.relaxation.run(time.monotonic() + 5)
    out, into = level.fixed()
    for pattern in smallest(problem):
        if problem.cost(pattern) < problem.cost(dear) - 1e-9:
            assert not pattern[out].any()
            assert pattern[into].all()


# -- the smaller problem ----------------------------------------------------------------------------------------------


@everywhere
def test_a_smaller_problem_has_the_same_patterns(kind: str, seed: int) -> None:
    """Made larger, its patterns protect at the same cost; made smaller, those of the whole do."""
    problem, small = made(kind, seed), condensed(kind, seed)
    judge, of_small = Judge(problem), Judge(small.small)
    assert len(small.small) <= len(problem)
    assert not len(small.hopeless)
    for pattern in smallest(small.small):
        whole = small.expand(pattern)
        assert judge(whole)
        assert problem.cost(whole) == pytest.approx(small.small.cost(pattern) + small.base)
        assert np.array_equal(small.shrink(whole), pattern)
    for whole in smallest(problem):
        assert of_small(small.shrink(whole))
        assert problem.cost(small.expand(small.shrink(whole))) <= problem.cost(whole) + 1e-9


@everywhere
def test_a_basis_has_all_moves(kind: str, seed: int) -> None:
    """Each keeps every sum, none is needless, and there are as many as there can be."""
    for rows, basis in (
        (made(kind, seed).rows, moves.basis(made(kind, seed).rows)),
        (condensed(kind, seed).small.rows, condensed(kind, seed).moves),
    ):
        assert np.abs((rows @ basis).toarray()).max(initial=0) < 1e-9
        free = rows.shape[1] - np.linalg.matrix_rank(rows.toarray())
        assert basis.shape[1] == np.linalg.matrix_rank(basis.toarray()) == free


@pytest.mark.parametrize("seed", range(6))
def test_a_basis_of_sums_in_no_particular_form(seed: int) -> None:
    """Several cells on both sides, factors other than one, sums that follow from others."""
    random = np.random.default_rng(seed)
    rows = random.integers(-2, 3, (5, 9)) * (random.random((5, 9)) < 0.6)
    rows = np.vstack([rows, rows[0] + rows[1], np.zeros(9)])
    basis = moves.basis(csr_array(rows.astype(float))).toarray()
    assert np.abs(rows @ basis).max(initial=0) < 1e-4  # entries are on a grid
    assert basis.shape[1] == np.linalg.matrix_rank(basis) == 9 - np.linalg.matrix_rank(rows)


def test_cells_in_step_become_one() -> None:
    """A cell, its opposite, and one that moves twice as far: bounds and levels change sides and scale with them."""
    rows = csr_array([[1.0, 1, 0, 0, 0], [2.0, 0, -1, 0, 0], [1.0, 0, 0, 1, 1]])
    needs = Needs.of(np.array([0, 1]), np.array([1.0, 2.0]), np.array([2.0, 0.5]))
    down, up = np.array([9.0, 8, 7, 9, 9]), np.array([5.0, 3, 20, 9, 9])
    weight = np.array([0.0, 0, 4, 5, 6])
    small = condense(Problem(rows, down, up, weight, np.array([True, True, False, False, False]), needs))
    assert small.group.tolist() == [0, 0, 0, 1, 2]
    assert small.small.down[0] == min(9, 3, 3.5)
    assert small.small.up[0] == min(5, 8, 10)
    assert (small.small.needs.below[0], small.small.needs.above[0]) == (1.0, 2.0)
    assert small.base == 4
    assert small.small.hidden.tolist() == [True, False, False]
    assert small.expand(np.array([True, True, False])).tolist() == [True, True, True, True, False]
    assert small.shrink(np.array([True, True, True, True, False])).tolist() == [True, True, False]


def test_cells_that_cannot_move_stay_published() -> None:
    """A sum of which one cell is left gives it away; what it needs is hopeless."""
    rows = csr_array([[1.0, 1, 0, 0], [0, 0, 1, 1]])
    needs = Needs.of(np.array([0, 2]), np.ones(2), np.ones(2))
    hidden = np.array([True, False, True, False])
    weight = np.array([0, np.inf, 0, 3.0])
    small = condense(Problem(rows, np.full(4, 5.0), np.full(4, 5.0), weight, hidden, needs))
    assert small.group.tolist() == [-1, -1, 0, 0]
    assert small.hopeless.tolist() == [0]
    assert small.base == 3


# -- manners ----------------------------------------------------------------------------------------------------------


def sound(problem: Problem, found: Solution) -> bool:
    """Whether the pattern protects and the figures fit together."""
    assert found.bound <= found.cost + 1e-9
    assert problem.cost(found.hidden) == pytest.approx(found.cost)
    return Judge(problem)(found.hidden) and bool(check(problem, found.hidden).met.all())


@with_both
def test_the_time_is_kept(solver: str) -> None:
    """A pattern that protects and a bound that is one, soon after the time is up."""
    problem = table(1, (40, 30), 0.1)
    began = time.monotonic()
    found = Optimal(time=1, solver=solver).solve(problem)
    assert time.monotonic() - began < 20  # a first pattern is always finished
    assert sound(problem, found)
    assert 0 <= found.bound < found.cost
    assert found.status == "time"
    assert 0 < found.gap <= 1
    assert "gap" in repr(found)


@with_both
def test_the_gap_is_enough(solver: str) -> None:
    """Within half of the least cost nothing more is looked for, and the bound holds for the optimum."""
    problem = table(2, (8, 6))
    found = Optimal(time=TIME, gap=0.5, solver=solver).solve(problem)
    assert found.status in ("gap", "optimal")
    assert found.gap <= 0.5
    assert sound(problem, found)
    best = Optimal(time=TIME).solve(problem)
    assert found.bound <= best.cost + 1e-6
    assert best.cost <= found.cost + 1e-6


def test_a_pattern_to_start_with_is_used() -> None:
    """What is found is never dearer."""
    problem = table(3, (30, 20), 0.2)
    good = Optimal(time=3).solve(problem)
    found = Optimal(time=0.2, seed=2).solve(problem, start=good.hidden)
    assert found.cost <= good.cost
    assert sound(problem, found)


def test_a_bad_start_does_no_harm() -> None:
    """A pattern that does not protect is no start."""
    problem = made("two-way", 1)
    assert Optimal(time=TIME).solve(problem, start=problem.hidden).cost == pytest.approx(least(problem))


def test_a_search_goes_on_where_it_ended(tmp_path: Path) -> None:
    """The state is the owner's alone; neither pattern nor bound gets worse, and in the end it is proved."""
    problem, path = table(4, (20, 14), 0.15), tmp_path / "state"
    found = Optimal(time=0.5, resume=path).solve(problem)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for seconds in (0.3, 1.0):
        again = Optimal(time=seconds, resume=path, seed=2).solve(problem)
        assert again.bound >= found.bound - 1e-9
        assert again.cost <= found.cost + 1e-9
        assert sound(problem, again)
        found = again


def test_a_proof_is_kept(tmp_path: Path) -> None:
    """What was optimal is so at once."""
    problem, path = made("three-way", 1), tmp_path / "state"
    first = Optimal(time=TIME, resume=path).solve(problem)
    again = Optimal(time=0.01, resume=path).solve(problem)
    assert again.status == first.status == "optimal"
    assert again.cost == first.cost == again.bound


def test_states_of_others_are_refused(tmp_path: Path) -> None:
    """Another problem's, one that is cut short, and one that is none."""
    path = tmp_path / "state"
    Optimal(time=1, resume=path).solve(made("two-way", 0))
    with pytest.raises(InputError, match="another problem"):
        Optimal(time=1, resume=path).solve(made("two-way", 1))
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError, match="no state"):
        Optimal(time=1, resume=path).solve(made("two-way", 0))
    path.write_text("hello")
    with pytest.raises(InputError, match="no state"):
        Optimal(time=1, resume=path).solve(made("two-way", 0))


@with_both
def test_needs_that_no_pattern_meets_are_named(solver: str) -> None:
    """By their numbers, those of others' company too."""
    problem = made("two-way", 0)
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


@with_both
def test_needs_that_only_bounds_rule_out_are_named(solver: str) -> None:
    """A cell whose company has too little room."""
    rows = csr_array([[1.0, 1, 1, 0], [0, 0, 1, 1.0]])
    needs = Needs.of(np.array([0]), np.array([4.0]), np.array([4.0]))
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
    found = Optimal(time=3).solve(table(5), progress=watch)
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
    found = Optimal(time=TIME).solve(made("two-way", 2))
    assert found.cost == pytest.approx(least(made("two-way", 2)))


@pytest.mark.parametrize("wrong", [{"time": 0}, {"time": -1}, {"gap": 1}, {"gap": -0.1}, {"solver": "cplex"}])
def test_parameters_are_checked(wrong: dict[str, Any]) -> None:
    """Nonsense is an error before anything is computed."""
    with pytest.raises(InputError):
        dc.Optimal(**wrong)
