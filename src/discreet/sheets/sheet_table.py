"""A table read from a sheet: its numbers, where each stands, and everything that was assumed about it. Confidential."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.errors import InputError
from discreet.sheets.sheet_grid import CellPlace, SheetGrid
from discreet.sheets.sheet_layout import DerivedNumber, LeftAside, SheetLayout

if TYPE_CHECKING:
    from discreet.data.dimension import Dimension
    from discreet.tables.published import Published
    from discreet.tables.table import Table

CellCodes = tuple[str, ...]
"""A cell of a table: a code for each dimension, in their order."""


@dataclass(frozen=True, eq=False, repr=False)
class SheetTable:
    """What stands on a sheet, as a table.

    ``table`` is the table of all its numbers, for rules and methods; where some are hidden there is none, and
    ``published`` is what an audit reads. Both have the same dimensions.
    """

    grid: SheetGrid
    layout: SheetLayout
    measure: str
    """What the numbers are: "count", or the name of a magnitude."""
    published: Published
    places: Mapping[CellCodes, tuple[CellPlace, ...]]
    """Where the number of each cell stands: in several places if the sheet repeats it, in none if it only follows."""
    percentages: tuple[DerivedNumber, ...] = ()
    """Percentages, proportions and means of the sheet, and what they were confirmed to be a share of."""
    left_aside: tuple[LeftAside, ...] = ()
    assumed: tuple[str, ...] = ()
    """Everything that was not said but taken as so, a sentence for each, with the option that says otherwise."""
    fixed: tuple[CellCodes, ...] = ()
    """Cells whose number stands in a header, as "Treated (N = 40)": they stay published, whatever is hidden."""
    _table: Table | None = None

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        return self.published.dimensions

    @property
    def name(self) -> str:
        """The file and the sheet, for messages."""
        return f"{self.grid.source}: {self.grid.sheet}" if self.grid.sheet else self.grid.source

    @property
    def hidden(self) -> int:
        """How many cells hold a mark or a range in place of a number."""
        return int((self.published.status != "").sum())

    @property
    def table(self) -> Table:
        """The table, if every number is shown."""
        if self._table is None:
            raise InputError(
                f"{self.name!r} has {self.hidden:,} hidden cells (marks or ranges in place of numbers), so it cannot "
                "be protected; give the table before anything was hidden, or audit it as it is: .published"
            )
        return self._table

    def __repr__(self) -> str:
        names = " x ".join(d.name for d in self.dimensions)
        hidden = f", {self.hidden:,} hidden" if self.hidden else ""
        where = self.layout.range.address
        return (
            f"SheetTable({names}: {len(self.published.codes):,} cells{hidden}; {self.measure}; {self.name!r} {where})"
        )
