"""Clean-up: cells that need not be hidden are shown again."""

from __future__ import annotations

import time
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

    Where the time is up before the audit has seen it, or the solver does not settle it, the pattern stays as it is.
    Cells that were not tried, as enough was done by then or half of the time was over, stay hidden; they are counted.
    """
    before, n = result.hidden, len(task.table)
    weight = weigh(task, weights)
    try:
        with deadline.until(until):
            after, cost, untried = _needed(task, before, weights, until)
    except (OutOfTimeError, Unjudged):
        after, cost = before, float(weight[before & np.isfinite(weight)].sum())
        untried = int((before & ~task.withheld).sum())
    step = result.step.copy()
    step[(before & ~after)[:n]] = ""
    step[(after & ~before)[:n]] = REPAIR
    details = {**result.details, "clean-up": int(before.sum() - after.sum()), "clean-up untried": untried}
    if "cost" in details:
        details |= {"cost": cost, "gap": max(cost - details["bound"], 0.0) / cost if cost else 0.0}
    return replace(result, hidden=after, step=step, details=details)


def _needed(task: Task, hidden: Array, weights: Any, until: float) -> tuple[Array, float, int]:
    """The cheaper of a pattern and what pruning, insiders and the audit make of it; what it costs; cells not tried."""
    from discreet.methods.suppress.heuristics.prune import Shrunk, shrunk

    of_table, limits = problem_of(task, weights), task.tuning.limits
    start, weight = of_table.widened(hidden), of_table.problem.weight[: of_table.cells]
    before = float(weight[hidden & np.isfinite(weight)].sum())
    least, each_cell, each_sensitive = limits.cleaned_work
    most = max(least, each_cell * len(task.table), each_sensitive * int(task.roles.primary.sum()))
    rounds = list[Shrunk]()
    soon = time.monotonic() + limits.cleaned_search * (until - time.monotonic())

    def prune(problem: Problem) -> Array:
        left = limits.cleaned_first * most if not rounds else max(most - sum(done.spent for done in rounds), 0)
        left = left if until == np.inf else np.inf
        earlier = rounds[-1].pattern if rounds else None
        rounds.append(shrunk(problem, start, progress=task.asked.progress, until=soon, most=left, earlier=earlier))
        return rounds[-1].pattern

    pattern, proved = solved_for_insiders(of_table, prune)
    untried = int(rounds[-1].untried[: of_table.cells].sum())
    if (pattern[: of_table.cells] == hidden).all():  # which the audit has seen
        return hidden, before, untried
    result = audited(task, pattern[: of_table.cells], task.owners)
    pruned = result.hidden if proved and not len(result.hopeless) else hidden
    after = float(weight[pruned & np.isfinite(weight)].sum())  # whole numbers may ask for other cells
    return (pruned, after, untried) if after < before else (hidden, before, untried)
