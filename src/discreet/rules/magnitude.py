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
from discreet.rules.contribution_sizes import MULTIPLICITY, Concentration, OfContributions, concentration
from discreet.rules.notation import of_value, percent
from discreet.tables.table import Table


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
