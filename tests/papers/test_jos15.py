"""JOS15: Shlomo, Antal and Elliot, Measuring Disclosure Risk and Data Utility for Flexible Table Generators (2015)."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet import risk
from tests.papers import own
from tests.papers.jos15 import WEIGHTS, after_terms, split_terms


def test_equation_3_and_its_norm() -> None:
    """4.1: the weighted sum of three terms, and their root mean square."""
    rng = np.random.default_rng(1)
    for _ in range(100):
        f = rng.poisson(rng.gamma(0.5, 6, 12)) + np.eye(12, dtype=int)[0]
        parts = own.terms(f)
        for w in ((0.1, 0.8, 0.1), (0.3, 0.5, 0.2)):
            assert dc.r1(f, w).value == pytest.approx(own.weighted(parts, w))
        assert dc.r1_star(f).value == pytest.approx(own.root_mean_square(parts))


def test_split_measure() -> None:
    """4.1: entropy of small and of large counts apart, weights .1 .7 .1 .1, on 200 random tables."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        f = rng.poisson(rng.gamma(0.4, 12, (4, 5))) + np.eye(4, 5, dtype=int)
        found = dc.jos15_risk(f)
        assert list(found.terms.values()) == pytest.approx(split_terms(f), abs=1e-9)
        assert found.value == pytest.approx(np.dot(split_terms(f), WEIGHTS), abs=1e-9)


def test_three_components() -> None:
    """Figure 1: each term by itself: share of zeros, from even to one cell, and the size of the population."""
    for zeros in range(10):
        counts = [0] * zeros + [100] * (10 - zeros)
        found = dc.r1(counts).terms
        assert found["zeros"] == pytest.approx(zeros / 10)
        assert found["entropy"] == pytest.approx(1 - math.log(10 - zeros) / math.log(10))
    sizes = [dc.r1([n]).terms["size"] for n in (1, 10, 100, 10_000)]
    assert sizes == pytest.approx([(1 + math.log(n) / 2) / math.sqrt(n) for n in (1, 10, 100, 10_000)])
    drawn = [np.asarray(ax.lines[0].get_xydata()) for ax in dc.plot.r1_terms()]
    assert np.allclose(drawn[0][:, 0], drawn[0][:, 1])  # the share of zeros itself


def test_after_rounding() -> None:
    """4.2: 100 random tables under random rounding; the diagonal of the matrix is 1 in three, 0 elsewhere."""
    rng = np.random.default_rng(3)
    for _ in range(100):
        f = rng.poisson(rng.gamma(0.5, 8, 15)) + np.eye(15, dtype=int)[0]
        g = f - f % 3 + 3 * (rng.random(15) * 3 < f % 3)
        p = {}
        for i in set(f.tolist()):
            low, r = i - i % 3, i % 3
            p[i, low] = 1 - r / 3
            if r:
                p[i, low + 3] = r / 3
        found = dc.jos15_after(f, g, dc.Transition.rounding(3))
        expected = after_terms(f, g, p, (1 / 3, 1 / 3))
        assert list(found.terms.values()) == pytest.approx(expected, abs=1e-9)


def test_after_swapping() -> None:
    """4.2: the swap rate on the diagonal, the rest even; .10 zeros with .05 kept become .01."""
    rng = np.random.default_rng(4)
    for _ in range(60):
        f = rng.poisson(3, 12) + np.eye(12, dtype=int)[0]
        g = rng.permutation(f)
        top = int(max(f.max(), g.max()))
        p = {(i, j): 0.9 if i == j else 0.1 / top for i in range(top + 1) for j in range(top + 1)}
        found = dc.jos15_after(f, g, 0.9)
        assert list(found.terms.values()) == pytest.approx(after_terms(f, g, p, (0.9, 0.9)), abs=1e-9)
    f, g = np.array([0] * 10 + [5] * 90), np.array([0] * 5 + [5] * 90 + [0] * 5)
    g = np.array([0] * 10 + [0] * 10 + [5] * 80)  # ten zeros stay, ten appear: the exponent is 2
    assert dc.r2(f, g).terms["zeros"] == pytest.approx(0.1 ** (20 / 10))


def test_utility() -> None:
    """4.3: 1 - HD/√N."""
    rng = np.random.default_rng(5)
    for _ in range(50):
        f, g = rng.poisson(5, 20) + 1, rng.poisson(5, 20)
        assert dc.compare(f, g).utility == pytest.approx(1 - own.hellinger(f, g) / math.sqrt(f.sum()))


def test_risk_utility_figure() -> None:
    """Figure 2: the points of the map are the figures of its table."""
    table = dc.datasets.psd14_religion()
    found = dc.ru_map(table, {"3": dc.Round(3), "5": dc.Round(5)})
    ax = found.plot()
    points = np.concatenate([c.get_offsets() for c in ax.collections])
    wanted = found.cells[["risk", "utility"]].to_numpy(float)
    for x, y in wanted:
        assert np.isclose(points, (x, y)).all(axis=1).any() or np.isclose(points, (y, x)).all(axis=1).any()


# -- methods of section 3 --------------------------------------------------------------------------------------------


def test_targeted_swapping_of_households() -> None:
    """3.1: households move whole, within strata; those in rare cells first; counts of areas and of all else stay."""
    rng = np.random.default_rng(6)
    home = np.repeat(np.arange(600), 2)
    area = rng.integers(0, 8, 600)[home]
    faith = np.where(rng.random(1200) < 0.01, "rare", "usual")
    frame = pd.DataFrame({"id": range(1200), "home": home.astype(str), "area": area.astype(str), "faith": faith})
    frame["sex"] = rng.choice(list("fm"), 1200)
    data = dc.Microdata.of(frame, dimensions=["area", "sex", "faith"], unit="id")
    method = dc.Swap("area", rate=0.1, household="home", risk=["faith"], k=3, seed=2)
    moved = own.records(method(data), "id", "home", "area", "sex").set_index("id").loc[frame["id"]]
    assert moved.groupby("home")["area"].nunique().max() == 1
    assert moved.groupby("area").size().tolist() == frame.groupby("area").size().tolist()
    changed = moved["area"].to_numpy() != frame["area"].to_numpy()
    rare = frame["faith"].to_numpy() == "rare"
    small = frame[rare].groupby("area").size()
    sure = rare & frame["area"].isin(small[small < 3].index).to_numpy()
    assert changed[sure].mean() > 0.9 > 0.5 > changed[~rare].mean()


@pytest.mark.parametrize("control", [(), ("a",), ("b",)])
def test_semi_controlled_rounding(control: tuple[str, ...]) -> None:
    """3.2: multiples next to the truth; totals of the controlled groups differ from the truth by less than a base."""
    counts = np.random.default_rng(7).integers(0, 20, (5, 6))
    table = dc.Table.of(counts, ["a", "b"])
    made = dc.SemiControlledRound(3, control=control, seed=1)(table)
    shown = made.shown_inner().reshape(5, 6).astype(int)
    assert (shown % 3 == 0).all()
    assert (np.abs(shown - counts) < 3).all()
    groups = {(): (shown.sum(), counts.sum()), ("a",): (shown.sum(axis=1), counts.sum(axis=1)),
              ("b",): (shown.sum(axis=0), counts.sum(axis=0))}[control]  # fmt: skip
    assert (np.abs(np.subtract(*groups)) < 3).all()


def test_same_cell_same_rounding() -> None:
    """3.2: by record keys the same people show the same number in every table that counts them."""
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({"id": range(900), "a": rng.choice(list("xyz"), 900), "b": rng.choice(list("uv"), 900),
                          "c": rng.choice(list("pq"), 900)})  # fmt: skip
    data = dc.Microdata.of(frame, dimensions=["a", "b", "c"], unit="id", secret="sixteen letters!")
    for method in (dc.RandomRound(3, secret="another sixteen!"), dc.CellKey(d=4, v=3, secret="another sixteen!")):
        one = method(dc.tabulate(data, by=["a", "b"]))
        other = method(dc.tabulate(data, by=["b", "c", "a"]))
        for code in ("x", "y", "z"):
            first = one.published["count"][one.table.where(a=code, b="u")]
            second = other.published["count"][other.table.where(a=code, b="u", c="Total")]
            assert first.tolist() == second.tolist()


def test_additive_rounding() -> None:
    """3.2: controlled rounding of a three-way table adds up."""
    counts = np.random.default_rng(9).integers(0, 15, (2, 3, 2))
    shown = dc.protect(dc.Table.of(counts, ["a", "b", "c"]), dc.ControlledRound(3)).published["count"].reshape(3, 4, 3)
    for axis in range(3):
        assert (np.take(shown, 0, axis) == np.delete(shown, 0, axis).sum(axis=axis)).all()
    assert (shown % 3 == 0).all()


def test_stochastic_perturbation_keeps_counts_of_counts() -> None:
    """3.3: with exact selection the numbers of cells of each class up to the cap are kept in every controlled area."""
    counts = np.random.default_rng(10).poisson(2, (2, 400))
    table = dc.Table.of(counts, ["area", "b"])
    made = dc.Stochastic(stay=0.5, cap=10, period=5, control=["area"], seed=1)(table)
    shown = made.shown_inner().reshape(2, 400).astype(int)
    assert (shown != counts).mean() > 0.1
    for a in range(2):
        assert np.bincount(shown[a]).tolist() == np.bincount(counts[a]).tolist()
    assert ((counts == 0) == (shown == 0)).all()


def test_invariant_matrix() -> None:
    """3.3: tP = t for the matrix that is used; rows are probabilities; α mixes it with standing still."""
    counts = np.random.default_rng(11).poisson(3, 500)
    table = dc.Table.of(counts, [dc.Dimension.flat("a", range(500))])
    t = np.bincount(counts, minlength=11)[:11]
    full = dc.Stochastic(stay=0.6, cap=10, seed=1).transition(table).matrix
    half = dc.Stochastic(stay=0.6, cap=10, alpha=0.5, seed=1).transition(table).matrix
    assert np.allclose(full.sum(axis=1), 1)
    assert np.allclose((t @ full[:11])[:11], t, atol=1e-6)
    assert np.allclose(half, 0.5 * full + 0.5 * np.eye(len(full), full.shape[1]))


def test_margins_restored() -> None:
    """3.3: fitted to the true margins and rounded to base 1: both margins exact, whole numbers."""
    counts = np.random.default_rng(12).poisson(4, (5, 6))
    table = dc.Table.of(counts, ["a", "b"])
    shown = dc.Stochastic(stay=0.5, restore=[["a"], ["b"]], seed=1)(table).shown_inner().reshape(5, 6)
    assert (shown == np.rint(shown)).all()
    assert shown.sum(axis=1).tolist() == counts.sum(axis=1).tolist()
    assert shown.sum(axis=0).tolist() == counts.sum(axis=0).tolist()


def test_printed_matrix() -> None:
    """Table 3, as far as the print is whole: 0 stays, 3 and more stay with .9, six others share .1; usable as given."""
    matrix = np.zeros((16, 16))
    matrix[0, 0] = 1
    for i in range(1, 16):
        near = [j for j in range(1, 16) if j != i]
        near = [j for _, j in sorted((abs(i - j), j) for j in near)][: 4 if i < 3 else 6]
        matrix[i, i] = 0.5 if i < 3 else 0.9
        matrix[i, near] = (1 - matrix[i, i]) / len(near)
    assert matrix[5, 4] == pytest.approx(0.0167, abs=1e-4)
    assert matrix[2, 1] == pytest.approx(0.1250)
    counts = np.random.default_rng(13).poisson(2, 3000)
    table = dc.Table.of(counts, [dc.Dimension.flat("a", range(3000))])
    made = dc.Stochastic(matrix=matrix, period=5, invariant=False, exact=False, seed=1)(table).shown_inner().astype(int)
    for i in (1, 2, 3, 4):
        was = counts == i
        assert abs((made[was] == i).mean() - matrix[i, i]) < 5 * math.sqrt(0.25 / was.sum())
    assert (made[counts == 0] == 0).all()


def test_diagonal_multiplier() -> None:
    """4.2: the mean of the diagonal over the rows of small and of large counts."""
    matrix = dc.Transition([[1, 0, 0], [0.2, 0.5, 0.3], [0, 0.4, 0.6]])
    f, g = np.array([0, 1, 2, 2]), np.array([0, 1, 2, 2])
    found, plain = dc.jos15_after(f, g, matrix), dc.jos15_after(f, g, matrix, multiplier=1.0)
    assert found.terms["small"] == pytest.approx(plain.terms["small"] * (1 + 0.5 + 0.6) / 3)
    assert risk.JOS15_WEIGHTS == WEIGHTS
