"""What a contributor knows of the others in a cell: the scenarios of [ODT04]_ and the risk under each.

Uncertainty about somebody's contribution is that about its rank plus that about its size once the rank is known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.errors import InputError


class Scenario(Protocol):
    """What an intruder knows of the order of the N others: their rank is uncertain by so many bits."""

    def rank_bits(self, n: int) -> float:
        """H(r_v)."""
        ...


@dataclass(frozen=True)
class RankKnown:
    """The intruder can rank the contributions: DR_rank, section 3 of [ODT04]_.

    >>> RankKnown().rank_bits(5)
    0.0
    """

    def rank_bits(self, n: int) -> float:
        return 0.0


@dataclass(frozen=True)
class NotRank:
    """The intruder knows that a contribution does not have one certain rank, H(r_v) = log2(N − 1).

    DR_k-contr, section 4 of [ODT04]_.
    """

    def rank_bits(self, n: int) -> float:
        return float(np.log2(max(n - 1, 1)))


@dataclass(frozen=True)
class LargestKnown:
    """The intruder knows who the m largest are: DR_m-group, section 5; without m, the mean over m = 1 ... N − 1.

    Equation (9) misses the reciprocal. With one m: the mean of log2 m and log2(N − m), both groups as likely.

    >>> LargestKnown(2).rank_bits(6)
    1.5
    """

    m: int | None = None

    def rank_bits(self, n: int) -> float:
        if n < 2:
            return 0.0
        if self.m is None:
            return float(np.log2(np.arange(1, n)).mean())
        if not 1 <= self.m < n:
            return float(np.log2(n))  # the m largest are all there are: nothing is known
        return float((np.log2(self.m) + np.log2(n - self.m)) / 2)


@dataclass(frozen=True)
class Groups:
    """The intruder knows roughly who is small, who larger: DR_approx, section 6, equations (11) to (14).

    ``shares``: what part of the contributors is in each group, from the smallest up. ``overlap``: the possibility
    that a position in a group is taken by somebody of the next group, by distance from the frontier, falling.

    >>> round(Groups((0.5, 0.5)).rank_bits(8), 6)
    2.0
    """

    shares: tuple[float, ...]
    overlap: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not self.shares or min(self.shares) <= 0 or not np.isclose(sum(self.shares), 1):
            raise InputError("the shares of the groups are positive and add up to 1")
        if any(not 0 <= p <= 1 for p in self.overlap) or list(self.overlap) != sorted(self.overlap, reverse=True):
            raise InputError("overlap possibilities lie between 0 and 1 and do not rise with the distance")

    def rank_bits(self, n: int) -> float:
        ends = np.rint(np.cumsum(self.shares) * n).astype(int)
        sizes = [int(s) for s in np.diff(np.concatenate([[0], ends])) if s > 0]
        return float(np.mean([self._group_bits(sizes, i) for i in range(len(sizes))]))

    def _group_bits(self, sizes: Sequence[int], i: int) -> float:
        """H(rank | group i): own positions, shared ones, and those in the neighbours' zones."""
        neighbours = [j for j in (i - 1, i + 1) if 0 <= j < len(sizes)]
        probability = np.full(sizes[i], 1.0 / sizes[i])
        outside: list[float] = []
        for side, j in enumerate(neighbours):
            depth = min(len(self.overlap), sizes[j] // 2 or 1, sizes[i] // 2 or 1)
            p = np.array(self.overlap[:depth])
            at = np.arange(depth) if j < i else sizes[i] - 1 - np.arange(depth)
            if side == 1 and len(neighbours) == 2 and sizes[i] < 2:
                continue
            probability[at] -= p / sizes[i]  # equation (13): (1 − p)/|G|
            outside += (p / sizes[i]).tolist()  # equation (14)
        every = np.concatenate([probability, outside])
        every = every[every > 0]
        return float(-(every * np.log2(every)).sum())


@dataclass(frozen=True)
class ValueOnly:
    """The intruder knows the cell value and who contributes, nothing else: H(r_v) = log2 N, DR_min, section 7."""

    def rank_bits(self, n: int) -> float:
        return float(np.log2(max(n, 1)))


def rank_values(rest: float, n: int, *, decimals: int = 0) -> Array:
    r"""Number A_j of possible values of the j-th smallest of n contributions that add up to ``rest``.

    :math:`0 < X_{(j)} \le x'/(N-j+1)` for j < N and :math:`x'/N \le X_{(N)} < x'`: section 3 of [ODT04]_.

    >>> rank_values(100, 3).tolist()
    [33.0, 50.0, 66.0]
    """
    if n < 1:
        raise InputError("there must be at least one contributor besides the intruders")
    unit = 10.0**-decimals
    if n == 1:
        return np.ones(1)  # what is left is theirs alone
    upper = rest / (n - np.arange(n - 1))
    few = np.floor(upper / unit + 1e-9)
    largest = np.floor(max(rest - unit, rest / n) / unit + 1e-6) - np.ceil(rest / n / unit - 1e-6) + 1
    return np.asarray(np.maximum(np.append(few, largest), 1.0))


@checked
def intruder_risk(
    rest: float, n: int, scenario: Scenario, *, values: Sequence[float] | None = None, decimals: int = 0
) -> float:
    r"""Disclosure risk against an insider who knows that ``n`` others contribute ``rest`` together.

    .. math:: DR = 1 / (H(r_v) + H(X_v|r_v)), \quad H(X_v|r_v) = \frac1N \sum_j \log_2 A_j

    Equation (3) of [ODT04]_. ``values`` are the A_j where the protector knows better than the bounds of the ranks.

    >>> round(intruder_risk(100, 3, RankKnown()), 4), round(intruder_risk(100, 3, ValueOnly()), 4)
    (0.1793, 0.1396)
    """
    a = rank_values(rest, n, decimals=decimals) if values is None else np.asarray(values, float)
    if len(a) != n or (a < 1).any():
        raise InputError(f"values are {n} numbers of possible values, each at least 1")
    bits = scenario.rank_bits(n) + float(np.log2(a).mean())
    return 1 / bits if bits > 0 else math.inf


def sensitive(dr: float, dr_min: float, t: float) -> bool:
    """The t-sensitivity rule, Algorithm 1 of [ODT04]_: DR_min/DR < t. A cell that is known (DR infinite) is sensitive.

    >>> sensitive(0.2, 0.1, 0.6), sensitive(0.2, 0.19, 0.6)
    (True, False)
    """
    if not 0 <= t <= 1:
        raise InputError("t lies between 0 and 1")
    return bool(np.isinf(dr) or dr_min / dr < t)
