"""The cell key method: bounded, unbiased, the same for the same records; counts, zeros and magnitudes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.methods.perturb.noise import moments
from tests.methods.perturb.test_cell_key_magnitude import firms
from tests.persons import microdata, persons
from tests.strategies import tables


@settings(max_examples=60)
@given(tables(12), st.integers(1, 4), st.integers(0, 2), st.integers(0, 5))
def test_bounds(table: dc.Table, d: int, js: int, seed: int) -> None:
    """|noise| <= D, nothing from 1 to js, zeros stay, and the stated bounds hold the truth."""
    if (table.count < 0).any():
        return
    made = dc.protect(table, dc.CellKey(d=d + js + 1, v=5.0, js=js, seed=seed))
    shown = made.published["count"]
    assert (np.abs(shown - table.count) <= d + js + 1).all()
    assert not ((shown > 0) & (shown <= js)).any()
    assert (shown[table.count == 0] == 0).all()
    assert (made.room.lower <= table.count).all()
    assert (made.room.upper >= table.count).all()


@pytest.mark.parametrize("method", [dc.CellKey(d=2, v=1), dc.CellKey(d=5, v=3, js=2), dc.CellKey(d=3, v=2, pstay=0.4)])
def test_unbiased_by_exact_expectation(method: dc.CellKey) -> None:
    """Every count's mean noise is 0 and its variance at most V."""
    mean, variance = moments(np.arange(30), method.transition())
    assert np.abs(mean).max() < 1e-8
    assert variance.max() <= method.v + 1e-8


def test_noise_over_secrets_follows_the_table() -> None:
    """Over many secrets the noise of one cell has the distribution of its row."""
    table = dc.tabulate(microdata(persons(60)), by=["area"])
    method = [dc.CellKey(d=2, v=1, secret=f"number {k:010d} of the secrets") for k in range(1500)]
    noise = np.array([m(table).published["count"] - table.count for m in method])
    for cell in range(len(table)):
        row = method[0].noise.row(int(table.count[cell]))
        for value, p in row.items():
            assert abs((noise[:, cell] == value).mean() - p) < 5 * np.sqrt(p * (1 - p) / 1500) + 1e-9


def test_zeros_by_category_keys() -> None:
    """About the wanted share shows js + 1, structural zeros stay, and the choice does not move between tables."""
    counts = np.zeros((40, 50), int)
    counts[0] = 5
    structural = np.zeros((40, 50), bool)
    structural[20:30] = True
    table = dc.Table.of(counts, ["a", "b"], structural=structural)
    method = dc.CellKey(d=3, v=2, js=1, zeros=0.1, seed=3)
    shown = method(table).published["count"]
    assert (shown[table.structural] == 0).all()
    empty = (table.count == 0) & ~table.structural
    assert set(shown[empty].tolist()) == {0, 2}
    assert 0.07 < (shown[empty] > 0).mean() < 0.13
    part = table.with_margins([("a",)])
    kept = method(part).published["count"]
    assert all(kept[part.where(a=str(k))] == shown[table.where(a=str(k), b="Total")] for k in range(1, 41))


def test_geometric_noise_moves_zeros_too() -> None:
    """A table that states its privacy perturbs empty cells without being asked."""
    table = dc.Table.of(np.zeros((30, 30), int), ["a", "b"])
    shown = dc.CellKey(ptable=dc.PTable.geometric(1.0, 4), seed=1)(table).published["count"]
    assert 0.1 < (shown > 0).mean() < 0.5
    assert shown.min() >= 0
    assert shown.max() <= 4


def test_words_for_the_public_tell_no_parameters() -> None:
    """Neither D nor V nor the table is in the release."""
    table = dc.tabulate(microdata(persons()), by=["area", "sex"])
    release = dc.protect(table, dc.CellKey(d=5, v=3)).release()
    assert release.method == "cell key method"
    assert "details" not in release.to_dict()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: dc.CellKey(d=0), "d=0"),
        (lambda: dc.CellKey(v=-1), "v=-1"),
        (lambda: dc.CellKey(zeros=2), "zeros=2"),
        (lambda: dc.CellKey(d=2, v=0.3, js=2), "larger v or d"),
        (lambda: dc.CellKeyMagnitude(p=(0.05, 0.25)), "p="),
        (lambda: dc.CellKeyMagnitude(epsilon=(0.5,)), "epsilon="),
        (lambda: dc.CellKeyMagnitude(d=9), "negative"),
        (lambda: dc.CellKeyMagnitude(mu=1), "mu_rule"),
        (lambda: dc.CellKeyMagnitude(seed=1)(dc.Table.of([[1, 2]], ["a", "b"])), "magnitudes"),
        (lambda: dc.CellKeyMagnitude(seed=1, epsilon=(1, 0.5))(firms(1)), "top=2"),
        (lambda: dc.CellKey(seed=1)(firms()), "works on counts"),
    ],
)
def test_wrong_parameters(make: Any, words: str) -> None:
    """Refused before anything is computed, with what to do."""
    with pytest.raises(dc.InputError, match=words):
        make()
