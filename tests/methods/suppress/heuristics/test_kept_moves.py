"""Moves that are kept: they take no cell further than it can get, whoever finds them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from discreet.base.annotations import Array
from discreet.methods.suppress.heuristics.kept_moves import KeptMoves
from discreet.methods.suppress.heuristics.prune import Pruning
from discreet.methods.suppress.heuristics.walked_moves import WalkedMoves
from discreet.methods.suppress.model.condense import with_choice
from discreet.methods.suppress.model.problem import Problem
from tests.problems import random_problem

SLACK = 1e-6


def furthest(problem: Problem, pattern: Array, need: int) -> tuple[float, float]:
    """How far below and above its value a need's cell gets under a pattern, by two plain programs."""
    able, group = pattern.copy(), int(problem.needs.coalition[need])
    if group >= 0:
        able[problem.needs.known[group]] = False
    low, high = (-problem.down * able).tolist(), (np.minimum(problem.up, 1e7) * able).tolist()
    bounds = list(zip(low, high, strict=True))
    cost, rows = np.zeros(len(problem)), problem.rows.toarray()
    ends = []
    for sign in (1.0, -1.0):
        cost[problem.needs.cell[need]] = sign
        answer = linprog(cost, A_eq=rows, b_eq=np.zeros(len(rows)), bounds=bounds, method="highs")
        assert answer.fun is not None
        ends.append(-float(answer.fun))
    return ends[0], ends[1]


@pytest.mark.parametrize("seed", range(6))
def test_kept_moves_take_no_cell_further_than_it_gets(seed: int) -> None:
    """Neither those of a pruning, of programs for one need and for many, nor those of walks."""
    p = random_problem(seed, (4, 4) if seed % 3 else (3, 3, 3), coalitions=seed % 2 == 0)
    everything = p.hidden | p.free
    pruning = Pruning(with_choice(p, everything, everything))
    small = pruning.problem
    pruning.prune()
    walked = KeptMoves(small)
    reach = walked.reach(pruning.pattern)
    for cells, by in WalkedMoves(small, small.weight).of(pruning.pattern, small.needs.cell, np.ones(len(small.needs))):
        assert pruning.pattern[cells].all()
        walked.add(cells, by, reach)
    for kept in (pruning.kept.reach(pruning.pattern), reach):
        for need in range(len(small.needs)):
            below, above = furthest(small, pruning.pattern, need)
            assert kept.below[need] <= below * (1 + SLACK) + SLACK
            assert kept.above[need] <= above * (1 + SLACK) + SLACK


def test_a_move_of_a_published_cell_is_forgotten() -> None:
    p = random_problem(0, (4, 4))
    pruning = Pruning(with_choice(p, p.hidden | p.free, p.hidden | p.free))
    pruning.prune()
    moves = pruning.kept.moves
    assert moves
    smaller = pruning.pattern.copy()
    smaller[moves[0].cells] = False
    pruning.kept.keep(smaller)
    assert moves[0] not in pruning.kept.moves
