"""Protection of a problem whose sums come one group after the other: what is protected stays so.

Every need keeps moves as its witnesses. New sums break some of them; the needs concerned, and no others, are asked
again, among cells that are still undecided.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from discreet.base.annotations import Array
from discreet.methods.suppress.attacker.feasibility import examine, met
from discreet.methods.suppress.attacker.witnesses import Move, Witnesses
from discreet.methods.suppress.model.independent_parts import split
from discreet.methods.suppress.model.problem import Problem
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning

Find = Callable[[Problem, Array], Array]  # a problem and the numbers of its cells in the whole to a pattern


@dataclass(eq=False)
class SumsSoFar:
    """The sums met so far, the pattern, and for each need the moves that show it met."""

    problem: Problem
    pattern: Array
    seen: Array
    witnesses: Witnesses
    tuning: Tuning = DEFAULT

    @classmethod
    def of(cls, problem: Problem, pattern: Array, tuning: Tuning = DEFAULT) -> SumsSoFar:
        """No sums yet: every cell can move by itself."""
        alone = {(k, 1): Move(np.array([c]), np.ones(1)) for k, c in enumerate(problem.needs.cell.tolist())}
        return cls(problem, pattern.copy(), np.zeros(problem.rows.shape[0], bool), alone, tuning)

    def broken(self, rows: Array, cells: Array | None = None) -> Array:
        """The needs whose moves do not keep some rows in balance, or move cells that are to be published."""
        from scipy.sparse import csr_array

        keys = list(self.witnesses)
        if not keys:
            return np.empty(0, np.int64)
        moves = [self.witnesses[key] for key in keys]
        ends = np.cumsum([0, *(len(m.cells) for m in moves)])
        by, at = np.concatenate([m.by for m in moves]), np.concatenate([m.cells for m in moves])
        wide = csr_array((by, at, ends), shape=(len(moves), len(self.problem)))
        out = abs(self.problem.rows[rows] @ wide.T).max(axis=0).toarray().ravel() if len(rows) else np.zeros(len(moves))
        bad = out > self.tuning.hitas.broken * np.maximum.reduceat(np.abs(by), ends[:-1])
        if cells is not None:
            gone = np.zeros(len(self.problem))
            gone[cells] = 1
            bad |= csr_array((np.ones(len(by)), at, ends), shape=wide.shape) @ gone > 0
        return np.unique(np.array([key[0] for key in keys])[bad])

    def asked(self, numbers: Array, free: Array, rows: Array) -> Problem:
        """The problem of some needs under some rows when only some cells may be hidden besides the pattern."""
        weight = np.where(free, self.problem.weight, np.inf)
        needs = self.problem.needs.take(numbers)
        return replace(self.problem, rows=self.problem.rows[rows], weight=weight, hidden=self.pattern, needs=needs)

    def take(self, numbers: Array, step: Protection) -> None:
        """Hide what a step found and keep its moves."""
        self.pattern[step.hidden] = True
        for k in numbers[step.met]:
            self.witnesses.pop((k, 0), None)
            self.witnesses.pop((k, 1), None)
        self.witnesses |= {(int(numbers[k]), side): move for (k, side), move in step.witnesses.items() if step.met[k]}


@dataclass(frozen=True, eq=False)
class Protection:
    """Cells to hide, which needs that meets, and the moves; numbers of cells are those of the whole."""

    hidden: Array
    met: Array
    witnesses: Witnesses


def meet_needs(asked: Problem, find: Find) -> Protection:
    """Meet what can be met, component by component; ``find`` gives a pattern for needs that can all be met."""
    done, witnesses, hidden = np.zeros(len(asked.needs), bool), {}, []
    for part, cells in split(asked):
        numbers = np.flatnonzero(np.isin(asked.needs.cell, cells))
        now = examine(part, part.hidden)
        held = [(numbers, now)]
        if not now.met.all():
            short = np.flatnonzero(~now.met)
            rest = part.with_needs(part.needs.take(short))
            able = met(rest, rest.hidden | rest.free)
            rest = rest.with_needs(rest.needs.take(np.flatnonzero(able)))
            if able.any():
                pattern = np.asarray(find(rest, cells), bool)
                hidden.append(cells[pattern & ~part.hidden])
                held.append((numbers[short[able]], examine(rest, pattern)))
        for which, examined in held:
            done[which[examined.met]] = True
            for (k, side), move in examined.witnesses.items():
                if examined.met[k]:
                    witnesses[int(which[k]), side] = Move(cells[move.cells], move.by)
    return Protection(np.concatenate([np.empty(0, np.int64), *hidden]), done, witnesses)


@dataclass(frozen=True, eq=False)
class Change:
    """A cheaper choice among some cells: the needs concerned, what is hidden for them, and what is published."""

    numbers: Array
    step: Protection
    shown: Array


def cheaper_choice(state: SumsSoFar, cells: Array, find: Find) -> Change | None:
    """A cheaper choice among some cells while all others stay as they are; None if there is none or none was found."""
    problem = state.problem
    free = np.zeros(len(problem), bool)
    free[cells] = problem.free[cells]
    loose = np.flatnonzero(free & state.pattern)
    if not len(loose):
        return None
    numbers = state.broken(np.empty(0, np.int64), loose)
    without = state.pattern.copy()
    without[loose] = False
    step = meet_needs(replace(state, pattern=without).asked(numbers, free, state.seen), find)
    before, after = problem.weight[loose].sum(), problem.weight[step.hidden].sum()
    if not step.met.all() or after >= before * (1 - state.tuning.hitas.less):
        return None
    return Change(numbers, step, np.setdiff1d(loose, step.hidden))


def accept_choice(state: SumsSoFar, change: Change) -> SumsSoFar | None:
    """The state after a change, or None if what happened since it was found makes it wrong or no cheaper."""
    new = replace(state, pattern=state.pattern.copy(), witnesses=dict(state.witnesses))
    new.pattern[change.shown] = False
    new.take(change.numbers, change.step)
    if state.problem.cost(new.pattern) >= state.problem.cost(state.pattern):
        return None
    lost = new.broken(np.empty(0, np.int64), np.flatnonzero(~new.pattern))
    if len(lost):
        again = meet_needs(new.asked(lost, np.zeros(len(new.pattern), bool), new.seen), lambda part, _: part.hidden)
        if not again.met.all():
            return None
        new.take(lost, again)
    return new
