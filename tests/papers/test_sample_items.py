"""Samples inside the dissemination algorithm: Ant16 chapter 4 in chapter 5."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet import cli
from discreet.policy import answer, evidence, parse_policy, ru_map
from discreet.server.pages import methodologist
from tests import servers
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


@pytest.mark.parametrize("model", ["loglinear", "polya"])
def test_the_map_judges_a_sample_by_the_population_behind_it(model: str) -> None:
    """R2(F, f) before and R2(F, shown) after: near those of the true population, far below the counts by themselves."""
    truth, drawn = religion_sample(share=0.3)
    size = int(truth.sum())
    shown = 5 * np.floor(drawn / 5 + 0.5).astype(int)
    plain = ru_map(table(drawn), {"round": dc.Round(5)}).frame.loc["round"]
    found = ru_map(table(drawn), {"round": dc.Round(5)}, population=model, population_size=size).frame.loc["round"]
    assert plain["before"] == pytest.approx(own_risks(drawn)["r"])
    assert abs(found["before"] - own_r2(truth, drawn)) < 0.03 < plain["before"] - own_r2(truth, drawn)
    assert abs(found["risk"] - own_r2(truth, shown)) < 0.03
    assert found["utility"] == plain["utility"], "what a reader of the sample loses is that of the sample"
    weighted = dc.tabulate(weighted_people(drawn, size / drawn.sum()), by=["area", "job"])
    again = ru_map(weighted, {"round": dc.Round(5)}, population=model).frame.loc["round"]
    assert again["before"] == pytest.approx(found["before"], abs=0.005)


def test_a_sample_on_the_command_line_and_for_the_methodologist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The same figures by options and by a policy; what cannot be judged is said."""
    monkeypatch.chdir(tmp_path)
    truth, drawn = religion_sample(share=0.3)
    size = int(truth.sum())
    wanted = ru_map(table(drawn), {"round": dc.Round(5)}, population="loglinear", population_size=size).frame
    dc.protect(table(drawn), dc.Publish()).release().to_csv("t.csv")
    risk = f'[risk]\npopulation = "loglinear"\npopulation_size = {size}\n'
    (tmp_path / "p.toml").write_text(risk + '[[method]]\nname = "round"\nbase = 5\n')
    start, try_ = ["search", "t.csv", "--ready", "--json"], ["--try", "round:base=5"]
    for more in (["--policy", "p.toml"], [*try_, "--population", "loglinear", "--population-size", str(size)]):
        assert cli.run([*start, *more]) == 0
        told = json.loads(capfd.readouterr().out)
        assert told["population"] == "loglinear"
        assert told["methods"][0]["risk"] == pytest.approx(float(wanted["risk"].iloc[0]))
        assert told["methods"][0]["before"] == pytest.approx(float(wanted["before"].iloc[0]))
    for more, says in (
        (["--population", "loglinear"], "--population-size"),
        (["--population", "polia", "--population-size", "9000"], "did you mean 'polya'"),
        (["--population-size", "9000"], "name a model"),
        (["--population", "polya", "--population-size", "9000", "--measure", "jos15"], "no form for samples"),
    ):
        assert cli.run([*start, *try_, *more]) == 2
        assert says in capfd.readouterr().err
    text = servers.policy_text('[risk]\npopulation = "loglinear"\npopulation_size = 99999')
    with servers.client(tmp_path, text) as one:
        service = one.app.state.service  # type: ignore[attr-defined]
        found = methodologist.examined(service, dc.Query.of("sex, age"))
    census = dc.tabulate(dc.datasets.census(n=30_000), by=["sex", "age"])
    same = ru_map(census, {"as it is": dc.Publish()}, population="loglinear", population_size=99999).frame
    row = next(row for row in found["rows"] if row["method"] == "as it is")
    assert row["before"] == pytest.approx(float(same["before"].iloc[0]))
    assert row["note"] == "exact"
