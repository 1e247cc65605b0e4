"""Clean-up: cells that need not be hidden are shown again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array
from discreet.errors import OutOfTimeError, Unjudged
from discreet.methods.suppress.insider_rounds import solved_for_insiders
from discreet.methods.suppress.model.from_table import problem_of, weigh
from discreet.methods.suppress.model.problem import Problem
from discreet.methods.suppress.model.task import Task
from discreet.methods.suppress.repair.judge import audited
from discreet.methods.suppress.suppressed import REPAIR, Suppressed


def cleaned(task: Task, result: Suppressed, weights: Any, until: float) -> Suppressed:
    """A result without the cells that need not be hidden; each cell left is needed by the others.

    Where the time is up before that is proved, or the solver does not settle it, the pattern stays as it is.
    """
    before, n = result.hidden, len(task.table)
    weight = weigh(task, weights)
    try:
        with deadline.until(until):
            after, cost = _needed(task, before, weights)
    except (OutOfTimeError, Unjudged):
        after, cost = before, float(weight[before & np.isfinite(weight)].sum())
    step = result.step.copy()
    step[(before & ~after)[:n]] = ""
    step[(after & ~before)[:n]] = REPAIR
    details = {**result.details, "clean-up": int(before.sum() - after.sum())}
    if "cost" in details:
        details |= {"cost": cost, "gap": max(cost - details["bound"], 0.0) / cost if cost else 0.0}
    return replace(result, hidden=after, step=step, details=details)


def _needed(task: Task, hidden: Array, weights: Any) -> tuple[Array, float]:
    """The cheaper of a pattern and what pruning, insiders and the audit make of it; and what it costs."""
    from discreet.methods.suppress.heuristics.prune import shrunk

    of_table = problem_of(task, weights)
    start, weight = of_table.widened(hidden), of_table.problem.weight[: of_table.cells]
    before = float(weight[hidden & np.isfinite(weight)].sum())

    def prune(problem: Problem) -> Array:
        return shrunk(problem, start, progress=task.asked.progress).pattern

    pattern, proved = solved_for_insiders(of_table, prune)
    if (pattern[: of_table.cells] == hidden).all():  # which the audit has seen
        return hidden, before
    result = audited(task, pattern[: of_table.cells], task.owners)
    pruned = result.hidden if proved and not len(result.hopeless) else hidden
    after = float(weight[pruned & np.isfinite(weight)].sum())  # whole numbers may ask for other cells
    return (pruned, after) if after < before else (hidden, before)
