"""Rounds of solving and asking: what insiders could still work out is required, too, and the problem solved anew."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import OutOfTimeError, Unjudged
from discreet.methods.suppress.gauss import candidate_order as order
from discreet.methods.suppress.gauss import insiders
from discreet.methods.suppress.gauss.on_table import elimination_columns
from discreet.methods.suppress.model.from_table import TableProblem
from discreet.methods.suppress.model.problem import Problem, Requirements
from discreet.methods.suppress.repair.judge import learned_by_owners


def solved_for_insiders(
    of_table: TableProblem, find: Callable[[Problem], Array], late: Callable[[Problem], bool] = lambda asked: False
) -> tuple[Array, bool]:
    """A pattern of all variables from which no insider learns, and whether the solver itself got there.

    ``find`` solves a problem; ``late`` is told what is asked for in addition and says whether there is time for it.
    """
    problem = of_table.problem
    asked = set[tuple[int, bytes]]()
    for _ in range(of_table.task.tuning.limits.rounds):
        pattern = find(problem)
        try:
            more = insider_requirements(of_table, pattern)
        except (OutOfTimeError, Unjudged):  # the audit has to say it
            return pattern, False
        if not len(more):
            return pattern, True
        new = {(int(c), more.known[k].tobytes()) for c, k in zip(more.cell, more.coalition, strict=True)}
        if new <= asked or late(problem.with_needs(more)):  # asked before in vain: the audit has to repair it
            break
        asked |= new
        problem = problem.with_needs(problem.needs + more)
    try:
        return of_table.widened(_by_elimination(of_table, pattern[: of_table.cells])), False
    except (OutOfTimeError, Unjudged):
        return pattern, False


def insider_requirements(of_table: TableProblem, pattern: Array) -> Requirements:
    """What a pattern of variables leaves open: what somebody with cells of his own could work out.

    First what follows for him, which is found fast; if nothing does, what bounds leave him one value of.
    """
    if of_table.owner is None or not of_table.owner.any():
        return Requirements.of(*(np.empty(0),) * 3)
    task = of_table.task
    primary = np.flatnonzero(task.roles.primary)
    shown = np.flatnonzero(~pattern[: of_table.cells])
    tied = elimination_columns(task)
    who = insiders.openers(task.roles.matrix, shown, primary, of_table.owner, of_table.nothing, tied=tied)
    if who.any():
        return of_table.against(primary[who > 0], who[who > 0])
    learned = learned_by_owners(task, pattern[: of_table.cells])
    cells = np.concatenate([primary[:0], *learned.values()])
    people = np.repeat(list(learned), [len(c) for c in learned.values()])
    return of_table.against(cells, people.astype(np.int64))


def _by_elimination(of_table: TableProblem, hidden: Array) -> Array:
    """Further cells by elimination, so that nobody can subtract his own."""
    task, n = of_table.task, of_table.cells
    roles = task.roles
    assert of_table.owner is not None
    forced = np.flatnonzero(roles.forced)
    free = ~(task.withheld | roles.forced)
    weight = of_table.problem.weight[:n]
    wanted = np.where(np.isfinite(weight), weight, 0)
    sequence = np.concatenate([forced, order.sequence(wanted, np.zeros(n, bool), free)])
    sensitive, secondary = np.flatnonzero(roles.primary), np.flatnonzero(hidden & free)
    pattern = insiders.close_insiders(
        roles.matrix,
        elimination_columns(task),
        sensitive,
        sequence,
        len(forced),
        secondary,
        of_table.owner,
        rounds=task.tuning.problem.insider_rounds,
    )
    more = hidden.copy()
    more[pattern.secondary] = True
    return more
