"""Bounds by sweeps over all rows: those that row by row come to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from discreet.linear import _propagation, presolve, swept_bounds
from discreet.linear.presolve import to_fixpoint
from discreet.linear.swept_bounds import can_be_swept
from discreet.linear.system import ContradictionError, System
from tests.linear.systems import chain


def system_of(seed: int, *, wrong: bool) -> System:
    """Sums of whole numbers with some variables known, some bounded, some not; ``wrong``: perhaps with no solution."""
    random = np.random.default_rng(seed)
    shape = int(random.integers(3, 30)), int(random.integers(4, 40))
    rows = csr_array(random_array(shape, density=0.15, rng=random, data_sampler=lambda size: np.ones(size)))
    rows.data = random.choice([-1.0, 1.0], len(rows.data))
    point = random.integers(0, 20, shape[1]).astype(float)
    room = random.choice([0.0, 1.0, 5.0, np.inf], shape[1], p=[0.4, 0.2, 0.2, 0.2])
    lower = np.where(random.random(shape[1]) < 0.1, -np.inf, np.maximum(point - room, 0))
    rhs = rows @ point
    if wrong:
        rhs[random.integers(len(rhs))] += float(random.integers(1, 30))
    return System(rows, rhs, lower, point + room, True)


def ends(system: System) -> Any:
    try:
        lower, upper, fixpoint = to_fixpoint(system)
    except ContradictionError:
        return "no solution"
    return lower.tobytes(), upper.tobytes(), fixpoint


@pytest.mark.parametrize("wrong", [False, True])
def test_sweeps_end_where_row_by_row_does(wrong: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the bit, and a contradiction is found by both."""
    swept = none = 0
    monkeypatch.setattr(swept_bounds, "FEWEST_ENTRIES", 0)
    for seed in range(120):
        system = system_of(seed, wrong=wrong)
        assert can_be_swept(system, system.lower, system.upper)
        mine = ends(system)
        with monkeypatch.context() as patch:
            patch.setattr(presolve, "can_be_swept", lambda *of: False)
            assert ends(system) == mine
        none += mine == "no solution"
        swept += mine != "no solution" and mine[0] != system.lower.tobytes()
    assert swept > 10
    assert (none > 20) == wrong


def test_long_chains_are_left_to_row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds that creep on by a step each time: sweeps stop, and the answer is the same."""
    monkeypatch.setattr(swept_bounds, "FEWEST_ENTRIES", 0)
    system = chain(60, 200.0, integer=True)
    calls = []
    usual = _propagation.propagate.py_func  # type: ignore[attr-defined]

    def counted(*arguments: Any) -> Any:
        calls.append(1)
        return usual(*arguments)

    monkeypatch.setattr(_propagation, "propagate", counted)
    monkeypatch.setattr(swept_bounds, "SWEEPS", 2)
    mine = ends(system)
    assert calls
    monkeypatch.setattr(presolve, "can_be_swept", lambda *of: False)
    assert ends(system) == mine


def test_fractions_and_other_entries_are_not_swept() -> None:
    rows = csr_array(np.ones((1, 600)))
    zero, one = np.zeros(600), np.ones(600)
    system = System(rows, np.array([3.0]), zero, one, True)
    assert can_be_swept(system, zero, one)
    assert not can_be_swept(replace(system, integer=False), zero, one)
    assert not can_be_swept(replace(system, rows=rows * 2), zero, one)
    assert not can_be_swept(replace(system, rhs=np.array([2.5])), zero, one)
    assert not can_be_swept(system, zero + 0.5, one)
