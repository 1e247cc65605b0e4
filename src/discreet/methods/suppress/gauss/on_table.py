"""Gaussian elimination on a table: candidates, their order, singletons and insiders."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.methods.suppress.gauss import candidate_order as order
from discreet.methods.suppress.gauss import eliminate as gauss
from discreet.methods.suppress.gauss import insiders
from discreet.methods.suppress.gauss.by_lines import withheld_by_lines
from discreet.methods.suppress.model import singletons
from discreet.methods.suppress.model.task import Task


def eliminated(task: Task) -> gauss.Pattern:
    """The pattern that elimination finds; ``unsafe`` columns follow from what must be published."""
    roles, single = task.roles, task.singletons
    if roles.sums is not None:
        single = replace(single, lenient=True)
    matrix, virtual, modular_columns = elimination_columns(task)
    forced = np.flatnonzero(roles.forced)
    free = ~(task.withheld | roles.forced)
    zeros_first = np.zeros(roles.n, bool) if roles.zeros else sizes(task) == 0
    sequence = np.concatenate([forced, order.sequence(_wanted(task), zeros_first, free)])
    if gauss.takes_long_as_python(modular_columns):  # then lines are sooner done than machine code is loaded
        withheld = withheld_by_lines(task, sequence, len(forced))
        if withheld is not None:
            return gauss.Pattern(withheld, sequence[:0], 0)
    sensitive, decoys = np.flatnonzero(roles.primary), np.flatnonzero(task.draw.decoys)
    pattern = gauss.eliminate(
        matrix,
        np.concatenate([sensitive, decoys, roles.n + np.arange(virtual)]),
        sequence,
        forced=len(forced),
        singletons=single,
        virtual=len(decoys) + virtual,  # whoever knows his own cells may learn a decoy: it is not sensitive
        modular_columns=modular_columns,
        progress=task.asked.progress,
    )
    if single.kind == singletons.OWN and not len(pattern.unsafe):
        rounds = task.tuning.problem.insider_rounds
        pattern = insiders.close_insiders(
            matrix, sensitive, sequence, len(forced), pattern.secondary, single.group, rounds=rounds
        )
    return pattern


def elimination_columns(task: Task) -> tuple[Any, int, Any]:
    """Cells and sums that no cell shows as one matrix, how many of its columns are such sums, and its residues."""
    return task.kept("elimination columns", lambda: _columns(task))


def sizes(task: Task) -> Array:
    """The size of every column; empty cells of the table are 0."""
    size = np.ones(task.roles.n)
    size[: len(task.table)] = task.table.count if task.table.magnitude is None else task.table.value
    return size


def _columns(task: Task) -> tuple[Any, int, Any]:
    from scipy.sparse import csc_array, hstack

    from discreet.linear.modular import residues

    roles = task.roles
    extra = [gauss.unseen_singletons(roles.matrix, task.singletons)]
    if roles.sums is not None:
        extra.insert(0, roles.sums.matrix)
    virtual = sum(e.shape[1] for e in extra)
    matrix = csc_array(hstack([roles.matrix.tocsc(), *extra])) if virtual else roles.matrix
    return matrix, virtual, residues(matrix)


def _wanted(task: Task) -> Array:
    """How important each column is with what the key draws, and what last period hid."""
    size = wanted_by_table(task) * task.draw.factor
    n = len(task.table)
    if task.hidden_before is not None:
        size[:n] = np.where(task.hidden_before, size[:n] - size[:n].max(initial=0) - 1, size[:n])
    return size


def wanted_by_table(task: Task) -> Array:
    """How important each column is by the table alone; those of earlier tables only do not count."""
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
