"""The t-sensitivity rule of [ODT04]_: what a contributor, and those who collude with her, learn of the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.errors import InputError, nearest
from discreet.rules.contribution_sizes import OfContributions, concentration
from discreet.rules.scenarios import Groups, LargestKnown, NotRank, RankKnown, Scenario, ValueOnly, intruder_risk
from discreet.tables.table import Table

SCENARIOS = ("rank", "k-contr", "m-group", "approx")
"""The scenarios by the name of their risk in [ODT04]_: DR_rank, DR_k-contr, DR_m-group and DR_approx."""


@dataclass(frozen=True, eq=False)
class Insiders:
    """What the largest contributor and her colluders leave uncertain of each cell.

    ``others`` and ``rest``: how many contributors remain and what they have together; ``dr`` and ``dr_min``: the risk
    in the scenario and that with the value only; ``ratio``: the least DR_min/DR over all coalitions up to that size,
    0 where a contribution is known.
    """

    count: Array
    others: Array
    rest: Array
    dr: Array
    dr_min: Array
    ratio: Array

    def sensitive(self, t: float) -> Array:
        """Algorithm 1: DR_min/DR < t; a cell in which a contribution is known is sensitive for every t."""
        return np.asarray((self.count > 0) & ((self.ratio < t) | (self.ratio == 0)))


def coalition_of_largest(
    table: Table, scenario: Scenario, colluders: int, who: str, waived: Table | None = None
) -> Insiders:
    """Section 8 of [ODT04]_: the largest contributor and the ``colluders`` next ones put their parts together.

    A coalition may be smaller than it could be, so the ratio is the least over 0 ... ``colluders``: more colluders
    never make a cell safe. Nor does a small cell: a coalition leaves at least one other, whose contribution is then
    known; so is that of somebody alone in a cell, and what nothing is left of.
    """
    c = concentration(table, colluders + 1, who, waived)
    decimals = table.statistic(table.measure).decimals
    held = np.cumsum(np.pad(c.size * c.weight, ((0, 0), (1, 0))), axis=1)  # of the 0, 1, 2, ... largest
    dr, low, ratio = np.zeros(len(table)), np.zeros(len(table)), np.full(len(table), np.inf)
    others, rest = np.zeros(len(table), np.int64), np.zeros(len(table))
    for n in range(colluders + 1):
        together = np.clip(c.count - 1, 0, n + 1)
        others = c.count - together
        rest = c.total - held[np.arange(len(table)), together]
        for k in np.flatnonzero(c.count > 0):
            if others[k] == 1 or rest[k] <= 1e-9 * c.total[k]:
                dr[k] = low[k] = np.inf
                ratio[k] = 0.0
                continue
            dr[k] = intruder_risk(rest[k], int(others[k]), scenario, decimals=decimals)
            low[k] = intruder_risk(rest[k], int(others[k]), ValueOnly(), decimals=decimals)
            ratio[k] = min(ratio[k], low[k] / dr[k])
    return Insiders(c.count, others, rest, dr, low, ratio)


@checked
@dataclass(frozen=True, repr=False)
class TSensitivity(OfContributions):
    r"""DR_min/DR < t: a contributor's knowledge tells too much of the others, Algorithm 1 of [ODT04]_.

    ``scenario`` is what the intruder knows: "rank" (their order), "k-contr" (a rank somebody does not have), "m-group"
    (who the ``m`` largest are; without ``m`` the mean over all m), "approx" (roughly who is small and large: ``shares``
    of the groups from the smallest up and their ``overlap``). ``colluders`` is n of section 8, the contributors besides
    the intruder who share theirs; the largest ones do. A cell that is sensitive for n is sensitive for n + 1. A cell
    with one contributor is sensitive, as is one in which a coalition leaves one other. For its owner a contribution of
    weight w is w times its size.

    >>> TSensitivity(0.6, colluders=1)
    TSensitivity(t=0.6, colluders=1)
    """

    t: float
    scenario: str = "rank"
    colluders: int = 0
    m: int | None = None
    shares: tuple[float, ...] = ()
    overlap: tuple[float, ...] = ()
    name: ClassVar[str] = "t-sensitivity"

    def __post_init__(self) -> None:
        if not 0 <= self.t <= 1:
            raise InputError(f"t is a quotient of risks, from 0 to 1, not {self.t}")
        if self.scenario not in SCENARIOS:
            raise InputError(f"scenario={self.scenario!r}: {nearest(str(self.scenario), SCENARIOS)}")
        if self.colluders != int(self.colluders) or self.colluders < 0:
            raise InputError(f"colluders is how many tell the intruder their part, from 0, not {self.colluders}")
        for field in ("shares", "overlap"):
            object.__setattr__(self, field, tuple(float(x) for x in getattr(self, field)))
        stated = {"m": self.m is not None, "shares": bool(self.shares), "overlap": bool(self.overlap)}
        allowed = {"m-group": {"m"}, "approx": {"shares", "overlap"}}.get(self.scenario, set())
        for name in (name for name, here in stated.items() if here and name not in allowed):
            raise InputError(f"{name} has no meaning in the scenario {self.scenario!r}: leave it out")
        if self.m is not None and (self.m != int(self.m) or self.m < 1):
            raise InputError(f"m is how many of the largest are known, from 1, not {self.m}")
        self.knowledge()  # refuses wrong groups now, not at the first table

    def knowledge(self) -> Scenario:
        """The scenario as the functions of :mod:`discreet.risk.intruder` take it.

        >>> TSensitivity(0.6, scenario="m-group", m=2).knowledge()
        LargestKnown(m=2)
        """
        if self.scenario == "rank":
            return RankKnown()
        if self.scenario == "k-contr":
            return NotRank()
        return LargestKnown(self.m) if self.scenario == "m-group" else Groups(self.shares, self.overlap)

    def judge(self, table: Table, waived: Table | None) -> Array:
        """The cells of ``table`` that are sensitive, of those who are in ``waived`` alone if it is given.

        >>> import pandas as pd
        >>> from discreet import Microdata, tabulate
        >>> firms = pd.DataFrame({"area": ["N", "N", "N", "S", "S"], "turnover": [90, 5, 3, 40, 60]})
        >>> data = Microdata.of(firms, dimensions=["area"], magnitudes=["turnover"])
        >>> table = tabulate(data, "area", value="turnover", top=3)
        >>> TSensitivity(0.6).judge(table, None).tolist()
        [False, False, True]
        """
        coalition = coalition_of_largest(table, self.knowledge(), self.colluders, str(self), waived)
        protected = coalition.count > 0 if waived is None else waived.contributions.count > 0
        return np.asarray(coalition.sensitive(self.t) & protected)

    def evidence(self, table: Table) -> dict[str, Array]:
        """The other contributors, the risk with and without the knowledge, and the least quotient (confidential).

        >>> import pandas as pd
        >>> from discreet import Microdata, tabulate
        >>> firms = pd.DataFrame({"area": ["N", "N", "N", "S", "S"], "turnover": [90, 5, 3, 40, 60]})
        >>> data = Microdata.of(firms, dimensions=["area"], magnitudes=["turnover"])
        >>> table = tabulate(data, "area", value="turnover", top=3)
        >>> TSensitivity(0.6).evidence(table)["least DR_min/DR"].round(3).tolist()
        [0.734, 0.667, 0.0]
        """
        coalition = coalition_of_largest(table, self.knowledge(), self.colluders, str(self))
        return {
            "others": coalition.others,
            "DR": coalition.dr,
            "DR_min": coalition.dr_min,
            "least DR_min/DR": coalition.ratio,
        }
