"""attack(): what is published as it is is rebuilt, noise that tells nothing leaves the two-way model."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from discreet import Dimension, InputError, Microdata, Table
from discreet.base.verdicts import Verdict
from discreet.data.codebook import Codebook
from discreet.policy import Attack, Effort, attack, parse_policy, ready
from discreet.policy.attacks import Attacked
from discreet.policy.attacks.answers import collect
from discreet.policy.attacks.attack_report import population_line
from discreet.policy.attacks.attacking import _exposed
from discreet.policy.attacks.claims import Claimed
from discreet.policy.attacks.small_populations import SmallPopulation
from discreet.policy.attacks.two_way import TwoWayModel

QUICK = Effort(chains=3, fewest=40_000, most=40_000, samples=100)
WIDE = "[query]\nmax_dimensions = 4\n"
KEYED = WIDE + '[[method]]\nname = "cell-key"\nd = 5\nv = 3\n'
PLANTED = 9


@cache
def people(n: int = 3000) -> Microdata:
    """Persons of four variables, and a handful with a category that nobody else has."""
    rng = np.random.default_rng(11)
    dimensions = (
        Dimension.flat("land", ["home", "away", "rare"]),
        Dimension.flat("age", [str(k) for k in range(6)]),
        Dimension.flat("job", [str(k) for k in range(5)]),
        Dimension.flat("area", [str(k) for k in range(4)]),
    )
    frame = pd.DataFrame({d.name: rng.choice(d.leaves, n) for d in dimensions})
    frame["land"] = np.where(np.arange(n) < PLANTED, "rare", np.where(rng.random(n) < 0.4, "away", "home"))
    frame["rkey"] = rng.integers(0, 2**63, n, dtype=np.uint64)
    return Microdata.read(frame, Codebook(dimensions=dimensions, key="rkey"))


def attacked(text: str, **more: Any) -> Attack:
    return attack(people(), parse_policy(text), limit=100, effort=QUICK, **{"editions": False, "targets": 0, **more})


def test_what_is_published_as_it_is_is_rebuilt_whole() -> None:
    """Every record of the small population, with certainty, and every count of 1 to 3."""
    result = attacked('publish = "as it is"\n' + WIDE)
    (rare,) = result.populations
    assert rare.name == "land = rare"
    sure = rare.claimed[-1]
    assert sure.claims == sure.right == PLANTED
    assert rare.covered == (1.0, 1.0, 1.0)
    assert rare.counts is not None
    assert rare.counts.exact == 1.0
    assert result.verdict is Verdict.FAIL


def test_all_margins_together_rebuild_a_small_population_from_noise() -> None:
    """Three-way tables under noise of variance 1: most of the planted records, and never far from what is promised."""
    text = '[query]\nmax_dimensions = 3\nmax_filters = 1\n[[method]]\nname = "cell-key"\nd = 2\nv = 1\n'
    (rare,) = attacked(text, secrets=3).populations
    likely = rare.claimed[0]
    assert likely.right >= 0.5 * 3 * PLANTED
    assert likely.precision > likely.baseline_precision + 0.2
    assert abs(likely.expected - likely.right) < 0.25 * likely.claims
    assert rare.verdict is Verdict.FAIL


def test_margins_of_one_variable_tell_nothing_of_records() -> None:
    """With single variables alone no record is claimed, and the policy holds."""
    result = attacked('[query]\nmax_dimensions = 1\nmax_filters = 0\n[[method]]\nname = "cell-key"\nd = 5\nv = 3\n')
    (rare,) = result.populations
    assert rare.claimed[0].claims == 0
    assert rare.verdict is Verdict.PASS
    assert result.verdict is Verdict.PASS
    assert "verdict: pass" in result.summary()


def test_what_cannot_be_attacked_is_unknown() -> None:
    """A method that tells more than numbers is never found good, and what there was no time for is not either."""
    suppressed = '[[rule]]\nrule = "threshold"\nn = 3\n[[method]]\nname = "suppress"\n'
    text = "[query]\nmax_dimensions = 1\nmax_filters = 0\n" + suppressed
    result = attacked(text)
    assert result.verdict is Verdict.UNKNOWN
    assert "audit" in result.summary()
    late = Attacked(name="land = rare", people=9, why="there was no time left")
    assert late.verdict is Verdict.UNKNOWN


def test_the_report_holds_rates_and_no_record() -> None:
    """What is written has names of populations and shares; the same seed gives the same report."""
    text = '[query]\nmax_dimensions = 3\n[[method]]\nname = "cell-key"\nd = 2\nv = 1\n'
    one, two = (attacked(text, seed=5) for _ in range(2))
    assert one.to_json() == two.to_json()
    assert set(one.to_frame()["population"]) == {"land = rare"}
    assert {"precision", "baseline", "covered"} <= set(one.to_frame().columns)


def test_numbers_below_one_are_refused() -> None:
    """No secret at all is no attack."""
    with pytest.raises(InputError, match="secrets"):
        attack(people(), parse_policy('publish = "as it is"'), secrets=0)


def test_a_cube_of_changed_data_is_refused() -> None:
    """Claims would be set against the counts that the policy made up."""
    policy = parse_policy('[query]\nmax_dimensions = 2\n[[before]]\nname = "synthetic"\nseed = 1\n')
    with pytest.raises(InputError, match="true ones"):
        attack(ready(people(), policy), policy)


def test_answers_from_elsewhere_are_attacked_as_those_of_the_policy() -> None:
    """What a server has given is judged as what the policy would give; it has one secret."""
    answers = collect(people(), parse_policy(KEYED))
    assert attacked(KEYED, answers=answers).to_dict() == attacked(KEYED).to_dict()
    with pytest.raises(InputError, match="one secret"):
        attacked(KEYED, answers=answers, secrets=2)


def test_pairs_are_attacked_beside_single_categories() -> None:
    """As many of them, though there are single categories enough."""
    policy = parse_policy(WIDE + '[[method]]\nname = "cell-key"\nd = 5\nv = 3\n')
    quick = Effort(chains=2, fewest=2_000, most=2_000, samples=20)
    report = attack(people(), policy, limit=800, most=2, together=2, editions=False, targets=0, effort=quick)
    assert [" and " in one.name for one in report.populations] == [False, False, True, True]
    assert not any(one.why for one in report.populations)


@pytest.mark.parametrize(
    ("claims", "right", "expected", "verdict"),
    [
        (25, 0, 16.0, "unknown"),
        (6, 0, 5.1, "unknown"),
        (2, 0, 1.7, "pass"),
        (25, 14, 16.0, "pass"),
        (0, 0, 0.0, "pass"),
    ],
)
def test_claims_that_are_far_from_what_they_promise_are_no_pass(
    claims: int, right: int, expected: float, verdict: str
) -> None:
    """An attack whose sure claims are wrong has not shown that none succeeds; a few wrong ones may be chance."""
    made = Claimed(0.5, claims, right, baseline=right, expected=expected)
    one = Attacked(name="land = rare", people=30, claimed=(made,), covered=(0.0,))
    assert one.verdict.value == verdict
    assert ("promise" in population_line(one)) == (verdict == "unknown")


def test_what_was_left_out_stands_beside_the_verdict() -> None:
    """A run without editions and targets, or of few moves, says so where it says pass; a full one does not."""
    text = '[query]\nmax_dimensions = 1\nmax_filters = 0\n[[method]]\nname = "cell-key"\nd = 5\nv = 3\n'
    reduced = attacked(text)
    assert reduced.omitted == (
        "populations of 100 people and more",
        "the search for queries about targets",
        "differences of editions",
        "sampling as long as usual",
    )
    last = reduced.summary().splitlines()[-1]
    assert last.startswith("verdict: pass (of what was run; left out: populations of 100 people")
    assert reduced.to_dict()["omitted"] == reduced.omitted
    assert "Left out" in reduced.to_html()
    whole = replace(reduced, omitted=())
    assert whole.summary().endswith("verdict: pass")


def test_who_attacks_knows_the_structural_zeros_of_the_codebook() -> None:
    """The model, and so every prior of the sampler, has nobody where the codebook says that nobody can be."""
    answers = collect(people(), parse_policy(KEYED))
    possible = np.ones(tuple(len(d.leaves) for d in people().dimensions), bool)
    possible[2, :3] = False
    expected = TwoWayModel.of(answers, possible).expected
    plain = TwoWayModel.of(answers).expected
    assert expected is not None
    assert plain is not None
    assert (expected[~possible] == 0).all()
    assert plain[~possible].sum() > 0
    assert expected[2, 3:].sum() > plain[2, 3:].sum()


@pytest.mark.parametrize("policy", [KEYED, f"{KEYED}[table]\nmin_population = 100000\n"])
def test_where_no_table_is_answered_nobody_can_say(policy: str) -> None:
    """The time is up before anything is asked, or everything is refused: a report, and no verdict."""
    result = attacked(policy, time_limit=1e-6)
    assert (result.tables, result.populations) == (0, ())
    assert result.verdict is Verdict.UNKNOWN
    assert "everything: no table was answered" in result.unjudged


def test_nobody_is_claimed_where_nobody_is_believed_to_be() -> None:
    """A population that is hidden and that the shown totals leave no room for: attacked, with no claim."""
    table = Table.of([[400, 300, 2], [350, 250, 1]], ["sex", "area"])
    steps = '[{name = "redact", most = 7}, {name = "round", base = 5}]'
    policy = parse_policy(f'[[method]]\nname = "chain"\ntotals = "sum"\nsteps = {steps}')
    report = attack(table, policy, limit=50, most=1, editions=False, targets=0, effort=QUICK)
    (one,) = report.populations
    assert one.why == ""
    assert all(claim.claims == 0 for claim in one.claimed)


def test_populations_of_every_kind_are_among_those_attacked() -> None:
    """In turn the smallest that are broken down, the largest, and the smallest of all."""
    every = [SmallPopulation(((0, k),), f"a = {k}", people) for k, people in enumerate([1, 2, 3, 150, 160, 1700])]
    assert [one.people for one in _exposed(every, 1, 100)] == [150]
    assert [one.people for one in _exposed(every, 4, 100)] == [1, 150, 160, 1700]
    assert [one.people for one in _exposed(every, 2, 5000)] == [1, 1700]
    assert [one.people for one in _exposed(every, 9, 0)] == [1, 2, 3, 150, 160, 1700]


def test_sums_are_not_judged() -> None:
    """A policy with measures never passes: only its counts are attacked."""
    from discreet.policy.attacks.attacking import _unused

    text = '[guard]\naction = "refuse"\n[[method]]\nname = "cell-key"\n'
    assert list(_unused(parse_policy(text))) == []
    (words,) = _unused(parse_policy(text + "[measures.pay]\nnoise = {}\n"))
    assert "sums" in words
