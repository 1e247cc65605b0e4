"""Cleaned patterns: no cell of them can be dropped."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

from discreet.errors import InputError
from discreet.methods.suppress.attacker.witnesses import Move, Refusal, Witnesses, met_by, spread
from discreet.methods.suppress.heuristics.needed_cells import NeededCells
from discreet.methods.suppress.heuristics.prune import Pruning, clean_up, shrunk
from discreet.methods.suppress.model.condense import with_choice
from discreet.methods.suppress.model.problem import Problem, Requirements
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning
from tests.problems import protects, random_problem

ALONE = DEFAULT
TOGETHER = replace(DEFAULT, heuristics=replace(DEFAULT.heuristics, many_lost=2, alone=0))
WALKING = replace(TOGETHER, heuristics=replace(TOGETHER.heuristics, walks_from=1))
AT_ONCE = replace(DEFAULT, heuristics=replace(DEFAULT.heuristics, dropped_first=64))


@pytest.mark.parametrize("tuning", [ALONE, TOGETHER, AT_ONCE], ids=["alone", "together", "at once"])
@pytest.mark.parametrize("shape", [(4, 4), (3, 3, 3)])
@pytest.mark.parametrize("seed", range(4))
def test_no_cell_of_a_cleaned_pattern_can_be_dropped(seed: int, shape: tuple[int, ...], tuning: Tuning) -> None:
    """Minimal by inclusion, by plain programs, whether needs that share a move look for another one or not."""
    p = random_problem(seed, shape, coalitions=seed % 2 == 0)
    everything = p.hidden | p.free
    if not protects(p, everything).all():
        with suppress(InputError):  # or nothing was tried
            assert (clean_up(p, everything, tuning=tuning)[0] == everything).all()
        return
    pattern, minimal = clean_up(p, everything, tuning=tuning)
    assert minimal
    assert protects(p, pattern).all()
    for cell in np.flatnonzero(pattern & ~p.hidden):
        smaller = pattern.copy()
        smaller[cell] = False
        assert not protects(p, smaller).all()


@pytest.mark.parametrize("most", [0.0, 3e4, 3e5])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_cleaned_when_enough_was_done_protects_and_the_rest_is_told(seed: int, most: float) -> None:
    """Every cell that is left was not tried or is needed; the same work gives the same pattern."""
    p = random_problem(seed, (4, 4), coalitions=seed % 2 == 0)
    everything = p.hidden | p.free
    if not protects(p, everything).all():
        return
    done = shrunk(p, everything, most=most, tuning=WALKING)
    assert protects(p, done.pattern).all()
    assert not (done.untried & ~done.pattern).any()
    assert done.minimal == (not done.untried.any())
    for cell in np.flatnonzero(done.pattern & ~p.hidden & ~done.untried):
        smaller = done.pattern.copy()
        smaller[cell] = False
        assert not protects(p, smaller).all()
    assert (shrunk(p, everything, most=most, tuning=WALKING).pattern == done.pattern).all()


@pytest.mark.parametrize("seed", range(4))
def test_what_was_cleaned_before_is_tried_first(seed: int) -> None:
    """The same pattern comes out again, with fewer programs."""
    p = random_problem(seed, (3, 3, 3))
    everything = p.hidden | p.free
    if not protects(p, everything).all():
        return
    first = shrunk(p, everything)
    again = shrunk(p, everything, earlier=first.pattern)
    assert (again.pattern == first.pattern).all()
    assert again.minimal


@pytest.mark.parametrize("seed", range(4))
def test_no_protecting_pattern_breaks_a_proof_that_a_need_cannot_do_without_cells(seed: int) -> None:
    """Neither those that sums give nor those of refusals, whatever pattern the proof was found for."""
    p = random_problem(seed, (4, 4), coalitions=seed % 2 == 0)
    pruning = Pruning(with_choice(p, everything := p.hidden | p.free, everything))
    small = pruning.problem
    if not protects(small, np.ones(len(small), bool)).all():
        return
    pruning.prune()
    needed, random = NeededCells(small, np.ones(len(small), bool)), np.random.default_rng(seed)
    checked = 0
    for _ in range(60):
        pattern = (random.random(len(small)) < random.uniform(0.4, 0.9)) | small.hidden
        lost = np.flatnonzero(~pattern).tolist()
        if protects(small, pattern).all():
            assert needed.spared(lost)[0] == lost
            assert keeps_the_proofs(pruning, pattern)
            checked += 1
    assert checked


def keeps_the_proofs(pruning: Pruning, pattern: NDArray[np.bool_]) -> bool:
    """Whether a pattern satisfies all proofs that a pruning came by; their sums are over what is left of it."""
    sums = pruning.needed.total.copy()
    for cell in range(len(pattern)):
        for proof, share in pruning.needed.parts[cell]:
            sums[proof] += share * (float(pattern[cell]) - float(pruning.pattern[cell]))
    return bool((sums >= 1 - 1e-6).all())


def test_a_need_that_slides_is_served_by_a_move_found_for_another() -> None:
    """Two cells of one move, neither of which has a level of its own to one side."""
    rows = csr_array([[1.0, -1.0]])
    slides = Requirements.of(np.arange(2), np.zeros(2), np.zeros(2), np.ones(2))
    p = Problem(rows, np.full(2, 3.0), np.full(2, 3.0), np.ones(2), np.ones(2, bool), slides)
    known: Witnesses = {(0, 1): Move(np.arange(2), np.ones(2))}
    spread(p, known[0, 1], known)
    assert all(met_by(p, need, known) for need in range(2))


def test_a_pattern_that_only_the_second_opinion_proves_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the solver gives up on one need and another proof has it, nothing is pruned and nothing is refused."""
    p = next(p for seed in range(20) if protects(p := random_problem(seed, (4, 4)), p.hidden | p.free).all())
    settle = Pruning._settle

    def one_short(self: Pruning, need: int, *given: Any) -> Refusal | None:
        return Refusal(True) if need == 0 else settle(self, need, *given)

    monkeypatch.setattr(Pruning, "_settle", one_short)
    pattern, minimal = clean_up(p, p.hidden | p.free)
    assert (pattern == (p.hidden | p.free)).all()
    assert not minimal
