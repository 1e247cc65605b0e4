"""The solvers: a table's problem is solved, within the time, for outsiders and insiders."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array
from discreet.methods.suppress.exact.optimal import Optimal
from discreet.methods.suppress.hitas.hitas import Modular
from discreet.methods.suppress.insider_rounds import solved_for_insiders
from discreet.methods.suppress.model.from_table import TableProblem, problem_of, weigh
from discreet.methods.suppress.model.problem import Problem
from discreet.methods.suppress.model.task import Task
from discreet.methods.suppress.quick_patterns import solution_of
from discreet.methods.suppress.suppressed import ELIMINATION, MODULAR, OPTIMAL


class HopelessError(Exception):
    """Sensitive columns that no pattern protects; whoever has the table makes a refusal of it."""

    def __init__(self, columns: Array) -> None:
        self.columns = columns
        super().__init__(f"{len(columns):,} sensitive cells cannot be protected")


@dataclass(frozen=True, eq=False)
class Solved:
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
        """What is told of it."""
        figures = {"cost": self.cost, "bound": self.bound, "gap": self.gap, "solver status": self.status}
        return figures | self.numbers

    def repaired(self, hidden: Array) -> Solved:
        """With cells that the audit in whole numbers added: the bound still holds, the claim to be the least not."""
        added = hidden & ~self.hidden & np.isfinite(self.weight)  # cells of zero may be hidden, but have no weight
        cost = self.cost + float(self.weight[added].sum())
        return replace(self, hidden=hidden, cost=cost, status="repaired")


def solver_of(method: Any) -> Any:
    """The solver that a method names, with its defaults, or is."""
    if method == OPTIMAL:
        return Optimal()
    if method == MODULAR:
        return Modular()
    return method


def solver_name(solver: Any) -> str:
    """What the step of a solver is called; a user's own goes by the name of the exact one."""
    return MODULAR if isinstance(solver, Modular) else OPTIMAL


def weights_of(solver: Any) -> Any:
    """What hiding a cell costs for a solver; elimination and a user's own solver go by the value."""
    return getattr(solver, "weights", "value")


def unmet(problem: Problem, pattern: Array) -> Array:
    """Numbers of the needs that a pattern does not meet."""
    from discreet.methods.suppress.attacker.feasibility import met

    return np.flatnonzero(~met(problem, pattern))


def solved(task: Task, solver: Any, until: float = np.inf, eliminated: Array | None = None) -> Solved:
    """The pattern that a solver finds up to a moment, safe from contributors who know cells of their own.

    ``eliminated``: columns that elimination hides, for the exact method to begin with. Raises HopelessError, before
    anything is solved, if no pattern protects.
    """
    began = time.monotonic()
    with deadline.until(until):
        of_table = problem_of(task, weights_of(solver))
        _possible(of_table.problem)
    turns = _Turns(solver, task, until, None if eliminated is None else of_table.widened(eliminated))
    last_proof = task.tuning.limits.grace[1] / 2 if turns.limited else 0  # the solver's own
    with deadline.until(until + last_proof):
        pattern, proved = solved_for_insiders(of_table, turns.solve, turns.late)
    weight, hidden = of_table.problem.weight[: of_table.cells], pattern[: of_table.cells]
    cost, name = _cost(of_table, hidden), solver_name(solver)
    numbers = {"solver seconds": time.monotonic() - began, **turns.counts}
    status = turns.status if proved else "time"
    return Solved(hidden, name, cost, min(turns.bound, cost), status, weight, name, proved, numbers)


class _Turns:
    """One problem after the other for the same solver, each with what is left of the time."""

    def __init__(self, solver: Any, task: Task, until: float, eliminated: Array | None) -> None:
        self.solver, self.until, self.progress = solver, until, task.asked.progress
        self.eliminated = eliminated
        self.least = task.tuning.limits.least
        self.limited = getattr(solver, "time", None) is not None
        self.bound, self.status = 0.0, ""
        self.counts = {"cuts": 0, "nodes": 0, "rounds": 0}

    def solve(self, problem: Problem) -> Array:
        """The pattern of the next problem."""
        solver = self.solver
        if self.limited:
            solver = replace(solver, time=min(max(self.until - time.monotonic(), self.least), solver.time))
        if self.counts["rounds"] and getattr(solver, "resume", None) is not None:
            solver = replace(solver, resume=None)  # what insiders could work out makes another problem of it
        solution = solution_of(solver, problem, eliminated=self.eliminated, progress=self.progress)
        self.bound = max(self.bound, float(solution.bound))
        self.status = solution.status
        self.counts["rounds"] += 1
        for count in ("cuts", "nodes"):
            self.counts[count] += int(getattr(solution, count, 0))
        return np.asarray(solution.hidden, bool)

    def late(self, asked: Problem) -> bool:
        """Whether the time is up; raises HopelessError if what is asked in addition is impossible."""
        _possible(asked)
        return self.limited and time.monotonic() > self.until


def _possible(problem: Problem) -> None:
    """Say before anything is solved what cannot be solved."""
    hopeless = unmet(problem, problem.hidden | problem.free)
    if len(hopeless):
        raise HopelessError(np.unique(problem.needs.cell[hopeless]))


def _cost(of_table: TableProblem, hidden: Array) -> float:
    """What the columns cost that are hidden for others' sake."""
    weight, from_the_start = of_table.problem.weight[: of_table.cells], of_table.problem.hidden[: of_table.cells]
    return float(weight[hidden & ~from_the_start & np.isfinite(weight)].sum())


def fallen_back(task: Task, solver: Any, hidden: Array) -> Solved:
    """Elimination's pattern in place of a solver's: nothing is proved about its cost."""
    weight = weigh(task, weights_of(solver))
    cost = float(weight[hidden & ~task.withheld & np.isfinite(weight)].sum())
    numbers = {"solver seconds": 0.0, "cuts": 0, "nodes": 0, "rounds": 0}
    return Solved(hidden, solver_name(solver), cost, 0.0, "time", weight, ELIMINATION, False, numbers)
