"""Elimination for a problem in numbers: the cells written over a basis of the moves are the columns of a matrix.

Cells whose columns span a sensitive one's give it away, in tables and in any other system of sums. What elimination
does not see, bounds and levels, is repaired afterwards: needs that are not met take their cheapest move.
"""

from __future__ import annotations

import numpy as np

from discreet.base.annotations import Array
from discreet.linear import null_space as moves
from discreet.methods.suppress.attacker.cheapest_move import MoveFinder
from discreet.methods.suppress.attacker.feasibility import met
from discreet.methods.suppress.attacker.witnesses import verified
from discreet.methods.suppress.gauss.eliminate import eliminate
from discreet.methods.suppress.heuristics.greedy import search_weights, take_cheapest_moves
from discreet.methods.suppress.heuristics.local_moves import LocalMoves
from discreet.methods.suppress.heuristics.prune import WitnessedPattern
from discreet.methods.suppress.model.condense import condense
from discreet.methods.suppress.model.problem import Problem
from discreet.methods.suppress.model.solution import UnprotectedError
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning


def pattern_by_elimination(problem: Problem, tuning: Tuning = DEFAULT) -> Array:
    """A pattern that meets every need: elimination, dearest cells published first, and repair.

    Raises UnprotectedError if there is none.

    >>> from scipy.sparse import csr_array
    >>> from discreet.methods.suppress.model.problem import Requirements
    >>> sums = csr_array([[1, 1, 1, -1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1, 1, -1]])
    >>> sums = csr_array(np.vstack([sums.toarray(), np.hstack([np.eye(4), np.eye(4)])[:3]]))
    >>> hidden, needs = np.arange(8) == 0, Requirements.of(np.array([0]), np.ones(1), np.ones(1))
    >>> weight = np.array([0, 9, 3, 20, 4, 7, 5, 21])
    >>> problem = Problem(sums, np.full(8, 9.0), np.full(8, 9.0), weight, hidden, needs)
    >>> pattern_by_elimination(problem).nonzero()[0].tolist()
    [0, 2, 4, 6]
    """
    hopeless = _hopeless(problem)
    if len(hopeless):
        raise UnprotectedError(hopeless)
    forced = np.flatnonzero(~problem.hidden & ~problem.free)
    free = np.flatnonzero(problem.free)
    order = np.concatenate([forced, free[np.argsort(-problem.weight[free], kind="stable")]])
    outcome = eliminate(
        moves.whole_columns(moves.basis(problem.rows)), np.unique(problem.needs.cell), order, forced=len(forced)
    )
    pattern = problem.hidden.copy()
    pattern[outcome.secondary] = True
    return repaired(problem, pattern, tuning)


def repaired(problem: Problem, pattern: Array, tuning: Tuning = DEFAULT) -> Array:
    """The pattern with further cells, so that every need is met; those that are unmet take their cheapest moves."""
    if met(problem, pattern).all():
        return pattern
    whole = condense(problem)
    small = whole.small
    if len(small) > tuning.heuristics.repair_locally:
        local = LocalMoves(whole, whole.shrink(pattern), tuning=tuning)
        if local.run(np.inf) and verified(small, local.pattern, local.witnesses):
            return np.asarray(whole.expand(local.pattern) | pattern)
    kept = WitnessedPattern(MoveFinder(small, whole.moves, tuning), whole.shrink(pattern), {}, tuning)
    take_cheapest_moves(kept, np.argsort(-small.needs.above, kind="stable"), search_weights(small, None, None, tuning))
    return np.asarray(whole.expand(kept.pattern) | pattern)


def _hopeless(problem: Problem) -> Array:
    """Requirements that are not met even if every cell that may be hidden is."""
    return np.flatnonzero(~met(problem, problem.hidden | problem.free))
