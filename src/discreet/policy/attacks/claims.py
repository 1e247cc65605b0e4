"""Claims about full records, and how many of them are right: those of an attack, and those of the two-way model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.base.annotations import Array, Floats
from discreet.policy.attacks.sampling import Sampled

PROBABILITIES = (0.5, 0.8, 0.95)
BINS = 10  # of the calibration
FAR_BELOW = 0.5  # of what claims promise: an attack that keeps no more than that does not know what it is about
UNLIKELY = 0.01


@dataclass(frozen=True)
class Claimed:
    """Records claimed above a probability: how many, how many right, and of as many claims of the model how many."""

    probability: float
    claims: int
    right: int
    baseline: int
    expected: float
    """Right ones by the attack's own probabilities: near ``right`` if they can be trusted."""

    @property
    def precision(self) -> float:
        """Share of the claims that are right; 0 where there is none."""
        return self.right / self.claims if self.claims else 0.0

    @property
    def baseline_precision(self) -> float:
        """The same of the two-way model's claims."""
        return self.baseline / self.claims if self.claims else 0.0

    @property
    def miscalibrated(self) -> bool:
        """Whether the claims are right far less often than they promise: then their failure says nothing.

        Half as often or less, and so seldom by chance with fewer than one chance in a hundred.
        """
        from scipy.stats import binom

        if not self.claims or self.right > FAR_BELOW * self.expected:
            return False
        return float(binom.cdf(self.right, self.claims, min(self.expected / self.claims, 1.0))) < UNLIKELY

    def __add__(self, other: Claimed) -> Claimed:
        return Claimed(
            self.probability,
            self.claims + other.claims,
            self.right + other.right,
            self.baseline + other.baseline,
            self.expected + other.expected,
        )


@dataclass(frozen=True)
class Calibration:
    """Claims by their probability, in tenths: how many there are, what they promise, and how many are right."""

    claims: tuple[int, ...]
    expected: tuple[float, ...]
    right: tuple[int, ...]

    def __add__(self, other: Calibration) -> Calibration:
        return Calibration(
            tuple(a + b for a, b in zip(self.claims, other.claims, strict=True)),
            tuple(a + b for a, b in zip(self.expected, other.expected, strict=True)),
            tuple(a + b for a, b in zip(self.right, other.right, strict=True)),
        )


def score_claims(sampled: Sampled, true: Array, expected: Floats) -> tuple[Claimed, ...]:
    """Claims at each of ``PROBABILITIES``; ``true`` and ``expected`` are counts by combination."""
    right = true[sampled.combination] >= sampled.copy
    model = model_claims(true, expected, int((sampled.chance > PROBABILITIES[0]).sum()))
    out = []
    for probability in PROBABILITIES:
        number = int((sampled.chance > probability).sum())
        out.append(
            Claimed(
                probability,
                number,
                int(right[:number].sum()),
                int(model[:number].sum()),
                float(sampled.chance[:number].sum()),
            )
        )
    return tuple(out)


def model_claims(true: Array, expected: Floats, number: int) -> Array:
    """Whether the likeliest claims of the model are right, the surest first: k records where P(at least k) is large."""
    from scipy.stats import poisson

    top = np.argsort(-expected, kind="stable")[: max(number, 1)]
    copies = np.ceil(expected[top] + 6 * np.sqrt(expected[top])).astype(int) + 2  # beyond which nobody would claim
    place = np.repeat(np.arange(len(top)), copies)
    copy = np.arange(len(place)) - np.repeat(np.cumsum(copies) - copies, copies) + 1
    order = np.argsort(-poisson.sf(copy - 1, expected[top[place]]), kind="stable")[:number]
    right: Array = true[top[place[order]]] >= copy[order]
    return right


def calibration_of(sampled: Sampled, true: Array) -> Calibration:
    """Promised and kept, by tenths of the probability."""
    right = true[sampled.combination] >= sampled.copy
    tenth = np.minimum((sampled.chance * BINS).astype(int), BINS - 1)

    def by_tenth(weights: Array) -> Array:
        return np.bincount(tenth, weights=weights, minlength=BINS)

    return Calibration(
        tuple(int(n) for n in by_tenth(np.ones(len(right)))),
        tuple(float(n) for n in by_tenth(sampled.chance)),
        tuple(int(n) for n in by_tenth(right.astype(float))),
    )
