"""Which of many variables can take another value: points of the interior, each pushed for all that are left at once.

Every variable in question is kept within a unit of where it stands and pushed away from there, in the direction of the
point before: so that one run of the interior point method shows as many of them as possible to move, instead of moving
a few of them far. About a third of what is left is shown by each run. Those that are left at last crowd each other out:
of the cells of a sum that has one unit to spare a point moves one. Programs for single ones show these sooner.

Two points at a time, each for half of the variables, show as many as two in turn, and run side by side.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array
from discreet.base.parallel import side_by_side
from discreet.linear.linear_tuning import LINEAR, LinearTuning
from discreet.linear.program import InteriorProgram, SystemProgram
from discreet.linear.system import System

FLIPPED = 0.3  # of the directions are turned round in each push
UNEQUAL = 1.5  # spread of the logarithm of what a push counts for a variable: where they bar each other's way, some
EVEN = 0.1  # get there; the same where long ways are asked for
FAR = 4.5  # of that logarithm at most
STILL = 1e-3  # of a unit: less is no direction
PUSHED_TOGETHER = 24  # variables for which one point is enough


class PushedPoints:
    """The least and greatest value of each variable in the points so far."""

    def __init__(
        self, system: System, base: Array | None, low: Array, high: Array, tuning: LinearTuning = LINEAR
    ) -> None:
        self.system = system
        self.base = base  # a known solution
        self.low = low
        self.high = high
        self.tuning = tuning
        many = base is None or system.rows.shape[0] > tuning.lean_most
        self.leaner = system if many else _independent(system)
        self.programs = [InteriorProgram(self.leaner, tuning=tuning)]
        self.random = np.random.default_rng(1)
        self.last: Array | None = None  # where the last point that pushed each target had it

    def push(self, targets: Array, reach: float, width: float, most: int) -> Array:
        """Targets of which no two values more than ``width`` apart are seen, with two whole ones between or at them.

        ``reach``: how far from the known solution, or from the middle of what is seen, a target may go; ``most``: runs.
        """
        left = self._left(targets, width)
        while most > 0:
            first = self.last is None and self.base is None  # pushes nothing
            lanes = 1 if first else min(self.tuning.push_lanes, most, 1 + len(left) // PUSHED_TOGETHER)
            if len(left) <= self.tuning.pushed_few or not self._points(
                left, reach, lanes, UNEQUAL if width == 0 else EVEN
            ):
                break
            most -= lanes
            before, left = len(left), self._left(left, width)
            singles = min(self.tuning.push_least, self.tuning.push_rows / max(self.system.rows.shape[0], 1))
            worth = lanes * max(self.tuning.push_share * before, singles)
            if before - len(left) < worth and not first:
                break
        return left

    def one_by_one(self, targets: Array) -> Array:
        """The same by a program for each target and side, from vertex to vertex: targets without two values, proved.

        A vertex that moves one of them often moves others, which are left out then.
        """
        system = self.system
        program = SystemProgram(self.leaner, tuning=self.tuning)
        still: list[int] = []
        left = self._left(targets, 0.0)
        while len(left):
            k = int(left[0])
            for side in self._sides(k):
                deadline.check()
                cost = np.zeros(system.size)
                cost[k] = -side
                x = program.minimum(cost)
                if x is None:  # without bound
                    (self.high if side > 0 else self.low)[k] = side * np.inf
                else:
                    self._note(x)
                if two_values(self.low[k], self.high[k]):
                    break
            else:
                still.append(k)
                left = left[1:]
            left = self._left(left, 0.0)
        return np.array(still, np.int64)

    def _sides(self, k: int) -> tuple[float, ...]:
        """Up and down, as far as the bounds of a variable leave room for another whole value there."""
        if self.base is None:
            return (1.0, -1.0)
        up = self.system.upper[k] - self.base[k] >= 1
        down = self.base[k] - self.system.lower[k] >= 1
        return ((1.0,) if up else ()) + ((-1.0,) if down else ())

    def _left(self, targets: Array, width: float) -> Array:
        low = self.low[targets]
        high = self.high[targets]
        return targets[~(two_values(low, high) & (high - low > width))]

    def _points(self, left: Array, reach: float, lanes: int, spread: float) -> bool:
        """So many points more, each for its share of the targets; False if the solver gives none."""
        deadline.check()
        shares = [left[lane::lanes] for lane in range(lanes)]
        aims = [self._aim(share, reach, spread) for share in shares]
        self.programs += [InteriorProgram(self.leaner, tuning=self.tuning) for _ in range(lanes - len(self.programs))]
        pairs = list(zip(self.programs, aims, strict=False))
        points = side_by_side(lambda pair: pair[0].minimum_within(*pair[1]), pairs)
        for share, x in zip(shares, points, strict=True):
            if x is None:
                continue
            self._note(x)
            self.last = x.copy() if self.last is None else self.last
            self.last[share] = x[share]
        return any(x is not None for x in points)

    def _aim(self, left: Array, reach: float, spread: float) -> tuple[Array, Array, Array]:
        """A cost that pushes some targets away from where they stand, and bounds that keep them near."""
        system = self.system
        lower = system.lower.copy()
        upper = system.upper.copy()
        cost = np.zeros(system.size)
        last = self.base if self.last is None else self.last
        if last is not None:
            base = ((self.low + self.high) / 2 if self.base is None else self.base)[left]
            away = np.where(last[left] > base, 1.0, -1.0)
            still = np.abs(last[left] - base) < STILL
            away[self.random.random(len(left)) < np.where(still, 0.5, FLIPPED)] *= -1
            away = np.where(system.upper[left] - base < 1, -1.0, np.where(base - system.lower[left] < 1, 1.0, away))
            cost[left] = -away * np.exp(np.clip(spread * self.random.standard_normal(len(left)), -FAR, FAR))
            lower[left] = np.maximum(lower[left], base - reach)
            upper[left] = np.minimum(upper[left], base + reach)
        return cost, lower, upper

    def _note(self, x: Array) -> None:
        np.minimum(self.low, x, out=self.low)
        np.maximum(self.high, x, out=self.high)


def _independent(system: System) -> System:
    """A system with a solution without the rows that follow from others, of whole numbers: programs are sooner done."""
    from discreet.linear.modular import independent_rows

    rows = independent_rows(system.rows)
    return replace(system, rows=system.rows[rows], rhs=system.rhs[rows])


def two_values(low: Array, high: Array) -> Array:
    """Whether an interval holds at least two numbers of the published precision (whole units)."""
    slack = 1e-6 * np.maximum(1, np.minimum(np.abs(low), np.abs(high)) * 1e-6)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.floor(high + slack) - np.ceil(low - slack) >= 1)
