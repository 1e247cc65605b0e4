"""Shadow data: people drawn from the two-way model, on whom an attacker can try out what the policy does.

Their keys are the attacker's own. So the chances of a method that does not tell them are learned from its answers.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.base.annotations import Floats
from discreet.errors import DiscreetError
from discreet.policy.attacks.answers import Truth, collect
from discreet.policy.attacks.mechanism import Mechanism
from discreet.policy.attacks.two_way import TwoWayModel
from discreet.policy.policy import Policy
from discreet.tables.additive import Additive
from discreet.tables.table import Table

SIZES = 4  # numbers of variables that have chances of their own
ROWS = 13  # counts that have chances of their own; the last row serves all larger ones
WIDEST = 60  # the most a count is held to change
DOUBT = 0.02  # added to every number of cases, for changes that did not come up


def shadow_cube(cube: Table, expected: Floats, rng: np.random.Generator) -> Table:
    """As many people as the model expects, drawn from it: counts and sums of keys over the cells of a cube."""
    chances = expected.ravel() if cube.layout.possible is None else expected.ravel()[cube.layout.inner]
    counts = rng.multinomial(round(float(expected.sum())), chances / chances.sum())
    statistics = {}
    for name, held in cube.statistics.items():
        if name in ("count", "key"):
            keys = rng.integers(0, 2**63, size=len(counts), dtype=np.uint64) * np.uint64(2) + np.uint64(1)
            inner = counts.astype(held.inner.dtype) if name == "count" else np.where(counts > 0, keys, 0)
            inner = inner.astype(held.inner.dtype)
            statistics[name] = Additive(inner, cube.layout.aggregate(inner), held.decimals)
    return replace(cube, statistics=statistics)


def learned_mechanism(cube: Table, policy: Policy, model: TwoWayModel, seed: int) -> Mechanism | None:
    """P(shown | count) as it comes out for shadow data; None where the policy cannot answer from a cube."""
    if model.expected is None:
        return None
    shadow = shadow_cube(cube, model.expected, np.random.default_rng(seed))
    try:
        answers = collect(shadow, policy)
    except DiscreetError:
        return None
    changes = np.full((SIZES, ROWS, 2 * WIDEST + 1), DOUBT)
    for frame, shown, true in Truth.of(shadow).pairs(answers):
        size = min(max(len(frame), 1), SIZES) - 1
        change = np.clip(shown - true, -WIDEST, WIDEST) + WIDEST
        np.add.at(changes[size], (np.minimum(true, ROWS - 1), change), 1.0)
    for count in range(ROWS - 1):  # nothing is shown below zero
        changes[:, count, : max(WIDEST - count, 0)] = 0.0
    seen = np.flatnonzero((changes > DOUBT).any(axis=(0, 1))) - WIDEST
    reach = int(np.abs(seen).max()) if seen.size else 0
    kept = changes[:, :, WIDEST - reach : WIDEST + reach + 1]
    with np.errstate(divide="ignore"):
        log_chance = np.log(kept / kept.sum(axis=2, keepdims=True))
    return Mechanism(log_chance, 1, False, "chances learned from shadow data")
