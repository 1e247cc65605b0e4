"""Unions: a sum of hidden cells that follows from the release is published in effect, and may be sensitive itself.

One firm may dominate several hidden cells together although it dominates none of them. Every such sum becomes a column
that elimination keeps from following, by withholding the cheapest further cells; what is then hidden has larger sums,
which are looked at again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from discreet.audits.contributors import union_table
from discreet.audits.known_sums import sums_that_follow
from discreet.base.annotations import Array
from discreet.methods.suppress.gauss import candidate_order as order
from discreet.methods.suppress.gauss.eliminate import eliminate
from discreet.methods.suppress.gauss.on_table import elimination_columns
from discreet.methods.suppress.model.task import Task
from discreet.methods.suppress.suppressed import UNIONS, Suppressed
from discreet.rules.base import AnyOf, Rule
from discreet.rules.magnitude import Dominance, PPercent
from discreet.tables.relations import of_layout

Union = tuple[int, ...]  # cells that are added up


def union_rule(rule: Rule, wanted: bool | None) -> Rule | None:
    """The rule that sums of hidden cells are held to: by default the dominance and p % rules among those given."""
    if wanted is not None:
        return rule if wanted else None
    parts = rule.rules if isinstance(rule, AnyOf) else (rule,)
    asked = tuple(part for part in parts if isinstance(part, (Dominance, PPercent)))
    return None if not asked else asked[0] if len(asked) == 1 else AnyOf(asked)


def without_sensitive_unions(task: Task, result: Suppressed, rule: Rule) -> Suppressed:
    """The result with further cells hidden until no sum that follows is sensitive.

    ``unsafe`` are cells of sums that follow from what must be published.
    """
    hidden, kept, judged = result.hidden.copy(), list[Union](), set[Union]()
    while more := sensitive_unions(task, hidden, rule, judged):
        kept += more
        secondary, unsafe = _withheld(task, hidden, kept)
        if len(unsafe):
            cells = np.unique(np.concatenate([np.array(kept[k]) for k in unsafe]))
            return replace(result, unsafe=cells)
        hidden[secondary] = True
    return replace(result, details={**result.details, UNIONS: 0}).hiding(hidden, UNIONS)


def sensitive_unions(task: Task, hidden: Array, rule: Rule, judged: set[Union] | None = None) -> list[Union]:
    """Sums of hidden cells that follow, are not among those ``judged`` before, and that the rule calls sensitive."""
    judged = set() if judged is None else judged
    follow = sums_that_follow(of_layout(task.table.layout), hidden[: len(task.table)])
    sums = [union for union in follow if union not in judged]
    if not sums:
        return []
    judged.update(sums)
    return [sums[k] for k in np.flatnonzero(np.asarray(rule(union_table(task.table, sums)), bool))]


def _withheld(task: Task, hidden: Array, unions: list[Union]) -> tuple[Array, Array]:
    """Columns to withhold so that no union follows, and the places of unions that what is forced gives away."""
    from scipy.sparse import coo_array, csc_array, hstack

    roles, base = task.roles, elimination_columns(task)
    cells, of = np.concatenate(unions), np.repeat(np.arange(len(unions)), [len(union) for union in unions])
    sums = coo_array((np.ones(len(of), np.uint64), (cells, of)), shape=(base.residues.shape[0], len(unions)))
    forced = np.flatnonzero(roles.forced)
    free = ~(hidden | roles.forced)
    value = np.abs(task.values) * task.draw.factor
    zeros_first = np.zeros(roles.n, bool) if roles.zeros else task.values == 0
    sequence = np.concatenate([forced, order.sequence(value, zeros_first, free)])
    columns: Any = csc_array(hstack([base.residues[:, : roles.n], sums, base.residues[:, base.known]]))
    number = roles.n + np.arange(len(unions))
    known = roles.n + len(unions) + np.arange(len(base.known))
    pattern = eliminate(columns, number, sequence, known=known, forced=len(forced), modular_columns=columns)
    return pattern.secondary, pattern.unsafe - roles.n
