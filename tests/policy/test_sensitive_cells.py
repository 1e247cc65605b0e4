"""Whether one of few has anything at all is told neither by a refusal nor by two equal sums."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.policy import Query, answer, parse_policy
from discreet.policy.sensitive_cells import COVER, cells_told, sensitive_cells
from discreet.policy.served_measures import ServedMeasure

SECRET = "sixteen letters!"
POLICY = """
[table]
min_population = 100
[[method]]
name = "cell-key"
d = 5
v = 3
[measures.grant]
noise = { flex = 20000, p = [0.25, 0.25], own = 0.8 }
hide = [{ rule = "p-percent", p = 10 }]
"""


def town(seed: int, amount: float | None = None) -> tuple[dc.Microdata, bool]:
    """Of 1,500 people a third have a grant; one is deaf, and has one too, or not, or ``amount``."""
    rng = np.random.default_rng(seed)
    grant = np.where(rng.random(1500) < 0.3, rng.lognormal(8, 1, 1500).round(), 0.0)
    if amount is not None:
        grant[0] = amount
    frame = pd.DataFrame({"hears": ["not", *["well"] * 1499], "sex": rng.choice(["f", "m"], 1500), "grant": grant})
    frame["id"] = np.arange(1500) + 10_000 * seed
    data = dc.Microdata.of(frame, dimensions=["hears", "sex"], magnitudes=["grant"], unit="id", secret=SECRET)
    return data, bool(grant[0])


def served(text: str = POLICY) -> dc.policy.Policy:
    return replace(parse_policy(text), secret=SECRET.encode())


def test_a_table_does_not_tell_whether_one_person_has_anything() -> None:
    """It is given either way, and its sums differ either way, by about as much."""
    policy = served()
    gaps: dict[bool, list[float]] = {True: [], False: []}
    for seed in range(60):
        data, has = town(seed)
        shown = answer(data, Query.of("hears", measure="grant"), policy).cells.set_index("hears")["grant"]
        assert np.isnan(float(shown["not"] if shown["not"] is not pd.NA else np.nan))
        gaps[has].append(float(shown["Total"] - shown["well"]))
    assert min(map(len, gaps.values())) > 10
    assert all(gap for found in gaps.values() for gap in found)
    one, other = (np.median(np.abs(found)) for found in gaps.values())
    assert 1 / 3 < one / other < 3


@pytest.mark.parametrize("amount", [1e6, 3e6])
def test_a_large_amount_of_few_is_the_rest_of_its_line(amount: float) -> None:
    """Noise does not hide it: such a table is refused."""
    data, _ = town(1, amount)
    with pytest.raises(dc.Refused, match="too few contributors"):
        answer(data, Query.of("hears", measure="grant"), served())


def crossing(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two cells have a combination of finest codes in common."""
    return all(code in ("Total", more) or more == "Total" for code, more in zip(one, other, strict=True))


def test_hidden_amounts_do_not_follow_from_what_is_shown() -> None:
    """A law, over random tables: of every sensitive cell that is not shown in a table that is given, the largest amount
    is at most so many deviations of the noise in each sum that is shown and holds any of it."""
    served_measure = ServedMeasure(noise={"flex": 50, "p": [0.25, 0.25]}, hide=(dc.PPercent(10),))
    exposed_some = covered_some = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame({"a": rng.choice(list("uvw"), 80), "b": rng.choice(list("xyz"), 80, p=[0.6, 0.36, 0.04])})
        frame = frame.assign(pay=rng.lognormal(4, rng.choice([0.3, 1, 2]), 80).round(), id=range(80))
        data = dc.Microdata.of(frame, dimensions=["a", "b"], unit="id", magnitudes=["pay"], secret=SECRET)
        table = dc.tabulate(data, ["a", "b"], value="pay", top=5)
        sensitive = sensitive_cells(table, served_measure)
        gone = rng.random(len(table)) < 0.3
        spread = served_measure.make_noise(SECRET.encode()).spread(table)
        exposed = cells_told(table, sensitive, gone, spread)
        cells = [tuple(cell) for cell in table.cells[["a", "b"]].to_numpy()]
        for k in np.flatnonzero(sensitive):
            around = [spread[j] for j in np.flatnonzero(~gone) if crossing(cells[j], cells[k])]
            mine = [crossing((v, w), cells[k]) for v, w in zip(frame["a"], frame["b"], strict=True)]
            largest = frame["pay"][mine].max()
            expected = not gone[k] or any(largest > COVER * one for one in around)
            assert exposed[k] == expected
            exposed_some, covered_some = exposed_some + expected, covered_some + (not expected)
        assert not exposed[~sensitive].any()
    assert exposed_some > 50
    assert covered_some > 50
