"""A suppression problem in parts that have nothing to do with each other, solved side by side.

Cells that cannot move whatever is hidden tie nothing together: taken out, the rest often falls apart. What is cheapest
for each part is cheapest for all of them, and proven lower bounds add up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from discreet.base.annotations import Array
from discreet.linear.components import labels
from discreet.methods.suppress.model.condense import Condensed
from discreet.methods.suppress.model.problem import Problem, Requirements


def movable_cells(problem: Problem) -> Array:
    """Cells that could move in some pattern: they have room, may be hidden, and no row holds them alone.

    >>> from scipy.sparse import csr_array
    >>> rows = csr_array(np.array([[-1.0, 1, 1, 0], [0, 0, -1, 1]]))
    >>> needs = Requirements.of(np.array([1]), np.ones(1), np.ones(1))
    >>> room, hidden = np.array([5.0, 5, 5, 0]), np.array([False, True, False, False])
    >>> movable_cells(Problem(rows, room, room, np.ones(4), hidden, needs)).tolist()
    [True, True, False, False]
    """
    can = ((problem.down > 0) | (problem.up > 0)) & (problem.hidden | np.isfinite(problem.weight))
    there = problem.rows.copy()
    there.data = (there.data != 0).astype(np.int64)
    while True:
        alone = there @ can.astype(np.int64) == 1
        held = (there[alone].T @ np.ones(int(alone.sum()), np.int64) > 0) & can
        if not held.any():
            return np.asarray(can)
        can = can & ~held


def restrict(problem: Problem, cells: Array, rows: Array, can: Array | None = None) -> Problem:
    """The problem of some cells (numbers, ascending) under some of the rows; all other cells stand still.

    With ``can`` the cells outside it have no room either.
    """
    able = np.ones(len(cells), bool) if can is None else can[cells]
    place = np.full(len(problem), -1, np.int64)
    place[cells] = np.arange(len(cells))
    needs = problem.needs.take(np.flatnonzero(place[problem.needs.cell] >= 0))
    known = tuple(place[k[place[k] >= 0]] for k in needs.known)
    inside = Requirements(place[needs.cell], needs.below, needs.above, needs.sliding, needs.coalition, known)
    return Problem(
        rows=problem.rows[rows][:, cells],
        down=np.where(able, problem.down[cells], 0.0),
        up=np.where(able, problem.up[cells], 0.0),
        weight=problem.weight[cells],
        hidden=problem.hidden[cells],
        needs=inside,
    )


def split(problem: Problem) -> list[tuple[Problem, Array]]:
    """The parts in which something is needed, each with the numbers of its cells; the largest first.

    A cell that needs room and has none makes a part of its own, in which the need stays as impossible as it is.
    """
    can = movable_cells(problem)
    label = np.where(can, _labels(problem, can), -1)
    count = int(label.max(initial=-1)) + 1
    stuck = np.unique(problem.needs.cell[label[problem.needs.cell] < 0])
    label[stuck] = count + np.arange(len(stuck))
    columns = problem.rows.tocsc()
    order = np.argsort(label, kind="stable")
    starts = np.searchsorted(label[order], np.arange(count + len(stuck) + 1))
    parts = []
    for number in np.unique(label[problem.needs.cell]):
        cells = np.sort(order[starts[number] : starts[number + 1]])
        rows = np.unique(columns[:, cells].indices)
        parts.append((restrict(problem, cells, rows, can), cells))
    return sorted(parts, key=lambda part: -len(part[1]))


def _labels(problem: Problem, can: Array) -> Array:
    """The same number for cells that rows tie together, over rows and cells as one graph."""
    label = labels(problem.rows, can)[1]
    _, first, group = np.unique(label, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[group])  # in the order of their first cells


def joined_pattern(problem: Problem, parts: Sequence[tuple[Problem, Array]], patterns: Iterable[Array]) -> Array:
    """The pattern of the whole problem from those of its parts; what no part holds is published unless it never is."""
    hidden = problem.hidden.copy()
    for (_, cells), pattern in zip(parts, patterns, strict=True):
        hidden[cells] |= pattern
    return hidden


def parts_with_choice(condensed: Condensed) -> list[tuple[Condensed, Array]]:
    """The parts of a condensed problem that rows tie together and in which there is a choice, with their cells."""
    small = condensed.small
    row_label, label = labels(small.rows)
    parts = []
    for number in np.unique(label[small.free]).tolist():
        cells = np.flatnonzero(label == number)
        part = restrict(small, cells, np.flatnonzero(row_label == number))
        moves = condensed.moves[cells]
        moves = moves[:, np.unique(moves.indices)]
        nothing = np.empty(0, np.int64)
        parts.append((Condensed(part, part, moves, np.arange(len(cells)), 0.0, nothing), cells))
    return parts
