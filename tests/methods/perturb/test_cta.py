"""Controlled tabular adjustment: protected, additive, within bounds, and the least change there is."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.methods.perturb.cta import Adjustment, adjust
from tests.strategies import tables


def problem(cells: list[int], sensitive: list[bool], share: float = 0.3) -> Adjustment:
    """A 2 x 3 table with its margins."""
    table = dc.Table.of(np.array(cells).reshape(2, 3), ["a", "b"])
    mask = np.zeros(len(table), bool)
    mask[np.flatnonzero(table.is_inner)] = sensitive
    return dc.CTA(mask & (table.count > 0), protection=share, reach=2.0).problem(table)


def best(p: Adjustment) -> float:
    """The least cost over all directions of the sensitive cells, by a linear program each."""
    from scipy.optimize import linprog

    s = np.flatnonzero(p.sensitive)
    least = np.inf
    for up in itertools.product((False, True), repeat=len(s)):
        low, high = p.lower - p.values, p.upper - p.values
        for k, rises in zip(s, up, strict=True):
            low[k], high[k] = (p.up[k], high[k]) if rises else (low[k], -p.down[k])
        if (low > high).any():
            continue
        plus = [(max(a, 0), max(b, 0)) for a, b in zip(low, high, strict=True)]
        minus = [(max(-b, 0), max(-a, 0)) for a, b in zip(low, high, strict=True)]
        a = p.relations.toarray()
        found = linprog(
            np.concatenate([p.cost, p.cost]), A_eq=np.hstack([a, -a]), b_eq=np.zeros(len(a)), bounds=plus + minus
        )
        if found.status == 0 and found.fun is not None:
            least = min(least, float(found.fun))
    return least


@settings(max_examples=30)
@given(st.lists(st.integers(0, 20), min_size=6, max_size=6), st.lists(st.booleans(), min_size=6, max_size=6))
def test_the_least_absolute_change(cells: list[int], sensitive: list[bool]) -> None:
    """Against all directions of the sensitive cells."""
    p = problem(cells, sensitive)
    least = best(p)
    if not np.isfinite(least):
        with pytest.raises(dc.InputError):
            adjust(p)
        return
    assert adjust(p).cost == pytest.approx(least, rel=1e-6, abs=1e-7)


@settings(max_examples=20)
@given(st.lists(st.integers(1, 20), min_size=6, max_size=6), st.integers(0, 5))
def test_squares_given_the_directions(cells: list[int], which: int) -> None:
    """The quadratic solution keeps sums, bounds and limits, and no small feasible step improves it."""
    p = problem(cells, [k == which for k in range(6)])
    found = adjust(p, norm="L2")
    change = found.values - p.values
    assert np.abs(p.relations @ change).max() < 1e-6
    assert (found.values >= p.lower - 1e-6).all()
    assert (found.values <= p.upper + 1e-6).all()
    s = np.flatnonzero(p.sensitive)
    assert ((change[s] >= p.up[s] - 1e-6) | (change[s] <= -p.down[s] + 1e-6)).all()
    other = adjust(p).values - p.values
    if (np.sign(other[s]) == np.sign(change[s])).all():
        assert found.cost <= p.cost @ other**2 + 1e-6


@settings(max_examples=40)
@given(tables(15), st.integers(0, 3), st.sampled_from(["L1", "L2"]))
def test_tables_add_up_and_sensitive_cells_are_protected(table: dc.Table, k: int, norm: Any) -> None:
    """Whole numbers, every sum, zeros kept, small cells at least one away from the truth; linked tables too."""
    if table.layout.signed.any() or not table.statistic("count").inner.any():
        return
    sensitive = (table.count > 0) & (table.count <= k)
    try:
        made = dc.protect(table, dc.CTA(sensitive, norm=norm))
    except dc.InputError:
        return  # nothing can move, as where the only cell is sensitive and its total must follow
    shown = made.published["count"]
    assert (made.room.lower <= table.count).all()
    assert (made.room.upper >= table.count).all()
    assert (shown == np.rint(shown)).all()
    assert (shown >= 0).all()
    assert (shown[table.count == 0] == 0).all()
    assert (np.abs(shown - table.count)[sensitive] >= 1).all()
    rows = table.layout.inner_of_cell
    if set(rows[rows >= 0].tolist()) == set(range(table.layout.n_inner)):
        inner = np.zeros(table.layout.n_inner, np.int64)
        inner[rows[rows >= 0]] = shown[rows >= 0]
        assert (table.layout.aggregate(inner) == shown).all()


def test_rules_bring_their_levels_and_cells_can_be_fixed() -> None:
    """A rule's protection levels are used; fixed totals stay; the reach is a bound that readers may use."""
    from discreet.rules import Threshold

    rng = np.random.default_rng(1)
    table = dc.Table.of(rng.poisson(4, (5, 6)) + 1, ["a", "b"])
    rule = Threshold(3)
    totals = ~table.is_inner
    made = dc.protect(table, dc.CTA(rule, fixed=totals, reach=0.9))
    shown = made.published["count"]
    assert (shown[totals] == table.count[totals]).all()
    assert (shown[rule(table)] != table.count[rule(table)]).all()
    assert (made.room.lower <= table.count).all()
    assert (made.room.upper >= table.count).all()
    near = (table.count - 2.0, table.count + 2.0)
    close = dc.protect(table, dc.CTA(rule, bounds=near)).published["count"]
    assert np.abs(close - table.count).max() <= 2
    with pytest.raises(dc.InputError, match="bounds are"):
        dc.CTA(rule, bounds=(table.count + 1, table.count + 2))(table)
    levels = (np.full(len(table), 2.0), np.full(len(table), 3.0))
    text = dc.protect(table, dc.CTA("threshold(n=3)", fixed=totals, reach=0.9))
    assert (text.published["count"] == shown).all()
    far = dc.protect(table, dc.CTA(table.is_inner & (table.count == 4), protection=levels)).published["count"]
    change = (far - table.count)[table.is_inner & (table.count == 4)]
    assert ((change >= 3) | (change <= -2)).all()


def test_magnitudes_in_their_decimals() -> None:
    """The adjusted values have the measure's decimals and add up exactly in them."""
    rng = np.random.default_rng(2)
    table = dc.Table.of(np.round(rng.lognormal(3, 1, (4, 5)), 1), ["a", "b"], value="tonnes")
    largest = table.value == table.value[table.is_inner].max()
    made = dc.protect(table, dc.CTA(largest & table.is_inner, protection=0.2)).published["tonnes"]
    units = np.rint(made * 10)
    assert np.allclose(units, made * 10)
    inner = units[table.is_inner].reshape(4, 5)
    assert inner.sum() == units[0]
    assert abs(made - table.value)[largest & table.is_inner][0] >= 0.2 * table.value[largest & table.is_inner][0] - 1e-9


def test_what_is_refused() -> None:
    """No room to move, a mask of the wrong length, unknown norms."""
    table = dc.Table.of([[20, 5], [10, 30]], ["a", "b"])
    with pytest.raises(dc.InputError, match="neither protection limit"):
        dc.CTA(table.where(a="1", b="2"), protection=0.9, reach=0.5)(table)
    with pytest.raises(dc.InputError, match="no adjustment"):
        dc.CTA(table.where(a="1", b="2"), fixed=~table.where(a="1", b="2"))(table)
    with pytest.raises(dc.InputError, match="the mask has shape"):
        dc.CTA(np.ones(3, bool))(table)
    with pytest.raises(dc.InputError, match="norm="):
        dc.CTA(table.is_inner, norm="L3")  # type: ignore[arg-type]
    with pytest.raises(dc.InputError, match="cost="):
        dc.CTA(table.is_inner, cost="free")  # type: ignore[arg-type]


@pytest.mark.parametrize("norm", ["L1", "L2"])
@pytest.mark.parametrize("factor", [1e3, 1e6, 1e9])
def test_amounts_of_any_size_cost_the_same(norm: Any, factor: float) -> None:
    """The cost of L1 is relative; limits, sums and signs are kept whatever the unit."""
    values = np.random.default_rng(2).lognormal(3, 1.5, (6, 3)).round(3) * 1000
    found = []
    for scale in (1.0, factor):
        table = dc.Table.of(np.rint(values * scale).astype(np.int64), ["area", "size"])
        sensitive = table.value < np.quantile(table.value, 0.2)
        adjusted = dc.CTA(sensitive, protection=0.2, norm=norm)(table)
        shown, true = np.asarray(adjusted.published["count"], float), np.asarray(table.value, float)
        assert (np.abs(shown - true)[sensitive] >= 0.2 * true[sensitive] - 1).all()
        assert shown.tolist() == table.layout.aggregate(shown[table.is_inner]).tolist()
        assert (np.abs(shown - true) <= true).all()
        found.append(
            float(adjusted.details["cost"]) * (scale if norm == "L2" else 1) / (scale**2 if norm == "L2" else 1)
        )
    assert found[1] == pytest.approx(found[0], rel=0.01)


def test_no_cell_is_told_by_its_fraction() -> None:
    """Whole numbers of a measure with decimals, such as whole weights, stay whole."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"area": rng.choice(list("abcdefgh"), 90), "job": rng.choice(list("wxyz"), 90)})
    frame["weight"] = rng.integers(20, 60, 90)
    data = dc.Microdata.of(frame, dimensions=["area", "job"], weight="weight")
    table = dc.tabulate(data, ["area", "job"])
    assert table.statistic(table.measure).decimals
    shown = np.asarray(next(iter(dc.CTA("threshold(n=3)")(table).published.values())), float)
    assert (shown == np.rint(shown)).all()
    assert (shown != np.asarray(table.value, float)).any()
