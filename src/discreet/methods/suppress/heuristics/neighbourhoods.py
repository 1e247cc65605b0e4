"""Which cells of a pattern are set free to be chosen anew: neighbourhoods of a good pattern.

What stays published ties nothing together any more, so the small problem falls apart and most cells that need
protection are out of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.base.annotations import Array
from discreet.methods.suppress.heuristics.incumbent import Incumbent
from discreet.methods.suppress.model.problem import Problem
from discreet.methods.suppress.model.tuning import HeuristicTuning

if TYPE_CHECKING:
    from scipy.sparse import csc_array


def disagreement(best: Incumbent, guide: Array, agree: float) -> Array:
    """Cells that the best pattern and the relaxation do not both hide or both publish."""
    published, hidden = (guide < agree) & ~best.pattern, (guide > 1 - agree) & best.pattern
    return best.problem.free & ~published & ~hidden


def of_moves(
    best: Incumbent, moves: csc_array, random: np.random.Generator, size: int, tuning: HeuristicTuning
) -> Array:
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
        near = np.flatnonzero(inside & (best.pattern | (random.random(len(problem)) < tuning.stray)))
        stays = len(near) and random.random() > tuning.jump
        cell = int(random.choice(near)) if stays else int(random.choice(secondary))
    return inside & problem.free


class SumNeighbourhoods:
    """Cells with a choice that share sums with one that is hidden for others' sake."""

    def __init__(self, problem: Problem, tuning: HeuristicTuning, guide: Array | None = None) -> None:
        self.problem, self.guide, self.tuning = problem, guide, tuning
        self.rows, self.columns = abs(problem.rows).tocsr(), abs(problem.rows).tocsc()

    def draw(self, pattern: Array, random: np.random.Generator, size: int) -> Array:
        """Cells around a hidden one; by turns with other hidden ones, or those that the guide hides."""
        problem = self.problem
        hidden = pattern & problem.free
        if self.guide is not None and random.random() < self.tuning.guided:
            chance = np.where(problem.free & ~hidden, self.guide, 0) * random.random(len(problem))
            likely = (chance > 0) & (chance >= np.sort(chance)[-min(size, len(chance))])
            return np.asarray(self._around(pattern, random, size) | likely)
        near = self._around(pattern, random, size)
        if random.random() < 0.5:
            return near
        others = random.permutation(np.flatnonzero(hidden))[: 2 * size]
        near[others] = True
        return near

    def _around(self, pattern: Array, random: np.random.Generator, size: int) -> Array:
        """Free cells near one that is hidden for others' sake, dear ones more often: those that share sums first."""
        problem = self.problem
        hidden = np.flatnonzero(pattern & problem.free)
        inside = np.zeros(len(problem), bool)
        if not len(hidden):
            return inside
        weight = problem.weight[hidden]
        inside[random.choice(hidden, p=weight / weight.sum() if weight.sum() > 0 else None)] = True
        seen = inside.copy()
        while int(inside.sum()) < size:
            touched = self.columns.T @ (self.rows @ seen.astype(float)) > 0
            fresh = np.flatnonzero(touched & ~seen)
            if not len(fresh):
                break
            seen[fresh] = True
            able = fresh[problem.free[fresh]]
            key = random.random(len(able)) - 0.5 * pattern[able]  # what is hidden is more often worth a thought
            inside[able[np.argsort(key)][: size - int(inside.sum())]] = True
        return inside
