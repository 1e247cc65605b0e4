"""Waivers: a rule on contributions for those who want protection alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.errors import InputError
from discreet.rules.base import Rule
from discreet.rules.contribution_sizes import OfContributions, both_sides
from discreet.tables.table import Table


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Waived(Rule):
    """A rule on contributions that protects only those who have not waived.

    ``protected`` is the same table tabulated from those who want protection: ``tabulate(..., where={"waiver": "no"})``.
    A full waiver takes all records of a contributor out of it, a partial one only those in some cells. With p %, s the
    largest protected contribution and r the largest other: X − x_s − x_r < p x_s/100.

    >>> import pandas as pd
    >>> from discreet import FewContributors, Microdata, PPercent, tabulate
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
        >>> from discreet import FewContributors, Microdata, PPercent, tabulate
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
        >>> from discreet import FewContributors, Microdata, PPercent, tabulate
        >>> firms = pd.DataFrame({"area": ["N", "N", "N"], "waiver": ["yes", "no", "no"], "turnover": [90, 50, 4]})
        >>> data = Microdata.of(firms, dimensions=["area", "waiver"], magnitudes=["turnover"])
        >>> table, protected = (tabulate(data, "area", value="turnover", where=w) for w in (None, {"waiver": "no"}))
        >>> below, above = Waived(PPercent(10), protected).levels(table)
        >>> above.tolist()
        [1.0, 1.0]
        """
        return both_sides(np.where(self(table), self.rule.room(table, self.protected), 0), table)

    def sliding_level(self, table: Table) -> Array:
        """The length that the rule asks for where a contributor who wants protection is at risk.

        >>> import pandas as pd
        >>> from discreet import FewContributors, Microdata, PPercent, tabulate
        >>> firms = pd.DataFrame({"area": ["N", "N", "N"], "waiver": ["yes", "no", "no"], "turnover": [90, 50, 4]})
        >>> data = Microdata.of(firms, dimensions=["area", "waiver"], magnitudes=["turnover"])
        >>> table, protected = (tabulate(data, "area", value="turnover", where=w) for w in (None, {"waiver": "no"}))
        >>> Waived(FewContributors(5, sliding=10), protected).sliding_level(table).tolist()
        [14.4, 14.4]
        """
        return np.where(self(table), self.rule.sliding_level(table), 0)

    def __repr__(self) -> str:
        return f"Waived({self.rule})"
