"""When a table cannot be protected: the fewest marks to lift, proved, and what would help where no mark is to blame."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet import Refused, Table
from discreet.audits.known import Known, unmovable


def possible(table: Table, primary: np.ndarray, forced: np.ndarray) -> bool:
    """Whether hiding all that is not forced leaves every sensitive cell two values."""
    return not unmovable(Known.hiding(table, ~forced), np.flatnonzero(primary)).any()


@settings(deadline=None, max_examples=8)
@given(st.integers(0, 2**32 - 1))
def test_the_marks_to_lift_are_enough_and_the_fewest(seed: int) -> None:
    """Against all smaller sets of marks; afterwards the table can be protected."""
    rng = np.random.default_rng(seed)
    table = Table.of(rng.integers(2, 30, (3, 3)), ["a", "b"])
    primary = np.zeros(len(table), bool)
    primary[rng.choice(np.flatnonzero(table.is_inner), 2, replace=False)] = True
    forced = (rng.random(len(table)) < 0.5) & ~primary
    method = dc.Suppress(dc.Request(primary), forced=forced, zeros=True)
    found = dc.diagnose(table, method)
    assert found.least
    assert not found.lift[~forced].any()
    assert possible(table, primary, forced & ~found.lift)
    for fewer in itertools.combinations(np.flatnonzero(forced), max(int(found.lift.sum()) - 1, 0)):
        kept = forced.copy()
        kept[list(fewer)] = False
        assert found.ok or not possible(table, primary, kept)


@pytest.mark.parametrize("method", ["gauss", "optimal"])
def test_both_roads_say_which_marks_to_lift(method: str) -> None:
    """The message names the cell, what it follows from, and the smallest cure."""
    table = Table.of([[20, 5, 9], [1, 30, 8], [7, 6, 12]], ["a", "b"])
    forced = table.where(a="Total") | table.where(b="Total") | table.where(a="1") | table.where(a="3", b="1")
    with pytest.raises(Refused) as caught:
        dc.protect(table, dc.Suppress(dc.Threshold(2), method=method, forced=forced))
    said = str(caught.value)
    assert "'2/1'" in said
    assert "follows from" in said
    assert "let '3/1' be hidden: 1 of" in said
    assert "the fewest" in said
    found = dc.diagnose(table, dc.Suppress(dc.Threshold(2), forced=forced))
    assert found.cells[["a", "b", "what"]].astype(str).values.tolist() == [["3", "1", "lift"]]
    assert "12" not in str(found)  # no value of a cell
    done = dc.protect(table, dc.Suppress(dc.Threshold(2), method=method, forced=forced & ~found.lift))
    assert not done.hidden[forced & ~found.lift].any()


def test_a_mark_on_a_sensitive_cell_must_go() -> None:
    """It can never be published."""
    table = Table.of([[20, 5], [1, 30]], ["a", "b"])
    found = dc.diagnose(table, dc.Suppress(dc.Threshold(2), forced=table.count == 1))
    assert found.lift.tolist() == (table.count == 1).tolist()


def test_without_a_free_cell_zeros_or_lower_levels_are_proposed() -> None:
    """No mark is to blame: a row with one cell that is not empty."""
    table = Table.of([[3, 0, 0], [0, 40, 50], [0, 60, 70]], ["a", "b"])
    rule = dc.Request([{"a": "1", "b": "1"}])
    found = dc.diagnose(table, dc.Suppress(rule, forced=table.where(a="1", b="Total"), method="optimal"))
    assert not found.ok
    assert len(found.hopeless) == 1 or found.lift.any()
    wide = dc.Suppress(dc.Request([{"a": "2", "b": "2"}], level=500), method="optimal", bounds=None)
    assert dc.diagnose(table, wide).ok or "levels" in str(dc.diagnose(table, wide))
    assert dc.diagnose(table, dc.Suppress(dc.Request([{"a": "2", "b": "2"}]))).ok
    assert str(dc.diagnose(table, dc.Suppress(dc.Request([{"a": "2", "b": "2"}])))) == "the table can be protected"


def test_what_is_out_already_is_said_to_be() -> None:
    """Published cells cannot be lifted."""
    full = Table.of(np.array([[[9, 8], [7, 12]], [[3, 9], [11, 6]]]), ["a", "b", "c"])
    shown = dc.protect(full.with_margins([("a", "b")]), dc.Publish())
    rule = dc.Request([{"a": "2", "b": "1"}])
    found = dc.diagnose(full.with_margins([("a", "c"), ("a", "b")]), dc.Suppress(rule, earlier=[shown]))
    assert not found.ok
    assert "published already" in str(found)
