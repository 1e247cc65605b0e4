"""What an attacker knows of the method: P(shown | count), and whether a set of records always shows one number.

The policy is public but for its secret, so this is read from the policy. What has no such form is not attacked by
sampling, and the verdict on it is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.base.annotations import Floats
from discreet.methods.contract import contract_of, transition_of
from discreet.policy.policy import Policy
from discreet.risk.transition import Transition


@dataclass(frozen=True, eq=False)
class Mechanism:
    """Log-probabilities of a change: number of variables of the cell, count, change + reach.

    Cells of more variables, and larger counts, are served by the last ones.
    """

    log_chance: Floats
    period: int
    keyed: bool
    words: str

    @property
    def reach(self) -> int:
        """The most a count can change."""
        return int(self.log_chance.shape[2]) // 2

    def of_size(self, size: int) -> Floats:
        """The log-probabilities of cells of so many variables: count, change + reach."""
        chances: Floats = self.log_chance[min(max(size, 1), len(self.log_chance)) - 1]
        return chances

    def possible(self, count: int, change: int) -> bool:
        """Whether a count may show so much more, in a cell of any number of variables."""
        last = self.log_chance.shape[1] - 1
        row = count if count <= last else last - (last - count) % self.period
        return abs(change) <= self.reach and bool((self.log_chance[:, row, change + self.reach] > -np.inf).any())


AS_HELD = Mechanism(np.zeros((1, 1, 1)), 1, True, "counts taken for those of the data")
"""What is shown is a sum of data, changed before or not: records are read off."""


def mechanism_of(policy: Policy) -> Mechanism | None:
    """The mechanism of a policy; None where answers are not counts moved one by one with known chances."""
    if len(policy.methods) != 1:
        return None
    method: Any = policy.make(0)
    contract = contract_of(method)
    if not contract.protects:
        return AS_HELD
    if not (contract.transition and contract.cellwise):
        return None
    transition = transition_of(method)
    if transition is None:
        return None
    name, stated = policy.methods[0]
    return Mechanism(*_log_chances(transition), "seed" not in stated, name)  # a seed draws for codes, not for records


def _log_chances(transition: Transition) -> tuple[Floats, int]:
    rows = [dict(transition.outcomes(count)) for count in range(len(transition.matrix) + transition.period)]
    reach = max(abs(shown - count) for count, row in enumerate(rows) for shown in row)
    table = np.full((len(rows), 2 * reach + 1), -np.inf)
    for count, row in enumerate(rows):
        for shown, chance in row.items():
            table[count, shown - count + reach] = np.log(chance)
    return table[None], transition.period
