"""Moves of a cell: those found over a basis are those found over the rows."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.methods.suppress.attacker.cheapest_move import MoveFinder
from discreet.methods.suppress.attacker.witnesses import Move
from discreet.methods.suppress.model.condense import hidden_part_with_moves
from tests.problems import random_problem


@pytest.mark.parametrize("seed", range(4))
def test_programmes_over_moves_agree_with_those_over_rows(seed: int) -> None:
    """The same answer, met or not, and moves that keep every sum."""
    p = random_problem(seed, (3, 3, 3, 3))
    pattern = p.hidden | (p.free & (np.random.default_rng(seed).random(len(p)) < 0.7))
    part, _, basis = hidden_part_with_moves(p, pattern)
    over, by_rows = MoveFinder(part, basis), MoveFinder(part)
    assert over.moves is not None
    everything = np.ones(len(part), bool)
    for need in range(len(part.needs)):
        amount = float(part.needs.above[need])
        one, two = (w.find(everything, need, 1, amount, np.ones(len(part))) for w in (over, by_rows))
        assert type(one) is type(two)
        if isinstance(one, Move):
            moved = np.zeros(len(part))
            moved[one.cells] = one.by
            assert np.abs(part.rows @ moved).max() < 1e-6 * amount
            assert one.of(int(part.needs.cell[need])) >= amount * (1 - 1e-6)
