"""Which large counts of three and more variables are measured: none that would break down a small group.

A count of three variables tells of the people of any two of its codes what the third is. So it is measured only where
every two of its codes have enough people. What is left of a line, when its measured counts are taken from the sum that
two variables give, is a count too, and must not be one of a small group either, nor may the last count of a line that
follows lead to one through other lines. Then further counts are left out, of the smallest codes first. All is decided
on noisy counts.
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
    crossing: Crossing, measured: Array, pairs: Mapping[tuple[Level, Level], Floats], every: Sequence[Crossing],
    least: float,
) -> Array:  # fmt: skip
    """Those of the measured cells that may be. ``pairs``: noisy counts of two variables; ``every``: all crossings."""
    measured = measured.reshape(crossing.shape).copy()
    people = {}
    small, known = np.zeros(crossing.shape, bool), np.zeros(crossing.shape, bool)
    for a, b in itertools.combinations(range(crossing.order), 2):
        size = [length if k in (a, b) else 1 for k, length in enumerate(crossing.shape)]
        people[a, b] = people[b, a] = pairs[crossed_level(crossing, a), crossed_level(crossing, b)].reshape(size)
        small |= people[a, b] < least
        known |= people[a, b] <= 0
    lines = [(axis, part) for axis in range(crossing.order) for part in _parts(crossing, axis, every)]
    anyway = _following(known, np.zeros_like(small), lines)
    secret = small & ~anyway
    measured &= ~small
    while measured.any():
        told = _following(anyway | measured, secret, lines)
        out = np.zeros_like(told)
        for axis, part in lines:
            out |= _left_out(told & ~out, anyway, secret | out, people, axis, part, least)
        if not out.any():
            break
        measured &= ~out
        secret |= out
    return np.asarray(measured.reshape(-1))


def _following(known: Array, secret: Array, lines: Sequence[tuple[int, Array]]) -> Array:
    """Known counts, and one after the other those that are all that is left of a line, but for secret ones."""
    known = known.copy()
    while True:
        before = int(known.sum())
        for axis, part in lines:
            gone = ~known.take(part, axis)
            last = gone & (gone.sum(axis, keepdims=True) == 1)
            known[_along(part, axis, known.ndim)] |= last & ~secret.take(part, axis)
        if int(known.sum()) == before:
            return known


def _left_out(
    told: Array, anyway: Array, secret: Array, people: Mapping[tuple[int, int], Floats], axis: int, part: Array,
    least: float,
) -> Array:  # fmt: skip
    """Of every line of some codes whose rest is secret or of few people, a count that is told: of the smallest code.

    So it is mostly the same code in all lines, and what is left out hides each other.
    """
    held = told.take(part, axis)
    gone = ~held
    telling = (held & ~anyway.take(part, axis)).any(axis, keepdims=True)
    light = (gone & secret.take(part, axis)).any(axis, keepdims=True) & (gone.sum(axis, keepdims=True) == 1)
    others = [b for b in range(told.ndim) if b != axis]
    for b in others:
        rest = np.where(held, 0.0, people[axis, b].take(part, axis)).sum(axis, keepdims=True)
        light |= (rest > 0) & (rest < least)
    may_go = held & ~anyway.take(part, axis)
    size = people[axis, others[0]].sum(others[0], keepdims=True).take(part, axis)
    smallest = np.where(may_go, size, np.inf).argmin(axis, keepdims=True)
    chosen = np.arange(len(part)).reshape([-1 if k == axis else 1 for k in range(told.ndim)]) == smallest
    out = np.zeros(told.shape, bool)
    out[_along(part, axis, told.ndim)] = may_go & chosen & light & telling
    return out


def _along(part: Array, axis: int, order: int) -> tuple[slice | Array, ...]:
    """Where some codes of an axis stand."""
    return tuple(part if k == axis else slice(None) for k in range(order))


def _parts(crossing: Crossing, axis: int, every: Sequence[Crossing]) -> list[Array]:
    """Codes whose sum is measured at a coarser level: those of every group, then all of an axis."""
    number = crossing.groups[axis]
    found = []
    for other in every:
        if other.order == 1 and other.axes[0] == crossing.axes[axis] and other.size < crossing.shape[axis]:
            found += [np.unique(number[other.groups[0] == code]) for code in range(other.size)]
    return [part for part in (*found, np.arange(crossing.shape[axis])) if len(part) > 1]
