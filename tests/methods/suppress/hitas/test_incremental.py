"""One pattern after another: only what a change concerns is asked again, and every need stays met."""

from __future__ import annotations

import numpy as np

from discreet.methods.suppress.attacker.feasibility import examine
from discreet.methods.suppress.exact.optimal import Optimal
from discreet.methods.suppress.hitas.incremental import SumsSoFar, accept_choice, cheaper_choice
from discreet.methods.suppress.model.problem import Problem
from tests.problems import beside, square


def protected(problem: Problem) -> SumsSoFar:
    """Everything hidden, with the moves that show all needs met."""
    pattern = problem.hidden | problem.free
    every = np.ones(problem.rows.shape[0], bool)
    return SumsSoFar(problem, pattern, every, dict(examine(problem, pattern).witnesses))


def test_new_sums_break_only_the_needs_they_concern() -> None:
    """A cell that can move by itself no longer can once a row holds it; others are not asked again."""
    problem = beside(square([[9, 4], [3, 8]], [0]), square([[2, 7], [6, 5]], [1]))
    state = SumsSoFar.of(problem, problem.hidden)
    assert state.broken(np.empty(0, np.int64)).tolist() == []
    assert state.broken(np.arange(6)).tolist() == [0]
    assert state.broken(np.arange(12)).tolist() == [0, 1]


def test_a_change_is_cheaper_and_protects() -> None:
    """Chosen anew, a pattern of everything shrinks to what is needed; all needs are met without another check."""
    problem = square([[9, 4, 6], [3, 8, 2], [7, 5, 4]], [0, 5])
    state = protected(problem)
    change = cheaper_choice(state, np.arange(len(problem)), lambda part, _: Optimal(time=5).solve(part).hidden)
    assert change is not None
    new = accept_choice(state, change)
    assert new is not None
    assert problem.cost(new.pattern) < problem.cost(state.pattern)
    assert examine(problem, new.pattern).met.all()
    assert not len(new.broken(np.arange(problem.rows.shape[0]), np.flatnonzero(~new.pattern)))


def test_changes_that_do_not_fit_together_are_not_kept() -> None:
    """Two changes found at the same time: the second is tried on what the first left, and every need stays met."""
    problem = square([[9, 4, 6], [3, 8, 2], [7, 5, 4]], [0, 5])
    state = protected(problem)
    halves = np.flatnonzero(problem.free)[::2], np.flatnonzero(problem.free)[1::2]
    for cells in halves:
        change = cheaper_choice(protected(problem), cells, lambda part, _: Optimal(time=5).solve(part).hidden)
        state = state if change is None else accept_choice(state, change) or state
        assert examine(problem, state.pattern).met.all()
    assert problem.cost(state.pattern) < problem.cost(problem.hidden | problem.free)
