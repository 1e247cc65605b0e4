"""Risk of tables made from samples: fused draws, exact expectations, the report, and the printed studies."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet import Microdata, Table, assess, tabulate
from discreet.cli import run
from discreet.datasets.printed import RELIGION
from discreet.errors import DiscreetWarning, InputError
from discreet.information import xlogx
from discreet.population import (
    Dirichlet,
    Multinomial,
    NegativeBinomial,
    Poisson,
    PoissonGamma,
    PoissonLogNormal,
    Polya,
    read_sample,
)
from discreet.risk import r1, r2
from discreet.risk.sample_risk import SampleRisk, assess_sample, cell_measures, draw_risks, expected_measures

SAMPLE = np.array([[12, 0, 3, 0], [7, 2, 0, 1], [5, 1, 1, 0]])
N = 320
MODELS = [Multinomial(), Poisson(), Polya(), NegativeBinomial(), PoissonGamma(), PoissonLogNormal(), Dirichlet()]


def samples(number: int, n: int, seed: int = 3) -> Any:
    """Simple random samples of the religion table."""
    return np.random.default_rng(seed).multivariate_hypergeometric(RELIGION.ravel(), n, size=number).reshape(-1, 10, 9)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_fused_draws_are_the_populations_measured(model: Any) -> None:
    """R1, R2, zeros and uniques of the fused loop are those of the populations that .draw gives for the same seed."""
    estimate = model.fit(SAMPLE, N)
    F = estimate.draw(300, seed=4).reshape(300, -1)
    f = np.broadcast_to(SAMPLE.ravel(), F.shape)
    draws = draw_risks([estimate], 300, seed=4, weights=(0.2, 0.5, 0.3))
    assert np.allclose(draws.r2[0], r2(F, f, (0.2, 0.5, 0.3), axis=1).value, atol=1e-12)
    assert np.allclose(draws.r1[0], r1(F, (0.2, 0.5, 0.3), axis=1).value, atol=1e-12)
    assert np.array_equal(draws.zeros[0], (F == 0).sum(1))
    assert np.array_equal(draws.uniques[0], (F == 1).sum(1))
    assert np.array_equal(draws.matches[0], ((F == 1) & (f == 1)).sum(1))
    assert np.all(draws.r2 <= draws.r1 + 1e-12)


def test_draws_do_not_depend_on_threads_or_company(monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread or many, alone or among others: population j of estimate i is the same."""
    estimates = [m.fit(SAMPLE, N) for m in (Multinomial(), Polya(), Dirichlet())]
    together = draw_risks(estimates, 50, seed=6).r2
    monkeypatch.setenv("DISCREET_WORKERS", "1")
    assert np.array_equal(together, draw_risks(estimates, 50, seed=6).r2)
    assert np.array_equal(together[0], draw_risks(estimates[:1], 50, seed=6).r2[0])
    assert np.array_equal(together[:, :20], draw_risks(estimates, 20, seed=6).r2)


def test_a_census_leaves_nothing_to_draw() -> None:
    """With n = N the population is the sample, and R2 is R1."""
    for model in (Multinomial(), Dirichlet(), Poisson(), Polya(theta=1.0)):
        draws = draw_risks([model.fit(SAMPLE, int(SAMPLE.sum()))], 5)
        assert np.allclose(draws.r2, r1(SAMPLE).value)


def test_large_counts_go_beyond_the_lookup_table() -> None:
    """Counts above a million are measured as r2 measures them."""
    estimate = Multinomial(()).fit([3, 0, 5], 60_000_000)
    F = estimate.draw(4, seed=1)
    draws = draw_risks([estimate], 4, seed=1)
    assert np.allclose(draws.r2[0], r2(F, np.broadcast_to([3, 0, 5], F.shape), axis=1).value, atol=1e-9)


@pytest.mark.parametrize("model", [Multinomial(), Dirichlet(), Polya(theta=0.05)], ids=repr)
def test_expectations_without_drawing(model: Any) -> None:
    """Mean R1, zeros, uniques and matched uniques of 20,000 populations are the computed ones, to 5 standard errors."""
    estimate = model.fit(SAMPLE, N)
    exact = expected_measures(estimate)
    draws = draw_risks([estimate], 20_000, seed=9)
    pairs = [(draws.r1, exact.r1), (draws.zeros, exact.zeros), (draws.uniques, exact.uniques)]
    for drawn, value in [*pairs, (draws.matches, exact.sample_uniques)]:
        assert abs(drawn.mean() - value) <= 5 * drawn.std() / math.sqrt(20_000) + 1e-6
    F = estimate.draw(20_000, seed=9).reshape(-1, 12)[:, SAMPLE.ravel() == 1]
    matched = (1 / F).sum(1)
    assert abs(matched.mean() - exact.matches) <= 5 * matched.std() / math.sqrt(20_000)
    assert exact.exact == (not isinstance(model, Polya))


@pytest.mark.parametrize("model", [Poisson(), PoissonGamma(), PoissonLogNormal(), NegativeBinomial()], ids=repr)
def test_expectations_where_the_sum_is_random(model: Any) -> None:
    """R1 is then near its mean, not at it; zeros and uniques are exact still."""
    estimate = model.fit(SAMPLE, N)
    exact, draws = expected_measures(estimate), draw_risks([estimate], 20_000, seed=9)
    assert not exact.exact
    assert abs(draws.r1.mean() - exact.r1) < 0.01
    for drawn, value in [(draws.zeros, exact.zeros), (draws.uniques, exact.uniques)]:
        assert abs(drawn.mean() - value) <= 5 * drawn.std() / math.sqrt(20_000) + 1e-6


def test_entropy_term_by_hand() -> None:
    """Two cells, one unit not sampled: all outcomes can be listed."""
    estimate = Multinomial().fit([2, 1], 4)
    p = np.array([2 / 3, 1 / 3])
    h = [-(xlogx(np.array(F) / 4)).sum() for F in ([3, 1], [2, 2])]
    assert expected_measures(estimate).entropy == pytest.approx(float(p @ h))
    assert expected_measures(estimate).sample_uniques == pytest.approx(2 / 3)
    assert expected_measures(estimate).matches == pytest.approx(2 / 3 + 1 / 6)


def test_cells_of_a_poisson_model() -> None:
    """theta_j = (1 - e^-r)/r for sample uniques, empty cells have no match, probabilities are probabilities."""
    estimate = Poisson().fit(SAMPLE, N)
    cells = cell_measures(estimate)
    ones = SAMPLE.ravel() == 1
    rate = estimate.a[ones]
    assert np.allclose(cells["match"][ones], (1 - np.exp(-rate)) / rate)
    assert np.all(np.isnan(cells["match"]) == (SAMPLE.ravel() == 0))
    assert np.allclose(cells["empty"], np.where(SAMPLE.ravel() == 0, np.exp(-estimate.a), 0))
    assert np.allclose(cells["expected"], estimate.mean.ravel())


# -- the report ------------------------------------------------------------------------------------------------------


def test_the_report_puts_two_models_side_by_side() -> None:
    """Mean, spread, interval, uniques of each; which one was used; how far they are apart; ready for JSON."""
    table = Table.of(SAMPLE, ["area", "age"])
    risk = assess_sample(table, N, seed=1, populations=300)
    summary = risk.summary()
    assert summary["used"].tolist() == [True, False]
    assert np.all((summary["low"] <= summary["R2"]) & (summary["R2"] <= summary["high"]))
    assert np.all(summary["R2"] <= summary["R1"])
    assert risk.sensitivity == pytest.approx(abs(summary["R2"].iloc[0] - summary["R2"].iloc[1]))
    assert "Multinomial(terms='main')" in risk.statement
    assert "apart" in risk.statement
    again = json.loads(json.dumps(risk.to_dict()))
    assert again["models"][1]["model"].startswith("Polya")
    assert again["populations"] == 300
    assert risk.value == assess_sample(table, N, seed=1, populations=300).value
    assert list(risk.cells.columns[:3]) == ["area", "age", "sample"]
    assert risk.cells["sample"].tolist() == SAMPLE.ravel().tolist()
    assert "R2 is" in repr(risk)


def test_the_report_with_weights_and_strata() -> None:
    """Design weights give N and the cells' means; strata keep their totals; cells come back in the table's order."""
    design = SAMPLE * np.array([[8.0], [12.0], [10.0]])
    risk = assess_sample(SAMPLE, "weights", design=design, strata=0, models=[Multinomial(), Dirichlet("main")])
    assert risk.estimates[0].sample.totals.tolist() == design.sum(axis=1).tolist()
    cells = risk.cells
    assert cells["axis 0"].tolist() == np.repeat(np.arange(3), 4).tolist()
    assert np.allclose(cells.groupby("axis 0")["expected"].sum(), design.sum(axis=1))
    by_column = assess_sample(SAMPLE, [200, 30, 50, 40], strata=1)
    assert by_column.cells["sample"].tolist() == SAMPLE.ravel().tolist()


def test_one_model_and_no_comparison() -> None:
    """A single model is allowed; its report says nothing of others."""
    risk = assess_sample(SAMPLE, N, models=[Multinomial()])
    assert risk.sensitivity == 0
    assert "apart" not in risk.statement


def test_odd_models_are_warned_about() -> None:
    """A category without a sampled unit gives a warning with the model's name, and a note in the report."""
    with pytest.warns(DiscreetWarning, match="merge categories"):
        risk = assess_sample([[4, 0], [3, 0]], 70, populations=20)
    assert isinstance(risk, SampleRisk)
    assert risk.notes
    assert risk.to_dict()["notes"]


@pytest.mark.parametrize(
    "known", [{"populations": 1}, {"level": 1.0}, {"models": []}, {"seed": -1}, {"weights": (1, 1, 1)}]
)
def test_options_are_checked(known: Any) -> None:
    """Wrong options are errors that say what is allowed."""
    with pytest.raises(InputError):
        assess_sample(SAMPLE, N, **known)
    with pytest.raises(InputError, match="alone"):
        Multinomial().fit(read_sample(SAMPLE, N), N)
    with pytest.raises(InputError, match="missing"):
        Multinomial().fit(SAMPLE)


# -- the printed studies, in small; benchmarks/unece15.py runs them in full -------------------------------------------


@pytest.mark.parametrize(
    ("model", "n", "printed", "spread"),
    [
        (Multinomial(), 245, 0.1715, 0.0173),
        (Multinomial(), 122, 0.1731, 0.0254),
        (Polya(), 245, 0.1764, 0.0186),
        (Polya(), 122, 0.1821, 0.0283),
        (Polya(zeros=25), 245, 0.1758, 0.0053),
        (Polya(zeros=25), 122, 0.1640, 0.0057),
    ],
    ids=str,
)
def test_unece15_table_2(model: Any, n: int, printed: float, spread: float) -> None:
    """The religion table, estimated: the printed mean to 0.003 and 3.5 standard errors of 200 samples, and its sd."""
    drawn = samples(200, n)
    means = draw_risks([model.fit(f, 2449) for f in drawn], 100, seed=1).r2.mean(axis=1)
    assert abs(means.mean() - printed) <= 0.003 + 3.5 * means.std() / math.sqrt(200)
    assert means.std() == pytest.approx(spread, rel=0.2)


@pytest.mark.parametrize(("n", "printed"), [(245, 0.1697), (122, 0.1535), (24, 0.0955)])
def test_original_risk_of_unece15_and_ase15(n: int, printed: float) -> None:
    """R2 of the true religion table and 1000 samples."""
    drawn = samples(1000, n).reshape(1000, -1)
    assert r2(np.broadcast_to(RELIGION.ravel(), drawn.shape), drawn, axis=1).value.mean() == pytest.approx(
        printed, abs=0.002
    )


@pytest.mark.parametrize(("n", "printed"), [(245, 0.2299), (122, 0.2417), (24, 0.3106)])
def test_r1_of_estimated_populations_in_ase15(n: int, printed: float) -> None:
    """ASE15 Table 1: the mean of R1, computed without drawing, to 3.5 standard errors of 200 samples."""
    values = np.array([expected_measures(Multinomial().fit(f, 2449)).r1 for f in samples(200, n)])
    assert abs(values.mean() - printed) <= 0.003 + 3.5 * values.std() / math.sqrt(200)


# -- assess() and the command line -----------------------------------------------------------------------------------


def test_assess_takes_a_table_as_a_sample() -> None:
    """population= adds the sample's risk to the summary, the dict and the page; strata may be named."""
    table = Table.of(SAMPLE, ["area", "age"])
    report = assess(table, population=N)
    same = assess_sample(table, N)
    assert report.extra["sample"].value == same.value
    assert report.summary().loc["sample r2, model 1", "value"] == same.value
    assert report.summary().loc["sample sensitivity", "value"] == same.sensitivity
    assert json.loads(json.dumps(report.to_dict(), default=float))["sample"]["models"][0]["used"] is True
    assert "Polya" in report.to_html()
    by_area = assess(table, population={"1": 150, "2": 90, "3": 80}, strata="area").extra["sample"]
    assert by_area.estimates[0].sample.totals.tolist() == [150, 90, 80]
    mine = assess_sample(table, N, models=[Dirichlet()])
    assert assess(table, population=mine).extra["sample"] is mine
    with pytest.raises(InputError, match="strata"):
        assess(table, strata="area")


def test_assess_of_weighted_records() -> None:
    """Weighted records are counted unweighted; the report asks for the population, and takes it from the weights."""
    import pandas as pd

    frame = pd.DataFrame({"area": list("aaabbc"), "sex": list("mfmffm"), "w": [10.0, 12.5, 9.5, 8, 8, 20]})
    table = tabulate(Microdata.of(frame, dimensions=["area", "sex"], weight="w"), by=["area", "sex"])
    report = assess(table)
    assert report.counts.sum() == 6
    assert "population='weights'" in report.notes[0]
    found = assess(table, population="weights").extra["sample"]
    assert found.estimates[0].sample.population == 68
    assert found.estimates[0].mean.sum() == pytest.approx(68)


def test_the_command_line_takes_a_population(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """N, a CSV of N by code, and what is neither."""
    cells = tmp_path / "cells.csv"
    cells.write_text("area,sex,count\na,m,7\na,f,3\nb,m,2\nb,f,1\n")
    by_area = tmp_path / "n.csv"
    by_area.write_text("area,N\na,100\nb,30\n")
    asked = ["risk", str(cells), "--ready", "--by", "area,sex", "--count", "count"]
    assert run([*asked, "--population", "130"]) == 0
    assert "Multinomial(terms='main')" in capsys.readouterr().out
    assert run([*asked, "--population", str(by_area), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sample"]["populations"] == 200
    assert run([*asked, "--population", "5"]) == 2
    assert run([*asked, "--population", "many"]) == 2
    by_area.write_text("area\na\n")
    assert run([*asked, "--population", str(by_area)]) == 2
