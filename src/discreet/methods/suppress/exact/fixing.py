"""Reduced-cost fixing: cells that no cheaper pattern can use are decided, and what is left is a smaller problem."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from discreet.base.annotations import Array
from discreet.methods.suppress.exact.inequalities import Cut, Inequality, Plane
from discreet.methods.suppress.exact.master import Relaxation
from discreet.methods.suppress.heuristics.incumbent import Incumbent
from discreet.methods.suppress.model.condense import Condensed, condense
from discreet.methods.suppress.model.tuning import DEFAULT, WHOLE, Tuning


class Stage:
    """The problem after some rounds of fixing: smaller each time, patterns lead back to the first."""

    def __init__(
        self,
        small: Condensed,
        best: Incumbent,
        offset: float = 0.0,
        above: Stage | None = None,
        known: Sequence[Inequality] = (),
        tuning: Tuning = DEFAULT,
    ) -> None:
        self.tuning, self.exact = tuning, tuning.exact
        self.small, self.best, self.offset, self.above = small, best, offset, above
        self.problem = small.small
        self.relaxation = Relaxation(small, tuning=tuning)
        if known:
            self.relaxation.add(known)
            self.relaxation.solve()

    def lift(self, pattern: Array) -> Array:
        """A pattern of the first problem from one of this."""
        return pattern if self.above is None else self.above.lift(self.small.expand(pattern))

    def guide(self, x: Array) -> Array:
        """The same for a pattern in fractions."""
        if self.above is None:
            return x
        group = self.small.group
        wide = np.where(group >= 0, x[np.where(group >= 0, group, 0)], 0.0) if len(x) else np.zeros(len(group))
        return self.above.guide(np.where(self.small.whole.hidden, 1.0, wide))

    @property
    def top(self) -> Stage:
        """The first level."""
        return self if self.above is None else self.above.top

    def improve(self, pattern: Array) -> None:
        """Note a pattern that protects."""
        self.best.improve(self.lift(pattern))

    def prove(self, bound: float) -> None:
        """Note a lower bound: whatever is cheaper than the best pattern costs at least this."""
        self.best.prove(min(bound + self.offset, self.best.cost))

    def relax(self, until: float, enough: float) -> bool:
        """Cut the relaxation and note what it proves; whether that came to an end before the time."""
        stalled = self.relaxation.run(until, self.prove, enough)
        self.prove(self.relaxation.bound)
        return stalled

    def enough(self, gap: float) -> float:
        """The bound of the relaxation at which the search may stop."""
        best = self.best
        return min(best.target + WHOLE, best.cost - gap * (best.cost + best.base)) - self.offset

    @property
    def target(self) -> float:
        """What a better pattern costs here at most."""
        return self.best.target - self.offset

    def fixed(self) -> tuple[Array, Array]:
        """Cells that every cheaper pattern publishes, and those that every cheaper pattern hides."""
        relaxation = self.relaxation
        room = self.target - relaxation.bound + 1e-9 * max(abs(self.target), 1.0)
        return relaxation.free[relaxation.reduced > room], relaxation.free[-relaxation.reduced > room]

    def below(self) -> Stage | None:
        """The level below, None if too little can be fixed to be worth it or nothing cheaper is left."""
        published, hidden = self.fixed()
        many = len(published) + len(hidden)
        if not many or many < self.exact.fixed * len(self.relaxation.free):
            return None
        level = self._restricted(published, hidden)
        if level is None:
            self.best.prove(self.best.cost)
        return level

    def _restricted(self, published: Array, hidden: Array) -> Stage | None:
        """The level below with some cells decided; None if no pattern cheaper than the best is left."""
        offset = self.offset + float(self.problem.weight[hidden].sum())
        shown, gone = np.zeros((2, len(self.problem)), bool)
        shown[published] = gone[hidden] = True
        small = condense(self.problem.settled(shown, gone))
        if len(small.hopeless) or offset + small.base > self.best.target:
            return None
        least = self.exact.least_left
        rows = [row for old in self.relaxation.rows if (row := _translated(old, small, least)) is not None]
        return Stage(small, self.best, offset + small.base, self, rows, self.tuning)


# a level, the number of the turn, the seconds and the relaxation's pattern: cheaper patterns go to the level's best
Improve = Callable[[Stage, int, float, Array], None]


def _translated(row: Inequality, small: Condensed, least_left: float) -> Inequality | None:
    """An inequality over the cells of the smaller problem; None if less than that is left of it."""
    plane = row.plane
    group, sure = small.group[plane.cell], _sure(plane.cell, small)
    kept = ~sure & (group >= 0)
    right = plane.right - float(plane.coefficient[sure].sum())
    cells, where = np.unique(group[kept], return_inverse=True)
    coefficient = np.bincount(where, plane.coefficient[kept], len(cells))
    if right <= float(np.minimum(coefficient, 0).sum()) + least_left:
        return None
    if (coefficient > 0).all() and right > 0:
        return Cut(cells, np.minimum(coefficient / right, 1.0))
    return Plane(cells, coefficient, right)


def _sure(cells: Array, small: Condensed) -> Array:
    """Which of some cells are hidden whatever is chosen."""
    group = small.group[cells]
    return np.asarray(small.whole.hidden[cells] | ((group >= 0) & small.small.hidden[np.where(group >= 0, group, 0)]))
