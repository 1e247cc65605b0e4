"""The cells of a table by their codes: from the rows and columns of a body and the dimensions of both axes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import InputError, listed, many
from discreet.sheets.blocks.body_numbers import BodyNumbers, BodyParts
from discreet.sheets.blocks.sheet_blocks import SheetBlock
from discreet.sheets.sheet_grid import CellPlace
from discreet.sheets.sums.axis_levels import AxisDimension
from discreet.sheets.sums.axis_lines import AxisLines

MOST_COMBINATIONS = 30_000_000


@dataclass(frozen=True, eq=False)
class CellMap:
    """Every cell once: its code positions in each dimension, its number, where it stands."""

    dimensions: tuple[AxisDimension, ...]
    codes: tuple[tuple[str, ...], ...]
    """Per dimension its codes in the order of the sheet."""
    position: Array
    """A row for each cell, a column for each dimension."""
    values: Array
    hidden: Array
    unclear: Array
    least: Array
    most: Array
    places: tuple[tuple[CellPlace, ...], ...]
    decimals: int
    absent: Array
    """Code positions of cells of the body that are said not to exist, a row for each."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Codes per dimension."""
        return tuple(len(codes) for codes in self.codes)

    @property
    def flat(self) -> Array:
        """The place of each cell in the product of all codes."""
        return np.asarray(np.ravel_multi_index(tuple(self.position.T), self.shape))

    def names(self, cell: int) -> tuple[str, ...]:
        """The codes of a cell."""
        return tuple(codes[k] for codes, k in zip(self.codes, self.position[cell], strict=True))

    def all_names(self) -> list[tuple[str, ...]]:
        """The codes of every cell."""
        columns = [np.array(own, object)[p].tolist() for own, p in zip(self.codes, self.position.T, strict=True)]
        return list(zip(*columns, strict=True))

    def lines(self, axis: int, allowed: float) -> AxisLines:
        """The numbers along a dimension, and which cell (or -1) each one is."""
        where = self.cells_along(axis)
        there = where >= 0
        values = np.where(there, np.nan_to_num(self.values)[where], 0.0)
        shown = ~(there & self.hidden[where])
        return AxisLines(values, shown, there, allowed, 10.0**-self.decimals)

    def cells_along(self, axis: int) -> Array:
        """A row for each code of a dimension, a column for each combination of the others: the cell there, or -1."""
        if math.prod(self.shape) > MOST_COMBINATIONS:
            raise InputError(
                f"the labels make {many(math.prod(self.shape), 'combination')}, too many for a table; read fewer "
                "columns as labels with stub_columns= (--stub-columns), or a part of the sheet with range= (--range)"
            )
        where = np.full(math.prod(self.shape), -1)
        where[self.flat] = np.arange(len(self.position))
        return np.moveaxis(where.reshape(self.shape), axis, 0).reshape(self.shape[axis], -1)


def cell_map(
    block: SheetBlock,
    parts: BodyParts,
    numbers: BodyNumbers,
    rows: Sequence[AxisDimension],
    columns: Sequence[AxisDimension],
) -> CellMap:
    """The cells of a body; a cell that stands in several places must hold the same there."""
    dims = (*rows, *columns)
    codes = tuple(dim.distinct for dim in dims)
    places = [{code: k for k, code in enumerate(own)} for own in codes]
    down = np.array([[p[c] for c in dim.codes] for dim, p in zip(rows, places, strict=False)], int)
    across = np.array([[p[c] for c in dim.codes] for dim, p in zip(columns, places[len(rows) :], strict=True)], int)
    size = numbers.values.shape
    row_of, column_of = (part.ravel() for part in np.indices(size))
    position = np.concatenate(
        [down[:, row_of], across[:, column_of] if len(columns) else np.empty((0, len(row_of)), int)]
    )
    kept = np.flatnonzero(~numbers.absent.ravel())
    nothing = np.unique(position[:, numbers.absent.ravel()].T, axis=0)
    position = position[:, kept].T
    flat = np.ravel_multi_index(tuple(position.T), tuple(len(own) for own in codes))
    _, first, inverse = np.unique(flat, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    cell_of = rank[inverse]
    chosen = kept[first[order]]
    where: list[tuple[CellPlace, ...]] = [()] * len(order)
    all_places = [CellPlace(block.grid.sheet, row, column) for row in parts.rows for column in parts.columns]
    for k, cell in zip(kept.tolist(), cell_of.tolist(), strict=True):
        where[cell] += (all_places[k],)
    flats: Mapping[str, Array] = {
        name: getattr(numbers, name).ravel() for name in ("values", "hidden", "unclear", "least", "most")
    }
    if len(order) < len(kept):
        _refuse_differing(block, flats["values"], kept, chosen[cell_of], where)
    return CellMap(
        dims,
        codes,
        position[first[order]],
        values=flats["values"][chosen],
        hidden=flats["hidden"][chosen],
        unclear=flats["unclear"][chosen],
        least=flats["least"][chosen],
        most=flats["most"][chosen],
        places=tuple(where),
        decimals=numbers.decimals,
        absent=nothing,
    )


def _refuse_differing(
    block: SheetBlock, values: Array, kept: Array, chosen: Array, where: Sequence[Sequence[CellPlace]]
) -> None:
    """Refuse two rows or columns with the same labels and other numbers, and name those labels."""
    same = (values[kept] == values[chosen]) | (np.isnan(values[kept]) & np.isnan(values[chosen]))
    if same.all():
        return
    repeated = [own for own in where if len(own) > 1]
    pairs = [f"{own[0].address} and {own[1].address}" for own in repeated[:3]]
    rows = list(dict.fromkeys(own[0].row for own in repeated if own[0].row != own[1].row))
    labels = [" / ".join(filter(None, (block.grid.text(row, c) for c in block.stub))) for row in rows]
    named = f"; rows of the same label: {listed(filter(None, labels), 4)}" if any(labels) else ""
    after = len(block.stub) + 1
    raise InputError(
        f"{block.grid.source!r}: {many(int((~same).sum()), 'cell has', 'cells have')} the same labels as others but "
        f"other numbers ({', '.join(pairs)}{named}); give each row and column labels of its own, indent rows that are "
        "parts of the one above, or say header_rows= (--header-rows) if more rows are headers, "
        f"stub_columns={after} (--stub-columns {after}) if the next column holds labels and no counts"
    )
