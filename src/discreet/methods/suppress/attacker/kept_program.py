"""The cheapest moves of a shrinking pattern: one program for all needs, each from where its last answer ended.

Between two answers for the same needs only bounds have changed, those of cells published meanwhile, so the last basis
is still dual feasible, and the dual simplex method takes a few steps where it would take hundreds from nothing.

A move for many needs at once takes each of their cells to its level, as far as all of them go together. Where moves
are long, as in patterns with hardly a cell too many, it takes hardly longer than that for one of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.linear.highs import FROM_SCRATCH, LinearProgram, Outcome, Solver
from discreet.methods.suppress.attacker.cheapest_move import MoveFinder
from discreet.methods.suppress.attacker.move_program import OPTIONS
from discreet.methods.suppress.attacker.witnesses import Key, Move, Refusal


class KeptProgram:
    """The program over all cells of a finder and their sums. Not for several threads at once."""

    def __init__(self, finder: MoveFinder, price: Array) -> None:
        from scipy.sparse import hstack

        self.finder, self.price, self.tuning = finder, price, finder.attacker
        half = finder.problem.rows.tocsc()
        nothing, right = np.zeros(2 * half.shape[1]), np.zeros(half.shape[0])
        program = LinearProgram(hstack([half, -half], format="csc"), nothing, nothing, nothing, right, right)
        options = {"simplex_iteration_limit": 10 * self.tuning.simplex_limit, "simplex_dual_edge_weight_strategy": 0}
        self.solver = Solver(OPTIONS | options, program)  # weights of edges would be worked out anew for each basis
        self.all = np.arange(len(nothing), dtype=np.int32)
        self.bases: dict[Any, Any] = {}

    def find(self, pattern: Array, key: Key, amount: float) -> Move | Refusal:
        """The cheapest move of a need's cell by ``amount`` to its side among the cells of ``pattern``."""
        finder, problem, (need, side) = self.finder, self.finder.problem, key
        cell = int(problem.needs.cell[need])
        allowed = finder.movable(pattern, need)
        most = (problem.up if side else problem.down)[cell]
        if not allowed[cell] or most < amount * (1 - self.tuning.tiny):
            return Refusal(True)
        room, cut = self._room(allowed, amount)
        cost, least, upper = self._priced(room), np.zeros(len(room)), np.where(np.tile(allowed, 2), room, 0.0)
        at = self._place(cell, side)
        cost[at], least[at], upper[at], upper[self._place(cell, 1 - side)] = -1, 1, 1, 0
        value = self._run(key, cost, least, upper)
        if value is None and self.solver.ray is not None:
            reach = finder.reach(self.solver.ray, cell, 1 if side else 0, amount)  # by the bounds as they are
            if not cut or (reach is not None and float(reach[allowed].sum()) < 1 - self.tuning.shortfall):
                return Refusal(True, reach)
        if value is None:
            return finder.find(pattern, need, 1 if side else 0, amount, self.price)
        moved = np.flatnonzero(np.abs(value) > self.tuning.tiny)
        return Move(moved, amount * value[moved])

    def together(self, pattern: Array, wanted: Mapping[Key, float], name: Any) -> tuple[Move, list[Key]] | None:
        """A move that takes many cells to the levels that are wanted, and which of them get there; None without any.

        ``wanted`` has one side of a cell at most, for needs of no coalition. ``name``: whose last answer to begin from.
        """
        keys, amount = list(wanted), np.array(list(wanted.values()))
        cells = self.finder.problem.needs.cell[[need for need, _ in keys]]
        unit = float(np.median(amount))
        room, _ = self._room(pattern, unit)
        cost, upper = self._priced(room), np.where(np.tile(pattern, 2), room, 0.0)
        for cell, (_, side), level in zip(cells.tolist(), keys, (amount / unit).tolist(), strict=True):
            at, other = self._place(cell, side), self._place(cell, 1 - side)
            cost[other] += (
                self.tuning.urge / level
            )  # as much as the way to the level brings: both at once bring nothing
            cost[at], upper[at] = -self.tuning.urge / level, min(level, upper[at])
        value = self._run(name, cost, np.zeros(len(room)), upper, feasible=True)
        if value is None:
            return None
        by = value * unit
        off = float(np.abs(self.finder.problem.rows @ by).max(initial=0))
        sign = np.array([1 if side else -1 for _, side in keys])
        there = (sign * by[cells] >= amount * (1 - self.tuning.tiny)) & (off <= 2 * self.tuning.tiny * amount)
        moved = np.flatnonzero(np.abs(by) > self.tuning.tiny * amount.min())
        reached = [key for key, got in zip(keys, there.tolist(), strict=True) if got]
        return (Move(moved, by[moved]), reached) if reached else None

    def _place(self, cell: int, side: int) -> int:
        """The column of a cell's way to one side."""
        return cell if side else self.finder.size + cell

    def _room(self, allowed: Array, unit: float) -> tuple[Array, bool]:
        """How far all cells may go up and down, in units, and whether that was cut for one of those allowed."""
        room = np.concatenate([self.finder.problem.up, self.finder.problem.down]) / unit
        cut = bool((room[np.tile(allowed, 2)] > self.tuning.far).any())
        return np.minimum(room, self.tuning.far), cut

    def _priced(self, room: Array) -> Array:
        """What each way costs, by the room that there is while a cell is hidden: so a last answer stays of use."""
        cost = np.tile(self.price, 2) / np.clip(room, 1e-6, 1)
        return np.asarray(cost / (float(np.median(cost)) or 1.0))

    def _run(self, name: Any, cost: Array, least: Array, upper: Array, *, feasible: bool = False) -> Array | None:
        """The move in units; None if there is none or the solver does not settle it."""
        self.solver.change_bounds(self.all, least, upper)
        self.solver.change_costs(self.all, cost)
        if (basis := self.bases.get(name)) is not None:
            self.solver.basis = basis
        else:
            self.solver.forget()
        if self.solver.run(FROM_SCRATCH if feasible else (), feasible=feasible) is not Outcome.SOLVED:
            return None
        self.bases[name] = self.solver.basis
        x, n = self.solver.x, self.finder.size
        return np.asarray(np.minimum(x[:n], upper[:n]) - np.minimum(x[n:], upper[n:]))
