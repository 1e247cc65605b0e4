"""Parts of a pattern made anew: the rest settled, what is left is small enough for a search that proves its answer.

A neighbourhood is a set of cells with a choice, the others stay as they are; condensed it is a tiny problem. By turns
it is searched exactly (relaxation, then branch and cut) or protected one need after the other at shaken weights.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.methods.suppress.attacker.cheapest_move import Ways
from discreet.methods.suppress.heuristics.greedy import cleaned, protect, weights
from discreet.methods.suppress.heuristics.incumbent import Clock, SolveSmall
from discreet.methods.suppress.heuristics.prune import Kept
from discreet.methods.suppress.model.condense import Condensed, narrowed
from discreet.methods.suppress.model.problem import Problem

Array = NDArray[Any]
SIZE, LEAST, MOST = 60, 20, 1_000  # cells with a choice at first, at least, at most
SHARE = 0.1  # of the time left for one neighbourhood at most
LONGEST = 10.0  # seconds for one
TOO_MANY = 600  # moves of a part from which a single round takes too long
GROW, SHRINK = 1.15, 0.7
GUIDED = 0.3  # of the neighbourhoods are cells that the guide hides, if there is one


class Renewal:
    """The best pattern so far and the search around it."""

    def __init__(
        self, problem: Problem, pattern: Array, seed: int, until: float, solve_small: SolveSmall,
        guide: Array | None = None,
    ) -> None:  # fmt: skip
        self.solve_small = solve_small
        self.problem, self.pattern, self.seed, self.until = problem, pattern, seed, until
        self.guide = guide
        self.rows, self.columns = abs(problem.rows).tocsr(), abs(problem.rows).tocsc()
        self.size = float(SIZE)

    @property
    def cost(self) -> float:
        """Of the best pattern."""
        return self.problem.cost(self.pattern)

    @property
    def open(self) -> bool:
        """Whether there is anything left to gain."""
        return self.cost > 0

    def turn(self, number: int) -> None:
        """Try one neighbourhood; a pattern as cheap as the best takes its place: it has other neighbours."""
        random = np.random.default_rng((self.seed, number))
        part = narrowed(self.problem, self.pattern, self.choice(random))
        if not part.small.free.any() or part.moves.shape[1] > TOO_MANY:
            return
        until = min(self.until, time.monotonic() + min(LONGEST, SHARE * (self.until - time.monotonic()) + 0.5))
        if number % 3 == 2:
            pattern = self._again(part, random, until)
        else:
            clock = Clock.of(max(until - time.monotonic(), 0.0))
            pattern, settled = self.solve_small(part, part.shrink(self.pattern), clock)
            self.size = float(np.clip(self.size * (GROW if settled else SHRINK), LEAST, MOST))
        if pattern is not None:
            new = part.expand(pattern)
            if self.problem.cost(new) <= self.cost:
                self.pattern = new

    def choice(self, random: np.random.Generator) -> Array:
        """Cells with a choice: around a hidden one, all hidden ones and some others, or those of the guide."""
        problem, size = self.problem, int(self.size)
        hidden = self.pattern & problem.free
        if self.guide is not None and random.random() < GUIDED:
            chance = np.where(problem.free & ~hidden, self.guide, 0) * random.random(len(problem))
            likely = (chance > 0) & (chance >= np.sort(chance)[-min(size, len(chance))])
            return np.asarray(self._around(random, size) | likely)
        near = self._around(random, size)
        if random.random() < 0.5:
            return near
        others = random.permutation(np.flatnonzero(hidden))[: 2 * size]
        near[others] = True
        return near

    def _around(self, random: np.random.Generator, size: int) -> Array:
        """Free cells near one that is hidden for others' sake, dear ones more often: those that share sums first."""
        problem = self.problem
        hidden = np.flatnonzero(self.pattern & problem.free)
        inside = np.zeros(len(problem), bool)
        if not len(hidden):
            return inside
        weight = problem.weight[hidden]
        inside[random.choice(hidden, p=weight / weight.sum() if weight.sum() > 0 else None)] = True
        reached = inside.copy()
        while int(inside.sum()) < size:
            touched = self.columns.T @ (self.rows @ reached.astype(float)) > 0
            fresh = np.flatnonzero(touched & ~reached)
            if not len(fresh):
                break
            reached[fresh] = True
            able = fresh[problem.free[fresh]]
            key = random.random(len(able)) - 0.5 * self.pattern[able]  # what is hidden is more often worth a thought
            inside[able[np.argsort(key)][: size - int(inside.sum())]] = True
        return inside

    def _again(self, part: Condensed, random: np.random.Generator, until: float) -> Array | None:
        """The neighbourhood protected from the start, needs in a new order, at shaken weights; None if time is up."""
        problem = part.small
        kept = Kept(Ways(problem, part.moves), problem.hidden.copy(), {})
        order = random.permutation(len(problem.needs))
        if not protect(kept, order, weights(problem, None, random), until=until):
            return None
        return cleaned(problem, kept.pattern, until)
