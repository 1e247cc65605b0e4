"""JOS15 section 5: the hypercube, the four output tables and the comparison of methods (Tables 1, 2 and 5)."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import discreet as dc
from tests.papers import own
from tests.papers.jos15 import OUTPUT, WEIGHTS, after_terms, counted, cut, split_terms, utility_of

PRINTED = (92.4, 1.6, 0.9, 1.2, 0.7, 0.3, 3.0)  # Table 1: % of cells of 0, 1, 2, 3-5, 6-8, 9-10, and more people
DETAILS = {  # Table 2: people, average cell, % of cells that are empty
    "T1": (854_539, 347.8, 62.4), "T2": (645_461, 3073.6, 23.3), "T3": (736_355, 1258.7, 47.0),
    "T4": (96_656, 413.1, 35.9),
}  # fmt: skip


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
    assert wanted.sum() == (own.records(people, filtered)[filtered].astype(str) == code).sum() > 0
    total, mean, zeros = DETAILS[name]
    large = cut(*whole()[1], name)
    assert large.sum() == pytest.approx(total, rel=0.003)
    assert large.mean() == pytest.approx(mean, rel=0.003)
    assert 100 * (large == 0).mean() == pytest.approx(zeros, abs=6)


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


@cache
def perturbed() -> tuple[list[str], dict[str, list[str]], np.ndarray, dict[str, np.ndarray]]:
    """A hypercube by hand, and after the two methods that perturb it before tables are made."""
    names, codes, cube = counted(dc.datasets.census(60_000))
    table = dc.Table.of(cube, [dc.Dimension.flat(n, codes[n]) for n in names])
    stays = np.eye(16)
    stays[1:3, 1:3] = 0.5
    methods: dict[str, Any] = {
        "RR": dc.SemiControlledRound(3, control=("region",), seed=1),
        "SP": dc.Stochastic(matrix=stays, period=5, control=("region",), seed=1),
    }
    return names, codes, cube, {k: m(table).shown_inner().reshape(cube.shape).astype(int) for k, m in methods.items()}


def test_perturbed_hypercube() -> None:
    """3.2 and 3.3: rounded to threes within a base, totals of regions nearly kept; ones and twos exchanged evenly."""
    names, _, cube, after = perturbed()
    others = tuple(k for k, n in enumerate(names) if n != "region")
    assert (after["RR"] % 3 == 0).all()
    assert (np.abs(after["RR"] - cube) < 3).all()
    assert (np.abs((after["RR"] - cube).sum(axis=others)) < 3).all()
    small = np.isin(cube, (1, 2))
    assert (after["SP"] == cube)[~small].all()
    assert np.isin(after["SP"][small], (1, 2)).all()
    assert 0.3 < (after["SP"] != cube)[small].mean() < 0.7
    for k in range(cube.shape[names.index("region")]):
        was, now = (np.take(a, k, axis=names.index("region")) for a in (cube, after["SP"]))
        assert abs(int((was == 1).sum()) - int((now == 1).sum())) <= 1, "the matrix keeps how many cells hold one"


@pytest.mark.parametrize("name", OUTPUT)
@pytest.mark.parametrize(("method", "stay"), [("RR", (0.33, 0.33)), ("SP", (0.75, 0.9))])
def test_comparison_study_of_the_perturbed_cube(name: str, method: str, stay: tuple[float, float]) -> None:
    """Table 5, RR and SP: tables summed out of the perturbed cube; cells that show j were their mean on average."""
    names, codes, cube, after = perturbed()
    counts, shown = cut(names, codes, cube, name), cut(names, codes, after[method], name)
    pairs = list(zip(counts.ravel().tolist(), shown.ravel().tolist(), strict=True))
    p = {pair: pairs.count(pair) / counts.ravel().tolist().count(pair[0]) for pair in set(pairs)}
    by_hand = float(np.dot(after_terms(counts, shown, p, stay), WEIGHTS))
    assert dc.jos15_after(counts, shown, "observed", multiplier=stay).value == pytest.approx(by_hand)
    assert by_hand < float(np.dot(split_terms(counts), WEIGHTS))
    assert dc.compare(counts, shown).utility == pytest.approx(utility_of(counts, shown))
