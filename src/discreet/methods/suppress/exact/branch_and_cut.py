"""One connected problem: pattern, bound, fixing, branch and cut, in the time there is."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array, Progress
from discreet.errors import OutOfTimeError, Unjudged
from discreet.methods.suppress.attacker.feasibility import met
from discreet.methods.suppress.exact import scip, tree
from discreet.methods.suppress.exact.fixing import Stage
from discreet.methods.suppress.exact.inequalities import Cut
from discreet.methods.suppress.heuristics import lns
from discreet.methods.suppress.heuristics.incumbent import Goal, Incumbent, Tell, nothing_new
from discreet.methods.suppress.heuristics.local_moves import first_pattern
from discreet.methods.suppress.heuristics.start import start_pattern
from discreet.methods.suppress.model.clock import Clock
from discreet.methods.suppress.model.condense import Condensed
from discreet.methods.suppress.model.problem import Problem
from discreet.methods.suppress.model.solution import GAP, OPTIMAL, TIME
from discreet.methods.suppress.model.tuning import DEFAULT, WHOLE, ExactTuning, Tuning


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
class PartOutcome:
    """What the search of one part came to; ``cuts`` are those worth keeping, over the condensed cells."""

    hidden: Array
    bound: float
    status: str
    separated: int
    nodes: int
    cuts: list[Cut] = field(default_factory=list)


@dataclass
class Trace:
    """What a search leaves behind, also when its time is up in the middle: its first level, those below, and nodes."""

    top: Stage | None = None
    levels: list[Stage] = field(default_factory=list)
    nodes: int = 0

    @property
    def separated(self) -> int:
        """Inequalities found."""
        all_levels = [] if self.top is None else [self.top, *self.levels]
        return sum(level.relaxation.separation.separated for level in all_levels)

    @property
    def cuts(self) -> list[Cut]:
        """Those of the first level that were of use lately."""
        if self.top is None:
            return []
        rows = zip(self.top.relaxation.rows, self.top.relaxation.idle, strict=False)
        return [row for row, idle in rows if isinstance(row, Cut) and idle < self.top.exact.kept_idle]


def _incumbent(small: Condensed, tell: Tell, first: Array, arrived: Callable[[], Array | None]) -> Incumbent:
    """The first pattern, and where others come from, over the condensed cells."""

    def shrunk() -> Array | None:
        pattern = arrived()
        return None if pattern is None else small.shrink(pattern)

    return Incumbent(small.small, small.base, tell, first, arrived=shrunk)


def solve_small(
    small: Condensed, start: Array, clock: Clock, *, solver: str = "highs", tuning: Tuning = DEFAULT
) -> tuple[Array, bool]:
    """The cheapest pattern of a small problem, as far as the time goes, and whether it is proved."""
    best = Incumbent(small.small, small.base, lambda cost, bound: None, start)
    try:
        with deadline.until(clock.at(1)):
            if best.cost > 0:
                level = Stage(small, best, tuning=tuning)
                level.relax(clock.at(tuning.exact.relaxed), best.target + WHOLE)
                if not best.done(0.0) and clock.left > 0:
                    (scip.branch_by_scip if solver == "scip" else tree.branch)(level, clock, 0.0, None)
    except (OutOfTimeError, Unjudged):  # the start, or what came of it, protects all the same
        return best.pattern, False
    return best.pattern, best.done(0.0)


@dataclass(frozen=True)
class BranchAndCut:
    """The cheapest pattern of one connected problem, or one within ``gap`` of it, or the best in the time."""

    gap: float = 0.0
    seed: int = 1
    solver: str = "highs"
    tuning: Tuning = DEFAULT

    @property
    def exact(self) -> ExactTuning:
        """Shares of the time, and when to stop."""
        return self.tuning.exact

    def run(
        self,
        small: Condensed,
        clock: Clock,
        *,
        start: Array | None = None,
        others: Sequence[Array] = (),
        tell: Tell | None = None,
        known: list[Cut] | None = None,
        arrived: Callable[[], Array | None] = nothing_new,
    ) -> PartOutcome:
        """``start`` is a pattern of the cells that protects, ``known`` are inequalities of an earlier search.

        The search begins with its own first pattern or one of ``others``, whichever is the cheapest, and goes on from
        what has ``arrived`` meanwhile where that is cheaper.
        """
        problem, tell = small.small, tell or (lambda cost, bound: None)
        if not len(problem.needs):
            return PartOutcome(small.expand(problem.hidden), small.base, OPTIMAL, 0, 0)
        if len(problem) > self.tuning.heuristics.large and start is None:
            return self._large(small, clock, tell, known or [], others, arrived)
        first = self._first(small, clock, start, [small.shrink(other) for other in others])
        best = _incumbent(small, tell, first, arrived)
        best.report()
        trace = Trace()
        try:
            with deadline.until(clock.at(1)):
                self._improved(Stage(small, best, known=known or [], tuning=self.tuning), clock, trace)
        except (OutOfTimeError, Unjudged):
            best.report()  # the best pattern so far and what was proved before stand
        best.welcome()
        bound = best.cost if best.bound > best.target else best.bound
        hidden = small.expand(best.pattern)
        return PartOutcome(hidden, bound + small.base, self._status(best), trace.separated, trace.nodes, trace.cuts)

    def _first(self, small: Condensed, clock: Clock, start: Array | None, others: Sequence[Array]) -> Array:
        """The pattern that the search begins with; one of ``others`` that is cheaper than its own is improved, too.

        In a problem of many cells that search brings more than what comes after, so it has the same time once more.
        """
        problem = small.small
        seconds = min(self.exact.first * clock.seconds, self.exact.each * int(problem.free.sum()))

        many = len(problem) > self.tuning.heuristics.in_turn
        rival = min(others, key=problem.cost) if others else None
        try:
            with deadline.until(np.inf if rival is None else clock.at(2 * self.exact.first)):
                own = self._pattern(small, seconds, None if start is None else small.shrink(start))
        except (OutOfTimeError, Unjudged):
            if rival is None:
                raise
            own = rival
        if rival is None or problem.cost(own) < problem.cost(rival):
            return own
        try:
            if not many or clock.left <= 0:
                return rival
            return min(self._pattern(small, seconds, rival), rival, key=problem.cost)
        except (OutOfTimeError, Unjudged):
            return rival

    def _status(self, best: Incumbent) -> str:
        if best.bound > best.target:
            return OPTIMAL
        return GAP if best.done(self.gap) else TIME

    def _improved(self, top: Stage, clock: Clock, trace: Trace) -> None:
        """Better patterns and bounds by relaxation, fixing and branching, noted in the level's best as they come."""
        level, best, turn = top, top.best, 0
        trace.top = top
        while not best.done(self.gap) and clock.left > 0:
            turn += 1
            best.welcome()
            began = time.monotonic()
            stalled = level.relax(clock.soon(self.exact.turn), level.enough(self.gap))
            if best.done(self.gap):
                break
            seconds = min(max(time.monotonic() - began, self.exact.least_seconds), self.exact.guided * clock.left)
            tree.Tree(level).dive(time.monotonic() + self.exact.dived * seconds)
            self.improve(level, turn, (1 - self.exact.dived) * seconds, level.relaxation.x)
            below = None if best.done(self.gap) else level.below()
            if below is not None:
                level = below
                trace.levels.append(level)
            elif stalled or time.monotonic() > clock.at(self.exact.root):
                break
        if best.done(self.gap) or clock.left <= 0:
            return
        if self.solver == "scip":
            trace.nodes = scip.branch_by_scip(level, clock, self.gap, self.improve)
        elif best.whole and best.cost - best.bound <= self.exact.steps:
            trace.nodes = self.step_by_step(top, clock)
        else:
            trace.nodes = tree.branch(level, clock, self.gap, self.improve)

    def improve(self, level: Stage, turn: int, seconds: float, x: Array) -> None:
        """A cheaper pattern: where the best and the relaxation disagree, around single cells, and by chance."""
        best, clock, seed = level.best, Clock.of(seconds), self.seed + turn
        best.welcome()
        guide, top = level.guide(x), level.top.small
        lns.rins(best, guide, clock.seconds * self.exact.near[0], self._by_chosen_tree, self.tuning)
        until = clock.at(self.exact.near[1]) - time.monotonic()
        lns.around_moves(best, top.moves.tocsc(), until, seed, self._by_chosen_tree, gap=self.gap, tuning=self.tuning)
        if clock.left > 0 and not best.done(self.gap):
            best.improve(self._pattern(top, clock.left, best.pattern, guide, seed))

    def _pattern(
        self,
        small: Condensed,
        seconds: float,
        start: Array | None = None,
        guide: Array | None = None,
        seed: int | None = None,
    ) -> Array:
        """A good pattern of the condensed cells by construction and neighbourhoods, from one that protects if given."""
        return start_pattern(
            small.small,
            seconds=seconds,
            guide=guide,
            start=start,
            seed=self.seed if seed is None else seed,
            condensed=small,
            solve_small=self._by_own_tree,
            tuning=self.tuning,
        )

    def _by_own_tree(self, small: Condensed, start: Array, clock: Clock) -> tuple[Array, bool]:
        """A small problem by our own tree, whichever was chosen: for first patterns, of many small problems."""
        return solve_small(small, start, clock, tuning=self.tuning)

    def _by_chosen_tree(self, small: Condensed, start: Array, clock: Clock) -> tuple[Array, bool]:
        """A small problem by the tree that was chosen."""
        return solve_small(small, start, clock, solver=self.solver, tuning=self.tuning)

    def step_by_step(self, top: Stage, clock: Clock) -> int:
        """Where costs are few: is there a pattern at the bound itself? If not, the bound is one more. Nodes looked at.

        What that decides at the root does not wait for a good pattern, and a good pattern need not wait for it.
        """
        best, nodes = top.best, 0
        turn = self.exact.step_turn
        while clock.left > 0 and not best.done(self.gap):
            goal = Goal(best, best.bound)
            level = self._fixed(Stage(top.small, goal, known=top.relaxation.rows, tuning=self.tuning), clock)
            grown, seconds = tree.Tree(level), tree.first_slice(clock, self.tuning)
            while not goal.done(self.gap) and clock.left > 0:
                if grown.run(min(clock.at(1), time.monotonic() + seconds), self.gap):
                    break
                if best.target > goal.reach + 1:  # else only the tree's own question is left
                    self.improve(top, turn, tree.pause(best, seconds, clock, self.tuning), level.guide(grown.x))
                turn += 1
                seconds *= self.exact.longer
            nodes += grown.nodes.done
            if level.above is None:
                top.relaxation.add(grown.nodes.pool.rows)
        return nodes

    def _fixed(self, level: Stage, clock: Clock) -> Stage:
        """The level after as many rounds of relaxation and fixing as decide enough."""
        while not level.best.done(self.gap):
            level.relax(clock.soon(self.exact.turn), level.target + WHOLE)
            below = None if level.best.done(self.gap) else level.below()
            if below is None:
                break
            level = below
        return level

    def _large(
        self,
        small: Condensed,
        clock: Clock,
        tell: Tell,
        known: list[Cut],
        others: Sequence[Array],
        arrived: Callable[[], Array | None],
    ) -> PartOutcome:
        """The same where a tree would not get anywhere: a bound from the relaxation, nearly all time for patterns."""
        problem, moves = small.small, None
        shrunk = [small.shrink(other) for other in others]
        soon, local = clock.at(self.exact.large_first), None
        with suppress(*([OutOfTimeError, Unjudged] if shrunk else [])), deadline.until(soon if shrunk else np.inf):
            local = first_pattern(small, soon, self.tuning)
        if local is not None:
            first, moves = local
        elif shrunk:
            first = min(shrunk, key=problem.cost)
        else:
            first = self._pattern(small, self.exact.large_first * clock.left)
        rivals = [pattern for pattern in shrunk if problem.cost(pattern) < problem.cost(first)]
        if rivals:  # without the moves that its cells are hidden for: they are looked for again
            first, moves = min(rivals, key=problem.cost), None
        best = _incumbent(small, tell, first, arrived)
        best.report()
        trace = Trace()
        try:
            with deadline.until(clock.at(self.exact.large_last)):
                level = trace.top = Stage(small, best, known=known, tuning=self.tuning)
                level.relax(clock.at(self.exact.large_first + self.exact.large_bound), level.enough(self.gap))
                if not best.done(self.gap) and clock.left > 0:
                    lns.around_moves(
                        best,
                        small.moves.tocsc(),
                        self.exact.large_last * clock.left,
                        self.seed,
                        self._by_chosen_tree,
                        gap=self.gap,
                        known=moves,
                        tuning=self.tuning,
                    )
        except (OutOfTimeError, Unjudged):
            best.report()
        pattern, status = best.pattern, self._status(best)
        if pattern is not first and not _still_met(problem, pattern):
            pattern, status = first, TIME  # made of many parts, each solved for itself: asked as a whole
        return PartOutcome(small.expand(pattern), best.bound + small.base, status, trace.separated, 0, trace.cuts)


def _still_met(problem: Problem, pattern: Array) -> bool:
    """Whether a pattern is proved to protect in the time that is left; without time, or unsettled, it is not."""
    try:
        return bool(met(problem, pattern).all())
    except (OutOfTimeError, Unjudged):
        return False
