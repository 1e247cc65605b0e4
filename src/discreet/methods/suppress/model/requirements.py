"""The audit of a pattern as the last judge: what an intruder knows of a table, what must be possible, and repair."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.methods.suppress.model.roles import Roles
from discreet.methods.suppress.repair.repair import Costs, Need, Repaired, repair
from discreet.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.audits.known import Known

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Quantities:
    """Cells, then sums that a rule keeps unknown: values and what is known of each once hidden, in whole units."""

    values: Array
    bottom: Array
    top: Array
    natural: Array  # what everybody takes to be the least, whatever else is known beforehand


def quantities(table: Table, roles: Roles, gone: Array) -> Quantities:
    """The numbers of a table's columns. ``gone``: the cells that are hidden for certain."""
    from discreet.audits.known import inner_floor

    statistic = table.statistic(table.measure)
    cells = roles.joined.layout.aggregate(statistic.inner).astype(float)
    sums = np.zeros(0) if roles.sums is None else (roles.sums.matrix.T @ statistic.inner).astype(float)
    bottom = np.full(len(cells) + len(sums), -np.inf)
    empty = (cells == 0) & gone & ~roles.never
    if roles.safe_zeros and table.measure == "count" and not empty.any():  # nobody takes a hidden cell to be empty
        bottom[: roles.n][~roles.never & ~roles.joined.layout.signed] = 1
    values = np.concatenate([cells, sums])
    floor = np.where(values < 0, -np.inf, inner_floor(table, None).max(initial=-np.inf))
    natural = np.maximum(bottom, floor)
    bottom[: roles.n] = np.maximum(bottom[: roles.n], np.minimum(roles.low, cells))
    top = np.maximum(np.concatenate([roles.high, np.full(len(sums), np.inf)]), values)
    return Quantities(values, bottom, top, natural)


def required(table: Table, roles: Roles, q: Quantities) -> Need:
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
    return Need(cells, below[cells], above[cells], sliding[cells])


def known_of(table: Table, roles: Roles, q: Quantities, hide: Array) -> Known:
    """What an intruder knows when these columns are hidden."""
    from scipy.sparse import csr_array, hstack

    from discreet.audits.known import Known, inner_floor
    from discreet.tables.relations import of_layout

    plain = roles.sums is None
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


def learned_of(table: Table, roles: Roles, gone: Array, owners: tuple[Array, Array] | None) -> dict[int, Array]:
    """Per contributor alone in a cell the sensitive cells that a pattern leaves one value for him; see ``mended``."""
    if owners is None:
        return {}
    from discreet.methods.suppress.repair.insider_bounds import learned

    q = quantities(table, roles, gone)
    known = known_of(table, roles, q, np.concatenate([gone, np.ones(len(q.values) - roles.n, bool)]))
    return learned(known, owners[0], np.flatnonzero(roles.primary), owners[1])


def mended(
    table: Table,
    roles: Roles,
    gone: Array,
    progress: Callable[[int, int], None] | None = None,
    owners: tuple[Array, Array] | None = None,
    insiders: int = 0,
) -> Repaired:
    """The pattern after the audit found nothing wrong with it any more; ``hopeless`` if there is no way.

    ``owners``: per inner cell the number of its only contributor or 0, and whether nobody is in it; then the pattern
    holds for those contributors too. ``insiders``: of counts, people who work together and know their own cells.
    """
    statistic, n = table.statistic(table.measure), roles.n
    q = quantities(table, roles, gone)
    sums = len(q.values) - n
    hide = np.concatenate([gone, np.ones(sums, bool)])
    known = known_of(table, roles, q, hide)
    cells = q.values[:n]
    stays = roles.forced | (roles.safe_zeros & (cells == 0))
    cost = np.concatenate([np.where(stays, np.inf, np.abs(cells) + 1), np.full(sums, np.inf)])
    truth = np.zeros(known.system().size)
    truth[: len(q.values)] = q.values
    truth[known.inner_variables()] = statistic.inner
    costs = Costs(cost, q.bottom, q.top)
    done = repair(known, truth, required(table, roles, q), costs, hide, progress)
    if owners is not None and not len(done.hopeless):
        from discreet.methods.suppress.repair.insider_bounds import closed

        lower, upper = np.where(done.hidden, q.bottom, q.values), np.where(done.hidden, q.top, q.values)
        now, sensitive = replace(known, lower=lower, upper=upper), np.flatnonzero(roles.primary)
        more = closed(now, truth, sensitive, costs, done.hidden, owners)
        done = replace(more, rounds=done.rounds + more.rounds)
    if insiders and not len(done.hopeless):
        from discreet.methods.suppress.repair import coalitions

        told, need = _told(roles, known, costs), required(table, roles, q)
        more = coalitions.settled(told, truth, need, done.hidden, insiders, n)
        done = replace(more, rounds=done.rounds + more.rounds)
    return replace(done, hidden=done.hidden[:n])


def _told(roles: Roles, known: Known, costs: Costs) -> list[tuple[Known, Costs]]:
    """What coalitions may go by: all that the pattern was made from; and the release alone, with earlier tables.

    Of the release alone a hidden cell is known as far as bounds were given, not that somebody is in it.
    """
    least = np.concatenate([roles.low, np.full(len(costs.bottom) - roles.n, -np.inf)])
    alone = replace(known, lower=np.where(known.lower < known.upper, least, known.lower))
    return [(known, costs), (alone, replace(costs, bottom=least))]
