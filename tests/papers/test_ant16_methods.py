"""Ant16 section 2.4: methods before and after counting, each against its definition."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

import discreet as dc
from tests.papers import own


def people(n: int, seed: int) -> pd.DataFrame:
    """Persons in three regions of two areas each, of four ages and two sexes."""
    rng = np.random.default_rng(seed)
    area = rng.integers(0, 6, n)
    return pd.DataFrame({"id": range(n), "area": [f"r{a // 2}a{a}" for a in area],
                         "age": rng.choice(list("wxyz"), n, p=[0.5, 0.3, 0.15, 0.05]),
                         "sex": rng.choice(list("fm"), n)})  # fmt: skip


AREA = dc.Dimension.from_parents("area", {f"r{a // 2}a{a}": f"r{a // 2}" for a in range(6)})


def microdata(frame: pd.DataFrame) -> dc.Microdata:
    return dc.Microdata.of(frame, dimensions=[AREA, dc.Dimension.flat("age", "wxyz"), "sex"], unit="id")


def records(data: dc.Microdata) -> pd.DataFrame:
    return own.records(data, "id", "area", "age", "sex").astype({"area": str, "age": str}).set_index("id")


def test_global_recoding() -> None:
    """2.4.1.1: categories combined; every count is a sum of the counts before."""
    frame = people(500, 1)
    made = dc.tabulate(dc.GlobalRecode("age", groups={"y+": ["y", "z"]})(microdata(frame)), by=["age"])
    expected = [frame["age"].isin(list(codes)).sum() for codes in ("w", "x", "yz")]
    assert made.count[made.is_inner].tolist() == expected
    coarse = dc.tabulate(dc.GlobalRecode("area", level="level 1")(microdata(frame)), by=["area"])
    assert coarse.count[coarse.is_inner].tolist() == [frame["area"].str.startswith(f"r{k}").sum() for k in range(3)]


def test_pram() -> None:
    """(2.4.1): category i becomes j as often as p_ij says; tR = t for the invariant matrix; exact keeps the counts."""
    frame = people(20_000, 2)
    matrix = np.full((4, 4), 0.1) + 0.6 * np.eye(4)
    plain = dc.Pram("age", matrix=matrix, invariant=False, seed=1)
    after = records(plain(microdata(frame))).loc[frame["id"], "age"].to_numpy()
    for i, j in itertools.product(range(4), repeat=2):
        was = frame["age"].to_numpy() == "wxyz"[i]
        share, n = (after[was] == "wxyz"[j]).mean(), was.sum()
        assert abs(share - matrix[i, j]) < 5 * np.sqrt(matrix[i, j] * (1 - matrix[i, j]) / n)
    t = np.array([(frame["age"] == a).sum() for a in "wxyz"])
    used = dc.Pram("age", stay=0.7, seed=1).probabilities(microdata(frame))
    assert np.allclose(t @ used, t)
    assert np.allclose(used.sum(axis=1), 1)
    exact = records(dc.Pram("age", stay=0.7, exact=True, seed=1)(microdata(frame)))["age"]
    assert [(exact == a).sum() for a in "wxyz"] == t.tolist()


def test_record_swapping_in_strata() -> None:
    """2.4.1.1: 2 x rate of the persons move, only within strata; margins of area and of all else stay."""
    frame = people(4_000, 3)
    moved = records(dc.Swap("area", rate=0.05, strata=["age", "level 1"], seed=1)(microdata(frame))).loc[frame["id"]]
    changed = moved["area"].to_numpy() != frame["area"].to_numpy()
    assert changed.mean() == pytest.approx(0.1, abs=0.005)
    assert (moved["age"].to_numpy() == frame["age"].to_numpy()).all()
    assert (moved["area"].str[:2].to_numpy() == frame["area"].str[:2].to_numpy()).all()  # within the region
    for group in (["area"], ["area", "age"]):
        assert moved.groupby(group).size().tolist() == frame.groupby(group).size().tolist()
    assert moved.groupby(["area", "sex"]).size().tolist() != frame.groupby(["area", "sex"]).size().tolist()


def whole(inner: np.ndarray) -> np.ndarray:
    """A two-way table with its totals, in the order of its published cells."""
    return np.block([[inner.sum(), inner.sum(axis=0)], [inner.sum(axis=1)[:, None], inner]]).ravel()


def spread(counts: np.ndarray, hidden: np.ndarray, at: int) -> float:
    """How far a published cell can vary given all cells that are not hidden: two linear programs over inner cells."""
    r, c = counts.shape
    inner = np.arange(r * c).reshape(r, c)
    sums = [
        inner.ravel(),
        *inner.T,
        *[x for row in inner for x in (row, *[[k] for k in row])],
    ]  # as the table lists them
    matrix = np.array([np.isin(np.arange(r * c), s) for s in sums], float)
    right = matrix @ counts.ravel()
    shown = ~hidden
    low, high = (linprog(sign * matrix[at], A_eq=matrix[shown], b_eq=right[shown]) for sign in (1, -1))
    assert right[at] >= 0
    if high.status == 3:
        return np.inf
    assert low.fun is not None
    assert high.fun is not None
    return float(-high.fun - low.fun)


@pytest.mark.parametrize("method", ["gauss", "optimal"])
@pytest.mark.parametrize("seed", range(3))
def test_cell_suppression(seed: int, method: str) -> None:
    """2.4.1.2: what is shown is true, every small cell is hidden, and none can be worked out from the rest."""
    counts = np.random.default_rng(seed).integers(0, 9, (3, 4))
    table = dc.Table.of(counts, ["a", "b"])
    rule = dc.Threshold(3)
    chosen = dc.Suppress(rule) if method == "gauss" else dc.Suppress(rule, method=dc.Optimal(time=20))
    made = dc.protect(table, chosen)
    shown = made.published["count"]
    assert (shown[~made.hidden] == table.count[~made.hidden]).all()
    assert (made.hidden >= rule(table)).all()
    assert all(spread(counts, made.hidden, at) > 0.5 for at in np.flatnonzero(rule(table)).tolist())


@pytest.mark.parametrize("seed", range(3))
def test_optimal_suppression_hides_the_fewest(seed: int) -> None:
    """Fischetti and Salazar: no pattern with fewer secondaries protects, all of them tried."""
    counts = np.random.default_rng(seed + 10).integers(2, 9, (2, 3))
    counts[0, 0] = 1
    table = dc.Table.of(counts, ["a", "b"])
    rule = dc.Threshold(2)
    primary = rule(table)
    method = dc.Optimal(weights="unity", time=20)
    made = dc.protect(table, dc.Suppress(rule, method=method, singletons="none"))
    assert all(spread(counts, made.hidden, at) > 0.5 for at in np.flatnonzero(primary).tolist())
    number = int((made.hidden & ~primary).sum())
    assert number > 1
    for size in range(number):
        for extra in itertools.combinations(np.flatnonzero(~primary), size):
            hidden = primary.copy()
            hidden[list(extra)] = True
            assert any(spread(counts, hidden, at) < 0.5 for at in np.flatnonzero(primary).tolist())


def test_controlled_tabular_adjustment() -> None:
    """2.4.1.2: sensitive cells go to a limit, everything adds up, and the rest changes least (all changes tried)."""
    counts = np.array([[20, 3, 15], [9, 14, 11]])
    table = dc.Table.of(counts, ["a", "b"])
    made = dc.protect(table, dc.CTA(table.where(a="1", b="2"), protection=0.5, cost="unity"))
    shown = made.published["count"].astype(int)
    inner = shown[table.is_inner].reshape(2, 3)
    assert (shown == whole(inner)).all()
    assert abs(inner[0, 1] - 3) >= 1.5
    others = range(-2, 3)
    best = min(
        np.abs(whole(np.reshape(d, (2, 3)))).sum()
        for d in itertools.product(others, (-2, 2), others, others, others, others)
    )
    assert np.abs(shown - table.count).sum() == best


def test_deterministic_rounding() -> None:
    """2.4.1.2: the nearest multiple, and the audit's intervals are those of all tables that round so."""
    rng = np.random.default_rng(4)
    for _ in range(3):
        counts = rng.integers(0, 8, (2, 2))
        table = dc.Table.of(counts, ["a", "b"])
        made = dc.protect(table, dc.Round(3))
        shown = made.published["count"]
        assert shown.tolist() == [3 * int(np.floor(x / 3 + 0.5)) for x in table.count]
        fit = []
        for values in itertools.product(range(11), repeat=4):
            trial = np.array(values).reshape(2, 2)
            if (np.abs(whole(trial) - shown) <= 1).all():
                fit.append(trial)
        cells = dc.audit(made).cells
        for i, j in np.ndindex(2, 2):
            row = cells[(cells["a"] == str(i + 1)) & (cells["b"] == str(j + 1))].iloc[0]
            seen = [int(t[i, j]) for t in fit]
            assert (row["lower"], row["upper"]) == (min(seen), max(seen))


def test_random_rounding() -> None:
    """2.4.1.2: residue r goes up with probability r/3; 1,500 cells of each count, multiples stay."""
    for count in (0, 1, 2, 3, 7, 11):
        table = dc.Table.of(np.full(1500, count), [dc.Dimension.flat("a", range(1500))])
        shown = dc.RandomRound(3, seed=5)(table).published["count"][table.is_inner]
        low = count - count % 3
        assert set(shown.tolist()) <= {low, low + 3 if count % 3 else low}
        assert abs((shown > low).mean() - count % 3 / 3) < 0.05


@pytest.mark.parametrize("seed", range(4))
def test_controlled_rounding(seed: int) -> None:
    """2.4.1.2: additive, next to the truth everywhere, and of least total deviation (all candidates tried)."""
    counts = np.random.default_rng(seed).integers(0, 14, (2, 3))
    table = dc.Table.of(counts, ["a", "b"])
    shown = dc.protect(table, dc.ControlledRound(5)).published["count"]
    true = table.count

    assert (shown == whole(shown[table.is_inner].reshape(2, 3))).all()
    assert (np.abs(shown - true) < 5).all()
    assert (shown % 5 == 0).all()
    options = [sorted({5 * (x // 5), 5 * -(-x // 5)}) for x in counts.ravel()]
    trials = [whole(np.reshape(c, (2, 3))) for c in itertools.product(*options)]
    near = [t for t in trials if (np.abs(t - true) < 5).all()]
    assert np.abs(shown - true).sum() == min(np.abs(t - true).sum() for t in near)


def test_barnardisation() -> None:
    """2.4.1.2: a count stays with p, goes up or down with (1-p)/2 each; zeros stay; (1+p)/2 is a misprint."""
    table = dc.Table.of(np.full(1500, 6), [dc.Dimension.flat("a", range(1500))])
    shown = dc.Barnard(0.7, seed=3)(table).published["count"][table.is_inner]
    shares = [(shown == x).mean() for x in (5, 6, 7)]
    assert np.allclose(shares, [0.15, 0.7, 0.15], atol=0.04)
    assert sum(shares) == pytest.approx(1)
    empty = dc.Table.of(np.zeros(50, int) + np.eye(50, dtype=int)[0] * 9, [dc.Dimension.flat("a", range(50))])
    assert (dc.Barnard(0.2, seed=1)(empty).published["count"][empty.is_inner][1:] == 0).all()


def test_risk_utility_map() -> None:
    """2.5: non-dominated methods by comparing every pair; figures are R2 and 1 - HD/√N of our own."""
    table = dc.datasets.psd14_religion()
    methods: dict[str, Any] = {
        "round 3": dc.Round(3),
        "round 5": dc.Round(5),
        "round 10": dc.Round(10),
        "as it is": dc.Publish(),
    }
    found = dc.ru_map(table, methods).cells
    counts = table.array()
    for name, base in (("round 3", 3), ("round 5", 5), ("round 10", 10), ("as it is", 1)):
        after = base * np.floor(counts / base + 0.5).astype(int)
        assert found.loc[name, "risk"] == pytest.approx(own.weighted(own.terms(counts, after)))
        assert found.loc[name, "utility"] == pytest.approx(1 - own.hellinger(counts, after) / np.sqrt(counts.sum()))
    points = {str(name): (row["risk"], row["utility"]) for name, row in found.iterrows()}
    for name, (r, u) in points.items():
        better = [o for o, (a, b) in points.items() if a <= r and b >= u and (a, b) != (r, u)]
        assert found.loc[name, "pareto"] == (not better)
