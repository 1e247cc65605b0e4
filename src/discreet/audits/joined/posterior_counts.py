"""What changed counts leave: how likely each true count, difference or common value is, given what is shown.

Every true count is taken as equally likely beforehand. A method is given by its transition matrix: the probability that
a count is shown as another. Counts of the same cell in releases with noise of their own multiply; a difference is the
convolution of two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.audits.joined.publication import Rounding
from discreet.base.annotations import Array
from discreet.errors import InputError
from discreet.risk.transition import Transition

Noise = Transition | Rounding | None
REACH = 60  # how far from a shown value true ones are looked for


@dataclass(frozen=True, eq=False)
class CountPosterior:
    """Probabilities of whole numbers from ``start`` on."""

    start: int
    p: Array

    @property
    def values(self) -> Array:
        """The numbers that the probabilities are of."""
        return self.start + np.arange(len(self.p))

    @property
    def likeliest(self) -> tuple[int, float]:
        """The number with the greatest probability, and that."""
        at = int(self.p.argmax())
        return self.start + at, float(self.p[at])

    @property
    def left(self) -> int:
        """How many numbers are possible."""
        return int((self.p > 0).sum())

    def between(self, least: int, most: int) -> float:
        """The probability of numbers whose size is from ``least`` to ``most``."""
        size = np.abs(self.values)
        return float(self.p[(size >= least) & (size <= most)].sum())

    def minus(self, other: CountPosterior) -> CountPosterior:
        """The posterior of the difference of two counts that know nothing of each other."""
        return CountPosterior(self.start - int(other.values[-1]), np.convolve(self.p, other.p[::-1]))

    def times(self, other: CountPosterior) -> CountPosterior:
        """The posterior of a count that both are about."""
        start = max(self.start, other.start)
        stop = min(self.start + len(self.p), other.start + len(other.p))
        if stop <= start:
            raise InputError("two releases of the same cell leave no common value; they are of different populations")
        p = self.p[start - self.start : stop - self.start] * other.p[start - other.start : stop - other.start]
        if not p.sum() > 0:
            raise InputError("two releases of the same cell leave no common value; they are of different populations")
        return CountPosterior(start, p / p.sum())


def count_posterior(shown: float, noise: Noise) -> CountPosterior:
    """How likely each true count is, given one that is shown.

    >>> count_posterior(3, Transition.rounding(3)).p.round(3).tolist()
    [0.111, 0.222, 0.333, 0.222, 0.111]
    """
    value = round(shown)
    if noise is None:
        return CountPosterior(value, np.ones(1))
    if isinstance(noise, Rounding) and noise.nearest:
        least, most = (int(end[0]) for end in noise.behind(np.array([float(value)]), 0))
        start = max(least, 0)
        p = np.ones(most - start + 1)
        return CountPosterior(start, p / p.sum())
    transition = Transition.rounding(int(noise.base)) if isinstance(noise, Rounding) else noise
    start = max(value - REACH, 0)
    p = np.array([dict(transition.outcomes(t)).get(value, 0.0) for t in range(start, value + REACH + 1)])
    if not p.sum() > 0:
        raise InputError("a value is shown that the method never shows; look at its base or perturbation table")
    used = np.flatnonzero(p)
    return CountPosterior(start + int(used[0]), p[used[0] : used[-1] + 1] / p.sum())


def common_posterior(shown: Sequence[float], noise: Sequence[Noise]) -> CountPosterior:
    """How likely each true count is, given several releases of the same cell with noise of their own.

    >>> common_posterior([3, 6], [Transition.rounding(3)] * 2).values.tolist()
    [4, 5]
    """
    each = [count_posterior(value, own) for value, own in zip(shown, noise, strict=True)]
    posterior = each[0]
    for other in each[1:]:
        posterior = posterior.times(other)
    return posterior
