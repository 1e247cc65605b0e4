"""The cheapest move of the hidden cells that takes one cell to its level, or the proof that there is none.

In wide tables such moves are local, so the first program takes in a block of cells around the one that has to move;
only where the block does not do is the whole pattern put to the solver, whose answer is then a proof. Every program
is in units of the level it is about.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import Unjudged
from discreet.methods.suppress.attacker.move_program import (
    UNSETTLED,
    BasisProgram,
    Entries,
    RowProgram,
    fuller_over_moves,
    much_smaller_over_moves,
)
from discreet.methods.suppress.attacker.witnesses import Move, Refusal, Side
from discreet.methods.suppress.model.problem import Problem
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass
class Programs:
    """What a finder has in the solver; made when it is needed."""

    basis: BasisProgram | None = None
    rows: RowProgram | None = None


class MoveFinder:
    """The sums of a problem laid out to find moves quickly. Not for several threads at once: each takes a ``twin``.

    ``moves``, a basis of all moves, lets programs be posed over those where they are few; ``by_moves``: also where they
    are not, as long as they are short.
    """

    def __init__(
        self, problem: Problem, moves: csr_array | None = None, tuning: Tuning = DEFAULT, *, by_moves: bool = False
    ) -> None:
        self.problem, self.tuning, self.attacker = problem, tuning, tuning.attacker
        fit = moves is not None and much_smaller_over_moves(problem.rows, moves, tuning)
        fit |= by_moves and moves is not None and not fuller_over_moves(problem.rows, moves, tuning)
        self.moves = moves if fit else None
        self.rows, self.columns = problem.rows.tocsr(), problem.rows.tocsc()
        self.size = len(problem)
        self.loose = (problem.down > 0) | (problem.up > 0)
        self.wide = problem.rows.nnz >= self.attacker.wide * problem.rows.shape[0]
        self.known = [np.isin(np.arange(self.size), cells) for cells in problem.needs.known]
        self.programs = Programs()

    def twin(self) -> MoveFinder:
        """The same with solvers of its own, which keep their bases from one move to the next."""
        other = copy.copy(self)
        other.programs = Programs()
        return other

    def movable(self, pattern: Array, need: int) -> Array:
        """The hidden cells that the intruder of a need does not know."""
        group = int(self.problem.needs.coalition[need])
        return pattern if group < 0 else pattern & ~self.known[group]

    def find(self, pattern: Array, need: int, side: Side, amount: float, price: Array) -> Move | Refusal:
        """The cheapest move of a need's cell by ``amount`` among the cells of ``pattern``, near ones first."""
        cell = int(self.problem.needs.cell[need])
        allowed = self.movable(pattern, need)
        most = (self.problem.up if side else self.problem.down)[cell]
        if not allowed[cell] or most < amount * (1 - self.attacker.tiny):
            return Refusal(True)
        for width in self.attacker.widths if self.wide and self.moves is None else ():
            block = self.block(allowed, price, cell, width)
            move = self._solve(block, cell, side, amount, price, self.attacker.far)
            if isinstance(move, Move):
                return move
        cells = np.flatnonzero(allowed & self.loose)
        move = self._solve(cells, cell, side, amount, price, self.attacker.far)
        if isinstance(move, Move) or move.proved:
            return move
        return self._solve(cells, cell, side, amount, price, np.inf)

    def among(self, cells: Array, need: int, side: Side, amount: float, price: Array) -> Move | Refusal:
        """The cheapest move of a need's cell by ``amount`` among some cells, itself one, in order."""
        cell, group = int(self.problem.needs.cell[need]), int(self.problem.needs.coalition[need])
        if (self.problem.up if side else self.problem.down)[cell] < amount * (1 - self.attacker.tiny):
            return Refusal(True)
        if group >= 0:
            cells = cells[~self.known[group][cells]]
        return self._solve(cells[self.loose[cells]], cell, side, amount, price, self.attacker.far)

    def furthest(self, allowed: Array, cell: int, least: float, most: float) -> Move | Refusal:
        """The move that takes a cell up as far as it goes, but no further than ``most``; it must reach ``least``."""
        most = min(most, float(self.problem.up[cell]))
        if not allowed[cell] or most < least * (1 - self.attacker.tiny):
            return Refusal(True)
        if most <= 0:
            return Move(np.empty(0, np.int64), np.empty(0))
        cells, nothing = np.flatnonzero(allowed & self.loose), np.zeros(self.size)
        bottom = min(1.0, least / most)
        move = self._solve(cells, cell, 1, most, nothing, self.attacker.far, bottom)
        if isinstance(move, Move) and move.of(cell) >= most * (1 - self.attacker.tiny):
            return move
        return self._solve(cells, cell, 1, most, nothing, np.inf, bottom)

    def block(self, allowed: Array, price: Array, cell: int, width: int) -> Array:
        """Cells around one: the cheapest of each of its sums, and what lies where the sums of those cross."""
        inside = np.zeros(self.size, bool)
        inside[cell] = True
        for row in self._rows_of(np.array([cell])):
            here = self.rows.indices[self.rows.indptr[row] : self.rows.indptr[row + 1]]
            here = here[allowed[here] & (here != cell)]
            if len(here) > width:
                here = here[np.argpartition(price[here], width - 1)[:width]]
            inside[here] = True
        for _ in range(2):
            rows = np.unique(self._rows_of(np.flatnonzero(inside)))
            touched = self.rows.indices[ranges(self.rows.indptr[rows], self.rows.indptr[rows + 1])]
            inside |= (np.bincount(touched, minlength=self.size) >= 2) & allowed
        return np.flatnonzero(inside)

    def _rows_of(self, cells: Array) -> Array:
        return np.asarray(self.columns.indices[ranges(self.columns.indptr[cells], self.columns.indptr[cells + 1])])

    def _solve(
        self, cells: Array, cell: int, side: Side, amount: float, price: Array, far: float, least: float = 1
    ) -> Move | Refusal:
        """One program over some cells. A refusal is a proof for these cells if none was held back by ``far``."""
        if self.moves is not None:
            return self._over_moves(cells, cell, side, amount, price, far, least)
        part = self._part(cells, cell)
        if part is None:
            return Refusal(True)
        cells, rows, entries = part
        up, down = self.problem.up[cells] / amount, self.problem.down[cells] / amount
        if not side:
            up, down = down, up
        at = int(np.searchsorted(cells, cell))
        cut = bool((np.maximum(up, down) > far).any())
        up, down = np.minimum(up, far), np.minimum(down, far)
        up[at], down[at] = 1, 0
        value = self._over_rows().solve(entries, up, down, at, price[cells], least)
        if value is None:
            return Refusal(not cut, None if cut else self._reach(rows, cell, side, amount * least))
        moved = np.abs(value) > self.attacker.tiny
        return Move(cells[moved], (1 if side else -1) * amount * value[moved])

    def _over_moves(
        self, cells: Array, cell: int, side: Side, amount: float, price: Array, far: float, least: float
    ) -> Move | Refusal:
        """The same over the basis of the moves. Where the cheapest is not found, how far the cell goes decides."""
        up, down = np.zeros(self.size), np.zeros(self.size)
        cut = bool((np.maximum(self.problem.up[cells], self.problem.down[cells]) > far * amount).any())
        far = min(far, self.attacker.furthest)
        up[cells] = np.minimum(self.problem.up[cells] / amount, far)
        down[cells] = np.minimum(self.problem.down[cells] / amount, far)
        (up if side else down)[cell], (down if side else up)[cell] = 1, 0
        aim, nothing = np.zeros(self.size), np.zeros(self.size)
        aim[cell] = 1 if side else -1
        program = self._over_basis()
        if least == 1 and price.any():
            each = price / (float(np.median(price[cells])) or 1.0)
            each[cell] = 0
            dear = self._per_level(each, down, up)
            answer = program.solve(self.attacker.urge_moves * aim, down, up, dear)
            if answer is not None and aim[cell] * answer[0][cell] >= 1 - self.attacker.tiny:
                return self._move(cells, answer[0] * amount, amount)
        answer = program.solve(aim, down, up, (nothing, nothing))
        if answer is None:
            raise Unjudged(UNSETTLED)
        move, reduced = answer
        if aim[cell] * move[cell] >= least * (1 - self.attacker.tiny):
            return self._move(cells, move * amount, amount)
        return Refusal(not cut, None if cut else self._share(reduced, cell, amount * least))

    def _move(self, cells: Array, by: Array, amount: float) -> Move:
        cells = cells[np.abs(by[cells]) > self.attacker.tiny * amount]
        return Move(cells, by[cells])

    def _share(self, reduced: Array, cell: int, amount: float) -> Array:
        """How much of the level can come by way of each cell at most, from the reduced costs of its furthest move."""
        reduced = np.where(np.abs(reduced) < 1e-9, 0, reduced)
        with np.errstate(invalid="ignore"):
            reach = np.maximum(reduced * self.problem.up, -reduced * self.problem.down)
        reach[reduced == 0] = 0  # also where a bound is infinite
        reach[cell] = 0
        return np.asarray(reach / amount) if amount > 0 else np.zeros(len(reach))

    def together(self, pattern: Array, wanted: dict[int, float], price: Array) -> Move | None:
        """One move that takes as many cells as it can to where they are wanted; None without a basis of the moves."""
        if self.moves is None or not wanted:
            return None
        cells = np.flatnonzero(pattern & self.loose)
        at, level = np.array(list(wanted)), np.array(list(wanted.values()))
        unit = float(np.median(np.abs(level)))
        up, down, aim = np.zeros(self.size), np.zeros(self.size), np.zeros(self.size)
        up[cells] = np.minimum(self.problem.up[cells] / unit, self.attacker.furthest)
        down[cells] = np.minimum(self.problem.down[cells] / unit, self.attacker.furthest)
        beyond = self.attacker.beyond * np.abs(level) / unit
        up[at], down[at] = np.minimum(up[at], beyond), np.minimum(down[at], beyond)
        aim[at] = self.attacker.urge_moves * unit / level
        each = price / (float(np.median(price[cells])) or 1.0)
        each[at] = 0
        answer = self._over_basis().solve(aim, down, up, self._per_level(each, down, up))
        return None if answer is None else self._move(cells, answer[0] * unit, float(np.abs(level).min()))

    def _per_level(self, price: Array, down: Array, up: Array) -> tuple[Array, Array]:
        """Prices of moving down and up by a level: a cell with less room costs as much for all of it."""
        return price / np.clip(down, self.attacker.narrow, 1), price / np.clip(up, self.attacker.narrow, 1)

    def _over_basis(self) -> BasisProgram:
        """The program over moves."""
        if self.programs.basis is None:
            assert self.moves is not None
            self.programs.basis = BasisProgram(self.moves, self.attacker)
        return self.programs.basis

    def _over_rows(self) -> RowProgram:
        """The program over some cells and their sums."""
        if self.programs.rows is None:
            self.programs.rows = RowProgram(self.attacker)
        return self.programs.rows

    def _part(self, cells: Array, cell: int) -> tuple[Array, Array, Entries] | None:
        """Those of the cells that the sums alone let move, their sums and entries; None if ``cell`` is not one.

        A sum with one movable cell holds it fast.
        """
        start, stop = self.columns.indptr[cells], self.columns.indptr[cells + 1]
        at = ranges(start, stop)
        row, data = self.columns.indices[at], self.columns.data[at]
        column = np.repeat(np.arange(len(cells)), stop - start)
        alive = np.ones(len(cells), bool)
        while True:
            count = np.bincount(row)
            lonely = column[count[row] == 1]
            if not len(lonely):
                break
            alive[lonely] = False
            keep = alive[column]
            row, data, column = row[keep], data[keep], column[keep]
        if not alive[np.searchsorted(cells, cell)]:
            return None
        number = np.cumsum(alive) - 1
        rows, compact = np.unique(row, return_inverse=True)
        return cells[alive], rows, (compact, number[column], data)

    def _reach(self, rows: Array, cell: int, side: Side, amount: float) -> Array | None:
        """From the solver's proof of a refusal: how much of the level can come by way of each cell at most.

        The proof adds up sums with some factors. That leaves the cell as a combination of others, each of which
        contributes what its own bounds let it, whether the pattern hides it or not.
        """
        proof = self._over_rows().proof()
        if proof is None:
            return None
        factor = np.zeros(self.rows.shape[0])
        factor[rows] = proof
        return self.reach(factor, cell, side, amount)

    def reach(self, factor: Array, cell: int, side: Side, amount: float) -> Array | None:
        """The same from a proof that has a factor for each sum; None where the cell itself is not in it."""
        slope = self.columns.T @ factor
        if abs(slope[cell]) < 1e-9 * np.abs(slope).max(initial=1e-300):
            return None
        slope = slope / -slope[cell]
        slope[np.abs(slope) < 1e-9] = 0
        up, down = (self.problem.up, self.problem.down) if side else (self.problem.down, self.problem.up)
        with np.errstate(invalid="ignore"):  # nothing of an infinite bound is nothing
            reach = np.nan_to_num(np.maximum(slope * up, -slope * down), nan=0.0, posinf=np.inf) / amount
        reach[cell] = 0
        return np.asarray(reach)


def ranges(start: Array, stop: Array) -> Array:
    """All numbers of some ranges, one after the other.

    >>> ranges(np.array([0, 7]), np.array([2, 10])).tolist()
    [0, 1, 7, 8, 9]
    """
    length = stop - start
    shift = np.repeat(start - np.concatenate([[0], np.cumsum(length)[:-1]]), length)
    return np.asarray(shift + np.arange(length.sum()))
