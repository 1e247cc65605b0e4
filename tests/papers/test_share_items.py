"""The share of small cells of JOS15 section 2.3, by Bayes' rule over every table that could have been."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.policy import answer, evidence, parse_policy
from tests.papers.asking import policy, table


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


@pytest.mark.parametrize(("base", "stated"), [(3, 0.46), (5, 0.43), (10, 0.40)])
def test_the_expected_share_may_be_too_low(base: int, stated: float) -> None:
    """Poisson counts of mean 1, the figures of the documentation: the fitted prior finds too few small cells."""
    counts = np.random.default_rng(1).poisson(1.0, (100, 100))
    assert ((counts >= 1) & (counts <= 2)).mean() == pytest.approx(0.55, abs=0.01)
    assert evidence(table(counts), "area,job", policy("", base)).small_share == pytest.approx(stated, abs=0.015)


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
