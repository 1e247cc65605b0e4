"""Redaction: every small count hidden by itself, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked, whole
from discreet.methods.contract import Contract
from discreet.methods.perturb.outcome import count_cells
from discreet.release import Protected, Status
from discreet.tables.room import Room
from discreet.tables.table import Table

MOST_COUNT = 1_000_000_000
"""The largest count that can be called small."""


@checked
@dataclass(frozen=True)
class Redact:
    """Counts from 1 to ``most`` hidden, each cell by itself; with ``zeros`` empty ones too.

    There is no secondary suppression, so a reader may find a redacted count by subtraction: the audit says where.
    Whoever sees the mark knows that the count lies between 1 and ``most``. ``Suppress`` hides further cells instead.

    >>> from discreet import Table
    >>> Redact(2)(Table.of([[3, 0], [1, 2]], ["area", "sex"])).published["count"].tolist()
    [6.0, 4.0, nan, 3.0, 3.0, 0.0, 3.0, nan, nan]
    """

    contract: ClassVar[Contract] = Contract(acts_on="table", truthful=True, cellwise=True, transition=False)
    most: int = 7
    zeros: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        whole("most", self.most, 1, MOST_COUNT)

    def __call__(self, table: Table) -> Protected:
        count = count_cells(table, "redaction")
        gone = (np.abs(count) <= self.most) & ((count != 0) | self.zeros) & ~table.structural
        status = np.where(gone, Status.PRIMARY.value, Status.PUBLISHED.value)
        least = np.where(table.layout.signed, -self.most, 0 if self.zeros else 1)
        nothing = np.zeros(len(table))
        room = Room(
            levels=(nothing, nothing, nothing),
            bounds=(np.where(gone, least, -np.inf), np.where(gone, self.most, np.inf)),
        )
        published = {"count": np.where(gone, np.nan, count.astype(float))}
        return Protected(table, published, status, self.words, truthful=True, room=room)

    @property
    def words(self) -> str:
        """What is done, for the public."""
        return f"counts of {0 if self.zeros else 1} to {self.most} not shown"

    def behind(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """The least and greatest count that is shown as one from ``lower`` to ``upper``.

        >>> least, most = Redact(7).behind(np.array([5.0, 20.0]), np.array([30.0, 20.0]))
        >>> least.tolist(), most.tolist()
        ([8.0, 20.0], [30.0, 20.0])
        """
        least = 0 if self.zeros else 1
        up = (lower >= least) & (lower <= self.most)
        down = (upper >= least) & (upper <= self.most)
        return np.where(up, self.most + 1, lower), np.where(down, least - 1, upper)
