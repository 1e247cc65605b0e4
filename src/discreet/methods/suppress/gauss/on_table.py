"""Gaussian elimination on a table: candidates, their order, singletons and insiders."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.base.annotations import Array
from discreet.methods.suppress.gauss import candidate_order as order
from discreet.methods.suppress.gauss import eliminate as gauss
from discreet.methods.suppress.gauss import insiders
from discreet.methods.suppress.gauss.by_lines import withheld_by_lines
from discreet.methods.suppress.gauss.tied_columns import TiedColumns
from discreet.methods.suppress.model import singletons
from discreet.methods.suppress.model.task import Task


def eliminated(task: Task) -> gauss.Pattern:
    """The pattern that elimination finds; ``unsafe`` columns follow from what must be published."""
    roles, single = task.roles, task.singletons
    if roles.sums is not None:
        single = replace(single, lenient=True)
    columns = elimination_columns(task)
    forced = np.flatnonzero(roles.forced)
    sequence = _sequence(task, _wanted(task))
    if gauss.takes_long_as_python(columns.residues, roles.n):  # then lines are sooner done than machine code is loaded
        withheld = withheld_by_lines(task, sequence, len(forced))
        if withheld is not None:
            return gauss.Pattern(withheld, sequence[:0])
    sensitive, decoys = np.flatnonzero(roles.primary), np.flatnonzero(task.draw.decoys)
    pattern = gauss.eliminate(
        columns.residues,
        np.concatenate([sensitive, decoys, roles.n + np.arange(columns.virtual)]),
        sequence,
        known=columns.known,
        forced=len(forced),
        singletons=columns.singletons(single),
        virtual=len(decoys) + columns.virtual,  # whoever knows his own cells may learn a decoy: it is not sensitive
        modular_columns=columns.residues,
        pivots=None if single.kind == singletons.OWN else columns.pivots,
        progress=task.asked.progress,
    )
    if single.kind == singletons.OWN and not len(pattern.unsafe):
        rounds = task.tuning.problem.insider_rounds
        pattern = insiders.close_insiders(
            roles.matrix, columns, sensitive, sequence, len(forced), pattern.secondary, single.group, rounds=rounds
        )
    return pattern


def elimination_columns(task: Task) -> TiedColumns:
    """What elimination works on, made once for all draws of a key."""

    def made() -> TiedColumns:
        extra = [] if task.roles.sums is None else [task.roles.sums.matrix]
        extra.append(gauss.unseen_singletons(task.roles.matrix, task.singletons))
        sequence = _sequence(task, wanted_by_table(task))
        turn = np.full(task.roles.n, len(sequence))
        turn[sequence] = np.arange(len(sequence))
        return TiedColumns.of(task.roles.joined.layout, extra, turn)

    return task.kept("elimination columns", made)


def sizes(task: Task) -> Array:
    """The size of every column; empty cells of the table are 0."""
    size = np.ones(task.roles.n)
    size[: len(task.table)] = task.table.count if task.table.magnitude is None else task.table.value
    return size


def _sequence(task: Task, wanted: Array) -> Array:
    """The candidates in their order: what must be published, zeros where they are shown, then the most wanted."""
    roles = task.roles
    free = ~(task.withheld | roles.forced)
    zeros_first = np.zeros(roles.n, bool) if roles.zeros else sizes(task) == 0
    return np.concatenate([np.flatnonzero(roles.forced), order.sequence(wanted, zeros_first, free)])


def _wanted(task: Task) -> Array:
    """How important each column is with what the key draws, and what last period hid."""
    size = wanted_by_table(task) * task.draw.factor
    n = len(task.table)
    if task.hidden_before is not None:
        size[:n] = np.where(task.hidden_before, size[:n] - size[:n].max(initial=0) - 1, size[:n])
    return size


def wanted_by_table(task: Task) -> Array:
    """How important each column is by the table alone; those of earlier tables only do not count."""
    return task.kept("wanted", lambda: _wanted_by_table(task))


def _wanted_by_table(task: Task) -> Array:
    table, roles = task.table, task.roles
    size = order.importance(table, task.asked.order, roles.primary[: len(table)])
    if roles.sums is not None:  # a line is better hidden by somebody than by nobody
        small = size[(table.count > 0) & (table.count <= roles.sums.k)]
        empty = table.count == 0
        above = small.max(initial=size[empty].max(initial=0)) + 1e-3 * (1 + np.arange(len(size)) / len(size))
        size = np.where(empty, above, size)
    wanted = np.zeros(roles.n)
    wanted[: len(table)] = size
    return wanted
