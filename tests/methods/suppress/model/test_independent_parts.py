"""Parts of a problem that do not touch cost together what the whole costs."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.methods.suppress.attacker.feasibility import examine
from discreet.methods.suppress.model.independent_parts import joined_pattern, movable_cells, split
from discreet.methods.suppress.model.problem import Problem, Requirements
from tests.problems import beside, least_cost, square


def test_parts_cost_together_what_the_whole_costs() -> None:
    """The least cost of two tables side by side is the sum of theirs, and split finds them."""
    first, second = square([[9, 4], [3, 8]], [0]), square([[2, 7], [6, 5]], [1])
    both = beside(first, second)
    parts = split(both)
    assert [len(cells) for _, cells in parts] == [9, 9]
    assert least_cost(both) == pytest.approx(sum(least_cost(part) for part, _ in parts))
    assert least_cost(both) == pytest.approx(least_cost(first) + least_cost(second))


def test_parts_without_needs_stay_published() -> None:
    """What nobody needs is in no part, and join leaves it as it is."""
    quiet = square([[2, 7], [6, 5]], [0])
    quiet = Problem(
        quiet.rows, quiet.down, quiet.up, quiet.weight, quiet.hidden & False, Requirements.of(*np.zeros((3, 0)))
    )
    both = beside(square([[9, 4], [3, 8]], [0]), quiet)
    parts = split(both)
    assert [cells.tolist() for _, cells in parts] == [list(range(9))]
    whole = joined_pattern(both, parts, [np.ones(9, bool)])
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
    assert not movable_cells(lone).any()


def test_a_need_that_cannot_be_met_stays_impossible() -> None:
    """A sensitive cell without room makes a part of its own in which its need is refused."""
    problem = square([[5, 0], [7, 8]], [0], weight=np.array([5, 0, np.inf, 7, 8, np.inf, np.inf, np.inf, np.inf]))
    ((part, cells),) = split(problem)
    assert cells.tolist() == [0]
    assert not examine(part, np.ones(1, bool)).met.any()


def test_coalitions_follow_their_cells() -> None:
    """What a group of intruders knows is renumbered with the cells of a part."""
    first, second = square([[9, 4], [3, 8]], [0]), square([[2, 7], [6, 5]], [0])
    insiders = Requirements(np.array([0]), np.ones(1), np.ones(1), np.zeros(1), np.array([0]), (np.array([4]),))
    both = beside(first, second.with_needs(second.needs + insiders))
    part = next(part for part, cells in split(both) if cells[0] == 9)
    assert part.needs.coalition.tolist() == [-1, 0]
    assert part.needs.known[0].tolist() == [4]
