"""Suppression by a solver: its pattern after the audit, or elimination's, audited before, if that proves nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import OutOfTimeError, Unjudged
from discreet.methods.suppress.insider_rounds import insider_requirements
from discreet.methods.suppress.limits import Limit, fall_back
from discreet.methods.suppress.model.from_table import problem_of
from discreet.methods.suppress.model.parameters import OFF
from discreet.methods.suppress.model.task import Task
from discreet.methods.suppress.repair.judge import audited
from discreet.methods.suppress.repair.repair import Repaired
from discreet.methods.suppress.solve import HopelessError, Solved, fallen_back, solved, weights_of
from discreet.methods.suppress.suppressed import REPAIR, Suppressed, first_step, nothing_found


def suppressed_by_solver(task: Task, solver: Any, limit: Limit) -> Suppressed:
    """The pattern of a solver, audited and repaired, within the limit."""
    spare = fall_back(task, limit)
    try:
        pattern = solved(task, solver, limit.search(spare), None if spare is None else spare.hidden)
        result = _audited(task, pattern)
    except HopelessError as hopeless:
        return nothing_found(task, hopeless.columns)
    except (OutOfTimeError, Unjudged) as unfinished:
        if spare is None and isinstance(unfinished, Unjudged):
            raise
        if spare is None:
            raise limit.exceeded() from None
        pattern = fallen_back(task, solver, spare.hidden)
        result = Repaired(spare.hidden, spare.rounds, np.empty(0, np.int64))
    if len(result.hopeless):
        return nothing_found(task, result.hopeless)
    n, step = len(task.table), first_step(task)
    step[(result.hidden & ~task.withheld)[:n]] = REPAIR
    step[(pattern.hidden & ~task.withheld)[:n]] = pattern.step
    final = pattern if np.array_equal(result.hidden, pattern.hidden) else pattern.repaired(result.hidden)
    audits = {"audits": result.rounds} if task.asked.asks != OFF else {}
    details = {pattern.name: 0, pattern.step: 0, REPAIR: 0, **final.details, **audits}
    return Suppressed(result.hidden, step, details, weight=pattern.weight)


def solver_adds_nothing(task: Task, solver: Any, hidden: Array) -> bool:
    """Whether a pattern protects as it is, so that the cheapest one that holds it is itself, for the audit too.

    Told without the solver, and so soon; ``hidden`` are the columns that are withheld from the start.
    """
    from discreet.methods.suppress.attacker.feasibility import met

    of_table = problem_of(task, weights_of(solver))
    pattern = of_table.widened(hidden)
    if not met(of_table.problem, pattern).all() or len(insider_requirements(of_table, pattern)):
        return False
    if task.asked.asks == OFF:
        return True
    result = audited(task, hidden, task.owners)
    return not len(result.hopeless) and bool(np.array_equal(result.hidden, hidden))


def _audited(task: Task, pattern: Solved) -> Repaired:
    """What the audit made of a solver's pattern.

    Without time for it the solver's own proof does for amounts; whole numbers only the audit looks at.
    """
    unchanged = Repaired(pattern.hidden, 0, np.empty(0, np.int64))
    if task.asked.asks == OFF:
        return unchanged
    try:
        return audited(task, pattern.hidden, task.owners)
    except OutOfTimeError:
        if not pattern.proved or task.table.measure == "count":
            raise
        return unchanged
