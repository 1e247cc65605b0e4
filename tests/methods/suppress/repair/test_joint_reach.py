"""Many protection levels at once: what is said to be reached is, and what is hidden for many together suffices."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import discreet as dc
from discreet.audits.known import Known, intervals
from discreet.linear.system import System
from discreet.methods.suppress.model.problem import Requirements
from discreet.methods.suppress.model.tuning import DEFAULT
from discreet.methods.suppress.repair.further_cells import Costs, further_cells
from discreet.methods.suppress.repair.joint_escape import joint_escape
from discreet.methods.suppress.repair.joint_reach import reached_together


def amounts(seed: int, share: float) -> tuple[Known, np.ndarray, np.ndarray]:
    """What is known of three-way amounts of which a share is hidden, the truth, and the hidden cells."""
    rng = np.random.default_rng(seed)
    table = dc.Table.of(np.rint(rng.lognormal(4, 1.5, (5, 5, 4))).astype(int), ["a", "b", "c"])
    hidden = rng.random(len(table)) < share
    known = replace(Known.hiding(table, hidden), integer=False)
    truth = known.system().point
    assert truth is not None
    return known, truth, np.flatnonzero(hidden)


def extreme(system: System, variable: int, sign: int) -> float:
    """The least (1) or greatest (-1) value of a variable, by another library."""
    cost = np.zeros(system.size)
    cost[variable] = sign
    bounds = list(zip(system.lower.tolist(), system.upper.tolist(), strict=True))
    answer: Any = linprog(cost, A_eq=system.rows.toarray(), b_eq=system.rhs, bounds=bounds)
    assert answer.status in (0, 3)
    return -sign * np.inf if answer.status == 3 else sign * float(answer.fun)


@pytest.mark.parametrize("seed", range(4))
def test_levels_said_to_be_reached_are(seed: int) -> None:
    """Each of them by a program of its own, of another library."""
    known, truth, cells = amounts(seed, 0.5)
    rng = np.random.default_rng(seed)
    level = np.rint(truth[cells] * rng.uniform(0, 1.2, len(cells)))
    needs = Requirements.of(cells, np.minimum(level, truth[cells]), level, level * (1 + seed % 2))
    done, far = reached_together(known, truth, needs)
    assert far is not None
    for j in np.flatnonzero(done):
        low, high = extreme(known.system(), int(cells[j]), 1), extreme(known.system(), int(cells[j]), -1)
        value = truth[cells[j]]
        assert value - low >= needs.below[j] - 1e-6
        assert high - value >= needs.above[j] - 1e-6
        assert high - low >= max(needs.sliding[j], 1) - 1e-6
    for j in np.arange(0, len(cells), 4):  # how far the others get by those moves they do get
        value = truth[cells[j]]
        assert extreme(known.system(), int(cells[j]), 1) <= value - far[0, j] + 1e-6
        assert extreme(known.system(), int(cells[j]), -1) >= value + far[1, j] - 1e-6
    assert 0 < done.sum() < len(done)


@pytest.mark.parametrize(("programs", "group"), [(1, 2), (3, 2), (100, 1), (12, 1_000)])
def test_what_is_hidden_for_many_suffices(programs: int, group: int) -> None:
    """In groups or one by one: with the further cells every level is within reach."""
    known, truth, cells = amounts(7, 0.2)
    needs = Requirements.of(cells, np.minimum(0.2 * truth[cells], truth[cells]), 0.2 * truth[cells])
    n = len(known.lower)
    low, high = intervals(known, cells)
    reach = np.stack([truth[cells] - low, high - truth[cells]])
    short = np.flatnonzero((reach < np.stack([needs.below, needs.above]) - 1e-6).any(axis=0))
    published = known.lower == known.upper
    costs = Costs(np.where(published, np.abs(truth[:n]) + 1, 0.0), np.zeros(n), np.full(n, np.inf))
    tuning = replace(DEFAULT.repair, joint_programs=programs, joint_group=group)
    further = further_cells(known, truth, needs.take(short), reach[:, short], costs, tuning)
    more = further.hidden
    assert len(short) > 2
    assert not len(further.hopeless)
    assert not (more & ~published).any()
    after = replace(known, lower=np.where(more, 0, known.lower), upper=np.where(more, np.inf, known.upper))
    low, high = intervals(after, cells[short])
    assert (truth[cells[short]] - low >= needs.below[short] - 1e-3).all()
    assert (high - truth[cells[short]] >= needs.above[short] - 1e-3).all()


def test_groups_are_made_of_what_is_not_served_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No program is about a level that an earlier move reaches, nor twice about one group."""
    known, truth, cells = amounts(7, 0.2)
    n = len(known.lower)
    level = np.minimum(0.2 * truth[cells], truth[cells])
    published = known.lower == known.upper
    costs = Costs(np.where(published, np.abs(truth[:n]) + 1, 0.0), np.zeros(n), np.full(n, np.inf))
    served: list[tuple[list[int], np.ndarray]] = []
    opened: list[int] = []

    def watched(
        escapes: Any, asked: np.ndarray, steps: np.ndarray, cost: np.ndarray, *, closed: bool
    ) -> np.ndarray | None:
        for cell, step in zip(asked.tolist(), steps.tolist(), strict=True):
            assert all(move[cell] * np.sign(step) < abs(step) for _, move in served)
        move = joint_escape(escapes, asked, steps, cost, closed=closed)
        assert move is not None
        assert not closed or not cost[np.abs(move[: len(cost)]) > 1e-6].any()
        served.append((asked.tolist(), move))
        opened.append(len(asked)) if not closed else None
        return move

    monkeypatch.setattr("discreet.methods.suppress.repair.further_cells.joint_escape", watched)
    tuning = replace(DEFAULT.repair, joint_programs=4, joint_group=3)
    further_cells(known, truth, Requirements.of(cells, level, level), np.zeros((2, len(cells))), costs, tuning)
    group = max(-(-len(cells) // 4), 3)
    assert 1 < len(opened) <= 8
    assert max(opened) <= group
