"""Coalitions in tables of counts: what k people who know their own cells can work out, and cells hidden against it.

A coalition of k people knows for each inner cell that it holds at least its own members; a cell that is theirs alone
they know [LL21]_ section 2.2, [ODF03]_ section 4.5.4. It learns a sensitive cell if one value is left. Of a line that a
rule keeps unknown it learns who is left if nobody but its own members can be there, as far as they know that they are
there and not that they are alone: who knows that is beyond the rules on lines. Another table in whole numbers that fits
what is published (a *move* away from the true one) is a witness against it; a coalition that rules that one out has
members in a cell that the move lowers, or all members of one that it changes. So few coalitions have to be tried, and
none that could do harm is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.audits.known import Known
from discreet.base import deadline
from discreet.base.annotations import Array
from discreet.errors import OutOfTimeError
from discreet.linear.presolve import propagated
from discreet.linear.system import System
from discreet.methods.suppress.model.problem import Requirements
from discreet.methods.suppress.model.tuning import DEFAULT, RepairTuning
from discreet.methods.suppress.repair.further_cells import Costs
from discreet.methods.suppress.repair.repair import Repaired

Own = dict[int, int]  # variable of an inner cell -> how many of its members work together


@dataclass(frozen=True)
class Target:
    """A variable that must have another value; ``rest``: it is who else is in a line, which must be able to grow."""

    variable: int
    rest: bool

    @property
    def alone(self) -> bool:
        """Whether all the members of an inner cell know that they are; of a line it is asked without that."""
        return not self.rest


class CountsKnown:
    """What is known of a table of counts when some cells are hidden, for one coalition after the other."""

    def __init__(
        self, known: Known, truth: Array, k: int, hidden: Array, costs: Costs, tuning: RepairTuning = DEFAULT.repair
    ) -> None:
        self.known, self.truth, self.k, self.costs, self.tuning = known, truth, k, costs, tuning
        self.inner = known.inner_variables()
        self.count = np.zeros(len(truth))
        self.people = np.zeros(len(truth), bool)  # variables that are inner cells with somebody in them
        self.count[self.inner] = truth[self.inner]
        self.people[self.inner] = truth[self.inner] > 0
        self.members = known.matrix.tocsc()
        self.hide(hidden)

    def hide(self, hidden: Array) -> None:
        """Take other cells to be hidden."""
        n = len(self.costs.cost)
        self.hidden = hidden
        lower, upper = self.known.lower.copy(), self.known.upper.copy()
        lower[hidden], upper[hidden] = self.costs.bottom[hidden], self.costs.top[hidden]
        system = replace(self.known, lower=lower, upper=upper).system()
        self.low, self.high = propagated(system)
        wide = self.known.system()
        down, up = np.array(wide.lower), np.array(wide.upper)
        down[:n], up[:n] = np.maximum(self.costs.bottom, self.floor()), self.costs.top
        stays = ~hidden & ~np.isfinite(self.costs.cost)
        down[:n][stays] = up[:n][stays] = self.truth[:n][stays]
        self.least, self.most = propagated(System(wide.rows, wide.rhs, down, up, True))
        self.rows = wide.rows

    def floor(self) -> Array:
        """What every cell is at least: nothing is negative where nothing is."""
        n = len(self.costs.cost)
        return np.where(self.truth[:n] >= 0, np.where(np.isfinite(self.known.inner_lower).all(), 0.0, -np.inf), -np.inf)

    def theirs(self, target: Target, own: Own) -> bool:
        """Whether all who are in a cell work together: it tells them of nobody else."""
        if target.rest:
            return False
        variables = self.inner[self.members[:, [target.variable]].indices]
        held = [int(v) for v in variables if self.count[v] > 0]  # nobody's if empty: whoever learns that, learns it
        return bool(held) and all(own.get(v, 0) >= self.count[v] for v in held)


def learning_coalition(table: CountsKnown, target: Target) -> Own | None:
    """Members of a coalition of at most k for which a target has one value left; None if no coalition does it."""
    start, left = _least_members(table, target)
    if start is None or table.theirs(target, start):
        return None
    tried = 0
    seen: set[tuple[tuple[int, int], ...]] = set()
    waiting = [(start, left)]
    while waiting:
        own, left = waiting.pop()
        name = tuple(sorted(own.items()))
        if name in seen or table.theirs(target, own):
            continue
        seen.add(name)
        tried += 1
        move = None if tried > table.tuning.programs else move_beyond(table, target, own, left)
        if move is None:
            return own
        for x, many, more in _ruling_out(table, move, own, left, target.alone):
            waiting.append((own | {x: many}, left - more))
    return None


def _least_members(table: CountsKnown, target: Target) -> tuple[Own | None, int]:
    """Whom a coalition has at least: for the rest of a line all who are there, if they are not too many."""
    if not target.rest:
        return {}, table.k
    variables = table.inner[table.members[:, [target.variable]].indices]
    own = {int(v): int(table.count[v]) for v in variables if table.count[v] > 0}
    many = sum(own.values())
    return (own, table.k - many) if many <= table.k else (None, 0)


def _ruling_out(table: CountsKnown, move: Array, own: Own, left: int, alone: bool) -> Iterator[tuple[int, int, int]]:
    """Inner cells whose members could rule a move out: how many of them, and how many of those are new."""
    for x in np.flatnonzero(table.people & (np.abs(move) > 0.5)).tolist():
        count, here = int(table.count[x]), own.get(x, 0)
        needed = [count] if alone else []
        if move[x] < 0:
            needed.append(round(count + float(move[x])) + 1)
        if needed and here < min(needed) <= here + left:
            yield x, min(needed), min(needed) - here


def move_beyond(table: CountsKnown, target: Target, own: Own, left: int) -> Array | None:
    """A move of the target that fits all that a coalition knows; one that no other coalition can rule out first."""
    low, high = _limits(table, own, target.alone, table.low, table.high)
    safe = low.copy(), high.copy()
    if left > 0:
        some = table.people
        beyond = np.minimum(table.count, np.array([own.get(x, 0) for x in range(len(low))]) + left)
        safe[0][some] = np.maximum(low[some], beyond[some])
        if target.alone:
            few = some & (table.count <= beyond)
            safe[0][few] = safe[1][few] = table.truth[few]
        move = _moved(table, target, *safe, None)
        if move is not None:
            return move
    return _moved(table, target, low, high, None)


def _limits(table: CountsKnown, own: Own, alone: bool, low: Array, high: Array) -> tuple[Array, Array]:
    low, high = low.copy(), high.copy()
    for x, many in own.items():
        low[x] = max(low[x], many)
        if alone and many >= table.count[x]:
            low[x] = high[x] = table.truth[x]
    return low, high


def _moved(table: CountsKnown, target: Target, low: Array, high: Array, price: Array | None) -> Array | None:
    """The cheapest change of the target within limits in whole numbers, near it first; None if there is none."""
    free = np.flatnonzero(high > low)
    if target.variable not in free:
        return None
    rows = table.rows[:, free].tocsr()
    at = int(np.searchsorted(free, target.variable))
    for size in (*table.tuning.near, len(free)):
        near = _around(rows, at, size)
        cells = free[near]
        for sign in (1,) if target.rest else (1, -1):
            move = _program(table, rows[:, near], cells, int(np.searchsorted(near, at)), sign, low, high, price)
            if move is not None:
                return move
        if len(near) == len(free):
            return None
    return None


def _around(rows: Any, at: int, size: int) -> Array:
    """The variables nearest to one by shared rows, all that hang together with it if they are few."""
    columns = rows.tocsc()
    seen = np.zeros(rows.shape[1], bool)
    seen[at] = True
    front = np.array([at])
    while len(front) and seen.sum() < size:
        here = np.unique(columns[:, front].indices)
        reached = np.unique(rows[here].indices)
        front = reached[~seen[reached]]
        seen[front] = True
    return np.flatnonzero(seen)


def _program(
    table: CountsKnown, rows: Any, cells: Array, at: int, sign: int, low: Array, high: Array, price: Array | None
) -> Array | None:
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import hstack

    deadline.check()
    n, value = len(cells), table.truth[cells]
    up, down = np.maximum(high[cells] - value, 0), np.maximum(value - low[cells], 0)
    least = np.zeros(2 * n)
    most = np.concatenate([up, down])
    forward, backward = (at, n + at) if sign > 0 else (n + at, at)
    if most[forward] < 1:
        return None
    least[forward], most[backward] = 1, 0
    each = np.ones(n) if price is None else price[cells]
    rows = rows[np.diff(rows.indptr) > 0]
    equations = LinearConstraint(hstack([rows, -rows], format="csc"), 0, 0)
    gap = 0.0 if price is None else table.tuning.whole_gap
    program = milp(
        np.tile(each, 2),
        integrality=np.ones(2 * n, np.int64),
        bounds=Bounds(least, most),
        constraints=equations,
        options={"time_limit": min(deadline.left(), 1e9), "mip_rel_gap": gap},
    )
    if program.x is None:
        if program.status == 1:
            raise OutOfTimeError
        return None
    move = np.zeros(len(table.truth))
    move[cells] = np.rint(program.x[:n] - program.x[n:])
    return move if not np.any(rows @ move[cells]) else None  # a witness in whole numbers, or none


def repaired_for_coalitions(
    known: Known,
    truth: Array,
    need: Requirements,
    costs: Costs,
    hidden: Array,
    k: int,
    cells: int,
    tuning: RepairTuning = DEFAULT.repair,
) -> Repaired:
    """Hide more until no coalition of up to k people learns a sensitive cell, or who else is in a line.

    ``need``: what is protected from outsiders; columns from ``cells`` on are sums that rules keep unknown.
    """
    table, hidden = CountsKnown(known, truth, k, hidden, costs, tuning), hidden.copy()
    hopeless, rounds = [], 0
    for cell in need.cell.tolist():
        target = Target(cell, cell >= cells)
        for _ in range(tuning.hidings):
            rounds += 1
            own = learning_coalition(table, target)
            if own is None:
                break
            more = _to_hide_against(table, target, own)
            if more is None:
                hopeless.append(cell)
                break
            hidden = hidden | more
            table.hide(hidden)
        else:
            hopeless.append(cell)
    return Repaired(hidden, rounds, np.array(hopeless, np.int64))


def repaired_in_all_states(
    states: Sequence[tuple[Known, Costs]],
    truth: Array,
    need: Requirements,
    hidden: Array,
    k: int,
    cells: int,
    tuning: RepairTuning = DEFAULT.repair,
) -> Repaired:
    """The same for each of several states of knowledge: asked in turn until all of them agree to one pattern.

    Each is what is known of the table, and what that says of a cell once hidden. Hiding more takes nothing from the
    cells that one of them is done with, so it is asked again only if another hid more since.
    """
    rounds, agreed, turn = 0, 0, 0
    while agreed < len(states):
        known, costs = states[turn % len(states)]
        result = repaired_for_coalitions(known, truth, need, costs, hidden, k, cells, tuning)
        agreed = agreed + 1 if np.array_equal(result.hidden, hidden) else 1
        hidden, rounds, turn = result.hidden, rounds + result.rounds, turn + 1
        if len(result.hopeless):
            return replace(result, rounds=rounds)
    return Repaired(hidden, rounds, need.cell[:0])


def _to_hide_against(table: CountsKnown, target: Target, own: Own) -> Array | None:
    """Cells to hide so that a target has another value for a coalition; None if there is no way."""
    n = len(table.costs.cost)
    low, high = _limits(table, own, target.alone, table.least, table.most)
    price = np.full(len(table.truth), table.tuning.used)
    shown = ~table.hidden & np.isfinite(table.costs.cost)
    usual = float(np.median(table.costs.cost[shown])) if shown.any() else 1.0
    price[:n][shown] = table.costs.cost[shown] / (usual or 1.0) + table.tuning.used
    wary = table.people & (table.count <= table.k)  # a move that others of the coalition could rule out as well
    price[wary] += table.tuning.wary
    move = _moved(table, target, low, high, price)
    if move is None:
        return None
    more = (np.abs(move[:n]) > 0.5) & ~table.hidden
    return more if more.any() else None
