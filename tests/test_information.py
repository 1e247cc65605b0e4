"""Entropies and divergences: definitions, laws, and the theorems of the thesis against brute force."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet import information as it
from discreet.errors import InputError
from discreet.risk import Transition, channel, expected_channel

small = st.lists(st.integers(0, 4), min_size=1, max_size=4).filter(any)
vectors = st.lists(st.integers(0, 50), min_size=2, max_size=8)


@st.composite
def pairs(draw: st.DrawFn, top: int = 50, cells: int = 8) -> tuple[list[int], list[int]]:
    """Two vectors of one length, neither all zero."""
    n = draw(st.integers(2, cells))
    one = st.lists(st.integers(0, top), min_size=n, max_size=n).filter(any)
    return draw(one), draw(one)


def arrangements(counts: list[int]) -> Iterator[tuple[int, ...]]:
    """Every way to give the individuals 0, 1, ... the cells, with these cell counts: the set Omega."""
    if not any(counts):
        yield ()
        return
    for cell, left in enumerate(counts):
        if left:
            rest = [c - (i == cell) for i, c in enumerate(counts)]
            for tail in arrangements(rest):
                yield (cell, *tail)


def brute_channel(f: list[int], g: list[int], *, fewest_moves: bool) -> np.ndarray[Any, Any]:
    """Mean of Pr(Y = c_j | X = c_i) over Omega_G, or over its members that keep most individuals in place."""
    x = [cell for cell, n in enumerate(f) for _ in range(n)]
    every = list(arrangements(g))
    if fewest_moves:
        kept = [sum(a == b for a, b in zip(x, y, strict=True)) for y in every]
        every = [y for y, k in zip(every, kept, strict=True) if k == max(kept)]
    z = np.zeros((len(f), len(f)))
    for y in every:
        for a, b in zip(x, y, strict=True):
            z[a, b] += 1 / f[a]
    return z / len(every)


def definition(f: list[int], z: np.ndarray[Any, Any]) -> float:
    """(3.6.3) of the thesis, the double sum."""
    joint = (np.array(f) / sum(f))[:, None] * z
    marginal = joint.sum(axis=0)
    total = -sum(
        joint[i, j] * math.log(joint[i, j] / marginal[j])
        for i, j in itertools.product(range(len(f)), repeat=2)
        if joint[i, j] > 0
    )
    return float(total)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=7))
def test_theorems_1_and_2(units: list[tuple[int, int]]) -> None:
    """Equal sums: uniform over Omega gives G_j/N and hides all; fewest moves gives (3.6.4)."""
    f = [sum(a == cell for a, _ in units) for cell in range(3)]
    g = [sum(b == cell for _, b in units) for cell in range(3)]
    uniform = brute_channel(f, g, fewest_moves=False)
    populated = np.array(f) > 0
    assert np.allclose(uniform[populated], np.array(g) / sum(g))
    assert math.isclose(definition(f, uniform), it.entropy(f), abs_tol=1e-12)
    nearest = brute_channel(f, g, fewest_moves=True)
    assert np.allclose(nearest, channel(f, g))
    assert math.isclose(definition(f, nearest), it.conditional_entropy_perturbed(f, g), abs_tol=1e-12)


@settings(max_examples=30, deadline=None)
@given(pairs(top=3, cells=3))
def test_theorems_3_and_4(pair: tuple[list[int], list[int]]) -> None:
    """Unequal sums: the same for M copies of F and N copies of G."""
    f, g = pair
    n, m = sum(f), sum(g)
    assume(n != m and n * m <= 10)
    many_f, many_g = [m * x for x in f], [n * x for x in g]
    uniform = brute_channel(many_f, many_g, fewest_moves=False)
    assert np.allclose(uniform[np.array(f) > 0], np.array(g) / m)
    assert math.isclose(definition(f, uniform), it.entropy(f), abs_tol=1e-12)
    nearest = brute_channel(many_f, many_g, fewest_moves=True)
    assert np.allclose(nearest, channel(f, g))
    assert math.isclose(definition(f, nearest), it.conditional_entropy_perturbed(f, g), abs_tol=1e-12)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=2, max_size=3).filter(any))
def test_theorems_5_and_6(f: list[int]) -> None:
    """The mean over what a method may give, with the brute channel of every outcome."""
    assume(sum(f) <= 3)
    method = Transition([[0.8, 0.2, 0], [0.1, 0.7, 0.2], [0, 0.3, 0.7]])
    uniform, nearest, shares = 0.0 * np.eye(len(f)), 0.0 * np.eye(len(f)), np.zeros(len(f))
    for choice in itertools.product(*(method.outcomes(x) for x in f)):
        g, p = [v for v, _ in choice], math.prod(p for _, p in choice)
        n, m = sum(f), sum(g)
        if m == 0 or n * m > 10:  # the thesis has no Omega for M = 0; large ones by the formula
            nearest += p * channel(f, g)
            uniform += p * np.outer(np.array(f) > 0, np.array(g) / m if m else np.ones(len(f)) / len(f))
        else:
            nearest += p * brute_channel([m * x for x in f], [n * x for x in g], fewest_moves=True)
            uniform += p * brute_channel([m * x for x in f], [n * x for x in g], fewest_moves=False)
        shares += p * (np.array(g) / m if m else np.ones(len(f)) / len(f))
    assert np.allclose(uniform[np.array(f) > 0], shares)
    assert np.allclose(nearest, expected_channel(f, method))


def test_worked_example() -> None:
    """Thesis section 3.6.2.1.1 and PSD14 section 2: F = (0, 2, 4), G = (0, 3, 3)."""
    assert round(it.entropy([0, 2, 4]), 4) == 0.6365
    assert round(it.conditional_entropy_perturbed([0, 2, 4], [0, 3, 3]), 4) == 0.3183
    assert round(it.hellinger([0, 2, 4], [0, 3, 3], counts=True), 4) == 0.2940


@given(pairs())
def test_conditioning_lowers_entropy(pair: tuple[list[int], list[int]]) -> None:
    """0 <= H(X|Y) <= H(X), the double sum agrees, proportional tables hide nothing, scale does not matter."""
    f, g = pair
    h = it.conditional_entropy_perturbed(f, g)
    assert -1e-12 <= h <= it.entropy(f) + 1e-12
    assert math.isclose(h, definition(f, channel(f, g)), abs_tol=1e-11)
    assert it.conditional_entropy_perturbed(f, [3 * x for x in f]) == 0
    assert math.isclose(h, it.conditional_entropy_perturbed([2 * x for x in f], g), abs_tol=1e-12)


def test_a_table_of_zeros_tells_nothing() -> None:
    """M = 0: Y is constant, so H(X|Y) = H(X)."""
    assert it.conditional_entropy_perturbed([1, 2], [0, 0]) == it.entropy([1, 2])
    assert math.isclose(
        it.conditional_entropy(np.array([[1 / 3], [2 / 3]]) * channel([1, 2], [0, 0])), it.entropy([1, 2])
    )


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=2, max_size=4).filter(lambda x: np.any(x))
)
def test_chain_rule(rows: list[list[int]]) -> None:
    """H(X,Y) = H(Y) + H(X|Y), (3.3.3), and information is symmetric and not negative."""
    joint = np.array(rows)
    hy = it.entropy(joint.sum(axis=0))
    assert math.isclose(it.joint_entropy(joint), hy + it.conditional_entropy(joint, given=1), abs_tol=1e-12)
    one, other = it.mutual_information(joint, given=0), it.mutual_information(joint, given=1)
    assert one >= 0
    assert math.isclose(one, other, abs_tol=1e-12)


def test_conditional_entropy_of_more_variables() -> None:
    """Given every variable nothing is left; given a tuple the rest is X."""
    joint = np.ones((2, 2, 2))
    assert it.conditional_entropy(joint, given=(0, 1, 2)) == 0
    assert it.conditional_entropy(joint, given=(0, -1), bits=True) == 1
    with pytest.raises(InputError, match="axis"):
        it.conditional_entropy(joint, given=3)


@given(pairs())
def test_divergences(pair: tuple[list[int], list[int]]) -> None:
    """None is negative, all are 0 for equals, 2 HD^2 <= D, and the two directions of KL mirror each other."""
    p, q = pair
    for kind in it.FAMILY:
        assert it.f_divergence(p, q, kind) >= -1e-12
        assert abs(it.f_divergence(p, p, kind)) < 1e-12
    hd = it.hellinger(p, q)
    assert 0 <= hd <= 1
    assert math.isclose(hd**2, it.f_divergence(p, q, "hellinger2"), abs_tol=1e-12)
    assert 2 * hd**2 <= it.kl(p, q) + 1e-12
    assert it.f_divergence(p, q, "reverse_kl") == pytest.approx(it.kl(q, p))
    assert it.total_variation(p, q) == pytest.approx(it.f_divergence(p, q, "tv"))
    assert it.hellinger(p, q, counts=True) <= math.sqrt((sum(p) + sum(q)) / 2) + 1e-12
    counted = it.hellinger(p, q, counts=True)
    assert counted**2 == pytest.approx(it.f_divergence(p, q, "hellinger2", counts=True))


@given(pairs())
def test_counts_and_distributions(pair: tuple[list[int], list[int]]) -> None:
    """D(F/N || G/M) = log(M/N) + D(F || G)/N, section 3.4."""
    f, g = pair
    n, m = sum(f), sum(g)
    assert it.kl(f, g) == pytest.approx(math.log(m / n) + it.kl(f, g, counts=True) / n, abs=1e-12)


def test_counts_may_have_negative_divergence() -> None:
    """Section 3.4: F_1 < G_1 and the rest equal."""
    assert it.kl([1, 5], [2, 5], counts=True) < 0


def test_zeros_in_divergences() -> None:
    """The limits of section 3.3."""
    assert it.kl([1, 1], [2, 0]) == math.inf
    assert it.kl([2, 0], [1, 1]) == pytest.approx(math.log(2))
    assert it.f_divergence([2, 0], [1, 1], "reverse_kl") == math.inf
    assert it.chi2([1, 1], [2, 0]) == math.inf
    assert it.chi2([1, 0], [1, 0]) == 0
    assert it.lp_distance([1, 0], [0, 1], order=math.inf) == 1


@given(st.lists(st.integers(1, 9), min_size=2, max_size=6))
def test_distance_from_uniform(f: list[int]) -> None:
    """chi2(P, U) = K |P|^2 - 1 and D(P || U) = log K - H(P), section 3.3."""
    k, p = len(f), np.array(f) / sum(f)
    assert it.chi2(f, [1] * k) == pytest.approx(k * (p @ p) - 1, abs=1e-12)
    assert it.kl(f, [1] * k) == pytest.approx(math.log(k) - it.entropy(f), abs=1e-12)


def test_batches_equal_single_tables() -> None:
    """axis= gives what a loop gives, in the shape of the other axes."""
    rng = np.random.default_rng(0)
    f, g = rng.integers(0, 5, (4, 3, 5)) + (np.arange(5) == 0), rng.integers(0, 5, (4, 3, 5)) + (np.arange(5) == 1)
    whole = it.conditional_entropy_perturbed(f, g, axis=(0, 2))
    assert whole.shape == (3,)
    assert whole[1] == pytest.approx(it.conditional_entropy_perturbed(f[:, 1], g[:, 1]))
    assert it.hellinger(f, g, axis=-1).shape == (4, 3)
    assert it.entropy(f, axis=0)[2, 4] == pytest.approx(it.entropy(f[:, 2, 4]))
    assert isinstance(it.entropy(f), float)


class Holder:
    """Stands for a Table."""

    def array(self) -> np.ndarray[Any, Any]:
        return np.array([[0, 2], [4, 0]])


def test_reads_tables_and_frames() -> None:
    """Anything with .array(), and frames and series."""
    expected = it.entropy([0, 2, 4, 0])
    assert it.entropy(Holder()) == expected
    assert it.entropy(pd.DataFrame([[0, 2], [4, 0]])) == expected
    assert it.entropy(pd.Series([0, 2, 4], dtype="Int64")) == expected


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ([98765, -1], "negative"),
        ([98765, math.nan], "NaN"),
        ([98765, math.inf], "infinite"),
        ([98765, "x"], "numbers"),
        ([[98765], [1, 2]], "one shape"),
        ([], "no cells"),
        ([0, 0], "sums to 0"),
        ([98765, None], "NaN"),
        (pd.Series([98765, None], dtype="Int64"), "NaN"),
        (["98765", "1"], "numbers"),
        (np.ma.masked_array([98765, 1], mask=[False, True]), "masked"),
        (np.array([98765 + 1j, 1]), "numbers"),
    ],
)
def test_bad_values(bad: Any, words: str) -> None:
    """Each is an InputError that never shows a value."""
    with pytest.raises(InputError, match=words) as caught:
        it.entropy(bad)
    assert "98765" not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("bad", [[98765.5, 1], [2.0**60, 1], np.array([2**63, 1], dtype=np.uint64)])
def test_bad_counts(bad: Any) -> None:
    """Counts are whole and of a possible size."""
    with pytest.raises(InputError) as caught:
        it.read_counts(bad)
    assert "98765" not in str(caught.value)
    assert it.read_counts([True, False]).tolist() == [1, 0]
    assert it.read_counts(np.array([3], dtype=np.uint64)).dtype == np.int64


def test_bad_options() -> None:
    """Shapes, axes, names and orders."""
    with pytest.raises(InputError, match="shape"):
        it.kl([1, 2], [1, 2, 3])
    with pytest.raises(InputError, match="did you mean 'chi2'"):
        it.f_divergence([1], [1], "chi")
    with pytest.raises(InputError, match="order"):
        it.lp_distance([1], [1], order=0.5)
    for axis in (2, (0, 0), ()):
        with pytest.raises(InputError, match="axis"):
            it.entropy([[1, 2]], axis=axis)
    with pytest.raises(InputError, match="sums to 0"):
        it.conditional_entropy_perturbed([0, 0], [1, 1])
