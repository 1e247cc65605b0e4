"""Ant16 section 2.3.2: measures of cells and of tables in the literature, counted out."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet import risk
from tests.papers import own


def test_threshold() -> None:
    """2.3.2.1.1: a count below n is sensitive; a zero only if asked."""
    counts = np.arange(12).reshape(3, 4)
    table = dc.Table.of(counts, ["a", "b"])
    for n in (1, 3, 5):
        assert dc.Threshold(n)(table)[table.is_inner].tolist() == [0 < x < n for x in range(12)]
        assert dc.Threshold(n, zeros=True)(table)[table.is_inner].tolist() == [x < n for x in range(12)]


def contributions(cells: int, seed: int) -> list[list[int]]:
    """The contributions to each of some cells, the largest first."""
    rng = np.random.default_rng(seed)
    return [sorted(rng.integers(1, 60, rng.integers(1, 9)).tolist(), reverse=True) for _ in range(cells)]


def table_of(held: list[list[int]]) -> dc.Table:
    rows = [(f"c{k:03}", f"u{k}-{i}", x) for k, cell in enumerate(held) for i, x in enumerate(cell)]
    frame = pd.DataFrame(rows, columns=["cell", "unit", "value"])
    cell = dc.Dimension.flat("cell", sorted(set(frame["cell"])), total=None)
    data = dc.Microdata.of(frame, dimensions=[cell], magnitudes=["value"], unit="unit")
    return dc.tabulate(data, by=["cell"], value="value", top=8)


def test_dominance_pq_and_p_percent() -> None:
    """2.3.2.1.2 and ODF03 section 2: 600 random cells by the formulas."""
    held = contributions(600, 1)
    table = table_of(held)
    at = np.flatnonzero(table.is_inner)

    def judged(rule: Any) -> list[bool]:
        return [bool(flag) for flag in rule(table)[at]]

    for n, k in ((1, 50), (2, 80), (3, 92.5)):
        assert judged(dc.Dominance(n, k)) == [sum(c[:n]) > k / 100 * sum(c) for c in held]
    for p in (10, 35):
        left = [sum(c) - sum(c[:2]) for c in held]
        assert judged(dc.PPercent(p)) == [r < p / 100 * c[0] for r, c in zip(left, held, strict=True)]
        assert judged(dc.PQ(p, q=70)) == [r < p / 70 * c[0] for r, c in zip(left, held, strict=True)]
    few = [sum(c) - sum(c[:3]) for c in held]
    assert judged(dc.PPercent(20, coalition=2)) == [r < 0.2 * c[0] for r, c in zip(few, held, strict=True)]


def test_entropy_rule() -> None:
    """ODF03 equation (1): normalised entropy of the contributions below t; one contributor is always sensitive."""
    held = contributions(600, 2)
    table = table_of(held)
    at = np.flatnonzero(table.is_inner)
    for t in (0.5, 0.8, 0.95):
        expected = []
        for cell in held:
            p = np.array(cell) / sum(cell)
            h = -(p * np.log2(p)).sum()
            expected.append(len(cell) == 1 or bool(h / math.log2(len(cell)) < t))
        assert dc.EntropyRule(t)(table)[at].tolist() == expected


def test_share_of_cells_above_a_limit() -> None:
    """2.3.2.2: a measure of cells becomes one of the table as the share of cells beyond a limit."""
    counts = np.random.default_rng(3).poisson(2, (20, 30))
    assert risk.small_cell_share(counts) == np.mean([x in (1, 2) for x in counts.ravel()])
    assert risk.small_cell_share(counts, largest=4) == np.mean([0 < x < 5 for x in counts.ravel()])
    assert risk.mean_cell_size(counts) == pytest.approx(counts.sum() / 600)
    cells = dc.audit(dc.datasets.willenborg_suppressed()).cells
    assert (cells["DR"] > 0.2).mean() == np.mean([1 / math.log2(m) > 0.2 for m in cells["values"]])


def test_frank_1976() -> None:
    """The three patterns of a row, every row of five units or fewer in three cells."""
    rows = [r for r in itertools.product(range(5), repeat=3) if 0 < sum(r) < 6]
    found = risk.frank_patterns(np.array(rows))
    for k, row in enumerate(rows):
        filled = sorted(x for x in row if x)
        assert found.alone[k] == (sum(row) == 1)
        assert found.pair[k] == (filled == [1, 1])
        assert found.singleton[k] == (len(filled) == 2 and filled[0] == 1)


@pytest.mark.parametrize("counts", [[1, 2], [0, 1, 3], [2, 2, 1], [3], [1, 1, 1, 1]])
def test_frank_1978(counts: list[int]) -> None:
    """H(D_A) - H(D_B) and its bound: all sets of known units, one by one."""
    home = [c for c, n in enumerate(counts) for _ in range(n)]
    n = len(home)
    sets = [frozenset(s) for r in range(n + 1) for s in itertools.combinations(range(n), r)]

    def told(known: frozenset[int]) -> frozenset[int]:
        """Everybody, where all others are in one cell."""
        return frozenset(range(n)) if len({home[u] for u in range(n) if u not in known}) <= 1 else known

    def gain(p: dict[frozenset[int], float]) -> float:
        after: dict[frozenset[int], float] = {}
        for known, q in p.items():
            after[told(known)] = after.get(told(known), 0.0) + q
        return float(-own.plogp(list(p.values())).sum() + own.plogp(list(after.values())).sum())

    bound = math.log(1 + sum(2**x - 1 for x in counts))
    for share in (0.2, 0.5, 0.9):
        p = {s: share ** len(s) * (1 - share) ** (n - len(s)) for s in sets}
        found = risk.frank_entropy(counts, share=share)
        assert found.value == pytest.approx(gain(p), abs=1e-9)
        assert found.bound == pytest.approx(bound)
        assert found.value <= bound
    for known in range(n + 1):
        alike = [s for s in sets if len(s) == known]
        found = risk.frank_entropy(counts, known=known)
        assert found.value == pytest.approx(gain(dict.fromkeys(alike, 1 / len(alike))), abs=1e-9)


@pytest.mark.parametrize("counts", [[2, 3], [1, 2, 2], [0, 4], [3, 3, 1]])
def test_subtraction_attribution(counts: list[int]) -> None:
    """SAP: the share of sets of n units that leave an empty cell, all of them counted; the curve rises with n."""
    home = [c for c, n in enumerate(counts) for _ in range(n)]
    curve = []
    for known in range(len(home)):
        sets = list(itertools.combinations(range(len(home)), known))
        hits = [any(counts[c] == sum(home[u] == c for u in s) for c in range(len(counts))) for s in sets]
        curve.append(np.mean(hits))
        assert risk.subtraction_attribution(counts, known) == pytest.approx(np.mean(hits))
    assert risk.subtraction_attribution_curve(counts, len(home) - 1).tolist() == pytest.approx(curve)


# -- bounds of cells given margins -----------------------------------------------------------------------------------


def bounds(counts: np.ndarray, margins: list[tuple[str, ...]]) -> dict[tuple[str, ...], tuple[float, float]]:
    """What an audit says of inner cells when only some margins are published."""
    names = [f"v{k}" for k in range(counts.ndim)]
    table = dc.Table.of(counts, names, margins=margins)
    cells = dc.audit(dc.Publish()(table), targets="inner").cells
    return {tuple(str(row[n]) for n in names): (row["lower"], row["upper"]) for _, row in cells.iterrows()}


def test_frechet_bounds() -> None:
    """2 x 2 tables: max(0, r + c - n) and min(r, c)."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        x = rng.poisson(4, (2, 2))
        found = bounds(x, [("v0",), ("v1",)])
        for i, j in np.ndindex(2, 2):
            r, c, n = x[i].sum(), x[:, j].sum(), x.sum()
            assert found[str(i + 1), str(j + 1)] == (max(0, r + c - n), min(r, c))


def test_decomposable_bounds() -> None:
    """Dobra and Fienberg: margins AB and BC of a 2 x 3 x 2 table, by the closed form."""
    rng = np.random.default_rng(5)
    for _ in range(5):
        x = rng.poisson(3, (2, 3, 2))
        found = bounds(x, [("v0", "v1"), ("v1", "v2")])
        ab, bc, b = x.sum(axis=2), x.sum(axis=0), x.sum(axis=(0, 2))
        for i, j, k in np.ndindex(2, 3, 2):
            assert found[str(i + 1), str(j + 1), str(k + 1)] == (
                max(0, ab[i, j] + bc[j, k] - b[j]),
                min(ab[i, j], bc[j, k]),
            )


def test_shuttle_bounds() -> None:
    """3 x 3 x 3 with its three two-way margins, where the shuttle algorithm is used: 27 cells by linear programs."""
    x = np.random.default_rng(6).poisson(2, (3, 3, 3))
    found = bounds(x, [("v0", "v1"), ("v0", "v2"), ("v1", "v2")])
    grid = np.arange(27).reshape(3, 3, 3)
    rows = [np.isin(np.arange(27), line) for a in range(3) for line in np.moveaxis(grid, a, 2).reshape(9, 3)]
    equal, right = np.array(rows, float), [x.ravel()[r].sum() for r in rows]
    for at in np.ndindex(3, 3, 3):
        cost = (grid == grid[at]).ravel().astype(float)
        low = own.least(cost, A_eq=equal, b_eq=right)
        high = -own.least(-cost, A_eq=equal, b_eq=right)
        lower, upper = found[tuple(str(i + 1) for i in at)]
        assert lower == pytest.approx(math.ceil(low - 1e-6))
        assert upper == pytest.approx(math.floor(high + 1e-6))
        assert lower <= x[at] <= upper
