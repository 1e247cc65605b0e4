"""Attacks on sums: whoever is alone in a cell cannot be averaged out; lists of areas tell next to nothing."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd

import discreet as dc
from discreet.policy import Query, answer, parse_policy
from discreet.policy.area_release import failing_areas
from discreet.policy.sections import AreaRules

SECRET = "sixteen letters!"
POLICY = '[query]\nmax_dimensions = 4\n[[method]]\nname = "cell-key"\nd = 5\nv = 3\n[measures.pay]\nnoise = {}\n'


def test_who_is_alone_has_one_noise_in_all_tables() -> None:
    """A1 and A4: every table in which a cell is one person shows the same sum, so there is nothing to average."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({name: rng.choice(["a", "b"], 40) for name in ("sex", "age", "job")})
    frame = frame.assign(town=["lone", *["other"] * 39], pay=rng.integers(100, 9999, 40), id=range(40))
    dimensions = ["town", "sex", "age", "job"]
    data = dc.Microdata.of(frame, dimensions=dimensions, unit="id", magnitudes=["pay"], secret=SECRET)
    policy = replace(parse_policy(POLICY), secret=SECRET.encode())
    shown = set()
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
