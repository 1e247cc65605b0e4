"""A pool of exact solutions of a system, few enough to be written down: each variable's spread is read off it.

One solution is the base; every other one is told by what it changes there. Solutions come from linear programs, first
for all variables at once, then around single ones with the rest held at the base, and are taken over as fractions with
small denominators only if they fit every row exactly. Nothing here starts from the system's own ``point``: a pool may
be shown to whoever knows the system.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array
from discreet.errors import Unjudged
from discreet.linear.components import components
from discreet.linear.exact_point import SECONDS, exact_point, near_point
from discreet.linear.integer import whole_point
from discreet.linear.presolve import Affine, Step, reduce
from discreet.linear.program import SystemProgram
from discreet.linear.system import ContradictionError, System

MOST_DIRECTIONS = 60  # programs that push all variables of a part at once
FIRST_DIRECTIONS = 4  # vertices from which the base is looked for
FEW = 8  # variables that such a program must settle to be followed by another
NEAR = (60, 400, 4_000)  # variables left free around one that has not been seen far enough
BASE_SECONDS = 60.0  # for the base in whole numbers, which everything else stands on
AS_LONG = 3  # times as long as the base took may every other solution of all variables take
NO_POINT = "no table in whole numbers that fits the release was found in time, so nothing can be shown by one"


@dataclass(frozen=True, eq=False)
class Shift:
    """Changes of the base that lead to another solution: ``amounts / divisor`` at the variables ``at``."""

    divisor: int
    at: Array
    amounts: Array


@dataclass(frozen=True, eq=False)
class Wanted:
    """How low and how high some variables must be seen, and how far apart; two whole values in any case."""

    variables: Array
    low: Array
    high: Array
    width: Array

    @classmethod
    def two_values(cls, variables: Array) -> Wanted:
        """Nothing but two values of each."""
        many = len(variables)
        return cls(variables, np.full(many, np.inf), np.full(many, -np.inf), np.zeros(many))


@dataclass(frozen=True, eq=False)
class Pool:
    """The base, ``base / divisor``, and the moves from it."""

    base: Array
    divisor: int
    moves: tuple[Shift, ...]


@dataclass(frozen=True, eq=False)
class Written:
    """Every variable as ``offset + factor * x[variable]`` of the reduced system; without one (-1) it is the offset."""

    offset: Array
    factor: Array
    variable: Array

    @classmethod
    def by(cls, steps: Sequence[Step], size: int) -> Written:
        """What the steps of a presolve come to; none of them adds variables up."""
        offset, factor, variable = np.zeros(size), np.ones(size), np.arange(size)
        for step in steps:
            assert isinstance(step, Affine)
            live = np.flatnonzero(variable >= 0)
            at = variable[live]
            offset[live] += factor[live] * step.offset[at]
            factor[live] *= step.factor[at]
            variable[live] = step.variable[at]
        return cls(offset, factor, variable)

    def values(self, x: Array) -> Array:
        """All variables at a point of the reduced system."""
        kept = self.variable >= 0
        return np.where(kept, self.offset + self.factor * x[np.where(kept, self.variable, 0)], self.offset)


def pool_of(system: System, wanted: Wanted) -> Pool:
    """Solutions among which the wanted variables are as far apart as they must be, where that was found.

    ContradictionError if there is no solution; Unjudged if none in whole numbers was found in time.
    """
    boxed = _boxed(replace(system, point=None), wanted)
    small, steps = reduce(boxed, merge=False)
    written = Written.by(steps, system.size)
    if not small.size:
        return Pool(written.offset, 1, ())
    asked = _asked(written, wanted)
    order = np.argsort(asked.variable, kind="stable")
    base, divisor = np.zeros(small.size), 1
    moves: list[Shift] = []
    for part, variables in [*components(small), *_loose(small)]:
        span = [np.searchsorted(asked.variable[order], variables, side) for side in ("left", "right")]
        mine = np.concatenate([order[a:b] for a, b in zip(*span, strict=True)] or [order[:0]])
        search = PartSearch(part, asked.some(mine, np.searchsorted(variables, asked.variable[mine])))
        search.run()
        divisor = int(np.lcm(divisor, search.divisor))
        base[variables] = search.base / search.divisor
        moves += [Shift(m.divisor, variables[m.at], m.amounts) for m in search.moves]
    full = np.rint(written.values(base) * divisor)
    return Pool(full, divisor, tuple(_in_full(written, moves)))


def _boxed(system: System, wanted: Wanted) -> System:
    """The system with a bound wherever there is none: fewer solutions, and the wanted ones are among them."""
    ends = np.concatenate([system.lower, system.upper, wanted.low, wanted.high, system.rhs])
    size = 4 * float(np.abs(ends[np.isfinite(ends)]).max(initial=4)) + 16
    lower = np.where(np.isfinite(system.lower), system.lower, -size)
    upper = np.where(np.isfinite(system.upper), system.upper, size)
    return replace(system, lower=lower, upper=np.maximum(upper, lower))


def _loose(system: System) -> list[tuple[System, Array]]:
    """The variables in no row, as one part."""
    at = np.flatnonzero(np.diff(system.columns.indptr) == 0)
    if not len(at):
        return []
    rows = system.rows[:0][:, at]
    return [(System(rows, system.rhs[:0], system.lower[at], system.upper[at], system.integer), at)]


def _in_full(written: Written, moves: Sequence[Shift]) -> list[Shift]:
    """Moves of the reduced system as moves of the first one."""
    order = np.argsort(written.variable, kind="stable")
    ordered = written.variable[order]
    full = []
    for move in moves:
        start, stop = np.searchsorted(ordered, move.at, "left"), np.searchsorted(ordered, move.at, "right")
        at = np.concatenate([order[a:b] for a, b in zip(start, stop, strict=True)])
        amounts = written.factor[at] * np.repeat(move.amounts, stop - start)
        scale = 1 if (amounts == np.rint(amounts)).all() else 2  # factors are halves at most
        full.append(Shift(move.divisor * scale, at, np.rint(amounts * scale)))
    return full


@dataclass(frozen=True, eq=False)
class Sought:
    """What is wanted, of variables of a reduced system: each stands for ``offset + factor * variable``."""

    variable: Array
    factor: Array
    offset: Array
    low: Array
    high: Array
    width: Array

    def some(self, keep: Array, variable: Array) -> Sought:
        """Some of them, of variables under other numbers."""
        return Sought(variable, self.factor[keep], self.offset[keep], self.low[keep], self.high[keep], self.width[keep])

    def at(self, x: Array) -> Array:
        """What they come to at a point."""
        return np.asarray(self.offset + self.factor * x[self.variable])


def _asked(written: Written, wanted: Wanted) -> Sought:
    """The wanted variables that can move at all."""
    live = np.flatnonzero(written.variable[wanted.variables] >= 0)
    at = wanted.variables[live]
    return Sought(
        written.variable[at], written.factor[at], written.offset[at], wanted.low[live], wanted.high[live],
        wanted.width[live],
    )  # fmt: skip


@dataclass(eq=False)
class PartSearch:
    """The pool of one part while it is found."""

    system: System
    asked: Sought
    base: Array = field(init=False)
    divisor: int = field(init=False, default=1)
    moves: list[Shift] = field(init=False, default_factory=list)
    seconds: float = field(init=False, default=SECONDS)
    """For each further solution that moves everything at once."""

    def run(self) -> None:
        """Points for all variables at once, then for those that are still too close together."""
        if not self.system.rows.shape[0]:
            self._without_rows()
            return
        model, random = SystemProgram(self.system), np.random.default_rng(1)
        first, began = None, time.monotonic()
        for k in range(FIRST_DIRECTIONS):
            cost = random.uniform(0.5, 1.5, self.system.size) * (1 if k == 1 else -1)
            x = model.minimum(cost if k < 2 else cost * random.choice([-1, 1], self.system.size))
            first = None if x is None else near_point(self.system, x, seconds=BASE_SECONDS / 4)
            if first is not None:
                break
        self.base, self.divisor = first or self._whole()
        self.seconds = max(SECONDS, AS_LONG * (time.monotonic() - began))
        self.least = self.most = self.asked.at(self.base / self.divisor)
        self._all_at_once(model, random)
        self._one_by_one()

    def _all_at_once(self, model: SystemProgram, random: np.random.Generator) -> None:
        """Programs that push everything that is still too close together, while each of them settles some of it."""
        everything, failed = np.arange(self.system.size), 0
        short = self._short()
        for k in range(MOST_DIRECTIONS):
            open_ = np.flatnonzero(short[k % 2])
            if failed > 1 or len(open_) <= FEW:
                break
            cost = np.zeros(self.system.size)
            up = self.asked.factor[open_] * (1 if k % 2 else -1)
            cost[self.asked.variable[open_]] = -np.sign(up) * random.uniform(0.5, 1.5, len(open_))
            if k >= 4:
                cost *= random.choice([-1, 1], self.system.size)
            x = model.minimum(cost)
            point = None if x is None else near_point(self.system, x, seconds=self.seconds)
            if point is not None:
                self._take(everything, point)
            before, short = short, self._short()
            settled = int(before.sum()) - int(short.sum())
            failed = 0 if settled > FEW else failed + 1

    def _without_rows(self) -> None:
        lower, upper = np.ceil(self.system.lower), np.floor(self.system.upper)
        thin = lower > upper  # no whole number in between: halves at least
        self.divisor = 60 if thin.any() else 1
        low, high = np.ceil(self.system.lower * self.divisor), np.floor(self.system.upper * self.divisor)
        self.base = np.where(thin, low, lower * self.divisor)
        top = np.where(thin, high, upper * self.divisor)
        moved = np.flatnonzero(top > self.base)
        if len(moved):
            self.moves = [Shift(self.divisor, moved, (top - self.base)[moved])]

    def _whole(self) -> tuple[Array, int]:
        """A solution in whole numbers where no vertex is one, or has a small denominator."""
        point = whole_point(self.system, BASE_SECONDS)
        if point is None or exact_point(self.system, point) is None:
            raise Unjudged(NO_POINT)
        return point, 1

    def _take(self, at: Array, point: tuple[Array, int]) -> None:
        """A solution that differs from the base at some variables, if it is further out somewhere."""
        x = self.base / self.divisor
        x[at] = point[0] / point[1]
        seen = self.asked.at(x)
        wider = (seen < self.least) | (seen > self.most)
        if not wider.any():
            return
        common = int(np.lcm(self.divisor, point[1]))
        change = point[0] * (common // point[1]) - self.base[at] * (common // self.divisor)
        kept = np.flatnonzero(change)
        shared = int(np.gcd.reduce([common, *np.abs(change[kept]).astype(np.int64).tolist()]))
        self.moves.append(Shift(common // shared, at[kept], change[kept] / shared))
        self.least, self.most = np.minimum(self.least, seen), np.maximum(self.most, seen)

    def _short(self) -> Array:
        """Of each one whether it is not seen low enough (first row) and not high enough (second)."""
        low, high = self.least, self.most
        close = (np.floor(high) - np.ceil(low) < 1) | (high - low < self.asked.width)
        return np.stack([close | (low > self.asked.low), close | (high < self.asked.high)])

    def _one_by_one(self) -> None:
        for k in np.flatnonzero(self._short().any(axis=0)).tolist():
            for side in (0, 1):
                for size in (*(n for n in NEAR if n < self.system.size), self.system.size):
                    deadline.check()
                    if not self._is_short(k, side):
                        break
                    self._push(k, side, size)

    def _is_short(self, k: int, side: int) -> bool:
        """The same of one."""
        low, high = self.least[k], self.most[k]
        close = bool(np.floor(high) - np.ceil(low) < 1 or high - low < self.asked.width[k])
        return close or bool(high < self.asked.high[k] if side else low > self.asked.low[k])

    def _push(self, k: int, side: int, size: int) -> None:
        """One variable as low or as high as it gets while all but those around it stay at the base."""
        variable, factor = int(self.asked.variable[k]), float(self.asked.factor[k])
        up = (side == 1) == (factor > 0)
        free = self.system.around(variable, size)
        x, system = self.base / self.divisor, self.system
        part = system.with_others_at(free, x, system.lower[free], system.upper[free])
        cost = np.zeros(len(free))
        here = int(np.searchsorted(free, variable))
        cost[here] = -1.0 if up else 1.0
        point = SystemProgram(part).minimum(cost)
        if point is None:
            return
        part = replace(part, integer=system.integer)
        exact = near_point(part, point, self.divisor)
        if exact is not None:
            self._take(free, exact)
        if self._is_short(k, side) and (system.integer or exact is None):
            exact = self._pushed_whole(part, here, up, point[here], x[variable])
            if exact is not None:
                self._take(free, exact)

    def _pushed_whole(self, part: System, here: int, up: bool, most: float, base: float) -> tuple[Array, int] | None:
        """The same in whole numbers: as far as the program, half as far, or one step."""
        if self.divisor != 1:
            return None
        reach = np.floor(most + 1e-6) if up else np.ceil(most - 1e-6)
        for end in dict.fromkeys((float(reach), float(np.rint((reach + base) / 2)), base + (1 if up else -1))):
            if end == base or (end > reach if up else end < reach):
                continue
            lower, upper = part.lower.copy(), part.upper.copy()
            lower[here], upper[here] = (end, upper[here]) if up else (lower[here], end)
            try:
                point = whole_point(replace(part, lower=lower, upper=upper), SECONDS)
            except ContradictionError:
                continue
            if point is not None and exact_point(part, point) is not None:
                return point, 1
        return None
