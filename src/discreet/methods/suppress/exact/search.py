"""One connected problem: pattern, bound, fixing, branch and cut, in the time there is."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.base import deadline
from discreet.errors import OutOfTimeError
from discreet.methods.suppress.attacker.all_at_once import met
from discreet.methods.suppress.exact.inequalities import FAR, Cut, Plane, Row, Separation
from discreet.methods.suppress.exact.master import Relaxation
from discreet.methods.suppress.exact.presolve import Condensed, condense
from discreet.methods.suppress.heuristics.first_patterns import incumbent
from discreet.methods.suppress.model.problem import LARGE, Problem

if TYPE_CHECKING:
    from discreet.methods.suppress.exact.optimal import Optimal

Array = NDArray[Any]
Progress = Callable[[int, int], None]
Tell = Callable[[float, float], None]

WHOLE = 1e-6
FIRST = 0.15  # of the time, at most, for the first pattern
EACH = 0.004  # seconds of that for each cell with a choice
ROOT = 0.6  # of the time after which the tree begins, whatever the relaxation still gains
TURN = 0.25  # of the time left, at most, for a turn of the relaxation
GUIDED = 0.2  # of the time left, at most, for a better pattern after it
LEAST_SECONDS = 1.0  # for that
DIVED = 0.4  # of that for patterns straight from the relaxation
NEAR = (0.4, 0.85)  # of that: until when what pattern and relaxation disagree on, and parts of the pattern, are solved
RELAXED = 0.5  # of a small problem's time for its relaxation
STEPS = 8  # between pattern and bound, at most, to take them one by one
LARGE_FIRST, LARGE_BOUND, LARGE_LAST = (
    0.35,
    0.1,
    0.95,
)  # of the time of a large problem, whose rest is for better patterns
FIXED = 0.1  # of the cells with a choice must be fixed to begin with a smaller problem
LEAST_LEFT = 1e-3  # of an inequality to be worth keeping


@dataclass(frozen=True)
class Clock:
    """When a search began and how long it may take."""

    began: float
    seconds: float

    def at(self, share: float) -> float:
        """The moment when this share of the time is used."""
        return self.began + share * self.seconds

    def soon(self, share: float) -> float:
        """The moment when this share of the time left is used."""
        return time.monotonic() + share * self.left

    @property
    def left(self) -> float:
        """Seconds."""
        return max(self.at(1) - time.monotonic(), 0.0)


class Tally:
    """Costs and bounds of the parts added up, for whoever watches."""

    def __init__(self, parts: int, progress: Progress | None, seconds: float) -> None:
        self.cost, self.bound = np.full(parts, np.nan), np.zeros(parts)
        self.progress, self.seconds, self.began = progress, seconds, time.monotonic()
        self.tell: Tell | None = getattr(progress, "tell", None)

    def of(self, number: int) -> Tell:
        """Where one part reports to."""

        def told(cost: float, bound: float) -> None:
            self.cost[number] = np.fmin(self.cost[number], cost)
            self.bound[number] = max(self.bound[number], bound)
            if self.tell is not None and not np.isnan(self.cost).any():
                self.tell(float(self.cost.sum()), float(self.bound.sum()))
            if self.progress is not None:
                self.progress(min(int(time.monotonic() - self.began), int(self.seconds)), max(int(self.seconds), 1))

        return told


@dataclass(frozen=True, eq=False)
class Found:
    """What the search of one part came to; ``cuts`` are those worth keeping, over the condensed cells."""

    hidden: Array
    bound: float
    status: str
    made: int
    nodes: int
    cuts: list[Cut] = field(default_factory=list)


@dataclass
class Run:
    """What a search leaves behind, also when its time is up in the middle: its first level, those below, and nodes."""

    top: Level | None = None
    levels: list[Level] = field(default_factory=list)
    nodes: int = 0

    @property
    def made(self) -> int:
        """Inequalities found."""
        all_levels = [] if self.top is None else [self.top, *self.levels]
        return sum(level.relaxation.separation.made for level in all_levels)

    @property
    def cuts(self) -> list[Cut]:
        """Those of the first level that were of use lately."""
        if self.top is None:
            return []
        rows = zip(self.top.relaxation.rows, self.top.relaxation.idle, strict=False)
        return [row for row, idle in rows if isinstance(row, Cut) and idle < 3]


@dataclass
class Best:
    """The best pattern of the condensed problem so far, and what is proved."""

    problem: Problem
    base: float
    tell: Tell
    pattern: Array
    bound: float = 0.0

    @property
    def cost(self) -> float:
        return self.problem.cost(self.pattern)

    @property
    def whole(self) -> bool:
        """Whether every pattern costs a whole number."""
        weight = self.problem.weight[self.problem.free]
        return bool((weight == np.rint(weight)).all())

    @property
    def target(self) -> float:
        """What a better pattern costs at most."""
        return self.cost - (1 - WHOLE if self.whole else 1e-9 * self.cost)

    def improve(self, pattern: Array) -> None:
        if self.problem.cost(pattern) < self.cost:
            self.pattern = pattern
            self.report()

    def prove(self, bound: float) -> None:
        bound = float(np.ceil(bound - WHOLE * max(1.0, 1e-3 * abs(bound)))) if self.whole else bound
        if bound > self.bound:
            self.bound = min(bound, self.cost)
            self.report()

    def report(self) -> None:
        self.tell(self.cost + self.base, self.bound + self.base)

    def done(self, gap: float) -> bool:
        """Whether nothing better than the gap asks for is left."""
        return self.bound > self.target or self.cost - self.bound <= gap * (self.cost + self.base)


class Goal(Best):
    """Stands for the best pattern where one is looked for that costs no more than ``reach``, or a proof of none."""

    def __init__(self, real: Best, reach: float) -> None:
        super().__init__(real.problem, real.base, real.tell, real.pattern, real.bound)
        self.real, self.reach = real, reach

    @property
    def cost(self) -> float:
        """What a pattern just beyond reach would cost."""
        return self.reach + 1

    def improve(self, pattern: Array) -> None:
        self.real.improve(pattern)

    def prove(self, bound: float) -> None:
        """A bound for patterns within reach is one for all, as far as it goes."""
        self.real.prove(min(bound, self.cost))

    def done(self, gap: float) -> bool:
        return self.real.done(gap) or self.real.bound > self.reach + WHOLE


class Level:
    """The problem after some rounds of fixing: smaller each time, patterns lead back to the first."""

    def __init__(self, small: Condensed, best: Best, offset: float, above: Level | None, known: Sequence[Row]) -> None:
        self.small, self.best, self.offset, self.above = small, best, offset, above
        self.problem = small.small
        self.relaxation = Relaxation(small)
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
    def top(self) -> Level:
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

    @property
    def target(self) -> float:
        """What a better pattern costs here at most."""
        return self.best.target - self.offset

    def fixed(self) -> tuple[Array, Array]:
        """Cells that every cheaper pattern publishes, and those that every cheaper pattern hides."""
        relaxation = self.relaxation
        room = self.target - relaxation.bound + 1e-9 * max(abs(self.target), 1.0)
        return relaxation.free[relaxation.reduced > room], relaxation.free[-relaxation.reduced > room]

    def below(self) -> Level | None:
        """The level below, None if too little can be fixed to be worth it or nothing cheaper is left."""
        out, into = self.fixed()
        if not len(out) + len(into) or len(out) + len(into) < FIXED * len(self.relaxation.free):
            return None
        found = _restricted(self, self.best, out, into)
        if found is None:
            self.best.prove(self.best.cost)
        return found


def _translated(row: Row, small: Condensed) -> Row | None:
    """An inequality over the cells of the smaller problem; None if it always holds there."""
    plane = row.plane
    group, sure = small.group[plane.cell], _sure(plane.cell, small)
    kept = ~sure & (group >= 0)
    right = plane.right - float(plane.coefficient[sure].sum())
    cells, where = np.unique(group[kept], return_inverse=True)
    coefficient = np.bincount(where, plane.coefficient[kept], len(cells))
    if right <= float(np.minimum(coefficient, 0).sum()) + LEAST_LEFT:
        return None
    if (coefficient > 0).all() and right > 0:
        return Cut(cells, np.minimum(coefficient / right, 1.0))
    return Plane(cells, coefficient, right)


def _sure(cells: Array, small: Condensed) -> Array:
    """Which of some cells are hidden whatever is chosen."""
    group = small.group[cells]
    return np.asarray(small.whole.hidden[cells] | ((group >= 0) & small.small.hidden[np.where(group >= 0, group, 0)]))


def search(
    how: Optimal, part: Problem, small: Condensed, clock: Clock, start: Array | None, tell: Tell, known: list[Cut]
) -> Found:
    """The cheapest pattern of one connected problem, or the best in the time."""
    problem = small.small
    if not len(problem.needs):
        return Found(small.expand(problem.hidden), small.base, "optimal", 0, 0)
    if len(problem) > LARGE and start is None:
        return _large(how, small, clock, tell, known)
    first = incumbent(
        problem, seconds=min(FIRST * clock.seconds, EACH * int(problem.free.sum())), seed=how.seed,
        start=small.shrink(start) if start is not None else None,
        condensed=small,
    )  # fmt: skip
    best = Best(problem, small.base, tell, first)
    best.report()
    run = Run()
    try:
        with deadline.until(clock.at(1)):
            _improved(how, small, best, clock, known, run)
    except OutOfTimeError:
        best.report()  # the best pattern so far and what is proved so far stand
    proved = best.bound > best.target
    status = "optimal" if proved else "gap" if best.done(how.gap) else "time"
    bound = best.cost if proved else best.bound
    return Found(small.expand(best.pattern), bound + small.base, status, run.made, run.nodes, run.cuts)


def _improved(how: Optimal, small: Condensed, best: Best, clock: Clock, known: list[Cut], run: Run) -> None:
    """Better patterns and bounds by relaxation, fixing and branching, noted in ``best`` as they come."""
    from discreet.methods.suppress.exact.tree import Tree

    top = level = run.top = Level(small, best, 0.0, None, known)
    turn = 0
    while not best.done(how.gap) and clock.left > 0:
        turn += 1
        spent = time.monotonic()
        stalled = level.relax(clock.soon(TURN), _enough(level, how.gap))
        if best.done(how.gap):
            break
        spent = min(max(time.monotonic() - spent, LEAST_SECONDS), GUIDED * clock.left)
        Tree(level).dive(time.monotonic() + DIVED * spent)
        better(how, level, turn, (1 - DIVED) * spent)
        below = None if best.done(how.gap) else level.below()
        if below is not None:
            level = below
            run.levels.append(level)
        elif stalled or time.monotonic() > clock.at(ROOT):
            break
    if not best.done(how.gap) and clock.left > 0:
        steps = best.whole and best.cost - best.bound <= STEPS and how.solver != "scip"
        run.nodes = step_by_step(how, top, clock) if steps else branch(how, level, clock)


def _large(how: Optimal, small: Condensed, clock: Clock, tell: Tell, known: list[Cut]) -> Found:
    """The same where a tree would not get anywhere: a bound from the relaxation, and nearly all time for patterns."""
    from discreet.methods.suppress.heuristics import neighbourhoods as nearby
    from discreet.methods.suppress.heuristics.local_moves import first_pattern

    problem, moves = small.small, None
    found = first_pattern(small, clock.at(LARGE_FIRST))
    if found is None:
        first = incumbent(problem, seconds=LARGE_FIRST * clock.left, seed=how.seed, condensed=small)
    else:
        first, moves = found
    best = Best(problem, small.base, tell, first)
    best.report()
    run = Run()
    try:
        with deadline.until(clock.at(LARGE_LAST)):
            level = run.top = Level(small, best, 0.0, None, known)
            level.relax(clock.at(LARGE_FIRST + LARGE_BOUND), _enough(level, how.gap))
            if not best.done(how.gap) and clock.left > 0:
                nearby.around(how, best, small.moves.tocsc(), LARGE_LAST * clock.left, how.seed, moves)
    except OutOfTimeError:
        best.report()
    good = best.pattern is first or _still_met(problem, best.pattern)
    status = "optimal" if best.bound > best.target else "gap" if best.done(how.gap) else "time"
    pattern = best.pattern
    if not good:  # made of many parts, each solved for itself: asked as a whole
        pattern, status = first, "time"
    return Found(small.expand(pattern), best.bound + small.base, status, run.made, 0, run.cuts)


def _still_met(problem: Problem, pattern: Array) -> bool:
    """Whether a pattern is proved to protect in the time that is left; without time it is not."""
    try:
        return bool(met(problem, pattern).all())
    except OutOfTimeError:
        return False


def better(how: Optimal, level: Level, turn: int, seconds: float, x: Array | None = None) -> None:
    """Look for a cheaper pattern: where the best and the relaxation disagree, around single cells, and by chance."""
    from discreet.methods.suppress.heuristics import neighbourhoods as nearby

    best, clock = level.best, Clock(time.monotonic(), seconds)
    guide = level.guide(level.relaxation.x if x is None else x)
    nearby.disagree(how, best, guide, clock.seconds * NEAR[0])
    nearby.around(how, best, level.top.small.moves.tocsc(), clock.at(NEAR[1]) - time.monotonic(), how.seed + turn)
    if clock.left > 0 and not best.done(how.gap):
        best.improve(
            incumbent(
                best.problem, seconds=clock.left, guide=guide, start=best.pattern, seed=how.seed + turn,
                condensed=level.top.small,
            )
        )  # fmt: skip


def _restricted(level: Level, best: Best, out: Array, into: Array) -> Level | None:
    """The level below with some cells published and others hidden; None if no pattern cheaper than the best is left."""
    offset = level.offset + float(level.problem.weight[into].sum())
    published, hidden = np.zeros((2, len(level.problem)), bool)
    published[out] = hidden[into] = True
    small = condense(level.problem.settled(published, hidden))
    if len(small.hopeless) or offset + small.base > best.target:
        return None
    rows = [t for row in level.relaxation.rows if (t := _translated(row, small)) is not None]
    return Level(small, best, offset + small.base, level, rows)


def _enough(level: Level, gap: float) -> float:
    """The bound at which the search may stop."""
    best = level.best
    return min(best.target + WHOLE, best.cost - gap * (best.cost + best.base)) - level.offset


def branch(how: Optimal, level: Level, clock: Clock, *, patterns: bool = True) -> int:
    """Branch and cut with the solver there is; nodes looked at."""
    from discreet.methods.suppress.exact import scip, tree

    return (scip.branch if how.solver == "scip" else tree.branch)(how, level, clock, patterns)


def exactly(how: Optimal, small: Condensed, start: Array, clock: Clock) -> tuple[Array, bool]:
    """The cheapest pattern of a small problem, as far as the time goes, and whether it is proved."""
    best = Best(small.small, small.base, lambda cost, bound: None, start)
    try:
        with deadline.until(clock.at(1)):
            if best.cost > 0:
                level = Level(small, best, 0.0, None, [])
                level.relax(clock.at(RELAXED), best.target + WHOLE)
                if not best.done(0.0) and clock.left > 0:
                    branch(how, level, clock, patterns=False)
    except OutOfTimeError:  # the start, or what came of it, protects all the same
        return best.pattern, False
    return best.pattern, best.done(0.0)


def step_by_step(how: Optimal, top: Level, clock: Clock) -> int:
    """Where costs are few: is there a pattern at the bound itself? If not, the bound is one more. Nodes looked at.

    What that decides at the root does not wait for a good pattern, and a good pattern need not wait for it.
    """
    from discreet.methods.suppress.exact.tree import SLICE, Tree, pause

    best, nodes, turn = top.best, 0, 200
    while clock.left > 0 and not best.done(how.gap):
        goal = Goal(best, best.bound)
        level = Level(top.small, goal, 0.0, None, top.relaxation.rows)
        while not goal.done(how.gap):
            level.relax(clock.soon(TURN), level.target + WHOLE)
            below = None if goal.done(how.gap) else level.below()
            if below is None:
                break
            level = below
        tree, slice_ = Tree(level), max(SLICE * clock.seconds, 1.0)
        while not goal.done(how.gap) and clock.left > 0:
            if tree.run(min(clock.at(1), time.monotonic() + slice_), how.gap):
                break
            if best.target > goal.reach + 1:  # else only the tree's own question is left
                better(how, top, turn, pause(best, slice_, clock), level.guide(tree.x))
            turn, slice_ = turn + 1, 1.5 * slice_
        nodes += tree.nodes
        if level.above is None:
            top.relaxation.add(tree.pool.rows)
    return nodes


def violated(separation: Separation, x: Array, *, most: float = np.inf) -> list[Cut]:
    """Inequalities that a pattern violates; a whole pattern without any protects."""
    whole = bool((np.abs(x - np.rint(x)) < WHOLE).all())
    x = np.rint(x) if whole else x
    found = separation(x, most=most)
    if not found and whole and separation.complete:
        found = separation(x, cap=FAR, tolerance=WHOLE, most=most)
    return [kept for cut in found for kept in dict.fromkeys((cut, cut.covered(x)))]
