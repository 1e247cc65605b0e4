"""Pay by occupation and band that a rule hides in the demo's earnings, taken from its line: is it near the truth?"""

from __future__ import annotations

from dataclasses import replace
from importlib import resources

import numpy as np
import pandas as pd

import discreet as dc
from discreet.errors import Refused

SECRETS = [b"a secret that attackers do not know %d" % number for number in range(4)]
NEAR = 0.10  # the percentage of the rule
TOTAL = "Total"
NAMES = ["occupation", "band"]


def found_by_subtraction(n: int, sensitive: str) -> float:
    """Of sensitive cells that are alone in a line, the share whose sum follows from it within the rule's percentage.

    None of them follows from a table that is refused.
    """
    employees = dc.datasets.earnings(n)
    text = resources.files("discreet.server").joinpath("demo_earnings.toml").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("secret")]
    policy = dc.policy.parse_policy("\n".join(lines))
    pay = replace(policy.measures["pay"], sensitive=sensitive)
    policy = replace(policy, measures={**policy.measures, "pay": pay})
    return float(np.mean([near for one in SECRETS for near in _tried(employees, replace(policy, secret=one))] or [0]))


def _tried(employees: dc.Microdata, policy: dc.Policy) -> list[bool]:
    true = dc.tabulate(employees, NAMES, value="pay", top=5)
    dominated = pd.Series(dc.PPercent(100 * NEAR)(true), index=_cells(true.dimensions, true.layout.codes))
    sums = pd.Series(true.value, index=dominated.index)
    hidden = dominated[dominated & ~_at_total(dominated.index)].index
    try:
        release = dc.answer(employees, dc.Query.of(", ".join(NAMES), measure="pay"), policy)
    except Refused:
        return [False] * len(hidden)
    shown = pd.Series(release.values["pay"], index=_cells(release.dimensions, release.codes))
    return [one for cell in hidden if (one := _follows(shown, cell, sums[cell])) is not None]


def _cells(dimensions: tuple[dc.Dimension, ...], codes: np.ndarray) -> pd.MultiIndex:
    return pd.MultiIndex.from_arrays([np.array(d.codes)[codes[:, k]] for k, d in enumerate(dimensions)])


def _at_total(cells: pd.MultiIndex) -> np.ndarray:
    return np.logical_or.reduce([cells.get_level_values(k) == TOTAL for k in range(cells.nlevels)])


def _follows(shown: pd.Series, cell: tuple[str, str], truth: float) -> bool | None:
    """Whether a total less all others of its line is near; None where another one of the line is hidden, too."""
    for axis in (0, 1):
        line = shown[shown.index.get_level_values(1 - axis) == cell[1 - axis]]
        codes = line.index.get_level_values(axis)
        finest = line[[code == TOTAL or len(code) == len(cell[axis]) for code in codes]]
        others = finest.drop([cell, *[key for key in finest.index if key[axis] == TOTAL]], errors="ignore")
        total = finest[finest.index.get_level_values(axis) == TOTAL]
        if not others.isna().any() and not total.isna().any() and len(total) == 1:
            return bool(abs(float(total.iloc[0]) - float(others.sum()) - truth) <= NEAR * truth)
    return None
