"""The exact method beside the quick ones: its patterns are never dearer than theirs in the same time.

Elimination and its clean-up come first and may take all of the time; sub-tables from above go on beside them and beside
the search in a thread of their own, as they would alone, for as long as a problem is too large for a proof. All go on
from the cheapest pattern that any of them has found. With one worker they share the time one after the other.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array, Progress
from discreet.base.compiled import always_compiled
from discreet.base.parallel import alongside, workers
from discreet.errors import InputError, OutOfTimeError, Unjudged
from discreet.methods.suppress.attacker.feasibility import met
from discreet.methods.suppress.exact.optimal import Optimal
from discreet.methods.suppress.heuristics.elimination import pattern_by_elimination
from discreet.methods.suppress.heuristics.incumbent import SharedPattern
from discreet.methods.suppress.heuristics.prune import clean_up
from discreet.methods.suppress.hitas.hitas import Modular
from discreet.methods.suppress.model.problem import Problem, Requirements
from discreet.methods.suppress.model.solution import GAP, OPTIMAL, TIME, Solution, UnprotectedError
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning

UNFINISHED = (OutOfTimeError, Unjudged, InputError, UnprotectedError)  # the exact method says what is wrong


def solution_of(
    solver: Any,
    problem: Problem,
    *,
    eliminated: Array | None = None,
    progress: Progress | None = None,
    tuning: Tuning = DEFAULT,
) -> Any:
    """What a solver makes of a problem; the exact one with the quick methods beside it.

    ``eliminated``: the pattern of elimination, where it is at hand. Small problems and those with a state to go on from
    need no quick methods.
    """
    alone = not isinstance(solver, Optimal) or solver.resume is not None
    if alone or problem.free.sum() <= tuning.limits.quick_from:
        return solver.solve(problem, progress=progress)
    _compile()
    return Portfolio(solver, problem, SharedPattern(problem), time.monotonic(), progress, tuning).solution(eliminated)


@lru_cache
def _compile() -> None:
    """Have the loops of all methods compiled by a small problem, before the clock starts: it takes long, once."""
    from scipy.sparse import csr_array

    rows = csr_array([[1, 1, -1, 0, 0, 0], [0, 0, 0, 1, 1, -1], [1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 1, 0]])
    hidden, room = np.arange(6) == 0, np.full(6, 9.0)
    needs = Requirements.of(np.array([0]), np.ones(1), np.ones(1))
    problem = Problem(rows, room, room, np.arange(6.0), hidden, needs)
    with always_compiled():
        Optimal().solve(problem, others=[pattern_by_elimination(problem)])


@dataclass(frozen=True, eq=False)
class Portfolio:
    """One problem, the methods that work on it, and the cheapest pattern of all."""

    solver: Optimal
    problem: Problem
    shared: SharedPattern
    began: float
    progress: Progress | None = None
    tuning: Tuning = DEFAULT

    def solution(self, eliminated: Array | None = None) -> Solution:
        """The cheapest pattern that any method has found, and what is proved of it."""
        limits, several = self.tuning.limits, workers() > 1
        # a small problem is the exact method's own: what sub-tables would take is missing for its proof
        size = min(1.0, int(self.problem.free.sum()) / limits.subtables_from)
        bounds: list[float] = []
        if not several:
            self.eliminate(limits.by_elimination, eliminated)
            bounds += self.by_subtables(limits.by_subtables * size)
            return self._with_best(self._search(), bounds)
        with alongside(lambda: bounds.extend(self.by_subtables(size))) as end:
            self.eliminate(1.0, eliminated)
            solution = self._search()
            if isinstance(solution, Solution) and solution.status != TIME:
                end()
        return self._with_best(solution, bounds)

    @property
    def left(self) -> float:
        """Seconds, at least a few for whoever comes last."""
        return max(self.began + self.solver.time - time.monotonic(), self.tuning.limits.least)

    def eliminate(self, share: float, pattern: Array | None = None) -> None:
        """The pattern of elimination, or the one at hand, and the same cleaned as far as a share of the time goes."""
        until = self.began + share * self.solver.time
        with suppress(*UNFINISHED), deadline.until(until):
            if pattern is None:
                pattern = pattern_by_elimination(self.problem, self.tuning)
            elif not met(self.problem, pattern).all():  # insiders have asked for more meanwhile
                return
            self.offer(pattern)
            self.offer(clean_up(self.problem, pattern, until=until, tuning=self.tuning)[0])

    def by_subtables(self, share: float) -> list[float]:
        """What sub-tables from above come to in a share of the time goes to the others; the bound, if there is one."""
        method = Modular(time=min(share * self.solver.time, self.left))
        with suppress(*UNFINISHED):
            return [method.solve(self.problem, shared=self.shared, tuning=self.tuning).bound]
        return []

    def offer(self, pattern: Array) -> None:
        """A pattern that is proved to protect, for all methods and whoever watches."""
        self.shared.offer(pattern)
        tell = getattr(self.progress, "tell", None)
        if tell is not None:
            tell(self.shared.cost, 0.0)

    def _search(self) -> Solution | OutOfTimeError | Unjudged:
        """The exact method in what is left of the time; or why it has no pattern, where another method may have one."""
        exact = replace(self.solver, time=self.left)
        try:
            return exact.solve(self.problem, shared=self.shared, progress=self.progress, tuning=self.tuning)
        except (OutOfTimeError, Unjudged) as unfinished:
            return unfinished

    def _with_best(self, solution: Solution | OutOfTimeError | Unjudged, bounds: list[float]) -> Solution:
        """The solution with the cheapest pattern and the best bound of all methods."""
        seconds = time.monotonic() - self.began
        if not isinstance(solution, Solution):
            if self.shared.pattern is None and isinstance(solution, Unjudged):
                raise solution
            if self.shared.pattern is None:
                deadline.check()
                raise OutOfTimeError(f"no pattern was found in {self.solver.time:g} seconds; give more (time=)")
            solution = Solution(self.shared.pattern, self.shared.cost, 0.0, TIME, seconds)
        if solution.status == OPTIMAL or self.shared.pattern is None:
            return replace(solution, seconds=seconds)
        hidden, cost = solution.hidden, solution.cost
        if self.shared.cost < cost:
            hidden, cost = self.shared.pattern, self.shared.cost
        bound = min(max(solution.bound, *bounds), cost)
        status = OPTIMAL if bound >= cost * (1 - 1e-9) else GAP if cost - bound <= self.solver.gap * cost else TIME
        return replace(solution, hidden=hidden, cost=cost, bound=bound, status=status, seconds=seconds)
