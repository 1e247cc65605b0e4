"""The attack of whoever has the program, against ten lines of brute force; and the defence by a key."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import discreet as dc
from discreet import datasets
from discreet.audits.known import Known
from discreet.audits.owner_attack import candidate_table
from discreet.linear.whole_points import all_points, points_on_walk

RULE = dc.Threshold(3)


def small(seed: int, shape: tuple[int, ...] = (3, 3)) -> dc.Table:
    """Small counts, of which some are sensitive."""
    random = np.random.default_rng(seed)
    return dc.Table.of(random.poisson(3 * random.lognormal(0, 0.7, shape)), ["a", "b", "c"][: len(shape)])


def brute_force(table: dc.Table, call: dc.Suppress) -> dict[int, set[int]]:
    """Values left per sensitive cell: every filling of the inner cells up to the total, margins compared by NumPy."""
    done, shape = call(table), table.layout.shape
    truth, gone = table.statistic("count").inner, done.hidden
    left: dict[int, set[int]] = {int(c): set() for c in np.flatnonzero(done.status == "u")}
    hidden = np.flatnonzero(gone[table.is_inner])  # inner cells stand in the order of the table
    grid = truth.reshape(shape)
    for values in itertools.product(*(range(int(min(grid[k // 3].sum(), grid[:, k % 3].sum())) + 1) for k in hidden)):
        inner = truth.copy()
        inner[hidden] = values
        other = inner.reshape(shape)
        sums = (other.sum(axis=0) == grid.sum(axis=0)).all() and (other.sum(axis=1) == grid.sum(axis=1)).all()
        if sums and np.array_equal(call(dc.Table.of(other, ["a", "b"])).hidden, gone):
            for cell in left:
                left[cell].add(int(dc.Table.of(other, ["a", "b"]).count[cell]))
    return left


def test_owner_audit_agrees_with_brute_force() -> None:
    """Without a key, the values left of every sensitive cell are those that trying every filling leaves."""
    call, compared = dc.Suppress(RULE), 0
    for seed in range(60):
        table = small(seed)
        done = dc.protect(table, call)
        margins = (done.hidden & ~table.is_inner).any()
        if margins or done.hidden.sum() != 4:  # few enough fillings
            continue
        audit = dc.owner_audit(done, call)
        left = brute_force(table, call)
        assert {int(c): set(map(int, v)) for c, v in zip(audit.number, audit.values, strict=True)} == left
        assert audit.exact.tolist() == [c for c, v in left.items() if len(v) == 1]
        compared += 1
    assert compared >= 8


def test_audit_has_a_row_for_the_holder_of_the_program() -> None:
    """``audit(owner=True)`` repeats the call of ``protect``; cells that he knows exactly are a fail."""
    exposed = 0
    for seed in range(12):
        done = dc.protect(small(seed), dc.Suppress(RULE))
        if not (done.status == "u").any():
            continue
        audit = dc.audit(done, owner=True)
        assert dc.audit(done).ok
        assert audit.owner is not None
        assert audit.ok == audit.owner.ok
        row = audit.summary().loc["holder of the program"]
        assert row["exact"] == len(audit.owner.exact)
        exposed += len(audit.owner.exact)
    assert exposed > 0  # the attack bites
    assert dc.audit(done).summary().loc["holder of the program"]["exact"] == "not tried"


def test_what_cannot_be_judged_is_never_ok() -> None:
    """Another call, no call, a release and too little time are no pass."""
    call = dc.Suppress(RULE)
    done = dc.protect(small(1), call)
    other = dc.owner_audit(done, dc.Suppress(RULE, order="count", forced=done.hidden & (done.status == "x")))
    assert not other.ok
    assert other.unjudged
    assert not dc.audit(done, owner=other).ok
    assert not dc.owner_audit(done, call, seconds=1e-9).ok
    with pytest.raises(dc.InputError, match="owner=method"):
        dc.audit(replace(done, call=None), owner=True)
    with pytest.raises(dc.InputError, match="one Protected"):
        dc.audit(done.release(), owner=True)


def test_rounding_leaves_what_its_intervals_leave() -> None:
    """Every table within the intervals of rounding rounds alike, so nothing is ruled out by repeating it."""
    call = dc.Round(5)
    done = dc.protect(dc.Table.of([[3, 4], [6, 1]], ["a", "b"]), call)
    audit = dc.owner_audit(done, call, most=5_000)
    assert audit.complete
    assert audit.survivors == 1
    assert audit.ok


def test_key_leaves_a_second_value() -> None:
    """Where the attack left one value without a key, it leaves more with one; and the truth is always among them."""
    bare, keyed, bitten = dc.Suppress(RULE), dc.Suppress(RULE, key=b"a secret of sixteen bytes"), 0
    for seed in range(40):
        table = small(seed)
        if not len(dc.owner_audit(dc.protect(table, bare), bare).exact):
            continue
        audit = dc.owner_audit(dc.protect(table, keyed), keyed, keys=2, calls=2_000)
        assert not len(audit.exact)
        assert all(np.isclose(p.sum(), 1) for p in audit.chances)
        assert all(v in values for v, values in zip(table.count[audit.number], audit.values, strict=True))
        bitten += 1
        if bitten == 3:
            break
    assert bitten == 3


def test_repair_against_the_owner_hides_more_where_one_value_is_left() -> None:
    """In a cube a key alone may leave a cell one value; the repair hides more, holds for outsiders, is reproducible."""
    call = dc.Suppress(RULE, key=b"0123456789abcdef1")
    random = np.random.default_rng(5)
    table = dc.Table.of(random.poisson(4 * random.lognormal(0, 0.8, (3, 3, 2))), ["a", "b", "c"])
    bare, done = dc.protect(table, replace(call, owner=False)), dc.protect(table, call)
    assert (done.hidden | ~bare.hidden).all()
    assert dc.audit(done).ok
    assert done.details["owner"] == 0
    assert np.array_equal(done.status, dc.protect(table, call).status)
    assert dc.protect(table, dc.Suppress(RULE, key=b"0123456789abcdef1", repair="off")).details["owner"] == "not tried"


def test_walk_keeps_every_sum_and_finds_every_table_of_a_small_system() -> None:
    """Draws are whole solutions; on a small system all of them are met, as a list of all shows."""
    table = small(2)
    system = Known.hiding(table, table.is_inner).system()
    points = all_points(system, most=50_000)
    assert system.point is not None
    drawn = points_on_walk(system, system.point, 300, np.random.default_rng(1))
    assert np.allclose(system.rows @ drawn.T, system.rhs[:, None])
    every = {tuple(p) for p in points.astype(int)}
    assert {tuple(p) for p in drawn.astype(int)} <= every
    narrow = Known.hiding(dc.Table.of([[1, 2], [2, 1]], ["a", "b"]), np.arange(9) > 3).system()
    assert narrow.point is not None
    assert {tuple(p) for p in points_on_walk(narrow, narrow.point, 80, np.random.default_rng(1)).astype(int)} == {
        tuple(p) for p in all_points(narrow, most=100).astype(int)
    }


def test_candidate_of_magnitudes_keeps_shares() -> None:
    """Contributions are scaled with their cell, and margins add up."""
    micro = datasets.business(300, seed=1)
    table = dc.tabulate(micro, ["region", "size"], value="turnover", top=2)
    other = candidate_table(table, table.statistic(table.measure).inner * 2)
    assert np.array_equal(other.value, table.value * 2)
    assert np.allclose(np.nan_to_num(other.contributions.value), np.nan_to_num(table.contributions.value) * 2)
