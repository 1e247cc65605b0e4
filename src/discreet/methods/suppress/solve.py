"""The roads by a solver: solve a table's problem, add what insiders could open, solve again; and clean-up."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.base import deadline
from discreet.errors import OutOfTimeError
from discreet.methods.suppress.gauss import candidate_order as order
from discreet.methods.suppress.gauss import insiders
from discreet.methods.suppress.model.from_table import Made, problem_of, weigh
from discreet.methods.suppress.model.problem import Problem
from discreet.methods.suppress.model.roles import Array, Roles
from discreet.methods.suppress.model.solution import GRACE
from discreet.tables.table import Table

if TYPE_CHECKING:
    from discreet.methods.suppress.method import Suppress

ROUNDS = 50  # of adding what insiders can open
LEAST = 1.0  # seconds that a round gets at least


@dataclass(frozen=True, eq=False)
class Found:
    """Columns to hide, what that costs, and a certified least cost."""

    hidden: Array
    name: str
    cost: float
    bound: float
    status: str
    weight: Array = field(repr=False)
    step: str = ""  # which step hid the cells: the solver's name, or elimination where it was too late for a solver
    proved: bool = False  # whether the solver's own moves prove the pattern, for everybody who is asked
    numbers: dict[str, Any] = field(default_factory=dict)

    @property
    def gap(self) -> float:
        """How far the cost may be above the least, relative to it; 0 when it is the least."""
        return max(self.cost - self.bound, 0.0) / self.cost if self.cost > 0 else 0.0

    @property
    def details(self) -> dict[str, Any]:
        told = {"cost": self.cost, "bound": self.bound, "gap": self.gap, "solver status": self.status}
        return told | self.numbers

    def repaired(self, hidden: Array) -> Found:
        """With cells that the audit in whole numbers added: the bound still holds, the claim to be the least not."""
        added = hidden & ~self.hidden & np.isfinite(self.weight)  # cells of zero may be hidden, but have no weight
        cost = self.cost + float(self.weight[added].sum())
        return replace(self, hidden=hidden, cost=cost, status="repaired")


def solver_of(given: Any) -> tuple[Any, str]:
    """The solver and its name."""
    if given == "optimal":
        from discreet.methods.suppress.exact.optimal import Optimal

        return Optimal(), "optimal"
    if given == "modular":
        from discreet.methods.suppress.hitas.hitas import Modular

        return Modular(), "modular"
    return given, "modular" if type(given).__name__ == "Modular" else "optimal"


def solved(method: Suppress, table: Table, roles: Roles, until: float = np.inf) -> Found:
    """The pattern that a solver finds up to a moment, safe from contributors who know cells of their own."""
    from discreet.methods.suppress.diagnosis import possible

    solver, name = solver_of(method.method)
    began = time.monotonic()
    with deadline.until(until):
        made = problem_of(method, table, roles, getattr(solver, "weights", "value"))
        possible(method, table, made, made.problem)
    limited = getattr(solver, "time", None) is not None
    best: dict[str, Any] = {"bound": 0.0, "cuts": 0, "nodes": 0, "rounds": 0, "status": ""}

    def solve(problem: Problem) -> Array:
        left = solver
        if limited:
            left = replace(solver, time=min(max(until - time.monotonic(), LEAST), solver.time))
        if best["rounds"] and getattr(solver, "resume", None) is not None:
            left = replace(left, resume=None)  # what insiders could open makes another problem of it
        found = left.solve(problem, progress=method.progress)
        best["bound"] = max(best["bound"], float(found.bound))
        best["status"], best["rounds"] = found.status, best["rounds"] + 1
        for count in ("cuts", "nodes"):
            best[count] += int(getattr(found, count, 0))
        return np.asarray(found.hidden, bool)

    def late(asked: Problem) -> bool:
        possible(method, table, made, asked)
        return limited and time.monotonic() > until

    with deadline.until(until + (GRACE[1] / 2 if limited else 0)):  # the solver's own last proof
        pattern, shut = closed(made, solve, late)
    weight = made.problem.weight[: made.cells]
    hidden = pattern[: made.cells]
    cost = float(weight[hidden & ~made.problem.hidden[: made.cells] & np.isfinite(weight)].sum())
    seconds = time.monotonic() - began
    numbers = {"solver seconds": seconds, **{k: best[k] for k in ("cuts", "nodes", "rounds")}}
    status = best["status"] if shut else "time"
    return Found(hidden, name, cost, min(best["bound"], cost), status, weight, name, shut, numbers)


def fallen_back(method: Suppress, table: Table, roles: Roles, hidden: Array) -> Found:
    """Elimination's pattern in place of a solver's: nothing is proved about its cost."""
    solver, name = solver_of(method.method)
    weight = weigh(method, table, roles, getattr(solver, "weights", "value"))
    cost = float(weight[hidden & ~roles.primary & ~roles.never & np.isfinite(weight)].sum())
    numbers = {"solver seconds": 0.0, "cuts": 0, "nodes": 0, "rounds": 0}
    return Found(hidden, name, cost, 0.0, "time", weight, "elimination", False, numbers)


def closed(
    made: Made, find: Callable[[Problem], Array], late: Callable[[Problem], bool] = lambda asked: False
) -> tuple[Array, bool]:
    """A pattern of all variables that no insider can open, and whether the solver itself got there.

    ``late`` is told what is asked for in addition and says whether there is time for it.
    """
    problem, asked = made.problem, set[tuple[int, bytes]]()
    for _ in range(ROUNDS):
        pattern = find(problem)
        try:
            more = made.opened(pattern)
        except OutOfTimeError:  # the audit has to say it
            return pattern, False
        if not len(more):
            return pattern, True
        new = {(int(c), more.known[k].tobytes()) for c, k in zip(more.cell, more.coalition, strict=True)}
        if new <= asked or late(problem.with_needs(more)):  # asked before in vain: the audit has to mend it
            break
        asked |= new
        problem = problem.with_needs(problem.needs + more)
    try:
        return made.widened(_shut(made, pattern[: made.cells])), False
    except OutOfTimeError:
        return pattern, False


def _shut(made: Made, hidden: Array) -> Array:
    """Further cells by elimination, so that nobody can subtract his own."""
    roles = made.roles
    assert made.owner is not None
    fixed = roles.primary | roles.never
    forced = np.flatnonzero(roles.forced)
    free = ~(fixed | roles.forced)
    wanted = np.where(np.isfinite(made.problem.weight[: made.cells]), made.problem.weight[: made.cells], 0)
    sequence = np.concatenate([forced, order.sequence(wanted, np.zeros(made.cells, bool), free)])
    found = insiders.close_insiders(
        roles.matrix, np.flatnonzero(roles.primary), sequence, len(forced), np.flatnonzero(hidden & free), made.owner
    )
    closed = hidden.copy()
    closed[found.secondary] = True
    return closed


def cleaned(method: Suppress, table: Table, roles: Roles, gone: Array, until: float = np.inf) -> tuple[Array, float]:
    """A pattern without the cells that need not be hidden, and its cost; each cell left is needed by the others.

    Where the time is up before that is proved the pattern stays as it is.
    """
    weight = weigh(method, table, roles, getattr(solver_of(method.method)[0], "weights", "value"))
    try:
        with deadline.until(until):
            return _cleaned(method, table, roles, gone)
    except OutOfTimeError:
        return gone, float(weight[gone & np.isfinite(weight)].sum())


def _cleaned(method: Suppress, table: Table, roles: Roles, gone: Array) -> tuple[Array, float]:
    from discreet.methods.suppress.attacker.all_at_once import met
    from discreet.methods.suppress.heuristics.prune import clean_up
    from discreet.methods.suppress.model.requirements import mended

    weights = getattr(solver_of(method.method)[0], "weights", "value")
    made = problem_of(method, table, roles, weights)
    start, weight = made.widened(gone), made.problem.weight[: made.cells]
    before = float(weight[gone & np.isfinite(weight)].sum())

    def find(problem: Problem) -> Array:
        if not met(problem, start).all():  # a second value nearer than a unit: nothing is known to be needless
            return start
        return clean_up(problem, start, progress=method.progress)[0]

    pattern, shut = closed(made, find)
    done = mended(table, roles, pattern[: made.cells], method.progress, made.people, method.insiders)
    found = done.hidden if shut and not len(done.hopeless) else gone
    after = float(weight[found & np.isfinite(weight)].sum())  # whole numbers may ask for other cells
    return (found, after) if after < before else (gone, before)
