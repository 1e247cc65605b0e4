"""Short moves for many cells at once: what they are said to serve is served, from outside and from inside."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.audits.known import intervals
from discreet.methods.suppress.by_elimination import suppressed_by_elimination
from discreet.methods.suppress.gauss.on_table import eliminated
from discreet.methods.suppress.model.task import Task
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning
from discreet.methods.suppress.repair import judge
from discreet.methods.suppress.repair.insider_bounds import learned
from discreet.methods.suppress.repair.short_moves import ShortMoves, served_by_moves

ALWAYS = replace(DEFAULT, repair=replace(DEFAULT.repair, walked=0, owners_walked=0))
CLOSED = replace(DEFAULT, repair=replace(DEFAULT.repair, walked=10_000, owners_walked=0))


def firms(seed: int, *shape: int) -> Task:
    """Amounts of skewed firms by codes without groups, some of the same holding."""
    rng = np.random.default_rng(seed)
    many = rng.poisson(3 * rng.lognormal(0, 0.7, shape)).ravel()
    codes = np.unravel_index(np.repeat(np.arange(len(many)), many), shape)
    names = [f"d{k}" for k in range(len(shape))]
    frame = pd.DataFrame({name: [f"c{c:02d}" for c in column] for name, column in zip(names, codes, strict=True)})
    frame["holding"] = [f"h{k}" for k in rng.integers(0, max(len(frame) * 9 // 10, 1), len(frame))]
    frame["turnover"] = np.rint(rng.lognormal(4, 1.5, len(frame))).astype(int)
    data = dc.Microdata.of(frame, dimensions=names, magnitudes=["turnover"], holding="holding")
    table = dc.tabulate(data, names, value="turnover")
    return Task.of(dc.Suppress(dc.PPercent(10), singletons="own").parameters, table, tuning=ALWAYS)


@pytest.mark.parametrize(("seed", "shape"), [(1, (6, 5, 4)), (2, (12, 9))])
def test_what_moves_serve_is_what_the_programs_say(seed: int, shape: tuple[int, ...]) -> None:
    """Every need that is said to be met has the room in front of the pattern, by exact intervals."""
    task = firms(seed, *shape)
    hidden = task.withheld.copy()
    hidden[eliminated(task).secondary] = True
    quantities, needs = task.quantities(hidden), task.requirements(hidden)
    known, costs = task.known(hidden), judge._costs(task, quantities)
    truth = judge._truth(task, quantities, known)
    served = served_by_moves(known, truth, needs, costs, hidden, ALWAYS.repair)
    assert served.met.mean() > 0.9
    assert (served.hidden | ~hidden).all()
    assert (served.hidden & ~hidden).any()
    low, high = intervals(judge._with_pattern(known, quantities, served.hidden), needs.cell[served.met])
    met, value = needs.take(np.flatnonzero(served.met)), truth[needs.cell[served.met]]
    assert (value - low >= met.below - 1e-3).all()
    assert (high - value >= met.above - 1e-3).all()
    assert (high - low >= np.maximum(met.sliding, 1) - 1e-3).all()


def test_a_move_that_breaks_a_sum_or_a_bound_counts_for_nothing() -> None:
    """The reach is worked out from the intruder's own equations, whatever the search has kept."""
    task = firms(1, 6, 5, 4)
    hidden = task.withheld
    quantities = task.quantities(hidden)
    known, costs = task.known(hidden), judge._costs(task, quantities)
    truth = judge._truth(task, quantities, known)
    moves = ShortMoves(known, truth, costs, hidden, ALWAYS.repair)
    targets = np.unique(moves.place[np.flatnonzero(task.roles.primary)])
    targets = targets[targets >= 0]
    moves.walk(targets, np.ones(len(targets), np.int64), (200, 8, 8), both=True)
    pattern = moves.pattern()
    reach, fits = moves.reach(pattern)
    assert reach.max() > 0
    assert fits.all()
    shown = pattern.nonzero()[0][~hidden[pattern]]
    assert moves.reach(hidden)[0][:, shown].max() == 0  # cells that are shown stay
    moves.lists[:] = [one._replace(changes=2 * one.changes + np.arange(len(one.changes)) % 2) for one in moves.lists]
    reach, fits = moves.reach(pattern)
    assert reach.max() == 0
    assert not fits.any()


@pytest.mark.parametrize("tuning", [ALWAYS, CLOSED], ids=["hiding more", "of hidden cells alone"])
def test_nobody_alone_in_a_cell_learns_one_after_moves_past_everybody(tuning: Tuning) -> None:
    """The exact audit from inside agrees with what the moves are said to show."""
    task = replace(firms(3, 8, 6, 4), tuning=tuning)
    hidden = task.withheld.copy()
    hidden[eliminated(task).secondary] = True
    owners = task.owners
    assert owners is not None
    primary = np.flatnonzero(task.roles.primary)
    assert learned(task.known(task.withheld), owners.group, primary, owners.nothing)
    result = judge.audited(task, hidden, owners)
    assert not len(result.hopeless)
    assert not learned(task.known(result.hidden), owners.group, primary, owners.nothing)


def test_a_large_table_is_protected_without_elimination() -> None:
    """The whole pattern by moves: every level by exact intervals, nobody learns anything, the same bits every time."""
    task = firms(4, 7, 5, 4)
    alone = replace(task, tuning=replace(ALWAYS, repair=replace(ALWAYS.repair, walked_alone=0)))
    result = suppressed_by_elimination(alone)
    assert not (result.step == "elimination").any()
    needs, quantities = task.requirements(result.hidden), task.quantities(result.hidden)
    truth = quantities.values[needs.cell]
    known = task.known(result.hidden)
    low, high = intervals(known, needs.cell)
    assert (truth - low >= needs.below - 1e-3).all()
    assert (high - truth >= needs.above - 1e-3).all()
    owners = task.owners
    assert owners is not None
    assert not learned(known, owners.group, np.flatnonzero(task.roles.primary), owners.nothing)
    assert np.array_equal(suppressed_by_elimination(alone).hidden, result.hidden)


def test_walks_side_by_side_find_the_same_for_any_number_of_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks are cut by the targets alone, and each begins with what those of the turn before found."""
    task = firms(2, 12, 9)
    hidden = task.withheld.copy()
    quantities, needs = task.quantities(hidden), task.requirements(hidden)
    known, costs = task.known(hidden), judge._costs(task, quantities)
    truth = judge._truth(task, quantities, known)
    few = replace(ALWAYS.repair, walk_chunk=3, walk_lanes=2)
    found = []
    for workers in ("1", "2"):
        monkeypatch.setenv("DISCREET_WORKERS", workers)
        found.append(served_by_moves(known, truth, needs, costs, hidden, few))
    assert np.array_equal(found[0].hidden, found[1].hidden)
    assert np.array_equal(found[0].met, found[1].met)
    assert found[0].met.mean() > 0.9
    assert len(needs) > 6
    assert (found[0].hidden | ~hidden).all()
