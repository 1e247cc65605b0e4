"""Internal intruders: contributors who know their own part of a cell (ODT04, and ODF03 section 4.5.4).

Uncertainty about somebody's contribution is that about its rank plus that about its size once the rank is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.base.arguments import checked
from discreet.base.kinds import Unbounded
from discreet.base.naming import beside
from discreet.errors import InputError
from discreet.rules.insider import coalition_of_largest
from discreet.rules.scenarios import (
    Groups,
    LargestKnown,
    NotRank,
    RankKnown,
    Scenario,
    ValueOnly,
    intruder_risk,
    rank_values,
    sensitive,
)
from discreet.tables.table import Table

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Groups",
    "LargestKnown",
    "NotRank",
    "RankKnown",
    "Scenario",
    "ValueOnly",
    "insider_interval",
    "internal_risk",
    "intruder_risk",
    "outsider_interval",
    "rank_values",
    "sensitive",
]


@checked
def internal_risk(table: Table, scenario: Scenario, *, t: float = 0.8, colluders: int = 0) -> pd.DataFrame:
    """Risk of every cell of a magnitude table when its largest contributor and ``colluders`` next ones are intruders.

    Section 8 of [ODT04]_, where n colluders besides the intruder leave N − n others. Columns: others, rest (what they
    have), DR and DR_min (value only) against that coalition, ratio (the least DR_min/DR over coalitions up to that
    size), sensitive (ratio below ``t``, or a contribution is known). Somebody alone in a cell is known to all; cells
    without contributors are not sensitive. :class:`discreet.TSensitivity` is the same as a rule.

    >>> import pandas as pd
    >>> from discreet import Microdata, tabulate
    >>> firms = pd.DataFrame({"area": ["N", "N", "N", "S", "S"], "turnover": [90, 5, 3, 40, 60]})
    >>> data = Microdata.of(firms, dimensions=["area"], magnitudes=["turnover"])
    >>> internal_risk(tabulate(data, "area", value="turnover", top=3), RankKnown())[["area", "others", "sensitive"]]
        area  others  sensitive
    0  Total       4       True
    1      N       2       True
    2      S       1       True
    """
    import pandas as pd

    from discreet.tables.table import code_columns

    if not 0 <= t <= 1:
        raise InputError(f"t is a quotient of risks, from 0 to 1, not {t}")
    if colluders != int(colluders) or colluders < 0:
        raise InputError(f"colluders is how many tell the intruder their part, from 0, not {colluders}")
    coalition = coalition_of_largest(table, scenario, colluders, f"internal_risk(colluders={colluders})")
    columns = {"others": coalition.others, "rest": coalition.rest, "DR": coalition.dr, "DR_min": coalition.dr_min}
    columns |= {"ratio": coalition.ratio, "sensitive": coalition.sensitive(t)}
    return beside(pd.DataFrame(code_columns(table.layout)), columns)


@checked
def insider_interval(
    lower: Unbounded, upper: Unbounded, own: float, *, contributors: int | None = None, decimals: int = 0
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


def outsider_interval(upper: Unbounded, *, decimals: int = 0) -> tuple[float, float]:
    """What everybody knows of the largest contributor: more than nothing, at most the cell.

    >>> outsider_interval(1004)
    (1.0, 1004.0)
    """
    return 10.0**-decimals, float(upper)
