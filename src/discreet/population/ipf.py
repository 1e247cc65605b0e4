"""Iterative proportional fitting: the table nearest to a given one that has given margins."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from discreet.base.arguments import checked
from discreet.errors import DiscreetWarning, InputError
from discreet.information import Array, Floats, read_values

Margin: TypeAlias = tuple[tuple[int, ...], Any]
"""The axes that are kept, in rising order, and the sums over all others: an array with one axis for each kept."""


@dataclass(frozen=True, eq=False)
class SumsOverAxes:
    """A margin of an array: its sums over some axes, kept as axes of length 1, and what they are to be."""

    over: tuple[int, ...]
    goal: Floats

    def sums(self, values: Floats) -> Floats:
        """What the sums are now."""
        current: Floats = values.sum(axis=self.over, keepdims=True)
        return current

    def spread(self, ratio: Floats) -> Floats:
        """A number a sum as one that each cell of the array can be multiplied by."""
        return ratio


@dataclass(frozen=True, eq=False)
class SumsByLabel:
    """A margin of a list of cells: the sums of those that have one label, 0, 1, ..., and what they are to be."""

    label: Array
    goal: Floats

    def sums(self, values: Floats) -> Floats:
        """What the sums are now."""
        return np.bincount(self.label, weights=values, minlength=self.goal.size).astype(np.float64)

    def spread(self, ratio: Floats) -> Floats:
        """A number a sum as one for each cell of the list."""
        return ratio[self.label]


def scale_in_turn(
    values: Floats, margins: Sequence[SumsOverAxes | SumsByLabel], *, tolerance: float, iterations: int
) -> tuple[float, int]:
    """Scale ``values`` (in place) to each margin in turn; how far the last round was off, as a share, and the rounds.

    With tolerance 0 it ends when nothing changes any more. What the margins ask for is not looked at; ``ipf`` does.
    """
    total = float(margins[0].goal.sum())
    gap, turn = math.inf, 0
    while gap > tolerance and turn < iterations:
        gap = 0.0  # the largest deviation met on the way: what is left after the round is less
        for margin in margins:
            sums = margin.sums(values)
            gap = max(gap, float(np.abs(sums - margin.goal).max()) / total)
            values *= margin.spread(np.divide(margin.goal, sums, out=np.zeros_like(margin.goal), where=sums > 0))
        turn += 1
    return gap, turn


@dataclass(frozen=True, eq=False)
class Fitted:
    """A table with the margins asked for; ``gap`` is the largest deviation of a margin, as a share of the total.

    >>> fit = ipf([[1, 1], [1, 1]], [((0,), [3, 1]), ((1,), [2, 2])])
    >>> fit.values.tolist(), fit.converged
    ([[1.5, 1.5], [0.5, 0.5]], True)
    """

    values: Floats
    iterations: int
    gap: float
    converged: bool


@checked
def ipf(start: Any, margins: Sequence[Margin], *, tolerance: float = 1e-9, iterations: int = 1000) -> Fitted:
    r"""Scale ``start`` to each margin in turn until all are met: the table with those margins that minimises
    :math:`\sum_i x_i \log (x_i/s_i)`. Zeros of ``start`` stay zero, which is how structural zeros are kept.

    Deming and Stephan (1940). The margins must agree on what they share; a margin that is positive where ``start`` is
    all zero cannot be met and is an error. A fit that has not converged gives a :class:`DiscreetWarning`.

    >>> ipf([[1, 1], [1, 1]], [((0,), [6, 4]), ((1,), [5, 5])]).values
    array([[3., 3.],
           [2., 2.]])
    """
    values = read_values(start, "the start table").copy()
    if iterations < 1 or not 0 < tolerance < 1:
        raise InputError("ipf needs one iteration or more and a tolerance between 0 and 1")
    goals = [_goal(values, axes, target) for axes, target in margins]
    if not goals:
        return Fitted(values, 0, 0.0, True)
    total = float(goals[0].goal.sum())
    if any(abs(float(margin.goal.sum()) - total) > 1e-6 * max(total, 1.0) for margin in goals):
        raise InputError("the margins do not have one and the same total: scale them to one before fitting")
    if total <= 0:
        return Fitted(np.zeros_like(values), 0, 0.0, True)
    gap, turn = scale_in_turn(values, goals, tolerance=tolerance, iterations=iterations)
    if gap > tolerance:
        warnings.warn(
            f"iterative proportional fitting is {gap:.1e} of the total away from its margins after {turn:,} rounds: "
            "allow more iterations or a larger tolerance, drop terms, or look for margins that contradict each other "
            "or the structural zeros",
            DiscreetWarning,
            stacklevel=2,
        )
    return Fitted(values, turn, gap, gap <= tolerance)


def _goal(values: Floats, axes: tuple[int, ...], target: Any) -> SumsOverAxes:
    """A margin, checked, and shaped to be divided by the sums."""
    if tuple(sorted(set(axes))) != tuple(axes) or not all(0 <= a < values.ndim for a in axes):
        raise InputError(f"a margin names axes {axes}: give distinct axes in rising order that the table has")
    goal: Array = read_values(target, "a margin")
    kept = tuple(values.shape[a] for a in axes)
    if goal.shape != kept:
        raise InputError(f"the margin over axes {axes} has shape {goal.shape}: it must be {kept}")
    rest = tuple(a for a in range(values.ndim) if a not in axes)
    goal = np.expand_dims(goal, rest)
    if np.any((goal > 0) & (values.sum(axis=rest, keepdims=True) <= 0)):
        raise InputError(
            f"the margin over axes {axes} is positive where the start table is all zero: no scaling can meet it; "
            "start from positive cells there or drop structural zeros"
        )
    return SumsOverAxes(rest, goal)
