"""Sub-table by sub-table: patterns protect the whole system, and parts are as good as the whole."""

from __future__ import annotations

import itertools
import math
import time

import numpy as np
import pytest
from scipy.sparse import csr_array

from discreet import Dimension
from discreet.errors import InputError
from discreet.methods.suppress.attacker.feasibility import check
from discreet.methods.suppress.exact.optimal import Optimal
from discreet.methods.suppress.hitas.hitas import Modular, Run
from discreet.methods.suppress.hitas.incremental import Growing, accept, better
from discreet.methods.suppress.hitas.subtables import (
    Block,
    blocks_of_rows,
    completed,
    grouped,
    maximal,
    widened,
)
from discreet.methods.suppress.model.components import join, movable, restrict, side_by_side, split
from discreet.methods.suppress.model.problem import Needs, Problem
from discreet.methods.suppress.model.solution import UnprotectedError
from discreet.tables.layout import Layout
from discreet.tables.relations import of_layout

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
    needs = Needs.of(cell, 0.2 * value[cell], 0.2 * value[cell])
    return Problem(of_layout(layout), value, 2 * value, weight, sensitive, needs)


def cheapest(problem: Problem) -> float:
    """The least cost by trying all patterns of free cells, in order of their cost."""
    free = np.flatnonzero(problem.free)
    masks = np.array(list(itertools.product([False, True], repeat=len(free))))
    costs = masks @ problem.weight[free]
    for at in np.argsort(costs, kind="stable"):
        pattern = problem.hidden.copy()
        pattern[free[masks[at]]] = True
        if check(problem, pattern).met.all():
            return float(costs[at])
    return np.inf


def square(values: list[list[float]], sensitive: list[int], **changed: np.ndarray) -> Problem:
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
    return Problem(csr_array(rows), hidden=hidden, needs=Needs.of(at, 0.2 * value[at], 0.2 * value[at]), **fields)


def beside(first: Problem, second: Problem) -> Problem:
    """Two problems that know nothing of each other, as one."""
    from scipy.sparse import block_diag

    one, two = first.needs, second.needs
    known = tuple(k + len(first) for k in two.known)
    moved = Needs(two.cell + len(first), two.below, two.above, two.sliding, two.coalition, known)
    both = {
        name: np.concatenate([getattr(first, name), getattr(second, name)])
        for name in ("down", "up", "weight", "hidden")
    }
    return Problem(csr_array(block_diag([first.rows, second.rows])), needs=one + moved, **both)


# -- components ---------------------------------------------------------------------------------------------------


def test_parts_cost_together_what_the_whole_costs() -> None:
    """The least cost of two tables side by side is the sum of theirs, and split finds them."""
    first, second = square([[9, 4], [3, 8]], [0]), square([[2, 7], [6, 5]], [1])
    both = beside(first, second)
    parts = split(both)
    assert [len(cells) for _, cells in parts] == [9, 9]
    assert cheapest(both) == pytest.approx(sum(cheapest(part) for part, _ in parts))
    assert cheapest(both) == pytest.approx(cheapest(first) + cheapest(second))


def test_parts_without_needs_stay_published() -> None:
    """What nobody needs is in no part, and join leaves it as it is."""
    quiet = square([[2, 7], [6, 5]], [0])
    quiet = Problem(quiet.rows, quiet.down, quiet.up, quiet.weight, quiet.hidden & False, Needs.of(*np.zeros((3, 0))))
    both = beside(square([[9, 4], [3, 8]], [0]), quiet)
    parts = split(both)
    assert [cells.tolist() for _, cells in parts] == [list(range(9))]
    whole = join(both, parts, [np.ones(9, bool)])
    assert whole[:9].all()
    assert not whole[9:].any()


def test_cells_that_cannot_move_tie_nothing() -> None:
    """Published margins part a table of two blocks; a row with one cell left holds it fast."""
    values = [[5, 6, 0, 0], [7, 8, 0, 0], [0, 0, 5, 6], [0, 0, 7, 8]]
    base = square(values, [0, 12])
    weight = base.weight.copy()
    weight[[4, 9, 14, 19, *range(20, 25)]] = np.inf
    parts = split(square(values, [0, 12], weight=weight))
    assert sorted(cells.tolist() for _, cells in parts) == [[0, 1, 5, 6], [12, 13, 17, 18]]
    lone = square([[5, 0], [7, 8]], [0], weight=np.array([5, 0, np.inf, 7, 8, np.inf, np.inf, np.inf, np.inf]))
    assert not movable(lone).any()


def test_a_need_that_cannot_be_met_stays_impossible() -> None:
    """A sensitive cell without room makes a part of its own in which its need is refused."""
    problem = square([[5, 0], [7, 8]], [0], weight=np.array([5, 0, np.inf, 7, 8, np.inf, np.inf, np.inf, np.inf]))
    ((part, cells),) = split(problem)
    assert cells.tolist() == [0]
    assert not check(part, np.ones(1, bool)).met.any()


def test_coalitions_follow_their_cells() -> None:
    """What a group of intruders knows is renumbered with the cells of a part."""
    first, second = square([[9, 4], [3, 8]], [0]), square([[2, 7], [6, 5]], [0])
    insiders = Needs(np.array([0]), np.ones(1), np.ones(1), np.zeros(1), np.array([0]), (np.array([4]),))
    both = beside(first, second.with_needs(second.needs + insiders))
    part = next(part for part, cells in split(both) if cells[0] == 9)
    assert part.needs.coalition.tolist() == [-1, 0]
    assert part.needs.known[0].tolist() == [4]


def test_side_by_side_keeps_the_order() -> None:
    """Threads give what one after the other gives."""
    items = list(range(40))
    assert side_by_side(lambda x: x * x, items) == side_by_side(lambda x: x * x, items, 1) == [x * x for x in items]


# -- blocks -------------------------------------------------------------------------------------------------------


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


def cells_of(blocks: list[Block]) -> list[list[int]]:
    return sorted(b.cells.tolist() for b in blocks)


def test_rows_tell_the_same_sub_tables_as_the_layout() -> None:
    """The total with its groups and each group with its parts, crossed: found from the rows alone."""
    problem, layout = hierarchical(1)
    assert cells_of(blocks_of_rows(problem)) == cells_of(blocks_of_layout(layout))
    assert len(blocks_of_layout(layout)) == 9
    assert [b.level for b in blocks_of_layout(layout)] == [0, 1, 1, 1, 1, 2, 2, 2, 2]


def test_three_dimensions_and_unequal_depth() -> None:
    """The same with a third dimension and with leaves that stand beside groups."""
    uneven = Dimension.from_parents("nace", {"x1": "X", "x2": "X", "y": "Total", "X": "Total"})
    layout = Layout.of([uneven, Dimension.flat("sex", ["f", "m"]), Dimension.from_parents("area", AREAS)])
    problem = problem_of(layout, np.arange(1, layout.n_inner + 1), np.random.default_rng(1), 0.1)
    assert cells_of(blocks_of_rows(problem)) == cells_of(blocks_of_layout(layout))


def test_large_sub_tables_are_taken_by_their_faces() -> None:
    """With a limit every row still lies in a block, and no block but a single sum is larger."""
    layout = Layout.of([Dimension.flat(name, range(6)) for name in "abc"])
    problem = problem_of(layout, np.arange(1, layout.n_inner + 1), np.random.default_rng(1), 0.1)
    assert len(blocks_of_rows(problem, 10_000)) == 1
    small = blocks_of_rows(problem, 60)
    assert max(len(b) for b in small) == 49
    assert len(completed(problem, small)) == len(small)


def test_rows_outside_the_given_blocks_get_blocks_of_their_own() -> None:
    """Nothing is left out when the caller's blocks do not cover the table."""
    problem, layout = hierarchical(1)
    some = blocks_of_layout(layout)[:2]
    every = completed(problem, some)
    covered = np.zeros(problem.rows.shape[0], bool)
    for block in every:
        inside = np.isin(problem.rows.indices, block.cells)
        covered |= np.add.reduceat(inside, problem.rows.indptr[:-1]) == np.diff(problem.rows.indptr)
    assert covered.all()


def test_batches_share_no_choice_and_hold_every_block_once() -> None:
    """Blocks solved at the same time cannot hide the same cell."""
    problem, layout = hierarchical(1)
    blocks = blocks_of_layout(layout)
    batches = grouped(blocks, problem.free)
    assert sorted(k for batch in batches for k in batch) == list(range(len(blocks)))
    for batch in batches:
        held = np.concatenate([blocks[k].cells for k in batch])
        held = held[problem.free[held]]
        assert len(held) == len(set(held.tolist()))


def test_wider_areas_hold_their_block_and_keep_the_limit() -> None:
    """Neighbours are added while there is room."""
    problem, layout = hierarchical(1)
    blocks = blocks_of_layout(layout)
    own = max(int(problem.free[b.cells].sum()) for b in blocks)
    for most in (own, 2 * own, len(problem)):
        areas = widened(blocks, problem.free, most)
        assert max(len(a) for a in areas) <= most
        assert all(any(np.isin(b.cells[problem.free[b.cells]], a).all() for a in areas) for b in blocks)
    assert len(widened(blocks, problem.free, len(problem))) <= len(blocks)


# -- one state after another --------------------------------------------------------------------------------------


def protected(problem: Problem) -> Growing:
    """Everything hidden, with the moves that show all needs met."""
    pattern = problem.hidden | problem.free
    every = np.ones(problem.rows.shape[0], bool)
    return Growing(problem, pattern, every, dict(check(problem, pattern).witnesses))


def test_new_sums_break_only_the_needs_they_concern() -> None:
    """A cell that can move by itself no longer can once a row holds it; others are not asked again."""
    problem = beside(square([[9, 4], [3, 8]], [0]), square([[2, 7], [6, 5]], [1]))
    state = Growing.of(problem, problem.hidden)
    assert state.broken(np.empty(0, np.int64)).tolist() == []
    assert state.broken(np.arange(6)).tolist() == [0]
    assert state.broken(np.arange(12)).tolist() == [0, 1]


def test_a_change_is_cheaper_and_protects() -> None:
    """Chosen anew, a pattern of everything shrinks to what is needed; all needs are met without another check."""
    problem = square([[9, 4, 6], [3, 8, 2], [7, 5, 4]], [0, 5])
    state = protected(problem)
    change = better(state, np.arange(len(problem)), lambda part, _: Optimal(time=5).solve(part).hidden)
    assert change is not None
    new = accept(state, change)
    assert new is not None
    assert problem.cost(new.pattern) < problem.cost(state.pattern)
    assert check(problem, new.pattern).met.all()
    assert not len(new.broken(np.arange(problem.rows.shape[0]), np.flatnonzero(~new.pattern)))


def test_changes_that_do_not_fit_together_are_not_kept() -> None:
    """Two changes found at the same time: the second is tried on what the first left, and every need stays met."""
    problem = square([[9, 4, 6], [3, 8, 2], [7, 5, 4]], [0, 5])
    state = protected(problem)
    halves = np.flatnonzero(problem.free)[::2], np.flatnonzero(problem.free)[1::2]
    for cells in halves:
        change = better(protected(problem), cells, lambda part, _: Optimal(time=5).solve(part).hidden)
        state = state if change is None else accept(state, change) or state
        assert check(problem, state.pattern).met.all()
    assert problem.cost(state.pattern) < problem.cost(problem.hidden | problem.free)


# -- the method ---------------------------------------------------------------------------------------------------


def above(problem: Problem, layout: Layout, threads: int | None = None) -> np.ndarray | None:
    """What the way from above alone finds."""
    run = Run(Modular(time=120, threads=threads), problem, time.monotonic(), None)
    return run.from_above(blocks_of_layout(layout))


@pytest.mark.parametrize("seed", range(5))
def test_patterns_protect_the_whole_system(seed: int) -> None:
    """Every need is met by moves that keep all sums, whatever the sub-tables look like."""
    problem, _ = hierarchical(seed, zeros=0.15 * (seed % 2))
    found = Modular(time=3, exact=15).solve(problem)
    assert check(problem, found.hidden).met.all()
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
    assert check(problem, pattern).met.all()
    least = Optimal(time=60).solve(problem)
    assert least.bound - 1e-6 <= problem.cost(pattern) <= 2 * least.cost


@pytest.mark.parametrize("seed", range(4))
def test_tiny_tables_reach_the_least_cost(seed: int) -> None:
    """Never below what trying everything finds, and on so small a table not above."""
    random = np.random.default_rng(seed)
    problem = square(random.integers(1, 40, (3, 2)).tolist(), [int(random.integers(0, 2))])
    assert Modular(time=3, exact=4).solve(problem).cost == pytest.approx(cheapest(problem))
    assert Modular(time=3).solve(problem).cost == pytest.approx(cheapest(problem))


def test_a_sub_table_sends_those_above_back_to_work() -> None:
    """Where the part beside a sensitive one must be published, its total is hidden, and then another one above."""
    layout = Layout.of([Dimension.from_parents("area", {"n1": "N", "n2": "N", "s1": "S", "s2": "S"})])
    code = {c: k for k, c in enumerate(layout.dimensions[0].codes)}
    value = layout.aggregate(np.array([4, 30, 20, 15])).astype(float)
    weight = value.copy()
    weight[code["n2"]] = np.inf
    hidden = np.arange(len(value)) == code["n1"]
    needs = Needs.of(np.array([code["n1"]]), np.ones(1), np.ones(1))
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
    needs = Needs.of(sensitive, 0.2 * value[sensitive], 0.2 * value[sensitive])
    problem = Problem(rows, value, 2 * value, np.where(unseen, 0, value), hidden, needs)
    found = Modular(time=4, exact=10).solve(problem)
    assert check(problem, found.hidden).met.all()
    for margin in margins:
        own = Layout.of(dims, [margin])
        at = np.flatnonzero(np.isin(layout.flat, own.flat))
        inside = np.flatnonzero(np.add.reduceat(np.isin(rows.indices, at), rows.indptr[:-1]) == np.diff(rows.indptr))
        alone = restrict(problem, at, inside)
        assert len(alone.needs)
        assert check(alone, found.hidden[at]).met.all()


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
