"""Publishing again what need not be hidden: no cell of the cleaned pattern can be dropped alone.

Every need keeps a move that meets it; dropping a cell concerns only the needs whose move goes through it. Moves are
long, so many needs share one, and where it is lost they look for another one together. A cell that could not be
dropped from a larger pattern cannot be dropped from a smaller one, so each is tried once.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array, Progress
from discreet.errors import InputError, OutOfTimeError, Unjudged
from discreet.methods.suppress.attacker.cheapest_move import MoveFinder
from discreet.methods.suppress.attacker.feasibility import Examined, examine, moves_for_all, settle_need
from discreet.methods.suppress.attacker.kept_program import KeptProgram
from discreet.methods.suppress.attacker.witnesses import (
    Key,
    Refusal,
    Witnesses,
    either_side,
    met_by,
    needs_by_cell,
    prices,
    spread,
)
from discreet.methods.suppress.model.condense import with_choice
from discreet.methods.suppress.model.problem import Problem
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning


class WitnessedPattern:
    """A pattern with a witness for every need; several needs may have the same move for one."""

    def __init__(self, finder: MoveFinder, pattern: Array, witnesses: Witnesses, tuning: Tuning = DEFAULT) -> None:
        self.finder, self.problem, self.tuning = finder, finder.problem, tuning
        self.pattern = pattern.copy()
        self.witnesses: Witnesses = dict(witnesses)
        self.refused: dict[int, int] = {}
        # over moves any way out will do: it is found soonest, and there are few
        self.price = prices(finder.problem) if finder.moves is None else np.zeros(finder.size)
        self.table = needs_by_cell(finder.problem)

    @cached_property
    def program(self) -> KeptProgram:
        """All moves in one program that remembers its answers."""
        return KeptProgram(self.finder, prices(self.problem))

    def drop(self, cell: int, until: float | None = None) -> Refusal | None:
        """Publish a cell if every need finds another move; otherwise nothing changes and the refusal is returned.

        Needs that shared a move look for another one together, then those that are left alone; a move found for one
        is tried on the others. Without time it is a refusal without proof.
        """
        smaller = self.pattern.copy()
        smaller[cell] = False
        groups = self._through(cell)
        lost = {key for keys in groups for key in keys}
        moves = {key: move for key, move in self.witnesses.items() if key not in lost}
        order = sorted({need for need, _ in lost}, key=lambda need: (-self.refused.get(need, 0), need))
        for turn, need in enumerate(order):
            if turn == 1:  # the need that is refused most often is not: now many at once
                for keys in groups:
                    self._again_together(keys, smaller, moves)
            if met_by(self.problem, need, moves):
                continue
            if until is not None and time.monotonic() > until:
                return Refusal(False)
            outcome = self._settled(need, smaller, moves)
            if outcome.refusals:
                self.refused[need] = self.refused.get(need, 0) + 1
                return outcome.refusals[need]
            for key, move in outcome.witnesses.items():
                moves[key] = move
                spread(self.problem, move, moves, self.table)
        self.witnesses, self.pattern = moves, smaller
        return None

    def _through(self, cell: int) -> list[list[Key]]:
        """The needs and sides whose witness moves a cell: those with the same one together, the most first."""
        sharing: dict[int, list[Key]] = {}
        for key, move in self.witnesses.items():
            sharing.setdefault(id(move), []).append(key)
        groups = [keys for keys in sharing.values() if self.witnesses[keys[0]].uses(cell)]
        return sorted(groups, key=len, reverse=True)

    def _again_together(self, keys: list[Key], smaller: Array, moves: Witnesses) -> None:
        """A new move for needs that shared one, and a second for those that it leaves out; noted where they get to."""
        needs, name = self.problem.needs, keys[0]
        left = {
            key: abs(self.witnesses[key].of(int(needs.cell[key[0]])))
            for key in keys
            if key not in moves and needs.coalition[key[0]] < 0
        }
        while len(left) >= self.tuning.heuristics.many_lost:
            found = self.program.together(smaller, left, ("together", name))
            if found is None:
                return
            move, reached = found
            for key in reached:
                moves[key] = move
                del left[key]

    def _settled(self, need: int, smaller: Array, moves: Witnesses) -> Examined:
        """The moves that a need lacks, or a refusal."""
        needs = self.problem.needs
        below, above = float(needs.below[need]), float(needs.above[need])
        if needs.sliding[need] > below + above:
            return settle_need(self.finder, smaller, need, moves, self.price)
        new: Witnesses = {}
        for key, level in (((need, 1), above), ((need, 0), below)):
            if level > 0 and key not in moves:
                way = self.program.find(smaller, key, level)
                if isinstance(way, Refusal):
                    return Examined(np.zeros(1, bool), new, {need: way})
                new[key] = way
        return Examined(np.ones(1, bool), new, {})

    def unused(self) -> Array:
        """Hidden cells that no witness moves and that need not be hidden."""
        idle = self.pattern & ~self.problem.hidden
        for move in {id(move): move for move in self.witnesses.values()}.values():
            idle[move.cells] = False
        return np.flatnonzero(idle)

    def prune(
        self, among: Array | None = None, *, until: float | None = None, progress: Progress | None = None
    ) -> bool:
        """Drop what can be dropped, dearest first; False if time was up before every cell was tried."""
        self.pattern[self.unused()] = False
        secondary = self.pattern & ~self.problem.hidden
        cells = np.flatnonzero(secondary if among is None else secondary & among)
        order = cells[np.argsort(-self.problem.weight[cells], kind="stable")]
        essential, minimal = np.zeros(len(self.problem), bool), True
        for turn, cell in enumerate(order.tolist()):
            if until is not None and time.monotonic() > until:
                return False
            if not self.pattern[cell] or essential[cell]:
                continue
            try:
                with deadline.until(np.inf if until is None else until):
                    refusal = self.drop(cell, until)
            except OutOfTimeError:  # nothing has changed by this cell, and those before it have their proofs
                return False
            except Unjudged:  # so it stays, and nothing is proved of it
                minimal = False
                continue
            if refusal is not None:
                essential |= needed_cells(self.pattern, cell, refusal)
            elif turn % self.tuning.heuristics.unused_every == 0:
                self.pattern[self.unused()] = False
            if progress is not None:
                progress(turn + 1, len(order))
        self.pattern[self.unused()] = False
        return minimal


def shared_moves(program: KeptProgram, pattern: Array, tuning: Tuning = DEFAULT) -> Witnesses:
    """A few moves that each meet many needs of a pattern: every cell is wanted up or down by lot, then what is left."""
    problem, several = program.finder.problem, tuning.attacker.several
    random, found = np.random.default_rng(1), Witnesses()
    for turn in range(tuning.attacker.together):
        wanted: dict[Key, float] = {}
        up = random.random(len(problem.needs)) < 0.5
        for need in np.flatnonzero(problem.needs.coalition < 0).tolist():
            lacking = [(s, level) for s, level in either_side(problem, need) if (need, s) not in found]
            if lacking and not met_by(problem, need, found):
                side, level = lacking[int(up[need]) % len(lacking)]
                wanted[need, side] = level
        answer = program.together(pattern, wanted, ("first", turn)) if len(wanted) >= several else None
        if answer is None:
            break
        found |= dict.fromkeys(answer[1], answer[0])
        if len(answer[1]) < tuning.heuristics.shared * len(wanted):
            break
    return found


def needed_cells(pattern: Array, cell: int, refusal: Refusal) -> Array:
    """Cells without any of which a refused need stays out of reach as well: the solver's proof tells of more than one.

    The proof bounds what each cell can contribute; a cell is needed if the others' contributions fall short.
    """
    out = np.zeros(len(pattern), bool)
    out[cell] = True
    if refusal.reach is not None:
        total = float(refusal.reach[pattern].sum())
        with np.errstate(invalid="ignore"):  # where two cells can contribute without end, neither is needed
            out |= pattern & (total - refusal.reach < 1 - 1e-6)
    return out


def clean_up(
    problem: Problem,
    pattern: Array,
    *,
    progress: Progress | None = None,
    until: float | None = None,
    tuning: Tuning = DEFAULT,
) -> tuple[Array, bool]:
    """The pattern without cells that can be published, and whether it is proved that no further one can.

    ``until`` is a moment of ``time.monotonic()``. Raises InputError if the pattern does not protect.
    """
    hidden = np.asarray(pattern, bool) | problem.hidden
    extra = hidden & ~problem.free & ~problem.hidden  # zero cells say, which were hidden all the same
    problem = replace(problem, weight=np.where(extra, 0.5 * _least(problem), problem.weight))
    small = with_choice(problem, hidden, hidden)
    finder = MoveFinder(small.small, small.moves, tuning)
    everything = np.ones(len(small.small), bool)
    kept = WitnessedPattern(finder, everything, {}, tuning)
    checked = moves_for_all(finder, shared_moves(kept.program, everything, tuning))
    if len(small.hopeless) or not checked.met.all():
        met = examine(problem, hidden).met
        if not met.all():
            raise InputError(f"the pattern does not protect: {numbered(np.flatnonzero(~met))} not met")
        return hidden, False  # it protects by the second opinion, which hands over no moves to prune by
    kept.witnesses = checked.witnesses
    minimal = kept.prune(until=until, progress=progress)
    return small.expand(kept.pattern), minimal


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
