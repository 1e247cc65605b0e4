"""The risk-utility map of Ant16 section 5.2, steps 13 and 14: one of expectations."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet import cli
from discreet.policy import ru_map
from tests.papers.asking import ONE, own_losses, own_r2, own_terms, table


def test_the_map_is_the_mean_over_draws_and_shows_its_spread() -> None:
    """Against every outcome of rounding to base 3, weighed by its probability, and the draws themselves."""
    counts = np.array([[1, 2, 3], [4, 6, 9]])
    outcomes = [
        [(v - v % 3, 1 - v % 3 / 3), (v - v % 3 + 3, v % 3 / 3)] if v % 3 else [(v, 1.0)] for v in counts.ravel()
    ]
    exact = second = 0.0
    for drawn in itertools.product(*outcomes):
        chance, risk = math.prod(p for _, p in drawn), own_r2(counts, [j for j, _ in drawn])
        exact, second = exact + chance * risk, second + chance * risk**2
    row = ru_map(table(counts), {"one": dc.RandomRound(3, seed=5)}, draws=400).frame.loc["one"]
    spread = math.sqrt(second - exact**2)
    assert row["risk"] == pytest.approx(exact, abs=4 * spread / 20)
    assert row["± risk"] == pytest.approx(spread, rel=0.25)
    assert row["draws"] == 400
    single: list[Any] = [
        ru_map(table(counts), {"one": dc.RandomRound(3, seed=s)}, draws=1).frame.loc["one", "risk"] for s in range(5, 9)
    ]
    four = ru_map(table(counts), {"one": dc.RandomRound(3, seed=5)}, draws=4).frame.loc["one"]
    assert four["risk"] == pytest.approx(np.mean(single))
    assert four["± risk"] == pytest.approx(np.std(single, ddof=1))


def outcomes(method: Any, counts: Any) -> Any:
    """All tables that a method may show, with their probabilities, by the chances that it states for each count."""
    if isinstance(method, dc.RandomRound):
        b = int(method.base)
        each = [[(v - v % b, 1 - v % b / b), (v - v % b + b, v % b / b)] if v % b else [(v, 1.0)] for v in counts.flat]
    else:
        stated = np.asarray(method.transition().matrix)
        last = len(stated) - 1
        each = [[(int(j) + max(v - last, 0), p) for j, p in enumerate(stated[min(v, last)]) if p] for v in counts.flat]
    for drawn in itertools.product(*each):
        yield np.array([j for j, _ in drawn]).reshape(counts.shape), math.prod(p for _, p in drawn)


EXACT: dict[str, Any] = {
    "round 3": dc.RandomRound(3, seed=1),
    "round 10": dc.RandomRound(10, seed=1),
    "key": dc.CellKey(2, 1, seed=1),
}


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("loss", ["hellinger", "tv", "mean-absolute", "changed"])
def test_the_map_is_exact_where_all_outcomes_can_be_listed(name: str, loss: str) -> None:
    """Mean and standard deviation over every outcome: each cell by itself, all combinations, several measures."""
    counts = np.array([[1, 2, 14], [4, 2, 9]]) if name != "key" else np.array([[1, 2], [7, 4]])
    method = EXACT[name]
    found = {"risk": [], "risk zeros": [], "utility": [], "changed": []}  # type: dict[str, list[float]]
    chances = []
    for shown, chance in outcomes(method, counts):
        chances.append(chance)
        found["risk"].append(own_r2(counts, shown))
        stayed, ever = ((counts == 0) & (shown == 0)).sum(), ((counts == 0) | (shown == 0)).sum()
        found["risk zeros"].append(own_terms(counts)["zeros"] ** (ever / stayed) if stayed else 0.0)
        found["utility"].append(1 - own_losses(counts, shown)[loss])
        found["changed"].append(float((shown != counts).mean()))
    row = ru_map(table(counts), {"one": method}, measure=["r", "zeros"], loss=loss).frame.loc["one"]
    assert row["exact"]
    p = np.array(chances)
    assert p.sum() == pytest.approx(1)
    for what, values in found.items():
        mean = float(p @ values)
        assert row[what] == pytest.approx(mean, abs=1e-12)
        if what != "changed":
            assert row[f"± {what}"] == pytest.approx(math.sqrt(p @ (np.array(values) - mean) ** 2), abs=1e-9)


def test_the_map_says_how_its_figures_were_made() -> None:
    """Listed, drawn as asked, drawn because there are too many or cells depend on each other, or nothing to draw."""
    few, many = table([[1, 2], [3, 4]]), table(np.arange(400).reshape(20, 20))
    methods: dict[str, Any] = {
        "cells": dc.RandomRound(3, seed=1),
        "groups": dc.SemiControlledRound(3, seed=1),
        "none": dc.Round(3),
    }
    small, large, asked = ru_map(few, methods), ru_map(many, methods), ru_map(few, methods, draws=7)
    assert small.frame["exact"].tolist() == [True, False, True]
    assert small.frame["draws"].tolist() == [8, 20, 1]
    assert large.frame["exact"].tolist() == [False, False, True]
    assert asked.frame["exact"].tolist() == [False, False, True]
    assert asked.frame["draws"].tolist() == [7, 7, 1]
    drawn = ru_map(few, methods, draws=300).frame
    assert drawn["risk"].iloc[0] == pytest.approx(small.frame["risk"].iloc[0], abs=0.02)


def test_a_seed_hardly_matters_to_the_map() -> None:
    """PSD14's table: single draws of base 3 spread over .21 to .22; means of 50 do not."""
    religion = dc.datasets.psd14_religion()
    many: list[Any] = [
        ru_map(religion, {"one": dc.RandomRound(3, seed=1000 * s)}, draws=50).frame.loc["one", "risk"]
        for s in (1, 2, 3)
    ]
    assert np.ptp(many) < 0.002
    still: dict[str, Any] = {"as it is": dc.Publish(), "round": dc.Round(3)}
    quiet = ru_map(religion, still).frame
    assert quiet["± risk"].tolist() == [0.0, 0.0]
    assert quiet["draws"].tolist() == [1, 1]


def test_a_map_of_several_measures() -> None:
    """A column each, a threshold each; what nobody beats is found in all of them by brute force."""
    methods: dict[str, Any] = {**dc.grid("random-round", base=[3, 5, 10], seed=1), "as it is": dc.Publish()}
    limits = (0.5, 0.2)
    found = ru_map(table(ONE), methods, measure=["r", "zeros"], t2=limits, draws=5)
    points = found.frame[["risk", "risk zeros", "utility"]].to_numpy(float) * [1, 1, -1]
    front = [not any((q <= p).all() and (q < p).any() for q in points) for p in points]
    assert found.frame["pareto"].tolist() == front
    assert found.frame["allowed"].tolist() == [bool(p[0] <= 0.5 and p[1] <= 0.2) for p in points]
    assert found.frame["before zeros"].iloc[0] == pytest.approx(own_terms(ONE)["zeros"])
    told = json.loads(json.dumps(found.to_dict()))
    assert told["measure"] == ["r", "zeros"]
    assert told["t2"] == [0.5, 0.2]


def test_the_command_line_prints_every_figure_in_80_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """No figure is cut, no line is longer, and the figures are those of the map."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    religion = dc.datasets.psd14_religion()
    dc.protect(religion, dc.Publish()).release().to_csv("t.csv")
    what = ["--try", "cell-key:d=5,v=3,seed=1", "--try", "semi-controlled-round:base=15,seed=1", "--try", "publish"]
    more = ["--measure", "r*", "--measure", "jos15", "--t2", "0.5", "--t2", "0.1", "--draws", "3", "--loss", "tv"]
    assert cli.run(["search", "t.csv", "--ready", *what, *more]) == 0
    out = capfd.readouterr().out
    assert max(len(line) for line in out.splitlines()) <= 80
    assert "…" not in out
    methods: dict[str, Any] = {
        **dc.grid("cell-key", d=5, v=3, seed=1),
        **dc.grid("semi-controlled-round", base=15, seed=1),
    }
    frame = ru_map(religion, methods, measure=["r*", "jos15"], loss="tv", draws=3).frame
    for name in ("risk", "± risk", "risk jos15", "± risk jos15", "utility", "± utility"):
        for value in frame[name]:
            assert f"{value:.4f}" in out
