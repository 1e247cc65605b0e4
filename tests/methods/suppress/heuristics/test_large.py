"""What large problems are solved with, on small ones: patterns protect, and bounds hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from discreet.methods.suppress.attacker.witnesses import verified
from discreet.methods.suppress.exact.optimal import Optimal
from discreet.methods.suppress.heuristics import elimination
from discreet.methods.suppress.heuristics.local_moves import first_pattern
from discreet.methods.suppress.model.condense import condense
from discreet.methods.suppress.model.tuning import DEFAULT, HeuristicTuning
from tests.problems import protects, random_problem


@pytest.mark.parametrize("seed", range(3))
def test_a_large_problem_gets_an_audited_pattern_and_a_bound(seed: int) -> None:
    """The way of large problems on a small one: protects, is not far from the best, and the bound holds."""
    large = replace(DEFAULT, heuristics=HeuristicTuning(large=10, near=20))
    p = random_problem(seed, (4, 4, 4))
    best = Optimal(time=6).solve(p, tuning=large)
    plain = Optimal(time=60).solve(p)
    assert protects(p, best.hidden).all()
    assert plain.status == "optimal"
    assert best.bound <= plain.cost <= best.cost
    assert best.cost <= 1.5 * plain.cost  # a machine that does other things, too, gets less far in these seconds


@pytest.mark.parametrize("late", [False, True])
def test_first_moves_bear_out_whatever_the_time(late: bool) -> None:
    """Each need has its moves, and they alone prove the pattern."""
    large = replace(DEFAULT, heuristics=HeuristicTuning(large=10))
    small = condense(random_problem(5, (5, 5, 4)))
    found = first_pattern(small, 0.0 if late else np.inf, large)
    assert found is not None
    assert verified(small.small, *found)


def test_elimination_repairs_a_large_problem_in_neighbourhoods() -> None:
    """Each need that elimination leaves short takes a move; the pattern protects by plain programs."""
    large = replace(DEFAULT, heuristics=HeuristicTuning(repair_locally=10))
    p = random_problem(5, (5, 5, 4))
    assert not protects(p, p.hidden).all()
    assert protects(p, elimination.repaired(p, p.hidden, large)).all()
