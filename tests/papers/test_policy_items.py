"""The dissemination algorithm of Ant16 chapter 5 and the rules of JOS15 section 2, recomputed by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.policy import answer, evidence, parse_policy

ROUND = '[[method]]\nname = "random-round"\nbase = {base}\nseed = {seed}\n'
OTHERS = ("t2 = 0.0", "t3 = 0.0", "t2 = 0.0\nt3 = 0.0")


def policy(limits: str, base: int = 3, seed: int = 1) -> dc.Policy:
    return parse_policy(limits + ROUND.format(base=base, seed=seed))


def table(counts: object) -> dc.Table:
    return dc.Table.of(counts, ["area", "job"])


# -- Ant16 section 5.2, steps 2 to 4: below T1 the table is released ---------------------------------------------


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.sampled_from([3, 10]), st.sampled_from(OTHERS))
def test_below_t1_a_table_is_released_whatever_t2_and_t3(seed: int, base: int, others: str) -> None:
    """A table under T1 leaves unchanged although no method could pass; one above it is refused by the others."""
    counts = np.random.default_rng(seed).integers(1, 60, (4, 5))
    release = answer(table(counts), "area,job", policy(f"[risk]\nt1 = 1.0\n{others}\n", base, seed % 1000))
    assert release.values["count"].reshape(5, 6)[1:, 1:].tolist() == counts.tolist()
    with pytest.raises(dc.Refused) as caught:
        answer(table(counts), "area,job", policy(f"[risk]\nt1 = 0.0\n{others}\n", base, seed % 1000))
    assert caught.value.rule in ("t2", "t3")


def test_the_example_of_the_review() -> None:
    """T1 = 0.99, T3 = 0.0001 and rounding to base 10: sex by age of the census is released."""
    made = parse_policy('[risk]\nt1 = 0.99\nt3 = 0.0001\n[[method]]\nname = "random-round"\nbase = 10\n')
    people = dc.datasets.census(n=5_000)
    assert answer(people, "sex, age", made).method == "published as it is"


@pytest.mark.parametrize("rule", ["min_population = 100000", "min_mean = 1000", "max_small_share = 0.0"])
def test_rules_for_tables_come_before_t1(rule: str) -> None:
    """A table that may not be published at all is not published as it is either."""
    with pytest.raises(dc.Refused) as caught:
        answer(table([[1, 2, 30], [40, 5, 6]]), "area,job", policy(f"[table]\n{rule}\n[risk]\nt1 = 1.0\n"))
    assert caught.value.rule == rule.partition(" ")[0]


# -- JOS15 section 2.3: the share of small cells ------------------------------------------------------------------


@pytest.mark.parametrize("base", [3, 5, 10])
@pytest.mark.parametrize("method", ["random-round", "round", "semi-controlled-round", "small-count-round"])
def test_small_cells_are_found_under_rounding(base: int, method: str) -> None:
    """Rounding leaves no 1 and no 2 to be counted; a table full of them is refused all the same, one without is not."""
    seed = "" if method == "round" else "seed = 1\n"
    made = parse_policy(f'[table]\nmax_small_share = 0.1\n[[method]]\nname = "{method}"\nbase = {base}\n{seed}')
    rng = np.random.default_rng(base)
    with pytest.raises(dc.Refused) as caught:
        answer(table(rng.integers(1, 3, (12, 12))), "area,job", made)
    assert caught.value.rule == "max_small_share"
    answer(table(rng.integers(200, 900, (12, 12))), "area,job", made)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.5, 2.0, 8.0]), st.integers(1, 4))
def test_the_expected_share_is_near_the_true_one(seed: int, mean: float, small: int) -> None:
    """On large tables of gamma-Poisson counts, rounded to base 3: never far below what there is, never twice it."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.gamma(0.5, mean / 0.5, (60, 60)))
    share = float(((counts >= 1) & (counts <= small)).mean())
    found = evidence(table(counts), "area,job", policy(f"[table]\nsmall = {small}\n", 3, seed % 1000)).small_share
    assert share - 0.03 < found < 1.6 * share + 0.03


def test_the_share_is_bayes_rule_over_what_is_shown() -> None:
    """Six counts that show 0 or 3 under base 3: P(was 1 or 2 | shown) lies among those of all priors that fit.

    Priors over {0, 1, 2, 3} are searched over the whole simplex; the data tell of the share of zeros shown alone.
    """
    counts = np.array([[0, 0, 0], [0, 3, 3]])
    shown = answer(table(counts), "area,job", policy("", 3)).values["count"].reshape(3, 4)[1:, 1:]
    assert shown.tolist() == counts.tolist()  # multiples of the base stay
    zeros = float((shown == 0).mean())
    extremes = []
    for p1 in np.linspace(0, 1, 41):
        for p2 in np.linspace(0, 1 - p1, 41):
            for p0 in np.linspace(0, 1 - p1 - p2, 41):
                if abs(p0 + 2 / 3 * p1 + 1 / 3 * p2 - zeros) < 0.01:
                    extremes.append(p1 + p2)
    found = evidence(table(counts), "area,job", policy("", 3)).small_share
    assert min(extremes) <= found <= max(extremes)
    assert found > 0
