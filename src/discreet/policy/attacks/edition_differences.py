"""Edition differences: two editions that differ by few records, and which cells changed between them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.base.annotations import Array
from discreet.policy.attacks.answers import UNKNOWN, AllAnswers, Truth, collect
from discreet.policy.attacks.finding import AttackFinding
from discreet.policy.attacks.two_way import TwoWayModel
from discreet.policy.policy import Policy
from discreet.tables.additive import Additive
from discreet.tables.table import Table


def edition_difference(
    cube: Table, policy: Policy, before: AllAnswers, *, added: int, trials: int, seed: int
) -> AttackFinding:
    """New records are added, like records that are there; the attributes of each are read off what changed.

    Blind is to guess each attribute as the most frequent category, or to draw as many records from the two-way tables
    of the first edition, whichever is right more often. Below the policy's least number of changes there is no second
    edition.
    """
    rng = np.random.default_rng(seed)
    counts = Truth.of(cube).counts
    usually = _usual(counts)
    expected = TwoWayModel.of(before).expected
    right = usual = drawn = 0
    for _ in range(trials):
        places = rng.choice(counts.size, size=added, p=counts.ravel() / counts.sum())
        if added < policy.min_changes:  # the edition that is there stays, so nothing changes
            guesses = [usually] * added
        else:
            guesses = _explained(before, collect(with_records(cube, places, rng), policy), added)
        true = [np.unravel_index(place, counts.shape) for place in places.tolist()]
        records = [tuple(int(x) for x in one) for one in true]
        right += _matched(guesses, records)
        usual += _matched([usually] * added, records)
        if expected is not None:
            some = rng.choice(expected.size, size=added, p=expected.ravel() / expected.sum())
            drawn += _matched([tuple(int(x) for x in np.unravel_index(one, counts.shape)) for one in some], records)
    attributes = trials * added * counts.ndim
    return AttackFinding(
        attack=f"editions, {added} record{'s' if added > 1 else ''} new",
        success="attributes read off",
        rate=right / attributes,
        blind=max(usual, drawn) / attributes,
        cases=attributes,
    )


def with_records(cube: Table, places: Array, rng: np.random.Generator) -> Table:
    """The cube with more records, whose keys are drawn anew."""
    flat = places if cube.layout.possible is None else np.searchsorted(cube.layout.inner, places)
    statistics = dict(cube.statistics)
    for name, values in (("count", 1), ("key", None)):
        if name in statistics:
            held = statistics[name]
            inner = np.array(held.inner)
            more = rng.integers(0, 2**63, size=len(flat), dtype=np.uint64) if values is None else values
            np.add.at(inner, flat, more)
            statistics[name] = Additive(inner, cube.layout.aggregate(inner), held.decimals)
    return replace(cube, statistics=statistics)


def _explained(before: AllAnswers, after: AllAnswers, number: int) -> list[tuple[int, ...]]:
    """The full combinations that explain most of the changed cells, one after another."""
    changed = {}
    for frame, values in before.frames.items():
        later = after.frames.get(frame)
        if later is not None:
            known = (np.asarray(values) != UNKNOWN) & (np.asarray(later) != UNKNOWN)
            changed[frame] = (known & (np.asarray(values) != np.asarray(later))).astype(float)
    leaves = [[d.position[leaf] for leaf in d.leaves] for d in before.dimensions]
    shape = tuple(len(one) for one in leaves)
    out = []
    for _ in range(number):
        score = np.zeros(shape)
        for frame, cells in changed.items():
            picked = cells[np.ix_(*(leaves[k] for k in frame))] if frame else cells
            score += np.expand_dims(picked, tuple(k for k in range(len(shape)) if k not in frame))
        best = tuple(int(k) for k in np.unravel_index(int(score.argmax()), shape))
        out.append(best)
        for frame, cells in changed.items():
            if frame:
                cells[tuple(leaves[k][best[k]] for k in frame)] = 0.0
    return out


def _usual(counts: Array) -> tuple[int, ...]:
    axes = range(counts.ndim)
    return tuple(int(counts.sum(axis=tuple(j for j in axes if j != k)).argmax()) for k in axes)


def _matched(guesses: list[tuple[int, ...]], true: list[tuple[int, ...]]) -> int:
    """Attributes that are right when guesses are set against records, each guess against the nearest one left."""
    left = list(true)
    total = 0
    for guess in guesses:
        agreed = [sum(a == b for a, b in zip(guess, one, strict=True)) for one in left]
        best = int(np.argmax(agreed))
        total += agreed[best]
        left.pop(best)
    return total
