"""What is worked out of tables that are asked again and again, whatever their population, and kept.

Which tables these are is decided beforehand (``hold``), never by who asks what: an answer that is there sooner would
tell that somebody else has asked for something like it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from discreet.tables.table import Table

T = TypeVar("T")


class HeldTables:
    """Results by the table that they are worked out of, for the tables that are held (confidential, as these are).

    >>> held, table = HeldTables(), Table.of([3, 1], ["area"])
    >>> held.worked_out(table, "n", lambda: table.n), held.has(table)
    (4, False)
    """

    def __init__(self) -> None:
        self._held: dict[int, tuple[Table, dict[Hashable, Any]]] = {}

    def hold(self, table: Table) -> None:
        """Keep from now on what is worked out of this very table."""
        self._held.setdefault(id(table), (table, {}))

    def has(self, table: Table) -> bool:
        """Whether results are kept of this very table."""
        return id(table) in self._held

    def worked_out(self, table: Table, what: Hashable, make: Callable[[], T]) -> T:
        """A result, made once for a table that is held; ``what`` names it. A table among the results is held, too."""
        if id(table) not in self._held:
            return make()
        results = self._held[id(table)][1]
        if what not in results:
            made = make()
            if isinstance(made, Table):
                self.hold(made)
            results[what] = made
        result: T = results[what]
        return result
