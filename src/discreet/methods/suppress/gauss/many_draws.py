"""Elimination for many draws of a key at once: which of them could come to a given pattern."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.base.annotations import Array
from discreet.methods.suppress.gauss._kernel_state import Columns, Question
from discreet.methods.suppress.gauss.eliminate import GuardedRows, shortest_first
from discreet.methods.suppress.gauss.on_table import elimination_columns, sizes, wanted_by_table
from discreet.methods.suppress.model.singletons import OWN
from discreet.methods.suppress.model.task import Task


def may_hide(task: Task, factors: Array, decoys: Array, cells: Array) -> Array:
    """Per draw (a row each of ``factors`` and ``decoys``, over columns) whether elimination withholds none but these.

    Where it does not, audit and repair, which only add cells, cannot come to the pattern either. A draw whose decoys
    cannot be protected is let pass: without them the pattern is another.
    """
    from discreet.methods.suppress.gauss._kernel_draws import draws_inside, draws_inside_by_rows

    roles, single = task.roles, task.singletons
    if roles.sums is not None:
        single = replace(single, lenient=True)
    shared = elimination_columns(task)
    virtual, residues = shared.virtual, shared.residues
    n = roles.n
    forced = np.flatnonzero(roles.forced)
    candidate = ~(roles.primary | roles.never | roles.forced)[None] & ~decoys
    first = np.zeros(n, bool) if roles.zeros else sizes(task) == 0
    rank = -wanted_by_table(task)[None] * factors
    order = np.argsort(np.where(candidate, rank, np.inf), axis=1, kind="stable")
    held = np.where(np.take_along_axis(candidate, order, 1), np.where(first[order], 0, 1), 2)
    order = np.take_along_axis(order, np.argsort(held, axis=1, kind="stable"), 1)
    sensitive, sums = np.flatnonzero(roles.primary), n + np.arange(virtual)
    kept = [np.concatenate([sensitive, np.flatnonzero(d), sums]) for d in decoys]
    known = shortest_first(residues, shared.known)
    own = shared.singletons(single)
    inside = np.concatenate([cells, np.ones(residues.shape[1] - len(cells), bool)])
    chosen = candidate.sum(axis=1)
    if single.kind == OWN:
        first = np.concatenate([known, forced])
        orders, primaries, many = _after(first, order), _rectangle(kept), np.array([len(numbers) for numbers in kept])
        columns = Columns(residues.indptr, residues.indices, residues.data)
        question = Question(
            orders[0], len(first), primaries[0], np.ones(len(primaries[0]), bool), own.group, shared.pivots
        )
        plain = decoys.sum(axis=1) + virtual
        outcome = draws_inside(columns, question, orders, len(first) + chosen, primaries, many, plain, inside)
    else:
        rows = GuardedRows.of(residues, np.arange(n + virtual))
        first = rows.first(np.concatenate([known, forced]))
        guarded = [rows.of_primary[numbers] for numbers in kept]
        guarded = [numbers[numbers >= 0] for numbers in guarded]
        many = np.array([len(numbers) for numbers in guarded])
        inside = np.concatenate([inside, np.ones(len(rows.ties), bool)])
        orders = _after(first, order)
        asked = rows.question(orders[0], len(known), len(forced), rows.of_primary[:0], own, shared.pivots)
        outcome = draws_inside_by_rows(
            rows.columns, asked, orders, len(first) + chosen, _rectangle(guarded), many, inside
        )
    return np.asarray(outcome & ~(decoys & ~inside[None, :n]).any(axis=1))


def _after(first: Array, orders: Array) -> Array:
    """Orders that all begin alike."""
    return np.concatenate([np.repeat(first[None], len(orders), 0), orders], axis=1).astype(np.int64)


def _rectangle(lists: list[Array]) -> Array:
    """Lists of numbers as the rows of one array."""
    out = np.zeros((len(lists), max(map(len, lists), default=0)), np.int64)
    for row, numbers in zip(out, lists, strict=True):
        row[: len(numbers)] = numbers
    return out
