"""A cell suppression problem in numbers, as instances are exchanged: audited, and protected by any of the solvers.

Cells have a value, bounds that an intruder takes for certain, a cost and protection levels; sums among them are rows.
``discreet.formats.jj`` reads and writes the text.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from discreet.audits.known import Known
from discreet.audits.report import Audit
from discreet.audits.view import View
from discreet.audits.view_audit import empty, of_view
from discreet.base.annotations import Array
from discreet.data.dimension import Dimension
from discreet.errors import InputError, Unjudged, nearest
from discreet.methods.suppress.model.problem import Problem, Requirements
from discreet.methods.suppress.model.solution import OPTIMAL, TIME, Solution
from discreet.release import Status, hidden
from discreet.tables.additive import fixed
from discreet.tables.layout import Layout

if TYPE_CHECKING:
    from scipy.sparse import csr_array

METHODS = ("gauss", "optimal", "modular")
WEIGHTS = ("cost", "value", "unity", "log")


@dataclass(frozen=True, eq=False, repr=False)
class SuppressionInstance:
    """A cell suppression problem: what every cell holds and may hold, and the rows ``relations @ value == rhs``."""

    name: str
    value: Array
    cost: Array
    status: Array
    lower: Array
    upper: Array
    lower_level: Array
    upper_level: Array
    sliding_level: Array
    relations: csr_array
    rhs: Array

    def __len__(self) -> int:
        return len(self.value)

    @property
    def primary(self) -> Array:
        """Cells that are sensitive themselves."""
        return np.asarray(self.status == Status.PRIMARY.value)

    @property
    def hidden(self) -> Array:
        """Cells that are not shown."""
        return hidden(self.status)

    def view(self, hidden: Array | None = None) -> View:
        """What an intruder knows when these cells (default: as marked) are not shown; they lie within their bounds."""
        from scipy.sparse import eye_array

        gone = self.hidden if hidden is None else np.asarray(hidden, bool)
        digits = fixed(self.value, None, "values")[1]
        grid, n = 10.0**digits, len(self)
        value = np.rint(self.value * grid)
        known = Known(
            matrix=eye_array(n, format="csr"),
            lower=np.where(gone, np.minimum(self.lower * grid, value), value),
            upper=np.where(gone, np.maximum(self.upper * grid, value), value),
            inner_lower=np.full(n, -np.inf),
            inner_upper=np.full(n, np.inf),
            integer=False,
            relations=self.relations,
            rhs=self.rhs * grid,
            point=np.concatenate([value, value]),
        )
        layout = Layout.of([Dimension.flat("cell", range(n), total=None)])
        return View(
            known, value, (layout,), self.name, digits, sensitive=np.asarray(self.status == Status.PRIMARY.value)
        )

    def audit(
        self,
        hidden: Array | None = None,
        *,
        targets: str | Array = "unknown",
        progress: Callable[[int, int], None] | None = None,
    ) -> Audit:
        """Interval of every hidden cell (or of ``targets``); "narrow" where it does not reach the protection levels."""
        levels = self.lower_level, self.upper_level, self.sliding_level
        seen = self.view(hidden)
        report = of_view(seen, targets, protection=levels, progress=progress)
        return replace(report, unjudged=(*report.unjudged, *empty(seen, targets)))

    def problem(self, weights: Any = "cost") -> Problem:
        """The cell suppression problem: primaries are hidden, cells of status z and those without room are published.

        ``weights``: what hiding a cell costs: "cost" (the file's), "value", "unity", "log", or numbers. Levels are cut
        to the room that a cell's bounds leave; a primary without any must still have a second value.
        """
        unit = 10.0 ** -fixed(self.value, None, "values")[1]
        down, up = np.maximum(self.value - self.lower, 0), np.maximum(self.upper - self.value, 0)
        hidden = self.primary | (self.status == Status.NEVER.value)
        stay = ~hidden & ((self.status == Status.FORCED.value) | ((down == 0) & (up == 0)))
        weight = np.where(stay, np.inf, np.where(hidden, 0, self._weigh(weights, unit)))
        cell = np.flatnonzero(self.primary)
        below, above = np.minimum(self.lower_level, down)[cell], np.minimum(self.upper_level, up)[cell]
        nothing = (below == 0) & (above == 0) & (self.sliding_level[cell] == 0)
        sliding = np.minimum(np.where(nothing, unit, self.sliding_level[cell]), (down + up)[cell])
        return Problem(self.relations, down, up, weight, hidden, Requirements.of(cell, below, above, sliding))

    def _weigh(self, weights: Any, unit: float) -> Array:
        size = np.maximum(np.abs(self.value), unit)
        if isinstance(weights, str):
            known = {"cost": self.cost, "value": size, "unity": np.ones(len(self)), "log": np.log1p(size)}
            if weights not in known:
                raise InputError(f"weights are {', '.join(map(repr, WEIGHTS))} or numbers, not {weights!r}")
            return known[weights]
        numbers = np.array(weights, float)
        if numbers.shape != (len(self),) or np.isnan(numbers).any() or (numbers < 0).any():
            raise InputError(f"weights must be one number, not negative, for each of the {len(self):,} cells")
        return numbers

    def protect(
        self,
        method: Any = "optimal",
        *,
        weights: Any = None,
        clean_up: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Solution:
        """Cells to hide so that every primary reaches its levels: by "gauss", "optimal", "modular" or one of these.

        ``weights`` as for ``problem``; None: those of an ``Optimal`` or ``Modular`` that is given, else the file's
        costs. By "gauss" nothing is proved: the bound is 0. The pattern is checked, whatever the method.

        >>> from discreet.formats.jj import parse_jj
        >>> text = "0 3  0 5 5 s 0 9 0 0 0  1 3 3 u 0 9 1 1 0  2 2 2 s 0 9 0 0 0  1  0 3 : 0 (-1) 1 (1) 2 (1)"
        >>> parse_jj(text).protect().hidden.tolist()
        [False, True, True]
        """
        from discreet.methods.suppress.attacker.feasibility import examine
        from discreet.methods.suppress.heuristics.prune import clean_up as cleaned

        costs = getattr(method, "weights", "cost") if weights is None else weights
        problem, began = self.problem(costs), time.monotonic()
        solution = _solution(method, problem, progress)
        hidden = cleaned(problem, solution.hidden, progress=progress)[0] if clean_up else solution.hidden
        if not examine(problem, hidden).met.all():
            raise Unjudged(f"the pattern for {self.name!r} does not bear out")
        cost = problem.cost(hidden)
        status = OPTIMAL if solution.bound >= cost else solution.status
        seconds = time.monotonic() - began
        return Solution(hidden, cost, solution.bound, status, seconds, solution.cuts, solution.nodes)

    def marked(self, hidden: Array) -> Self:
        """The instance with the cells of a pattern marked as secondary (x), others as published."""
        plain = np.isin(self.status, [Status.PUBLISHED.value, Status.SECONDARY.value])
        if (gone := np.asarray(hidden, bool) & (self.status == Status.FORCED.value)).any():
            raise InputError(f"cell {int(np.flatnonzero(gone)[0]):,} must be published (status z) and cannot be hidden")
        shown = np.where(hidden, Status.SECONDARY.value, Status.PUBLISHED.value)
        return replace(self, status=np.where(plain, shown, self.status))


def _solution(method: Any, problem: Problem, progress: Callable[[int, int], None] | None) -> Solution:
    from discreet.methods.suppress.quick_patterns import solution_of
    from discreet.methods.suppress.solve import solver_of

    if isinstance(method, str) and method not in METHODS:
        raise InputError(f"no method {method!r}; {nearest(method, METHODS)}")
    if method != "gauss":
        solution: Solution = solution_of(solver_of(method), problem, progress=progress)
        return solution
    from discreet.methods.suppress.heuristics.elimination import pattern_by_elimination

    began = time.monotonic()
    hidden = pattern_by_elimination(problem)
    return Solution(hidden, problem.cost(hidden), 0.0, TIME, time.monotonic() - began)
