"""Small populations: who they are, and what is published of them, as the sampler reads it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.base.annotations import Array, Floats
from discreet.data.dimension import Dimension
from discreet.policy.attacks.answers import UNKNOWN, AllAnswers, Frame, Truth
from discreet.policy.attacks.two_way import TwoWayModel

MOST_BLOCKS = 20_000  # parts of tables that are read for one population


@dataclass(frozen=True)
class SmallPopulation:
    """People with one category of a variable, or of several."""

    codes: tuple[tuple[int, int], ...]
    """Variable by number, and the position of its code."""
    name: str
    people: int = field(repr=False)
    """How many there are (confidential)."""


def small_populations(truth: Truth, *, limit: int, together: int = 1, most: int = 1000) -> list[SmallPopulation]:
    """Categories, and with ``together=2`` pairs of them, of 1 to ``limit`` - 1 people: the smallest first."""
    found = []
    for number in range(1, together + 1):
        for names in itertools.combinations(range(len(truth.dimensions)), number):
            counts = np.asarray(truth.frame(names))
            for at in np.argwhere((counts > 0) & (counts < limit)).tolist():
                codes = tuple(zip(names, at, strict=True))
                if any(truth.dimensions[k].codes[c] == truth.dimensions[k].total for k, c in codes):
                    continue
                words = " and ".join(f"{truth.dimensions[k].name} = {truth.dimensions[k].codes[c]}" for k, c in codes)
                found.append(SmallPopulation(codes, words, int(counts[tuple(at)])))
    found.sort(key=lambda one: (len(one.codes), one.people))
    return found[:most]


@dataclass(frozen=True, eq=False)
class Partition:
    """Codes of one variable that part its allowed leaves, and which of them a leaf belongs to."""

    codes: Array
    of_leaf: Array


@dataclass(frozen=True, eq=False)
class CellsOf:
    """What is published of a population, block by block, and what is believed of its records beforehand."""

    leaves: tuple[Array, ...]
    """Of every variable the leaves that a record of the population can have."""
    offset: Array
    step: Array
    shown: Array
    blocks: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    """Of every block its variables and its shape."""
    prior: Floats
    total: int
    """The number of people as shown; ``UNKNOWN`` if it is not."""


def published_cells(answers: AllAnswers, model: TwoWayModel, population: SmallPopulation) -> CellsOf | None:
    """All published cells that hold people of the population alone; None where there are too many combinations."""
    if model.expected is None:
        return None
    fixed = dict(population.codes)
    leaves = tuple(_leaves(d, fixed.get(k)) for k, d in enumerate(answers.dimensions))
    partitions = [_partitions(d, leaves[k], fixed.get(k)) for k, d in enumerate(answers.dimensions)]
    blocks = list(itertools.islice(_blocks(answers, partitions, fixed), MOST_BLOCKS))
    widest = max(len(one) for one in leaves)
    step = np.zeros((len(blocks), len(leaves), widest), np.int32)
    offset = np.zeros(len(blocks), np.int64)
    shown = []
    shapes = []
    at = 0
    for number, (frame, chosen) in enumerate(blocks):
        values = answers.frames[frame][np.ix_(*(one.codes for one in chosen))] if frame else answers.frames[frame]
        stride = 1
        for k, one in reversed(list(zip(frame, chosen, strict=True))):
            step[number, k, : len(leaves[k])] = one.of_leaf * stride
            stride *= len(one.codes)
        offset[number] = at
        shown.append(np.asarray(values).ravel())
        shapes.append((frame, tuple(len(one.codes) for one in chosen)))
        at += stride
    prior = model.expected[np.ix_(*leaves)]
    total = answers.shown(tuple(fixed), tuple(fixed.values()))
    numbers = np.concatenate(shown) if shown else np.zeros(0, np.int64)
    return CellsOf(leaves, offset, step, numbers, tuple(shapes), prior, total)


def _leaves(dimension: Dimension, code: int | None) -> Array:
    if code is None:
        return np.arange(len(dimension.leaves))
    inside = dimension.leaves_of(dimension.codes[code])
    return np.array([dimension.leaf_position[leaf] for leaf in dimension.leaves if leaf in inside])


def _partitions(dimension: Dimension, leaves: Array, code: int | None) -> list[Partition]:
    """Ways to part the allowed leaves by published codes; the population's own code first, where there is one."""
    every: list[tuple[str, ...]] = [] if code is None else [(dimension.codes[code],)]
    for name, codes in dimension.levels.items():
        if name == "total" or (code is not None and len(leaves) == 1):
            continue
        allowed = {dimension.leaves[k] for k in leaves}
        inside = tuple(one for one in codes if set(dimension.leaves_of(one)) <= allowed)
        if inside and sum(len(dimension.leaves_of(one)) for one in inside) == len(allowed) and inside not in every:
            every.append(inside)
    out = []
    for codes in every:
        of_leaf = np.zeros(len(leaves), np.int64)
        for number, one in enumerate(codes):
            held = dimension.leaves_of(one)
            of_leaf[[position for position, k in enumerate(leaves) if dimension.leaves[k] in held]] = number
        out.append(Partition(np.array([dimension.position[one] for one in codes]), of_leaf))
    return out


def _blocks(
    answers: AllAnswers, partitions: Sequence[list[Partition]], fixed: dict[int, int]
) -> Iterator[tuple[Frame, tuple[Partition, ...]]]:
    for frame, values in sorted(answers.frames.items(), key=lambda item: len(item[0])):
        if not set(fixed) <= set(frame):
            continue
        for chosen in itertools.product(*(partitions[k] for k in frame)):
            picked = values[np.ix_(*(one.codes for one in chosen))] if frame else values
            if (picked != UNKNOWN).any():
                yield frame, chosen


def combinations_of(cells: CellsOf) -> int:
    """How many different records there could be."""
    return math.prod(len(one) for one in cells.leaves)
