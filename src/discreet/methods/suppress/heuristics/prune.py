"""Publishing again what need not be hidden: no cell of the cleaned pattern can be dropped alone.

Connected parts of the hidden cells have nothing to do with each other, and a part without a choice needs no program. In
each of the others moves are kept that meet the needs; dropping cells concerns only the needs whose moves go through
them. The dearest cells are tried first, many at once: those that neither equations nor a proof hold back. Where needs
cannot do without them, the proofs are noted, which shortens the list, now and for every smaller pattern. So the result
is the same as of trying one cell after the other: a cell that stays is proved to be needed by those that stay with it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array, Progress
from discreet.errors import InputError, OutOfTimeError, Unjudged
from discreet.linear.highs import SolverWork, counting
from discreet.linear.null_space import whole_columns
from discreet.methods.suppress.attacker.cheapest_move import MoveFinder
from discreet.methods.suppress.attacker.feasibility import examine, settle_need
from discreet.methods.suppress.attacker.furthest_move import Aim, FurthestMove
from discreet.methods.suppress.attacker.joint_moves import JointMoveProgram
from discreet.methods.suppress.attacker.kept_program import KeptProgram
from discreet.methods.suppress.attacker.witnesses import (
    Key,
    Move,
    Refusal,
    Witnesses,
    either_side,
    prices,
)
from discreet.methods.suppress.gauss.eliminate import eliminate
from discreet.methods.suppress.heuristics.kept_moves import KeptMoves, Reach
from discreet.methods.suppress.heuristics.needed_cells import NeededCells
from discreet.methods.suppress.heuristics.walked_moves import WalkedMoves
from discreet.methods.suppress.model.condense import Condensed, hidden_part, with_choice
from discreet.methods.suppress.model.independent_parts import parts_with_choice
from discreet.methods.suppress.model.problem import Problem
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning

if TYPE_CHECKING:
    from scipy.sparse import csc_array


class WitnessedPattern:
    """A pattern with a witness for every need; several needs may have the same move for one."""

    def __init__(self, finder: MoveFinder, pattern: Array, witnesses: Witnesses, tuning: Tuning = DEFAULT) -> None:
        self.finder, self.problem, self.tuning = finder, finder.problem, tuning
        self.pattern = pattern.copy()
        self.witnesses: Witnesses = dict(witnesses)


class Pruning:
    """A pattern that shrinks, all cells of a condensed problem to begin with, and the moves known of it."""

    def __init__(self, condensed: Condensed, tuning: Tuning = DEFAULT, most: float = np.inf) -> None:
        """``most``: the work (``highs.SolverWork``) after which nothing is tried; no end beside a clock."""
        self.condensed, self.problem, self.tuning, self.most = condensed, condensed.small, tuning, most
        self.untried: list[int] = []
        # walks are machine code, which a limit of time or a few programs are not kept waiting for
        self.walking = most < np.inf and len(condensed.small.needs) >= tuning.heuristics.walks_from
        self.work = SolverWork()
        self.finder = MoveFinder(condensed.small, condensed.moves, tuning, by_moves=True)
        self.nothing = np.zeros(len(condensed.small))
        # over moves any way out will do: it is found soonest, and there are few
        over_moves = self.finder.moves is not None
        self.program = None if over_moves else KeptProgram(self.finder, prices(condensed.small))
        self.pattern = np.ones(len(condensed.small), bool)
        self.kept = KeptMoves(condensed.small, tuning)
        self.proved = self.doubtful = False  # whether all needs are seen to be met to begin with, or some are not

    @cached_property
    def needed(self) -> NeededCells:
        """The proofs that needs cannot do without cells."""
        return NeededCells(self.problem, self.pattern, self.tuning)

    @cached_property
    def furthest(self) -> FurthestMove:
        """The program that tells how far a cell gets to both sides together, with proof."""
        return FurthestMove(self.condensed, self.tuning, by_moves=True)

    @cached_property
    def walks(self) -> WalkedMoves:
        """Short moves in whole numbers."""
        return WalkedMoves(self.problem, prices(self.problem), self.tuning)

    @cached_property
    def columns(self) -> csc_array:
        """The cells written over the moves, in whole numbers."""
        return whole_columns(self.condensed.moves)

    def prune(self, until: float = np.inf, progress: Progress | None = None, first: Array | None = None) -> bool:
        """Drop what can be dropped, dearest first; whether it is proved that nothing is left to drop.

        ``first``: cells that are tried before all others, all at once, as they were dropped for nearly the same needs.
        False if time was up or enough was done before every cell was tried, or the solver did not settle one.
        """
        heuristics, needs, minimal = self.tuning.heuristics, self.problem.needs, True
        cells = np.flatnonzero(self.pattern & self.problem.free)
        again = np.zeros(len(self.pattern), bool) if first is None else first
        order = cells[np.lexsort((cells, -self.problem.weight[cells], ~again[cells]))].tolist()
        levels = (needs.below > 0).any() or (needs.above > 0).any()
        size = heuristics.dropped_first if levels else 4 * heuristics.dropped_first
        size = max(size, int(again[cells].sum()))
        while order and not self.doubtful:
            try:
                with deadline.until(until), counting(self.work):
                    left, refusals, settled = self._drop(order[:size])
            except OutOfTimeError:  # what is published by now has its moves, and what was refused its proofs
                self.untried = [cell for cell in order if self.pattern[cell]]
                return False
            minimal &= settled
            order = left + order[size:]
            size = 4 * size if not refusals else max(1, size // 2) if refusals > heuristics.dropped_refused else size
            if progress is not None:
                progress(len(cells) - len(order), len(cells))
        return minimal and not self.doubtful

    def _drop(self, cells: list[int]) -> tuple[list[int], int, bool]:
        """Drop those of some cells that every need can do without, tried in order.

        Which are left to be tried again, fewer at a time; how often a need refused; whether all others were settled.
        """
        refusals, settled = 0, True
        while cells:
            spared, total = self.needed.spared(cells)
            gone = self._loose(spared)
            smaller = self.pattern.copy()
            smaller[gone] = False
            refused: dict[int, Refusal] | None = None
            with suppress(Unjudged):  # then there is no refusal either
                reach = self.kept.reach(smaller)
                tight = self.needed.tightness(total, len(self.problem.needs))
                refused = self._refused(smaller, tight, reach, self.tuning.heuristics.dropped_refused) if gone else {}
                if not refused:
                    self.proved |= len(gone) > 0
                    self._publish(gone)
                    if len(gone) == len(spared):
                        break
                    held = set(spared) - set(gone)  # by equations; they hold back no other cell any more
                    cells = [cell for cell in cells if self.pattern[cell] and cell not in held]
                    continue
            if not self.proved and self._unmet(refused or {}):
                self.doubtful = True
                break
            proofs = 0
            for need, refusal in (refused or {}).items():
                if refusal.reach is not None and float(refusal.reach[smaller].sum()) < self.needed.least:
                    self.needed.add(need, refusal.reach, self.pattern)
                    proofs += 1
            refusals += max(1, len(refused or {}))
            if not proofs and len(gone) == 1:  # it stays; where the solver did not settle it, nothing is proved of it
                settled &= refused is not None and any(refusal.proved for refusal in refused.values())
                cells = [cell for cell in cells if cell != gone[0]]
            elif not proofs and len(gone) > 1:
                return cells, max(refusals, self.tuning.heuristics.dropped_refused + 1), settled
        return [], refusals, settled

    def _unmet(self, refused: Iterable[int]) -> bool:
        """Whether the pattern as it was to begin with does not meet some needs that a smaller one does not meet."""
        reach = self.kept.reach(self.pattern)
        return any(not reach.meets(need) and self._settle(need, self.pattern, reach) is not None for need in refused)

    def _loose(self, cells: list[int]) -> list[int]:
        """Those of some cells that equations let go, in order: no need's cell follows from the others then."""
        shown = np.flatnonzero(~self.pattern)
        order = np.concatenate([shown, np.array(cells, np.int64)])
        outcome = eliminate(self.columns, np.unique(self.problem.needs.cell), order, forced=len(shown))
        held = set(outcome.secondary.tolist())
        return [cell for cell in cells if cell not in held]

    def _publish(self, cells: list[int]) -> None:
        """The pattern without cells that no need's moves use."""
        self.needed.lose(cells)
        self.pattern[cells] = False
        self.kept.keep(self.pattern)

    def _refused(self, smaller: Array, tight: Array, reach: Reach, most: int) -> dict[int, Refusal]:
        """Moves of a smaller pattern for all needs; up to so many that are refused, and why.

        Needs that are nearest to a refusal by the proofs come first, each alone; then all that are left together.
        """
        refused: dict[int, Refusal] = {}
        waiting = reach.unmet()
        waiting = waiting[np.lexsort((waiting, tight[waiting]))]
        for turn, need in enumerate(waiting.tolist()):
            deadline.check()
            if self.work.spent > self.most:
                raise OutOfTimeError
            if turn == self.tuning.heuristics.alone:
                if self.walking:
                    self._by_walks(smaller, reach)
                self._together(waiting[turn:], smaller, reach)
            if reach.meets(need):
                continue
            refusal = self._settle(need, smaller, reach)
            if refusal is not None:
                refused[need] = refusal
                if len(refused) >= most:
                    break
        return refused

    def _by_walks(self, smaller: Array, reach: Reach) -> None:
        """Short moves for the needs of outsiders that lack one, first upwards, then downwards."""
        needs, many = self.problem.needs, self.tuning.heuristics.many_lost
        for side in (1, -1):
            below, above, sliding = (lacking & (needs.coalition < 0) for lacking in reach.lacking())
            level = np.where(sliding, needs.sliding, np.where(above if side > 0 else below, 1.0, 0.0))
            level = np.where(above & (side > 0), needs.above, np.where(below & (side < 0), needs.below, level))
            at = np.flatnonzero(level > 0)
            if len(at) < many:
                return
            self.work.spent += (
                self.tuning.heuristics.walk_step
                * len(at)
                * self.tuning.heuristics.walks[0]
                * self.tuning.heuristics.walks[1]
            )
            steps = side * np.ceil(level[at] * (1 - self.tuning.attacker.tiny))
            for cells, by in self.walks.of(smaller, needs.cell[at], steps):
                self.kept.add(cells, by, reach)

    def _together(self, waiting: Array, smaller: Array, reach: Reach) -> None:
        """Moves for many needs at once, as long as they serve many; each cell is wanted up or down by turns."""
        problem, needs, many = self.problem, self.problem.needs, self.tuning.heuristics.many_lost
        part, cells = hidden_part(problem, smaller)
        concerned = np.zeros(len(needs), bool)
        concerned[waiting] = needs.coalition[waiting] < 0
        number = np.arange(len(needs))
        for turn in range(self.tuning.attacker.together):
            below, above, sliding = reach.lacking()
            before = sum(int(lacking[concerned].sum()) for lacking in (below, above, sliding))
            down_first = (number + turn) % 2 > 0
            down = below & (down_first | ~above)
            down |= sliding & (down_first | (problem.up[needs.cell] < needs.sliding))
            asked = concerned & (below | above | sliding)
            if asked.sum() < many:
                return
            size = np.where(sliding, needs.sliding, np.where(down, needs.below, needs.above))
            move = JointMoveProgram(part, np.where(asked, size, 1.0), asked, self.tuning).solve(
                np.where(asked, np.where(down, -1.0, 1.0), 0.0)
            )
            if move is None:
                return
            moved = np.abs(move) > self.tuning.attacker.tiny * float(size[asked].min())
            self.kept.add(cells[moved], move[moved], reach)
            if sum(int(lacking[concerned].sum()) for lacking in reach.lacking()) > before - many:
                return

    def _settle(self, need: int, smaller: Array, reach: Reach) -> Refusal | None:
        """The moves that a need lacks; or its refusal."""
        needs = self.problem.needs
        for side, level, got in ((1, needs.above, reach.above), (0, needs.below, reach.below)):
            if got[need] < reach.slack * level[need]:
                way = self._find(smaller, (need, side), float(level[need]))
                if isinstance(way, Refusal):
                    return self._of_unknown(need, way)
                self.kept.add(way.cells, way.by, reach)
                got[need] = max(got[need], level[need])  # what the solver calls a move to the level is one
        return None if reach.meets(need) else self._settle_sliding(need, smaller, reach)

    def _settle_sliding(self, need: int, smaller: Array, reach: Reach) -> Refusal | None:
        """The same for what sliding asks beyond: to one side if it can, else as far as it goes to both."""
        needs = self.problem.needs
        group, cell, level = int(needs.coalition[need]), int(needs.cell[need]), float(needs.sliding[need])
        for side, asked in either_side(self.problem, need):
            way = self._find(smaller, (need, side), asked)
            if isinstance(way, Move):
                self.kept.add(way.cells, way.by, reach)
            if reach.meets(need):
                return None
        aim = Aim(cell, (1, -1), level, needs.known[group] if group >= 0 else None)
        attacker = self.tuning.attacker
        limits = self.furthest.limits(aim, smaller.astype(float), attacker.far, attacker.shortfall)
        if limits.shares is not None and float(limits.shares[smaller].sum()) < self.needed.least:
            return Refusal(True, limits.shares)
        for move in limits.moves:
            moved = np.flatnonzero(np.abs(move) > attacker.tiny * level)
            self.kept.add(moved, move[moved], reach)
        if reach.meets(need):
            return None
        outcome = settle_need(self.finder, smaller, need, {}, self.nothing)
        if outcome.refusals:
            return Refusal(outcome.refusals[need].proved)
        for way in outcome.witnesses.values():
            self.kept.add(way.cells, way.by, reach)
        return None if reach.meets(need) else Refusal(False)

    def _find(self, smaller: Array, key: Key, level: float) -> Move | Refusal:
        """A move of a need's cell to a level among the cells of a pattern."""
        if self.program is not None:
            return self.program.find(smaller, key, level)
        return self.finder.find(smaller, key[0], 1 if key[1] else 0, level, self.nothing)

    def _of_unknown(self, need: int, refusal: Refusal) -> Refusal:
        """The refusal with a proof in which what the intruder knows brings nothing."""
        group = int(self.problem.needs.coalition[need])
        if refusal.reach is None or group < 0:
            return refusal
        reach = refusal.reach.copy()
        reach[self.problem.needs.known[group]] = 0
        return Refusal(refusal.proved, reach)


@dataclass(frozen=True, eq=False)
class Shrunk:
    """A pattern without cells that can be published; whether it is proved that no further one can.

    ``doubtful``: some need was not seen to be met to begin with, and all that hangs together with it stayed hidden.
    A part of which equations or sums say that it can lose nothing is not asked. ``untried``: hidden cells that may be
    needless, as time was up or enough was done before it was their turn. ``spent``: the work it took.
    """

    pattern: Array
    minimal: bool
    doubtful: bool
    untried: Array
    spent: float


def clean_up(
    problem: Problem,
    pattern: Array,
    *,
    progress: Progress | None = None,
    until: float | None = None,
    tuning: Tuning = DEFAULT,
) -> tuple[Array, bool]:
    """The pattern without cells that can be published, and whether it is proved that no further one can.

    ``until`` is a moment of ``time.monotonic()``. Raises InputError if the pattern is seen not to protect; where there
    is no cell to be tried nobody looks.
    """
    done = shrunk(problem, pattern, progress=progress, until=until, tuning=tuning)
    if done.doubtful and not (met := examine(problem, pattern).met).all():
        raise InputError(f"the pattern does not protect: {numbered(np.flatnonzero(~met))} not met")
    return done.pattern, done.minimal


def shrunk(
    problem: Problem,
    pattern: Array,
    *,
    progress: Progress | None = None,
    until: float | None = None,
    most: float = np.inf,
    earlier: Array | None = None,
    tuning: Tuning = DEFAULT,
) -> Shrunk:
    """The pattern without cells that can be published, one connected part after the other, the smallest first.

    ``most``: the work (``highs.SolverWork``) after which no further cell is tried. ``earlier``: what the pattern came
    to for nearly the same needs, which is tried first.
    """
    hidden = np.asarray(pattern, bool) | problem.hidden
    extra = hidden & ~problem.free & ~problem.hidden  # zero cells say, which were hidden all the same
    problem = replace(problem, weight=np.where(extra, 0.5 * _least(problem), problem.weight))
    whole = with_choice(problem, hidden, hidden)
    left, minimal, doubtful = np.ones(len(whole.small), bool), True, len(whole.hopeless) > 0
    stuck = whole.group[problem.needs.cell[whole.hopeless]]
    parts = sorted(parts_with_choice(whole), key=lambda part: len(part[1]))
    total, before, spent = sum(int(part.small.free.sum()) for part, _ in parts), 0, 0.0
    untried, gone = np.zeros(len(whole.small), bool), None if earlier is None else ~whole.shrink(earlier)
    for part, cells in parts:
        pruning = Pruning(part, tuning, most - spent)
        if np.isin(stuck, cells).any():
            minimal = False
            continue
        told = _share(progress, before, total)
        minimal &= pruning.prune(np.inf if until is None else until, told, None if gone is None else gone[cells])
        doubtful |= pruning.doubtful
        left[cells] = pruning.pattern
        untried[cells[pruning.untried]] = True
        spent += pruning.work.spent
        before += int(part.small.free.sum())
    rest = np.append(untried, False)[whole.group] & hidden & ~problem.hidden
    return Shrunk(whole.expand(left), minimal, doubtful, rest, spent)


def _share(progress: Progress | None, before: int, total: int) -> Progress | None:
    """Progress of one part: so many cells lie before it, of so many in all."""
    return None if progress is None else lambda done, _: progress(before + done, total)


def cleaned_until(problem: Problem, pattern: Array, until: float, tuning: Tuning = DEFAULT) -> Array:
    """The pattern without what can be published, as far as there is time and the solver settles it."""
    if time.monotonic() > until:
        return np.asarray((pattern & problem.free) | problem.hidden)
    try:
        with deadline.until(until):
            return clean_up(problem, pattern, until=until, tuning=tuning)[0]
    except (OutOfTimeError, Unjudged):
        return np.asarray((pattern & problem.free) | problem.hidden)


def _least(problem: Problem) -> float:
    """The least weight of a cell with a choice."""
    weight = problem.weight[problem.free & (problem.weight > 0)]
    return float(weight.min(initial=1.0))


def numbered(needs: Iterable[int], most: int = 10) -> str:
    """Numbers of needs for a message, cut after ``most``.

    >>> numbered([3, 5])
    'needs 3, 5'
    """
    numbers = [int(k) for k in needs]
    more = f" and {len(numbers) - most:,} more" if len(numbers) > most else ""
    return f"needs {', '.join(str(k) for k in numbers[:most])}{more}"
