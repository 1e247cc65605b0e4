"""One variable of many records drawn again, each given all others: compiled."""

from __future__ import annotations

import math

import numpy as np

from discreet.base.compiled import compiled
from discreet.information import Array
from discreet.population._random import uniform


@compiled
def redraw(
    codes: Array,
    visited: Array,
    variable: int,
    width: int,
    margins: Array,
    begins: Array,
    axes: Array,
    steps: Array,
    first: Array,
    excess: Array,
    weight: Array,
    state: Array,
) -> int:
    """Give every visited record a new code of one variable, with chance exp(-sum of weight times squared excess).

    ``margins``: the numbers of those that have the variable; ``axes`` their variables (-1 where there is none),
    ``begins`` where the cells of each begin in ``excess`` (fitted less measured count) and ``weight``; ``steps`` what a
    code adds to the number of a cell, the codes of variable j from ``first[j]``. Gives how many codes changed.
    """
    cost = np.empty(width)
    base = np.empty(len(margins), np.int64)
    own = first[variable]
    moved = 0
    for record in visited:
        before = codes[record, variable]
        cost[:] = 0.0
        for a in range(len(margins)):
            m = margins[a]
            at = begins[m]
            for q in range(axes.shape[1]):
                j = axes[m, q]
                if j >= 0 and j != variable:
                    at += steps[m, first[j] + codes[record, j]]
            base[a] = at
            excess[at + steps[m, own + before]] -= 1.0
            for k in range(width):
                cell = at + steps[m, own + k]
                cost[k] += weight[cell] * (2.0 * excess[cell] + 1.0)
        least = cost.min()
        total = 0.0
        for k in range(width):
            cost[k] = math.exp(least - cost[k])
            total += cost[k]
        left = uniform(state) * total
        after = 0
        while after < width - 1 and left >= cost[after]:
            left -= cost[after]
            after += 1
        codes[record, variable] = after
        moved += after != before
        for a in range(len(margins)):
            excess[base[a] + steps[margins[a], own + after]] += 1.0
    return moved
