"""Compiled loop over all whole-number solutions of a small system."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.base.compiled import compiled


def _steps(rows: Any, rhs: Any, lower: Any, upper: Any, most: int, nodes: int) -> float:
    """At most all whole points within the bounds are tried, and a row for each."""
    points = float(np.prod(upper - lower + 1.0))
    return min(nodes, points) * float(rows.size)


@compiled(steps=_steps)
def count_out(rows: Any, rhs: Any, lower: Any, upper: Any, most: int, nodes: int) -> Any:
    """All whole x within bounds with ``rows @ x == rhs``, at most ``most`` + 1 of them, variable after variable.

    What the variables still to come can add to a row bounds the next one from both sides. Gives the solutions and
    whether the search ended before ``nodes`` steps were up.
    """
    m, n = rows.shape
    least, greatest = np.zeros((n + 1, m)), np.zeros((n + 1, m))
    for i in range(n - 1, -1, -1):
        for c in range(m):
            a, b = rows[c, i] * lower[i], rows[c, i] * upper[i]
            least[i, c] = least[i + 1, c] + min(a, b)
            greatest[i, c] = greatest[i + 1, c] + max(a, b)
    out = np.zeros((most + 1, n))
    x, last = np.zeros(n), np.zeros(n)
    left = rhs.copy()
    i, number, fresh = 0, 0, True
    while i >= 0 and number <= most and nodes > 0:
        nodes -= 1
        if i == n:
            out[number] = x
            number += 1
            i, fresh = i - 1, False
            continue
        if fresh:
            low, high = lower[i], upper[i]
            for c in range(m):
                a = rows[c, i]
                if a != 0:
                    one, two = (left[c] - least[i + 1, c]) / a, (left[c] - greatest[i + 1, c]) / a
                    low, high = max(low, min(one, two)), min(high, max(one, two))
            value, last[i] = np.ceil(low - 1e-9), np.floor(high + 1e-9)
        else:
            value = x[i] + 1
            for c in range(m):
                left[c] += rows[c, i] * x[i]
        if value > last[i]:
            x[i] = 0
            i, fresh = i - 1, False
            continue
        x[i] = value
        for c in range(m):
            left[c] -= rows[c, i] * value
        i, fresh = i + 1, True
    return out[:number], nodes > 0
