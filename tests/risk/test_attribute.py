"""Lines that give an attribute away, and intruders who know some units: definitions, brute force, refusals."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import risk
from discreet.errors import InputError

small = st.lists(st.integers(0, 4), min_size=1, max_size=4).filter(lambda f: 0 < sum(f) <= 8)


def units(f: list[int]) -> list[int]:
    """The cell of every unit."""
    return [cell for cell, n in enumerate(f) for _ in range(n)]


def entropy(chances: Iterable[float]) -> float:
    """-sum p log p."""
    return -sum(p * math.log(p) for p in chances if p > 0)


def frank_by_hand(f: list[int], chance: Any) -> tuple[float, float]:
    """H(D_A) and H(D_B) over all subsets A, ``chance`` gives the probability of each."""
    cells, a_chances, b_chances = units(f), [], Counter[frozenset[int]]()
    everyone = frozenset(range(len(cells)))
    for size in range(len(cells) + 1):
        for a in itertools.combinations(range(len(cells)), size):
            p = chance(size, len(cells))
            a_chances.append(p)
            rest = {cells[i] for i in everyone - set(a)}
            b_chances[everyone if len(rest) <= 1 else frozenset(a)] += p
    return entropy(a_chances), entropy(b_chances.values())


@settings(max_examples=40, deadline=None)
@given(small, st.floats(0.05, 0.95))
def test_frank_1978_independent(f: list[int], p: float) -> None:
    """Each unit known with probability p: the closed form equals all subsets, within Frank's bound."""
    prior, posterior = frank_by_hand(f, lambda size, n: p**size * (1 - p) ** (n - size))
    ours = risk.frank_entropy(f, share=p)
    assert ours.value == pytest.approx(prior - posterior, abs=1e-9)
    assert ours.prior == pytest.approx(prior)
    assert ours.posterior == pytest.approx(posterior, abs=1e-9)
    assert -1e-12 <= ours.value <= ours.bound + 1e-12


@settings(max_examples=40, deadline=None)
@given(small, st.data())
def test_frank_1978_fixed(f: list[int], data: st.DataObject) -> None:
    """A known number of units: the same against all subsets of that size."""
    known = data.draw(st.integers(0, sum(f)))
    prior, posterior = frank_by_hand(f, lambda size, n: (size == known) / math.comb(n, known))
    ours = risk.frank_entropy(f, known=known)
    assert ours.value == pytest.approx(prior - posterior, abs=1e-9)
    assert ours.value <= ours.bound + 1e-12
    assert ours.bound == pytest.approx(math.log(1 + sum(2**x - 1 for x in f)))


def test_frank_1978_large_counts() -> None:
    """The bound and the gain of a large table are finite."""
    ours = risk.frank_entropy([5000, 3000], share=0.5)
    assert ours.bound == pytest.approx(5000 * math.log(2))
    assert ours.value == pytest.approx(0, abs=1e-12)
    assert risk.frank_entropy([5000, 3000], share=1.0).value == 0


@settings(max_examples=40, deadline=None)
@given(small, st.data())
def test_subtraction_attribution(f: list[int], data: st.DataObject) -> None:
    """Against all sets of known units: some cell is empty after they are taken out."""
    known = data.draw(st.integers(0, sum(f) - 1))
    cells = units(f)
    sets = list(itertools.combinations(range(len(cells)), known))
    seen = sum(any(n == Counter(cells[i] for i in a)[cell] for cell, n in enumerate(f)) for a in sets)
    assert risk.subtraction_attribution(f, known) == pytest.approx(seen / len(sets))


def test_subtraction_attribution_grows() -> None:
    """More knowledge never lowers it; a zero discloses at once."""
    curve = risk.subtraction_attribution_curve([3, 4, 9], most=8)
    assert (np.diff(curve) >= 0).all()
    assert curve[0] == 0
    assert risk.subtraction_attribution([0, 4], 0) == 1


def test_frank_patterns() -> None:
    """The three patterns of Frank 1976 by row and by column."""
    table = [[0, 1, 0], [1, 0, 1], [1, 0, 5], [2, 2, 0], [0, 0, 0], [1, 1, 1]]
    rows = risk.frank_patterns(table)
    assert rows.alone.tolist() == [True, False, False, False, False, False]
    assert rows.pair.tolist() == [False, True, False, False, False, False]
    assert rows.singleton.tolist() == [False, True, True, False, False, False]
    assert rows.summary().loc["singleton", "lines"] == 2
    assert risk.frank_patterns(table, axis=0).alone.tolist() == [False, False, False]
    assert risk.frank_patterns(np.ones((2, 3, 4), dtype=int), axis=1).alone.shape == (2, 4)


F = [[0, 5, 0], [1, 0, 4], [2, 3, 1], [0, 0, 2]]


def test_starred_measures() -> None:
    """Section 4 of PSD14 for post-tabular methods."""
    g = [[0, 6, 0], [1, 0, 3], [3, 3, 0], [0, 3, 3]]
    assert risk.gad_star(F, g) == risk.Share(0.5, 1, 2)
    assert risk.wgad_star(F, g) == risk.Share(1.0, 1, 1)
    assert risk.wgad_star(F, [[0, 6, 0], [3, 0, 3], [3, 3, 0], [0, 3, 3]]).value == 0
    assert risk.gad_star([[1, 1], [1, 1]], [[0, 2], [2, 2]]) == risk.Share(0.0, 0, 0)


def test_measures_of_swapping() -> None:
    """The same units must be in the cell, not only as many; columns by axis=0."""
    same = np.array(F)
    assert risk.gad(F, F, same).value == 1
    same[0, 1] = 4
    assert risk.gad(F, F, same).value == 0.5
    assert risk.wgad(F, F, same).value == 1
    same[1, 2] = 3
    assert risk.wgad(F, F, same).value == 0
    assert risk.gad(np.transpose(F), np.transpose(F), np.transpose(same), axis=0).value == 0.5


def test_true_small_cells() -> None:
    """DR of PSD14: ones and twos that are unchanged among those shown; 0 when none is shown."""
    assert risk.dr([1, 2, 2, 7], [1, 1, 2, 2]) == risk.Share(0.5, 2, 4)
    assert risk.dr([1, 2], [3, 0]).value == 0


@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=5))
def test_an_unchanged_table_keeps_all(rows: list[list[int]]) -> None:
    """Without perturbation every line at risk stays at risk."""
    for share in (
        risk.gad_star(rows, rows),
        risk.wgad_star(rows, rows),
        risk.gad(rows, rows, rows),
        risk.dr(rows, rows),
    ):
        assert share.kept == share.at_risk


def test_refusals() -> None:
    """Nobody, impossible knowledge, shapes; no message shows a count."""
    for call in (
        lambda: risk.frank_entropy([0, 0], share=0.5),
        lambda: risk.frank_entropy([1, 98765]),
        lambda: risk.frank_entropy([1, 98765], share=0.5, known=1),
        lambda: risk.frank_entropy([1, 98765], share=1.5),
        lambda: risk.frank_entropy([1, 98765], known=98767),
        lambda: risk.subtraction_attribution([0, 0], 0),
        lambda: risk.subtraction_attribution([1, 98765], 98766),
        lambda: risk.gad_star([[1, 98765]], [1, 98765]),
        lambda: risk.gad([[1, 98765]], [[1, 98765]], [[1]]),
        lambda: risk.frank_patterns([[1, -98765]]),
    ):
        with pytest.raises(InputError) as caught:
            call()
        assert "98765" not in str(caught.value)


def test_batches_give_what_single_tables_give() -> None:
    """A thousand tables at once, each as if alone."""
    rng = np.random.default_rng(3)
    before, after = rng.integers(0, 3, (1000, 3, 4)), rng.integers(0, 3, (1000, 3, 4))
    stayed = np.minimum(before, after)
    for axis in (-1, 1):
        for measure in (risk.gad_star, risk.wgad_star):
            whole = measure(before, after, axis=axis, batch=1)
            single = [measure(f, g, axis=axis if axis < 0 else axis - 1) for f, g in zip(before, after, strict=True)]
            assert np.array_equal(whole.value, [s.value for s in single])
            assert np.array_equal(whole.at_risk, np.array([s.at_risk for s in single]))
        for moving in (risk.gad, risk.wgad):
            whole = moving(before, after, stayed, axis=axis, batch=1)
            assert whole.value.shape == (1000,)
    assert np.array_equal(
        risk.dr(before, after, batch=1).value, [risk.dr(f, g).value for f, g in zip(before, after, strict=True)]
    )
