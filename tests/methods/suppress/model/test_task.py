"""What all steps of a suppression work on: computed once, and by the pattern only where the pattern matters."""

from __future__ import annotations

from typing import Any

import numpy as np

import discreet as dc
from discreet.methods.suppress.gauss.insiders import openers
from discreet.methods.suppress.model.task import Task

COUNTS = [[2, 30, 0, 50], [35, 45, 25, 60], [70, 80, 90, 65], [55, 75, 85, 95]]


def test_what_is_asked_of_the_user_is_asked_once() -> None:
    """Functions given as order and levels are called once from method to release."""
    table, calls = dc.Table.of(COUNTS, ["a", "b"]), []

    def order(given: dc.Table) -> Any:
        calls.append("order")
        return given.count

    def levels(given: dc.Table) -> dc.Levels:
        calls.append("levels")
        return dc.Levels(below=np.full(len(given), 1.0), above=np.full(len(given), 2.0))

    dc.protect(table, dc.Suppress(dc.Threshold(3), order, levels=levels))
    assert sorted(calls) == ["levels", "order"]


def test_requirements_change_with_a_pattern_only_if_a_hidden_cell_may_be_empty() -> None:
    """While every empty cell is shown a hidden one has somebody in it; equal patterns share what was computed."""
    table = dc.Table.of(COUNTS, ["a", "b"])
    task = Task.of(dc.Suppress(dc.Threshold(3)).parameters, table)
    primary = task.roles.primary
    with_empty, more = primary | (table.count == 0), primary | (table.count == 30)
    assert task.requirements(primary) is task.requirements(more)
    assert task.quantities(primary) is task.quantities(more)
    assert (task.quantities(primary).bottom == 1).all()
    assert (task.quantities(with_empty).bottom < 1).all()


def test_an_owner_is_asked_also_where_withheld_cells_protect_from_outsiders() -> None:
    """Cells hidden by wish close a rectangle; whoever knows one corner of it could subtract it."""
    counts = np.array(COUNTS)
    counts[0, 2] = 40
    table = dc.Table.of(counts, ["a", "b"])
    owner = np.zeros(table.layout.n_inner, np.int64)
    owner[1] = 7
    corners = [{"a": "1", "b": "2"}, {"a": "2", "b": "1"}, {"a": "2", "b": "2"}]
    rule = dc.Threshold(3)
    done = dc.protect(table, dc.Suppress(rule, hidden=corners, singletons=owner))
    sensitive = np.flatnonzero(rule(table))
    from_the_start = rule(table) | (done.status == dc.Status.NEVER.value)
    assert openers(table.matrix, np.flatnonzero(~from_the_start), sensitive, owner).any()
    assert not openers(table.matrix, np.flatnonzero(~done.hidden), sensitive, owner).any()
