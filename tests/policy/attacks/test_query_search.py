"""The search for queries about one target: shadow data are like real ones, and exact answers tell everything."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.policy import parse_policy
from discreet.policy.attacks.answers import Truth, collect
from discreet.policy.attacks.mechanism import mechanism_of
from discreet.policy.attacks.query_search import draw_target, search_questions, searched_targets
from discreet.policy.attacks.target_cells import TargetCells
from discreet.policy.attacks.two_way import TwoWayModel
from tests.policy.attacks.test_attack import people

NOISY = '[query]\nmax_dimensions = 4\n[[method]]\nname = "cell-key"\nd = 2\nv = 1\n'
EXACT = 'publish = "as it is"\n[query]\nmax_dimensions = 4\n'
LITTLE = '[query]\nmax_dimensions = 1\nmax_filters = 0\n[[method]]\nname = "cell-key"\nd = 5\nv = 3\n'


def searched(text: str, number: int = 6) -> list[float]:
    policy = parse_policy(text)
    answers = collect(people(), policy)
    mechanism = mechanism_of(policy)
    assert mechanism is not None
    model = TwoWayModel.of(answers)
    return [one.rate for one in searched_targets(answers, Truth.of(people()), model, mechanism, number=number, seed=4)]


def test_more_noise_and_fewer_tables_tell_less_of_a_target() -> None:
    """Exact tables of all variables tell most, single variables next to nothing."""
    exact, noisy, little = (searched(text)[0] for text in (EXACT, NOISY, LITTLE))
    assert exact > 0.9
    assert exact >= noisy > 0.6
    assert abs(little - 0.5) < 0.1


def test_shadow_counts_have_the_expected_means() -> None:
    """The cells of shadow data are as large as the model says, and one larger where the target is."""
    policy = parse_policy(EXACT)
    answers, truth = collect(people(), policy), Truth.of(people())
    model, mechanism = TwoWayModel.of(answers), mechanism_of(policy)
    assert model.expected is not None
    assert mechanism is not None
    target, _ = draw_target(truth, model.expected, np.random.default_rng(8))
    cells = TargetCells.of(answers, model.expected, target)
    shown, second = cells.shadows(4000, mechanism, np.random.default_rng(9))
    expected = Truth(truth.dimensions, model.expected)
    for number, chosen in enumerate(cells.sets):
        for kind in range(2):
            codes = {k: target.leaves[k] for k in chosen} | {target.unknown: target.two[kind]}
            frame = tuple(sorted(codes))
            at = tuple(truth.dimensions[k].position[truth.dimensions[k].leaves[codes[k]]] for k in frame)
            mean = float(np.asarray(expected.frame(frame))[at])
            there = shown[second == bool(kind), number, kind].mean()
            absent = shown[second != bool(kind), number, kind].mean()
            assert abs(absent - mean) < 5 * np.sqrt((mean + 0.1) / 2000)
            assert abs(there - absent - 1) < 8 * np.sqrt((mean + 0.1) / 2000)


def test_no_answers_no_questions() -> None:
    """A policy that answers nothing of a target leaves nothing to search."""
    answers, truth = collect(people(), parse_policy(NOISY)), Truth.of(people())
    model, mechanism = TwoWayModel.of(answers), mechanism_of(parse_policy(NOISY))
    assert model.expected is not None
    assert mechanism is not None
    target, _ = draw_target(truth, model.expected, np.random.default_rng(8))
    nothing = TargetCells.of(replace(answers, frames={}), model.expected, target)
    assert search_questions(nothing, mechanism, 1) is None
