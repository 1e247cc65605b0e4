"""Which sums prove a bound: multipliers of the rows in small fractions, from the dual of a linear program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.base.annotations import Array
from discreet.linear.components import labels
from discreet.linear.exact_point import DIVISORS
from discreet.linear.program import SystemProgram
from discreet.linear.system import System

if TYPE_CHECKING:
    from scipy.sparse import csr_array

NEARBY = 1e-5  # how near a multiplier must be to a fraction


@dataclass(frozen=True, eq=False)
class BoundProof:
    """``variable = sum of amounts / divisor * the variables at``, for every point that fits the rows.

    With the ends of the bounds that the signs ask for it is a least (or greatest) value of the variable.
    """

    divisor: int
    at: Array
    amounts: Array


class BoundProofs:
    """BoundProofs for variables of one system; programs are kept from one to the next."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.open = np.flatnonzero(system.lower < system.upper)
        value = np.where(system.lower < system.upper, 0.0, system.lower)
        self.rhs = system.rhs - system.rows @ value
        self.rows: csr_array = system.rows[:, self.open].tocsr()
        self.row_label, self.column_label = labels(self.rows)
        self.programs: dict[int, tuple[SystemProgram, Array, Array]] = {}

    def prove(self, variable: int, side: int) -> BoundProof | None:
        """What proves the least (side 0) or greatest (1) value of a variable; None if no small fractions do.

        A variable with one value by its own bounds is its own proof.
        """
        system = self.system
        if not system.lower[variable] < system.upper[variable]:
            return BoundProof(1, np.array([variable]), np.ones(1))
        program, rows, columns = self._program(int(np.searchsorted(self.open, variable)))
        sign = 1.0 if side == 0 else -1.0
        cost = np.zeros(len(columns))
        cost[int(np.searchsorted(self.open[columns], variable))] = sign
        if program is None or program.minimum(cost) is None:
            return None
        prices = sign * program.solver.row_prices
        for divisor in DIVISORS:
            whole = np.rint(prices * divisor)
            if np.abs(whole - prices * divisor).max(initial=0) > NEARBY:
                continue
            amounts = -(system.rows[rows].T @ whole)
            amounts[variable] += divisor
            at = np.flatnonzero(amounts)
            ends = (system.lower if side == 0 else system.upper, system.upper if side == 0 else system.lower)
            if np.isfinite(np.where(amounts > 0, ends[0], ends[1])[at]).all():
                return BoundProof(divisor, at, amounts[at])
        return None

    def _program(self, column: int) -> tuple[SystemProgram | None, Array, Array]:
        name = int(self.column_label[column])
        if name not in self.programs:
            rows, columns = np.flatnonzero(self.row_label == name), np.flatnonzero(self.column_label == name)
            if not len(rows):
                return None, rows, columns
            part = self.rows[rows][:, columns].tocsr()
            part.sort_indices()
            at = self.open[columns]
            system = System(part, self.rhs[rows], self.system.lower[at], self.system.upper[at], False)
            self.programs[name] = SystemProgram(system), rows, columns
        return self.programs[name]
