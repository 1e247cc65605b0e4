"""Cleaned patterns: no cell of them can be dropped."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.methods.suppress.attacker import feasibility
from discreet.methods.suppress.heuristics import prune
from discreet.methods.suppress.heuristics.prune import clean_up
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning
from tests.problems import protects, random_problem

ALONE, TOGETHER = DEFAULT, replace(DEFAULT, heuristics=replace(DEFAULT.heuristics, many_lost=2, shared=0.0))


@pytest.mark.parametrize("tuning", [ALONE, TOGETHER], ids=["alone", "together"])
@pytest.mark.parametrize("shape", [(4, 4), (3, 3, 3)])
@pytest.mark.parametrize("seed", range(4))
def test_no_cell_of_a_cleaned_pattern_can_be_dropped(seed: int, shape: tuple[int, ...], tuning: Tuning) -> None:
    """Minimal by inclusion, by plain programs, whether needs that share a move look for another one or not."""
    p = random_problem(seed, shape, coalitions=seed % 2 == 0)
    everything = p.hidden | p.free
    if not protects(p, everything).all():
        with pytest.raises(InputError, match="does not protect"):
            clean_up(p, everything, tuning=tuning)
        return
    pattern, minimal = clean_up(p, everything, tuning=tuning)
    assert minimal
    assert protects(p, pattern).all()
    for cell in np.flatnonzero(pattern & ~p.hidden):
        smaller = pattern.copy()
        smaller[cell] = False
        assert not protects(p, smaller).all()


def test_a_pattern_that_only_the_second_opinion_proves_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the solver gives up on one need and another proof has it, nothing is pruned and nothing is refused."""
    p = next(p for seed in range(20) if protects(p := random_problem(seed, (4, 4)), p.hidden | p.free).all())
    moves_for_all = feasibility.moves_for_all

    def one_short(*given: Any, **options: Any) -> Any:
        examined = moves_for_all(*given, **options)
        return replace(examined, met=np.arange(len(examined.met)) > 0)

    monkeypatch.setattr(prune, "moves_for_all", one_short)
    pattern, minimal = clean_up(p, p.hidden | p.free)
    assert (pattern == (p.hidden | p.free)).all()
    assert not minimal
