"""Repair against the holder of the program: where his attack leaves a sensitive cell one value, more is hidden.

The attack repeats the call *without* this repair. A pattern is let pass if the call so gives it, with some key, to
tables with two values of every sensitive cell. For each of these tables the call with the repair gives it, too, with
the same key: whether a pattern is let pass depends on the release alone. So the repair itself tells nothing.

Any pattern that protects a table can come about with some key, the one that makes decoys of all its hidden cells but
the sensitive ones. So no call of the method is needed to know that a table survives: only that the pattern protects it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from discreet.audits.owner_attack import Call, OwnerSearch, fitting_tables
from discreet.audits.view import view
from discreet.base.annotations import Array
from discreet.errors import InputError
from discreet.methods.suppress.gauss.on_table import eliminated
from discreet.methods.suppress.model.parameters import OFF
from discreet.methods.suppress.model.task import Task
from discreet.methods.suppress.repair.judge import audited
from discreet.methods.suppress.suppressed import OWNER, Suppressed, to_protected
from discreet.tables.relations import of_layout

OWNER_LEFT = "owner"
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


def defended(task: Task, result: Suppressed, call: Call, closed: Callable[[Task], Suppressed]) -> Suppressed:
    """The result after the attack of the holder of the program leaves every sensitive cell two values.

    ``closed``: what elimination, the audit and the rule on unions hide of a task with its draw. ``details["owner"]``:
    how many sensitive cells still have one value for him, or "not tried" where the table is too large. The same key
    gives the same pattern: the work is limited by numbers of calls, not by seconds.
    """
    tuning = task.tuning.key
    small = int(result.hidden.sum()) <= tuning.free
    if task.asked.asks == OFF or not small or task.asked.earlier:
        return replace(result, details={**result.details, OWNER_LEFT: NOT_TRIED})
    lone, calls = lone_cells(task, result, call, tuning.calls)
    while lone and calls < tuning.calls:
        for cell in _further_cells(task, result.hidden)[: tuning.cells]:
            other = _hiding(task, result, cell, closed)
            if other is None:
                continue
            left, more = lone_cells(task, other, call, tuning.calls - calls)
            calls += more
            if left < lone:
                result, lone = other, left
                break
            if calls >= tuning.calls:
                break
        else:
            break
    return replace(result, details={**result.details, OWNER_LEFT: lone})


def lone_cells(task: Task, result: Suppressed, call: Call, calls: int) -> tuple[int, int]:
    """How many sensitive cells have one value left for the holder of the program, and how many calls it took to see.

    Where the calls do not do for all of them, those that no second value was seen of count as having one.
    """
    tuning = task.tuning.key
    protected = to_protected(task, result, None)
    random = np.random.default_rng(0)
    number = np.flatnonzero(task.roles.primary[: len(task.table)])
    try:
        tables, _ = fitting_tables(protected, view(protected).known, call, tuning.fitting, tuning.draws, random)
    except InputError:
        return len(number), 1
    search = OwnerSearch(protected, call, tables, number, random, calls)
    search.settle_lone()
    return int(search.lone().sum()), search.calls


def _further_cells(task: Task, hidden: Array) -> list[int]:
    """Cells that may be hidden too, in sums with hidden ones, the cheapest by drawn weight first."""
    n = len(task.table)
    rows = of_layout(task.table.layout)[:, :n]
    near = (abs(rows).T @ (abs(rows) @ hidden[:n].astype(float))) > 0
    value = np.abs(task.table.value.astype(float))
    able = near & ~hidden[:n] & ~task.roles.forced[:n] & (value > 0)
    cost = np.where(able, (value + 1) * task.draw.factor[:n], np.inf)
    return [int(cell) for cell in np.argsort(cost, kind="stable")[: int(able.sum())]]


def _hiding(task: Task, result: Suppressed, cell: int, closed: Callable[[Task], Suppressed]) -> Suppressed | None:
    """The result with one more cell hidden, and with what keeps all of them from following; None if nothing does.

    All that is hidden so far and the cell are decoys of that search, so tables with other sensitive cells give the
    same pattern by way of such decoys.
    """
    decoys = result.hidden & ~(task.roles.primary | task.roles.never)
    decoys[cell] = True
    other = closed(task.with_draw(replace(task.draw, decoys=decoys)))
    if len(other.unsafe):
        return None
    return result.hiding(other.hidden, OWNER)
