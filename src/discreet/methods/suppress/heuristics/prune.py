"""Publishing again what need not be hidden: no cell of the cleaned pattern can be dropped alone.

Every need keeps a move that meets it; dropping cells concerns only the needs whose move goes through them. The dearest
cells are tried first, several at once: those that no proof holds back. Where a need cannot do without them, the
proof is noted, which shortens the list, now and for every smaller pattern. So the result is the same as of trying one
cell after the other: a cell that stays is proved to be needed by those that stay with it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array, Progress
from discreet.errors import InputError, OutOfTimeError, Unjudged
from discreet.methods.suppress.attacker.cheapest_move import MoveFinder
from discreet.methods.suppress.attacker.feasibility import examine, moves_for_all, settle_need
from discreet.methods.suppress.attacker.furthest_move import Aim, FurthestMove
from discreet.methods.suppress.attacker.joint_moves import JointMoveProgram
from discreet.methods.suppress.attacker.kept_program import KeptProgram
from discreet.methods.suppress.attacker.witnesses import (
    Key,
    Move,
    Refusal,
    Witnesses,
    either_side,
    level_to,
    met_by,
    needs_by_cell,
    prices,
    spread,
)
from discreet.methods.suppress.heuristics.needed_cells import NeededCells
from discreet.methods.suppress.model.condense import Condensed, hidden_part, with_choice
from discreet.methods.suppress.model.independent_parts import parts_with_choice
from discreet.methods.suppress.model.problem import Problem
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning


class WitnessedPattern:
    """A pattern with a witness for every need; several needs may have the same move for one."""

    def __init__(self, finder: MoveFinder, pattern: Array, witnesses: Witnesses, tuning: Tuning = DEFAULT) -> None:
        self.finder, self.problem, self.tuning = finder, finder.problem, tuning
        self.pattern = pattern.copy()
        self.witnesses: Witnesses = dict(witnesses)


class Pruning:
    """A pattern that shrinks, all cells of a condensed problem to begin with, and a witness for every need."""

    def __init__(self, condensed: Condensed, tuning: Tuning = DEFAULT) -> None:
        self.condensed, self.problem, self.tuning = condensed, condensed.small, tuning
        self.finder = MoveFinder(condensed.small, condensed.moves, tuning)
        self.nothing = np.zeros(len(condensed.small))
        # over moves any way out will do: it is found soonest, and there are few
        over_moves = self.finder.moves is not None
        self.program = None if over_moves else KeptProgram(self.finder, prices(condensed.small))
        self.pattern = np.ones(len(condensed.small), bool)
        self.witnesses: Witnesses = {}
        self.needs_of = needs_by_cell(condensed.small)

    @property
    def many(self) -> bool:
        """Whether there are so many needs that long moves for all of them are found sooner than short ones."""
        return len(self.problem.needs) >= self.tuning.heuristics.many_needs

    @cached_property
    def needed(self) -> NeededCells:
        """The proofs that needs cannot do without cells."""
        return NeededCells(self.problem, self.pattern, self.tuning)

    @cached_property
    def furthest(self) -> FurthestMove:
        """The program that tells how far a cell gets to both sides together, with proof."""
        return FurthestMove(self.condensed, self.tuning, by_moves=True)

    def begin(self) -> Array:
        """Witnesses for the whole pattern; which needs are met."""
        known = Witnesses()
        if self.many:
            self._together(list(range(len(self.problem.needs))), self.pattern, known, {})
        checked = moves_for_all(self.finder, known, self.nothing if self.many else None)
        self.witnesses = checked.witnesses
        return checked.met

    def prune(self, until: float = np.inf, progress: Progress | None = None) -> bool:
        """Drop what can be dropped, dearest first; whether it is proved that nothing is left to drop.

        False if time was up before every cell was tried, or the solver did not settle one.
        """
        heuristics, minimal = self.tuning.heuristics, True
        self._publish(self._unused())
        cells = np.flatnonzero(self.pattern & self.problem.free)
        order = cells[np.argsort(-self.problem.weight[cells], kind="stable")].tolist()
        at, size, turn = 0, heuristics.dropped_first, 0
        while at < len(order):
            batch = [cell for cell in order[at : at + size] if self.pattern[cell]]
            try:
                with deadline.until(until):
                    refusals, settled = self._drop(batch)
            except OutOfTimeError:  # nothing has changed by the last cells, and those before have their proofs
                return False
            minimal &= settled
            at, turn = at + size, turn + 1
            size = 2 * size if not refusals else max(1, size // 2) if refusals > heuristics.dropped_refused else size
            if turn % heuristics.unused_every == 0:
                self._publish(self._unused())
            if progress is not None:
                progress(min(at, len(order)), len(order))
        self._publish(self._unused())
        return minimal

    def _drop(self, cells: list[int]) -> tuple[int, bool]:
        """Drop those of some cells that every need can do without, tried in order.

        How often a need refused, and whether all cells were settled.
        """
        refusals, settled, fresh = 0, True, Witnesses()
        while cells:
            gone, total = self.needed.spared(cells)
            if not gone:
                break
            smaller = self.pattern.copy()
            smaller[gone] = False
            need, refusal = -1, None
            with suppress(Unjudged):  # then there is no refusal either
                need, refusal = self._moves(smaller, gone, total, fresh)
                if refusal is None:
                    self._publish(np.array(gone))
                    break
            refusals += 1
            shares = None if refusal is None else refusal.reach
            if shares is not None and float(shares[smaller].sum()) < self.needed.least:
                self.needed.add(need, shares, self.pattern)
            elif len(gone) == 1:  # it stays; where the solver did not settle it, nothing is proved of it
                settled &= refusal is not None and refusal.proved
                cells = [cell for cell in cells if cell != gone[0]]
            else:  # no proof that holds for other patterns as well: fewer at a time
                for part in (cells[: len(cells) // 2], cells[len(cells) // 2 :]):
                    more, clear = self._drop(part)
                    refusals, settled = refusals + more, settled and clear
                break
        return refusals, settled

    def _publish(self, cells: Array) -> None:
        """The pattern without cells that no witness moves."""
        self.needed.lose(cells.tolist())
        self.pattern[cells] = False

    def _moves(self, smaller: Array, gone: list[int], total: Array, fresh: Witnesses) -> tuple[int, Refusal | None]:
        """Moves of a smaller pattern for all needs, kept if there are; otherwise a need that is refused, and why.

        ``total`` are the sums of the proofs over it: needs that are nearest to a refusal come first. ``fresh``:
        moves found for other patterns that were tried since the last that was kept.
        """
        lost = self._through(gone)
        moves = {key: move for key, move in self.witnesses.items() if key not in lost}
        moves |= {key: move for key, move in fresh.items() if key not in moves and smaller[move.cells].all()}
        tight = self.needed.tightness(total, len(self.problem.needs))
        if self.many:
            tight = tight - self._beside(gone)
        order, alone = sorted({need for need, _ in lost}, key=lambda need: (tight[need], need)), 0
        for need in order:
            if met_by(self.problem, need, moves, self.tuning):
                continue
            if alone == self.tuning.heuristics.alone:
                self._together(order, smaller, moves, fresh)
                if met_by(self.problem, need, moves, self.tuning):
                    continue
            alone += 1
            deadline.check()
            refusal = self._settle(need, smaller, moves, fresh)
            if refusal is not None:
                return need, refusal
        self.witnesses = moves
        return -1, None

    def _through(self, gone: list[int]) -> set[Key]:
        """The needs and sides whose witness moves one of some cells."""
        out = np.zeros(len(self.problem), bool)
        out[gone] = True
        each = {id(move): move for move in self.witnesses.values()}
        hit = {name for name, move in each.items() if out[move.cells].any()}
        return {key for key, move in self.witnesses.items() if id(move) in hit}

    def _beside(self, gone: list[int]) -> Array:
        """For each need whether its cell is in a sum with one of some cells."""
        rows, out = abs(self.problem.rows), np.zeros(len(self.problem))
        out[gone] = 1
        return np.asarray((rows.T @ (rows @ out))[self.problem.needs.cell] > 0)

    def _together(self, needs: list[int], smaller: Array, moves: Witnesses, fresh: Witnesses) -> None:
        """Moves for many needs at once, as long as they serve many; each cell is wanted up or down by turns."""
        for turn in range(self.tuning.attacker.together):
            wanted: dict[Key, float] = {}
            for need in needs:
                if self.problem.needs.coalition[need] < 0 and not met_by(self.problem, need, moves, self.tuning):
                    lacking = [(s, level) for s, level in either_side(self.problem, need) if (need, s) not in moves]
                    if lacking:
                        side, level = lacking[(turn + need) % len(lacking)]
                        wanted[need, side] = level
            if len(wanted) < self.tuning.heuristics.many_lost:
                return
            move = _move_for_all(self.problem, smaller, wanted, self.tuning)
            least = min(wanted.values())
            if move is None or self._noted(move, moves, fresh, least) < self.tuning.heuristics.many_lost:
                return

    def _settle(self, need: int, smaller: Array, moves: Witnesses, fresh: Witnesses) -> Refusal | None:
        """The moves that a need lacks, also for the other needs that they serve; or its refusal."""
        needs = self.problem.needs
        below, above = float(needs.below[need]), float(needs.above[need])
        if needs.sliding[need] > below + above:
            return self._settle_sliding(need, smaller, moves, fresh)
        for key, level in (((need, 1), above), ((need, 0), below)):
            if level > 0 and key not in moves:
                way = self._find(smaller, key, level)
                if isinstance(way, Refusal):
                    return self._of_unknown(need, way)
                moves[key] = fresh[key] = way
                self._noted(way, moves, fresh)
        return None

    def _settle_sliding(self, need: int, smaller: Array, moves: Witnesses, fresh: Witnesses) -> Refusal | None:
        """The same for a need that may slide: to one side if it can, else as far as it goes to both."""
        needs = self.problem.needs
        for side, level in either_side(self.problem, need):
            way = self._find(smaller, (need, side), level) if (need, side) not in moves else None
            if isinstance(way, Move):
                moves[need, side] = fresh[need, side] = way
                self._noted(way, moves, fresh)
            if met_by(self.problem, need, moves, self.tuning):
                return None
        group, cell = int(needs.coalition[need]), int(needs.cell[need])
        known = needs.known[group] if group >= 0 else None
        asked = (needs.above[need], (1,)), (needs.below[need], (-1,)), (needs.sliding[need], (1, -1))
        for level, signs in asked:
            if level > 0:
                aim = Aim(cell, signs, float(level), known)
                limits = self.furthest.limits(
                    aim, smaller.astype(float), self.tuning.attacker.far, self.tuning.attacker.shortfall
                )
                if limits.shares is not None and float(limits.shares[smaller].sum()) < self.needed.least:
                    return Refusal(True, limits.shares)
        others = {key: move for key, move in moves.items() if key[0] != need}
        outcome = settle_need(self.finder, smaller, need, others, self.nothing)
        if outcome.refusals:
            return Refusal(outcome.refusals[need].proved)
        for side in (0, 1):
            moves.pop((need, side), None)
        moves.update(outcome.witnesses)
        fresh.update(outcome.witnesses)
        return None

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

    def _noted(self, move: Move, moves: Witnesses, fresh: Witnesses, least: float = 0.0) -> int:
        """Note a move for all needs that it serves; how many. It is not exact enough for levels below ``least``."""
        new = spread(self.problem, move, moves, self.needs_of, self.tuning)
        for need, side in [key for key in new if level_to(self.problem, *key) < least]:
            del moves[need, side]
            new.remove((need, side))
        fresh.update({key: moves[key] for key in new})
        return len(new)

    def _unused(self) -> Array:
        """Hidden cells that no witness moves and that need not be hidden."""
        idle = self.pattern & ~self.problem.hidden
        for move in {id(move): move for move in self.witnesses.values()}.values():
            idle[move.cells] = False
        return np.flatnonzero(idle)


def _move_for_all(problem: Problem, pattern: Array, wanted: dict[Key, float], tuning: Tuning) -> Move | None:
    """One long move of the cells of a pattern that takes many needs' cells as far as they are wanted, if it can."""
    part, cells = hidden_part(problem, pattern)
    size, sign = np.ones(len(problem.needs)), np.zeros(len(problem.needs))
    for (need, side), level in wanted.items():
        size[need], sign[need] = level, 1.0 if side else -1.0
    move = JointMoveProgram(part, size, sign != 0, tuning).solve(sign)
    if move is None:
        return None
    moved = np.abs(move) > tuning.attacker.tiny * min(wanted.values())
    return Move(cells[moved], move[moved])


@dataclass(frozen=True, eq=False)
class Shrunk:
    """A pattern without cells that can be published; whether it is proved that no further one can.

    ``doubtful``: some need was not seen to be met to begin with, and all that hangs together with it stayed hidden.
    """

    pattern: Array
    minimal: bool
    doubtful: bool


def clean_up(
    problem: Problem,
    pattern: Array,
    *,
    progress: Progress | None = None,
    until: float | None = None,
    tuning: Tuning = DEFAULT,
) -> tuple[Array, bool]:
    """The pattern without cells that can be published, and whether it is proved that no further one can.

    ``until`` is a moment of ``time.monotonic()``. Raises InputError if the pattern does not protect where there are
    cells to be tried.
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
    tuning: Tuning = DEFAULT,
) -> Shrunk:
    """The pattern without cells that can be published, one connected part after the other."""
    hidden = np.asarray(pattern, bool) | problem.hidden
    extra = hidden & ~problem.free & ~problem.hidden  # zero cells say, which were hidden all the same
    problem = replace(problem, weight=np.where(extra, 0.5 * _least(problem), problem.weight))
    whole = with_choice(problem, hidden, hidden)
    left, minimal, doubtful = np.ones(len(whole.small), bool), True, len(whole.hopeless) > 0
    stuck = whole.group[problem.needs.cell[whole.hopeless]]
    parts = parts_with_choice(whole)
    total, before = sum(int(part.small.free.sum()) for part, _ in parts), 0
    for part, cells in parts:
        pruning = Pruning(part, tuning)
        if np.isin(stuck, cells).any() or not pruning.begin().all():
            minimal, doubtful = False, True
            continue
        minimal &= pruning.prune(np.inf if until is None else until, _share(progress, before, total))
        left[cells] = pruning.pattern
        before += int(part.small.free.sum())
    return Shrunk(whole.expand(left), minimal, doubtful)


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
