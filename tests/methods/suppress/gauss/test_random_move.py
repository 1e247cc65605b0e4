"""Elimination by a random move over cells: what it withholds is what ranks over inner cells say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_array, hstack, identity

import discreet as dc
from discreet import Table
from discreet.methods.suppress.gauss import on_table
from discreet.methods.suppress.gauss.candidate_order import importance
from discreet.methods.suppress.gauss.eliminate import eliminate
from discreet.methods.suppress.model.task import Task
from discreet.tables.layout import Layout
from discreet.tables.relations import of_layout, variable_of_inner
from tests.problems import rank
from tests.strategies import tables


def greedy(matrix: np.ndarray, primary: np.ndarray, order: np.ndarray) -> list[int]:
    """The candidates that a choice by ranks withholds: right angles show what is left of each column."""
    left = matrix.copy()  # every column less what the published ones explain
    withheld: list[int] = []
    for column in order.tolist():
        size = np.linalg.norm(left[:, column])
        if size < 1e-6:
            continue
        unit = left[:, [column]] / size
        after = left - unit @ (unit.T @ left)
        if (np.linalg.norm(after[:, primary], axis=0) < 1e-6).any():
            withheld.append(column)
        else:
            left = after
    return withheld


@settings(deadline=None, max_examples=60)
@given(tables(most_count=6))
def test_cells_that_ranks_withhold(table: Table) -> None:
    """Hierarchies, structural zeros, margins alone: the same cells as by ranks over inner cells, none more or less."""
    task = Task.of(dc.Suppress(dc.Threshold(3), singletons="none", repair="off", zeros=True).parameters, table)
    primary = task.roles.primary
    order = np.argsort(-importance(table, "value", primary), kind="stable")
    wanted = greedy(table.matrix.toarray().astype(float), np.flatnonzero(primary), order[~primary[order]])
    assert sorted(on_table.eliminated(task).secondary.tolist()) == sorted(wanted)


@settings(deadline=None, max_examples=60)
@given(tables(most_count=6))
def test_sums_of_a_table_say_all_that_its_cells_have_to_do_with_each_other(table: Table) -> None:
    layout = table.layout
    sums, row, n = of_layout(layout).toarray(), variable_of_inner(layout.matrix), len(layout)
    assert complete(layout, sums, row, n)


def complete(layout: Layout, sums: np.ndarray, row: np.ndarray, n: int) -> bool:
    """Whether cells and further inner cells are as free within the sums as they are over inner cells."""
    over_inner = np.zeros((layout.n_inner, sums.shape[1]))
    over_inner[:, :n] = layout.matrix.toarray()
    over_inner[np.flatnonzero(row >= n), row[row >= n]] = 1
    assert not (sums @ over_inner.T).any()
    nothing = np.eye(sums.shape[1])[:n][layout.parts == 0]
    return bool(sums.shape[1] - rank(np.vstack([sums, nothing])) == rank(over_inner))


def test_two_cells_that_are_one_inner_cell_are_tied() -> None:
    """The other parts of a total cannot exist and are not shown either: the total is the one part that is left."""
    impossible = np.array([[False, False], [True, False], [True, False]])
    table = Table.of([[2, 5], [0, 7], [0, 8]], ["a", "b"], structural=impossible)
    blocks = ((np.array([0, 1]), table.layout.blocks[0][1]),)
    layout = Layout(table.dimensions, blocks, table.layout.possible)
    assert complete(layout, of_layout(layout).toarray(), variable_of_inner(layout.matrix), len(layout))


@pytest.mark.parametrize("seed", range(5))
def test_pivots_do_not_matter(seed: int) -> None:
    """Any rows may be pivots, and sums may be known columns or written over inner cells."""
    random = np.random.default_rng(seed)
    table = Table.of(random.poisson(3, (4, 3, 5)), ["a", "b", "c"])
    primary = np.flatnonzero((table.count > 0) & (table.count < 3))
    order = np.argsort(-table.count, kind="stable")
    order = order[~np.isin(order, primary)]
    over_inner = eliminate(table.matrix, primary, order, forced=2).secondary.tolist()
    sums = of_layout(table.layout)
    n = sums.shape[1]
    over_cells = csc_array(hstack([identity(n), sums.T]))
    for _ in range(3):
        pivots = random.permutation(n)
        known = n + random.permutation(sums.shape[0])
        found = eliminate(over_cells, primary, order, known=known, forced=2, pivots=pivots)
        assert found.secondary.tolist() == over_inner


def test_what_must_be_published_may_give_cells_away() -> None:
    table = Table.of([[2, 9], [9, 9]], ["a", "b"])
    primary = np.flatnonzero(table.count == 2)
    others = np.flatnonzero(table.count != 2)
    found = eliminate(table.matrix, primary, others, forced=len(others))
    assert found.unsafe.tolist() == primary.tolist()
    assert not len(found.secondary)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_no_small_cell_follows_where_zeros_are_hidden(seed: int) -> None:
    """A known sum of hidden zeros tells each of them: with these in mind no sensitive cell follows either."""
    random = np.random.default_rng(seed)
    table = Table.of(random.poisson(1.5, (4, 4, 3)), ["a", "b", "c"])
    task = Task.of(dc.Suppress(dc.Threshold(3), repair="off", zeros=True).parameters, table)
    pattern = on_table.eliminated(task)
    if len(pattern.unsafe):
        return
    hidden = task.withheld.copy()
    hidden[pattern.secondary] = True
    known, matrix = ~hidden, table.matrix.toarray().astype(float)
    inner = table.statistic("count").inner
    zero = matrix[:, known].T @ inner == 0
    within = np.flatnonzero(matrix[:, known][:, zero].any(axis=1))
    both = np.hstack([matrix[:, known], np.eye(len(inner))[:, within]])
    for p in np.flatnonzero(task.roles.primary):
        assert rank(np.hstack([both, matrix[:, [p]]])) > rank(both)
