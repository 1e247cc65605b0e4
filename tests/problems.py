"""Suppression problems that tests share, and the judge of them: plain linear programs, one after the other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import highspy
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import block_diag, csr_array, hstack, vstack

import discreet as dc
from discreet import Dimension, Refused, Table
from discreet.methods.suppress.attacker.feasibility import examine
from discreet.methods.suppress.hitas.subtables import Block, maximal
from discreet.methods.suppress.model.condense import Condensed, condense
from discreet.methods.suppress.model.problem import Problem, Requirements
from discreet.methods.suppress.model.solution import Solution
from discreet.release import Protected
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
    needs = Requirements.of(cell, below, above * [1, 1, 0], np.ceil(value[cell] * [0, 0.7, 0]))
    insider = Requirements(cell[:1], np.zeros(1), np.zeros(1), np.ones(1), np.zeros(1, np.int64), (cell[1:2],))
    return Problem(rows, down, up, weight, hidden, needs + insider if seed % 3 else needs)


def short_move(rows: csr_array, cell: int, random: np.random.Generator) -> Array:
    """Cells of a move of this one, as short as random prices make it."""
    price, start = random.random(rows.shape[1]) + 0.1, np.zeros(rows.shape[0])
    one = csr_array(([1.0, -1.0], ([0, 0], [cell, cell + rows.shape[1]])), shape=(1, 2 * rows.shape[1]))
    equal = vstack([hstack([rows, -rows]), one], format="csr")
    move = linprog(np.tile(price, 2), A_eq=equal, b_eq=np.append(start, 1.0), method="highs").x
    assert move is not None
    return np.abs(move[: len(price)] - move[len(price) :]) > 1e-9


@cache
def small_problem(kind: str, seed: int) -> Problem:
    """The first such table that can be protected, though not by its sensitive cells alone."""
    for turn in range(1000):
        problem = drawn(kind, seed + 100 * turn)
        judge = Judge(problem)
        if judge(problem.hidden | problem.free) and not judge(problem.hidden):
            return problem
    raise AssertionError("none in a thousand")


@cache
def minimal_patterns(problem: Problem) -> tuple[Array, ...]:
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
    """Whether patterns protect, by one linear program after the other as one would write them."""

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


def least_cost(problem: Problem) -> float:
    """The cost of the cheapest of all patterns; infinite where none protects."""
    return min((problem.cost(pattern) for pattern in minimal_patterns(problem)), default=np.inf)


def protects(problem: Problem, pattern: Array) -> Array:
    """Which needs are met when these cells are hidden besides the sensitive ones."""
    judge = Judge(problem)
    return np.array([judge.met(pattern | problem.hidden, k) for k in range(len(problem.needs))])


@cache
def condensed(kind: str, seed: int) -> Condensed:
    return condense(small_problem(kind, seed))


def points(problem: Problem, seed: int, many: int) -> list[Array]:
    """Patterns in fractions, from nearly whole to none in particular."""
    random = np.random.default_rng(seed)
    found = []
    for k in range(many):
        x = random.random(len(problem)) ** (1 + k % 4) * (random.random(len(problem)) < 0.3 + 0.2 * (k % 3))
        found.append(np.where(problem.hidden, 1.0, np.where(problem.free, x, 0.0)))
    return found


on_small_problems = pytest.mark.parametrize(("kind", "seed"), [(kind, seed) for kind in KINDS for seed in SEEDS])


with_both_solvers = pytest.mark.parametrize("solver", SOLVERS)


def larger_problem(seed: int, shape: tuple[int, int] = (14, 10), share: float = 0.12) -> Problem:
    """One that is not solved in no time."""
    random = np.random.default_rng(seed)
    layout = Layout.of([Dimension.flat(name, range(size)) for name, size in zip("ab", shape, strict=True)])
    value = layout.aggregate(random.lognormal(3, 1.2, layout.n_inner).round() + 1).astype(float)
    hidden = (layout.inner_of_cell >= 0) & (random.random(len(value)) < share)
    cell = np.flatnonzero(hidden)
    needs = Requirements.of(cell, 0.15 * value[cell], 0.15 * value[cell])
    return Problem(of_layout(layout), value, value, value.copy(), hidden, needs)


def sound(problem: Problem, found: Solution) -> bool:
    """Whether the pattern protects and the figures fit together."""
    assert found.bound <= found.cost + 1e-9
    assert problem.cost(found.hidden) == pytest.approx(found.cost)
    return Judge(problem)(found.hidden) and bool(examine(problem, found.hidden).met.all())


def sums(shape: tuple[int, ...]) -> csr_array:
    """Every line of a table with margins: the last code of each dimension is the total of the others."""
    number = np.arange(int(np.prod(shape))).reshape(shape)
    rows = []
    for axis in range(len(shape)):
        for line in np.moveaxis(number, axis, -1).reshape(-1, shape[axis]):
            row = np.zeros(number.size)
            row[line[:-1]], row[line[-1]] = 1, -1
            rows.append(row)
    return csr_array(np.array(rows))


def random_problem(seed: int, shape: tuple[int, ...], *, free: int | None = None, coalitions: bool = False) -> Problem:
    """A random table: a few sensitive cells, some that must be published, levels of all kinds."""
    random = np.random.default_rng(seed)
    rows = sums(shape)
    n = rows.shape[1]
    inner = np.zeros(shape)
    inner[tuple(slice(0, s - 1) for s in shape)] = random.integers(0, 30, [s - 1 for s in shape])
    for axis in range(len(shape)):
        last = [slice(None)] * len(shape)
        last[axis] = slice(-1, None)
        inner[tuple(last)] = inner.sum(axis=axis, keepdims=True)
    value = inner.ravel()
    assert np.abs(rows @ value).max() == 0
    hidden = np.zeros(n, bool)
    cells = random.choice(np.flatnonzero(value > 1), 2, replace=False)
    hidden[cells] = True
    weight = np.where(random.random(n) < 0.1, np.inf, value + random.integers(1, 5, n))
    if free is not None:
        rest = random.permutation(np.flatnonzero(~hidden))
        weight[rest[free:]] = np.inf
    below, above = np.ceil(value[cells] * 0.3), np.ceil(value[cells] * 0.2)
    needs = Requirements.of(cells, below, above, np.ceil(value[cells] * random.choice([0, 0.8], 2)))
    if coalitions:
        group = Requirements(cells[:1], np.zeros(1), np.ones(1), np.zeros(1), np.zeros(1, np.int64), (cells[1:],))
        needs = needs + group
    return Problem(rows, value.copy(), value + 10.0, weight, hidden, needs)


def rank(matrix: Array) -> int:
    """Of numbers small enough for doubles."""
    return int(np.linalg.matrix_rank(matrix.astype(float))) if matrix.size else 0


def needy(seed: int, shape: tuple[int, ...]) -> Problem:
    """A table in which every inner cell above 1 needs protection, some more than there is."""
    p = random_problem(seed, shape)
    random, value = np.random.default_rng(seed), p.down
    inner = np.zeros(shape, bool)
    inner[tuple(slice(0, s - 1) for s in shape)] = True
    cells = np.flatnonzero(inner.ravel() & (value > 1))
    hidden = np.zeros(len(p), bool)
    hidden[cells] = True
    far = np.where(random.random(len(cells)) < 0.1, 40, 1)
    needs = Requirements.of(cells, np.ceil(value[cells] * 0.3), np.ceil(value[cells] * 0.2) * far)
    return Problem(p.rows, p.down, p.up, np.where(hidden, 0, value + 1.0), hidden, needs)


AREAS = {"n1": "N", "n2": "N", "s1": "S", "s2": "S", "s3": "S"}
TRADES = {"a1": "A", "a2": "A", "b1": "B", "b2": "B"}


def hierarchical(seed: int, share: float = 0.12, zeros: float = 0.0) -> tuple[Problem, Layout]:
    """A table of areas by trades, both with groups, some of whose inner cells are sensitive."""
    random = np.random.default_rng(seed)
    layout = Layout.of([Dimension.from_parents("area", AREAS), Dimension.from_parents("trade", TRADES)])
    inner = random.integers(1, 60, layout.n_inner) * (random.uniform(size=layout.n_inner) >= zeros)
    return problem_of(layout, inner, random, share), layout


def problem_of(layout: Layout, inner: np.ndarray, random: np.random.Generator, share: float) -> Problem:
    """Values between 0 and thrice themselves, sensitive cells to move by a fifth."""
    value = layout.aggregate(inner).astype(float)
    sensitive = (layout.inner_of_cell >= 0) & (random.uniform(size=len(value)) < share) & (value > 0)
    cell = np.flatnonzero(sensitive)
    weight = np.where(value > 0, value, np.inf)
    needs = Requirements.of(cell, 0.2 * value[cell], 0.2 * value[cell])
    return Problem(of_layout(layout), value, 2 * value, weight, sensitive, needs)


def square(values: Sequence[Sequence[float]], sensitive: list[int], **changed: np.ndarray) -> Problem:
    """A table with margins; cells row by row, totals last."""
    inner = np.array(values, float)
    full = np.block([[inner, inner.sum(1, keepdims=True)], [inner.sum(0, keepdims=True), inner.sum(keepdims=True)]])
    number = np.arange(full.size).reshape(full.shape)
    rows = np.zeros((sum(full.shape), full.size))
    for k, line in enumerate([*number, *number.T]):
        rows[k, line[:-1]], rows[k, line[-1]] = 1, -1
    value = full.ravel()
    hidden = np.zeros(len(value), bool)
    hidden[sensitive] = True
    at = np.array(sensitive)
    fields = {"down": value, "up": 2 * value, "weight": value.copy(), **changed}
    return Problem(
        csr_array(rows), hidden=hidden, needs=Requirements.of(at, 0.2 * value[at], 0.2 * value[at]), **fields
    )


def beside(first: Problem, second: Problem) -> Problem:
    """Two problems that know nothing of each other, as one."""
    one, two = first.needs, second.needs
    known = tuple(k + len(first) for k in two.known)
    moved = Requirements(two.cell + len(first), two.below, two.above, two.sliding, two.coalition, known)
    both = {
        name: np.concatenate([getattr(first, name), getattr(second, name)])
        for name in ("down", "up", "weight", "hidden")
    }
    return Problem(csr_array(block_diag([first.rows, second.rows])), needs=one + moved, **both)


def blocks_of_layout(layout: Layout) -> list[Block]:
    """The sub-tables of a table: one sum of every dimension crossed with one of every other."""
    groups = [_groups(dimension) for dimension in layout.dimensions]
    flat = layout.flat
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    strides = [math.prod(layout.code_shape[k + 1 :]) for k in range(len(groups))]
    found = []
    for choice in itertools.product(*groups):
        wanted = np.zeros(1, np.int64)
        for (codes, _), stride in zip(choice, strides, strict=True):
            wanted = (wanted[:, None] + codes * stride).ravel()
        place = np.minimum(np.searchsorted(ordered, wanted), len(flat) - 1)
        cells = np.sort(order[place[ordered[place] == wanted]])
        if len(cells) > 1:
            found.append(Block(cells, sum(depth for _, depth in choice)))
    return maximal(found)


def _groups(dimension: Dimension) -> list[tuple[np.ndarray, int]]:
    """Every code with its parts, and how many sums above it; codes that stand in no sum each by themselves."""
    depth = dict.fromkeys(dimension.codes, 0)
    for _ in dimension.relations:  # as many rounds as there can be levels
        before = dict(depth)
        for code, parts in dimension.relations:
            for part, _sign in parts:
                depth[part] = max(depth[part], depth[code] + 1)
        if depth == before:
            break
    inside = {c for code, parts in dimension.relations for c in (code, *(p for p, _ in parts))}
    alone = [(np.array([dimension.position[c]]), 0) for c in dimension.codes if c not in inside]
    return alone + [
        (np.array([dimension.position[c] for c in (code, *(p for p, _ in parts))]), depth[code])
        for code, parts in dimension.relations
    ]


def suppressed(table: Table, rule: Any, **options: Any) -> Protected | None:
    """The protected table, or None when it is refused."""
    try:
        return dc.protect(table, dc.Suppress(rule, **options))
    except Refused:
        return None


def two_way(counts: Any) -> Table:
    return Table.of(np.asarray(counts), ["a", "b"])
