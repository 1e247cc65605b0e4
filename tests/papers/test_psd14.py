"""PSD14: Antal, Shlomo and Elliot, Measuring Disclosure Risk with Entropy (2014)."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet import information, risk
from tests.papers import own
from tests.papers.printed import PSD14, RELIGION, SEX, TRAVEL, Printed

BASE_3 = dc.Transition.rounding(3)


@pytest.mark.parametrize(
    ("printed", "column", "value"),
    [(TRAVEL, 4, 0.2868), (TRAVEL, 7, 0.4924), (RELIGION, 2, 0.2235), (RELIGION, 4, 0.3282), (RELIGION, 7, 0.0986)],
)
def test_r2_of_columns_of_small_counts(printed: Printed, column: int, value: float) -> None:
    """Tables 3 and 5: five columns of small counts; an all-zero G has no second term; the print is of 1,000 draws."""
    counts = printed.counts[:, column - 1]
    every = list(own.roundings(counts.tolist()))
    assert any(not any(g) for g, _ in every) == (max(counts) < 3)
    each = np.array([own.weighted(own.terms(counts, g, form="psd14")) for g, _ in every])
    p = np.array([q for _, q in every])
    mean = dc.expected_r2(counts, BASE_3, form="psd14")
    assert mean.exact
    assert mean.value == pytest.approx(p @ each, abs=1e-12)
    spread = math.sqrt(p @ (each - p @ each) ** 2)
    assert abs(mean.value - value) < 2 * spread / math.sqrt(1000) + 5e-5


def test_an_all_zero_rounding_has_no_second_term() -> None:
    """One table, a batch, and the form of the thesis, where such a table hides everything as well."""
    f, g = [0, 1, 1], [0, 0, 0]
    assert dc.r2(f, g, form="psd14").terms["entropy"] == 0
    assert dc.r2([f, f], [g, [0, 3, 0]], form="psd14", axis=1).terms["entropy"].tolist() == pytest.approx(
        [0, own.terms(f, [0, 3, 0], form="psd14")[1]]
    )
    assert dc.r2(f, g).terms["entropy"] == 0
    assert information.conditional_entropy_perturbed(f, g) == pytest.approx(own.entropy(f))
    assert risk.r2_star(f, g, form="psd14").terms["entropy"] == 0


def lines(counts: np.ndarray) -> list[list[np.ndarray]]:
    """Rows, columns, and the table as a whole."""
    return [list(counts), list(counts.T), [counts]]


def test_worked_example() -> None:
    """Section 2: F = (0, 2, 4), G = (0, 3, 3): entropy .6365, terms .3333 .4206 .7740, HD .2940."""
    parts = own.terms([0, 2, 4])
    assert [round(x, 4) for x in [own.entropy([0, 2, 4]), *parts]] == [0.6365, 0.3333, 0.4206, 0.7740]
    assert list(dc.r1([0, 2, 4]).terms.values()) == pytest.approx(parts)
    assert round(information.entropy([0, 2, 4]), 4) == 0.6365
    assert round(information.hellinger([0, 2, 4], [0, 3, 3], counts=True), 4) == 0.2940
    assert np.allclose(risk.channel([0, 2, 4], [0, 3, 3]), own.nearest_channel([0, 2, 4], [0, 3, 3]))


def test_properties() -> None:
    """Section 1, 1A to 4: one cell high, even low, larger counts lower, more zeros higher, perturbed lower."""
    for n, k in itertools.product((1, 5, 80), (2, 7, 30)):
        one = dc.r1([n] + [0] * (k - 1)).value
        assert one >= 0.8
        assert dc.r1([n] * k).value <= 0.1 + 1e-12
        assert dc.r1([n] + [0] * k).value > one
        assert dc.r1([10 * n, 20 * n] + [0] * (k - 2)).value < dc.r1([n, 2 * n] + [0] * (k - 2)).value
    rng = np.random.default_rng(1)
    for _ in range(200):
        f, g = rng.poisson(2, 6) + np.eye(6, dtype=int)[0], rng.poisson(2, 6)
        assert 0 <= dc.r2(f, g).value <= dc.r1(f).value <= 1


@pytest.mark.parametrize("name", PSD14)
def test_r1_of_every_line(name: str) -> None:
    """Tables 3 to 5: R1 of every row, column and table as printed, by our own lines and by the package's."""
    printed = PSD14[name]
    for found, values in zip(lines(printed.counts), printed.r1, strict=True):
        assert [round(own.weighted(own.terms(x)), 4) for x in found] == np.ravel(np.asarray(values)).tolist()
    columns, rows = dc.line_risks(printed.counts)
    assert rows.round(4).tolist() == printed.r1[0].tolist()
    assert columns.round(4).tolist() == printed.r1[1].tolist()
    assert dc.r1(printed.counts, axis=1).value.round(4).tolist() == printed.r1[0].tolist()
    assert round(dc.r1(printed.counts).value, 4) == printed.r1[2]
    names = ["area", name]
    report = dc.assess(dc.Table.of(printed.counts, names))
    assert sorted(report.lines["r1"].round(4)) == sorted([*printed.r1[0], *printed.r1[1]])


def test_r2_of_table_4() -> None:
    """Equation (5): random rounding of every line of Table 4 (sex), exact means against 1,000 draws in print."""
    for found, values in zip(lines(SEX.counts)[:2], SEX.r2_rounding[:2], strict=True):
        for counts, value in zip(found, np.ravel(values), strict=True):
            every = list(own.roundings(counts.tolist()))
            mean = sum(p * own.weighted(own.terms(counts, g, form="psd14")) for g, p in every)
            assert dc.expected_r2(counts, BASE_3, form="psd14").value == pytest.approx(mean)
            assert mean == pytest.approx(value, abs=2e-4)
    table = dc.expected_r2(SEX.counts, BASE_3, form="psd14", seed=1, draws=500)
    assert table.value == pytest.approx(SEX.r2_rounding[2], abs=2e-4)


def test_printed_lines_that_the_formula_does_not_give() -> None:
    """docs/risk.md: rows 8 to 26 % below the print, other columns up to 14 %, whole tables 6 to 10 %."""
    for printed in (TRAVEL, RELIGION):
        rows = dc.expected_r2(printed.counts, BASE_3, form="psd14", axis=1).value
        by_hand = list(own.roundings(printed.counts[1].tolist()))
        mean = sum(p * own.weighted(own.terms(printed.counts[1], g, form="psd14")) for g, p in by_hand)
        assert rows[1] == pytest.approx(mean)
        low = 1 - rows / printed.r2_rounding[0]
        assert 0.08 < low.min() < low.max() < 0.26
        columns = dc.expected_r2(printed.counts, BASE_3, form="psd14", axis=0).value
        assert (np.abs(1 - columns / printed.r2_rounding[1]) < 0.141).all()
        table = dc.expected_r2(printed.counts, BASE_3, form="psd14", seed=1, draws=400).value
        assert 0.05 < 1 - table / printed.r2_rounding[2] < 0.11


def people(printed: Printed) -> pd.DataFrame:
    """The persons of a table, one row each."""
    area, other = (np.repeat(i.ravel(), printed.counts.ravel()) for i in np.indices(printed.counts.shape))
    return pd.DataFrame({"id": range(len(area)), "area": area.astype(str), "other": other.astype(str)})


def counted(frame: pd.DataFrame, printed: Printed) -> np.ndarray:
    """Counts in the shape of the table."""
    out = np.zeros(printed.counts.shape, int)
    np.add.at(out, (frame["area"].astype(int).to_numpy(), frame["other"].astype(int).to_numpy()), 1)
    return out


def swapped(printed: Printed, number: int) -> list[np.ndarray]:
    """Section 5.1: 5 % picked and paired with others elsewhere, so many times."""
    frame, out = people(printed), []
    codes = [
        dc.Dimension.flat(n, [str(i) for i in range(k)])
        for n, k in zip(("area", "other"), printed.counts.shape, strict=True)
    ]
    data = dc.Microdata.of(frame, dimensions=codes, unit="id")
    for seed in range(number):
        moved = own.records(dc.Swap("area", rate=0.05, seed=seed)(data), "area", "other")
        out.append(counted(moved, printed))
    return out


@pytest.mark.parametrize("name", PSD14)
def test_hellinger_of_rounding(name: str) -> None:
    """Tables 3 to 5: HD under random rounding, by listing the tables of lines of few cells and by draws of our own."""
    printed = PSD14[name]
    up = np.random.default_rng(2).random((1000, *printed.counts.shape)) * 3 < printed.counts % 3
    after = printed.counts - printed.counts % 3 + 3 * up
    square = (np.sqrt(printed.counts) - np.sqrt(after)) ** 2 / 2
    for axis, values in ((2, printed.hd_rounding[0]), (1, printed.hd_rounding[1]), ((1, 2), printed.hd_rounding[2])):
        hd = np.sqrt(square.sum(axis=axis))
        assert (np.abs(hd.mean(axis=0) - values) < 5 * hd.std(axis=0) * math.sqrt(2 / 1000) + 1e-4).all()
        assert np.allclose(
            information.hellinger(np.broadcast_to(printed.counts, after.shape), after, counts=True, axis=axis), hd
        )
    assert dc.expected_hellinger(printed.counts, BASE_3) == pytest.approx(printed.hd_rounding[2], abs=0.02)


@pytest.mark.parametrize("name", PSD14)
def test_record_swapping(name: str) -> None:
    """5.1 and Tables 3 to 5: 10 % move, columns keep their sums, HD of the table near the print."""
    printed = PSD14[name]
    drawn = swapped(printed, 20)
    assert all((d.sum(axis=0) == printed.counts.sum(axis=0)).all() for d in drawn)
    assert all((d.sum(axis=1) == printed.counts.sum(axis=1)).all() for d in drawn)
    hd = np.array([own.hellinger(printed.counts, d) for d in drawn])
    assert abs(hd.mean() - printed.hd_swapping[2]) < 5 * hd.std() / math.sqrt(20) + 0.03 * printed.hd_swapping[2]
    rows = np.array([[own.hellinger(a, b) for a, b in zip(printed.counts, d, strict=True)] for d in drawn])
    assert (np.abs(rows.mean(axis=0) - printed.hd_swapping[0]) < 5 * rows.std(axis=0) / math.sqrt(20) + 0.02).all()


def test_gad_wgad_and_dr() -> None:
    """Section 4 and Table 6: by hand; DR of swapping near the printed .7444 and .7004, 0 for rounding."""
    f, g = np.array([[0, 3], [2, 0], [1, 4], [1, 2]]), np.array([[0, 3], [1, 1], [1, 4], [0, 3]])
    stayed = np.array([[0, 3], [1, 0], [1, 3], [0, 2]])
    assert (risk.gad(f, g, stayed).kept, risk.gad(f, g, stayed).at_risk) == (1, 2)
    assert (risk.wgad(f, g, stayed).kept, risk.wgad(f, g, stayed).at_risk) == (0, 2)
    for printed, value in ((TRAVEL, 0.7444), (RELIGION, 0.7004)):
        shares = []
        for d in swapped(printed, 15):
            small = np.isin(d, (1, 2))
            shares.append((small & (d == printed.counts)).sum() / small.sum())
            assert risk.dr(printed.counts, d).value == pytest.approx(shares[-1])
        assert abs(np.mean(shares) - value) < 0.05
        rounded = printed.counts - printed.counts % 3
        assert risk.dr(printed.counts, rounded).value == 0


def test_gad_star_and_wgad_star() -> None:
    """Section 4: rows and columns with one, or two, populated cells, counted one by one; zeros of Table 6."""
    rng = np.random.default_rng(5)
    for _ in range(60):
        f, g = rng.poisson(0.7, (6, 4)), rng.poisson(0.7, (6, 4))
        for axis, (a, b) in ((1, (f, g)), (0, (f.T, g.T))):
            one = [np.count_nonzero(r) == 1 for r in a]
            kept = [o and ((x > 0) == (y > 0)).all() for o, x, y in zip(one, a, b, strict=True)]
            found = risk.gad_star(f, g, axis=axis)
            assert (found.kept, found.at_risk) == (sum(kept), sum(one))
            two = [np.count_nonzero(r) == 2 and 1 in r for r in a]
            same = [t and ((x > 0) == (y > 0)).all() and 1 in y for t, x, y in zip(two, a, b, strict=True)]
            other = risk.wgad_star(f, g, axis=axis)
            assert (other.kept, other.at_risk) == (sum(same), sum(two))
    for printed in (TRAVEL, SEX, RELIGION):
        rounded = printed.counts - printed.counts % 3
        for axis in (0, 1):
            assert risk.gad_star(printed.counts, rounded, axis=axis).value == 0
            assert risk.wgad_star(printed.counts, rounded, axis=axis).value == 0


def test_share_of_records_swapped() -> None:
    """5.1: 5 % picked, 10 % swapped; the mean of 1,000 perturbations is what expected_r2 averages."""
    frame = people(RELIGION)
    data = dc.Microdata.of(frame, dimensions=["area", "other"], unit="id")
    moved = own.records(dc.Swap("area", rate=0.05, seed=3)(data), "id", "area").set_index("id")
    assert (moved["area"].loc[frame["id"]].to_numpy() != frame["area"].to_numpy()).mean() == pytest.approx(
        0.1, abs=0.002
    )
    counts = RELIGION.counts[0]
    rng = np.random.default_rng(7)
    after = counts - counts % 3 + 3 * (rng.random((1000, counts.size)) * 3 < counts % 3)
    ours = np.array([own.weighted(own.terms(counts, g)) for g in after])
    found = dc.expected_r2(counts, BASE_3, seed=1, draws=1000)
    assert abs(found.value - ours.mean()) < 5 * ours.std() * math.sqrt(2 / 1000)
