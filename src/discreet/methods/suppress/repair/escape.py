"""The cheapest escape for a cell that cannot move: a linear program over the cells that could, kept warm.

An escape is a change of the cells that breaks no equation and no bound; it costs what hiding the published cells that
it changes costs. Most cells of sparse linked tables can never change, as their line is empty: bounds are propagated
once and those are left out. One model then serves one stuck cell after another, each from where the last one ended.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array
from discreet.errors import Unjudged
from discreet.linear.highs import SIMPLEX, UNSEEDED, VERTEX, LinearProgram, Options, Outcome, Solver
from discreet.linear.presolve import propagated
from discreet.linear.system import System
from discreet.linear.whole_moves import PricedMoves
from discreet.methods.suppress.model.tuning import RepairTuning

if TYPE_CHECKING:
    from scipy.sparse import csr_array


OTHERWISE: tuple[Options, ...] = ({}, {"presolve": "on", "simplex_strategy": 4}, {"solver": "ipm"})


class Escapes:
    """All moves that hiding more cells could allow. ``cost``: per cell; infinite if it must stay as it is."""

    def __init__(
        self, system: System, truth: Array, cost: Array, limits: tuple[Array, Array], tuning: RepairTuning
    ) -> None:
        self.tuning = tuning
        published = system.lower == system.upper
        down = truth - np.where(published, limits[0], system.lower)
        up = np.where(published, limits[1], system.upper) - truth
        stay = published.copy()
        stay[: len(cost)] &= cost == 0  # hidden, and known to the one who asks
        stay[: len(cost)] |= ~np.isfinite(cost)
        down, up = np.where(stay, 0, np.maximum(down, 0)), np.where(stay, 0, np.maximum(up, 0))
        still = System(system.rows, np.zeros(system.rows.shape[0]), -down, up, system.integer)
        low, high = propagated(still)
        self.free = np.flatnonzero(high - low > tuning.slack)
        self.size, self.integer = system.size, system.integer
        self.down, self.up = down[self.free], up[self.free]
        rows = system.rows[:, self.free].tocsr()
        self.rows = rows[np.diff(rows.indptr) > 0]
        self.columns = self.rows.tocsc()
        self.least = 1e-6 * float(cost[np.isfinite(cost)].max(initial=1))  # hidden cells cost next to nothing
        self.model: EscapeProgram | None = None

    def cheapest(self, cell: int, step: float, cost: Array, *, thorough: bool) -> Array | None:
        """The move of a cell by ``step`` (or more) that costs least, or None if there is none."""
        at = int(np.searchsorted(self.free, cell))
        slack = self.tuning.slack
        if at == len(self.free) or self.free[at] != cell or step > self.up[at] + slack or -step > self.down[at] + slack:
            return None
        price = self.price(cost)
        look = self._among_all if len(self.free) <= self.tuning.one_model else self._near
        move = look(at, step, price, thorough)
        if move is None:
            return None
        full = np.zeros(self.size)
        full[self.free] = move
        return full

    def rooms(self, cells: Array) -> tuple[Array, Array]:
        """How far some cells may go down and up; nowhere where bounds leave them one value."""
        down, up = np.zeros(self.size), np.zeros(self.size)
        down[self.free], up[self.free] = self.down, self.up
        return down[cells], up[cells]

    def price(self, cost: Array) -> Array:
        """What a unit of each free variable costs: hidden ones next to nothing."""
        price = np.zeros(self.size)
        price[: len(cost)] = np.where(np.isfinite(cost), cost, 0)
        return price[self.free] + self.least

    def room_back(self, move: Array) -> float:
        """What share of a move fits the other way round, at most all of it."""
        way = -move[self.free]
        changed = np.abs(way) > self.tuning.slack
        room = np.where(way > 0, self.up, self.down)[changed]
        return float(np.minimum(room / np.abs(way[changed]), 1).min(initial=1))

    def _among_all(self, at: int, step: float, price: Array, thorough: bool) -> Array | None:
        if self.model is None:
            self.model = EscapeProgram(self.rows, self.down, self.up, self.integer, self.tuning)
        return self.model.cheapest(at, step, price, thorough=thorough)

    def _near(self, at: int, step: float, price: Array, thorough: bool) -> Array | None:
        """The same within the cells near this one, then further away."""
        size = self.tuning.around
        while True:
            near = self._around(at, size)
            rows = self.rows[:, near].tocsr()
            rows = rows[np.diff(rows.indptr) > 0]
            model = EscapeProgram(rows, self.down[near], self.up[near], self.integer, self.tuning)
            move = model.cheapest(int(np.searchsorted(near, at)), step, price[near], thorough=thorough)
            if move is not None:
                full = np.zeros(len(self.free))
                full[near] = move
                return full
            if len(near) == len(self.free):
                return None
            size *= self.tuning.wider

    def _around(self, at: int, size: int) -> Array:
        """The variables nearest to one by shared equations."""
        if size >= len(self.free):
            return np.arange(len(self.free))
        rows, columns = self.rows, self.columns
        seen = np.zeros(len(self.free), bool)
        seen[at] = True
        front, count = np.array([at]), 1
        while len(front) and count < size:
            fresh: list[int] = []
            touched = [columns.indices[columns.indptr[v] : columns.indptr[v + 1]] for v in front]
            for row in np.unique(np.concatenate(touched)):
                here = rows.indices[rows.indptr[row] : rows.indptr[row + 1]]
                new = here[~seen[here]]
                seen[new] = True
                fresh.extend(new.tolist())
                count += len(new)
                if count >= self.tuning.wider * size:
                    break
            front = np.array(fresh, np.int64)
        return np.flatnonzero(seen)


class EscapeProgram:
    """Moves up and down at a price each: ``rows @ (up − down) == 0``; the basis is kept from one cell to the next."""

    def __init__(self, rows: csr_array, down: Array, up: Array, integer: bool, tuning: RepairTuning) -> None:
        from scipy.sparse import hstack

        self.tuning = tuning
        self.rows, self.most, self.integer, self.n = rows, np.concatenate([up, down]), integer, len(up)
        self.price, right = np.ones(2 * self.n), np.zeros(rows.shape[0])
        both = hstack([rows, -rows], format="csr")
        program = LinearProgram(both, self.price, np.zeros(2 * self.n), self.most, right, right)
        self.solver = Solver(SIMPLEX, program)
        self.unit = 1.0
        self.walks: PricedMoves | None = None
        self.seconds = tuning.whole_seconds  # left for programs in whole numbers

    def cheapest(self, at: int, step: float, price: Array, *, thorough: bool) -> Array | None:
        """The cheapest move of one variable by ``step`` or more, None if there is none.

        In a large system of whole numbers it may be fractional unless ``thorough``: the pattern is audited anyway.
        A program of counts that takes many steps is given up for a move that walks find, cheapest or not.
        """
        with self.solver.options({"simplex_iteration_limit": self.tuning.whole_steps} if self.integer else {}):
            outcome, move = self._linear(at, step, np.tile(price, 2), () if self.integer else OTHERWISE)
        if self.integer and outcome is Outcome.UNSETTLED:
            walked = self._by_walks(at, step, price)
            if walked is not None:
                return walked
            outcome, move = self._linear(at, step, np.tile(price, 2), OTHERWISE)
        if outcome is Outcome.INFEASIBLE:
            return None
        if outcome is not Outcome.SOLVED:  # neither a move nor a proof that there is none
            raise Unjudged("the solver does not settle whether a sensitive cell can be protected")
        if not self.integer or self._is_whole(move):
            return move
        whole = self._enlarged(move)
        if whole is None:
            whole = self._by_walks(at, step, price)
        if whole is None and self.seconds > 0 and (thorough or self.n <= self.tuning.around):
            whole = self._in_whole_numbers(at, step, np.tile(price, 2), move)
        return move if whole is None else whole

    def _enlarged(self, move: Array) -> Array | None:
        """A move in whole numbers along a fractional one, if there is room for it."""
        for factor in range(1, self.tuning.enlarged + 1):
            longer: Array = np.rint(factor * move)
            if self._is_whole(factor * move) and self._fits(longer):
                return longer
        return None

    def _by_walks(self, at: int, step: float, price: Array) -> Array | None:
        """A cheap move in whole numbers by local search; hidden variables are free."""
        if self.walks is None:
            self.walks = PricedMoves(self.rows, self.most[self.n :], self.most[: self.n])
        cost = np.where(price > 2 * price.min(initial=np.inf), price, 0.0)
        move = self.walks.cheapest(at, round(step), cost) if step == round(step) else None
        return None if move is None or not self._fits(move) else move.astype(float)

    def _linear(self, at: int, step: float, price: Array, otherwise: tuple[Options, ...]) -> tuple[Outcome, Array]:
        """The cheapest move in fractions, where the program is solved.

        Counted in steps, and prices in the dearest: amounts of money would be beyond what a solver can tell apart.
        """
        price = price if self.integer else price / float(price.max(initial=1))
        changed = np.flatnonzero(price != self.price)
        self.solver.change_costs(changed, price[changed])
        self.price = price
        unit = 1.0 if self.integer else max(abs(step), 1.0)
        if unit != self.unit:
            most = np.where(self.most / unit > self.tuning.far, np.inf, self.most / unit)
            self.solver.change_bounds(np.arange(2 * self.n), np.zeros(2 * self.n), most)
            self.unit = unit
        pair = np.array([at, self.n + at], np.int32)
        wanted = np.array([max(step, 0.0), max(-step, 0.0)]) / unit
        self.solver.change_bounds(pair, wanted, wanted)
        outcome = self._run(otherwise)
        x = self.solver.x * unit if outcome is Outcome.SOLVED else np.zeros(2 * self.n)
        self.solver.change_bounds(pair, np.zeros(2), self.most[pair] / unit)
        return outcome, np.asarray(x[: self.n] - x[self.n :])

    def _run(self, otherwise: tuple[Options, ...]) -> Outcome:
        """A large program of amounts is begun anew each time: from the last basis it takes thousands of steps."""
        if self.integer or self.rows.shape[0] <= self.tuning.large:
            return self.solver.run(otherwise)
        self.solver.forget()
        with self.solver.options(VERTEX):
            return self.solver.run(otherwise)

    def _in_whole_numbers(self, at: int, step: float, price: Array, move: Array) -> Array | None:
        """The cheapest among the variables that share an equation with those of a fractional move."""
        from scipy.sparse import csr_array, hstack

        deadline.check()
        rows = np.unique(self.rows.tocsc()[:, np.flatnonzero(np.abs(move) > self.tuning.slack)].indices)
        near = np.unique(self.rows[rows].indices)
        here = self.rows[:, near].tocsr()
        here = here[np.diff(here.indptr) > 0]
        both = np.concatenate([near, self.n + near])
        size = len(near)
        least, most = np.zeros(2 * size), self.most[both]
        place = int(np.searchsorted(near, at))
        for k, by in ((place, max(step, 0.0)), (size + place, max(-step, 0.0))):
            least[k] = most[k] = by
        right = np.zeros(here.shape[0])
        program = LinearProgram(csr_array(hstack([here, -here])), price[both], least, most, right, right)
        solver = Solver(UNSEEDED, program)
        solver.only_whole_numbers(2 * size)
        seconds = min(self.seconds, deadline.left())
        solver.set_options({"time_limit": seconds, "mip_rel_gap": self.tuning.whole_gap})
        began = time.monotonic()
        solver.run()
        self.seconds -= time.monotonic() - began
        if len(solver.x) != 2 * size:
            return None
        whole = np.zeros(self.n)
        whole[near] = np.rint(solver.x[:size] - solver.x[size:])
        return whole if whole[at] == step and self._fits(whole) else None  # what a solver that ran out of time holds

    def _fits(self, move: Array) -> bool:
        slack = self.tuning.slack
        within = (move <= self.most[: self.n] + slack) & (-move <= self.most[self.n :] + slack)
        return bool(within.all() and np.abs(self.rows @ move).max(initial=0) < slack)

    def _is_whole(self, move: Array) -> bool:
        return bool(np.abs(move - np.rint(move)).max(initial=0) < self.tuning.slack)
