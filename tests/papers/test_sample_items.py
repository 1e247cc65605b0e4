"""Samples inside the dissemination algorithm: Ant16 chapter 4 in chapter 5."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.policy import answer, evidence, parse_policy
from tests.papers.asking import AS_IT_IS, own_r2, own_risks, policy, table


def religion_sample(seed: int = 3, share: float = 0.05) -> tuple[Any, Any]:
    truth = dc.datasets.psd14_religion().array()
    n = round(truth.sum() * share)
    drawn = np.random.default_rng(seed).multivariate_hypergeometric(truth.ravel(), n).reshape(truth.shape)
    return truth, drawn


def weighted_people(counts: Any, weight: float) -> dc.Microdata:
    rows = [(str(i), str(j)) for (i, j), n in np.ndenumerate(counts) for _ in range(n)]
    frame = pd.DataFrame(rows, columns=["area", "job"]).assign(w=weight, id=range(len(rows)))
    dimensions = [
        dc.Dimension.flat(name, [str(k) for k in range(size)])
        for name, size in zip(("area", "job"), counts.shape, strict=True)
    ]
    return dc.Microdata.of(frame, dimensions=dimensions, unit="id", weight="w", secret="sixteen letters!")


@pytest.mark.parametrize("model", ["loglinear", "polya", "dirichlet", "negative-binomial", "poisson-gamma"])
def test_a_policy_judges_a_sample_by_the_population_behind_it(model: str) -> None:
    """A 5 % sample: far below the risk of the counts by themselves, near the true R2(F, f), whatever the model."""
    truth, drawn = religion_sample()
    data = weighted_people(drawn, truth.sum() / drawn.sum())
    text = AS_IT_IS + "[risk]\n{}"
    plain = evidence(data, "area,job", parse_policy(text.format(""))).before
    found = evidence(data, "area,job", parse_policy(text.format(f'population = "{model}"\n'))).before
    assert plain == pytest.approx(own_risks(drawn)["r"])
    assert abs(found - own_r2(truth, drawn)) < 0.06
    assert found < plain


@pytest.mark.filterwarnings("ignore::discreet.errors.DiscreetWarning")
def test_it_is_the_estimate_of_assess_sample() -> None:
    """The same model, the same N, from the weights or as given: the same number but for the draws."""
    truth, drawn = religion_sample()
    size = int(truth.sum())
    wanted = dc.risk.assess_sample(drawn, size, models=[dc.population.Multinomial("main")], seed=7)
    deviation = float(np.std(wanted.draws.r2)) / math.sqrt(200)
    text = AS_IT_IS + '[risk]\npopulation = "loglinear"\n'
    for data, more in ((weighted_people(drawn, size / drawn.sum()), ""), (table(drawn), f"population_size = {size}\n")):
        found = evidence(data, "area,job", parse_policy(text + more)).before
        assert found == pytest.approx(wanted.value, abs=6 * deviation)
    with pytest.raises(dc.InputError, match="population_size"):
        evidence(table(drawn), "area,job", parse_policy(text))


def test_a_protected_sample_is_judged_with_both_protections() -> None:
    """Rounding a sample hides more than sampling alone; T2 between the two lets the rounded one out."""
    truth, drawn = religion_sample(share=0.3)
    size = int(truth.sum())
    risk = f'[risk]\npopulation = "loglinear"\npopulation_size = {size}\n'
    found = evidence(table(drawn), "area,job", policy(risk, base=10))
    assert found.after < found.before
    middle = (found.after + found.before) / 2
    answer(table(drawn), "area,job", policy(f"{risk}t2 = {middle}\n", base=10))
    with pytest.raises(dc.Refused, match="risk after protection"):
        answer(table(drawn), "area,job", parse_policy(f"{AS_IT_IS}{risk}t2 = {middle}\n"))
