"""The dissemination algorithm of Ant16 chapter 5 and the rules of JOS15 section 2, recomputed by hand."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet import cli, methods
from discreet.policy import LOSSES, RISKS, answer, evidence, parse_policy, ru_map
from discreet.server import cube
from discreet.server import methodologist as method
from tests import servers

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


def test_t1_lets_no_magnitude_out() -> None:
    """The risk is one of counts: turnover is protected however harmless the number of firms."""
    frame = pd.DataFrame({"area": ["a", "b"] * 300, "pay": np.arange(600), "id": np.arange(600)})
    area = dc.Dimension.flat("area", ["a", "b"])
    data = dc.Microdata.of(frame, dimensions=[area], unit="id", magnitudes=["pay"], secret="sixteen letters!")
    made = parse_policy('[risk]\nt1 = 1.0\n[[method]]\nname = "random-round"\nbase = 7\n')
    assert answer(data, "area", made).method == "published as it is"
    assert answer(data, dc.Query.of("area", measure="pay"), made).method != "published as it is"


# -- Ant16 section 5.2, steps 1 and 9: measures of risk and of loss, one or several ------------------------------

AS_IT_IS = 'publish = "as it is"\n'
ONE = np.array([[0, 2, 4, 1], [7, 0, 3, 12], [1, 1, 0, 30]])


def own_terms(f: Any) -> dict[str, float]:
    """(3.5.2): the share of zeros, 1 - H/log K, and the size term."""
    f = np.asarray(f, float).ravel()
    n, p = f.sum(), f[f > 0] / f.sum()
    h = -float((p * np.log(p)).sum())
    size = (1 + 0.5 * math.log(n)) / math.sqrt(n)
    return {"zeros": float((f == 0).mean()), "entropy": 1 - h / math.log(f.size), "size": size}


def own_split(f: Any) -> float:
    """JOS15 4.1: zeros, the entropy of counts up to 6 and that of larger ones, size; weights .1 .7 .1 .1."""
    f = np.asarray(f, float).ravel()

    def concentration(part: Any) -> float:
        if part.sum() == 0 or part.size < 2:
            return 0.0
        p = part[part > 0] / part.sum()
        return 1 + float((p * np.log(p)).sum()) / math.log(part.size)

    terms = own_terms(f)
    split = 0.7 * concentration(f[f <= 6]) + 0.1 * concentration(f[f > 6])
    return 0.1 * terms["zeros"] + split + 0.1 * terms["size"]


def own_risks(f: Any) -> dict[str, float]:
    terms = own_terms(f)
    weighted = 0.1 * terms["zeros"] + 0.8 * terms["entropy"] + 0.1 * terms["size"]
    root = math.sqrt(sum(t**2 for t in terms.values()) / 3)
    return {"r": weighted, "r*": root, "jos15": own_split(f), **terms}


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_every_measure_is_the_one_of_the_paper(seed: int) -> None:
    """Of a table published as it is, before and after are the measure itself."""
    counts = np.random.default_rng(seed).poisson(3.0, (3, 4)) + np.eye(3, 4, dtype=int)
    names = list(RISKS)
    found = evidence(table(counts), "area,job", parse_policy(f"{AS_IT_IS}[risk]\nmeasure = {json.dumps(names)}\n"))
    wanted = own_risks(counts)
    for name in names:
        assert found.risks[name] == pytest.approx((wanted[name], wanted[name]), abs=1e-12)
    assert (found.before, found.after) == found.risks["r"]


@pytest.mark.parametrize("name", RISKS)
def test_each_measure_has_its_threshold(name: str) -> None:
    """A hair below its own risk a table is refused, at it released, alone and among others that allow anything."""
    risk = own_risks(ONE)[name]
    others = [n for n in RISKS if n != name][:2]
    for measure, limit in ((name, float), ([others[0], name, others[1]], lambda t: [1.0, t, 1.0])):
        text = AS_IT_IS + f"[risk]\nmeasure = {json.dumps(measure)}\nt2 = {{}}\n"
        answer(table(ONE), "area,job", parse_policy(text.format(limit(min(risk + 1e-9, 1.0)))))
        with pytest.raises(dc.Refused) as caught:
            answer(table(ONE), "area,job", parse_policy(text.format(limit(risk - 1e-9))))
        assert caught.value.rule == "t2"


def test_t1_needs_every_measure() -> None:
    """Below T1 in one measure and not in another is not below T1."""
    wanted = own_risks(ONE)
    risk = '[risk]\nmeasure = ["zeros", "size"]\nt1 = {}\n'
    for above, released in ((0.0, True), (1.0, False)):
        limits = [1.0, 1.0 - above]
        made = policy(risk.format(limits), seed=3)
        assert (answer(table(ONE), "area,job", made).method == "published as it is") is released
    assert 0 < wanted["zeros"] < 1


def own_losses(f: Any, g: Any) -> dict[str, float]:
    f, g = np.asarray(f, float).ravel(), np.asarray(g, float).ravel()
    p, q = f / f.sum(), g / g.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        kl = float(np.where(p > 0, p * np.log(p / q), 0).sum())
        back = float(np.where(q > 0, q * np.log(q / p), 0).sum())
        chi2 = float(np.where(p == q, 0, (p - q) ** 2 / q).sum())
    filled = f > 0
    return {
        "hellinger": math.sqrt(((np.sqrt(f) - np.sqrt(g)) ** 2).sum() / 2 / f.sum()),
        "kl": kl,
        "reverse-kl": back,
        "chi2": chi2,
        "hellinger2": float(((np.sqrt(p) - np.sqrt(q)) ** 2).sum() / 2),
        "tv": float(np.abs(p - q).sum() / 2),
        "mean-absolute": float(np.abs(f - g).mean()),
        "mean-relative": float((np.abs(f - g)[filled] / f[filled]).mean()),
        "changed": float((f != g).mean()),
    }


@pytest.mark.parametrize("loss", [*LOSSES, "f-divergence"])
def test_every_loss_is_the_one_of_its_definition(loss: str) -> None:
    """In the map, for one draw of a method, against the true table."""
    method = dc.RandomRound(3, seed=4)
    shown = method(table(ONE)).release().values["count"].reshape(4, 5)[1:, 1:]
    name = "kl" if loss == "f-divergence" else loss
    row = ru_map(table(ONE), {"one": method}, loss=loss, draws=1).frame.loc["one"]
    assert 1 - row["utility"] == pytest.approx(own_losses(ONE, shown)[name], abs=1e-12)


def test_t3_and_search_go_by_the_chosen_loss() -> None:
    """T3 in another measure refuses and allows; an unknown name offers the nearest, a list needs a threshold each."""
    counts = np.random.default_rng(1).integers(50, 900, (6, 6))
    text = '[risk]\nt3 = {t3}\n[utility]\nloss = "{loss}"\n'
    answer(table(counts), "area,job", policy(text.format(t3=1.0, loss="changed")))
    with pytest.raises(dc.Refused, match="cost more"):
        answer(table(counts), "area,job", policy(text.format(t3=0.01, loss="changed")))
    answer(table(counts), "area,job", policy(text.format(t3=0.01, loss="kl")))
    told = answer(table(counts), "area,job", policy('[utility]\ntold = "expected"\nloss = "tv"\n'))
    assert "Expected loss (tv) 0.00" in " ".join(told.notes)
    for bad, message in (
        ('[risk]\nmeasure = "jos16"\n', "did you mean 'jos15'"),
        ('[risk]\nmeasure = ["r", "r*"]\nt2 = 0.2\n', "one each"),
        ('[risk]\nmeasure = ["r", "r"]\n', "each once"),
        ("[risk]\nt2 = [0.1, 0.2]\n", "one each"),
        ("[risk]\nweights = [0.5, 0.5, 0.5]\n", "sum to 1"),
        ('[utility]\nloss = "helinger"\n', "did you mean 'hellinger'"),
        ('[utility]\nloss = "f-divergence"\nf = "chi3"\n', "did you mean 'chi2'"),
        ('[risk]\npopulation = "poyla"\n', "did you mean 'polya'"),
        ('[risk]\npopulation = "polya"\nmeasure = "jos15"\n', "no form for samples"),
    ):
        with pytest.raises(dc.InputError, match=message):
            policy(bad)


# -- Ant16 section 5.2, steps 13 and 14: the map is one of expectations -------------------------------------------


def own_r2(f: Any, g: Any) -> float:
    """(3.6.6), with the channel of Theorem 4 written out as a matrix."""
    f, g = np.asarray(f, float).ravel(), np.asarray(g, float).ravel()
    n, m, k = f.sum(), g.sum(), f.size
    terms = own_terms(f)
    d, e = f == 0, g == 0
    both = (d & e).sum()
    zeros = terms["zeros"] ** ((d | e).sum() / both) if both else 0.0
    h = (1 - terms["entropy"]) * math.log(k)
    a, b = m * f, n * g
    kept = np.minimum(a, b)
    joint = np.diag(kept) / (n * m)
    if (a != b).any():
        joint = joint + np.outer(a - kept, b - kept) / (n * m - kept.sum()) / (n * m)
    q = joint.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        conditional = -np.where(joint > 0, joint * np.log(joint / q), 0.0).sum()
    return float(0.1 * zeros + 0.8 * terms["entropy"] * (1 - conditional / h) + 0.1 * terms["size"])


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
    single = [
        ru_map(table(counts), {"one": dc.RandomRound(3, seed=s)}, draws=1).frame.loc["one", "risk"] for s in range(5, 9)
    ]
    four = ru_map(table(counts), {"one": dc.RandomRound(3, seed=5)}, draws=4).frame.loc["one"]
    assert four["risk"] == pytest.approx(np.mean(single))
    assert four["± risk"] == pytest.approx(np.std(single, ddof=1))


def test_a_seed_hardly_matters_to_the_map() -> None:
    """PSD14's table: single draws of base 3 spread over .21 to .22; means of 50 do not."""
    religion = dc.datasets.psd14_religion()
    many = [
        ru_map(religion, {"one": dc.RandomRound(3, seed=1000 * s)}, draws=50).frame.loc["one", "risk"]
        for s in (1, 2, 3)
    ]
    assert np.ptp(many) < 0.002
    quiet = ru_map(religion, {"as it is": dc.Publish(), "round": dc.Round(3)}).frame
    assert quiet["± risk"].tolist() == [0.0, 0.0]
    assert quiet["draws"].tolist() == [1, 1]


def test_a_map_of_several_measures() -> None:
    """A column each, a threshold each; what nobody beats is found in all of them by brute force."""
    methods = {**dc.grid("random-round", base=[3, 5, 10], seed=1), "as it is": dc.Publish()}
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
    methods = {**dc.grid("cell-key", d=5, v=3, seed=1), **dc.grid("semi-controlled-round", base=15, seed=1)}
    frame = ru_map(religion, methods, measure=["r*", "jos15"], loss="tv", draws=3).frame
    for name in ("risk", "± risk", "risk jos15", "± risk jos15", "utility", "± utility"):
        for value in frame[name]:
            assert f"{value:.4f}" in out


# -- Ant16 chapter 4 inside chapter 5: samples -------------------------------------------------------------------


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


# -- JOS15 section 2.2: pre-tabular methods, done once ------------------------------------------------------------

SWAP = '[[before]]\nname = "swap"\ngeography = "region"\nrate = {rate}\n'
PRAM = '[[before]]\nname = "pram"\nvariable = "occupation"\nstay = {rate}\n'
STOCHASTIC = '[[before]]\nname = "stochastic"\nstay = {rate}\ncontrol = ["region"]\n'
STEPS = [(SWAP, 0.1), (PRAM, 0.8), (STOCHASTIC, 0.5)]
TOLD = '[utility]\ntold = "expected"\n'


@cache
def people() -> dc.Microdata:
    return dc.datasets.census(n=30_000)


def inner(release: dc.Release) -> Any:
    """The published inner counts, in a row."""
    leaves = np.all(
        [[d.codes[c] in d.leaves for c in release.codes[:, k]] for k, d in enumerate(release.dimensions)], axis=0
    )
    return release.values["count"][leaves]


@pytest.mark.parametrize(("step", "rate"), STEPS)
def test_a_step_before_counting_is_done_once(step: str, rate: float) -> None:
    """All tables are sums of one changed data set: margins of two answers agree to the unit, and again tomorrow."""
    made = parse_policy(step.format(rate=rate))
    wide, narrow = (answer(people(), q, made).cells for q in ("region,occupation,sex", "region,occupation"))
    both = wide[wide["sex"] == "Total"].set_index(["region", "occupation"])["count"]
    assert both.sort_index().tolist() == narrow.set_index(["region", "occupation"])["count"].sort_index().tolist()
    fresh = dc.datasets.census(n=30_000)
    assert answer(fresh, "region,occupation", made).to_csv() == answer(people(), "region,occupation", made).to_csv()


@pytest.mark.parametrize(("step", "rate"), STEPS)
def test_a_step_is_the_method_on_the_records(step: str, rate: float) -> None:
    """What is published are the counts of the records that the method itself gives, keyed by their record keys."""
    shown = answer(people(), "region,occupation", parse_policy(step.format(rate=rate))).values["count"]
    if step is STOCHASTIC:
        true = dc.tabulate(people(), by=["region", "occupation"]).count
        assert shown[0] == true[0], "the distribution of counts is kept, and so is their sum"
        assert (shown != true).any()
        return
    changed = (dc.Swap("region", rate=rate) if step is SWAP else dc.Pram("occupation", stay=rate))(people())
    assert shown.tolist() == dc.tabulate(changed, by=["region", "occupation"]).count.tolist()


@pytest.mark.parametrize(("step", "rate"), STEPS)
@pytest.mark.parametrize("query", ["region,occupation,education", "sex,age", "region,age"])
def test_the_stated_quality_is_that_of_the_change(step: str, rate: float, query: str) -> None:
    """1 - HD/sqrt(N) of the true table against the one shown, from the outside: what is stated is near it."""
    made = parse_policy(TOLD + step.format(rate=rate))
    if {SWAP: "region", PRAM: "occupation"}.get(step, "") not in query:
        with pytest.raises(dc.Refused, match="nothing that the policy does changes this table"):
            answer(people(), query, made)
        return
    shown, true = (inner(answer(people(), query, p)) for p in (made, parse_policy(AS_IT_IS)))
    utility = 1 - math.sqrt(((np.sqrt(true) - np.sqrt(shown)) ** 2).sum() / 2 / true.sum())
    found = evidence(people(), query, made)
    assert found.utility is not None
    assert 1 - found.utility < 1.7 * (1 - utility) + 0.01
    assert 1 - found.utility > 0.6 * (1 - utility) - 0.01
    assert f"Expected utility {found.utility:.2f}" in " ".join(answer(people(), query, made).notes)
    assert "very high" not in " ".join(answer(people(), query, made).notes)
    assert abs(found.after - own_r2(true, shown)) < 0.05


@cache
def typical(share: float) -> dc.Microdata:
    """Records of 4 regions and 9 occupations, a share of them in occupations that are typical of their region."""
    rng, n = np.random.default_rng(1), 60_000
    region = rng.integers(0, 4, n)
    job = np.where(rng.random(n) < share, region * 2 + rng.integers(0, 2, n), rng.integers(0, 9, n))
    frame = pd.DataFrame({"region": region.astype(str), "occupation": job.astype(str), "id": np.arange(n)})
    names = {"region": "0123", "occupation": "012345678"}
    dimensions = [dc.Dimension.flat(name, list(codes)) for name, codes in names.items()]
    return dc.Microdata.of(frame, dimensions=dimensions, unit="id", secret="sixteen letters!")


@pytest.mark.parametrize("share", [0.0, 0.4, 0.8])
@pytest.mark.parametrize("rate", [0.05, 0.1, 0.2])
def test_a_swap_that_destroys_structure_says_so(share: float, rate: float) -> None:
    """Swapped data have less structure left to lose: stated is what the swap has cost, not what another would."""
    by, data = ["region", "occupation"], typical(share)
    true, shown = (dc.tabulate(d, by=by).array() for d in (data, dc.Swap("region", rate=rate)(data)))
    utility = 1 - math.sqrt(((np.sqrt(true) - np.sqrt(shown)) ** 2).sum() / 2 / true.sum())
    assert evidence(data, ",".join(by), parse_policy(SWAP.format(rate=rate))).utility == pytest.approx(
        utility, abs=0.03
    )


@pytest.mark.parametrize("text", [SWAP.format(rate=0.1) + 'profile = ["occupation"]\n', SWAP.format(rate=0.4)])
def test_a_swap_that_cannot_be_inverted_states_no_quality(text: str) -> None:
    """By other variables, or of too many: nobody can tell what it cost, so nothing is claimed, and T3 refuses."""
    notes = " ".join(answer(people(), "region,sex", parse_policy(text)).notes)
    assert "quality:" not in notes
    assert "What that costs is not stated" in notes
    with pytest.raises(dc.Refused, match="cost more"):
        answer(people(), "region,sex", parse_policy("[risk]\nt3 = 0.9\n" + text))


@pytest.mark.parametrize("loss", ["kl", "chi2"])
def test_an_infinite_loss_is_a_loss(loss: str) -> None:
    """Filled cells that show 0: answered where no limit is set, refused by T3 otherwise, and best in no comparison."""
    small = table(np.random.default_rng(1).integers(0, 4, (12, 12)))
    text = f'[utility]\nloss = "{loss}"\ntold = "expected"\n'
    assert evidence(small, "area,job", policy(text, 3)).loss == math.inf
    assert "infinite" in " ".join(answer(small, "area,job", policy(text, 3)).notes)
    with pytest.raises(dc.Refused) as caught:
        answer(small, "area,job", policy("[risk]\nt3 = 0.9\n" + text, 3))
    assert caught.value.rule == "t3"
    for t3, allowed in ((None, True), (0.9, False)):
        found = dc.ru_map(small, [dc.RandomRound(3, seed=1)], loss=loss, draws=2, t3=t3)
        assert found.frame["utility"].tolist() == [-math.inf]
        assert found.frame["allowed"].tolist() == [allowed]
        assert found.summary().empty
        found.plot()


def test_a_changed_table_says_so_and_is_not_as_it_is() -> None:
    """Words of the method, a note, no claim of truth; T3 sees what the change costs."""
    made = parse_policy(PRAM.format(rate=0.5))
    release = answer(people(), "region,occupation,education", made)
    assert release.method == "categories changed at random before counting"
    assert release.truthful is False
    assert made.openly == ""
    assert "Before counting" in " ".join(release.notes)
    assert "low" in " ".join(release.notes)
    with pytest.raises(dc.Refused, match="cost more"):
        answer(people(), "region,occupation,education", parse_policy("[risk]\nt3 = 0.1\n" + PRAM.format(rate=0.5)))
    answer(people(), "region,occupation", parse_policy("[risk]\nt3 = 0.9\n" + PRAM.format(rate=0.5)))


def test_a_step_and_a_method_state_no_quality() -> None:
    """What both cost together cannot be told from the table, so nothing is claimed, and T3 is an error at once."""
    both = SWAP.format(rate=0.1) + '[[method]]\nname = "random-round"\nbase = 3\n'
    release = answer(people(), "region,sex", parse_policy(both))
    assert release.method == "records swapped before counting; randomly rounded to base 3"
    assert (release.values["count"] % 3 == 0).all()
    assert "quality:" not in " ".join(release.notes)
    with pytest.raises(dc.InputError, match="t3"):
        parse_policy("[risk]\nt3 = 0.1\n" + both)


@dataclass(frozen=True)
class Same:
    """A step that gives the same people whatever the truth is; done again, it moves the people it is given."""

    geography: str
    seed: int | None = None
    words: ClassVar[str] = "the same"
    rate: ClassVar[float] = 0.1
    k: ClassVar[int] = 0
    strata: ClassVar[tuple[str, ...]] = ()
    also: ClassVar[tuple[str, ...]] = ()

    def __call__(self, data: dc.Microdata) -> dc.Microdata:
        if self.seed is None:
            return few(range(60), 7)
        counts = dc.tabulate(data, by=["region", "job"]).array()
        rows = [(r, j) for (r, j), n in np.ndenumerate(counts[::-1]) for _ in range(n)]
        return few(range(len(rows)), 0, rows)


def few(ids: Any, seed: int, rows: Any = None) -> dc.Microdata:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, [2, 3], (len(ids), 2)) if rows is None else rows
    frame = pd.DataFrame(np.asarray(rows).astype(str), columns=["region", "job"]).assign(id=list(ids))
    dimensions = [dc.Dimension.flat("region", ["0", "1"]), dc.Dimension.flat("job", ["0", "1", "2"])]
    return dc.Microdata.of(frame, dimensions=dimensions, unit="id")


def test_what_is_decided_is_a_function_of_the_changed_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any true data that a step turns into the same get the same evidence, notes and bytes."""
    monkeypatch.setitem(methods.HOMES, "swap", f"{Same.__module__}:{Same.__qualname__}")
    made = parse_policy(TOLD + '[[before]]\nname = "swap"\ngeography = "region"\n')
    seen = set()
    for seed in range(4):
        data = few(range(50 + 20 * seed), seed)
        release = answer(data, "region,job", made)
        seen.add((release.to_csv(), release.notes, repr(evidence(data, "region,job", made))))
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[before]]\nname = "swapp"\n', "did you mean 'swap'"),
        ('[[before]]\nname = "swap"\ngeografy = "region"\n', "did you mean 'geography'"),
        ('[[before]]\nname = "swap"\n', "geography"),
        (SWAP.format(rate=0), "changes nothing"),
        (PRAM.format(rate=1), "changes nothing"),
        (STOCHASTIC.format(rate=1), "changes nothing"),
        (SWAP.format(rate=0.1) + PRAM.format(rate=0.5), "cannot be told"),
        (AS_IT_IS + SWAP.format(rate=0.1), "leave one"),
        ('[[method]]\nname = "swap"\ngeography = "region"\n', r"\[\[before\]\]"),
        ("[risk]\nt1 = 0.5\n" + SWAP.format(rate=0.1), "t1"),
        ('[[before]]\nname = "publish"\n', "no step"),
    ],
)
def test_a_step_that_cannot_be_is_found_when_the_policy_is_read(text: str, message: str) -> None:
    """`policy check` accepts nothing that every question would then refuse."""
    with pytest.raises(dc.InputError, match=message):
        parse_policy(text)


def test_a_server_answers_from_the_changed_cube(tmp_path: Path) -> None:
    """Built with the policy it gives the library's bytes; a cube without the step, or with another, is refused."""
    made = parse_policy(SWAP.format(rate=0.1))
    cube.build(people(), tmp_path / "cube", made)
    table, _ = cube.load(tmp_path / "cube")
    assert answer(table, "region,sex", made).to_csv() == answer(people(), "region,sex", made).to_csv()
    assert evidence(table, "region,sex", made) == evidence(people(), "region,sex", made)
    for other in (SWAP.format(rate=0.2), AS_IT_IS, ROUND.format(base=3, seed=1)):
        with pytest.raises(dc.InputError, match="other steps"):
            answer(table, "region,sex", parse_policy(other))
    cube.build(people(), tmp_path / "raw")
    raw, _ = cube.load(tmp_path / "raw")
    with pytest.raises(dc.InputError, match="changes records"):
        answer(raw, "region,sex", made)
    stochastic = parse_policy(STOCHASTIC.format(rate=0.5))
    assert answer(raw, "region,sex", stochastic).to_csv() == answer(people(), "region,sex", stochastic).to_csv()
    twin = next(name for name in table.statistics if name.startswith("again"))
    with pytest.raises(dc.InputError, match="no measure"):
        dc.protect(table, dc.Publish(measures=(twin,)))
    with servers.client(tmp_path, SWAP.format(rate=0.1), cube=str(tmp_path / "cube")) as client:
        got = client.get("/api/table.csv?variables=region,sex")
        assert got.content == answer(table, "region,sex", made).to_csv()
        assert "x-discreet-protection" not in got.headers
        page = client.get("/table?variables=region,sex").text
        assert "changed a little at random before anything was counted" in page
        assert "records swapped before counting" in page


def test_policy_check_knows_what_every_question_would_refuse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Variables of a step, weights of a sample, record keys: said before anybody asks."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "book.toml").write_text('[[dimension]]\nname = "region"\ncodes = ["a", "b"]\n')
    for text, code, says in (
        (SWAP.format(rate=0.1).replace("region", "regoin"), 2, "did you mean 'region'"),
        (PRAM.format(rate=0.5), 2, "unknown variable 'occupation'"),
        (AS_IT_IS + '[risk]\npopulation = "polya"\n', 2, "names no weight"),
        (SWAP.format(rate=0.1), 0, "swap needs record keys"),
        (ROUND.format(base=3, seed=1), 0, "well formed"),
    ):
        (tmp_path / "p.toml").write_text(text)
        assert cli.run(["policy", "check", "p.toml", "--codebook", "book.toml"]) == code
        assert says in capfd.readouterr().err
    (tmp_path / "t.csv").write_text("region,count,status\na,5,\nb,6,\n")
    (tmp_path / "p.toml").write_text(SWAP.format(rate=0.1))
    assert cli.run(["search", "t.csv", "--ready", "--policy", "p.toml"]) == 2
    assert "step before counting" in capfd.readouterr().err


def test_the_methodologist_sees_every_measure(tmp_path: Path) -> None:
    """The page of the server has a column for each measure of the policy, before and after, with its spread."""
    text = servers.policy_text('[risk]\nmeasure = ["r*", "zeros"]\nt2 = [0.9, 0.9]\n[utility]\nloss = "tv"')
    with servers.client(tmp_path, text) as client:
        desk = client.app.state.desk  # type: ignore[attr-defined]
        found = method.examined(desk, dc.Query.of("sex, age"))
    assert {"before", "risk", "± risk", "before zeros", "risk zeros", "utility", "± utility"} <= set(found["columns"])
    assert found["evidence"].risks.keys() == {"r*", "zeros"}
