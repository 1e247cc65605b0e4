"""Barnardisation: one more or one less, or neither. [Ant16]_ section 2.4.1.2, after Hundepool et al. (2012)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar

import numpy as np

from discreet.base.arguments import checked, share
from discreet.methods.contract import Contract
from discreet.methods.keys import Secret, read_source, uniforms
from discreet.methods.perturb.outcome import count_cells, perturbed
from discreet.release import Protected
from discreet.risk.transition import Transition
from discreet.tables.table import Table


@checked
@dataclass(frozen=True)
class Barnard:
    """Barnardisation: one more, one less, or neither. [Ant16]_ section 2.4.1.2, after Hundepool et al. (2012).

    A non-zero count stays with probability ``p``, else it goes up or down by 1, alike often. The thesis prints
    (1 + p)/2 for one of the two; with (1 - p)/2 for both the three sum to 1. Every published cell on its own, by its
    key or a ``seed``; zeros stay, so what shows as 2 or more is truly not 0.

    >>> from discreet import Table
    >>> Barnard(0.5, seed=1)(Table.of([[3, 0], [1, 2]], ["area", "sex"])).published["count"].tolist()
    [7, 4, 2, 2, 4, 0, 4, 1, 3]
    """

    contract: ClassVar[Contract] = Contract(acts_on="table", truthful=False, cellwise=True, transition=True)
    p: float = 0.8
    _: KW_ONLY
    seed: int | None = None
    secret: str | bytes | Secret | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        share("p", self.p)
        object.__setattr__(self, "secret", read_source(self.seed, self.secret))

    def __call__(self, table: Table) -> Protected:
        shown = count_cells(table, "Barnardisation").copy()
        at = np.flatnonzero(shown)
        chance = uniforms(table, seed=self.seed, secret=self.secret, only=at)
        side = (1 - self.p) / 2
        shown[at] += (chance >= 1 - side).astype(np.int64) - (chance < side)
        words = "counts changed by one at random"
        return perturbed(table, shown, words, lower=shown - (shown > 0), upper=shown + 1, p=self.p, seed=self.seed)

    def transition(self, table: Table | None = None) -> Transition:
        """P(shows j | was i).

        >>> Barnard(0.5).transition().outcomes(3)
        ((2, 0.25), (3, 0.5), (4, 0.25))
        """
        side = (1 - self.p) / 2
        return Transition([[1, 0, 0], [side, self.p, side]])
