"""The rows of one table on a sheet by what they are, and its cells by column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from discreet.sheets.blocks.cell_reading import ReadCell
from discreet.sheets.sheet_grid import SheetGrid


@dataclass(frozen=True, eq=False)
class BlockRows:
    """The rows of a table from its titles to its notes."""

    titles: tuple[int, ...]
    headers: tuple[int, ...]
    body: tuple[int, ...]
    """Rows of numbers."""
    sections: tuple[int, ...]
    """Rows with a single label between rows of numbers."""
    notes: tuple[int, ...]
    numbering: tuple[int, ...]

    @property
    def every(self) -> tuple[int, ...]:
        """All rows, whatever they are."""
        return (*self.titles, *self.headers, *self.body, *self.sections, *self.notes, *self.numbering)


@dataclass(frozen=True, eq=False)
class BlockCells:
    """A table before it is known which of its columns are labels."""

    grid: SheetGrid
    cells: Mapping[tuple[int, int], ReadCell]
    rows: BlockRows
    _columns: dict[int, list[ReadCell]] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """The file and the sheet in quotation marks, for messages."""
        return quoted_name(self.grid)

    def column(self, column: int) -> list[ReadCell]:
        """The cells of a column in rows of numbers, without blank ones."""
        if column not in self._columns:
            cells = self.cells
            self._columns[column] = [cells[row, column] for row in self.rows.body if (row, column) in cells]
        return self._columns[column]

    def filled(self, column: int) -> bool:
        """Whether a column holds anything in rows of numbers."""
        return bool(self.column(column))

    def heading(self, column: int) -> str:
        """The texts above a column."""
        texts = [self.cells[row, column].text for row in self.rows.headers if (row, column) in self.cells]
        return " ".join(texts).strip(" .:")


def quoted_name(grid: SheetGrid) -> str:
    """The file and the sheet in quotation marks, for messages."""
    return repr(f"{grid.source}: {grid.sheet}" if grid.sheet else grid.source)
