"""Does a pattern protect? The same answers as by one linear program after the other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from discreet.methods.suppress.attacker.feasibility import examine, met
from discreet.methods.suppress.attacker.joint_moves import reached
from discreet.methods.suppress.attacker.witnesses import verified
from discreet.methods.suppress.model.condense import hidden_part
from discreet.methods.suppress.model.tuning import DEFAULT, AttackerTuning
from tests.problems import needy, protects, random_problem


@pytest.mark.parametrize("shape", [(3, 4), (3, 3, 3)])
@pytest.mark.parametrize("seed", range(6))
def test_a_check_agrees_with_plain_programs(seed: int, shape: tuple[int, ...]) -> None:
    """Met is met, and every witness bears out by itself."""
    p = random_problem(seed, shape, coalitions=seed % 2 == 0)
    random = np.random.default_rng(seed)
    for share in (0.4, 0.7, 1.0):
        pattern = p.hidden | (p.free & (random.random(len(p)) < share))
        checked = examine(p, pattern)
        assert checked.met.tolist() == protects(p, pattern).tolist()
        if checked.met.all():
            assert verified(p, pattern, checked.witnesses)


@pytest.mark.parametrize("seed", range(4))
def test_many_needs_at_once_agree_with_plain_programs(seed: int) -> None:
    """What is met and what is not, with most of it told by a few moves of everything."""
    together = replace(DEFAULT, attacker=AttackerTuning(few=0))
    p = needy(seed, (5, 5, 3))
    random = np.random.default_rng(seed)
    for share in (0.2, 1.0):
        pattern = p.hidden | (p.free & (random.random(len(p)) < share))
        found = met(p, pattern, together)
        assert found.tolist() == protects(p, pattern).tolist()
    assert not found.all()
    part = hidden_part(p, p.hidden | p.free)[0]
    shown = reached(part)
    assert shown.sum() > 0.8 * found.sum()
    assert not (shown & ~found).any()


def test_a_solver_that_breaks_sums_is_not_believed() -> None:
    """Then every need is asked about by itself."""
    p = needy(1, (5, 5, 3))
    pattern = p.hidden | p.free
    doubting = replace(DEFAULT, attacker=AttackerTuning(kept=-1.0))
    assert not reached(hidden_part(p, pattern)[0], doubting).any()
    assert met(p, pattern, doubting).tolist() == examine(p, pattern).met.tolist()
