"""Midpoint rounding: every count shows the middle of its bin, and zero stays zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked, whole
from discreet.errors import InputError
from discreet.methods.contract import Contract
from discreet.methods.perturb.outcome import count_cells, perturbed
from discreet.release import Protected
from discreet.risk.transition import Transition
from discreet.tables.table import Table

MOST_BASE = 5_000  # of a base that becomes a matrix


@checked
@dataclass(frozen=True)
class MidpointRound:
    r"""Counts rounded up to a multiple of ``base``, less half of it; zero stays 0. OpenSAFELY's "midpoint 6".

    .. math:: \hat x = b \lceil x / b \rceil - \lfloor b / 2 \rfloor \; [x > 0]

    1 to 6 show 3, 7 to 12 show 9. Every cell on its own, so totals need not add up: a total that shows 3 over parts
    that show 3 can tell what the parts are, and the audit says where. An empty cell is known to be empty.

    >>> from discreet import Table
    >>> MidpointRound()(Table.of([[3, 0], [1, 20]], ["area", "sex"])).published["count"].tolist()
    [21, 3, 21, 3, 3, 0, 21, 3, 21]
    """

    contract: ClassVar[Contract] = Contract(acts_on="table", truthful=False, cellwise=True, transition=True)
    base: int = 6

    def __post_init__(self) -> None:
        whole("base", self.base, 1, MOST_BASE)

    def __call__(self, table: Table) -> Protected:
        count = count_cells(table, "midpoint rounding")
        if (count < 0).any():
            raise InputError("a group that takes others away is negative here; a count cannot be")
        shown = self._shown(count)
        lower, upper = self.behind(shown, shown)
        words = f"rounded to the midpoint of {self.base}, zeros kept"
        return perturbed(table, shown, words, lower=lower, upper=upper, base=self.base)

    def _shown(self, count: Array) -> Array:
        out: Array = -(-count // self.base) * self.base - (self.base // 2) * (count > 0)
        return out

    def behind(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """The least and greatest count that shows a value from ``lower`` to ``upper``.

        >>> least, most = MidpointRound(6).behind(np.array([0, 3, 9]), np.array([0, 3, 9]))
        >>> least.tolist(), most.tolist()
        ([0.0, 1.0, 7.0], [0.0, 6.0, 12.0])
        """
        b, half = self.base, self.base // 2
        first = np.ceil((np.asarray(lower) + half) / b)  # bins that a value from lower upwards can be of
        last = np.floor((np.asarray(upper) + half) / b)
        least = np.where(np.asarray(lower) <= 0, 0, (np.maximum(first, 1) - 1) * b + 1)
        most = np.where(np.asarray(upper) < b - half, 0, last * b)
        return least, most

    def transition(self, table: Table | None = None) -> Transition:
        """P(shows j | was i).

        >>> MidpointRound(6).transition().outcomes(8)
        ((9, 1.0),)
        """
        b = self.base
        matrix = np.zeros((b + 1, b + 1))
        matrix[np.arange(b + 1), self._shown(np.arange(b + 1))] = 1
        return Transition(matrix, period=b)

    def idle(self, *, counts: bool) -> str:
        """Base 1 rounds no count.

        >>> MidpointRound(1).idle(counts=True), MidpointRound(6).idle(counts=True)
        ('to base 1 changes no count', '')
        """
        return "to base 1 changes no count" if self.base == 1 else ""
