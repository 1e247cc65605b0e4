"""A table read from a sheet: its numbers, where each stands, and everything that was assumed about it. Confidential."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from discreet.base.arguments import checked
from discreet.errors import InputError, many
from discreet.sheets import picture
from discreet.sheets.sheet_grid import CellPlace, SheetGrid
from discreet.sheets.sheet_layout import CountedShare, DerivedNumber, LeftAside, RunningSum, SheetLayout

if TYPE_CHECKING:
    from rich.console import Group

    from discreet.data.dimension import Dimension
    from discreet.tables.layout import Layout
    from discreet.tables.published import Published
    from discreet.tables.table import Table

CellCodes = tuple[str, ...]
"""A cell of a table: a code for each dimension, in their order."""


class CellPlaces(dict[CellCodes, tuple[CellPlace, ...]]):
    """Where the number of each cell stands: in several places if the sheet repeats it, in none if it only follows."""


@dataclass(frozen=True, eq=False)
class ShareTable:
    """A table of percentages or rates of the counts of another: where they stand, and what each is a share of."""

    grid: SheetGrid
    layout: SheetLayout
    percentages: tuple[DerivedNumber, ...]
    dimensions: tuple[Dimension, ...] = ()
    """None of its own: its labels are those of the counts."""
    left_aside: tuple[LeftAside, ...] = ()

    @property
    def name(self) -> str:
        """The file and the sheet, for messages."""
        return f"{self.grid.source}: {self.grid.sheet}" if self.grid.sheet else self.grid.source


@checked
@dataclass(frozen=True, eq=False, repr=False)
class SheetTable:
    """What stands on a sheet, as a table.

    ``table`` is the table of all its numbers, for rules and methods; where some are hidden there is none, and
    ``published`` is what an audit reads. Both have the same dimensions.

    >>> import pandas as pd
    >>> from discreet import read_table
    >>> counts = pd.DataFrame({"f": [20, 3, 23], "m": [9, 30, 39]}, index=["North", "South", "Total"])
    >>> [dimension.name for dimension in read_table(counts, names=["area", "sex"]).dimensions]
    ['area', 'sex']
    """

    grid: SheetGrid
    layout: SheetLayout
    measure: str
    """What the numbers are: "count", or the name of a magnitude."""
    published: Published
    places: CellPlaces
    """Where the number of each cell stands: in several places if the sheet repeats it, in none if it only follows."""
    percentages: tuple[DerivedNumber, ...] = ()
    """Percentages, proportions and means of the sheet, and what they were confirmed to be a share of."""
    running: tuple[RunningSum, ...] = ()
    """Running sums of the sheet, line by line: one stays where all that it adds up is shown."""
    left_aside: tuple[LeftAside, ...] = ()
    assumed: tuple[str, ...] = ()
    """Everything that was not said but taken as so, a sentence for each, with the option that says otherwise."""
    fixed: tuple[CellCodes, ...] = ()
    """Cells whose number stands in a header or label alone, as "Treated (N = 40)"; a mark can stand in its place."""
    _table: Table | None = None
    unread: tuple[SheetGrid, ...] = ()
    """Sheets of the file that hold no table and were not read; their texts are not judged."""
    share_tables: tuple[ShareTable, ...] = ()
    """Tables of the file, below or on other sheets, that hold the counts of this one as percentages or rates."""
    plain: SheetTable | None = None
    """The same without labels that are parts of others by their numbers alone, to be set against other sheets."""
    counted: Mapping[CellPlace, CountedShare] = field(default_factory=dict)
    """Cells that hold a share in place of their count, which follows from it, or say of how many their count is."""
    within: tuple[CellPlace, ...] = ()
    """Headers of populations that stand in the cells below them alone, as in "3/45 (6.7%)"."""

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
                f"{self.name!r} has {many(self.hidden, 'hidden cell')} (marks or ranges in place of numbers), so it "
                "cannot be protected; give the table before anything was hidden, say unavailable= (--unavailable) of a "
                "mark for numbers that nobody has, such as n/a, or audit it as it is: discreet audit FILE (what it "
                "publishes: .published)"
            )
        return self._table

    def places_in(self, layout: Layout) -> tuple[tuple[CellPlace, ...], ...]:
        """Where the number of each cell of a layout with the codes of the sheet stands; () where it stands nowhere.

        >>> import pandas as pd
        >>> from discreet import read_table
        >>> sheet = read_table(pd.DataFrame({"ward": ["A", "B", "Total"], "people": [12, 3, 15]}))
        >>> [place.address for places in sheet.places_in(sheet.table.layout) for place in places]
        ['B4', 'B2', 'B3']
        """
        if self._table is not None and layout is self._table.layout:
            return self._standing
        return _places_in(layout, self.places)

    @cached_property
    def _standing(self) -> tuple[tuple[CellPlace, ...], ...]:
        return _places_in(self.table.layout, self.places)

    def show(self, *, rows: int = picture.ROWS, columns: int = picture.COLUMNS) -> None:
        """Print the sheet as it was understood, with everything that was assumed (confidential).

        >>> import pandas as pd
        >>> import discreet as dc
        >>> wards = pd.DataFrame({"ward": ["A", "B", "Total"], "people": [12, 3, 15]})
        >>> dc.read_table(wards).show()  # doctest: +ELLIPSIS, +NORMALIZE_WHITESPACE
           A      B
        1  ward   people
        2  A          12
        3  B           3
        4  Total      15
        ...
        """
        from rich.console import Console

        Console().print(self.drawn(rows=rows, columns=columns))

    def drawn(self, *, rows: int = picture.ROWS, columns: int = picture.COLUMNS) -> Group:
        """The sheet with its cells coloured by what they are, for a console of rich (confidential).

        >>> import pandas as pd
        >>> import discreet as dc
        >>> sheet = dc.read_table(pd.DataFrame({"ward": ["A", "B", "Total"], "people": [12, 3, 15]}))
        >>> len(sheet.drawn(rows=10).renderables)
        5
        """
        names = [d.name for d in self.dimensions]
        return picture.sheet_text(self.grid, self.layout, names, self.sentences, rows=rows, columns=columns)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was understood, in words: dimensions, measure, what is hidden or left aside, what was assumed."""
        aside = [f"left aside: {part.range.address} ({part.reason})" for part in self.left_aside]
        numbers = [*self.percentages, *(part for table in self.share_tables for part in table.percentages)]
        confirmed = sum(part.numerator is not None for part in numbers)
        several = f"{many(len(numbers), 'percentage')}, means or rates"
        derived = [f"{several}, {confirmed:,} of them confirmed as shares of counts"]
        return (
            f"{len(self.places):,} cells of {self.measure!r}, {self.hidden:,} of them hidden",
            *(_described(d) for d in self.dimensions),
            *(derived if numbers else ()),
            *aside,
            *self.assumed,
        )

    def __rich__(self) -> Group:
        return self.drawn()

    def _repr_html_(self) -> str:
        return picture.sheet_html(self.grid, self.layout, [d.name for d in self.dimensions], self.sentences)

    def __repr__(self) -> str:
        names = " x ".join(d.name for d in self.dimensions)
        hidden = f", {self.hidden:,} hidden" if self.hidden else ""
        where = self.layout.range.address
        return f"SheetTable({names}: {len(self.places):,} cells{hidden}; {self.measure}; {self.name!r} {where})"


def _places_in(layout: Layout, places: CellPlaces) -> tuple[tuple[CellPlace, ...], ...]:
    names = [[d.codes[k] for k in own] for d, own in zip(layout.dimensions, layout.codes.T.tolist(), strict=True)]
    return tuple([places.get(codes, ()) for codes in zip(*names, strict=True)])


def _described(dimension: Dimension) -> str:
    groups = f", {len(dimension.groups):,} of them sums of others" if dimension.groups else ""
    total = "no total" if dimension.total is None else f"total {dimension.total!r}"
    return f"dimension {dimension.name!r}: {many(len(dimension.codes), 'code')}{groups}, {total}"
