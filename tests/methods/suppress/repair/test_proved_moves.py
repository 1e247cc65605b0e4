"""Moves as proofs: a need that they are said to meet is met, by another library; what is no move proves nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, milp

import discreet as dc
from discreet.audits.known import Known
from discreet.linear.system import System
from discreet.methods.suppress.model.problem import Requirements
from discreet.methods.suppress.model.tuning import DEFAULT
from discreet.methods.suppress.repair.further_cells import Costs, Further, further_cells
from discreet.methods.suppress.repair.proved_moves import apart_in_fractions, met_by_moves


def repaired(seed: int, *, counts: bool) -> tuple[Known, np.ndarray, Requirements, Further]:
    """What is known once further cells of a random table are hidden, and the moves that asked for them."""
    rng = np.random.default_rng(seed)
    values = rng.poisson(2, (4, 4, 3)) if counts else np.rint(rng.lognormal(4, 1.5, (4, 4, 3))).astype(int)
    table = dc.Table.of(values, ["a", "b", "c"])
    hidden = rng.random(len(table)) < 0.2
    known = replace(Known.hiding(table, hidden), integer=counts)
    truth, cells, n = known.system().point, np.flatnonzero(hidden), len(table)
    assert truth is not None
    level = np.zeros(len(cells)) if counts else np.minimum(0.2 * truth[cells], truth[cells])
    needs = Requirements.of(cells, level, level)
    costs = Costs(np.where(hidden, 0.0, np.abs(truth[:n]) + 1), np.zeros(n), np.full(n, np.inf))
    further = further_cells(known, truth, needs, np.zeros((2, len(cells))), costs, DEFAULT.repair)
    more = further.hidden
    after = replace(known, lower=np.where(more, 0, known.lower), upper=np.where(more, np.inf, known.upper))
    return after, truth, needs, further


def extreme(system: System, variable: int, sign: int) -> float:
    """The least (1) or greatest (-1) value of a variable, by another library."""
    cost = np.zeros(system.size)
    cost[variable] = sign
    whole = np.full(system.size, int(system.integer))
    bounds = np.where(np.isfinite(system.upper), system.upper, 1e6)
    answer: Any = milp(
        cost, integrality=whole, bounds=Bounds(system.lower, bounds), constraints=(system.rows, system.rhs, system.rhs)
    )
    assert answer.status == 0
    return sign * float(answer.fun)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("counts", [False, True])
def test_needs_said_to_be_met_are(seed: int, counts: bool) -> None:
    """By programs of another library: amounts to their levels, counts to a second whole value."""
    known, truth, needs, further = repaired(seed, counts=counts)
    met = met_by_moves(known, truth, needs, np.zeros((2, len(needs))), further.moves)
    assert met.mean() > 0.5
    for j in np.flatnonzero(met).tolist():
        cell = int(needs.cell[j])
        low, high = extreme(known.system(), cell, 1), extreme(known.system(), cell, -1)
        assert truth[cell] - low >= needs.below[j] - 1e-6
        assert high - truth[cell] >= needs.above[j] - 1e-6
        assert high - low >= 1 - 1e-6


@pytest.mark.parametrize("counts", [False, True])
def test_what_breaks_a_sum_or_is_shown_proves_nothing(counts: bool) -> None:
    """Moves that are off a sum, that change published cells, or of counts those in fractions."""
    known, truth, needs, further = repaired(1, counts=counts)
    nothing = np.zeros((2, len(needs)))
    off = [move + np.where(np.arange(len(move)) == needs.cell[0], 1.0, 0.0) for move in further.moves]
    assert not met_by_moves(known, truth, needs, nothing, off).any()
    shown = np.zeros(len(known.lower), bool)
    shown[np.concatenate([np.flatnonzero(move[: len(shown)])[:2] for move in further.moves])] = True
    value = truth[: len(shown)]
    closed = replace(known, lower=np.where(shown, value, known.lower), upper=np.where(shown, value, known.upper))
    assert not met_by_moves(closed, truth, needs, nothing, further.moves).any()
    if counts:
        assert not met_by_moves(known, truth, needs, nothing, [move / 2 for move in further.moves]).any()


@pytest.mark.parametrize("seed", range(3))
def test_counts_said_to_be_apart_in_fractions_are(seed: int) -> None:
    """By linear programs of another library; a program for all frees most of them, and none where there is no room."""
    known, truth, needs, further = repaired(seed, counts=True)
    apart = apart_in_fractions(known, truth, needs.cell, further.moves)
    assert apart.mean() > 0.5
    system = replace(known, integer=False).system()
    for cell in needs.cell[apart].tolist():
        assert max(truth[cell] - extreme(system, cell, 1), extreme(system, cell, -1) - truth[cell]) >= 1 - 1e-6
    shown = replace(known, lower=truth[: len(known.lower)], upper=truth[: len(known.upper)])
    assert not apart_in_fractions(shown, truth, needs.cell, further.moves).any()
