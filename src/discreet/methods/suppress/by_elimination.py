"""Suppression by Gaussian elimination [LL21]_: withhold what would give a sensitive cell away, audit, repair."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.linear.presolve import propagated
from discreet.methods.suppress.gauss.candidate_order import crossing, rank_fall, totals_released
from discreet.methods.suppress.gauss.on_table import eliminated
from discreet.methods.suppress.model.parameters import OFF
from discreet.methods.suppress.model.task import Task
from discreet.methods.suppress.repair.judge import audited
from discreet.methods.suppress.repair.repair import Repaired
from discreet.methods.suppress.suppressed import ELIMINATION, RANK, REPAIR, Suppressed, first_step, nothing_found


def suppressed_by_elimination(task: Task) -> Suppressed:
    """Elimination's pattern after audit and repair."""
    n, step, rounds, undecided, by_walks = len(task.table), first_step(task), 0, 0, 0
    began = time.perf_counter()
    hidden = task.withheld
    result = _enough(task)
    if result is None and not _by_moves_alone(task):
        pattern = eliminated(task)
        if len(pattern.unsafe):
            return nothing_found(task, pattern.unsafe)
        hidden[pattern.secondary] = True
        step[pattern.secondary[pattern.secondary < n]] = ELIMINATION
        crossed = _crossed(task, hidden)
        hidden |= crossed
        step[crossed[:n]] = RANK
    middle = time.perf_counter()
    if task.asked.asks != OFF:
        result = result or audited(task, hidden, task.owners)
        if len(result.hopeless):
            return nothing_found(task, result.hopeless)
        step[(result.hidden & ~hidden)[:n]] = REPAIR
        hidden, rounds, undecided = result.hidden, result.rounds, len(result.undecided)
        by_walks = result.by_walks
        zeros = _known_zeros(task, hidden)
        hidden = hidden & ~zeros
        step[zeros[:n]] = ""
    details = {
        ELIMINATION: 0,
        REPAIR: 0,
        "audits": rounds,
        "undecided": undecided,
        "by walks": by_walks,
        "seconds elimination": middle - began,
        "seconds repair": time.perf_counter() - middle,
        **_rank_figures(task, hidden),
    }
    return Suppressed(hidden, step, details)


def _known_zeros(task: Task, hidden: Array) -> Array:
    """Secondary cells of amounts that are 0 although somebody is in them, and are seen to be from bounds alone.

    Elimination goes by equations, so it may hide two such cells in one line for each other's sake. Hiding what
    everybody can work out protects nobody, and showing a 0 adds no contributor to any sum.
    """
    n = len(hidden)
    zeros = hidden & ~task.withheld & (task.quantities(hidden).values[:n] == 0)
    if task.table.measure == "count" or task.asked.key is not None or not zeros.any():
        return np.zeros(n, bool)
    low, high = propagated(task.known(hidden).system())
    zeros &= (low == high)[:n]
    return np.asarray(zeros)


def _by_moves_alone(task: Task) -> bool:
    """Whether a table of amounts is so large that repair finds the whole pattern.

    Elimination of sparse tables in four dimensions takes more than the square of their size, and leaves room to few
    cells; moves that give them their room need no pattern to begin with. Only where nothing else is asked of it.
    """
    asked = task.asked
    plain = asked.key is None and asked.last is None and not asked.insiders and task.roles.sums is None
    by_value = isinstance(asked.order, str) and asked.order == "value"
    amounts = task.table.measure != "count" and int(task.roles.primary.sum()) > task.tuning.repair.walked_alone
    return plain and by_value and amounts and asked.asks != OFF


def _enough(task: Task) -> Repaired | None:
    """The audit's word if the cells withheld from the start protect already: it finds nothing to add.

    Without this the cautious rule for singletons might add cells to a table that is protected as it is. Contributors
    who know their own cells are beyond the audit, so their tables go through elimination always.
    """
    amounts = task.table.magnitude is not None and task.asked.singletons != "none"
    if task.asked.asks == OFF or not task.roles.never.any() or amounts or task.owners is not None:
        return None
    result = audited(task, task.withheld, None)
    return result if not len(result.hopeless) and np.array_equal(result.hidden, task.withheld) else None


def _by_rank(task: Task) -> bool:
    return isinstance(task.asked.order, str) and task.asked.order == RANK


def _crossed(task: Task, hidden: Array) -> Array:
    """Further cells that ``order="rank"`` hides where no totals are released: the crossing of the primaries' lines."""
    table, roles, n = task.table, task.roles, len(task.table)
    crossed = np.zeros(roles.n, bool)
    if _by_rank(task) and len(table.layout.blocks) > 1 and not totals_released(table):
        stays = roles.forced[:n] | (roles.empty[:n] & (not roles.zeros))
        crossed[:n] = crossing(table, roles.primary[:n]) & ~hidden[:n] & ~stays
    return crossed


def _rank_figures(task: Task, hidden: Array) -> dict[str, Any]:
    """What ``order="rank"`` came to: by how much the rank of the release falls, and of its cells that are no totals."""
    if not _by_rank(task):
        return {}
    falls, without_totals = rank_fall(task.table, hidden[: len(task.table)])
    holds = not totals_released(task.table)
    return {RANK: 0, "rank falls by": falls, "without totals": without_totals, "rank order holds": holds}
