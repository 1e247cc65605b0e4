"""Cells that tell of one target: somebody of whom all is known but one attribute, which is one of two categories.

Of everybody else only matters which of the target's attributes they share, and whether they have the one category, the
other or neither. So shadow data of a target are numbers of people in a few hundred classes, and thousands are drawn.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from discreet.base.annotations import Array, Floats
from discreet.methods.keys import mix, unit_interval
from discreet.policy.attacks.answers import UNKNOWN, AllAnswers
from discreet.policy.attacks.mechanism import Mechanism

MOST_SETS = 60  # sets of known attributes that are asked about
KINDS = 3  # of a cell: with the one category, with the other, with any


@dataclass(frozen=True)
class KnownTarget:
    """Leaves of a person by variable, the variable that is not known, and the two leaves it may be."""

    leaves: tuple[int, ...]
    unknown: int
    two: tuple[int, int]


@dataclass(frozen=True, eq=False)
class TargetCells:
    """For every set of known attributes three cells: with the first category, with the second, with any."""

    sets: tuple[tuple[int, ...], ...]
    shown: Array  # set, kind -> what the policy answers
    expected: Floats  # class of people (mask of shared attributes, category) -> how many others are expected
    holds: Array  # cell (set x kind), class -> whether the cell holds the class
    target: Array  # which of the two, cell -> whether it holds the target

    @classmethod
    def of(cls, answers: AllAnswers, expected: Floats, target: KnownTarget) -> TargetCells:
        """The cells that the policy answers, all three of a set or none."""
        known = [k for k in range(len(target.leaves)) if k != target.unknown]
        sets: list[tuple[int, ...]] = []
        shown = []
        for number in range(len(known) + 1):
            for chosen in itertools.combinations(known, number):
                if len(sets) == MOST_SETS or any(_read(answers, target, chosen, kind) < 0 for kind in range(KINDS)):
                    continue
                sets.append(chosen)
                shown.append([_read(answers, target, chosen, kind) for kind in range(KINDS)])
        classes = _classes(expected, target, known)
        holds, own = _memberships(sets, known)
        return cls(tuple(sets), np.array(shown).reshape(-1, KINDS), classes, holds, own)

    @property
    def sizes(self) -> list[int]:
        """The number of variables of every cell."""
        return [len(chosen) + (kind < 2) for chosen in self.sets for kind in range(KINDS)]

    def shadows(self, number: int, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Array, Array]:
        """Answers of shadow data (data, set, kind), and which of the two categories the target has in each."""
        second = rng.random(number) < 0.5
        people = rng.poisson(np.maximum(self.expected, 0.0), size=(number, self.expected.size))
        own = self.target[second.astype(int)]
        counts = people @ self.holds.T.astype(np.int64) + own
        keys = np.where(people > 0, rng.integers(1, 2**63, size=people.shape, dtype=np.uint64), 0).astype(np.uint64)
        sums = np.zeros(counts.shape, np.uint64)
        for cell in range(len(self.holds)):
            sums[:, cell] = keys[:, self.holds[cell]].sum(axis=1, dtype=np.uint64)
        sums += own.astype(np.uint64) * rng.integers(1, 2**63, size=(number, 1), dtype=np.uint64)
        if not mechanism.keyed:
            sums = rng.integers(1, 2**63, size=counts.shape, dtype=np.uint64)
        shown = counts + _noise(counts, unit_interval(mix(sums, rng.bytes(16))), mechanism, self.sizes)
        return shown.reshape(number, len(self.sets), KINDS), second


def _read(answers: AllAnswers, target: KnownTarget, chosen: tuple[int, ...], kind: int) -> int:
    """The number that the policy shows of a cell of the target, or ``UNKNOWN``."""
    codes = {k: target.leaves[k] for k in chosen}
    if kind < 2:
        codes[target.unknown] = target.two[kind]
    frame = tuple(sorted(codes))
    positions = [answers.dimensions[k].position[answers.dimensions[k].leaves[codes[k]]] for k in frame]
    if frame not in answers.frames:
        return UNKNOWN
    return answers.shown(frame, positions)


def _classes(expected: Floats, target: KnownTarget, known: list[int]) -> Floats:
    """People by which known attributes they share with the target, and by first, second or other category."""
    array = np.moveaxis(expected, target.unknown, -1)
    first, second = array[..., target.two[0]], array[..., target.two[1]]
    parts = [first, second, array.sum(axis=-1) - first - second]
    for axis, k in enumerate(known):
        at = target.leaves[k]
        parts = [np.stack([one.sum(axis=axis) - one.take(at, axis), one.take(at, axis)], axis=axis) for one in parts]
    return np.concatenate([one.ravel() for one in parts])


def _memberships(sets: list[tuple[int, ...]], known: list[int]) -> tuple[Array, Array]:
    """Which classes each cell holds, and whether it holds the target with the first and with the second category."""
    masks = np.array(list(itertools.product((False, True), repeat=len(known)))).reshape(-1, len(known))
    holds = []
    own = []
    for chosen in sets:
        needed = [j for j, k in enumerate(known) if k in chosen]
        shares = masks[:, needed].all(axis=1)
        nobody = np.zeros_like(shares)
        holds += [
            np.concatenate([shares, nobody, nobody]),
            np.concatenate([nobody, shares, nobody]),
            np.concatenate([shares, shares, shares]),
        ]
        own += [(1, 0), (0, 1), (1, 1)]
    return np.array(holds, bool).reshape(-1, 3 * len(masks)), np.array(own, np.int64).reshape(-1, 2).T


def _noise(counts: Array, uniform: Floats, mechanism: Mechanism, sizes: list[int]) -> Array:
    """The change of each count by its uniform number, column by column."""
    out = np.full(counts.shape, -mechanism.reach, np.int64)
    for cell, size in enumerate(sizes):
        chances = mechanism.of_size(size)
        last = len(chances) - 1
        row = np.where(counts[:, cell] <= last, counts[:, cell], last - (last - counts[:, cell]) % mechanism.period)
        ends = np.cumsum(np.exp(chances), axis=1)
        for column in range(2 * mechanism.reach):
            out[:, cell] += uniform[:, cell] >= ends[row, column]
    result: Array = np.maximum(out, -counts)
    return result
