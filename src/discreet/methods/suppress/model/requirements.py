"""What an intruder knows of a table, and what must be possible for him: requirements of sensitive cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import InputError
from discreet.methods.suppress.model.problem import Requirements
from discreet.methods.suppress.model.roles import Roles
from discreet.tables.table import Table

if TYPE_CHECKING:
    from discreet.audits.known import Known


@dataclass(frozen=True, eq=False)
class Quantities:
    """Cells, then sums that a rule keeps unknown: values and what is known of each once hidden, in whole units."""

    values: Array
    bottom: Array
    top: Array
    natural: Array  # what everybody takes to be the least, whatever else is known beforehand


def quantities(table: Table, roles: Roles, cells: Array, *, occupied: bool) -> Quantities:
    """The numbers of a table's columns, of which ``cells`` are the values.

    ``occupied``: nobody takes a hidden cell to be empty, as all empty ones are shown.
    """
    from discreet.audits.known import inner_floor

    inner = table.statistic(table.measure).inner
    sums = np.zeros(0) if roles.sums is None else (roles.sums.matrix.T @ inner).astype(float)
    bottom = np.full(len(cells) + len(sums), -np.inf)
    if occupied:
        bottom[: roles.n][~roles.never & ~roles.joined.layout.signed] = 1
    values = np.concatenate([cells, sums])
    floor = np.where(values < 0, -np.inf, inner_floor(table, None).max(initial=-np.inf))
    natural = np.maximum(bottom, floor)
    bottom[: roles.n] = np.maximum(bottom[: roles.n], np.minimum(roles.low, cells))
    top = np.maximum(np.concatenate([roles.high, np.full(len(sums), np.inf)]), values)
    return Quantities(values, bottom, top, natural)


def required(table: Table, roles: Roles, q: Quantities) -> Requirements:
    """What must be possible; nobody can be made to believe less than what is known of every hidden cell."""
    scale = 10 ** table.statistic(table.measure).decimals
    n, cells = len(table), np.flatnonzero(roles.primary)
    below, above, sliding = (np.zeros(len(q.values)) for _ in range(3))
    if roles.asked is not None:
        for laid, wanted in ((below, roles.asked.below), (above, roles.asked.above), (sliding, roles.asked.sliding)):
            laid[:n] = wanted * scale
            if table.measure == "count":
                laid[:n] = np.ceil(laid[:n] - 1e-9)
        below = np.clip(below, 0, np.maximum(q.values - q.natural, 0))
        room = np.stack([q.values - np.maximum(q.bottom, q.natural), q.top - q.values])
        beyond = (below > room[0] + 1e-6) | (above > room[1] + 1e-6) | (sliding > room.sum(axis=0) + 1e-6)
        if (many := int(beyond[cells].sum())) > 0:
            raise InputError(
                f"{many:,} sensitive cells are known beforehand more closely than their protection level asks; "
                "widen the bounds or lower the levels"
            )
    if roles.sums is not None:
        cells = np.concatenate([cells, np.arange(roles.n, len(q.values))])
        above[roles.n :] = roles.sums.above
    return Requirements.of(cells, below[cells], above[cells], sliding[cells])


def known_of(table: Table, roles: Roles, q: Quantities, hidden: Array) -> Known:
    """What an intruder knows when these columns are hidden, and with them all sums that a rule keeps unknown."""
    from scipy.sparse import csr_array, hstack

    from discreet.audits.known import Known, inner_floor
    from discreet.tables.relations import of_layout

    plain = roles.sums is None
    hide = np.concatenate([hidden, np.ones(len(q.values) - roles.n, bool)])
    return Known(
        matrix=roles.matrix if roles.sums is None else csr_array(hstack([roles.matrix, roles.sums.matrix])),
        lower=np.where(hide, q.bottom, q.values),
        upper=np.where(hide, q.top, q.values),
        inner_lower=inner_floor(table, None),
        inner_upper=np.full(table.layout.n_inner, np.inf),
        integer=table.measure == "count",
        point=np.concatenate([q.values, table.statistic(table.measure).inner.astype(float)]),
        relations=of_layout(roles.joined.layout) if plain else None,
    )
