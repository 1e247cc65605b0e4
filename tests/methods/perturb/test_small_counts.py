"""Small-count rounding: no small published cell, everything adds, little else changes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.methods.perturb.small_counts import to_round
from tests.strategies import tables


@settings(max_examples=150)
@given(tables(8), st.integers(2, 5), st.integers(0, 3))
def test_no_small_cell_is_published_and_all_sums_hold(table: dc.Table, base: int, seed: int) -> None:
    """And inner cells that are not small keep their value."""
    made = dc.protect(table, dc.SmallCountRound(base, seed=seed))
    shown, signed = made.published["count"], table.layout.signed
    assert not ((shown > 0) & (shown < base))[~signed].any()
    at = table.is_inner & ~table.structural
    assert (shown[at & (table.count >= base)] == table.count[at & (table.count >= base)]).all()
    assert (np.abs(shown - table.count)[at] < base).all()
    rows = table.layout.inner_of_cell
    if set(rows[rows >= 0].tolist()) == set(range(table.layout.n_inner)):
        inner = np.zeros(table.layout.n_inner, np.int64)
        inner[rows[rows >= 0]] = shown[rows >= 0]
        assert (table.layout.aggregate(inner) == shown).all()
    assert (made.room.lower <= table.count).all()
    assert (made.room.upper >= table.count).all()


def test_only_what_is_published_matters() -> None:
    """Small inner cells of large published ones are left alone."""
    table = dc.Table.of([[5, 1, 4], [2, 6, 3]], ["a", "b"], margins=[("a",), ("b",)])
    made = dc.protect(table, dc.SmallCountRound(3, seed=1))
    assert made.details["rounded"] == 0
    assert (made.published["count"] == table.count).all()


@settings(max_examples=25)
@given(st.lists(st.integers(0, 4), min_size=9, max_size=9))
def test_the_choice_is_near_the_best(cells: list[int]) -> None:
    """The squared change of the published cells is never much above the least of all choices."""
    table = dc.Table.of(np.array(cells).reshape(3, 3), ["a", "b"])
    made = dc.protect(table, dc.SmallCountRound(3, seed=1)).published["count"]
    chosen = np.flatnonzero(to_round(table, 3))
    true = table.statistic("count").inner
    least = np.inf
    for up in itertools.product((0, 3), repeat=len(chosen)):
        inner = true.copy()
        inner[chosen] = up
        least = min(least, float(((table.layout.aggregate(inner) - table.count) ** 2).sum()))
    assert ((made - table.count) ** 2).sum() <= 2 * least + 9


def test_a_larger_table() -> None:
    """20,000 cells: the total moves by less than the base and cells by little."""
    rng = np.random.default_rng(1)
    table = dc.Table.of(rng.negative_binomial(0.3, 0.05, (40, 30, 15)), ["a", "b", "c"])
    shown = dc.protect(table, dc.SmallCountRound(3, seed=1)).published["count"]
    assert not ((shown > 0) & (shown < 3)).any()
    assert abs(int(shown[0] - table.count[0])) < 3
    assert np.abs(shown - table.count).max() <= 8


def test_wrong_parameters() -> None:
    """A base below 2; a table of magnitudes."""
    with pytest.raises(dc.InputError, match="base="):
        dc.SmallCountRound(1)
    with pytest.raises(dc.InputError, match="works on counts"):
        dc.SmallCountRound(3, seed=1)(dc.Table.of([[1.5, 2]], ["a", "b"], value="x"))
