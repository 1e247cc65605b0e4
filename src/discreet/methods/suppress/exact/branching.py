"""Which cell a node of the tree decides next: what deciding each brought so far, and which have closed nodes lately."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
LAST = 4  # choices before a node that are thought to have closed it
GROWING = 1.05  # how much more each closed node counts than the one before
HUGE = 1e100  # a count to begin again from one


class Gains:
    """What deciding a cell brought so far, per unit, published or hidden."""

    def __init__(self, n: int) -> None:
        self.total, self.count = np.zeros((2, n)), np.zeros((2, n))

    def note(self, cell: int, value: int, gain: float, change: float) -> None:
        """One more trial."""
        self.total[value, cell] += gain / max(change, 1e-6)
        self.count[value, cell] += 1

    def guess(self, cells: Array, value: int) -> Array:
        """The mean gain per unit; of all cells where nothing is known."""
        known = self.count[value] > 0
        usual = self.total[value, known].sum() / self.count[value, known].sum() if known.any() else 1.0
        count = self.count[value, cells]
        return np.where(count > 0, self.total[value, cells] / np.maximum(count, 1), usual)


class Blame:
    """Which cells' decisions closed nodes, the latest counting most.

    Where all ways cost the same until none is left, the programme's bounds tell nothing beforehand. What closed one
    node often closes others, as solvers for satisfiability know [MMZZM01]_.
    """

    def __init__(self, n: int) -> None:
        self.total, self.worth = np.zeros(n), 1.0

    def closed(self, path: Sequence[int]) -> None:
        """One more node, reached by these choices."""
        self.worth *= GROWING
        if self.worth > HUGE:
            self.total, self.worth = self.total / self.worth, 1.0
        for cell in path[-LAST:]:
            self.total[cell] += self.worth

    def share(self, cells: Array) -> Array:
        """Between 0 and 1, for the cell to blame most."""
        return np.asarray(self.total[cells] / max(float(self.total.max(initial=0)), self.worth))
