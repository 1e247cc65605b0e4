"""Attacks that look at a few numbers at a time, each on data small enough to be worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from discreet import Dimension, Microdata, Table
from discreet.data.codebook import Codebook
from discreet.policy import Attack, EditionRules, parse_policy
from discreet.policy.attacks.answers import UNKNOWN, AllAnswers, Truth, collect, merged
from discreet.policy.attacks.attack_report import judged_finding
from discreet.policy.attacks.averaging import averaged
from discreet.policy.attacks.edition_differences import edition_difference
from discreet.policy.attacks.equal_sets import equal_sets
from discreet.policy.attacks.finding import AttackFinding, area_under_curve
from discreet.policy.attacks.mechanism import mechanism_of
from discreet.policy.attacks.subtracting import differences
from discreet.policy.attacks.two_way import TwoWayModel
from discreet.policy.attacks.zeros import lower_bounds, zero_proofs
from discreet.policy.pretabular import cube_of
from tests.policy.attacks.test_attack import people

NOISY = '[query]\nmax_dimensions = 4\n[[method]]\nname = "cell-key"\nd = 2\nv = 1\n'
TWO = (Dimension.flat("sex", ["f", "m"]), Dimension.flat("job", ["a", "b"]))


def shown(total: int, sex: list[int], job: list[int], both: list[list[int]]) -> AllAnswers:
    """Answers of two variables, written down; a total has no cell of its own in a frame."""

    def padded(values: list[int]) -> np.ndarray:
        return np.array([UNKNOWN, *values])

    cells = np.full((3, 3), UNKNOWN)
    cells[1:, 1:] = both
    frames = {(): np.array(total), (0,): padded(sex), (1,): padded(job), (0, 1): cells}
    return AllAnswers(TWO, frames, 1, 0, 1, 0, 0, 0)


def test_a_total_that_differs_from_its_only_part_proves_a_zero_false() -> None:
    """Women show 4, those of them with job a show 3 and b shows 0: somebody is in b."""
    answers = shown(40, [4, 36], [20, 20], [[3, 0], [17, 20]])
    mechanism = mechanism_of(parse_policy(NOISY))
    assert mechanism is not None
    truth = Truth(TWO, np.array([[3, 1], [17, 19]]))
    found, right = zero_proofs(answers, truth, mechanism, TwoWayModel.of(answers))
    assert (found.rate, found.cases) == (1.0, 1)
    assert (right.rate, right.cases) == (1.0, 1)


def test_lower_bounds_hold_the_truth_and_use_parts() -> None:
    """A total of 0 with a part of 3 is at least 1; 38 people less 2 women are men; no bound is above a true count."""
    answers = shown(40, [0, 36], [20, 20], [[3, 0], [17, 20]])
    mechanism = mechanism_of(parse_policy(NOISY))
    assert mechanism is not None
    assert lower_bounds(answers, mechanism)[(0,)].tolist() == [0, 1, 36]
    policy = parse_policy(NOISY)
    asked, truth = collect(people(), policy), Truth.of(people())
    for frame, lower in lower_bounds(asked, mechanism).items():
        assert (lower <= truth.frame(frame)).all()


def test_equal_numbers_of_a_total_and_its_part_are_one_set_more_often_than_the_model_says() -> None:
    """Where the rest shows 0: claims of one set are nearly always right under keyed noise."""
    policy = parse_policy(NOISY)
    answers = collect(people(), policy)
    found = equal_sets(answers, Truth.of(people()), TwoWayModel.of(answers))
    assert found is not None
    assert found.cases > 20
    assert found.rate > found.blind + 0.1


@pytest.mark.parametrize("concerned", [True, False])
def test_codes_that_are_withheld_together_are_modelled(concerned: bool) -> None:
    """Who states nothing is like those who state something, and whom the question does not concern is the rest."""
    rng = np.random.default_rng(7)
    n = 20_000
    age, place = rng.choice(6, n, p=[0.3, 0.25, 0.2, 0.1, 0.1, 0.05]), rng.integers(0, 4, n)
    exempt = (age == 0) if concerned else rng.random(n) < 0.3
    school = np.where(rng.random(n) < 0.6, "low", "high").astype(object)
    school[rng.random(n) < 0.02] = "silent"
    school[exempt] = "exempt"
    dimensions = (
        Dimension.flat("age", [f"a{k}" for k in range(6)]),
        Dimension.flat("place", list("nesw")),
        Dimension.flat("school", ["low", "high", "silent", "exempt"]),
    )
    frame = pd.DataFrame({"age": [f"a{k}" for k in age], "place": np.array(list("nesw"))[place], "school": school})
    truth = Truth.of(Microdata.read(frame, Codebook(dimensions=dimensions)))
    frames: dict[tuple[int, ...], Any] = {}
    for names in ((), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2)):
        values = np.array(truth.frame(names))
        for axis, k in enumerate(names):
            total = dimensions[k].position[dimensions[k].total or ""]
            np.moveaxis(values, axis, 0)[total] = UNKNOWN
            if k == 2 and len(names) > 1:
                for code in ("silent", "exempt"):
                    np.moveaxis(values, axis, 0)[dimensions[k].position[code]] = UNKNOWN
        frames[names] = values
    expected = TwoWayModel.of(AllAnswers(dimensions, frames, 1, 0, 1, 0, 0, 0)).expected
    assert expected is not None
    for place_of in (2, 3):
        held, true = expected.sum(axis=1)[:, place_of], truth.counts.sum(axis=1)[:, place_of]
        assert np.abs(held - true).sum() / 2 < 0.1 * true.sum()


def test_of_a_group_of_nobody_nothing_is_found() -> None:
    """A part shows the 2 of its total, and both are noise: that nobody shares nothing is no success."""
    answers = shown(40, [2, 38], [20, 20], [[2, 0], [18, 20]])
    for counts, rate in (([[0, 0], [19, 20]], 0.0), ([[1, 0], [18, 20]], 1.0), ([[1, 1], [18, 20]], 0.0)):
        found = equal_sets(answers, Truth(TWO, np.array(counts)), TwoWayModel.of(answers))
        assert found is not None
        assert (found.rate, found.cases) == (rate, 1)


def test_differences_tell_presence_only_through_what_is_left() -> None:
    """Exact numbers tell it always; noisy ones do not, and the model is beside them."""

    def areas(text: str) -> list[tuple[float, float]]:
        answers = collect(people(), parse_policy(text))
        found = differences(answers, Truth.of(people()), TwoWayModel.of(answers))
        return [(one.rate, one.blind) for one in found]

    exact, noisy = areas('publish = "as it is"\n[query]\nmax_dimensions = 4\n'), areas(NOISY)
    assert [rate for rate, _ in exact] == [1.0] * len(exact)
    assert len(noisy) == len(exact)
    assert all(0.5 < rate < 1.0 for rate, _ in noisy)
    assert all(0.5 < blind < 1.0 for _, blind in exact)


def test_averages_over_breakdowns_hit_more_counts_than_the_numbers_themselves() -> None:
    """The mean of all breakdowns of a cell is nearer to the truth."""
    found = averaged(collect(people(), parse_policy(NOISY)), Truth.of(people()), 2)
    assert found is not None
    assert found.rate > found.blind


def test_a_single_new_record_is_read_off_two_editions() -> None:
    """Every attribute, since only the cells of the record change."""
    waits = parse_policy(NOISY)
    policy = replace(waits, edition=EditionRules(min_changes=0))
    cube = cube_of(people())
    found = edition_difference(cube, policy, collect(cube, policy), added=1, trials=4, seed=2)
    assert found.rate == 1.0
    assert found.cases == 4 * len(cube.dimensions)
    assert found.blind < 0.9
    held = edition_difference(cube, waits, collect(cube, waits), added=1, trials=4, seed=2)
    assert held.rate <= held.blind  # 100 records have to change before there is another edition


@pytest.mark.parametrize("seed", range(3))
def test_area_under_the_curve_is_the_share_of_pairs_in_order(seed: int) -> None:
    """Counted once more, pair by pair."""
    rng = np.random.default_rng(seed)
    scores, positive = rng.integers(0, 5, 30).astype(float), rng.random(30) < 0.4
    pairs = [(a > b) + 0.5 * (a == b) for a in scores[positive] for b in scores[~positive]]
    assert area_under_curve(scores, positive) == pytest.approx(np.mean(pairs))


def test_the_two_way_model_has_the_margins_that_are_shown() -> None:
    """Of exact tables, every two-way margin of what is expected is the true one."""
    answers = collect(people(), parse_policy('publish = "as it is"\n[query]\nmax_dimensions = 4\n'))
    model, truth = TwoWayModel.of(answers), Truth.of(people())
    assert model.expected is not None
    expected = Truth(truth.dimensions, model.expected)
    for pair in ((0, 1), (1, 3), (2, 3)):
        assert np.allclose(expected.frame(pair), truth.frame(pair), rtol=0.02, atol=0.5)


def test_a_table_of_counts_alone_can_be_attacked() -> None:
    """A cube without keys, published as it is."""
    cube = Table.of([[3, 0], [1, 2]], TWO)
    answers = collect(cube, parse_policy('publish = "as it is"\n[query]\nmax_dimensions = 2\n'))
    assert answers.cells == 9


@pytest.mark.parametrize(
    ("finding", "verdict"),
    [
        ({"rate": 0.54, "blind": 0.5, "cases": 10_000}, "pass"),
        ({"rate": 0.60, "blind": 0.5, "cases": 10_000}, "fail"),
        ({"rate": 0.60, "blind": 0.5, "cases": 10}, "unknown"),
        ({"rate": 0.85, "blind": 0.5, "cases": 5_000, "area": True}, "fail"),
        ({"rate": 0.85, "blind": 0.82, "cases": 5_000, "area": True}, "pass"),
        ({"rate": 0.70, "blind": 0.5, "cases": 12, "area": True}, "unknown"),
        ({"rate": 0.90, "blind": 0.5, "cases": 5_000, "fair": False}, "unknown"),
        ({"rate": 1.0, "blind": 1.0, "cases": 5_000}, "pass"),
    ],
)
def test_a_simple_attack_that_succeeds_is_no_pass(finding: dict[str, Any], verdict: str) -> None:
    """It counts like any other: beyond the margin and beyond chance it fails, and so does the whole."""
    one = AttackFinding(attack="editions", success="attributes read off", **finding)
    assert judged_finding(one).value == verdict
    names = ("requests", "refused", "tables", "cells", "hidden", "conflicts", "left_out")
    numbers: dict[str, Any] = dict.fromkeys(names, 0)
    report = Attack(policy="", mechanism="", secrets=1, populations=(), counts=(), findings=(one,), **numbers)
    assert report.verdict.value in (verdict, "unknown")
    assert (report.verdict.value == "fail") == (verdict == "fail")
    assert report.to_dict()["findings"][0]["verdict"] == verdict
    assert f"cases): {verdict}" in report.summary()


def test_what_several_roles_see_is_put_together() -> None:
    """Every cell of either policy is there, once, and a cell that two policies show differently is a conflict."""
    wide, narrow = (f"[query]\nmax_dimensions = {n}\n" for n in (3, 2))
    keys = '[[method]]\nname = "cell-key"\nd = 2\nv = 1\n'
    closed = wide + 'forbidden = [["land", "age"]]\n' + keys
    first, second = (collect(people(), parse_policy(text)) for text in (closed, narrow + keys))
    both = merged([first, second])
    assert both.conflicts == 0
    assert both.requests == first.requests + second.requests
    assert both.cells > max(first.cells, second.cells)
    for one in (first, second):
        for frame, values in one.frames.items():
            known = values != UNKNOWN
            assert (both.frames[frame][known] == values[known]).all()
    other = collect(people(), parse_policy(narrow + '[[method]]\nname = "random-round"\nseed = 1\n'))
    assert merged([first, other]).conflicts > 0
