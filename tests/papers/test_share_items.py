"""The share of small cells of JOS15 section 2.3, by Bayes' rule over every table that could have been."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.policy import answer, evidence, parse_policy
from tests.papers import own
from tests.papers.asking import ROUND, policy, table


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


# -- the expected share by enumeration of every table -------------------------------------------------------------

LARGEST = 100  # counts up to here have chances of their own


def rounding_matrix(base: int, size: int) -> Any:
    """P(shows j | was i) of unbiased rounding."""
    was = np.arange(size)
    made = np.zeros((size, size + base))
    made[was, was - was % base] = 1 - was % base / base
    made[was, was - was % base + base] += was % base / base
    return made


def key_matrix(method: Any, size: int) -> Any:
    """The same of a cell key method: the rows that it states, the last one for all larger counts, moved along."""
    stated = np.asarray(method.transition().matrix)
    rows, columns = stated.shape
    made = np.zeros((size, size + columns))
    for was in range(size):
        row = min(was, rows - 1)
        made[was, was - row : was - row + columns] = stated[row]
    return made


def chances(shown: Any, matrix: Any) -> Any:
    """P(was i), from equal chances by 25 steps towards what makes the shown counts most likely (EM)."""
    often, held = np.bincount(shown.ravel(), minlength=LARGEST + 1).astype(float), matrix[:, : LARGEST + 1]
    p = np.full(len(matrix), 1 / len(matrix))
    for _ in range(25):
        joint = p[:, None] * held
        seen = joint.sum(axis=0)
        new = (joint[:, seen > 0] / seen[seen > 0] * often[seen > 0]).sum(axis=1)
        new += p * (1 - held.sum(axis=1)) * often.sum()  # what would show beyond is not learnt from
        p = new / new.sum()
    return p


def every_table(shown: Any, matrix: Any, p: Any) -> tuple[Any, Any]:
    """All tables that can show this, and P(was this) P(shows this cell by cell | was this) up to a factor."""
    weighed = [p * matrix[:, j] for j in shown.ravel()]
    options = [np.flatnonzero(w) for w in weighed]
    tables = np.array(list(itertools.product(*options)))
    weight = np.prod([w[tables[:, k]] for k, w in enumerate(weighed)], axis=0)
    return tables, weight


def expected_share(tables: Any, weight: Any, small: int = 2) -> float:
    return float((((tables >= 1) & (tables <= small)).mean(axis=1) * weight).sum() / weight.sum())


def shown_by(counts: Any, made: dc.Policy) -> Any:
    return answer(table(counts), "area,job", made).values["count"].astype(int).reshape(3, 3)[1:, 1:]


CELLWISE = {
    **{f"round {base}": ROUND.format(base=base, seed=1) for base in (3, 5, 10)},
    "key 2": '[[method]]\nname = "cell-key"\nd = 2\nv = 1\nseed = 1\n',
    "key 5": '[[method]]\nname = "cell-key"\nd = 5\nv = 3\nseed = 1\n',
}


@pytest.mark.parametrize("name", CELLWISE)
@pytest.mark.parametrize("seed", range(6))
def test_the_share_is_the_mean_over_every_table_that_could_have_been(name: str, seed: int) -> None:
    """Four cells: all tables that a method may have shown like this, each with its posterior probability."""
    counts = np.random.default_rng(seed).poisson([0.7, 2, 6, 20][seed % 4], (2, 2))
    kind, number = name.split()
    made = parse_policy(CELLWISE[name])
    shown = shown_by(counts, made)
    if kind == "round":
        matrix = rounding_matrix(int(number), LARGEST + int(number))
    else:
        matrix = key_matrix(dc.CellKey(2, 1, seed=1) if number == "2" else dc.CellKey(5, 3, seed=1), LARGEST + 50)
        reach = max(abs(int(j) - int(i)) for i, j in zip(*np.nonzero(matrix), strict=True))
        matrix = matrix[: LARGEST + reach + 1]
    wanted = expected_share(*every_table(shown, matrix, chances(shown, matrix)))
    assert evidence(table(counts), "area,job", made).small_share == pytest.approx(wanted, abs=1e-9)


def numbers_up(residues: Any, base: int) -> Any:
    """How many cells of each residue semi-controlled rounding rounds up, so that the total is the nearest multiple."""
    owed = np.cumsum(np.bincount(residues, minlength=base) * np.arange(base))
    return np.diff((owed + base // 2) // base, prepend=0)


@pytest.mark.parametrize("base", [3, 5])
def test_cells_that_depend_on_each_other_are_taken_one_by_one(base: int) -> None:
    """Semi-controlled rounding: over every table and its joint probability the share is near the one that decides."""
    off = []
    for seed in range(10):
        counts = np.random.default_rng(seed).poisson(2.0, (2, 2))
        text = f'[[method]]\nname = "semi-controlled-round"\nbase = {base}\nseed = {seed}\n'
        shown = shown_by(counts, parse_policy(text))
        matrix = rounding_matrix(base, LARGEST + base)
        p = chances(shown, matrix)
        tables, _ = every_table(shown, matrix, p)
        weight = np.zeros(len(tables))
        for k, was in enumerate(tables):
            up, residue = shown.ravel() > was, was % base
            wanted = numbers_up(residue, base)
            if (np.bincount(residue[up], minlength=base) == wanted).all():
                ways = [math.comb(int((residue == r).sum()), int(wanted[r])) for r in range(1, base)]
                weight[k] = p[was].prod() / math.prod(ways)
        assert weight.sum() > 0
        found = evidence(table(counts), "area,job", parse_policy(text)).small_share
        off.append(found - expected_share(tables, weight))
    assert np.abs(off).max() < 0.15
    assert abs(np.mean(off)) < 0.05


def people(counts: Any) -> dc.Microdata:
    rows = [(str(i), str(j)) for (i, j), n in np.ndenumerate(counts) for _ in range(n)]
    frame = pd.DataFrame(rows, columns=["area", "job"]).assign(id=range(len(rows)))
    sides = [dc.Dimension.flat(str(n), [str(k) for k in range(m)]) for n, m in zip(frame, counts.shape, strict=False)]
    return dc.Microdata.of(frame, dimensions=sides, unit="id", secret="sixteen letters!")


@pytest.mark.parametrize("kind", ["alike", "sparse", "typical"])
def test_the_share_under_a_swap_is_never_far_too_low(kind: str) -> None:
    """Swapped records, by counting the true cells: near it where areas are alike, else too high."""
    off = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        mean = {"alike": 1.5, "sparse": 0.5}.get(kind, 0.0)
        here = np.where((np.arange(30) % 4) == np.arange(4)[:, None], 8.0, 0.2) if kind == "typical" else mean
        counts = rng.poisson(here, (4, 30))
        made = parse_policy('[[before]]\nname = "swap"\ngeography = "area"\nrate = 0.1\n')
        found = evidence(people(counts), "area,job", made).small_share
        off.append(found - float(((counts >= 1) & (counts <= 2)).mean()))
    assert np.mean(off) > -0.01
    assert min(off) > -0.06
    assert np.mean(off) < (0.4 if kind == "typical" else 0.06)


def test_what_rounding_leaves_open() -> None:
    """Of Poisson counts of mean 1 the rounded ones fit any share from none to nearly all: the limits by a programme."""
    was = np.arange(41)
    poisson = np.array([math.exp(-1) / math.factorial(int(k)) for k in was])
    for base, most in ((3, 0.95), (5, 0.99), (10, 0.99)):
        matrix = rounding_matrix(base, 41)
        small = ((was >= 1) & (was <= 2)).astype(float)
        low, high = (
            own.least(sign * small, A_eq=matrix.T, b_eq=poisson @ matrix, bounds=(0, 1)) * sign for sign in (1, -1)
        )
        assert low == pytest.approx(0, abs=1e-9)
        assert high > most
