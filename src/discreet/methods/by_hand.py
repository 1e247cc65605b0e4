"""What a person decides: a table published as it is, or some cells of it hidden."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from discreet.base.arguments import checked
from discreet.methods.contract import Contract, contract_of
from discreet.release import AS_IT_IS, Protected, Status, publishable
from discreet.tables.cell_choice import cell_mask
from discreet.tables.table import Table


@checked
@dataclass(frozen=True, kw_only=True)
class Publish:
    """Nothing hidden, nothing changed: for tables that are safe as they are.

    >>> import discreet as dc
    >>> print(dc.protect(dc.Table.of([[17, 20], [12, 31]], ["area", "sex"]), Publish()).release())
    area    1   2  Total
    1      17  20     37
    2      12  31     43
    Total  29  51     80
    """

    contract: ClassVar[Contract] = Contract(
        acts_on="table", truthful=True, cellwise=True, transition=False, protects=False
    )
    measures: tuple[str, ...] | None = None

    def __call__(self, table: Table) -> Protected:
        names = self.measures or (table.measure,)
        status = np.full(len(table), Status.PUBLISHED.value)
        return Protected(table, {n: publishable(table, n) for n in names}, status, AS_IT_IS, truthful=True)


@checked
@dataclass(frozen=True, eq=False)
class Hide:
    """Cells hidden by hand: a truth mask over the cells, their numbers, or a list of {dimension: code}.

    >>> import discreet as dc
    >>> table = dc.Table.of([[17, 0], [12, 1]], ["area", "injury"])
    >>> print(dc.protect(table, Hide([{"area": "2", "injury": "2"}])).release())
    area    1  2  Total
    1      17  0     17
    2      12  ×     13
    Total  29  1     30
    """

    contract: ClassVar[Contract] = Contract(acts_on="table", truthful=True, cellwise=False, transition=False)
    cells: Any
    measures: tuple[str, ...] | None = field(default=None, kw_only=True)

    def __call__(self, table: Table) -> Protected:
        gone = cell_mask(table, self.cells)
        status = np.where(gone, Status.PRIMARY.value, Status.PUBLISHED.value)
        names = self.measures or (table.measure,)
        published = {n: np.where(gone, np.nan, publishable(table, n).astype(float)) for n in names}
        return Protected(table, published, status, "cell suppression", truthful=True)


def as_counted(table: Table, method: Any) -> Protected:
    """The table of records that a method has changed: all of it is shown, in the words of that method."""
    contract = contract_of(method)
    return replace(Publish()(table), method=contract.words, truthful=contract.truthful)
