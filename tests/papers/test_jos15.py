"""JOS15: Shlomo, Antal and Elliot, Measuring Disclosure Risk and Data Utility for Flexible Table Generators (2015)."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet import risk
from tests.papers import own

WEIGHTS = (0.1, 0.7, 0.1, 0.1)


def concentration(values: list[float]) -> float:
    """1 - H/log K of some cells; 0 where they hold nobody or are one cell."""
    return 1 - own.entropy(values) / math.log(len(values)) if len(values) > 1 and sum(values) > 0 else 0.0


def split_terms(counts: np.ndarray) -> list[float]:
    """Section 4.1: zeros, entropy of cells up to six, entropy of larger ones, size."""
    x = counts.ravel().tolist()
    n = sum(x)
    small, large = [v for v in x if v <= 6], [v for v in x if v > 6]
    return [x.count(0) / len(x), concentration(small), concentration(large), (1 + math.log(n) / 2) / math.sqrt(n)]


PRINTED = (92.4, 1.6, 0.9, 1.2, 0.7, 0.3, 3.0)  # Table 1: % of cells of 0, 1, 2, 3-5, 6-8, 9-10, and more people
OUTPUT = {  # 5.1, Table 2: a population, and three variables
    "T1": (("region", "R1"), ("age", "education", "occupation"), 2457),
    "T2": (("region", "R2"), ("sex", "age", "citizenship"), 210),
    "T3": (("sex", "M"), ("activity", "occupation", "education"), 585),
    "T4": (("age", "45-49"), ("region", "occupation", "education"), 234),
}

DETAILS = {  # Table 2: people, average cell, % of cells that are empty
    "T1": (854_539, 347.8, 62.4), "T2": (645_461, 3073.6, 23.3), "T3": (736_355, 1258.7, 47.0),
    "T4": (96_656, 413.1, 35.9),
}  # fmt: skip


def counted(people: dc.Microdata) -> tuple[list[str], dict[str, list[str]], np.ndarray]:
    """The hypercube by hand: names, codes, and how many records have each combination."""
    names = [d.name for d in people.dimensions]
    frame = people.engine.arrow(names).to_pandas()
    codes = {d.name: list(d.leaves) for d in people.dimensions}
    at = [pd.Categorical(frame[name].astype(str), codes[name]).codes for name in names]
    shape = [len(codes[name]) for name in names]
    flat = np.zeros(math.prod(shape), np.int64)
    np.add.at(flat, np.ravel_multi_index(at, shape), 1)
    return names, codes, flat.reshape(shape)


def cut(names: list[str], codes: dict[str, list[str]], cube: np.ndarray, name: str) -> np.ndarray:
    """One of the four output tables, summed out of the hypercube."""
    (filtered, code), kept, _ = OUTPUT[name]
    axis = names.index(filtered)
    part = np.take(cube, codes[filtered].index(code), axis=axis)
    left = [n for n in names if n != filtered]
    summed = part.sum(axis=tuple(k for k, n in enumerate(left) if n not in kept))
    rest = [n for n in left if n in kept]
    return np.transpose(summed, [rest.index(n) for n in kept])


@cache
def whole() -> tuple[dc.Microdata, tuple[list[str], dict[str, list[str]], np.ndarray]]:
    """As many people as in the paper, and their hypercube by hand."""
    people = dc.datasets.census(1_500_000)
    return people, counted(people)


def test_hypercube() -> None:
    """2.1 and Table 1: 245,700 cells of seven variables and 1.5 million people, distributed as printed."""
    people, (names, codes, cube) = whole()
    assert [codes[d.name] for d in dc.datasets.census_dimensions()] == [codes[n] for n in names]
    assert sorted(cube.shape) == [2, 2, 5, 5, 9, 13, 21]
    assert cube.size == 245_700
    assert cube.sum() == 1_500_000
    edges = [0, 1, 2, 3, 6, 9, 11, np.inf]
    shares = 100 * np.histogram(cube, edges)[0] / cube.size
    assert shares == pytest.approx(PRINTED, abs=0.3)
    everything = {d.name: list(d.leaves) for d in people.dimensions}
    found = dc.tabulate(people, by=names, margins=[everything]).array()
    assert (found == cube).all()


@pytest.mark.parametrize("name", OUTPUT)
def test_output_tables(name: str) -> None:
    """5.1, Table 2: each is a sum of the hypercube, with the printed number of cells, cell by cell."""
    people = dc.datasets.census(60_000)
    (filtered, code), kept, size = OUTPUT[name]
    wanted = cut(*counted(people), name)
    found = dc.tabulate(people, by=list(kept), where={filtered: code})
    assert wanted.size == found.is_inner.sum() == size
    assert (found.array() == wanted).all()
    assert wanted.sum() == (people.engine.arrow([filtered]).to_pandas()[filtered].astype(str) == code).sum() > 0
    total, mean, zeros = DETAILS[name]
    large = cut(*whole()[1], name)
    assert large.sum() == pytest.approx(total, rel=0.003)
    assert large.mean() == pytest.approx(mean, rel=0.003)
    assert 100 * (large == 0).mean() == pytest.approx(zeros, abs=6)


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
    drawn = [ax.lines[0].get_xydata() for ax in dc.plot.r1_terms()]
    assert np.allclose(drawn[0][:, 0], drawn[0][:, 1])  # the share of zeros itself


def after_terms(
    f: np.ndarray, g: np.ndarray, p: dict[tuple[int, int], float], stay: tuple[float, float]
) -> list[float]:
    """4.2 by hand: cells that show j get the expected original total of such cells, spread evenly."""
    x, y = f.ravel().tolist(), g.ravel().tolist()
    expected = {j: sum(i * p.get((i, j), 0.0) for i in x) / y.count(j) for j in set(y)}
    both = sum(a == 0 and b == 0 for a, b in zip(x, y, strict=True))
    either = sum(a == 0 or b == 0 for a, b in zip(x, y, strict=True))
    small, large = [expected[j] for j in y if j <= 6], [expected[j] for j in y if j > 6]
    zeros = (x.count(0) / len(x)) ** (either / both) if both else 0.0
    return [zeros, stay[0] * concentration(small), stay[1] * concentration(large), split_terms(f)[3]]


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
    moved = method(data).engine.arrow(["id", "home", "area", "sex"]).to_pandas().set_index("id").loc[frame["id"]]
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
        near = sorted(near, key=lambda j, i=i: abs(i - j))[: 4 if i < 3 else 6]
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


def utility_of(counts: np.ndarray, shown: np.ndarray) -> float:
    return 1 - own.hellinger(counts, shown) / math.sqrt(counts.sum())


@pytest.mark.parametrize("name", OUTPUT)
def test_comparison_study(name: str) -> None:
    """Table 5, all four tables: records swapped and the table rounded; risk and utility by hand, and their order."""
    people = dc.datasets.census(60_000)
    (filtered, code), kept, _ = OUTPUT[name]
    names, codes, cube = counted(people)
    counts = cut(names, codes, cube, name)
    before = float(np.dot(split_terms(counts), WEIGHTS))
    assert dc.jos15_risk(counts).value == pytest.approx(before)
    rounded = dc.SemiControlledRound(3, seed=1)(dc.Table.of(counts, list(kept))).shown_inner()
    rounded = rounded.reshape(counts.shape).astype(int)
    assert (rounded % 3 == 0).all()
    assert (np.abs(rounded - counts) < 3).all()
    p = {}
    for i in set(counts.ravel().tolist()):
        p[i, i - i % 3] = 1 - i % 3 / 3
        p.update({(i, i - i % 3 + 3): i % 3 / 3} if i % 3 else {})
    parts = after_terms(counts, rounded, p, (1 / 3, 1 / 3))
    after = dc.jos15_after(counts, rounded, dc.Transition.rounding(3)).value
    assert after == pytest.approx(np.dot(parts, WEIGHTS))
    changed = dc.Swap("region", rate=0.05, seed=1)(people)
    swapped = cut(*counted(changed), name)
    assert (dc.tabulate(changed, by=list(kept), where={filtered: code}).array() == swapped).all()
    top = int(max(counts.max(), swapped.max()))
    q = {(i, j): 0.9 if i == j else 0.1 / top for i in set(counts.ravel()) for j in set(swapped.ravel())}
    moved = dc.jos15_after(counts, swapped, 0.9).value
    assert moved == pytest.approx(np.dot(after_terms(counts, swapped, q, (0.9, 0.9)), WEIGHTS))
    assert after < moved < before
    for shown in (rounded, swapped):
        assert dc.compare(counts, shown).utility == pytest.approx(utility_of(counts, shown))
        assert dc.compare(counts, shown).utility > 0.85
    assert (utility_of(counts, swapped) == 1) is (name == "T3"), "swapping regions changes no table without them"


def test_diagonal_multiplier() -> None:
    """4.2: the mean of the diagonal over the rows of small and of large counts."""
    matrix = dc.Transition([[1, 0, 0], [0.2, 0.5, 0.3], [0, 0.4, 0.6]])
    f, g = np.array([0, 1, 2, 2]), np.array([0, 1, 2, 2])
    found, plain = dc.jos15_after(f, g, matrix), dc.jos15_after(f, g, matrix, multiplier=1.0)
    assert found.terms["small"] == pytest.approx(plain.terms["small"] * (1 + 0.5 + 0.6) / 3)
    assert risk.JOS15_WEIGHTS == WEIGHTS
