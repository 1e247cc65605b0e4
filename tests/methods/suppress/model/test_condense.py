"""The smaller problem: the same patterns at the same cost, whatever is merged or left out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from discreet.methods.suppress.model.condense import condense
from discreet.methods.suppress.model.problem import Problem, Requirements
from tests.problems import Judge, condensed, minimal_patterns, on_small_problems, small_problem


@on_small_problems
def test_a_smaller_problem_has_the_same_patterns(kind: str, seed: int) -> None:
    """Made larger, its patterns protect at the same cost; made smaller, those of the whole do."""
    problem, small = small_problem(kind, seed), condensed(kind, seed)
    judge, of_small = Judge(problem), Judge(small.small)
    assert len(small.small) <= len(problem)
    assert not len(small.hopeless)
    for pattern in minimal_patterns(small.small):
        whole = small.expand(pattern)
        assert judge(whole)
        assert problem.cost(whole) == pytest.approx(small.small.cost(pattern) + small.base)
        assert np.array_equal(small.shrink(whole), pattern)
    for whole in minimal_patterns(problem):
        assert of_small(small.shrink(whole))
        assert problem.cost(small.expand(small.shrink(whole))) <= problem.cost(whole) + 1e-9


def test_cells_in_step_become_one() -> None:
    """A cell, its opposite, and one that moves twice as far: bounds and levels change sides and scale with them."""
    rows = csr_array([[1.0, 1, 0, 0, 0], [2.0, 0, -1, 0, 0], [1.0, 0, 0, 1, 1]])
    needs = Requirements.of(np.array([0, 1]), np.array([1.0, 2.0]), np.array([2.0, 0.5]))
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
    rows = csr_array(np.array([[1.0, 1, 0, 0], [0, 0, 1, 1]]))
    needs = Requirements.of(np.array([0, 2]), np.ones(2), np.ones(2))
    hidden = np.array([True, False, True, False])
    weight = np.array([0, np.inf, 0, 3.0])
    small = condense(Problem(rows, np.full(4, 5.0), np.full(4, 5.0), weight, hidden, needs))
    assert small.group.tolist() == [-1, -1, 0, 0]
    assert small.hopeless.tolist() == [0]
    assert small.base == 3
