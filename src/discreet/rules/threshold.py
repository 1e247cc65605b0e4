"""Rules on counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.errors import InputError
from discreet.rules.base import Rule
from discreet.rules.notation import of_value, percent, rule_text
from discreet.tables.table import Table


@checked
@dataclass(frozen=True, repr=False)
class Threshold(Rule):
    """Minimum frequency: a cell with 0 < count < n is sensitive; with ``zeros`` an empty one is, too.

    Structural zeros are never sensitive: everybody knows that no one is there. ``level`` is the protection asked for
    on both sides, ``sliding`` the length of the interval, in percent of the cell's value (see ``levels``).

    >>> table = Table.of([[3, 0], [1, 2]], ["area", "sex"])
    >>> table.count[Threshold(3)(table)].tolist()
    [2, 1, 2]
    >>> Threshold(3, zeros=True)(table).sum()
    np.int64(4)
    """

    n: int
    zeros: bool = False
    level: float = 0
    sliding: float = 0
    name: ClassVar[str] = "threshold"

    def __post_init__(self) -> None:
        if self.n != int(self.n) or self.n < 1:
            raise InputError(f"the threshold n is a whole number from 1 (count < n is sensitive), not {self.n}")
        percent(self.level, "level")
        percent(self.sliding, "sliding")

    def __call__(self, table: Table) -> Array:
        count = table.count
        small = (np.abs(count) < self.n) & ((count != 0) | self.zeros)
        return np.asarray(small & ~table.structural)

    def evidence(self, table: Table) -> dict[str, Array]:
        """The counts, which the threshold is compared with (confidential).

        >>> table = Table.of([[3, 0], [1, 2]], ["area", "sex"])
        >>> Threshold(3).evidence(table)["count"].tolist()
        [6, 4, 2, 3, 3, 0, 3, 1, 2]
        """
        return {"count": table.count}

    def levels(self, table: Table) -> tuple[Array, Array]:
        """``level`` percent of the value, on both sides.

        >>> table = Table.of([[3, 0], [1, 2]], ["area", "sex"])
        >>> below, above = Threshold(3, level=50).levels(table)
        >>> above.tolist()
        [3.0, 2.0, 1.0, 1.5, 1.5, 0.0, 1.5, 0.5, 1.0]
        """
        width = of_value(table, self.level)
        return width, width

    def sliding_level(self, table: Table) -> Array:
        """``sliding`` percent of the value.

        >>> table = Table.of([[3, 0], [1, 2]], ["area", "sex"])
        >>> Threshold(3, sliding=200).sliding_level(table).tolist()
        [12.0, 8.0, 4.0, 6.0, 6.0, 0.0, 6.0, 2.0, 4.0]
        """
        return of_value(table, self.sliding)

    __repr__ = rule_text
