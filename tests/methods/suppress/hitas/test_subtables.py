"""Sub-tables found from the rows alone: those of the layout, all covered, none twice."""

from __future__ import annotations

import numpy as np

from discreet import Dimension
from discreet.methods.suppress.hitas.subtables import (
    Block,
    blocks_of_rows,
    completed,
    grouped,
    widened,
)
from discreet.tables.layout import Layout
from tests.problems import AREAS, blocks_of_layout, hierarchical, problem_of


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
