"""Inequalities that every protecting pattern satisfies, from the attacker's program [FS01]_.

The reduced costs of a furthest move say how much of a level each cell can bring at most, ``sum shares_i x_i >= 1``,
where x_i = 1 for hidden cells. Those hidden from the start are known; what remains caps every coefficient. The program
of a (fractional) pattern gives the inequality that this pattern violates most.

To add another kind of valid inequality: a frozen class here with ``plane`` (cells, coefficients, right-hand side) and
``name`` (the same for the same inequality, by which it is put in once), added to ``Inequality``, and a function that
gives those which a pattern violates, ``bridge`` say. Everything else takes an ``Inequality`` by its plane:

- ``master.Relaxation.round`` asks for it at the root, ``worker.Worker.cut`` at a node; ``add`` takes any of them.
- ``fixing._translated`` carries its plane over to the problem that is left after fixing; nothing is to be done.
- The pool of the nodes (``separation.CutPool``) and the checkpoint (``branch_and_cut.Trace.cuts``) keep a ``Cut`` only;
  other kinds are looked for anew, or are written as one.
- ``scip.ScipTree.add`` takes those of the root; during its tree it asks for cuts only.

It must hold for every protecting pattern, or for an optimal one at least; tests/methods/suppress/exact checks that on
all patterns of small problems.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from discreet.base.annotations import Array
from discreet.methods.suppress.attacker.furthest_move import FurthestMove
from discreet.methods.suppress.model.problem import Problem
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning


@dataclass(frozen=True, eq=False)
class Cut:
    """``sum coefficient * x[cell] >= 1`` over cells with a choice; coefficients in (0, 1]."""

    cell: Array
    coefficient: Array

    def slack(self, x: Array) -> float:
        """How far a pattern is above 1; negative: violated."""
        return float(self.coefficient @ x[self.cell]) - 1

    @property
    def plane(self) -> Plane:
        """The same as an inequality of any kind."""
        return Plane(self.cell, self.coefficient, 1.0)

    @property
    def name(self) -> bytes:
        """The same for the same inequality."""
        return self.cell.astype(np.int32).tobytes() + np.round(self.coefficient, 5).astype(np.float32).tobytes()

    def covered(self, x: Array, tuning: Tuning = DEFAULT) -> Cut:
        """The most violated of the inequalities that follow for whole patterns: some cells taken to be hidden.

        If the cells of S do not suffice together, ``sum over S`` < 1, the others must bring the rest, which caps their
        coefficients anew [CFLP00]_. S is filled with the cells that the pattern hides most.
        """
        return covers([self], x, tuning)[0][0]

    def without(self, taken: Array, kept: Array) -> Cut:
        """What follows if some of its entries are hidden."""
        scaled = np.minimum(self.coefficient[kept] / (1 - float(self.coefficient[taken].sum())), 1.0)
        return Cut(self.cell[kept], scaled).sorted()

    def sorted(self) -> Cut:
        """Cells in order."""
        order = np.argsort(self.cell)
        return Cut(self.cell[order], self.coefficient[order])


@dataclass(frozen=True, eq=False)
class Plane:
    """``sum coefficient * x[cell] >= right``, coefficients of either sign."""

    cell: Array
    coefficient: Array
    right: float

    @property
    def plane(self) -> Plane:
        """Itself."""
        return self

    @property
    def name(self) -> bytes:
        """The same for the same inequality."""
        value = np.round(np.append(self.coefficient, self.right), 5).astype(np.float32)
        return self.cell.astype(np.int32).tobytes() + value.tobytes() + b"plane"


Inequality: TypeAlias = "Cut | Bridge | Plane"


def covers(cuts: Sequence[Cut], x: Array, tuning: Tuning = DEFAULT) -> list[tuple[Cut, float]]:
    """For each inequality the strongest consequence for a pattern, see ``Cut.covered``, and that one's slack."""
    from discreet.methods.suppress.exact._kernels import strongest

    if not cuts:
        return []
    start = np.concatenate([[0], np.cumsum([len(cut.cell) for cut in cuts])])
    cell, coefficient = np.concatenate([c.cell for c in cuts]), np.concatenate([c.coefficient for c in cuts])
    order, taken, slack = np.empty(len(cell), np.int64), np.empty(len(cuts), np.int64), np.empty(len(cuts))
    exact = tuning.exact
    least = (exact.cover_left, exact.cover_hidden, exact.cover_gained)
    strongest(start, cell, coefficient, np.asarray(x, float), least, order, taken, slack)
    strong = []
    for r, (cut, k) in enumerate(zip(cuts, taken.tolist(), strict=True)):
        by = order[start[r] : start[r + 1]]
        strong.append((cut.without(by[:k], by[k:]) if k else cut, float(slack[r])))
    return strong


@dataclass(frozen=True, eq=False)
class Bridge:
    """``sum x[others] >= x[cell]``."""

    cell: int
    others: Array

    @property
    def plane(self) -> Plane:
        """The same as an inequality of any kind."""
        return Plane(np.append(self.others, self.cell), np.append(np.ones(len(self.others)), -1.0), 0.0)

    @property
    def name(self) -> bytes:
        """The same for the same inequality."""
        return np.append(self.others, -1 - self.cell).astype(np.int32).tobytes()


def inequality(problem: Problem, shares: Array, tuning: Tuning = DEFAULT) -> Cut | None:
    """The valid inequality of what each cell brings at most; None where those hidden from the start suffice.

    The part of those hidden from the start is taken off, what is left is capped and scaled to 1.
    """
    rest = 1 - float(shares[problem.hidden].sum())
    if not rest > tuning.attacker.noise:
        return None
    at = np.flatnonzero((shares > 0) & problem.free)
    scaled = np.minimum(shares[at] / rest, 1.0)
    small = scaled < tuning.exact.least_coefficient
    scaled = np.minimum(scaled[~small] / (1 - float(scaled[small].sum())), 1.0)
    return Cut(at[~small], scaled)


def bridge(program: FurthestMove, cell: int, x: Array, tuning: Tuning = DEFAULT) -> Bridge | None:
    """The company that a hidden cell lacks: it moves only if one of these does, and the pattern has too few."""
    problem = program.problem
    room = np.where(problem.free | problem.hidden, x, 0)
    move, reduced = program.pull(cell, room)
    if move[cell] > x[cell] - tuning.exact.bridged:
        return None
    others = np.flatnonzero(np.abs(reduced) > tuning.attacker.noise)
    others = others[others != cell]
    if problem.hidden[others].any() or x[others].sum() > x[cell] - tuning.exact.bridged:
        return None
    return Bridge(cell, others)
