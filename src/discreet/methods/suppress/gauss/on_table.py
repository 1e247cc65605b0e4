"""Gaussian elimination on a table: candidates, their order, singletons and insiders."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.methods.suppress.gauss import candidate_order as order
from discreet.methods.suppress.gauss import eliminate as gauss
from discreet.methods.suppress.gauss import insiders
from discreet.methods.suppress.gauss.by_lines import withheld_by_lines
from discreet.methods.suppress.model import singletons
from discreet.methods.suppress.model.task import Task


@dataclass(frozen=True, eq=False)
class TiedColumns:
    """Cells, ``virtual`` sums that no cell shows, and the sums that tie cells to each other, which are known.

    Rows are the cells, then inner cells that are none: a cell is one entry, and a sum as long as it has parts. Written
    over inner cells alone a total would be as long as the table, and the work many times as much.
    """

    residues: Any
    virtual: int
    known: Array
    row_of_inner: Array

    def singletons(self, single: singletons.Singletons) -> singletons.Singletons:
        """The same people, by rows instead of inner cells."""
        group = np.zeros(self.residues.shape[0], single.group.dtype)
        group[self.row_of_inner] = single.group
        return replace(single, group=group)


def eliminated(task: Task) -> gauss.Pattern:
    """The pattern that elimination finds; ``unsafe`` columns follow from what must be published."""
    roles, single = task.roles, task.singletons
    if roles.sums is not None:
        single = replace(single, lenient=True)
    columns = elimination_columns(task)
    forced = np.flatnonzero(roles.forced)
    free = ~(task.withheld | roles.forced)
    zeros_first = np.zeros(roles.n, bool) if roles.zeros else sizes(task) == 0
    sequence = np.concatenate([forced, order.sequence(_wanted(task), zeros_first, free)])
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
        pivots=None if single.kind == singletons.OWN else late_codes(task, columns, sequence),
        progress=task.asked.progress,
    )
    if single.kind == singletons.OWN and not len(pattern.unsafe):
        rounds = task.tuning.problem.insider_rounds
        pattern = insiders.close_insiders(
            roles.matrix, sensitive, sequence, len(forced), pattern.secondary, single.group, rounds=rounds
        )
    return pattern


def late_codes(task: Task, columns: TiedColumns, sequence: Array) -> Array:
    """A place for every row as pivot: first rows of codes whose cells come late, in all dimensions taken together.

    A pivot that is published needs another, so late ones are best. But where each line takes its own latest cell, the
    lines fill each other; where all take the same codes, what is left of them stays short.
    """
    layout, n, last = task.roles.joined.layout, task.roles.n, len(sequence)
    turn = np.full(columns.residues.shape[0], last)
    turn[sequence] = np.arange(last)
    other = np.flatnonzero(columns.row_of_inner >= n)  # inner cells that are no cells
    leaves = np.unravel_index(layout.inner[other], layout.shape)
    late = np.zeros(len(turn))
    for k, dimension in enumerate(layout.dimensions):
        codes = layout.codes[:, k]
        many = np.bincount(codes, minlength=len(dimension.codes))
        mean = np.bincount(codes, weights=turn[:n], minlength=len(many)) / np.maximum(many, 1)
        place = np.argsort(np.argsort(np.where(many > 0, mean, last), kind="stable")) / len(many)
        late[:n] += place[codes]
        position = np.array([dimension.position[code] for code in dimension.leaves])
        late[columns.row_of_inner[other]] += place[position[leaves[k]]]
    ranked = np.empty(len(turn), np.int64)
    ranked[np.lexsort((-turn, -late))] = np.arange(len(turn))
    return ranked


def elimination_columns(task: Task) -> TiedColumns:
    """What elimination works on, made once for all draws of a key."""
    return task.kept("elimination columns", lambda: _columns(task))


def sizes(task: Task) -> Array:
    """The size of every column; empty cells of the table are 0."""
    size = np.ones(task.roles.n)
    size[: len(task.table)] = task.table.count if task.table.magnitude is None else task.table.value
    return size


def _columns(task: Task) -> TiedColumns:
    from scipy.sparse import coo_array, csc_array, diags_array, hstack

    from discreet.linear.modular import residues
    from discreet.tables.relations import of_layout, variable_of_inner

    roles, layout = task.roles, task.roles.joined.layout
    lines = of_layout(layout)
    row = variable_of_inner(roles.matrix)
    n, size = roles.n, lines.shape[1]
    extra = [gauss.unseen_singletons(roles.matrix, task.singletons)]
    if roles.sums is not None:
        extra.insert(0, roles.sums.matrix)
    virtual = csc_array(hstack(extra)).tocoo()
    something = np.concatenate([layout.parts > 0, np.ones(size - n, bool)]).astype(float)  # the others are known: 0
    cells = coo_array((something[:n], (np.arange(n), np.arange(n))), shape=(size, n))
    sums = coo_array((virtual.data, (row[virtual.row], virtual.col)), shape=(size, virtual.shape[1]))
    ties = csc_array((lines @ diags_array(something)).T)
    known = n + virtual.shape[1] + np.arange(ties.shape[1])
    return TiedColumns(residues(csc_array(hstack([cells, sums, ties]))), virtual.shape[1], known, row)


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
