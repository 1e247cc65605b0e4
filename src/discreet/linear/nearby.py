"""Single variables of a large system settled by a small part of it: the rows around each.

Where all variables of those rows may move and other rows are left out, one value is one value of the whole system, too.
Where only variables of which every row is among them move, or the nearest variables whatever their rows are, and all
others stay at a known solution, two values are two values of the whole. Either way the answer is certain; where neither
says anything it takes more rows. In whole numbers two values may be shown in fractions alone: of such a variable no
program over the whole system will say more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array
from discreet.linear.pushed_points import two_values
from discreet.linear.system import System


@dataclass(frozen=True, eq=False)
class Seen:
    """Of each target the least and greatest value over solutions that are sure, and over those in fractions, too."""

    least: Array
    most: Array
    low: Array
    high: Array


Look = Callable[[System, Array], Seen]


class Nearby:
    """What parts of a system with a known solution say of single variables.

    >>> from scipy.sparse import csr_array
    >>> rows = csr_array(np.eye(3, 6) + np.eye(3, 6, 1) + np.eye(3, 6, 2))
    >>> system = System(rows, np.full(3, 3.0), np.zeros(6), np.full(6, 3.0), True, np.ones(6))
    >>> def look(part, targets):
    ...     return Seen(*[np.ones(len(targets)), 2 * np.ones(len(targets))] * 2)
    >>> nearby = Nearby(system, look)
    >>> nearby.settle(np.array([0]), 2).tolist(), float(nearby.low[0]), float(nearby.high[0])
    ([], 1.0, 2.0)

    ``low`` and ``high`` are what is sure of each variable, ``far_low`` and ``far_high`` the extremes in fractions.
    """

    def __init__(self, system: System, look: Look) -> None:
        self.system = system
        self.look = look
        self.low = np.full(system.size, np.nan)
        self.high = np.full(system.size, np.nan)
        self.far_low = np.full(system.size, np.inf)
        self.far_high = np.full(system.size, -np.inf)
        self.rows_of = np.diff(system.columns.indptr)

    def settle(self, targets: Array, size: int) -> Array:
        """Targets that are still open once the nearest rows of each, about so many, were looked at."""
        waiting = np.zeros(self.system.size, bool)
        waiting[targets] = True
        for k in targets.tolist():
            if not waiting[k]:
                continue
            deadline.check()
            rows = self._rows_around(k, size)
            touched, times = np.unique(self.system.rows[rows].indices, return_counts=True)
            self._two_values(touched[times == self.rows_of[touched]], waiting)
            if waiting[k]:  # a row of very many variables is hardly ever among them whole
                self._two_values(self.system.around(k, size), waiting)
            if waiting[k]:
                self._one_value(rows, touched, waiting)
        return np.flatnonzero(waiting)

    def apart(self, targets: Array) -> Array:
        """Of targets those that have two values in fractions, if not in whole numbers, for certain."""
        return targets[two_values(self.far_low[targets], self.far_high[targets])]

    def _two_values(self, free: Array, waiting: Array) -> None:
        """Settle targets that have two values while all but these variables stay where they are."""
        system = self.system
        asked = np.flatnonzero(waiting[free])
        if not len(asked):
            return
        assert system.point is not None
        part = system.with_others_at(free, system.point, system.lower[free], system.upper[free])
        part = System(part.rows, part.rhs, part.lower, part.upper, system.integer, system.point[free])
        seen = self.look(part, asked)
        at = free[asked]
        self.far_low[at] = np.minimum(self.far_low[at], seen.low)
        self.far_high[at] = np.maximum(self.far_high[at], seen.high)
        moved = two_values(seen.least, seen.most)
        self._note(free[asked[moved]], seen.least[moved], seen.most[moved], waiting)

    def _one_value(self, rows: Array, touched: Array, waiting: Array) -> None:
        """Settle targets that have one value by these rows alone."""
        system = self.system
        part_rows = system.rows[rows][:, touched].tocsr()
        part_rows.sort_indices()
        assert system.point is not None
        bounds = system.lower[touched], system.upper[touched]
        part = System(part_rows, system.rhs[rows], *bounds, system.integer, system.point[touched])
        asked = np.flatnonzero(waiting[touched])
        seen = self.look(part, asked)
        alone = ~two_values(seen.low, seen.high)
        self._note(touched[asked[alone]], seen.low[alone], seen.low[alone], waiting)

    def _note(self, variables: Array, low: Array, high: Array, waiting: Array) -> None:
        self.low[variables] = low
        self.high[variables] = high
        waiting[variables] = False

    def _rows_around(self, variable: int, size: int) -> Array:
        """About so many rows nearest to a variable, in order: its own, those of its neighbours, and so on."""
        rows, columns = self.system.rows, self.system.columns
        seen = front = np.unique(columns[:, [variable]].indices)
        while len(seen) < size and len(front):
            near = np.setdiff1d(columns[:, np.unique(rows[front].indices)].indices, seen)
            front = near[: size - len(seen)]
            seen = np.union1d(seen, front)
        return np.asarray(seen)
