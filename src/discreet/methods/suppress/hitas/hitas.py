"""Suppression of hierarchical and linked tables sub-table by sub-table, from above, each for good.

As in HiTaS [Wol02]_, simple sub-tables are protected one after the other, and one that cannot be without a published
cell of its margin sends those above back to work. Differs from it in what is protected: not each sub-table by itself,
with secondary cells as sensitive ones, but all sums met so far, so that the whole system is when the last is done.
Then sub-tables are chosen anew, each with its neighbours as they are, as long as that saves anything.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array, Progress
from discreet.base.arguments import checked, whole
from discreet.base.parallel import side_by_side
from discreet.errors import InputError, OutOfTimeError, Unjudged
from discreet.methods.suppress.attacker.feasibility import examine, met
from discreet.methods.suppress.exact.branch_and_cut import solve_small
from discreet.methods.suppress.exact.optimal import Optimal, lower_bound
from discreet.methods.suppress.heuristics.incumbent import SharedPattern
from discreet.methods.suppress.heuristics.prune import clean_up
from discreet.methods.suppress.heuristics.start import start_pattern
from discreet.methods.suppress.hitas.incremental import Protection, SumsSoFar, accept_choice, cheaper_choice, meet_needs
from discreet.methods.suppress.hitas.subtables import (
    Block,
    blocks_of_rows,
    completed,
    grouped,
    rows_of,
    widened,
)
from discreet.methods.suppress.model.clock import Clock
from discreet.methods.suppress.model.condense import Condensed
from discreet.methods.suppress.model.independent_parts import movable_cells
from discreet.methods.suppress.model.problem import Problem, check_weights
from discreet.methods.suppress.model.solution import OPTIMAL, TIME, Solution, UnprotectedError
from discreet.methods.suppress.model.tuning import DEFAULT, HitasTuning, Tuning


@checked
@dataclass(frozen=True, eq=False)
class Modular:
    """Sub-tables from above, those of up to ``exact`` cells with a choice by the exact method, others by the quick one.

    ``time`` in seconds for all of it; ``largest``: cells of a sub-table, larger ones are taken by their faces.
    ``weights`` as for ``Optimal``.

    >>> import discreet as dc
    >>> table = dc.Table.of([[20, 50, 9], [10, 2, 8], [30, 7, 5]], ["area", "sex"])
    >>> dc.protect(table, dc.Suppress(dc.Threshold(3), method=Modular(time=10))).release()
    Release(area x sex: 16 cells, 4 not shown; count)
    """

    weights: Any = "value"
    time: float = 120.0
    exact: int = field(default=200, kw_only=True)
    largest: int = field(default=DEFAULT.hitas.largest, kw_only=True)
    threads: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_weights(self.weights)
        if self.threads is not None:
            whole("threads", self.threads, 1, 1024)
        if not self.time > 0:
            raise InputError(f"time is a number of seconds above 0, not {self.time!r}")
        if self.exact < 1 or self.largest < 3:
            raise InputError("exact is at least 1 cell, largest at least 3")

    def solve(
        self,
        problem: Problem,
        *,
        start: Array | None = None,
        shared: SharedPattern | None = None,
        progress: Progress | None = None,
        tuning: Tuning = DEFAULT,
    ) -> Solution:
        """A pattern that meets every need, and a bound from the relaxation; raises UnprotectedError if there is none.

        ``start`` is a pattern that protects; ``shared`` takes every pattern found, and the search goes on from what
        other methods put there where that is cheaper. A problem no larger than a sub-table that is solved exactly is.

        >>> import numpy as np
        >>> from scipy.sparse import csr_array
        >>> from discreet.methods.suppress.model.problem import Problem, Requirements
        >>> sums = csr_array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]])
        >>> hidden = np.array([True, False, False, False])
        >>> needs = Requirements.of(np.array([0]), np.array([2]), np.array([2]))
        >>> problem = Problem(sums, np.full(4, 5.0), np.full(4, 5.0), np.array([0, 3, 4, 5]), hidden, needs)
        >>> Modular(time=10).solve(problem).cost
        12.0
        """
        if problem.free.sum() <= self.exact:
            return Optimal(time=self.time).solve(problem, start=start, shared=shared, progress=progress, tuning=tuning)
        run = SubtableRun(self, problem, time.monotonic(), progress, tuning, shared)
        try:
            with deadline.within(tuning.limits.hard(self.time)):
                return run.solution(start)
        except OutOfTimeError:
            deadline.check()
            raise OutOfTimeError(f"no pattern was found in {self.time:g} seconds; give more (time=)") from None


def _quick(problem: Problem, start: Array | None, tuning: Tuning) -> Array:
    """A first pattern in no time."""
    try:
        return start_pattern(problem, seconds=0.0, start=start, solve_small=solve_small, tuning=tuning)
    except InputError:
        able = met(problem, problem.hidden | problem.free)
        if able.all():
            raise
        raise UnprotectedError(np.flatnonzero(~able)) from None


@dataclass(frozen=True, eq=False)
class SubtableRun:
    """One solution under way."""

    method: Modular
    problem: Problem
    began: float
    progress: Progress | None
    tuning: Tuning = DEFAULT
    shared: SharedPattern | None = None

    @property
    def hitas(self) -> HitasTuning:
        """Shares of the time, and how many cells at once."""
        return self.tuning.hitas

    @property
    def left(self) -> float:
        """Seconds until the time is up."""
        return self.began + self.method.time - time.monotonic()

    def solution(self, start: Array | None) -> Solution:
        """The first pattern, which takes the time it takes, and what became of it until the time was up."""
        problem, seconds = self.problem, self.method.time
        shared = SharedPattern(problem) if self.shared is None else self.shared
        best, bound = shared.cheaper(_quick(problem, start, self.tuning)), 0.0
        try:
            with deadline.until(self.began + seconds):
                tables = completed(problem, blocks_of_rows(problem, self.method.largest, self.hitas.most_faces))
                pattern = self.from_above(tables)
                if pattern is not None:
                    shared.offer(pattern)
                bound = lower_bound(problem, self.hitas.bound * seconds, self.tuning)
                left = max(self.hitas.renewed * self.left, 0.0)
                best = shared.cheaper(self._start(problem, left, shared.pattern))
                best = self.improved(best, tables, shared)
        except (OutOfTimeError, Unjudged):
            self.tell()
        best = self._taken(best, shared)
        cost = problem.cost(best)
        status = OPTIMAL if bound >= cost * (1 - 1e-9) else TIME
        return Solution(best, cost, min(bound, cost), status, time.monotonic() - self.began)

    def _taken(self, pattern: Array, shared: SharedPattern) -> Array:
        """The cheapest pattern: this one only if it is proved as a whole."""
        if self.problem.cost(pattern) < shared.cost and self._proved(pattern):
            shared.offer(pattern)
        return pattern if shared.pattern is None else shared.pattern

    def _proved(self, pattern: Array) -> bool:
        """Whether a pattern is proved to protect as a whole while there is time for it; unsettled is not proved."""
        try:
            return bool(met(self.problem, pattern).all())
        except (OutOfTimeError, Unjudged):
            return False

    def tell(self) -> None:
        """Say how much of the time has gone."""
        if self.progress is not None:
            gone = self.method.time - max(self.left, 0.0)
            self.progress(int(gone), int(np.ceil(self.method.time)))

    def from_above(self, blocks: Sequence[Block]) -> Array | None:
        """A pattern by sub-tables from above; None if that takes too long or a need finds no way."""
        problem = self.problem
        rows = rows_of(problem, blocks, movable_cells(problem))
        state = SumsSoFar.of(problem, problem.hidden, self.tuning)
        decided = np.zeros(len(problem), bool)
        for batch in grouped(blocks, problem.free):
            if self.left < (1 - self.hitas.longest) * self.method.time:
                return None
            open_ = _mask(problem, [blocks[k] for k in batch]) & ~decided

            def one(k: int, free: Array = open_) -> tuple[Array, Protection]:
                return self._one(state, blocks[k], rows[k], free)

            steps = side_by_side(one, batch, self.method.threads)
            for k, (numbers, step) in zip(batch, steps, strict=True):
                state.take(numbers, step)
                state.seen[rows[k]] = True
                decided[blocks[k].cells] = True
            if not self._again(state, np.unique(np.concatenate([rows[k] for k in batch])), open_):
                return None
            self.tell()
        return np.asarray(clean_up(problem, state.pattern, until=self.began + self.method.time)[0])

    def _one(self, state: SumsSoFar, block: Block, rows: Array, open_: Array) -> tuple[Array, Protection]:
        """The needs that a sub-table's sums break, and what it hides for them among cells that are undecided."""
        numbers = state.broken(rows)
        seen = state.seen.copy()
        seen[rows] = True
        return numbers, meet_needs(state.asked(numbers, open_ & _mask(self.problem, [block]), seen), self._find)

    def _again(self, state: SumsSoFar, rows: Array, open_: Array) -> bool:
        """Mend what the sub-tables of a batch break among each other, or cannot do without cells decided before."""
        for free in (open_, np.ones(len(open_), bool)):
            numbers = state.broken(rows)
            if not len(numbers):
                return True
            state.take(numbers, meet_needs(state.asked(numbers, free, state.seen), self._find))
        return not len(state.broken(rows))

    def _find(self, part: Problem, _: Array, start: Array | None = None) -> Array:
        """A sub-table's pattern: the quick way if it is large, or if time is short and this the first."""
        free = int(part.free.sum())
        seconds = min(self.hitas.share * self.method.time, 0.5 + self.hitas.each * free, max(self.left, 0.1))
        late = start is None and self.left < (1 - self.hitas.hurry) * self.method.time
        if free > self.method.exact or late:
            return self._start(part, 0.0 if start is None else seconds, start)
        try:
            return np.asarray(Optimal(time=seconds).solve(part, start=start, tuning=self.tuning).hidden)
        except (OutOfTimeError, Unjudged):
            deadline.check()
            return self._start(part, 0.0, start)

    def _start(self, part: Problem, seconds: float, start: Array | None) -> Array:
        """A pattern by the quick method."""
        return start_pattern(part, seconds=seconds, start=start, solve_small=self._solve_small, tuning=self.tuning)

    def _solve_small(self, small: Condensed, start: Array, clock: Clock) -> tuple[Array, bool]:
        return solve_small(small, start, clock, tuning=self.tuning)

    def improved(self, pattern: Array, blocks: Sequence[Block], shared: SharedPattern) -> Array:
        """The pattern after sub-tables, wider ones by and by, were chosen anew one after the other."""
        problem = self.problem
        state = self._state(pattern)
        most, whole = float(self.hitas.narrow), int(problem.free.sum())
        while self.left > 0:
            areas = widened(blocks, problem.free, int(most))
            before = problem.cost(state.pattern)
            for k in range(0, len(areas), self.hitas.together):
                try:
                    state = self._anew(state, areas[k : k + self.hitas.together])
                except (OutOfTimeError, Unjudged):
                    return state.pattern
                self.tell()
                if self.left <= 0:
                    break
            if (now := problem.cost(state.pattern)) >= before * (1 - 1e-6):
                if most >= whole:
                    break
                most *= self.hitas.wider
            if shared.cost < now:
                state = self._state(shared.cheaper(pattern))
            elif self.shared is not None:  # somebody works beside this
                self._taken(state.pattern, shared)
        return state.pattern

    def _state(self, pattern: Array) -> SumsSoFar:
        """All sums, and a pattern that protects with the moves that prove it."""
        examined = examine(self.problem, pattern, tuning=self.tuning)
        every = np.ones(self.problem.rows.shape[0], bool)
        return SumsSoFar(self.problem, pattern.copy(), every, dict(examined.witnesses), self.tuning)

    def _anew(self, state: SumsSoFar, areas: Sequence[Array]) -> SumsSoFar:
        """Choose some areas anew at the same time and keep what fits together."""

        def find(part: Problem, cells: Array) -> Array:
            return self._find(part, cells, part.hidden | state.pattern[cells])

        new = state
        for change in side_by_side(lambda cells: cheaper_choice(state, cells, find), areas, self.method.threads):
            if change is not None:
                new = accept_choice(new, change) or new
        return new


def _mask(problem: Problem, blocks: Sequence[Block]) -> Array:
    inside = np.zeros(len(problem), bool)
    for block in blocks:
        inside[block.cells] = True
    return inside
