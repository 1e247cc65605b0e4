"""Patterns are mended until every sensitive cell is protected, to its level where that is asked for."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np

import discreet as dc
from discreet.audits.known import Known, intervals, unmovable
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
