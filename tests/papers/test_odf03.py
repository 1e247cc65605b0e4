"""ODF03: Oganian and Domingo-Ferrer, A posteriori disclosure risk measure for tabular data (2003)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet import risk
from discreet.audits import freedom, released_rank, spare
from discreet.data.codebook import Magnitude
from discreet.methods.redesign import cheapest_merge
from discreet.risk.intruder import insider_interval, outsider_interval
from tests.papers import own

ACTIVITIES, SIZES = ("2,3", "4", "5", "6", "7"), ("4", "5", "6", "7", "8")


def interval(cost: np.ndarray, equal: np.ndarray, right: np.ndarray, least: int = 0) -> tuple[int, int]:
    """The whole numbers between the least and greatest value of a linear form under equations."""
    low = own.least(cost, A_eq=equal, b_eq=right, bounds=(least, None))
    high = own.least(-cost, A_eq=equal, b_eq=right, bounds=(least, None))
    return math.ceil(low - 1e-6), math.floor(-high + 1e-6)


def test_methods_of_section_1() -> None:
    """Suppression, rounding, redesign, sampling, swapping, simulation: each gives a table of the same people."""
    frame = pd.DataFrame({"a": list("xxxyyyyz") * 20, "b": list("uvuvuvuv") * 20, "id": range(160)})
    data = dc.Microdata.of(frame, dimensions=["a", "b"], unit="id")
    table = dc.tabulate(data, by=["a", "b"])
    for method in (dc.Suppress(dc.Threshold(25)), dc.Round(5), dc.ControlledRound(5), dc.RandomRound(3, seed=1),
                   dc.Redesign({"a": {"y,z": ["y", "z"]}}), dc.SameMargins(seed=1)):  # fmt: skip
        made = dc.protect(table, method)
        assert isinstance(made.release(), dc.Release)
        cells = dc.audit(made).cells
        assert ((cells["lower"] <= cells["true"]) & (cells["true"] <= cells["upper"])).all()
    swapped = dc.tabulate(dc.Swap("a", rate=0.2, seed=1)(data), by=["a", "b"])
    assert (swapped.count != table.count).any()
    assert swapped.count[0] == 160
    assert dc.tabulate(dc.Sample(0.5, seed=1)(data), by=["a", "b"]).count[0] == 80


def test_disclosure_risk_of_a_cell() -> None:
    """Equations (2) and (3): 1/H for any distribution, 1/log2 m for m values alike; one value is infinite risk."""
    for m in (1, 2, 3, 407):
        assert risk.cell_risk(m) == (pytest.approx(1 / math.log2(m)) if m > 1 else math.inf)
    p = [0.5, 0.2, 0.2, 0.1]
    assert risk.distribution_bits(p) == pytest.approx(-sum(x * math.log2(x) for x in p))


def test_decimals() -> None:
    """Note 1: with one decimal there are ten times as many values, and one more."""
    for low, high in ((0, 4), (1.5, 3.0), (2, 2)):
        for decimals in (0, 1, 2):
            grid = [k / 10**decimals for k in range(-10 * 10**decimals, 10 * 10**decimals + 1)]
            expected = sum(low - 1e-9 <= x <= high + 1e-9 for x in grid)
            assert risk.possible_values(low, high, decimals=decimals) == max(expected, 1)
    data = pd.DataFrame({"a": list("xxyy"), "b": list("uvuv"), "v": [1.5, 2.5, 0.5, 3.5]})
    values = [Magnitude("v", decimals=1)]
    table = dc.tabulate(dc.Microdata.of(data, dimensions=["a", "b"], magnitudes=values), by=["a", "b"], value="v")
    cells = dc.audit(dc.protect(table, dc.Hide(np.flatnonzero(table.is_inner)))).cells
    assert cells["values"].tolist() == [
        round(10 * (u - low)) + 1 for low, u in zip(cells["lower"], cells["upper"], strict=True)
    ]


def test_table_1() -> None:
    """x1 + x2 = 1537, x1 + x3 = 406, x2 + x4 = 2382, x3 + x4 = 1251: intervals by counting, DR .115."""
    fit = [(x, 1537 - x, 406 - x, 845 + x) for x in range(1538)]
    fit = [t for t in fit if min(t) >= 0]
    cells = dc.audit(dc.datasets.willenborg_suppressed()).cells.set_index(["activity", "size"])
    for k, at in enumerate((("5", "5"), ("5", "7"), ("6", "5"), ("6", "7"))):
        values = sorted({t[k] for t in fit})
        row: Any = cells.loc[at]
        assert (row["lower"], row["upper"], row["values"]) == (values[0], values[-1], len(values))
        assert round(row["DR"], 3) == 0.115 == round(1 / math.log2(len(values)), 3)


@pytest.mark.parametrize("seed", range(12))
def test_audit_of_suppressed_tables(seed: int) -> None:
    """4.1: every table that fits is listed; the interval of each hidden cell is that of the list."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 5, (3, 3))
    table = dc.Table.of(counts, ["a", "b"])
    inner = rng.random((3, 3)) < 0.7
    cells = dc.audit(dc.protect(table, dc.Hide(np.flatnonzero(table.is_inner)[inner.ravel()]))).cells
    fit = [np.array(t) for t in own.with_margins(counts.sum(axis=1).tolist(), counts.sum(axis=0).tolist())]
    fit = [t for t in fit if (t == counts)[~inner].all()]
    assert len(cells) == inner.sum()
    for _, row in cells.iterrows():
        values = {int(t[int(row["a"]) - 1, int(row["b"]) - 1]) for t in fit}
        assert (row["lower"], row["upper"]) == (min(values), max(values))


@pytest.mark.parametrize("margins", [True, False])
@pytest.mark.parametrize("seed", range(2))
def test_rounding_intervals(seed: int, margins: bool) -> None:
    """4.2: without margins [(n - 1/2) b, (n + 1/2) b); with them what all tables that round so allow."""
    counts = np.random.default_rng(seed).integers(0, 8, (2, 2))
    table = dc.Table.of(counts, ["a", "b"], margins=None if margins else [("a", "b")])
    made = dc.protect(table, dc.Round(5))
    shown = {k: int(v) for k, v in zip(map(tuple, table.layout.codes.tolist()), made.published["count"], strict=True)}
    cells = dc.audit(made).cells
    fit = []
    for t in itertools.product(range(12), repeat=4):
        trial = np.array(t).reshape(2, 2)
        whole = np.block([[trial.sum(), trial.sum(axis=0)], [trial.sum(axis=1)[:, None], trial]])
        if all(abs(int(whole[k]) - v) <= 2 for k, v in shown.items()):
            fit.append(trial)
    inner = cells[(cells["a"].astype(str) != "Total") & (cells["b"].astype(str) != "Total")]
    assert len(inner) == 4
    for _, row in inner.iterrows():
        values = [int(t[int(row["a"]) - 1, int(row["b"]) - 1]) for t in fit]
        assert (row["lower"], row["upper"]) == (min(values), max(values))


def test_redesign() -> None:
    """4.3, Table 2: the twelve unknowns by linear programs; 1148 is a misprint of 1448."""
    table = dc.datasets.willenborg()
    counts = table.array()
    assert counts.sum(axis=0)[0] == 1448
    made = dc.protect(table, dc.Redesign({"activity": {"5,6": ["5", "6"]}}))
    together = counts[2] + counts[3]
    assert together.tolist() == [649, 406, 1275, 2382, 3467]
    cells = dc.audit(made).cells
    equal = np.array([[1.0 if c in (j, j + 5) else 0.0 for c in range(10)] for j in range(5)])
    for row, activity in enumerate(("5", "6")):
        for j, size in enumerate(SIZES):
            found = cells[(cells["activity"] == activity) & (cells["size"] == size)].iloc[0]
            assert (found["lower"], found["upper"]) == interval(np.eye(10)[5 * row + j], equal, together)
    rows = np.array([[3, 9], [1, 9], [8, 8]])  # of the two merges of neighbours only the first leaves no count below 4
    assert [bool((np.add.reduceat(rows, at) >= 4).all()) for at in ([0, 2], [0, 1])] == [True, False]
    cheapest = cheapest_merge(dc.Table.of(rows, ["a", "b"]), lambda t: t.count < 4, dimensions=["a"])
    assert cheapest is not None
    assert cheapest.merge == {"a": {"1+2": ["1", "2"]}}


@pytest.mark.parametrize("released", [1, 2, 3])
def test_linked_tables(released: int) -> None:
    """Equations (6) to (8): AS, then AR, then SR released; each cell of ASR by two linear programs."""
    x = np.random.default_rng(4).integers(0, 6, (2, 3, 2))
    names = ["A", "S", "R"]
    margins = [("A", "S"), ("A", "R"), ("S", "R")][:released]
    cells = dc.audit(dc.Publish()(dc.Table.of(x, names, margins=margins)), targets="inner").cells
    grid = np.arange(12).reshape(2, 3, 2)
    drop = {("A", "S"): 2, ("A", "R"): 1, ("S", "R"): 0}
    lines = [line for m in margins for line in np.moveaxis(grid, drop[m], 2).reshape(-1, x.shape[drop[m]])]
    equal = np.array([np.isin(np.arange(12), line) for line in lines], float)
    right = equal @ x.ravel()
    for _, row in cells.iterrows():
        at = grid[tuple(int(row[n]) - 1 for n in names)]
        assert (row["lower"], row["upper"]) == interval(np.eye(12)[at], equal, right)
        m = row["upper"] - row["lower"] + 1
        assert row["DR"] == (pytest.approx(1 / math.log2(m)) if m > 1 else math.inf)


def without_totals(shape: tuple[int, int, int], margins: Sequence[tuple[str, str]]) -> dc.Table:
    """The linked tables without their own totals."""
    table = dc.Table.of(np.ones(shape, int), ["A", "S", "R"])
    leaves = {d.name: list(d.leaves) for d in table.dimensions}
    return table.with_margins([{n: leaves[n] for n in m} for m in margins])


def system(shape: tuple[int, int, int], margins: Sequence[tuple[str, str]]) -> np.ndarray:
    """The released sums as rows over the cells of ASR."""
    grid = np.arange(math.prod(shape)).reshape(shape)
    drop = {("A", "S"): 2, ("A", "R"): 1, ("S", "R"): 0}
    rows = [line for m in margins for line in np.moveaxis(grid, drop[m], 2).reshape(-1, shape[drop[m]])]
    return np.array([np.isin(np.arange(grid.size), line) for line in rows], float)


@pytest.mark.parametrize("shape", [(3, 4, 3), (2, 3, 4), (2, 2, 2)])
def test_ranks(shape: tuple[int, int, int]) -> None:
    """4.5.1 to 4.5.3: nm, n (t + m - 1), and n + m + t - 1 spare cells with three tables; NumPy's ranks."""
    n, m, t = shape
    every = [("A", "S"), ("A", "R"), ("S", "R")]
    expected = [n * m, n * (t + m - 1), n * m + n * t + m * t - (n + m + t - 1)]
    for k in (1, 2, 3):
        linked = without_totals(shape, every[:k])
        assert released_rank(linked) == np.linalg.matrix_rank(system(shape, every[:k])) == expected[k - 1]
    assert spare(without_totals(shape, every)).sum() == n + m + t - 1


def test_the_pattern_of_twelve_cells() -> None:
    """4.5.3: the twelve suppressions of the text lower the rank by 4, aligned ones by 7 (no totals released)."""
    every = [("A", "S"), ("A", "R"), ("S", "R")]
    linked = without_totals((3, 4, 3), every)
    matrix = system((3, 4, 3), every)
    place = {("A", "S"): (0, 4), ("A", "R"): (12, 3), ("S", "R"): (21, 3)}
    text = {("A", "S"): [(1, 1), (1, 3), (3, 1), (3, 3)], ("A", "R"): [(1, 1), (1, 3), (2, 1), (2, 3)],
            ("S", "R"): [(1, 1), (1, 2), (4, 1), (4, 2)]}  # fmt: skip
    aligned = {("A", "S"): [(1, 1), (1, 3), (3, 1), (3, 3)], ("A", "R"): [(1, 1), (1, 3), (3, 1), (3, 3)],
               ("S", "R"): [(1, 1), (1, 3), (3, 1), (3, 3)]}  # fmt: skip
    for pattern, loss in ((text, 4), (aligned, 7)):
        rows = [place[m][0] + (i - 1) * place[m][1] + j - 1 for m, cells in pattern.items() for i, j in cells]
        left = np.delete(matrix, rows, axis=0)
        assert np.linalg.matrix_rank(matrix) - np.linalg.matrix_rank(left) == loss
        mask = np.zeros(len(linked), bool)
        for (a, b), cells in pattern.items():
            other = next(n for n in ("A", "S", "R") if n not in (a, b))
            for i, j in cells:
                mask |= linked.where(**{a: str(i), b: str(j), other: "Total"})
        assert mask.sum() == 12
        assert freedom(linked, mask) == loss


def test_insider_and_outsider() -> None:
    """Equation (22): 995 to 1004 with 400 of one's own leaves 401 to 604; an outsider knows 1 to 1004. By counting."""
    largest = {b for total in range(995, 1005) for b in range(401, total - 400 + 1)}  # the rest may be of others
    assert insider_interval(995, 1004, 400) == (min(largest), max(largest)) == (401, 604)
    assert outsider_interval(1004) == (1, 1004)
    two = {total - 400 for total in range(995, 1005)}
    assert insider_interval(995, 1004, 400, contributors=2) == (min(two), max(two))


def test_insiders_attack_a_pattern() -> None:
    """4.5.4: the one person of a hidden cell puts 1 into the sums and solves them: all tables listed."""
    counts = np.array([[5, 1, 3], [6, 4, 6], [7, 8, 9]])
    table = dc.Table.of(counts, ["a", "b"])
    made = dc.protect(table, dc.Hide(table.where(a=["1", "2"], b=["1", "2"])))
    fit = [np.array(t) for t in own.with_margins(counts.sum(axis=1).tolist(), counts.sum(axis=0).tolist())
           if t[2] == (7, 8, 9) and t[0][2] == 3]  # fmt: skip
    assert all(len({t[i, j] for t in fit}) > 1 for i, j in np.ndindex(2, 2))
    alone = [t for t in fit if t[0, 1] == 1]
    known = [at for at in np.ndindex(2, 2) if len({t[at] for t in alone}) == 1]
    assert len(known) == 4  # the own cell and three others
    assert dc.insiders(made)["learned"].tolist() == [3]
    assert len(dc.unions(made, dc.Threshold(8))) == 2
