"""The last judge of a pattern: audit and repair for outsiders, for contributors alone in a cell, for coalitions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.base.annotations import Array
from discreet.methods.suppress.model.requirements import Quantities
from discreet.methods.suppress.model.singletons import Owners
from discreet.methods.suppress.model.task import Task
from discreet.methods.suppress.repair.further_cells import Costs
from discreet.methods.suppress.repair.repair import Repaired, repair

if TYPE_CHECKING:
    from discreet.audits.known import Known


def audited(task: Task, hidden: Array, owners: Owners | None) -> Repaired:
    """A pattern after the audit found nothing wrong with it any more; ``hopeless`` if there is no such pattern.

    ``owners``: contributors for whom it is to hold, too. ``insiders=`` of the task: people who work together.
    """
    quantities, n, tuning = task.quantities(hidden), task.roles.n, task.tuning.repair
    known = task.known(hidden)
    costs = _costs(task, quantities)
    truth = _truth(task, quantities, known)
    requirements = task.requirements(hidden)
    hide = np.concatenate([hidden, np.ones(len(quantities.values) - n, bool)])  # a rule's sums are never shown
    result = repair(known, truth, requirements, costs, hide, task.asked.progress, tuning)
    if owners is not None and not len(result.hopeless):
        from discreet.methods.suppress.repair import insider_bounds

        now = _with_pattern(known, quantities, result.hidden)
        sensitive = np.flatnonzero(task.roles.primary)
        more = insider_bounds.repaired_for_owners(now, truth, sensitive, costs, result.hidden, owners, tuning)
        result = replace(more, rounds=result.rounds + more.rounds, undecided=result.undecided, by_walks=result.by_walks)
    if task.asked.insiders and not len(result.hopeless):
        from discreet.methods.suppress.repair import coalitions

        states = _states_of_knowledge(task, known, costs)
        k = task.asked.insiders
        more = coalitions.repaired_in_all_states(states, truth, requirements, result.hidden, k, n, tuning)
        result = replace(more, rounds=result.rounds + more.rounds, undecided=result.undecided, by_walks=result.by_walks)
    return replace(result, hidden=result.hidden[:n])


def learned_by_owners(task: Task, hidden: Array) -> dict[int, Array]:
    """Per contributor alone in a cell the sensitive cells of which a pattern leaves one value for him."""
    if task.owners is None:
        return {}
    from discreet.methods.suppress.repair.insider_bounds import learned

    primary = np.flatnonzero(task.roles.primary)
    return learned(task.known(hidden), task.owners.group, primary, task.owners.nothing, task.tuning.repair)


def _costs(task: Task, quantities: Quantities) -> Costs:
    """What the repair pays for hiding a column: its size; what must be shown costs everything."""
    roles, cells = task.roles, quantities.values[: task.roles.n]
    stays = roles.forced | (roles.safe_zeros & (cells == 0))
    sums = np.full(len(quantities.values) - roles.n, np.inf)
    cost = np.concatenate([np.where(stays, np.inf, (np.abs(cells) + 1) * task.draw.factor), sums])
    return Costs(cost, quantities.bottom, quantities.top)


def _truth(task: Task, quantities: Quantities, known: Known) -> Array:
    """The value of every variable of the intruder's system."""
    truth = np.zeros(known.system().size)
    truth[: len(quantities.values)] = quantities.values
    truth[known.inner_variables()] = task.table.statistic(task.table.measure).inner
    return truth


def _with_pattern(known: Known, quantities: Quantities, hidden: Array) -> Known:
    """The same intruder in front of another pattern."""
    lower = np.where(hidden, quantities.bottom, quantities.values)
    upper = np.where(hidden, quantities.top, quantities.values)
    return replace(known, lower=lower, upper=upper)


def _states_of_knowledge(task: Task, known: Known, costs: Costs) -> list[tuple[Known, Costs]]:
    """What coalitions may go by: all that the pattern was made from; and the release alone, with earlier tables.

    Of the release alone a hidden cell is known as far as bounds were given, not that somebody is in it.
    """
    roles = task.roles
    least = np.concatenate([roles.low, np.full(len(costs.bottom) - roles.n, -np.inf)])
    alone = replace(known, lower=np.where(known.lower < known.upper, least, known.lower))
    return [(known, costs), (alone, replace(costs, bottom=least))]
