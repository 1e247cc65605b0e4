"""The compiled loops of cutting: inequalities made stronger for a pattern, and known moves tried on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.base.compiled import compiled


@compiled(steps=lambda start, cell, *rest: 8 * len(cell))
def strongest(start: Any, cell: Any, coefficient: Any, x: Any, least: Any, order: Any, taken: Any, slack: Any) -> None:
    """For each inequality its cells by how much a pattern hides them, how many to take, and the slack of what follows.

    Inequality r has the entries ``start[r]`` to ``start[r + 1]`` of cell and coefficient; ``order`` is filled with
    places within them. ``least``: what must be left to bring after the cells taken, how much each of them is hidden,
    and what one more must gain.
    """
    least_left, least_hidden, least_gain = least
    for r in range(len(start) - 1):
        a, b = start[r], start[r + 1]
        value = x[cell[a:b]]
        by = np.argsort(-value, kind="mergesort")
        order[a:b] = by
        plain = -1.0
        for j in range(b - a):
            plain += coefficient[a + j] * value[j]
        best, lowest, part = 0, plain, 0.0
        for k in range(1, b - a):
            part += coefficient[a + by[k - 1]]
            rest = 1 - part
            if rest < least_left or value[by[k - 1]] < least_hidden:
                break
            total = -1.0
            for j in range(k, b - a):
                total += min(coefficient[a + by[j]] / rest, 1.0) * value[by[j]]
                if total > lowest:
                    break
            if total < lowest - least_gain:
                best, lowest = k, total
        taken[r], slack[r] = best, lowest


@compiled(steps=lambda start, cell, *rest: len(cell))
def moves_fit(start: Any, cell: Any, by: Any, down: Any, up: Any, x: Any, slack: Any, possible: Any) -> None:
    """Whether the moves known for each aim, entries ``start[k]`` to ``start[k + 1]``, are possible under a pattern."""
    for k in range(len(start) - 1):
        possible[k] = start[k + 1] > start[k]
        for j in range(start[k], start[k + 1]):
            i = cell[j]
            room = up[i] if by[j] > 0 else down[i]
            if x[i] == 0 or abs(by[j]) > room * x[i] + slack[k]:
                possible[k] = x[i] == 0 and abs(by[j]) <= slack[k]
                if not possible[k]:
                    break
