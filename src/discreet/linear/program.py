"""A system as a linear program: any point of it, or one where a cost is least."""

from __future__ import annotations

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import Unjudged
from discreet.linear.highs import INTERIOR, OTHERWISE, PRIMAL, VERTEX, LinearProgram, Outcome, Solver
from discreet.linear.linear_tuning import LINEAR, LinearTuning
from discreet.linear.system import ContradictionError, System

UNSETTLED = "the solver settles a linear program of this audit neither way; what it is about is unknown, not safe"
WIDEST = 1e4  # the longest interval of a program in its own units: tolerances are 1e-7 of them


class SystemProgram:
    """One component in HiGHS, moved to the lower bounds and scaled so that its tolerances are far below one unit.

    A large one begins with the interior point method. Later runs go on from the vertex that is there by the simplex
    method, and begin anew where that takes too many steps.
    """

    def __init__(self, system: System, *, scale: float | None = None, tuning: LinearTuning = LINEAR) -> None:
        self.system = system
        self.tuning = tuning
        self.large = system.rows.shape[0] > tuning.large
        self.has_vertex = False
        self.shift = np.where(
            np.isfinite(system.lower), system.lower, np.where(np.isfinite(system.upper), system.upper, 0)
        )
        self.scale = scale_of(system) if scale is None else scale
        lower = (system.lower - self.shift) / self.scale
        upper = (system.upper - self.shift) / self.scale
        right = (system.rhs - system.rows @ self.shift) / self.scale
        self.cost = np.zeros(system.size)
        self.solver = Solver(PRIMAL, LinearProgram(system.rows, self.cost, lower, upper, right, right))

    def minimum(self, cost: Array) -> Array | None:
        """A point where the cost is least, None if it has no least value.

        ContradictionError only where infeasibility is proved; a solver that gives up is Unjudged.
        """
        changed = np.flatnonzero(cost != self.cost)
        self.solver.change_costs(changed, cost[changed])
        self.cost = cost
        outcome = self._run()
        if outcome is Outcome.INFEASIBLE:
            raise ContradictionError
        if outcome is Outcome.UNSETTLED:
            raise Unjudged(UNSETTLED)
        return None if outcome is Outcome.UNBOUNDED else self.point()

    def _run(self) -> Outcome:
        outcome = Outcome.UNSETTLED
        if self.large and self.has_vertex:
            with self.solver.options({"simplex_iteration_limit": self.tuning.warm_steps}):
                outcome = self.solver.run()
        if self.large and outcome is Outcome.UNSETTLED:
            self.solver.forget()
            with self.solver.options(VERTEX):
                outcome = self.solver.run()
        if outcome is Outcome.UNSETTLED:
            outcome = self.solver.run(OTHERWISE)
        self.has_vertex = outcome is Outcome.SOLVED
        return outcome

    def point(self) -> Array:
        """The present solution in the system's own units."""
        x = self.solver.x * self.scale + self.shift
        near = np.rint(x)
        x = np.where(np.abs(x - near) <= max(1e-6, 1e-6 * self.scale), near, x)
        clipped: Array = np.clip(x, self.system.lower, self.system.upper)
        return clipped


class InteriorProgram(SystemProgram):
    """The same by the interior point method alone, within other bounds each time."""

    def __init__(self, system: System, *, tuning: LinearTuning = LINEAR) -> None:
        super().__init__(system, tuning=tuning)
        self.solver.set_options(INTERIOR)

    def minimum_within(self, cost: Array, lower: Array, upper: Array) -> Array | None:
        """A point within bounds where the cost is nearly least; None if the solver does not get there."""
        everything = np.arange(self.system.size)
        self.solver.change_costs(everything, cost)
        self.solver.change_bounds(everything, (lower - self.shift) / self.scale, (upper - self.shift) / self.scale)
        self.solver.forget()
        if self.solver.run((VERTEX,)) is not Outcome.SOLVED:
            return None
        clipped: Array = np.clip(self.point(), lower, upper)
        return clipped


def scale_of(system: System) -> float:
    """What to divide by so that the longest interval is at most WIDEST and tolerances stay far below a unit."""
    with np.errstate(invalid="ignore"):
        width = system.upper - system.lower
    return max(1.0, float(width[np.isfinite(width)].max(initial=1)) / WIDEST)


def any_solution(system: System) -> Array:
    """Any solution; ContradictionError if there is none."""
    point = SystemProgram(system).minimum(np.zeros(system.size))
    if point is None:  # nothing is unbounded without a cost
        raise Unjudged(UNSETTLED)
    return point
