"""One program for the moves of a shrinking pattern gives the answers of new ones."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.methods.suppress.attacker.cheapest_move import MoveFinder
from discreet.methods.suppress.attacker.kept_program import KeptProgram
from discreet.methods.suppress.attacker.witnesses import Key, Refusal, Witnesses, levels, prices
from discreet.methods.suppress.model.problem import Problem
from tests.problems import random_problem


def keeps_all(problem: Problem, pattern: np.ndarray, witnesses: Witnesses) -> bool:
    """Sums, bounds, published cells and what a coalition knows, for each move by itself."""
    for (need, side), move in witnesses.items():
        by = np.zeros(len(problem))
        by[move.cells] = move.by
        slack = 1e-6 * np.abs(by).max()
        group = int(problem.needs.coalition[need])
        assert np.abs(problem.rows @ by).max() <= slack
        assert (by <= problem.up + slack).all()
        assert (-by <= problem.down + slack).all()
        assert not by[~pattern].any()
        assert group < 0 or not by[problem.needs.known[group]].any()
        assert (by[problem.needs.cell[need]] > 0) == (side == 1)
    return True


@pytest.mark.parametrize("seed", range(4))
def test_the_same_refusals_as_by_programs_from_nothing(seed: int) -> None:
    """Cells are published one after the other, and each need is asked again: met by both, or by neither."""
    problem = random_problem(seed, (4, 4), coalitions=seed % 2 == 0)
    kept, finder = KeptProgram(MoveFinder(problem), prices(problem)), MoveFinder(problem)
    pattern, met = problem.hidden | problem.free, 0
    for cell in np.random.default_rng(seed).permutation(np.flatnonzero(problem.free)):
        pattern[cell] = False
        for need in range(len(problem.needs)):
            for side, level in levels(problem, need):
                ours = kept.find(pattern, (need, side), level)
                fresh = finder.find(pattern, need, side, level, prices(problem))
                assert isinstance(ours, Refusal) == isinstance(fresh, Refusal)
                if not isinstance(ours, Refusal):
                    met += keeps_all(problem, pattern, {(need, side): ours})
                    assert abs(ours.of(int(problem.needs.cell[need]))) >= level * (1 - 1e-6)
    assert met


@pytest.mark.parametrize("seed", range(4))
def test_a_move_for_many_needs_takes_each_to_its_level(seed: int) -> None:
    """Those that are told to be reached are, by a move that keeps sums and bounds."""
    problem = random_problem(seed, (4, 4, 3))
    pattern = problem.hidden | problem.free
    wanted: dict[Key, float] = {}
    for need in range(len(problem.needs)):
        wanted.update({(need, side): level for side, level in levels(problem, need)[:1]})
    answer = KeptProgram(MoveFinder(problem), prices(problem)).together(pattern, wanted, "all")
    assert answer is not None
    move, reached = answer
    assert reached
    assert keeps_all(problem, pattern, dict.fromkeys(reached, move))
    for need, side in reached:
        assert abs(move.of(int(problem.needs.cell[need]))) >= wanted[need, side] * (1 - 1e-6)
