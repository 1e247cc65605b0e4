"""Internal intruders: contributors who know their own part of a cell (ODT04, and ODF03 section 4.5.4).

Uncertainty about somebody's contribution is that about its rank plus that about its size once the rank is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.risk.cell import possible_values, risk_of_bits
from discreet.table import Table

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[Any]


class Scenario(Protocol):
    """What an intruder knows of the order of the N others: their rank is uncertain by so many bits."""

    def rank_bits(self, n: int) -> float:
        """H(r_v)."""
        ...


@dataclass(frozen=True)
class RankKnown:
    """The intruder can rank the contributions: section 3 of [ODT04]_.

    >>> RankKnown().rank_bits(5)
    0.0
    """

    def rank_bits(self, n: int) -> float:
        return 0.0


@dataclass(frozen=True)
class NotRank:
    """The intruder knows that a contribution does not have one certain rank: H(r_v) = log2(N − 1), section 4."""

    def rank_bits(self, n: int) -> float:
        return float(np.log2(max(n - 1, 1)))


@dataclass(frozen=True)
class LargestKnown:
    """The intruder knows who the m largest are: section 5; without m, the mean over m = 1 ... N − 1.

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
    """The intruder knows roughly who is small, who larger: section 6, equations (11) to (14).

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
    """The intruder knows the cell value and who contributes, nothing else: H(r_v) = log2 N, section 7."""

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
    largest = possible_values(rest / n, max(rest - unit, rest / n), decimals=decimals)
    return np.asarray(np.maximum(np.append(few, largest), 1.0))


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
    return float(risk_of_bits(scenario.rank_bits(n) + np.log2(a).mean()))


def sensitive(dr: float, dr_min: float, t: float) -> bool:
    """The t-sensitivity rule, Algorithm 1 of [ODT04]_: DR_min/DR < t. A cell that is known (DR infinite) is sensitive.

    >>> sensitive(0.2, 0.1, 0.6), sensitive(0.2, 0.19, 0.6)
    (True, False)
    """
    if not 0 <= t <= 1:
        raise InputError("t lies between 0 and 1")
    return bool(np.isinf(dr) or dr_min / dr < t)


def internal_risk(table: Table, scenario: Scenario, *, t: float = 0.8, colluders: int = 1) -> pd.DataFrame:
    """Risk of every cell of a magnitude table when its ``colluders`` largest contributors put their parts together.

    Section 8 of [ODT04]_: N − n others, what is left after the colluders' parts. Columns: others (N), rest, DR, DR_min
    (value only), sensitive (rule with ``t``). Cells with nobody else, or without contributors, are not sensitive.
    """
    import pandas as pd

    from discreet.table import code_columns

    if table.contributions.top < colluders:
        raise InputError(
            f"the table keeps the {table.contributions.top} largest; tabulate with top={colluders} or more"
        )
    parts = table.contributions
    decimals = table.statistic(table.measure).decimals
    own = np.nansum(parts.value[:, :colluders] * parts.weight[:, :colluders], axis=1)
    others, rest = np.maximum(parts.count - colluders, 0), table.value - own
    dr, low = np.zeros(len(table)), np.zeros(len(table))
    for k in np.flatnonzero((others > 0) & (rest > 0)):
        dr[k] = intruder_risk(rest[k], int(others[k]), scenario, decimals=decimals)
        low[k] = intruder_risk(rest[k], int(others[k]), ValueOnly(), decimals=decimals)
    frame = pd.DataFrame(code_columns(table.layout))
    frame["others"], frame["rest"], frame["DR"], frame["DR_min"] = others, rest, dr, low
    frame["sensitive"] = np.array([d > 0 and sensitive(d, m, t) for d, m in zip(dr, low, strict=True)], bool)
    return frame


def insider_interval(
    lower: float, upper: float, own: float, *, contributors: int | None = None, decimals: int = 0
) -> tuple[float, float]:
    """What the second largest contributor learns of the largest from a cell's interval: equation (22) of [ODF03]_.

    The largest has more than the intruder and at most what the cell leaves; nobody else has more than the intruder,
    so a known number of contributors raises the lower end. Without protection both ends are the cell's value.

    >>> insider_interval(995, 1004, 400)
    (401.0, 604.0)
    >>> insider_interval(1000, 1000, 400, contributors=2)
    (600.0, 600.0)
    """
    unit = 10.0**-decimals
    if own < 0 or upper < 2 * own + unit:
        raise InputError("the second largest has at most half of what the cell can hold")
    low = own + unit
    if contributors is not None:
        if contributors < 2:
            raise InputError("an insider and the largest make at least two contributors")
        low = max(low, lower - own - (contributors - 2) * own)
    return float(low), float(upper - own)


def outsider_interval(upper: float, *, decimals: int = 0) -> tuple[float, float]:
    """What everybody knows of the largest contributor: more than nothing, at most the cell.

    >>> outsider_interval(1004)
    (1.0, 1004.0)
    """
    return 10.0**-decimals, float(upper)
