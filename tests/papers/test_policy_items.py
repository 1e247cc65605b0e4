"""The dissemination algorithm of Ant16 chapter 5: thresholds, measures of risk and of loss, recomputed by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.policy import LOSSES, RISKS, answer, evidence, parse_policy, ru_map
from discreet.server.pages import methodologist as method
from tests import servers
from tests.papers.asking import AS_IT_IS, ONE, own_losses, own_risks, policy, table

OTHERS = ("t2 = 0.0", "t3 = 0.0", "t2 = 0.0\nt3 = 0.0")

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


def test_t1_lets_no_magnitude_out() -> None:
    """The risk is one of counts: turnover is protected however harmless the number of firms."""
    frame = pd.DataFrame({"area": ["a", "b"] * 300, "pay": np.arange(600), "id": np.arange(600)})
    area = dc.Dimension.flat("area", ["a", "b"])
    data = dc.Microdata.of(frame, dimensions=[area], unit="id", magnitudes=["pay"], secret="sixteen letters!")
    method = '[[method]]\nname = "random-round"\nbase = 7\n'
    made = parse_policy(f"[risk]\nt1 = 1.0\n{method}[measures.pay]\nnoise = {{ seed = 1 }}\n")
    assert answer(data, "area", made).method == "published as it is"
    assert answer(data, dc.Query.of("area", measure="pay"), made).method != "published as it is"


# -- Ant16 section 5.2, steps 1 and 9: measures of risk and of loss, one or several ------------------------------


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


def test_the_methodologist_sees_every_measure(tmp_path: Path) -> None:
    """The page of the server has a column for each measure of the policy, before and after, with its spread."""
    text = servers.policy_text('[risk]\nmeasure = ["r*", "zeros"]\nt2 = [0.9, 0.9]\n[utility]\nloss = "tv"')
    with servers.client(tmp_path, text) as client:
        service = client.app.state.service  # type: ignore[attr-defined]
        found = method.examined(service, dc.Query.of("sex, age"))
    assert {"before", "risk", "± risk", "before zeros", "risk zeros", "utility", "± utility"} <= set(found["columns"])
    assert found["evidence"].risks.keys() == {"r*", "zeros"}
