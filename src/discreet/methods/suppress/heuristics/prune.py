"""Publishing again what need not be hidden: no cell of the cleaned pattern can be dropped alone.

Every need keeps a move that meets it; dropping a cell concerns only the needs whose move goes through it. A cell that
could not be dropped from a larger pattern cannot be dropped from a smaller one, so each is tried once.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array, Progress
from discreet.errors import InputError, OutOfTimeError, Unjudged
from discreet.methods.suppress.attacker.cheapest_move import MoveFinder
from discreet.methods.suppress.attacker.feasibility import examine, moves_for_all, settle_need, together
from discreet.methods.suppress.attacker.witnesses import Refusal, Witnesses, met_by, needs_by_cell, prices, spread
from discreet.methods.suppress.model.condense import with_choice
from discreet.methods.suppress.model.problem import Problem
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning


class WitnessedPattern:
    """A pattern with a witness for every need, and for each cell the needs whose witness moves it."""

    def __init__(self, finder: MoveFinder, pattern: Array, witnesses: Witnesses, tuning: Tuning = DEFAULT) -> None:
        self.finder, self.problem, self.tuning = finder, finder.problem, tuning
        self.pattern = pattern.copy()
        self.witnesses: Witnesses = {}
        self.users: dict[int, set[tuple[int, int]]] = {}
        for key, move in witnesses.items():
            self.note(key, move)
        self.refused: dict[int, int] = {}
        # over moves any way out will do: it is found soonest, and there are few
        self.price = prices(finder.problem) if finder.moves is None else np.zeros(finder.size)
        self.table = needs_by_cell(finder.problem)

    def note(self, key: tuple[int, int], move: Any) -> None:
        """Take a move for a need in place of the one it had."""
        self.forget(key)
        self.witnesses[key] = move
        for cell in move.cells.tolist():
            self.users.setdefault(cell, set()).add(key)

    def forget(self, key: tuple[int, int]) -> None:
        """Leave a need without a move."""
        old = self.witnesses.pop(key, None)
        if old is not None:
            for cell in old.cells.tolist():
                self.users[cell].discard(key)

    def drop(self, cell: int, until: float | None = None) -> Refusal | None:
        """Publish a cell if every need finds another move; otherwise nothing changes and the refusal is returned.

        A move found for one need is tried on the others that lost theirs. Without time it is a refusal without proof.
        """
        smaller = self.pattern.copy()
        smaller[cell] = False
        lost = self.users.get(cell, set())
        moves = {key: move for key, move in self.witnesses.items() if key not in lost}
        order = sorted({need for need, _ in lost}, key=lambda need: (-self.refused.get(need, 0), need))
        for turn, need in enumerate(order):
            if met_by(self.problem, need, moves):
                continue
            if until is not None and time.monotonic() > until:
                return Refusal(False)
            outcome = settle_need(self.finder, smaller, need, moves, self.price)
            if outcome.refusals:
                self.refused[need] = self.refused.get(need, 0) + 1
                return outcome.refusals[need]
            for key, move in outcome.witnesses.items():
                moves[key] = move
                spread(self.problem, move, moves, self.table)
            if turn == 0 and len(order) > self.tuning.heuristics.many_lost:
                # the need that is refused most often is not: now many at once
                together(self.finder, smaller, moves, self.table, self.price)
        for key in {need_side for need in {n for n, _ in lost} for need_side in ((need, 0), (need, 1))}:
            self.forget(key)
            if key in moves:
                self.note(key, moves[key])
        self.pattern = smaller
        return None

    def unused(self) -> Array:
        """Hidden cells that no witness moves and that need not be hidden."""
        idle = self.pattern & ~self.problem.hidden
        idle[[cell for cell, users in self.users.items() if users]] = False
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
    checked = moves_for_all(finder, {})
    if len(small.hopeless) or not checked.met.all():
        met = examine(problem, hidden).met
        if not met.all():
            raise InputError(f"the pattern does not protect: {numbered(np.flatnonzero(~met))} not met")
        return hidden, False  # it protects by the second opinion, which hands over no moves to prune by
    kept = WitnessedPattern(finder, np.ones(len(small.small), bool), checked.witnesses, tuning)
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
