"""Which variables the policy would never publish: found once when the data are loaded, so that nobody asks in vain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.base.arguments import checked
from discreet.data.microdata import Microdata
from discreet.errors import Refused
from discreet.policy.answering import answer
from discreet.policy.policy import Policy
from discreet.policy.query import Query
from discreet.tables.table import Table

if TYPE_CHECKING:
    import pandas as pd


@checked
def screen(data: Microdata | Table, policy: Policy) -> pd.DataFrame:
    r"""Every variable at every level by itself: allowed, or refused by which rule and why.

    The verdicts are those of ``answer``, so they tell no more than asking would.

    >>> import discreet as dc
    >>> people = dc.datasets.census(500)
    >>> policy = dc.policy.parse_policy('[[method]]\nname = "random-round"\nseed = 1')
    >>> screen(people, policy)[["variable", "allowed"]].head(2)
      variable  allowed
    0   region     True
    1      sex     True
    """
    import pandas as pd

    policy.check(data.dimensions)
    rows = []
    for dimension in data.dimensions:
        for level in dimension.levels:
            if level == "total":
                continue
            row = {"variable": dimension.name, "level": level, "categories": len(dimension.level(level))}
            try:
                answer(data, Query.of({dimension.name: level}), policy)
                rows.append({**row, "allowed": True, "rule": "", "reason": ""})
            except Refused as refused:
                rows.append({**row, "allowed": False, "rule": refused.rule, "reason": refused.reason})
    return pd.DataFrame(rows)
