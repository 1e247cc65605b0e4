"""Controlled rounding: additive, next to the truth, and the best there is."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.methods.perturb.controlled import controlled
from discreet.tables.layout import Layout
from tests.strategies import tables


@settings(max_examples=60)
@given(tables(20), st.integers(2, 6))
def test_additive_and_zero_restricted(table: dc.Table, base: int) -> None:
    """All published sums hold; a multiple stays and any other cell goes to a neighbour, margins included."""
    made = dc.protect(table, dc.ControlledRound(base))
    shown = made.published["count"]
    assert (shown % base == 0).all()
    if made.details["restricted"]:
        assert (np.abs(shown - table.count) < base).all()
        assert (shown[table.count % base == 0] == table.count[table.count % base == 0]).all()
    assert (made.room.lower <= table.count).all()
    assert (made.room.upper >= table.count).all()
    rows = table.layout.inner_of_cell
    if set(rows[rows >= 0].tolist()) == set(range(table.layout.n_inner)):
        inner = np.zeros(table.layout.n_inner, np.int64)
        inner[rows[rows >= 0]] = shown[rows >= 0]
        assert (table.layout.aggregate(inner) == shown).all()


@settings(max_examples=40)
@given(st.lists(st.integers(0, 14), min_size=6, max_size=6), st.sampled_from([3, 5]), st.booleans())
def test_two_way_tables_are_solved_to_the_optimum(cells: list[int], base: int, nested: bool) -> None:
    """Against all ways of rounding the six cells, with and without a group over two of the rows."""
    rows = dc.Dimension.flat("a", "xyz")
    table = dc.Table.of(np.array(cells).reshape(3, 2), [rows.with_group("xy", ["x", "y"]) if nested else rows, "b"])
    made = dc.protect(table, dc.ControlledRound(base))
    assert made.details["restricted"]
    assert made.details["gap"] == 0
    assert np.abs(made.published["count"] - table.count).sum() == _brute(table, base)
    assert made.details["deviation"] == pytest.approx(_brute(table, base))


def _brute(table: dc.Table, base: int) -> int:
    """Least total deviation over all zero-restricted roundings."""
    low = table.statistic("count").inner // base * base
    open_ = table.statistic("count").inner % base > 0
    best = np.iinfo(np.int64).max
    for up in itertools.product(*[(0, base) if o else (0,) for o in open_]):
        cells = table.layout.aggregate(low + np.array(up))
        gap = np.abs(cells - table.count)
        if (gap < base).all():
            best = min(best, int(gap.sum()))
    return int(best)


@settings(max_examples=15)
@given(st.lists(st.integers(0, 8), min_size=8, max_size=8))
def test_three_way_tables_are_solved_to_the_optimum(cells: list[int]) -> None:
    """Where a zero-restricted rounding exists, none is better."""
    table = dc.Table.of(np.array(cells).reshape(2, 2, 2), ["a", "b", "c"])
    made = dc.protect(table, dc.ControlledRound(3))
    if made.details["restricted"]:
        assert np.abs(made.published["count"] - table.count).sum() == _brute(table, 3)


def test_where_no_zero_restricted_rounding_exists() -> None:
    """Some three-way tables have none; then margins go further, and in total as little as any choice could."""
    table = dc.Table.of([[[0, 0], [1, 2]], [[1, 0], [1, 1]]], ["a", "b", "c"])
    assert _brute(table, 2) == np.iinfo(np.int64).max
    made = dc.protect(table, dc.ControlledRound(2))
    assert not made.details["restricted"]
    true = table.statistic("count").inner
    choices = itertools.product(*[(0, 2) if t % 2 else (0,) for t in true])
    cells = [table.layout.aggregate(true // 2 * 2 + np.array(up)) for up in choices]
    assert made.details["deviation"] == pytest.approx(min(int(np.abs(c - table.count).sum()) for c in cells))
    assert (made.room.lower <= table.count).all()
    assert (made.room.upper >= table.count).all()


def test_base_one_makes_fitted_tables_whole() -> None:
    """Whole margins of a table of fractions are kept exactly."""
    dims = [dc.Dimension.flat("a", range(4)), dc.Dimension.flat("b", range(5))]
    rng = np.random.default_rng(1)
    whole = rng.integers(0, 9, (4, 5))
    fractions = whole + 0.0
    for _ in range(20):  # moves along cycles keep all margins
        i, k = rng.choice(4, 2, replace=False)
        j, m = rng.choice(5, 2, replace=False)
        step = rng.random() * min(fractions[i, m], fractions[k, j])
        fractions[[i, k], [j, m]] += step
        fractions[[i, k], [m, j]] -= step
    made = controlled(Layout.of(dims), fractions.ravel().astype(np.float64)).inner.reshape(4, 5)
    assert (made.sum(axis=0) == whole.sum(axis=0)).all()
    assert (made.sum(axis=1) == whole.sum(axis=1)).all()
    assert np.abs(made - fractions).max() < 1


def test_linked_tables_and_large_two_way_tables() -> None:
    """Two margins over three dimensions; 60 x 60 without branching."""
    rng = np.random.default_rng(2)
    linked = dc.Table.of(rng.poisson(2, (3, 4, 3)), ["a", "b", "c"], margins=[("a", "b"), ("b", "c")])
    made = dc.protect(linked, dc.ControlledRound(3))
    assert (np.abs(made.published["count"] - linked.count) < 3).all()
    large = dc.protect(dc.Table.of(rng.poisson(6, (60, 60)), ["a", "b"]), dc.ControlledRound(5))
    assert large.details["restricted"]
    assert large.details["gap"] == 0


def test_wrong_parameters() -> None:
    """A base or time below 0."""
    with pytest.raises(dc.InputError, match="base="):
        dc.ControlledRound(-3)
    with pytest.raises(dc.InputError, match="time_limit="):
        dc.ControlledRound(3, time_limit=-1)
