"""The likely range of a sum of shown values, such as a reader's own group of categories: from the method alone.

The ends of likely ranges cannot be added up. Noise that is 0 nine times in ten leaves a range of one number, and ten
such numbers are all true only one time in three. What adds up is the variance of independent errors, and what is
certain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.base.annotations import Array, Floats

LEVEL = 0.9
"""The chance with which a likely range holds the true value, over the chances of the method."""
OWN_ENDS = -1  # of a cell whose own range is added end by end, as its error may go with those of others
SLACK = 1e-9


@dataclass(frozen=True, eq=False)
class SumErrors:
    """What the errors of cells add to the range of their sum. ``kinds`` has for each cell a row of ``rows``.

    A row is: how far the true value may lie below and above for reasons that go with each other (a bias); the square of
    how far it may lie to each side by chance; and how far below and above it may lie at most. ``once`` is added
    to what chance does, for the sum as a whole.
    """

    kinds: Array
    rows: Floats
    once: float = 0.0

    def range_of(self, cells: Array, values: Floats, ranges: tuple[Floats, Floats], whole: bool) -> tuple[float, float]:
        """The range that holds the true sum of some cells with a chance of 90 %; ``whole`` if it is a whole number.

        >>> rows = np.array([[0, 0, 10, 2, 2.0]])
        >>> errors = SumErrors(np.zeros(9, int), rows)
        >>> errors.range_of(np.arange(9), np.full(9, 5.0), (np.full(9, 5.0), np.full(9, 5.0)), True)
        (36.0, 54.0)
        """
        shown = float(values[cells].sum())
        if len(cells) == 1:
            return float(ranges[0][cells[0]]), float(ranges[1][cells[0]])
        own = cells[self.kinds[cells] == OWN_ENDS]
        below, above = float((values - ranges[0])[own].sum()), float((ranges[1] - values)[own].sum())
        sums = self.rows[self.kinds[cells[self.kinds[cells] != OWN_ENDS]]].sum(axis=0)
        chance = math.sqrt(sums[2]) + self.once if sums[2] else 0.0
        low = shown - below - min(sums[0] + chance, sums[3])
        high = shown + above + min(sums[1] + chance, sums[4])
        if whole and math.isfinite(high):
            low, high = math.ceil(low - SLACK), math.floor(high + SLACK)
        return max(float(low), 0.0), float(high)


def chance_square(variances: Floats, widths: Floats) -> Floats:
    """The square of how far a sum of independent errors may be away, by cell: by Chebyshev or by Hoeffding.

    Both hold whatever the true values are. Which one is taken depends on the method and not on a table: the one that is
    less for the cell where it is greatest.

    >>> chance_square(np.array([2 / 3]), np.array([3.0])).round(2).tolist()
    [6.67]
    >>> chance_square(np.array([6.0]), np.array([5.0])).round(2).tolist()
    [37.45]
    """
    chebyshev = variances / (1 - LEVEL)
    hoeffding = widths**2 * math.log(2 / (1 - LEVEL)) / 2
    return np.asarray(chebyshev if chebyshev.max(initial=0) <= hoeffding.max(initial=0) else hoeffding)
