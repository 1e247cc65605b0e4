"""What rules on magnitudes look at: contributions by size, the total of a cell, the number of its contributors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import InputError
from discreet.rules.base import Rule
from discreet.rules.notation import rule_text
from discreet.tables.table import Table

MULTIPLICITY, TOTAL = "multiplicity", "total"


@dataclass(frozen=True)
class Concentration:
    """What the rules look at: contributions by size with their weights, the cell's total, the contributors' number.

    ``target`` is the largest contribution whose owner wants protection: the largest of all unless there are waivers.
    """

    size: Array  # cells x top, 0 where there are fewer
    weight: Array
    total: Array
    count: Array
    target: Array
    protected: Array  # cells with at least one contributor who wants protection

    def largest(self, n: int, weights: str) -> Array:
        """Sum of the n largest contributions; with weights, x1 counts w1 times, then x2, until n are together."""
        if weights == TOTAL:
            return np.asarray(self.size[:, :n].sum(axis=1))
        before = np.cumsum(self.weight, axis=1) - self.weight
        times = np.clip(n - before, 0, self.weight)
        return np.asarray((times * self.size).sum(axis=1))

    def others(self, m: int, weights: str) -> Array:
        """Sum of the m largest contributions other than one unit of the target's size."""
        weight = np.where(self.size > 0, 1.0, 0.0) if weights == TOTAL else self.weight.copy()
        same = np.isclose(self.size, self.target[:, None]) & (weight > 0)
        rows = np.flatnonzero(same.any(axis=1))  # elsewhere the target is smaller than all that were kept
        rank = np.argmax(same[rows], axis=1)
        weight[rows, rank] = np.maximum(weight[rows, rank] - 1, 0)
        before = np.cumsum(weight, axis=1) - weight
        return np.asarray((np.clip(m - before, 0, weight) * self.size).sum(axis=1))


def concentration(table: Table, needed: int, who: str, waived: Table | None = None) -> Concentration:
    """Contributions of a table, at least ``needed`` of each cell."""
    contributions = table.contributions
    if contributions.top < needed and bool((contributions.count > contributions.top).any()):
        raise InputError(f"{who} looks at the {needed} largest contributions; tabulate(..., top={needed}) keeps them")
    size = np.nan_to_num(np.abs(contributions.value))
    weight = np.nan_to_num(contributions.weight) * (size > 0)
    total = np.abs(table.value.astype(float))
    target, protected = size[:, 0] if contributions.top else np.zeros(len(table)), contributions.count > 0
    if waived is not None:
        if waived.layout != table.layout:
            raise InputError("waivers: the table of those who want protection must have the same cells")
        rest = waived.contributions
        target, protected = np.nan_to_num(np.abs(rest.value[:, 0])), rest.count > 0
    return Concentration(size, weight, total, contributions.count, target, protected)


class OfContributions(Rule):
    """A rule that can be told whose contributions need protection."""

    def judge(self, table: Table, waived: Table | None) -> Array:
        """The cells of ``table`` that are sensitive, of those who are in ``waived`` alone if it is given.

        >>> import pandas as pd
        >>> from discreet import PQ, Microdata, PPercent, tabulate
        >>> firms = pd.DataFrame({"area": ["N", "N", "N", "S", "S"], "turnover": [90, 5, 3, 40, 60]})
        >>> data = Microdata.of(firms, dimensions=["area"], magnitudes=["turnover"])
        >>> table = tabulate(data, "area", value="turnover")
        >>> PQ(10, q=50).judge(table, None).tolist()
        [False, True, True]
        """
        raise NotImplementedError

    def room(self, table: Table, waived: Table | None) -> Array:
        """How far from its value a sensitive cell must be able to lie, on either side.

        >>> import pandas as pd
        >>> from discreet import PQ, Microdata, PPercent, tabulate
        >>> firms = pd.DataFrame({"area": ["N", "N", "N", "S", "S"], "turnover": [90, 5, 3, 40, 60]})
        >>> data = Microdata.of(firms, dimensions=["area"], magnitudes=["turnover"])
        >>> table = tabulate(data, "area", value="turnover")
        >>> PQ(10, q=50).room(table, None).tolist()
        [0.0, 15.0, 12.0]
        """
        return np.zeros(len(table))

    def levels(self, table: Table) -> tuple[Array, Array]:
        """How far below and above its value an intruder's estimate of each cell must be able to lie.

        >>> import pandas as pd
        >>> from discreet import PQ, Microdata, PPercent, tabulate
        >>> firms = pd.DataFrame({"area": ["N", "N", "N", "S", "S"], "turnover": [90, 5, 3, 40, 60]})
        >>> data = Microdata.of(firms, dimensions=["area"], magnitudes=["turnover"])
        >>> table = tabulate(data, "area", value="turnover")
        >>> below, above = PPercent(10).levels(table)
        >>> above.tolist()
        [0.0, 6.0, 6.0]
        """
        return both_sides(self.room(table, None), table)

    def __call__(self, table: Table) -> Array:
        return self.judge(table, None)

    def _check_weights(self) -> None:
        if (weights := getattr(self, "weights", MULTIPLICITY)) not in (MULTIPLICITY, TOTAL):
            raise InputError(f"weights is {MULTIPLICITY!r} or {TOTAL!r}, not {weights!r}")

    __repr__ = rule_text


def both_sides(need: Array, table: Table) -> tuple[Array, Array]:
    """The same below and above, but nothing below a cell that is zero."""
    return np.where(table.value == 0, 0, need), need
