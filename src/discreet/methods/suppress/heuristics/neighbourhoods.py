"""Better patterns near a good one: part of it is set free, the rest stays, and that small problem is solved exactly.

Which part: where the pattern and the relaxation disagree, or all around a cell drawn by lot. What stays published ties
nothing together any more, so the small problem falls apart and most cells that need protection are out of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.methods.suppress.attacker.cheapest_move import Ways
from discreet.methods.suppress.attacker.feasibility import (
    Witnesses,
    check,
    in_turn,
    met_by,
    needs_by_cell,
    prices,
    still,
)
from discreet.methods.suppress.heuristics.incumbent import Clock, Incumbent, SolveSmall
from discreet.methods.suppress.model.components import split
from discreet.methods.suppress.model.condense import condense
from discreet.methods.suppress.model.problem import LARGE

if TYPE_CHECKING:
    from scipy.sparse import csc_array

Array = NDArray[Any]

AGREE = 1e-6  # how near to 0 or 1 the relaxation must be
LEAST, MOST = 40, 1000  # cells set free
FIRST = 120
STRAY, JUMP = 0.1, 0.05  # how often a published cell, or one elsewhere, leads to the next move
SECONDS = 4.0  # for one small problem at most
NEAR = 1_200  # cells that move in a large problem besides those set free


def disagree(best: Incumbent, guide: Array, seconds: float, solve_small: SolveSmall) -> None:
    """The best pattern among those that hide and publish what the best one and the relaxation agree on."""
    free = best.problem.free & ~((guide < AGREE) & ~best.pattern) & ~((guide > 1 - AGREE) & best.pattern)
    if free.sum() < 0.9 * best.problem.free.sum():
        _renewed(best, free, Clock.of(seconds), solve_small)


def around(
    best: Incumbent,
    moves: csc_array,
    seconds: float,
    seed: int,
    solve_small: SolveSmall,
    *,
    gap: float = 0.0,
    known: Witnesses | None = None,
) -> None:
    """Parts around cells drawn by lot, one after the other; larger ones when they were easy and brought nothing.

    ``known``: a move for each need, if there are some already.
    """
    random, clock = np.random.default_rng(seed), Clock.of(seconds)
    size = float(FIRST)
    kept = Known(best, known)
    while clock.left > 0 and not best.done(gap) and best.cost > 0:
        free = _drawn(best, moves, random, int(size))
        before = best.cost
        turn = Clock.of(min(SECONDS, clock.left))
        finished = _renewed(best, free, turn, solve_small, kept)
        if not finished:
            size = max(0.7 * size, LEAST)
        elif best.cost >= before:
            size = min(1.1 * size, MOST)


class Known:
    """A move for each need under the best pattern."""

    def __init__(self, best: Incumbent, known: Witnesses | None) -> None:
        self.best, self.ways, self.price = best, Ways(best.problem), prices(best.problem)
        self.moves = check(best.problem, best.pattern).witnesses if known is None else known
        self.table = needs_by_cell(best.problem)

    def touched(self, loose: Array) -> Array:
        """Needs whose move goes through some cells."""
        return np.array(sorted({need for (need, _), move in self.moves.items() if loose[move.cells].any()}), np.int64)

    def near(self, free: Array, touched: Array) -> Array:
        """Cells set free, those of the moves that go through them, and hidden ones around; all, where they are few."""
        pattern, rows = self.best.pattern, self.best.problem.rows
        if len(pattern) <= LARGE:
            return np.ones(len(pattern), bool)
        near, lost = free.copy(), set(touched.tolist())
        for (need, _), move in self.moves.items():
            if need in lost:
                near[move.cells] = True
        while near.sum() < NEAR:
            wider = near | (pattern & ((abs(rows).T @ ((abs(rows) @ near.astype(float)) > 0)) > 0))
            if (wider == near).all():
                break
            near = wider
        return near

    def renew(self, near: Array) -> None:
        """Moves of the best pattern for needs that lost theirs, among the cells near them if possible."""
        problem, pattern = self.best.problem, self.best.pattern
        if len(problem) <= LARGE:
            self.moves = check(problem, pattern, witnesses=self.moves).witnesses
            return
        lost = self.touched(~pattern)
        self.moves = still(problem, pattern, self.moves)
        refused = in_turn(self.ways, pattern & near, lost.tolist(), self.moves, self.table, self.price)
        if refused or not all(met_by(problem, need, self.moves) for need in lost.tolist()):
            self.moves = check(problem, pattern, witnesses=self.moves).witnesses


def _drawn(best: Incumbent, moves: csc_array, random: np.random.Generator, size: int) -> Array:
    """All cells of some basic moves that belong together: whatever else stands still, those can move.

    The first is drawn with a cell that is hidden for others' sake, dear ones more often, the next with cells of these.
    """
    problem = best.problem
    secondary = np.flatnonzero(best.pattern & ~problem.hidden)
    chance = problem.weight[secondary] + 1e-12
    by_cell = moves.tocsr()
    inside, taken = np.zeros(len(problem), bool), np.zeros(moves.shape[1], bool)
    cell = int(random.choice(secondary, p=chance / chance.sum()))
    while (inside & problem.free).sum() < size and not taken.all():
        able = by_cell.indices[by_cell.indptr[cell] : by_cell.indptr[cell + 1]]
        able = able[~taken[able]]
        if len(able):
            move = int(random.choice(able))
            taken[move] = True
            inside[moves.indices[moves.indptr[move] : moves.indptr[move + 1]]] = True
        known = np.flatnonzero(inside & (best.pattern | (random.random(len(problem)) < STRAY)))
        cell = int(random.choice(known)) if len(known) and random.random() > JUMP else int(random.choice(secondary))
    return inside & problem.free


def _renewed(best: Incumbent, free: Array, clock: Clock, solve_small: SolveSmall, kept: Known | None = None) -> bool:
    """Solve for the cells set free, all others as they are; whether it was solved in the time.

    Needs that some move meets without the cells set free (``kept``) stay met whatever comes out.
    """
    problem = best.problem
    if kept is not None:
        touched = kept.touched(free & best.pattern)
        near = kept.near(free, touched)
        still = replace(problem, down=np.where(near, problem.down, 0.0), up=np.where(near, problem.up, 0.0))
        problem = still.with_needs(problem.needs.take(touched))
    out, into = best.problem.free & ~free & ~best.pattern, best.problem.free & ~free & best.pattern
    rest = problem.settled(out, into)
    pattern, finished = best.pattern.copy(), True
    pattern[free] = False  # what no part asks for
    parts = [(part, cells) for part, cells in split(rest) if part.free.any()]
    for number, (part, cells) in enumerate(parts):
        turn = Clock.of(clock.left / (len(parts) - number))
        small = condense(part)
        chosen, done = solve_small(small, small.shrink(best.pattern[cells]), turn)
        pattern[cells] = small.expand(chosen) | problem.hidden[cells] | into[cells]
        finished &= done
    before = best.cost
    best.improve(pattern)
    if kept is not None and best.cost < before:
        kept.renew(near)
    return finished
