"""Rules on the largest contributions to a cell: holdings merged, sampling weights respected.

Every share is in percent: ``PPercent(p=10)`` is 10 %. Sizes are absolute values; in a cell with contributions of both
signs the remainder can come out negative, and the cell is then sensitive. A cell that takes inner cells away (a signed
group) has no contributors, so these rules say nothing about it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.errors import InputError
from discreet.rules.base import Rule, of_value, percent, rule_text
from discreet.tables.table import Table

MULTIPLICITY, TOTAL = "multiplicity", "total"


@dataclass(frozen=True)
class Concentration:
    """What the rules look at: contributions by size with their weights, the cell's total, the contributors' number.

    ``target`` is the largest contribution whose owner wants protection: the largest of all unless there are waivers.
    """

    size: Array  # cells x top, 0 where there are fewer
    weight: Array
    total: Array
    count: Array
    target: Array
    protected: Array  # cells with at least one contributor who wants protection

    def largest(self, n: int, weights: str) -> Array:
        """Sum of the n largest contributions; with weights, x1 counts w1 times, then x2, until n are together."""
        if weights == TOTAL:
            return np.asarray(self.size[:, :n].sum(axis=1))
        before = np.cumsum(self.weight, axis=1) - self.weight
        times = np.clip(n - before, 0, self.weight)
        return np.asarray((times * self.size).sum(axis=1))

    def others(self, m: int, weights: str) -> Array:
        """Sum of the m largest contributions other than one unit of the target's size."""
        weight = np.where(self.size > 0, 1.0, 0.0) if weights == TOTAL else self.weight.copy()
        same = np.isclose(self.size, self.target[:, None]) & (weight > 0)
        rows = np.flatnonzero(same.any(axis=1))  # elsewhere the target is smaller than all that were kept
        rank = np.argmax(same[rows], axis=1)
        weight[rows, rank] = np.maximum(weight[rows, rank] - 1, 0)
        before = np.cumsum(weight, axis=1) - weight
        return np.asarray((np.clip(m - before, 0, weight) * self.size).sum(axis=1))


def concentration(table: Table, needed: int, who: str, waived: Table | None = None) -> Concentration:
    """Contributions of a table, at least ``needed`` of each cell."""
    contributions = table.contributions
    if contributions.top < needed and bool((contributions.count > contributions.top).any()):
        raise InputError(f"{who} looks at the {needed} largest contributions; tabulate(..., top={needed}) keeps them")
    size = np.nan_to_num(np.abs(contributions.value))
    weight = np.nan_to_num(contributions.weight) * (size > 0)
    total = np.abs(table.value.astype(float))
    target, protected = size[:, 0] if contributions.top else np.zeros(len(table)), contributions.count > 0
    if waived is not None:
        if waived.layout != table.layout:
            raise InputError("waivers: the table of those who want protection must have the same cells")
        rest = waived.contributions
        target, protected = np.nan_to_num(np.abs(rest.value[:, 0])), rest.count > 0
    return Concentration(size, weight, total, contributions.count, target, protected)


class OfContributions(Rule):
    """A rule that can be told whose contributions need protection."""

    def judge(self, table: Table, waived: Table | None) -> Array:
        """The cells of ``table`` that are sensitive, of those who are in ``waived`` alone if it is given.

        >>> import pandas as pd
        >>> from discreet import Microdata, tabulate
        >>> firms = pd.DataFrame({"area": ["N", "N", "N", "S", "S"], "turnover": [90, 5, 3, 40, 60]})
        >>> data = Microdata.of(firms, dimensions=["area"], magnitudes=["turnover"])
        >>> table = tabulate(data, "area", value="turnover")
        >>> PQ(10, q=50).judge(table, None).tolist()
        [False, True, True]
        """
        raise NotImplementedError

    def room(self, table: Table, waived: Table | None) -> Array:
        """How far from its value a sensitive cell must be able to lie, on either side.

        >>> import pandas as pd
        >>> from discreet import Microdata, tabulate
        >>> firms = pd.DataFrame({"area": ["N", "N", "N", "S", "S"], "turnover": [90, 5, 3, 40, 60]})
        >>> data = Microdata.of(firms, dimensions=["area"], magnitudes=["turnover"])
        >>> table = tabulate(data, "area", value="turnover")
        >>> PQ(10, q=50).room(table, None).tolist()
        [0.0, 15.0, 12.0]
        """
        return np.zeros(len(table))

    def levels(self, table: Table) -> tuple[Array, Array]:
        """How far below and above its value an intruder's estimate of each cell must be able to lie.

        >>> import pandas as pd
        >>> from discreet import Microdata, tabulate
        >>> firms = pd.DataFrame({"area": ["N", "N", "N", "S", "S"], "turnover": [90, 5, 3, 40, 60]})
        >>> data = Microdata.of(firms, dimensions=["area"], magnitudes=["turnover"])
        >>> table = tabulate(data, "area", value="turnover")
        >>> below, above = PPercent(10).levels(table)
        >>> above.tolist()
        [0.0, 6.0, 6.0]
        """
        return _both(self.room(table, None), table)

    def __call__(self, table: Table) -> Array:
        return self.judge(table, None)

    def _check_weights(self) -> None:
        if (weights := getattr(self, "weights", MULTIPLICITY)) not in (MULTIPLICITY, TOTAL):
            raise InputError(f"weights is {MULTIPLICITY!r} or {TOTAL!r}, not {weights!r}")

    __repr__ = rule_text


@checked
@dataclass(frozen=True, repr=False)
class Dominance(OfContributions):
    r"""(n, k): the n largest contributions make up more than k percent, :math:`\sum_{i\le n} x_i > k X/100`.

    ``weights="multiplicity"`` lets a contribution of weight w stand for w units of that size, as tau-ARGUS does;
    ``"total"`` compares unweighted contributions with the weighted total, as GaussSuppression does.

    >>> import pandas as pd
    >>> from discreet import Microdata, tabulate
    >>> firms = pd.DataFrame({"area": ["N", "N", "S", "S"], "turnover": [90, 5, 40, 60]})
    >>> data = Microdata.of(firms, dimensions=["area"], magnitudes=["turnover"])
    >>> Dominance(1, 80)(tabulate(data, "area", value="turnover")).tolist()  # the total, N, S
    [False, True, False]
    """

    n: int
    k: float
    weights: str = MULTIPLICITY
    name: ClassVar[str] = "dominance"

    def __post_init__(self) -> None:
        if self.n != int(self.n) or self.n < 1:
            raise InputError(f"n is the number of largest contributors, from 1, not {self.n}")
        percent(self.k, "k", most=100)
        self._check_weights()

    def judge(self, table: Table, waived: Table | None) -> Array:
        """The cells of ``table`` that are sensitive, of those who are in ``waived`` alone if it is given.

        >>> import pandas as pd
        >>> from discreet import Microdata, tabulate
        >>> firms = pd.DataFrame({"area": ["N", "N", "N", "S", "S"], "turnover": [90, 5, 3, 40, 60]})
        >>> data = Microdata.of(firms, dimensions=["area"], magnitudes=["turnover"])
        >>> table = tabulate(data, "area", value="turnover")
        >>> Dominance(1, 80).judge(table, None).tolist()
        [False, True, False]
        """
        c = concentration(table, self.n, str(self), waived)
        among = c.target >= c.size[:, min(self.n, c.size.shape[1]) - 1]
        over = c.largest(self.n, self.weights) * 100 > self.k * c.total * (1 + 1e-12)
        return np.asarray(over & c.protected & among & (c.count > 0))

    def evidence(self, table: Table) -> dict[str, Array]:
        """The share of the n largest contributions in percent, and the number of contributors (confidential).

        >>> import pandas as pd
        >>> from discreet import Microdata, tabulate
        >>> firms = pd.DataFrame({"area": ["N", "N", "N", "S", "S"], "turnover": [90, 5, 3, 40, 60]})
        >>> data = Microdata.of(firms, dimensions=["area"], magnitudes=["turnover"])
        >>> table = tabulate(data, "area", value="turnover")
        >>> Dominance(1, 80).evidence(table)["share of 1 largest, %"].round(1).tolist()
        [45.5, 91.8, 60.0]
        """
        c = concentration(table, self.n, str(self))
        share = np.divide(100 * c.largest(self.n, self.weights), c.total, out=np.zeros(len(table)), where=c.total > 0)
        return {f"share of {self.n} largest, %": share, "contributors": c.count}

    def room(self, table: Table, waived: Table | None) -> Array:
        """(100/k) Σ x_i − X.

        >>> import pandas as pd
        >>> from discreet import Microdata, tabulate
        >>> firms = pd.DataFrame({"area": ["N", "N", "N", "S", "S"], "turnover": [90, 5, 3, 40, 60]})
        >>> data = Microdata.of(firms, dimensions=["area"], magnitudes=["turnover"])
        >>> table = tabulate(data, "area", value="turnover")
        >>> Dominance(1, 80).room(table, None).tolist()
        [0.0, 14.5, 0.0]
        """
        c = concentration(table, self.n, str(self), waived)
        if self.k == 0:
            raise InputError("dominance with k = 0 calls every cell sensitive and has no protection level")
        need = np.maximum(100 / self.k * c.largest(self.n, self.weights) - c.total, 0)
        return np.where(self.judge(table, waived), need, 0)


@checked
@dataclass(frozen=True, repr=False)
class PPercent(OfContributions):
    r"""p %: others can estimate the largest contribution to within p percent.

    .. math:: X - \sum_{i \le m+1} x_i < p x_1/100

    ``coalition`` m is the number of contributors who put their knowledge together; 1 is the usual rule.

    >>> import pandas as pd
    >>> from discreet import Microdata, tabulate
    >>> firms = pd.DataFrame({"area": ["N", "N", "N", "S", "S", "S"], "turnover": [90, 50, 5, 40, 60, 30]})
    >>> data = Microdata.of(firms, dimensions=["area"], magnitudes=["turnover"])
    >>> PPercent(10)(tabulate(data, "area", value="turnover")).tolist()
    [False, True, False]
    """

    p: float
    coalition: int = 1
    weights: str = MULTIPLICITY
    name: ClassVar[str] = "p-percent"

    def __post_init__(self) -> None:
        percent(self.p, "p")
        if self.coalition != int(self.coalition) or self.coalition < 0:
            raise InputError(f"coalition is how many contributors work together, from 0, not {self.coalition}")
        self._check_weights()

    @property
    def share(self) -> float:
        """p, or for the pq rule p relative to q."""
        return self.p

    def remainder(self, c: Concentration) -> Array:
        """What the target and the coalition leave of the cell.

        >>> import pandas as pd
        >>> from discreet import Microdata, tabulate
        >>> firms = pd.DataFrame({"area": ["N", "N", "N", "S", "S"], "turnover": [90, 5, 3, 40, 60]})
        >>> data = Microdata.of(firms, dimensions=["area"], magnitudes=["turnover"])
        >>> table = tabulate(data, "area", value="turnover")
        >>> PPercent(10).remainder(concentration(table, 2, "the rule")).tolist()
        [48.0, 3.0, 0.0]
        """
        return c.total - c.target - c.others(self.coalition, self.weights)

    def judge(self, table: Table, waived: Table | None) -> Array:
        """The cells of ``table`` that are sensitive, of those who are in ``waived`` alone if it is given.

        >>> import pandas as pd
        >>> from discreet import Microdata, tabulate
        >>> firms = pd.DataFrame({"area": ["N", "N", "N", "S", "S"], "turnover": [90, 5, 3, 40, 60]})
        >>> data = Microdata.of(firms, dimensions=["area"], magnitudes=["turnover"])
        >>> table = tabulate(data, "area", value="turnover")
        >>> PPercent(10).judge(table, None).tolist()
        [False, True, True]
        """
        c = concentration(table, self.coalition + 1 + (waived is not None), str(self), waived)
        slack = 1e-12 * c.total
        return np.asarray((self.remainder(c) < self.share / 100 * c.target - slack) & c.protected & (c.count > 0))

    def evidence(self, table: Table) -> dict[str, Array]:
        """The remainder in percent of the largest contribution, and the number of contributors (confidential).

        >>> import pandas as pd
        >>> from discreet import Microdata, tabulate
        >>> firms = pd.DataFrame({"area": ["N", "N", "N", "S", "S"], "turnover": [90, 5, 3, 40, 60]})
        >>> data = Microdata.of(firms, dimensions=["area"], magnitudes=["turnover"])
        >>> table = tabulate(data, "area", value="turnover")
        >>> PPercent(10).evidence(table)["remainder, % of largest"].round(1).tolist()
        [53.3, 3.3, 0.0]
        """
        c = concentration(table, self.coalition + 1, str(self))
        left = np.divide(100 * self.remainder(c), c.target, out=np.zeros(len(table)), where=c.target > 0)
        return {"remainder, % of largest": left, "contributors": c.count}

    def room(self, table: Table, waived: Table | None) -> Array:
        """(p/100) x1 − (X − Σ x_i); with waivers, x1 is the largest contribution that is protected.

        >>> import pandas as pd
        >>> from discreet import Microdata, tabulate
        >>> firms = pd.DataFrame({"area": ["N", "N", "N", "S", "S"], "turnover": [90, 5, 3, 40, 60]})
        >>> data = Microdata.of(firms, dimensions=["area"], magnitudes=["turnover"])
        >>> table = tabulate(data, "area", value="turnover")
        >>> PPercent(10).room(table, None).tolist()
        [0.0, 6.0, 6.0]
        """
        c = concentration(table, self.coalition + 1 + (waived is not None), str(self), waived)
        need = np.maximum(self.share / 100 * c.target - self.remainder(c), 0)
        return np.where(self.judge(table, waived), need, 0)


@checked
@dataclass(frozen=True, repr=False)
class PQ(PPercent):
    """pq: like p %, where others knew each contribution to within q percent before: p % with 100 p/q.

    >>> import pandas as pd
    >>> from discreet import Microdata, tabulate
    >>> firms = pd.DataFrame({"area": ["N", "N", "N", "S", "S", "S"], "turnover": [90, 50, 15, 40, 60, 30]})
    >>> data = Microdata.of(firms, dimensions=["area"], magnitudes=["turnover"])
    >>> PQ(10, q=50)(tabulate(data, "area", value="turnover")).tolist()
    [False, True, False]
    """

    p: float
    coalition: int = 1
    weights: str = MULTIPLICITY
    q: float = field(default=100, kw_only=True)
    name: ClassVar[str] = "pq"

    def __post_init__(self) -> None:
        super().__post_init__()
        percent(self.q, "q", most=100)
        if not self.p < self.q <= 100:
            raise InputError(f"the pq rule needs p < q, both in percent, not p={self.p}, q={self.q}")

    @property
    def share(self) -> float:
        return 100 * self.p / self.q


@checked
@dataclass(frozen=True, repr=False)
class FewContributors(OfContributions):
    """Fewer than n contributors, holdings counted once.

    >>> import pandas as pd
    >>> from discreet import Microdata, tabulate
    >>> firms = pd.DataFrame({"area": ["N", "N", "N", "S"], "group": [1, 1, 2, 3], "turnover": [9, 5, 4, 6]})
    >>> data = Microdata.of(firms, dimensions=["area"], holding="group", magnitudes=["turnover"])
    >>> FewContributors(3)(tabulate(data, "area", value="turnover")).tolist()
    [False, True, True]
    """

    n: int
    level: float = 0
    sliding: float = 0
    name: ClassVar[str] = "few-contributors"

    def __post_init__(self) -> None:
        if self.n != int(self.n) or self.n < 1:
            raise InputError(f"n is a number of contributors, from 1 (fewer than n is sensitive), not {self.n}")
        percent(self.level, "level")
        percent(self.sliding, "sliding")

    def judge(self, table: Table, waived: Table | None) -> Array:
        """The cells of ``table`` that are sensitive, of those who are in ``waived`` alone if it is given.

        >>> import pandas as pd
        >>> from discreet import Microdata, tabulate
        >>> firms = pd.DataFrame({"area": ["N", "N", "N", "S", "S"], "turnover": [90, 5, 3, 40, 60]})
        >>> data = Microdata.of(firms, dimensions=["area"], magnitudes=["turnover"])
        >>> table = tabulate(data, "area", value="turnover")
        >>> FewContributors(3).judge(table, None).tolist()
        [False, False, True]
        """
        c = concentration(table, 1, str(self), waived)
        return np.asarray((c.count > 0) & (c.count < self.n) & c.protected)

    def evidence(self, table: Table) -> dict[str, Array]:
        """The number of contributors (confidential).

        >>> import pandas as pd
        >>> from discreet import Microdata, tabulate
        >>> firms = pd.DataFrame({"area": ["N", "N", "N", "S", "S"], "turnover": [90, 5, 3, 40, 60]})
        >>> data = Microdata.of(firms, dimensions=["area"], magnitudes=["turnover"])
        >>> table = tabulate(data, "area", value="turnover")
        >>> FewContributors(3).evidence(table)["contributors"].tolist()
        [5, 3, 2]
        """
        return {"contributors": table.contributions.count}

    def room(self, table: Table, waived: Table | None) -> Array:
        """``level`` percent of the value.

        >>> import pandas as pd
        >>> from discreet import Microdata, tabulate
        >>> firms = pd.DataFrame({"area": ["N", "N", "N", "S", "S"], "turnover": [90, 5, 3, 40, 60]})
        >>> data = Microdata.of(firms, dimensions=["area"], magnitudes=["turnover"])
        >>> table = tabulate(data, "area", value="turnover")
        >>> FewContributors(3, level=10).room(table, None).tolist()
        [19.8, 9.8, 10.0]
        """
        return of_value(table, self.level)

    def sliding_level(self, table: Table) -> Array:
        """``sliding`` percent of the value.

        >>> import pandas as pd
        >>> from discreet import Microdata, tabulate
        >>> firms = pd.DataFrame({"area": ["N", "N", "N", "S", "S"], "turnover": [90, 5, 3, 40, 60]})
        >>> data = Microdata.of(firms, dimensions=["area"], magnitudes=["turnover"])
        >>> table = tabulate(data, "area", value="turnover")
        >>> FewContributors(3, sliding=20).sliding_level(table).tolist()
        [39.6, 19.6, 20.0]
        """
        return of_value(table, self.sliding)


@checked
@dataclass(frozen=True, repr=False)
class EntropyRule(OfContributions):
    r"""Normalised entropy of the contributions below t: :math:`-\sum (x_i/X)\log_2(x_i/X) / \log_2 N < t`.

    Equation (1) of [ODF03]_. A cell with one contributor is sensitive. Where fewer contributions than contributors are
    kept, the rest can be shared out as evenly or as unevenly as their number and the smallest one kept allow; if the
    judgement depends on it, more are asked for. ``t`` lies between 0 and 1 and is not a percentage.

    >>> import pandas as pd
    >>> from discreet import Microdata, tabulate
    >>> firms = pd.DataFrame({"area": ["N", "N", "S", "S"], "turnover": [90, 5, 40, 60]})
    >>> data = Microdata.of(firms, dimensions=["area"], magnitudes=["turnover"])
    >>> EntropyRule(0.5)(tabulate(data, "area", value="turnover", top=4)).tolist()
    [False, True, False]
    """

    t: float
    name: ClassVar[str] = "entropy"

    def __post_init__(self) -> None:
        if not 0 <= self.t <= 1:
            raise InputError(f"t is a normalised entropy, from 0 to 1, not {self.t}")

    def bounds(self, c: Concentration) -> tuple[Array, Array]:
        """The least and the greatest normalised entropy that agree with the contributions kept.

        >>> import pandas as pd
        >>> from discreet import Microdata, tabulate
        >>> firms = pd.DataFrame({"area": ["N", "N", "N", "S", "S"], "turnover": [90, 5, 3, 40, 60]})
        >>> data = Microdata.of(firms, dimensions=["area"], magnitudes=["turnover"])
        >>> table = tabulate(data, "area", value="turnover", top=3)
        >>> low, high = EntropyRule(0.5).bounds(concentration(table, 1, "the rule"))
        >>> low.round(3).tolist(), high.round(3).tolist()
        ([0.729, 0.307, 0.971], [0.746, 0.307, 0.971])
        """
        total = np.maximum(c.total, c.size.sum(axis=1))
        known = _entropy(c.size, total).sum(axis=1)
        rest, hidden = total - c.size.sum(axis=1), np.maximum(c.count - (c.size > 0).sum(axis=1), 0)
        rest = np.where(hidden > 0, np.maximum(rest, 0), 0)
        cap = np.where(hidden > 0, c.size[:, -1], 0)
        even = hidden * _entropy(np.divide(rest, hidden, out=np.zeros_like(rest), where=hidden > 0), total)
        full = np.floor(np.divide(rest, cap, out=np.zeros_like(rest), where=cap > 0))
        uneven = full * _entropy(cap, total) + _entropy(rest - full * cap, total)
        scale = np.log2(np.maximum(c.count, 2))
        single = c.count <= 1
        return np.where(single, 0, (known + uneven) / scale), np.where(single, 0, (known + even) / scale)

    def judge(self, table: Table, waived: Table | None) -> Array:
        """The cells of ``table`` that are sensitive, of those who are in ``waived`` alone if it is given.

        >>> import pandas as pd
        >>> from discreet import Microdata, tabulate
        >>> firms = pd.DataFrame({"area": ["N", "N", "N", "S", "S"], "turnover": [90, 5, 3, 40, 60]})
        >>> data = Microdata.of(firms, dimensions=["area"], magnitudes=["turnover"])
        >>> table = tabulate(data, "area", value="turnover", top=3)
        >>> EntropyRule(0.5).judge(table, None).tolist()
        [False, True, False]
        """
        c = concentration(table, 1, str(self), waived)
        low, high = self.bounds(c)
        open_question = (low < self.t) & (high >= self.t) & (high - low > 1e-9) & (c.count > 0)
        if open_question.any():
            most = int(c.count[open_question].max())
            raise InputError(
                f"{self} cannot be judged for {int(open_question.sum()):,} cells from the contributions kept; "
                f"tabulate(..., top=k) with a larger k (at most {most:,})"
            )
        return np.asarray((high < self.t) & (c.count > 0) & c.protected)

    def evidence(self, table: Table) -> dict[str, Array]:
        """The least and the greatest normalised entropy that agree with the contributions kept (confidential).

        >>> import pandas as pd
        >>> from discreet import Microdata, tabulate
        >>> firms = pd.DataFrame({"area": ["N", "N", "N", "S", "S"], "turnover": [90, 5, 3, 40, 60]})
        >>> data = Microdata.of(firms, dimensions=["area"], magnitudes=["turnover"])
        >>> table = tabulate(data, "area", value="turnover", top=3)
        >>> EntropyRule(0.5).evidence(table)["entropy to"].round(3).tolist()
        [0.746, 0.307, 0.971]
        """
        low, high = self.bounds(concentration(table, 1, str(self)))
        return {"entropy from": low, "entropy to": high}


def _entropy(x: Array, total: Array) -> Array:
    total = total.reshape(-1, *[1] * (x.ndim - 1))
    share = np.divide(x, total, out=np.zeros_like(x, dtype=float), where=(total > 0) & (x > 0))
    return np.asarray(-share * np.log2(share, out=np.zeros_like(share), where=share > 0))


def _both(need: Array, table: Table) -> tuple[Array, Array]:
    """The same below and above, but nothing below a cell that is zero."""
    return np.where(table.value == 0, 0, need), need


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Waived(Rule):
    """A rule on contributions that protects only those who have not waived.

    ``protected`` is the same table tabulated from those who want protection: ``tabulate(..., where={"waiver": "no"})``.
    A full waiver takes all records of a contributor out of it, a partial one only those in some cells. With p %, s the
    largest protected contribution and r the largest other: X − x_s − x_r < p x_s/100.

    >>> import pandas as pd
    >>> from discreet import Microdata, tabulate
    >>> firms = pd.DataFrame({"area": ["N", "N", "N"], "waiver": ["yes", "no", "no"], "turnover": [90, 5, 4]})
    >>> data = Microdata.of(firms, dimensions=["area", "waiver"], magnitudes=["turnover"])
    >>> table = tabulate(data, "area", value="turnover")
    >>> protected = tabulate(data, "area", value="turnover", where={"waiver": "no"})
    >>> PPercent(10)(table).tolist(), Waived(PPercent(10), protected)(table).tolist()
    ([True, True], [False, False])
    """

    rule: OfContributions
    protected: Table

    def __post_init__(self) -> None:
        if not isinstance(self.rule, OfContributions):
            raise InputError(f"waivers go with rules on contributions (dominance, p %, ...), not with {self.rule}")

    def __call__(self, table: Table) -> Array:
        return self.rule.judge(table, self.protected)

    def evidence(self, table: Table) -> dict[str, Array]:
        """That of the rule, and how many contributors want protection (confidential).

        >>> import pandas as pd
        >>> from discreet import Microdata, tabulate
        >>> firms = pd.DataFrame({"area": ["N", "N", "N"], "waiver": ["yes", "no", "no"], "turnover": [90, 50, 4]})
        >>> data = Microdata.of(firms, dimensions=["area", "waiver"], magnitudes=["turnover"])
        >>> table, protected = (tabulate(data, "area", value="turnover", where=w) for w in (None, {"waiver": "no"}))
        >>> Waived(PPercent(10), protected).evidence(table)["protected contributors"].tolist()
        [2, 2]
        """
        return {**self.rule.evidence(table), "protected contributors": self.protected.contributions.count}

    def levels(self, table: Table) -> tuple[Array, Array]:
        """What the rule asks for where a contributor who wants protection is at risk.

        >>> import pandas as pd
        >>> from discreet import Microdata, tabulate
        >>> firms = pd.DataFrame({"area": ["N", "N", "N"], "waiver": ["yes", "no", "no"], "turnover": [90, 50, 4]})
        >>> data = Microdata.of(firms, dimensions=["area", "waiver"], magnitudes=["turnover"])
        >>> table, protected = (tabulate(data, "area", value="turnover", where=w) for w in (None, {"waiver": "no"}))
        >>> below, above = Waived(PPercent(10), protected).levels(table)
        >>> above.tolist()
        [1.0, 1.0]
        """
        return _both(np.where(self(table), self.rule.room(table, self.protected), 0), table)

    def sliding_level(self, table: Table) -> Array:
        """The length that the rule asks for where a contributor who wants protection is at risk.

        >>> import pandas as pd
        >>> from discreet import Microdata, tabulate
        >>> firms = pd.DataFrame({"area": ["N", "N", "N"], "waiver": ["yes", "no", "no"], "turnover": [90, 50, 4]})
        >>> data = Microdata.of(firms, dimensions=["area", "waiver"], magnitudes=["turnover"])
        >>> table, protected = (tabulate(data, "area", value="turnover", where=w) for w in (None, {"waiver": "no"}))
        >>> Waived(FewContributors(5, sliding=10), protected).sliding_level(table).tolist()
        [14.4, 14.4]
        """
        return np.where(self(table), self.rule.sliding_level(table), 0)

    def __repr__(self) -> str:
        return f"Waived({self.rule})"
