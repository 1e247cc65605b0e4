"""Attacks on sums: whoever is alone in a cell cannot be averaged out; lists of areas tell next to nothing."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.policy import Query, answer, parse_policy
from discreet.policy.area_release import failing_areas
from discreet.policy.sections import AreaRules

SECRET = "sixteen letters!"
POLICY = '[query]\nmax_dimensions = 4\n[[method]]\nname = "cell-key"\nd = 5\nv = 3\n'
POLICY += "[measures.pay]\nnoise = { people = 0 }\nmin_count = 1\n"


def test_who_is_alone_has_one_noise_in_all_tables() -> None:
    """A1 and A4: every table in which a cell is one person shows the same sum, so there is nothing to average."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({name: rng.choice(["a", "b"], 40) for name in ("sex", "age", "job")})
    frame = frame.assign(town=["lone", *["other"] * 39], pay=rng.integers(100, 9999, 40), id=range(40))
    dimensions = ["town", "sex", "age", "job"]
    data = dc.Microdata.of(frame, dimensions=dimensions, unit="id", magnitudes=["pay"], secret=SECRET)
    policy = replace(parse_policy(POLICY), secret=SECRET.encode())
    shown: set[float] = set()
    for size in (0, 1, 2, 3):
        for chosen in itertools.combinations(["sex", "age", "job"], size):
            cells = answer(data, Query.of(["town", *chosen], measure="pay"), policy).cells
            mine = cells[(cells["town"] == "lone") & (cells["pay"] > 0)]
            shown |= set(mine["pay"])
    assert len(shown) == 1
    assert shown != {frame["pay"][0]}


def test_the_list_of_areas_hardly_tells_of_one_person() -> None:
    """With and without one more person, over areas about the limit: within 5 points of a coin."""
    rng = np.random.default_rng(5)
    rules = AreaRules(variable="area", min_mean=2.0, max_small_share=0.4)
    noise = dc.CellKey(5, 3, seed=1).noise
    gains = []
    for mean in np.linspace(0.5, 6, 24):
        counts = rng.poisson(mean, 20)
        more = counts.copy()
        more[rng.integers(20)] += 1
        shares = []
        for one in (counts, more):
            uniform = rng.random((4000, 20))
            shown = one + np.where(one > 0, noise.look_up(np.broadcast_to(one, uniform.shape), uniform), 0)
            shares.append(failing_areas(shown.astype(float), shown.sum(axis=1).astype(float), rules).mean())
        gains.append(abs(shares[0] - shares[1]) / 2)
    assert 0 < np.mean(gains) < 0.02
    assert max(gains) < 0.05


def test_sums_of_few_people_do_not_tell_how_many_they_are() -> None:
    """Everybody works about as long, so that a sum of hours counts heads: none is shown of few, nor where nobody is."""
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(
        {"job": rng.choice(list("abcdefgh"), 300), "band": rng.choice(list("xyz"), 300), "id": range(300)}
    )
    frame.loc[frame["job"] == "a", "band"] = "x"
    frame = frame.assign(hours=rng.integers(1600, 1800, 300))
    data = dc.Microdata.of(frame, dimensions=["job", "band"], unit="id", magnitudes=["hours"], secret=SECRET)
    text = POLICY.replace("measures.pay", "measures.hours").replace("min_count = 1\n", "").replace("people = 0", "")
    policy = replace(parse_policy(text), secret=SECRET.encode())
    counts = answer(data, Query.of("job, band"), policy).cells["count"].to_numpy(float)
    hours = answer(data, Query.of("job, band", measure="hours"), policy).cells["hours"].to_numpy(float)
    assert (counts < 10).any()
    assert np.isnan(hours[counts < 10]).all()
    assert not np.isnan(hours[counts >= 20]).any()  # how many give something has noise of its own


SMALL_PAIR = """
[query]
max_dimensions = 3
[table]
min_population = 60
[[method]]
name = "cell-key"
d = 5
v = 3
[measures.pay]
noise = { flex = 20, p = [0.05, 0.01], separation = 1, people = 0 }
"""
RULE = 'hide = [{ rule = "p-percent", p = 10 }]\n'


def people_with_a_small_pair() -> dc.Microdata:
    """Of each sex, town and job 200 people who earn alike; but in the last town one woman and 20 men are pilots."""
    rows = [(t, j, s) for t in "ABC" for j in ("cook", "pilot", "smith") for s in "fm" for _ in range(200)]
    rows = [row for row in rows if row[:2] != ("C", "pilot")] + [("C", "pilot", "f")] + [("C", "pilot", "m")] * 20
    frame = pd.DataFrame(rows, columns=["town", "job", "sex"])
    frame = frame.assign(pay=np.random.default_rng(6).integers(90, 110, len(frame)), id=range(len(frame)))
    names = ["town", "job", "sex"]
    return dc.Microdata.of(frame, dimensions=names, unit="id", magnitudes=["pay"], secret=SECRET)


def test_a_sensitive_cell_of_a_closed_pair_is_the_rest_of_its_line() -> None:
    """One cell is sensitive, and is not shown because its pair is small; the totals of its lines are, with
    little noise. So the table is refused like one in which the cell would be shown."""
    data = people_with_a_small_pair()
    plain = replace(parse_policy(SMALL_PAIR), secret=SECRET.encode())
    true = dc.tabulate(data, ["town", "job", "sex"], value="pay", top=5)
    assert true.cells[dc.PPercent(10)(true)][["town", "job", "sex"]].to_numpy().tolist() == [["C", "pilot", "f"]]
    cells = answer(data, Query.of("town, job, sex", measure="pay"), plain).cells
    shown = cells.set_index(["town", "job", "sex"])["pay"]
    assert shown[[("C", "pilot", "f"), ("C", "pilot", "m")]].isna().all()
    assert shown[[("C", "pilot", "Total"), ("C", "Total", "f"), ("Total", "pilot", "f")]].notna().all()
    refusing = replace(parse_policy(SMALL_PAIR + RULE), secret=SECRET.encode())
    for query in (
        Query.of("town, job, sex", measure="pay"),
        Query.of("town, job, sex", measure="pay", statistic="percent"),
        Query.of("town, job", where={"sex": "m"}, measure="pay"),
    ):
        with pytest.raises(dc.Refused, match="too few contributors"):
            answer(data, query, refusing)


def alike(n: int = 8000) -> dc.Microdata:
    """People of whom each has about as much of something as the others who have any, or none."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"area": rng.integers(0, 20, n), "job": rng.integers(0, 20, n), "id": range(n)}).astype(
        {"area": str, "job": str}
    )
    frame = frame.assign(
        employed=rng.integers(0, 2, n),
        week=np.where(rng.random(n) < 0.9, 40, 38),
        dividends=np.where(rng.random(n) < 0.004, rng.lognormal(11, 1, n).round(), 0.0),
    )
    return dc.Microdata.of(
        frame, dimensions=["area", "job"], unit="id", magnitudes=["employed", "week", "dividends"], secret=SECRET
    )


@pytest.mark.parametrize(("measure", "weights"), [("employed", 1), ("week", 39.8)])
def test_a_sum_of_contributions_that_are_alike_is_no_count(measure: str, weights: float) -> None:
    """Of a 0/1 variable the sum is the number of ones, of hours of a week nearly that of people: neither comes out more
    often than counts with noise do."""
    data = alike()
    text = POLICY.replace("measures.pay", f"measures.{measure}").replace("min_count = 1\n", "")
    shown = {}
    for people in ("people = 0", ""):
        policy = replace(parse_policy(text.replace("people = 0", people)), secret=SECRET.encode())
        shown[people] = answer(data, Query.of("area, job", measure=measure), policy).cells[measure].to_numpy(float)
    true = dc.tabulate(data, ["area", "job"], value=measure, top=5)
    guess = {people: np.rint(values / weights) for people, values in shown.items()}
    right = {
        people: np.mean((values == np.rint(true.value / weights))[~np.isnan(values)])
        for people, values in guess.items()
    }
    counts = answer(data, Query.of("area, job"), policy).cells["count"].to_numpy(float)
    blind = np.mean(counts == true.statistic("count").values)
    assert right["people = 0"] > 0.9
    assert right[""] < blind + 0.05


def test_sums_to_which_few_give_are_not_shown() -> None:
    """Of a thing that few have, a cell of many people is nearly always one person's; and a 0 is no longer told."""
    data = alike()
    text = POLICY.replace("measures.pay", "measures.dividends").replace("min_count = 1\n", "")
    policy = replace(parse_policy(text.replace("people = 0", "")), secret=SECRET.encode())
    shown = answer(data, Query.of("area, job", measure="dividends"), policy).cells["dividends"].to_numpy(float)
    true = dc.tabulate(data, ["area", "job"], value="dividends", top=5)
    givers = true.statistic("givers").values
    assert (givers[np.isnan(shown)] < 14).all()
    assert np.isnan(shown[givers < 6]).all()
    assert not np.isnan(shown[0])
