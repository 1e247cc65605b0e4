"""What a suppression comes to: which cells are hidden by which step, and the Protected made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.methods.suppress.model.roles import levels_of
from discreet.methods.suppress.model.task import Task
from discreet.release import Protected, Status, publishable
from discreet.tables.room import Room
from discreet.tables.table import Table

RULE, KEY, ELIMINATION, RANK, REPAIR = "rule", "key", "elimination", "rank", "repair"  # steps,
UNIONS, OWNER = "unions", "owner"
OPTIMAL, MODULAR = "optimal", "modular"  # and solvers, each a step as well
WIDTH = 11  # letters of the longest name of a step


@dataclass(frozen=True, eq=False)
class Suppressed:
    """Columns that are hidden, per cell of the table the step that hid it, and what is told of the steps.

    ``unsafe``: sensitive columns that could not be protected; then there is no pattern. ``weight``: what a column costs
    the solver, where one found the pattern.
    """

    hidden: Array
    step: Array
    details: dict[str, Any]
    unsafe: Array = field(default_factory=lambda: np.empty(0, np.int64))
    weight: Array | None = None

    def hiding(self, hidden: Array, step: str) -> Suppressed:
        """The same with further columns hidden by a later step.

        The solver's bound holds for them as well, as more is asked for; its cost and the gap are told anew.
        """
        added = hidden & ~self.hidden
        steps, details = self.step.copy(), dict(self.details)
        steps[added[: len(steps)]] = step
        if self.weight is not None and added.any():
            cost = details["cost"] + float(self.weight[added & np.isfinite(self.weight)].sum())
            gap = max(cost - details["bound"], 0.0) / cost if cost > 0 else 0.0
            details |= {"cost": cost, "gap": gap, "solver status": "repaired"}
        return replace(self, hidden=hidden, step=steps, details=details)


def first_step(task: Task) -> Array:
    """Per cell of the table the step that hid it, before any secondary cell is hidden."""
    step = np.full(len(task.table), "", f"<U{WIDTH}")
    step[task.draw.decoys[: len(task.table)]] = KEY
    step[task.roles.primary[: len(task.table)]] = RULE
    return step


def nothing_found(task: Task, unsafe: Array) -> Suppressed:
    """The result when sensitive columns cannot be protected."""
    return Suppressed(task.withheld, first_step(task), {}, unsafe)


def to_protected(task: Task, result: Suppressed, measures: Sequence[str] | None) -> Protected:
    """The table with what is published of it: all that is not hidden, as it is."""
    table = task.table
    gone = result.hidden[: len(table)]
    shown = {
        name: np.where(gone, np.nan, publishable(table, name).astype(float)) for name in measures or (table.measure,)
    }
    status = _status(task, result.hidden)
    details: dict[str, Any] = {
        "rule": str(task.asked.rule),
        "why": result.step,
        "primary": int((status == Status.PRIMARY.value).sum()),
        **result.details,
    }
    steps = (ELIMINATION, RANK, OPTIMAL, MODULAR, REPAIR, UNIONS)
    if task.asked.key is not None:
        details[KEY] = int((result.step == KEY).sum())
    details |= {name: int((result.step == name).sum()) for name in steps if name in result.details}
    words = "cell suppression"
    if table.measure == "count":
        details["insiders"] = task.asked.insiders
        if task.asked.insiders:
            words += safe_from(task.asked.insiders, lines=task.roles.sums is not None)
    return Protected(table, shown, status, words, details, truthful=True, room=_room(task))


def safe_from(k: int, *, lines: bool) -> str:
    """What is proved of insiders, in words for the release; of lines it is proved without knowing to be alone."""
    words = f", no sensitive cell follows for any {k} of the people in the table who work together"
    more = "; nor that all others of a line stand in one cell, for those who do not know that they are alone in theirs"
    return words + more if lines else words


def _status(task: Task, hidden: Array) -> Array:
    roles, n = task.roles, len(task.table)
    status = np.full(n, Status.PUBLISHED.value)
    status[hidden[:n]] = Status.SECONDARY.value
    status[roles.forced[:n]] = Status.FORCED.value
    status[roles.never[:n] & ~roles.joined.withheld[:n]] = Status.NEVER.value
    status[roles.primary[:n]] = Status.PRIMARY.value
    return status


def _room(task: Task) -> Room:
    """What an audit goes by: the levels of the rule, also where less was asked for, and bounds known beforehand."""
    table, roles = task.table, task.roles
    n, scale = len(table), 10.0 ** table.statistic(table.measure).decimals
    levels = _levels_of_rule(task) if roles.asked is None else _levels_required(task, scale)
    bounded = np.isfinite(roles.low).any() or np.isfinite(roles.high).any()
    bounds = (roles.low[:n] / scale, roles.high[:n] / scale) if bounded else None
    return Room(levels=levels, bounds=bounds, sums=roles.sums)


def _levels_of_rule(task: Task) -> tuple[Array, ...]:
    """Below, above and sliding levels that the rule asks for where the pattern was made for less."""
    from discreet.audits.auditing import most_below

    table: Table = task.table
    wanted = levels_of(task.asked, table)
    below = np.minimum(wanted.below, most_below(table))
    primary = task.roles.primary[: len(table)]
    return tuple(np.where(primary, level, 0) for level in (below, wanted.above, wanted.sliding))


def _levels_required(task: Task, scale: float) -> tuple[Array, ...]:
    """Below, above and sliding levels that the pattern was made for, in the measure's own units."""
    n = len(task.table)
    requirements = task.requirements(task.roles.primary)
    mine = requirements.take(np.flatnonzero(requirements.cell < n))
    levels = np.zeros((3, n))
    levels[:, mine.cell] = mine.below / scale, mine.above / scale, mine.sliding / scale
    return tuple(levels)
