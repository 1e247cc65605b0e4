"""Pay by occupation and band that a rule hides in the demo's earnings, taken from its line: is it near the truth?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources

import numpy as np

import discreet as dc
from discreet.base.annotations import Array
from discreet.errors import Refused

SECRETS = [b"a secret that attackers do not know %d" % number for number in range(4)]
NEAR = 0.10  # the percentage of the rule
NAMES = ["occupation", "band"]
Cell = tuple[str, ...]


def found_by_subtraction(n: int, sensitive: str) -> float:
    """Of sensitive cells that are alone in a line, the share whose sum follows from it within the rule's percentage.

    None of them follows from a table that is refused.
    """
    employees = dc.datasets.earnings(n)
    text = resources.files("discreet.server").joinpath("demo_earnings.toml").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("secret")]
    policy = dc.policy.parse_policy("\n".join(lines))
    # pay by its own bands is not given at all, whatever the rule finds: here the bands are a variable like any other
    pay = replace(policy.measures["pay"], sensitive=sensitive, statistics=("sum",), bands="", edges=())
    policy = replace(policy, measures={**policy.measures, "pay": pay})
    near = [one for secret in SECRETS for one in _tried(employees, replace(policy, secret=secret))]
    return float(np.mean(near)) if near else 0.0


def _tried(employees: dc.Microdata, policy: dc.Policy) -> list[bool]:
    true = dc.tabulate(employees, NAMES, value="pay", top=5)
    sums = _by_cell(true.dimensions, true.layout.codes, true.value)
    dominated = [cell for cell, found in zip(sums, dc.PPercent(100 * NEAR)(true), strict=True) if found]
    hidden = [
        cell for cell in dominated if all(_is_leaf(d, code) for d, code in zip(true.dimensions, cell, strict=True))
    ]
    try:
        release = dc.answer(employees, dc.Query.of(", ".join(NAMES), measure="pay"), policy)
    except Refused:
        return [False] * len(hidden)
    shown = _by_cell(release.dimensions, release.codes, release.values["pay"])
    found = [_from_line(true.dimensions, shown, cell) for cell in hidden]
    pairs = zip(hidden, found, strict=True)
    return [abs(guess - sums[cell]) <= NEAR * sums[cell] for cell, guess in pairs if guess is not None]


def _by_cell(dimensions: Sequence[dc.Dimension], codes: Array, values: Array) -> dict[Cell, float]:
    names = [[dimension.codes[k] for k in codes[:, axis]] for axis, dimension in enumerate(dimensions)]
    return dict(zip(zip(*names, strict=True), np.asarray(values, float).tolist(), strict=True))


def _is_leaf(dimension: dc.Dimension, code: str) -> bool:
    return code in dimension.leaves


def _from_line(dimensions: Sequence[dc.Dimension], shown: Mapping[Cell, float], cell: Cell) -> float | None:
    """A total less all others of its line; None where others of both lines are hidden, too."""
    for axis, dimension in enumerate(dimensions):
        line = {
            code: shown[(*cell[:axis], code, *cell[axis + 1 :])] for code in (*dimension.leaves, dimension.total or "")
        }
        others = [value for code, value in line.items() if code not in (cell[axis], dimension.total)]
        guess = line[dimension.total or ""] - sum(others)
        if not np.isnan(guess):
            return guess
    return None
