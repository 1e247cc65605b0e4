"""Rounding: neighbours only, unbiased where it says so, totals kept where it says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.information import hellinger
from discreet.methods.perturb.noise import expected_hellinger, moments
from tests.strategies import tables

BASES = st.integers(2, 7)
# PSD14 Tables 3-5, last row: Hellinger distance of the whole table under random rounding to base 3
HD = {"psd14_travel": 3.1133, "psd14_sex": 0.1611, "psd14_religion": 2.9751}


def rounders(base: int, seed: int) -> list[Any]:
    return [dc.Round(base), dc.RandomRound(base, seed=seed), dc.SemiControlledRound(base, seed=seed)]


@given(tables(40), BASES, st.integers(0, 9))
def test_inner_cells_go_to_a_neighbouring_multiple_and_multiples_stay(table: dc.Table, base: int, seed: int) -> None:
    """And the stated bounds hold the truth, in every published cell."""
    for method in rounders(base, seed):
        made = dc.protect(table, method)
        shown = made.published["count"]
        inner = table.is_inner & ~table.structural
        assert (shown % base == 0).all()
        assert (np.abs(shown - table.count)[inner] < base).all()
        assert (shown[inner & (table.count % base == 0)] == table.count[inner & (table.count % base == 0)]).all()
        assert (made.room.lower <= table.count).all()
        assert (table.count <= made.room.upper).all()


@given(tables(40), BASES, st.integers(0, 9), st.booleans())
def test_semi_controlled_adds_up_and_keeps_totals(table: dc.Table, base: int, seed: int, unbiased: bool) -> None:
    """The total is its nearest multiple (or one of its neighbours if that too is drawn), and so is each group's."""
    for control in [(), (table.dimensions[0].name,)]:
        made = dc.SemiControlledRound(base, seed=seed, control=control, unbiased=unbiased)(table).published["count"]
        inner = np.zeros(table.layout.n_inner, np.int64)
        rows = table.layout.inner_of_cell
        if len(set(rows[rows >= 0].tolist())) < table.layout.n_inner:
            continue  # some inner cells are not published
        inner[rows[rows >= 0]] = made[rows >= 0]
        assert (table.layout.aggregate(inner) == made).all()
        dense, true = table.layout.dense(inner), table.array()
        axes = tuple(range(1 if control else 0, true.ndim))
        gap = np.abs(dense.sum(axis=axes) - true.sum(axis=axes))
        assert (gap <= base / 2).all() if not unbiased else (gap < base).all()


@pytest.mark.parametrize("base", [2, 3, 5, 10])
def test_random_rounding_is_unbiased_by_exact_expectation(base: int) -> None:
    """Mean noise 0, variance r (base - r), for every count."""
    counts = np.arange(50)
    mean, variance = moments(counts, dc.RandomRound(base).transition())
    assert np.abs(mean).max() < 1e-12
    assert np.allclose(variance, (counts % base) * (base - counts % base))


@pytest.mark.parametrize("make", [dc.RandomRound, dc.SemiControlledRound])
def test_draws_agree_with_the_transition_matrix(make: Any) -> None:
    """The frequency of rounding up over many seeds is that of the matrix."""
    table = dc.Table.of(np.arange(12).reshape(3, 4) + 1, ["a", "b"], margins=[("a", "b")])
    inner = table.is_inner
    options = {"unbiased": True} if make is dc.SemiControlledRound else {}
    runs = [make(3, seed=s, **options)(table).published["count"][inner] for s in range(2000)]
    mean, variance = moments(table.count[inner], make(3).transition())
    assert (np.abs(np.mean(runs, axis=0) - table.count[inner] - mean) <= 4.5 * np.sqrt(variance / 2000) + 1e-12).all()


@pytest.mark.parametrize("name", HD)
def test_psd14_hellinger_under_random_rounding(name: str) -> None:
    """PSD14 Tables 3-5: the exact expectation, our draws and the print (1,000 draws) agree."""
    table = getattr(dc.datasets, name)()
    counts = table.array()
    exact = expected_hellinger(counts, dc.RandomRound(3).transition())
    drawn = []
    for seed in range(300):
        made = dc.RandomRound(3, seed=seed)(table).published["count"][table.is_inner].reshape(counts.shape)
        drawn.append(float(hellinger(counts, made, counts=True)))
    sd = float(np.std(drawn))
    assert abs(exact - np.mean(drawn)) < 4.5 * sd / np.sqrt(300)
    assert abs(exact - HD[name]) < 4.5 * sd / np.sqrt(1000) + 5e-5


def test_magnitudes_are_rounded_in_their_own_decimals() -> None:
    """A base of 0.5 on a measure with one decimal; a base finer than the decimals is refused."""
    table = dc.Table.of(np.array([[1.3, 2.8], [0.2, 4.0]]), ["a", "b"], value="tonnes")
    made = dc.Round(0.5)(table)
    assert made.published["tonnes"][table.is_inner].tolist() == [1.5, 3.0, 0.0, 4.0]
    assert (made.room.lower <= table.value).all()
    assert (made.room.upper >= table.value).all()
    with pytest.raises(dc.InputError, match="last decimal"):
        dc.Round(0.25)(table)


def test_the_expected_risk_is_exact() -> None:
    """A method's transition matrix goes straight into expected R2."""
    found = dc.expected_r2([[5, 1], [0, 4]], dc.RandomRound(3).transition())
    assert found.exact
    assert 0 < found.value < dc.r1([[5, 1], [0, 4]]).value
    matrix = dc.Round(5).transition()
    assert [matrix.outcomes(n)[0][0] for n in range(9)] == [0, 0, 0, 5, 5, 5, 5, 5, 10]


def test_wrong_parameters() -> None:
    """What is given, what is allowed."""
    with pytest.raises(dc.InputError, match="whole base"):
        dc.RandomRound(0.5).transition()
    for method in (lambda: dc.Round(-1), lambda: dc.RandomRound("3"), lambda: dc.SemiControlledRound(float("nan"))):  # type: ignore[arg-type]
        with pytest.raises(dc.InputError, match="base="):
            method()
    with pytest.raises(dc.InputError, match="no dimension 'c'"):
        dc.SemiControlledRound(3, control="c", seed=1)(dc.Table.of([[1, 2]], ["a", "b"]))


@given(st.lists(st.integers(0, 99), min_size=1, max_size=12), BASES)
def test_codes_that_are_rounded_separately_are_tables_of_their_own(counts: list[int], base: int) -> None:
    """All at once as one by one; where the others play a part, it cannot be."""
    method = dc.SemiControlledRound(base, seed=1, control="area")
    separate = method.separately("set")
    assert separate is not None
    names = [str(k) for k in range(len(counts))]
    together = separate(dc.Table.of(counts, [dc.Dimension.flat("set", names, total=None)])).published["count"]
    one = dc.Dimension.flat("set", ["0"], total=None)
    alone = [dc.SemiControlledRound(base, seed=1)(dc.Table.of([n], [one])) for n in counts]
    assert together.tolist() == [int(shown.published["count"][0]) for shown in alone]
    assert dc.SemiControlledRound(base, unbiased=True).separately("set") is None
