"""Repair against the holder of the program: where his attack leaves a sensitive cell one value, more is hidden.

The attack repeats the call *without* this repair. A pattern is let pass if the call so gives it, with some key, to
tables with two values of every sensitive cell. For each of these tables the call with the repair gives it, too, with
the same key: whether a pattern is let pass depends on the release alone. So the repair itself tells nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from discreet.audits.owner_attack import OwnerSearch, fitting_tables
from discreet.audits.view import view
from discreet.base.annotations import Array
from discreet.errors import InputError
from discreet.methods.suppress.gauss.on_table import eliminated
from discreet.methods.suppress.model.parameters import OFF
from discreet.methods.suppress.model.task import Task
from discreet.methods.suppress.repair.judge import audited
from discreet.methods.suppress.suppressed import REPAIR, Suppressed, to_protected
from discreet.tables.relations import of_layout

OWNER = "owner"
NOT_TRIED = "not tried"


def elimination_gives(task: Task, cells: Array) -> bool:
    """Whether elimination, audit and repair hide exactly these cells of the table."""
    n = len(task.table)
    pattern = eliminated(task)
    if len(pattern.unsafe):
        return bool(task.draw.decoys.any()) and elimination_gives(task.without_decoys(), cells)
    hidden = task.withheld
    hidden[pattern.secondary] = True
    if (hidden[:n] & ~cells).any():
        return False
    same = bool(np.array_equal(hidden[:n], cells))
    if task.asked.asks == OFF:
        return same
    if same:  # whether the audit adds a cell does not depend on what is drawn
        return task.kept(f"audit of {hidden.tobytes().hex()}", lambda: _after_audit(task, hidden, cells))
    return _after_audit(task, hidden, cells)


def _after_audit(task: Task, hidden: Array, cells: Array) -> bool:
    """Whether the audit leaves exactly these cells hidden."""
    result = audited(task, hidden, task.owners)
    return not len(result.hopeless) and bool(np.array_equal(result.hidden[: len(cells)], cells))


def defended(task: Task, result: Suppressed, call: Any) -> Suppressed:
    """The result after the attack of the holder of the program leaves every sensitive cell two values.

    ``details["owner"]``: how many sensitive cells still have one value for him, or "not tried" where the table is not
    small or a solver finds the pattern, which takes too long to be repeated some hundred times. The same key gives the
    same pattern: the work is limited by numbers of calls, not by seconds.
    """
    small = int(result.hidden.sum()) <= task.tuning.key.free and _by_elimination(call)
    if task.asked.asks == OFF or not small or not task.roles.primary.any() or task.asked.earlier:
        return replace(result, details={**result.details, OWNER: NOT_TRIED})
    lone = lone_cells(task, result, call)
    for cell in _further_cells(task, result.hidden)[: task.tuning.key.cells]:
        if not lone:
            break
        other = _hiding(task, result, cell)
        if other is None:
            continue
        left = lone_cells(task, other, call)
        if left < lone:
            result, lone = other, left
    return replace(result, details={**result.details, OWNER: lone})


def lone_cells(task: Task, result: Suppressed, call: Any) -> int:
    """How many sensitive cells have one value left for the holder of the program, as far as so many calls show."""
    tuning = task.tuning.key
    protected = to_protected(task, result, None)
    random = np.random.default_rng(0)
    number = np.flatnonzero(task.roles.primary[: len(task.table)])
    try:
        tables, _ = fitting_tables(protected, view(protected).known, call, tuning.fitting, tuning.draws, random)
    except InputError:
        return len(number)
    search = OwnerSearch(protected, call, tables, number, random, tuning.calls)
    search.look_for_second_values()
    return int(search.lone().sum())


def _by_elimination(call: Any) -> bool:
    return isinstance(call.method, str) and call.method == "gauss"


def _further_cells(task: Task, hidden: Array) -> list[int]:
    """Cells that may be hidden too, in sums with hidden ones, the cheapest by drawn weight first."""
    n = len(task.table)
    rows = of_layout(task.table.layout)[:, :n]
    near = (abs(rows).T @ (abs(rows) @ hidden[:n].astype(float))) > 0
    value = np.abs(task.table.value.astype(float))
    able = near & ~hidden[:n] & ~task.roles.forced[:n] & (value > 0)
    cost = np.where(able, (value + 1) * task.draw.factor[:n], np.inf)
    return [int(cell) for cell in np.argsort(cost, kind="stable")[: int(able.sum())]]


def _hiding(task: Task, result: Suppressed, cell: int) -> Suppressed | None:
    """The result with one more cell hidden, after the audit; None if that cannot be protected."""
    n, hidden = len(task.table), result.hidden.copy()
    hidden[cell] = True
    repaired = audited(task, hidden, task.owners)
    if len(repaired.hopeless):
        return None
    step = result.step.copy()
    step[(repaired.hidden & ~result.hidden)[:n]] = REPAIR
    return replace(result, hidden=repaired.hidden, step=step)
