"""AttackFinding: how often a simple attack on all answers succeeds, and how often it would without them."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.base.annotations import Array


@dataclass(frozen=True, kw_only=True)
class AttackFinding:
    """One attack: what counts as success, its rate, what is got without the answers, and over how many cases.

    ``area``: the rate is an area under a curve. ``fair``: whether what is got without the answers is as good as it can
    be; if not, nobody can say what a rate above it means.
    """

    attack: str
    success: str
    rate: float
    blind: float
    cases: int
    area: bool = False
    fair: bool = True

    def __post_init__(self) -> None:
        if self.area:  # who knows nothing need not do worse than chance
            object.__setattr__(self, "blind", max(self.blind, 0.5))


def area_under_curve(scores: Array, positive: Array) -> float:
    """Probability that a positive case has a higher score than a negative one; 1/2 where either is missing.

    >>> import numpy as np
    >>> area_under_curve(np.array([1.0, 2.0, 2.0, 3.0]), np.array([False, False, True, True]))
    0.875
    """
    from scipy.stats import rankdata

    yes = int(positive.sum())
    no = len(positive) - yes
    if not yes or not no:
        return 0.5
    ranks = rankdata(scores)
    return float((ranks[positive].sum() - yes * (yes + 1) / 2) / (yes * no))
