"""Walks for many counts at once: every cell that is said to move has another whole value, by an independent solver."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

import discreet as dc
from discreet.audits.known import intervals
from discreet.linear.system import System
from discreet.methods.suppress.by_elimination import suppressed_by_elimination
from discreet.methods.suppress.model.task import Task
from discreet.methods.suppress.model.tuning import DEFAULT
from discreet.methods.suppress.repair import judge
from discreet.methods.suppress.repair.price_ceilings import freed_by_walks
from discreet.methods.suppress.repair.short_moves import ShortMoves

ALWAYS = replace(DEFAULT, repair=replace(DEFAULT.repair, ceiling_from=1))
SHAPES = [(1, (4, 3, 3), 3.0), (2, (3, 3, 2, 2), 2.0), (3, (5, 4), 2.0), (4, (3, 2, 2, 2, 2), 4.0)]


def counts(seed: int, shape: tuple[int, ...], mean: float) -> dc.Table:
    names = [f"d{k}" for k in range(len(shape))]
    return dc.Table.of(np.random.default_rng(seed).poisson(mean, shape), names)


def moves_in(system: System, truth: float, cell: int) -> bool:
    """Whether a whole-number solution has another value there, by SciPy."""
    kept = LinearConstraint(system.rows, system.rhs, system.rhs)
    for sign, lower, upper in ((1, truth + 1, system.upper[cell]), (-1, system.lower[cell], truth - 1)):
        low, high = system.lower.copy(), system.upper.copy()
        low[cell], high[cell] = lower, upper
        if lower > upper:
            continue
        cost = np.zeros(system.size)
        cost[cell] = sign
        if milp(cost, constraints=kept, bounds=Bounds(low, high), integrality=np.ones(system.size, np.int64)).success:
            return True
    return False


@pytest.mark.parametrize(("seed", "shape", "mean"), SHAPES)
def test_cells_that_are_said_to_move_do(seed: int, shape: tuple[int, ...], mean: float) -> None:
    """From the pattern of the sensitive cells alone, which leaves most of them one value."""
    task = Task.of(dc.Suppress(dc.Threshold(3)).parameters, counts(seed, shape, mean), tuning=ALWAYS)
    hidden = task.withheld
    quantities, needs = task.quantities(hidden), task.requirements(hidden)
    known, costs = task.known(hidden), judge._costs(task, quantities)
    truth = judge._truth(task, quantities, known)
    served = freed_by_walks(known, truth, needs, costs, hidden, ALWAYS.repair)
    assert (served.hidden | ~hidden).all()
    assert served.met.mean() > 0.9
    assert np.isfinite(costs.cost[served.hidden & ~hidden]).all()
    system = judge._with_pattern(known, quantities, served.hidden).system()
    for cell in needs.cell[served.met].tolist():
        assert moves_in(system, truth[cell], cell)


@pytest.mark.parametrize(("seed", "shape", "mean"), SHAPES)
def test_a_pattern_repaired_by_walks_leaves_no_cell_one_value(seed: int, shape: tuple[int, ...], mean: float) -> None:
    """The whole call, whatever elimination left to be repaired: as judged in whole numbers by SciPy."""
    table = counts(seed + 10, shape, mean)
    task = Task.of(dc.Suppress(dc.Threshold(3)).parameters, table, tuning=ALWAYS)
    result = judge.audited(task, task.withheld, None)
    system = task.known(result.hidden).system()
    truth = table.count
    doubt = set(result.undecided.tolist()) | set(result.hopeless.tolist())
    for cell in np.flatnonzero(task.roles.primary).tolist():
        assert cell in doubt or moves_in(system, float(truth[cell]), cell)


def test_moves_that_nobody_needs_are_left_out() -> None:
    """What is dropped costs something, and all targets that were moved still are."""
    task = Task.of(dc.Suppress(dc.Threshold(3)).parameters, counts(5, (5, 4, 3), 2.0), tuning=ALWAYS)
    hidden = task.withheld
    quantities = task.quantities(hidden)
    known, costs = task.known(hidden), judge._costs(task, quantities)
    truth = judge._truth(task, quantities, known)
    moves = ShortMoves(known, truth, costs, hidden, ALWAYS.repair)
    targets = np.unique(moves.place[np.flatnonzero(task.roles.primary)])
    targets = targets[targets >= 0]
    for toll in (8, 1):
        moves.walk(targets, np.ones(len(targets), np.int64), (200, 8, toll), both=False)
        moves.walk(targets, -np.ones(len(targets), np.int64), (200, 8, toll), both=False)
    before, pattern = set(moves.moves()[0].tolist()), moves.pattern()
    moves.leave_out(targets)
    after = set(moves.moves()[0].tolist())
    assert after <= before
    assert set(targets.tolist()) & after == set(targets.tolist()) & before
    assert moves.pattern().sum() < pattern.sum()


def test_what_walks_ask_for_is_hidden_unless_it_is_dear() -> None:
    """Of a sparse four-way table, where elimination leaves many counts one value: programs find something cheaper."""
    rng = np.random.default_rng(5)
    rates = np.ones(())
    for codes in (6, 5, 4, 3):
        rates = np.multiply.outer(rates, rng.lognormal(0, 1, codes))
    table = dc.Table.of(rng.poisson(2 * rates / rates.mean()), ["a", "b", "c", "d"])
    parameters, paid = dc.Suppress(dc.Threshold(4)).parameters, []
    for worth in (np.inf, 0.0):
        tuning = replace(DEFAULT, repair=replace(DEFAULT.repair, ceiling_worth=worth))
        task = Task.of(parameters, table, tuning=tuning)
        result = suppressed_by_elimination(task)
        by_walks, added = result.details["by walks"], int((result.step == "repair").sum())
        assert by_walks == 0 if worth == 0 else 0 < by_walks <= added
        paid.append(float(table.statistic("count").cells[result.hidden[: len(table)]].sum()))
        cells = np.flatnonzero(task.roles.primary)
        low, high = intervals(task.known(result.hidden), cells)
        assert (high - low >= 1).all()
    assert paid[1] < paid[0]
