"""Optimal: the cheapest pattern that protects, or the best found in the time with a proof of how far it may be off.

The model is Fischetti and Salazar's [FS01]_: one yes or no for each cell, and an inequality for every way in which an
intruder could be certain; there are too many of those, so they are added as they are needed. In this order: the
problem is taken apart and made smaller, a good pattern is found, the relaxation is cut until its bound stalls, cells
that no cheaper pattern can use are fixed, and what is left is searched by branch and cut.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array, Progress
from discreet.base.arguments import checked, whole
from discreet.errors import InputError, OutOfTimeError, Unjudged, nearest
from discreet.methods.suppress.heuristics.incumbent import SharedPattern
from discreet.methods.suppress.model.clock import Clock
from discreet.methods.suppress.model.condense import Condensed, condense
from discreet.methods.suppress.model.independent_parts import joined_pattern, split
from discreet.methods.suppress.model.problem import Problem, check_weights
from discreet.methods.suppress.model.solution import GAP, OPTIMAL, TIME, Solution, UnprotectedError
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning

if TYPE_CHECKING:
    from discreet.methods.suppress.exact.checkpoint import State


SOLVERS = ("auto", "scip", "highs")


@checked
@dataclass(frozen=True)
class Optimal:
    """How to look for the cheapest pattern.

    ``weights``: what hiding a cell costs: "value", "unity", "log", "count", numbers or a function from Table. After
    ``time`` seconds, or when the pattern is proved to be within ``gap`` (a fraction) of the best, the best one so far
    is returned with its bound. ``solver``: "highs" (also "auto"), or "scip" (the extra ``discreet[optimal]``), whose
    tree is another's work and checks ours.
    ``resume``: a file in which the state of the search is kept, so that the next call goes on from it. It holds
    confidential numbers, and only its owner can read it. ``seed``: of the search for good patterns.

    >>> import discreet as dc
    >>> table = dc.Table.of([[20, 50, 9], [10, 2, 8], [30, 7, 5]], ["area", "sex"])
    >>> dc.protect(table, dc.Suppress(dc.Threshold(3), method=Optimal(weights="unity", time=10))).release()
    Release(area x sex: 16 cells, 4 not shown; count)
    """

    weights: Any = "value"
    time: float = 60.0
    gap: float = 0.0
    solver: str = "auto"
    resume: str | Path | None = field(default=None, kw_only=True)
    seed: int = field(default=1, kw_only=True)

    def __post_init__(self) -> None:
        if self.solver not in SOLVERS:
            raise InputError(f"no solver {self.solver!r}; {nearest(str(self.solver), SOLVERS)}")
        check_weights(self.weights)
        whole("seed", self.seed, 0)
        if not self.time > 0:
            raise InputError(f"time is in seconds and above 0, not {self.time!r}")
        if not 0 <= self.gap < 1:
            raise InputError(f"gap is a fraction from 0 to 1, not {self.gap!r}: write 0.05 for 5 %")
        if self.solver == "scip":
            from discreet.methods.suppress.exact import scip

            if not scip.available():
                raise InputError("the solver 'scip' is not installed: pip install 'discreet[optimal]'")

    def solve(
        self,
        problem: Problem,
        *,
        start: Array | None = None,
        others: Sequence[Array] = (),
        shared: SharedPattern | None = None,
        progress: Progress | None = None,
        tuning: Tuning = DEFAULT,
    ) -> Solution:
        """The cheapest pattern of a problem. Raises UnprotectedError if there is none.

        ``start`` is a pattern that protects, from which the search goes on; ``others`` protect, too, and the result
        is not dearer than any of them, nor than what other methods put into ``shared`` meanwhile.

        ``progress(done, total)`` counts the time; an attribute ``tell(cost, bound)`` of it, if there, is told of every
        improvement. If the time is up before there is a pattern, the start is returned; without one, OutOfTimeError.
        The same with Unjudged, if the solver does not settle a program that the first pattern needs.

        >>> import numpy as np
        >>> from scipy.sparse import csr_array
        >>> from discreet.methods.suppress.model.problem import Problem, Requirements
        >>> sums = csr_array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]])
        >>> hidden = np.array([True, False, False, False])
        >>> needs = Requirements.of(np.array([0]), np.array([2]), np.array([2]))
        >>> problem = Problem(sums, np.full(4, 5.0), np.full(4, 5.0), np.array([0, 3, 4, 5]), hidden, needs)
        >>> solution = Optimal(time=10).solve(problem)
        >>> solution.hidden.tolist(), solution.cost, solution.status
        ([True, True, True, True], 12.0, 'optimal')
        """
        from discreet.methods.suppress.exact.checkpoint import State

        began = time.monotonic()
        try:
            with deadline.within(tuning.limits.hard(self.time)), State.open(self.resume, problem) as state:
                return self._solve(problem, state, start, others, shared, progress, began, tuning)
        except (OutOfTimeError, Unjudged) as unfinished:
            deadline.check()
            found = None if shared is None else shared.pattern
            patterns = [np.asarray(p, bool) | problem.hidden for p in (start, *others, found) if p is not None]
            if not patterns and isinstance(unfinished, Unjudged):
                raise
            if not patterns:
                raise OutOfTimeError(f"no pattern was found in {self.time:g} seconds; give more (time=)") from None
            hidden = min(patterns, key=problem.cost)
            return Solution(hidden, problem.cost(hidden), 0.0, TIME, time.monotonic() - began)

    def _solve(
        self,
        problem: Problem,
        state: State,
        start: Array | None,
        others: Sequence[Array],
        shared: SharedPattern | None,
        progress: Progress | None,
        began: float,
        tuning: Tuning,
    ) -> Solution:
        from discreet.methods.suppress.exact.branch_and_cut import BranchAndCut, Tally

        parts = [(part, cells, condense(part)) for part, cells in split(problem)]
        hopeless = [_numbers(problem, cells, small.hopeless) for _, cells, small in parts]
        if any(len(h) for h in hopeless):
            raise UnprotectedError(np.unique(np.concatenate(hopeless)))
        tally = Tally(len(parts), progress, self.time)
        search = BranchAndCut(self.gap, self.seed, self.solver, tuning)
        outcomes = []
        for number, (part, cells, small) in enumerate(parts):
            share = len(small.small) / max(sum(len(s.small) for _, _, s in parts[number:]), 1)
            left = max(began + self.time - time.monotonic(), 0.0)
            pattern = start if state.pattern is None else state.pattern
            first = None if pattern is None else pattern[cells]
            known = state.part(number, len(small.small))
            arrived = _arrived(shared, cells)
            rivals = [*(other[cells] for other in others), *((now,) if (now := arrived()) is not None else ())]
            clock, tell = Clock.of(share * left), tally.of(number)
            try:
                outcomes.append(
                    search.run(small, clock, start=first, others=rivals, tell=tell, known=known, arrived=arrived)
                )
            except InputError:
                if len(unmet := _unmet(part)):
                    raise UnprotectedError(_numbers(problem, cells, unmet)) from None
                raise
        pieces = [(part, cells) for part, cells, _ in parts]
        hidden = joined_pattern(problem, pieces, [outcome.hidden for outcome in outcomes])
        cost = problem.cost(hidden)
        bound = min(sum(outcome.bound for outcome in outcomes), cost)
        bound = max(bound, min(state.bound, cost))
        proved = all(outcome.status == OPTIMAL for outcome in outcomes) or bound >= cost * (1 - 1e-9)
        status = OPTIMAL if proved else GAP if cost - bound <= self.gap * cost else TIME
        state.keep(problem, hidden, bound, [outcome.cuts for outcome in outcomes])
        seconds = time.monotonic() - began
        separated = sum(outcome.separated for outcome in outcomes)
        nodes = sum(outcome.nodes for outcome in outcomes)
        return Solution(hidden, cost, cost if proved else bound, status, seconds, separated, nodes)


def _arrived(shared: SharedPattern | None, cells: Array) -> Callable[[], Array | None]:
    """What others have found for some cells of a problem by the time that one asks."""

    def now() -> Array | None:
        pattern = None if shared is None else shared.pattern
        return None if pattern is None else np.asarray(pattern[cells])

    return now


def _numbers(problem: Problem, cells: Array, hopeless: Array) -> Array:
    """The numbers in the whole problem of some needs of a part."""
    inside = np.flatnonzero(np.isin(problem.needs.cell, cells))
    return inside[hopeless] if len(hopeless) else np.empty(0, np.int64)


def _unmet(part: Problem) -> Array:
    """Requirements that are not met even with all cells hidden that may be."""
    from discreet.methods.suppress.attacker.feasibility import met

    return np.flatnonzero(~met(part, part.free | part.hidden))


def lower_bound(problem: Problem, seconds: float, tuning: Tuning = DEFAULT) -> float:
    """A certified least cost from the relaxation alone."""
    from discreet.methods.suppress.exact.master import Relaxation

    total, began = 0.0, time.monotonic()
    try:
        with deadline.within(seconds):
            parts: list[Condensed] = [condense(part) for part, _ in split(problem)]
            total = sum(small.base for small in parts)
            for number, small in enumerate(parts):
                share = len(small.small) / max(sum(len(s.small) for s in parts[number:]), 1)
                relaxation = Relaxation(small, tuning=tuning)
                relaxation.run(time.monotonic() + share * max(began + seconds - time.monotonic(), 0.0))
                total += relaxation.bound
    except (OutOfTimeError, Unjudged):  # what was added up so far is proved
        return total
    return total
