"""The linear relaxation: patterns in fractions, cut off round by round, and the lower bound that they prove.

Three kinds of inequalities: those of the needs (``cuts``), those that follow when some cells are taken to be hidden,
and "bridges": a cell hidden for others' sake that is alone in a sum is known, so it may as well be shown; in an optimal
pattern it has company wherever it stands [FS01]_.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array
from discreet.errors import OutOfTimeError, Unjudged
from discreet.linear.highs import QUIET, LinearProgram, Outcome, Solver
from discreet.methods.suppress.exact.inequalities import Bridge, Cut, Inequality, bridge, covers
from discreet.methods.suppress.exact.separation import Separation
from discreet.methods.suppress.model.condense import Condensed
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning


class Relaxation:
    """The master problem of one condensed problem; ``bound`` is proved, ``x`` its pattern.

    ``settled``: whether ``x`` is the cheapest pattern in fractions, by the solver's last run; otherwise it is any.
    """

    def __init__(self, condensed: Condensed, separation: Separation | None = None, tuning: Tuning = DEFAULT) -> None:
        self.tuning, self.exact = tuning, tuning.exact
        self.condensed, self.problem = condensed, condensed.small
        self.separation = separation or Separation(condensed, tuning=tuning)
        self.free = np.flatnonzero(self.problem.free)
        self.place = np.full(len(self.problem), -1)
        self.place[self.free] = np.arange(len(self.free))
        # costs go to the solver in units of a usual one
        usual = float(np.median(self.problem.weight[self.free])) if len(self.free) else 1.0
        self.scale = max(usual, 1e-9)
        self.solver = self._solver()
        self.rows: list[Inequality] = []
        self.entries: list[tuple[Array, Array, float]] = []  # places of cells, coefficients, right-hand side
        self.idle: list[int] = []
        self.names: set[bytes] = set()
        self.plain = _plain_sums(condensed)
        self.bound = 0.0
        self.settled = False
        self.x = np.where(self.problem.hidden, 1.0, 0.0)
        self.inside = np.ones(len(self.problem))
        self.reduced = np.zeros(len(self.free))
        self.lower, self.upper = np.zeros(len(self.free)), np.ones(len(self.free))
        self.rounds = 0
        self.closed = not len(self.separation.aims)

    def _solver(self) -> Solver:
        from scipy.sparse import csc_array

        n = len(self.free)
        cost, none = self.problem.weight[self.free] / self.scale, np.zeros(0)
        program = LinearProgram(csc_array((0, n)), cost, np.zeros(n), np.ones(n), none, none)
        return Solver({**QUIET, "solver": "simplex"}, program)

    @property
    def cuts(self) -> list[Cut]:
        """The inequalities of the needs that are in force."""
        return [row for row in self.rows if isinstance(row, Cut)]

    def add(self, fresh: Sequence[Inequality]) -> int:
        """Put inequalities in that are not there yet; how many."""
        start, index, value, right = [0], [], [], []
        for row in fresh:
            if row.name in self.names:
                continue
            self.names.add(row.name)
            self.rows.append(row)
            self.idle.append(0)
            plane = row.plane
            index.append(self.place[plane.cell])
            value.append(plane.coefficient)
            right.append(plane.right)
            self.entries.append((index[-1], plane.coefficient, plane.right))
            start.append(start[-1] + len(index[-1]))
        k = len(right)
        if k:
            at, entries = np.concatenate(index), np.concatenate(value)
            self.solver.add_rows(np.array(right), np.array(start[:-1]), at, entries)
        return k

    def solve(self) -> None:
        """The cheapest pattern in fractions and the bound its prices prove; infinite if there is none."""
        self.settled = False
        outcome = self.solver.run()
        if self._impossible(outcome):
            return
        if outcome is not Outcome.SOLVED:
            self.solver.forget()
            self.solver.set_options({"presolve": "off"})  # which finds the impossible without a proof
            outcome = self.solver.run()
            if self._impossible(outcome):
                return
        values = self.solver.row_values
        x, row_prices = self.solver.answer()
        if len(values) != len(self.rows) or len(x) != len(self.free):  # nothing came of it: what was known stays
            return
        self.settled = outcome is Outcome.SOLVED
        self.x = np.where(self.problem.hidden, 1.0, 0.0)
        self.x[self.free] = np.clip(x, self.lower, self.upper)
        prices = np.maximum(row_prices, 0)
        reduced, proved = self.proof(prices)
        if proved >= self.bound:  # the reduced costs and the bound of one and the same proof
            self.reduced, self.bound = reduced, proved
        slack = values - np.array([right for _, _, right in self.entries])
        self.idle = [0 if s < 1e-7 else age + 1 for s, age in zip(slack, self.idle, strict=True)]

    def _impossible(self, outcome: Outcome) -> bool:
        """Whether no pattern satisfies everything, by the solver's own proof worked out again."""
        ray = self.solver.ray
        if outcome is not Outcome.INFEASIBLE or ray is None:
            return False
        least = self.proof(np.maximum(ray, 0) / self.scale, cost=False)[1]
        if least > 1e-7 * float(np.abs(ray).max(initial=0)):
            self.bound = np.inf
        return self.bound == np.inf

    def proof(self, prices: Array, *, cost: bool = True) -> tuple[Array, float]:
        """A bound that holds whatever the solver's tolerances: weak duality with x within its bounds."""
        reduced = self.problem.weight[self.free].copy() if cost else np.zeros(len(self.free))
        total = 0.0
        for k in np.flatnonzero(prices > 0):
            at, coefficient, right = self.entries[k]
            price = prices[k] * self.scale
            reduced[at] -= price * coefficient
            total += price * right
        return reduced, total + float(np.where(reduced > 0, reduced * self.lower, reduced * self.upper).sum())

    def bounded(self, lower: Array, upper: Array) -> None:
        """Decide some cells, as a node of the tree does; the bound is of what is left then."""
        self.lower, self.upper = lower.copy(), upper.copy()
        n = len(self.free)
        self.solver.change_bounds(np.arange(n), self.lower, self.upper)
        self.bound = -np.inf
        self.settled = False

    def purge(self, rounds: int | None = None) -> None:
        """Drop what has been slack for so many rounds, if it is much."""
        rounds = self.exact.slack_rounds if rounds is None else rounds
        gone = [k for k, age in enumerate(self.idle) if age > rounds]
        if len(gone) < max(self.exact.dropped_least, int(self.exact.dropped * len(self.rows))):
            return
        self.solver.delete_rows(np.array(gone))
        out = set(gone)
        for k in gone:
            self.names.discard(self.rows[k].name)
        self.rows = [row for k, row in enumerate(self.rows) if k not in out]
        self.entries = [entry for k, entry in enumerate(self.entries) if k not in out]
        self.idle = [age for k, age in enumerate(self.idle) if k not in out]

    def round(self) -> int:
        """Look for violated inequalities once, solve again; how many were new. 0: none is left."""
        self.rounds += 1
        x, inward = self.x, self.exact.inward
        bent = (1 - inward) * x + inward * self.inside
        cuts = covered(self.separation(bent), x, self.tuning)
        if len(cuts) < self.exact.few:
            cuts += covered(self.separation(x), x, self.tuning)
        new = self.add(cuts) + self.add(covered(self.cuts, x, self.tuning)) + self.add(self.alone(x))
        if new < self.exact.few:
            new += self.add(self._bridges(x))
        if not new:
            new = self.add(covered(self.separation(x, cap=self.tuning.attacker.far), x, self.tuning))
        if new:
            self.solve()
            self.purge()
        else:
            self.closed = self.separation.complete
        return new

    def run(self, until: float, tell: Callable[[float], None] | None = None, enough: float = np.inf) -> bool:
        """Rounds until nothing is violated, the bound hardly moves or is ``enough``; False if time was up before.

        A program that the solver does not settle ends them too: the bound moves no more.
        """
        history = [self.bound]
        self.separation.until = until
        while not self.closed and time.monotonic() < until and self.bound < enough:
            try:
                with deadline.until(until):
                    self.round()
            except OutOfTimeError:  # what was proved before stays proved
                return False
            except Unjudged:
                return True
            history.append(self.bound)
            if tell is not None:
                tell(self.bound)
            idle = self.exact.idle
            if len(history) > idle and history[-1] - history[-1 - idle] < self.exact.gain * max(history[-1], 1e-9):
                return True
        return self.closed or self.bound >= enough

    def alone(self, x: Array) -> list[Bridge]:
        """Simple bridges that a pattern violates most."""
        cell, number, start = self.plain.cell, self.plain.number, self.plain.start
        total = np.add.reduceat(x[cell], start[:-1]) if len(start) > 1 else np.empty(0)
        short = 2 * x[cell] - total[number]
        worst = np.argsort(-short, kind="stable")[: self.exact.bridges]
        out = []
        for k in worst[short[worst] > self.exact.lonely]:
            line = cell[start[number[k]] : start[number[k] + 1]]
            out.append(Bridge(int(cell[k]), line[line != cell[k]]))
        return out

    def _bridges(self, x: Array) -> list[Bridge]:
        """Bridges over more than one sum, for the cells that a pattern hides most."""
        able = self.free[x[self.free] > self.exact.bridge_hidden]
        tried = able[np.argsort(-x[able] * self.problem.weight[able], kind="stable")][: self.exact.bridges_tried]
        program = self.separation.programs[0]
        return [row for cell in tried if (row := bridge(program, int(cell), x, self.tuning)) is not None]


def covered(cuts: list[Cut], x: Array, tuning: Tuning = DEFAULT) -> list[Cut]:
    """Of each inequality itself and its strongest consequence those that a pattern violates."""
    least, violated = -tuning.exact.violated, []
    for cut, (strong, slack) in zip(cuts, covers(cuts, x, tuning), strict=True):
        if slack < least:
            violated += [cut, strong] if strong is not cut and cut.slack(x) < least else [strong]
    return violated


@dataclass(frozen=True, eq=False)
class PlainSums:
    """The sums without a cell hidden from the start, one after the other: of each entry its cell and its sum's number.

    The entries of sum k are those from ``start[k]`` to ``start[k + 1]``.
    """

    cell: Array
    number: Array
    start: Array


def _plain_sums(condensed: Condensed) -> PlainSums:
    rows, hidden = condensed.small.rows, condensed.small.hidden
    plain = [r for r in range(rows.shape[0]) if not hidden[rows.indices[rows.indptr[r] : rows.indptr[r + 1]]].any()]
    kept = rows[np.array(plain, np.int64)] if plain else rows[:0]
    number = np.repeat(np.arange(kept.shape[0]), np.diff(kept.indptr))
    return PlainSums(kept.indices, number, kept.indptr)
