"""Elimination for many draws of a key at once: which of them could come to a given pattern."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.base.annotations import Array
from discreet.methods.suppress.gauss.on_table import elimination_columns, sizes, wanted_by_table
from discreet.methods.suppress.model.task import Task


def may_hide(task: Task, factors: Array, decoys: Array, cells: Array) -> Array:
    """Per draw (a row each of ``factors`` and ``decoys``, over columns) whether elimination withholds none but these.

    Where it does not, audit and repair, which only add cells, cannot come to the pattern either. A draw whose decoys
    cannot be protected is let pass: without them the pattern is another.
    """
    from discreet.linear.modular import pivot_priority
    from discreet.methods.suppress.gauss._kernel_draws import draws_inside
    from discreet.methods.suppress.gauss._kernel_state import Columns, Question

    roles, single = task.roles, task.singletons
    if roles.sums is not None:
        single = replace(single, lenient=True)
    matrix, virtual, residues = elimination_columns(task)
    draws, n = len(factors), roles.n
    forced = np.flatnonzero(roles.forced)
    candidate = ~(roles.primary | roles.never | roles.forced)[None] & ~decoys
    first = np.zeros(n, bool) if roles.zeros else sizes(task) == 0
    rank = -wanted_by_table(task)[None] * factors
    order = np.argsort(np.where(candidate, rank, np.inf), axis=1, kind="stable")
    held = np.where(np.take_along_axis(candidate, order, 1), np.where(first[order], 0, 1), 2)
    order = np.take_along_axis(order, np.argsort(held, axis=1, kind="stable"), 1)
    orders = np.concatenate([np.repeat(forced[None], draws, 0), order], axis=1)
    sensitive, sums = np.flatnonzero(roles.primary), n + np.arange(virtual)
    kept = [np.concatenate([sensitive, np.flatnonzero(d), sums]) for d in decoys]
    primaries = np.zeros((draws, max(map(len, kept), default=0)), np.int64)
    for row, numbers in zip(primaries, kept, strict=True):
        row[: len(numbers)] = numbers
    question = Question(
        order=orders[0].astype(np.int64),
        forced=len(forced),
        primary=primaries[0],
        insider=np.ones(len(primaries[0]), bool),
        group=single.group,
        mode=single.kind,
        lenient=single.lenient,
        priority=pivot_priority(matrix, orders[0]),  # any will do: the result does not depend on it
    )
    columns = Columns(residues.indptr, residues.indices, residues.data)
    lengths = len(forced) + candidate.sum(axis=1)
    many = np.array([len(numbers) for numbers in kept])
    plain = decoys.sum(axis=1) + virtual
    inside = np.concatenate([cells, np.ones(n - len(cells), bool)])
    outcome = draws_inside(columns, question, orders.astype(np.int64), lengths, primaries, many, plain, inside)
    return np.asarray(outcome & ~(decoys & ~inside[None]).any(axis=1))
