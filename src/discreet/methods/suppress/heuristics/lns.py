"""Large neighbourhood search: part of a good pattern is set free, the rest stays, and that small problem is solved.

Which part: where the pattern and the relaxation disagree (RINS), basic moves around a cell drawn by lot, or cells that
share sums with one. Neighbourhoods grow while they are easy and shrink when they are not solved in their time.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.base.annotations import Array
from discreet.methods.suppress.attacker.cheapest_move import MoveFinder
from discreet.methods.suppress.attacker.feasibility import examine, in_turn
from discreet.methods.suppress.attacker.witnesses import Witnesses, met_by, needs_by_cell, prices, still
from discreet.methods.suppress.heuristics.greedy import search_weights, take_cheapest_moves
from discreet.methods.suppress.heuristics.incumbent import Incumbent, SolveSmall
from discreet.methods.suppress.heuristics.neighbourhoods import SumNeighbourhoods, disagreement, of_moves
from discreet.methods.suppress.heuristics.prune import WitnessedPattern, cleaned_until
from discreet.methods.suppress.model.clock import Clock
from discreet.methods.suppress.model.condense import Condensed, condense, with_choice
from discreet.methods.suppress.model.independent_parts import split
from discreet.methods.suppress.model.problem import Problem
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning

if TYPE_CHECKING:
    from scipy.sparse import csc_array


def rins(best: Incumbent, guide: Array, seconds: float, solve_small: SolveSmall, tuning: Tuning = DEFAULT) -> None:
    """The best pattern among those that hide and publish what the best one and the relaxation agree on."""
    heuristics = tuning.heuristics
    free = disagreement(best, guide, heuristics.agree)
    if free.sum() < heuristics.disagree_most * best.problem.free.sum():
        _renewed(best, free, Clock.of(seconds), solve_small)


def around_moves(
    best: Incumbent,
    moves: csc_array,
    seconds: float,
    seed: int,
    solve_small: SolveSmall,
    *,
    gap: float = 0.0,
    known: Witnesses | None = None,
    tuning: Tuning = DEFAULT,
) -> None:
    """Parts around cells drawn by lot, one after the other; larger ones when they were easy and brought nothing.

    ``known``: a move for each need, if there are some already.
    """
    random, clock = np.random.default_rng(seed), Clock.of(seconds)
    heuristics = tuning.heuristics
    size = float(heuristics.moves_first)
    kept = KnownMoves(best, known, tuning)
    while clock.left > 0 and not best.done(gap) and best.cost > 0:
        before = best.cost
        best.welcome()
        if best.cost < before:
            kept, before = KnownMoves(best, None, tuning), best.cost
        free = of_moves(best, moves, random, int(size), heuristics)
        finished = _renewed(best, free, Clock.of(min(heuristics.moves_seconds, clock.left)), solve_small, kept)
        if not finished:
            size = max(heuristics.moves_shrink * size, heuristics.moves_least)
        elif best.cost >= before:
            size = min(heuristics.moves_grow * size, heuristics.moves_most)


class KnownMoves:
    """A move for each need under the best pattern: needs whose move touches nothing set free stay met."""

    def __init__(self, best: Incumbent, known: Witnesses | None, tuning: Tuning = DEFAULT) -> None:
        self.best, self.finder, self.price = best, MoveFinder(best.problem, tuning=tuning), prices(best.problem)
        self.moves = examine(best.problem, best.pattern).witnesses if known is None else known
        self.table = needs_by_cell(best.problem)
        self.large, self.enough = len(best.problem) > tuning.heuristics.large, tuning.heuristics.near

    def touched(self, loose: Array) -> Array:
        """Requirements whose move goes through some cells."""
        return np.array(sorted({need for (need, _), move in self.moves.items() if loose[move.cells].any()}), np.int64)

    def near(self, free: Array, touched: Array) -> Array:
        """Cells set free, those of the moves that go through them, and hidden ones around; all, where they are few."""
        pattern, rows = self.best.pattern, self.best.problem.rows
        if not self.large:
            return np.ones(len(pattern), bool)
        near, lost = free.copy(), set(touched.tolist())
        for (need, _), move in self.moves.items():
            if need in lost:
                near[move.cells] = True
        while near.sum() < self.enough:
            wider = near | (pattern & ((abs(rows).T @ ((abs(rows) @ near.astype(float)) > 0)) > 0))
            if (wider == near).all():
                break
            near = wider
        return near

    def renew(self, near: Array) -> None:
        """Moves of the best pattern for needs that lost theirs, among the cells near them if possible."""
        problem, pattern = self.best.problem, self.best.pattern
        if not self.large:
            self.moves = examine(problem, pattern, witnesses=self.moves).witnesses
            return
        lost = self.touched(~pattern)
        self.moves = still(pattern, self.moves)
        refused = in_turn(self.finder, pattern & near, lost.tolist(), self.moves, self.table, self.price)
        if refused or not all(met_by(problem, need, self.moves) for need in lost.tolist()):
            self.moves = examine(problem, pattern, witnesses=self.moves).witnesses


def _renewed(
    best: Incumbent, free: Array, clock: Clock, solve_small: SolveSmall, kept: KnownMoves | None = None
) -> bool:
    """Solve for the cells set free, all others as they are; whether it was solved in the time.

    Requirements that some move meets without the cells set free (``kept``) stay met whatever comes out.
    """
    problem = best.problem
    if kept is not None:
        touched = kept.touched(free & best.pattern)
        near = kept.near(free, touched)
        held = replace(problem, down=np.where(near, problem.down, 0.0), up=np.where(near, problem.up, 0.0))
        problem = held.with_needs(problem.needs.take(touched))
    published = best.problem.free & ~free & ~best.pattern
    hidden = best.problem.free & ~free & best.pattern
    pattern, finished = best.pattern.copy(), True
    pattern[free] = False  # what no part asks for
    parts = [(part, cells) for part, cells in split(problem.settled(published, hidden)) if part.free.any()]
    for number, (part, cells) in enumerate(parts):
        turn = Clock.of(clock.left / (len(parts) - number))
        small = condense(part)
        chosen, proved = solve_small(small, small.shrink(best.pattern[cells]), turn)
        pattern[cells] = small.expand(chosen) | problem.hidden[cells] | hidden[cells]
        finished &= proved
    before = best.cost
    best.improve(pattern)
    if kept is not None and best.cost < before:
        kept.renew(near)
    return finished


class SumSearch:
    """Neighbourhoods of sums: by turns solved exactly, or protected one need after the other at shaken weights."""

    def __init__(
        self,
        problem: Problem,
        pattern: Array,
        seed: int,
        until: float,
        solve_small: SolveSmall,
        guide: Array | None = None,
        tuning: Tuning = DEFAULT,
    ) -> None:
        self.problem, self.pattern, self.seed, self.until = problem, pattern, seed, until
        self.solve_small, self.tuning = solve_small, tuning
        self.neighbourhoods = SumNeighbourhoods(problem, tuning.heuristics, guide)
        self.size = float(tuning.heuristics.sums_first)

    @property
    def cost(self) -> float:
        """Of the best pattern."""
        return self.problem.cost(self.pattern)

    def turn(self, number: int) -> None:
        """Try one neighbourhood; a pattern as cheap as the best takes its place: it has other neighbours."""
        heuristics = self.tuning.heuristics
        random = np.random.default_rng((self.seed, number))
        choice = self.neighbourhoods.draw(self.pattern, random, int(self.size))
        part = with_choice(self.problem, self.pattern, choice)
        if not part.small.free.any() or part.moves.shape[1] > heuristics.too_many_moves:
            return
        share = heuristics.sums_share * (self.until - time.monotonic()) + 0.5
        until = min(self.until, time.monotonic() + min(heuristics.sums_seconds, share))
        if number % 3 == 2:
            pattern = self._greedily(part, random, until)
        else:
            clock = Clock.of(max(until - time.monotonic(), 0.0))
            pattern, proved = self.solve_small(part, part.shrink(self.pattern), clock)
            size = self.size * (heuristics.sums_grow if proved else heuristics.sums_shrink)
            self.size = float(np.clip(size, heuristics.sums_least, heuristics.sums_most))
        if pattern is not None:
            new = part.expand(pattern)
            if self.problem.cost(new) <= self.cost:
                self.pattern = new

    def _greedily(self, part: Condensed, random: np.random.Generator, until: float) -> Array | None:
        """The neighbourhood protected from the start, needs in a new order, at shaken weights; None if time is up."""
        problem = part.small
        kept = WitnessedPattern(MoveFinder(problem, part.moves, self.tuning), problem.hidden.copy(), {}, self.tuning)
        order = random.permutation(len(problem.needs))
        if not take_cheapest_moves(kept, order, search_weights(problem, None, random, self.tuning), until=until):
            return None
        return cleaned_until(problem, kept.pattern, until, self.tuning)
