"""Patterns are mended until every sensitive cell is protected, to its level where that is asked for."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import discreet as dc
from discreet.audits.known import Known, intervals, unmovable
from discreet.methods.suppress.model.problem import Requirements
from discreet.methods.suppress.model.tuning import DEFAULT
from discreet.methods.suppress.repair.further_cells import Costs
from discreet.methods.suppress.repair.repair import repair
from tests.problems import two_way


def test_protection_levels_are_reached_by_repair() -> None:
    """Exact only needs two values; levels need room of 100 percent, down to the 1 that everybody knows of."""
    table = two_way([[20, 5, 9], [4, 30, 8], [7, 6, 12]])
    rule = dc.Threshold(5, level=100)
    done = dc.protect(table, dc.Suppress(rule, repair="levels"))
    primary = np.flatnonzero(rule(table))
    low, high = intervals(Known.hiding(table, done.hidden), primary)
    value = table.count[primary]
    assert (high >= 2 * value).all()
    assert (low <= 1).all()
    assert (done.details["why"][done.status == "u"] == "rule").all()


def test_many_linked_tables_of_a_sparse_census_are_repaired() -> None:
    """All tables of one to three of four sparse dimensions: nearly every sensitive cell is stuck until repair."""
    names = ["age", "activity", "occupation", "citizenship"]
    margins = [m for k in (1, 2, 3) for m in itertools.combinations(names, k)]
    table = dc.tabulate(dc.datasets.census(n=20_000), margins=margins)
    done = dc.protect(table, dc.Suppress(dc.Threshold(3)))
    assert done.details["repair"] > 0
    known = Known.hiding(table, done.hidden)
    known = replace(known, lower=np.where(done.hidden, 1, known.lower))
    assert not unmovable(known, np.flatnonzero(done.status == "u")).any()


@pytest.mark.parametrize("seed", range(3))
def test_cells_taken_to_have_one_value_are_repaired(seed: int) -> None:
    """Without a proof of each that it is stuck; afterwards every one has a second whole value."""
    table = dc.Table.of(np.random.default_rng(seed).poisson(1.2, (6, 5, 4)), ["a", "b", "c"])
    values = table.count.astype(float)
    hidden = table.is_inner & (table.count == 1)
    known = Known.hiding(table, hidden)
    known = replace(known, lower=np.where(hidden, 0, known.lower))
    cells = np.flatnonzero(hidden)
    stuck = unmovable(known, cells)
    assert stuck.any()
    system = known.system()
    assert system.point is not None
    costs = Costs(np.where(hidden, 0, values + 1), np.zeros(len(values)), np.full(len(values), np.inf))
    tuning = replace(DEFAULT.repair, proofs=0)
    needs = Requirements.of(cells, np.zeros(len(cells)), np.zeros(len(cells)))
    result = repair(known, system.point, needs, costs, hidden, tuning=tuning)
    assert not len(result.hopeless)
    assert (result.hidden & ~hidden).any()
    after = np.where(result.hidden, 0, known.lower), np.where(result.hidden, np.inf, known.upper)
    low, high = intervals(replace(known, lower=after[0], upper=after[1]), cells)
    assert (high > low).all()
