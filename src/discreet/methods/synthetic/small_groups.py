"""Which large counts of three and more variables are measured: none that would break down a small group.

A count of three variables tells of the people of any two of its codes what the third is. So it is measured only where
every two of its codes have enough people. What is left of a line, when its measured counts are taken from the sum that
two variables give, is a count too, and must not be one of a small group either; then further counts are left out, the
smallest first. All is decided on noisy counts.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from discreet.base.annotations import Array, Floats
from discreet.methods.synthetic.crossing import Crossing

Level = tuple[int, tuple[str, ...]]
"""A variable by its number, at the codes of one of its levels."""


def crossed_level(crossing: Crossing, axis: int) -> Level:
    """The level at which a crossing has a variable."""
    return crossing.axes[axis], crossing.dimensions[axis].leaves


def of_large_groups(
    crossing: Crossing, goal: Floats, measured: Array, pairs: Mapping[tuple[Level, Level], Floats],
    every: Sequence[Crossing], least: float,
) -> Array:  # fmt: skip
    """Those of the measured cells that may be. ``pairs``: noisy counts of two variables; ``every``: all crossings."""
    goal, measured = goal.reshape(crossing.shape), measured.reshape(crossing.shape).copy()
    people = {}
    for a, b in itertools.combinations(range(crossing.order), 2):
        size = [length if k in (a, b) else 1 for k, length in enumerate(crossing.shape)]
        people[a, b] = people[b, a] = pairs[crossed_level(crossing, a), crossed_level(crossing, b)].reshape(size)
        measured &= people[a, b] >= least
    lines = [(axis, part) for axis in range(crossing.order) for part in _parts(crossing, axis, every)]
    while measured.any():
        before = measured.copy()
        for axis, part in lines:
            _leave_out(goal, measured, [people[axis, b] for b in range(crossing.order) if b != axis], axis, part, least)
        if (before == measured).all():
            break
    return np.asarray(measured.reshape(-1))


def _leave_out(goal: Floats, measured: Array, people: Sequence[Floats], axis: int, part: Array, least: float) -> None:
    """Of every line of some codes whose rest is of few people, the smallest measured cell is left out."""
    held = measured.take(part, axis)
    some = held.any(axis, keepdims=True)
    if not some.any():
        return
    light = np.zeros(some.shape, bool)
    for counts in people:
        rest = np.where(held, 0.0, counts.take(part, axis)).sum(axis, keepdims=True)
        light |= some & (rest > 0) & (rest < least)
    if light.any():
        smallest = np.where(held, goal.take(part, axis), np.inf).argmin(axis, keepdims=True)
        chosen = np.arange(len(part)).reshape([-1 if k == axis else 1 for k in range(goal.ndim)]) == smallest
        place = tuple(part if k == axis else slice(None) for k in range(goal.ndim))
        measured[place] = held & ~(chosen & light)


def _parts(crossing: Crossing, axis: int, every: Sequence[Crossing]) -> list[Array]:
    """Codes whose sum is measured at a coarser level: those of every group, then all of an axis."""
    number = crossing.groups[axis]
    found = []
    for other in every:
        if other.order == 1 and other.axes[0] == crossing.axes[axis] and other.size < crossing.shape[axis]:
            found += [np.unique(number[other.groups[0] == code]) for code in range(other.size)]
    return [part for part in (*found, np.arange(crossing.shape[axis])) if len(part) > 1]
