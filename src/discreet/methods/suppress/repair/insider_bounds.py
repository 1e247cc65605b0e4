"""The audit from inside: contributors alone in a cell put it in and use that nothing is negative; repair for them too.

Elimination keeps every sensitive cell from *following* for such a contributor. With bounds more may be fixed than
follows: what is left of a sum beside his own part may be 0. Here every one of them gets the question that outsiders
get: is there a second possible value?
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from discreet.audits.known import Known
from discreet.base.annotations import Array
from discreet.errors import Unjudged
from discreet.linear.components import components
from discreet.linear.intervals import solve
from discreet.linear.presolve import Affine, reduce
from discreet.linear.pushed_points import two_values
from discreet.linear.system import System
from discreet.linear.whole_moves import MovePool, has_whole_point
from discreet.methods.suppress.model.problem import Requirements
from discreet.methods.suppress.model.singletons import Owners
from discreet.methods.suppress.model.tuning import DEFAULT, RepairTuning
from discreet.methods.suppress.repair.further_cells import Costs
from discreet.methods.suppress.repair.owner_moves import served_owners
from discreet.methods.suppress.repair.repair import Repaired, repair


def learned(
    known: Known, group: Array, primary: Array, nothing: Array, tuning: RepairTuning = DEFAULT.repair
) -> dict[int, Array]:
    """Per contributor the sensitive cells with one value left for him, if there are any.

    ``group``: per inner cell 0, or the number of its only contributor; ``nothing``: inner cells of nobody. What holds
    his own parts only is his, and what everybody knows is not asked.
    """
    system = known.system()
    small, steps = reduce(system, merge=False)
    place = np.arange(system.size)
    for step in steps:
        assert isinstance(step, Affine)
        place = np.where(place >= 0, step.variable[place], -1)
    rows = np.flatnonzero(group)
    mine, cell = place[known.inner_variables()[rows]], place[primary]
    sole = _sole_owner(known, group, primary, nothing)
    by_contributor: dict[int, list[Array]] = {}
    loose = np.append(
        np.diff(small.columns.indptr) == 0, False
    )  # in no row, and so in no part; the last is what is known
    for who in np.unique(group[rows[loose[mine]]]):
        known_to_him = np.isin(cell, mine[loose[mine] & (group[rows] == who)]) & (sole != who)
        if known_to_him.any():
            by_contributor.setdefault(int(who), []).append(primary[known_to_him])
    for part, variables in components(small):
        number = np.full(small.size, -1)
        number[variables] = np.arange(len(variables))
        own, asked = np.where(mine >= 0, number[mine], -1), np.where(cell >= 0, number[cell], -1)
        here = own >= 0
        for who, stuck in _stuck(part, own[here], group[rows[here]], asked, sole, tuning):
            by_contributor.setdefault(who, []).append(primary[stuck])
    return {who: np.sort(np.concatenate(cells)) for who, cells in sorted(by_contributor.items())}


def _sole_owner(known: Known, group: Array, primary: Array, nothing: Array) -> Array:
    """The contributor whose parts are all that a sensitive cell holds, 0 if there are several."""
    part = known.matrix.tocsc()[:, primary].tocoo()
    some = ~nothing[part.row]
    low, high = np.full(len(primary), np.iinfo(np.int64).max), np.zeros(len(primary), np.int64)
    np.minimum.at(low, part.col[some], group[part.row[some]])
    np.maximum.at(high, part.col[some], group[part.row[some]])
    return np.where(low == high, high, 0)


def _stuck(
    part: System, own: Array, who: Array, asked: Array, sole: Array, tuning: RepairTuning
) -> Iterator[tuple[int, Array]]:
    """Contributors of one part and the places of the sensitive cells that cannot move while their own stay."""
    from discreet.linear.program import SystemProgram

    if not len(own) or not (asked >= 0).any():
        return
    if part.point is None:
        raise Unjudged("what contributors learn is worked out from the true table, and none is given")
    model, random, truth = SystemProgram(part), np.random.default_rng(1), part.point
    solid = max(1.0, tuning.solid * model.scale)  # a move that is no rounding of the solver
    pool = MovePool(part, np.unique(asked[asked >= 0])) if has_whole_point(part) else None
    for name in np.unique(who):
        mine = np.unique(own[who == name]).astype(np.int32)
        wanted = np.flatnonzero((asked >= 0) & (sole != name))
        left = np.unique(asked[wanted])
        if pool is not None:
            left = pool.unmoved(mine, left)
        if not len(left):
            continue
        at = (truth[mine] - model.shift[mine]) / model.scale
        model.solver.change_bounds(mine, at, at)
        for turn in range(tuning.points):
            cost = np.zeros(part.size)
            cost[left] = random.uniform(0.5, 1.5, len(left)) * (1 if turn % 2 else -1)
            if turn > 1:
                cost[left] *= random.choice([-1, 1], len(left))
            x = model.minimum(cost) if len(left) else None
            if x is None:
                break
            left = left[np.abs(x - truth)[left] < solid]
        low, high = (part.lower - model.shift) / model.scale, (part.upper - model.shift) / model.scale
        model.solver.change_bounds(mine, low[mine], high[mine])
        if len(left):
            lower, upper = part.lower.copy(), part.upper.copy()
            lower[mine] = upper[mine] = truth[mine]
            fixed = np.isin(left, mine)
            ends = _ends(replace(part, lower=lower, upper=upper), left[~fixed])
            stuck = np.concatenate([left[fixed], left[~fixed][~two_values(*ends)]])
            if len(stuck):
                yield int(name), wanted[np.isin(asked[wanted], stuck)]


def _ends(system: System, targets: Array) -> tuple[Array, Array]:
    """The exact intervals of a few variables of a system that need not be in one piece any more."""
    return solve(system, targets) if len(targets) else (np.empty(0), np.empty(0))


def repaired_for_owners(
    known: Known,
    truth: Array,
    primary: Array,
    costs: Costs,
    hidden: Array,
    owners: Owners,
    tuning: RepairTuning = DEFAULT.repair,
) -> Repaired:
    """Hide more until no sensitive cell has one value only for a contributor who is alone in a cell.

    Hiding more takes nothing from those who are done.
    """
    variable, rounds = known.inner_variables(), 0
    asked = [(owners.group, primary)]
    many = len(np.unique(owners.group))
    if not known.integer and many > tuning.owners_walked:
        sole = _sole_owner(known, owners.group, primary, owners.nothing)
        closed = many <= tuning.walked  # programs for those that are left take less than hiding more
        served = served_owners(known, truth, primary, sole, costs, hidden, owners, tuning, closed=closed)
        hidden = served.hidden
        left = np.where(np.isin(owners.group, served.left), owners.group, 0)
        asked = [(left, primary), (np.where(left > 0, 0, owners.group), served.unmoved)]
        lower, upper = np.where(hidden, costs.bottom, known.lower), np.where(hidden, costs.top, known.upper)
        known = replace(known, lower=lower, upper=upper)
    learned_by: dict[int, Array] = {}
    for group, cells in asked:
        if len(cells) and group.any():
            learned_by |= learned(known, group, cells, owners.nothing, tuning)
    for who, cells in sorted(learned_by.items()):
        rows = np.flatnonzero(owners.group == who)
        least, most = known.inner_lower.copy(), known.inner_upper.copy()
        least[rows] = most[rows] = truth[variable[rows]]
        knowing = replace(
            known,
            lower=np.where(hidden, costs.bottom, known.lower),
            upper=np.where(hidden, costs.top, known.upper),
            inner_lower=least,
            inner_upper=most,
        )
        none = np.zeros(len(cells))
        result = repair(knowing, truth, Requirements.of(cells, none, none), costs, hidden, tuning=tuning)
        hidden, rounds = result.hidden, rounds + result.rounds
        if len(result.hopeless):
            return replace(result, rounds=rounds)
    return Repaired(hidden, rounds, primary[:0])
