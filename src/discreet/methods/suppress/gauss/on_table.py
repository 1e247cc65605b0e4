"""The road by Gaussian elimination: candidates, their order, singletons and insiders of a table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.methods.suppress.gauss import candidate_order as order
from discreet.methods.suppress.gauss import eliminate as gauss
from discreet.methods.suppress.gauss import insiders
from discreet.methods.suppress.model import earlier_tables as before
from discreet.methods.suppress.model import singletons
from discreet.methods.suppress.model.roles import Array, Roles, inner_records
from discreet.tables.table import Table

if TYPE_CHECKING:
    from discreet.methods.suppress.method import Suppress


def eliminated(method: Suppress, table: Table, roles: Roles) -> gauss.Pattern:
    """The pattern that elimination finds; ``unsafe`` columns follow from what must be published."""
    from scipy.sparse import csc_array, hstack

    n = len(table)
    single = singletons_of(method, table, roles)
    extra = [gauss.unseen_singletons(roles.matrix, single)]
    if roles.sums is not None:
        extra.insert(0, roles.sums.matrix)
        single = replace(single, lenient=True)
    virtual = sum(e.shape[1] for e in extra)
    matrix = csc_array(hstack([roles.matrix.tocsc(), *extra])) if virtual else roles.matrix
    free = ~(roles.primary | roles.never | roles.forced)
    count = np.ones(roles.n)
    count[:n] = table.count if table.magnitude is None else table.value
    first = np.zeros(roles.n, bool) if roles.zeros else count == 0
    forced = np.flatnonzero(roles.forced)
    sequence = np.concatenate([forced, order.sequence(_wanted(method, table, roles), first, free)])
    primary = np.concatenate([np.flatnonzero(roles.primary), roles.n + np.arange(virtual)])
    found = gauss.eliminate(
        matrix, primary, sequence, forced=len(forced), singletons=single, virtual=virtual, progress=method.progress
    )
    if single.kind == singletons.OWN and not len(found.unsafe):
        sensitive = np.flatnonzero(roles.primary)
        found = insiders.close_insiders(matrix, sensitive, sequence, len(forced), found.secondary, single.group)
    return found


def singletons_of(method: Suppress, table: Table, roles: Roles) -> singletons.Singletons:
    """Who knows what beforehand."""
    primary = roles.primary[: len(table)]
    zeros = roles.zeros or bool((primary & roles.empty[: len(table)]).any())
    return singletons.find(table, method.singletons, primary, zeros=zeros)


def owners(single: singletons.Singletons, table: Table, roles: Roles) -> tuple[Array, Array] | None:
    """Per inner cell its only contributor (0: none or several) and whether it holds nothing; None if nobody is asked.

    Where zeros are always shown, one with contributors holds nothing that is not known either.
    """
    if single.kind != singletons.OWN or not single.group.any():
        return None
    shown = (table.statistic(table.measure).inner == 0) & roles.safe_zeros
    return single.group, (inner_records(table) == 0) | shown


def _wanted(method: Suppress, table: Table, roles: Roles) -> Array:
    """How important each column is; those of earlier tables only do not count."""
    wanted = np.zeros(roles.n)
    size = order.importance(table, method.order, roles.primary[: len(table)])
    if roles.sums is not None:  # a line is better hidden by somebody than by nobody
        small = size[(table.count > 0) & (table.count <= roles.sums.k)]
        empty = table.count == 0
        above = small.max(initial=size[empty].max(initial=0)) + 1e-3 * (1 + np.arange(len(size)) / len(size))
        size = np.where(empty, above, size)
    if method.last is not None:
        size = np.where(before.hidden_before(table, method.last), size - size.max(initial=0) - 1, size)
    wanted[: len(table)] = size
    return wanted
