"""A published copy of a file, read as the file itself was: the same places, what stands in them now.

Where much is hidden a sheet by itself no longer shows which labels are sums of others. Whoever has the file that was
protected need not guess: its layout is that of the copy, and its sums hold in the copy as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from discreet.base.annotations import Array
from discreet.data.dimension import Dimension
from discreet.errors import InputError
from discreet.sheets.blocks.cell_reading import BLANK, NUMERIC, RANGED, WORDS, numbers_of, range_ends, read_cell
from discreet.sheets.reading_sheets import read_tables
from discreet.sheets.sheet_grid import CellPlace, SheetGrid
from discreet.sheets.sheet_layout import HEADER, LABEL
from discreet.sheets.sheet_options import SheetOptions
from discreet.sheets.sheet_table import CellCodes, SheetTable
from discreet.sheets.sources.by_kind import grids_of
from discreet.sheets.stated_counts import stated_count, states_mark, without_header_count
from discreet.tables.reading.raw_table import HIDDEN


class NumberNow(NamedTuple):
    """What a place of the copy says of a number: it (NaN if it is not shown), and the range that stands for it."""

    number: float
    least: float = -np.inf
    most: float = np.inf


def read_copy(path: Path, original: Path, **options: Any) -> list[SheetTable]:
    """Every table of a published copy with the dimensions, sums and places of the original; options as of it."""
    text = {name: options.get(name) for name in ("separator", "encoding")}
    marks = SheetOptions.among(options)
    grids = grids_of(path, **text)
    return [
        _as_in_copy(table, _copied_sheet(table, grids, path.name, original.name), grids, marks)
        for table in read_tables(original, **options)
    ]


def _copied_sheet(table: SheetTable, grids: Sequence[SheetGrid], copy: str, original: str) -> SheetGrid:
    """The sheet of the copy that holds a table: that of the same name, else one with its labels."""
    named = sorted(grids, key=lambda grid: grid.sheet != table.grid.sheet)
    others = {grid.sheet: _other_label(table, grid) for grid in named}
    held = next((grid for grid in named if others[grid.sheet] is None), None)
    if held is None:
        sheet, place = next(iter(others.items()))
        raise InputError(
            f"{copy!r} is not a copy of {original!r}: {sheet} {place} holds another label; give the file that was "
            "protected (--original), or leave it out"
        )
    return held


def _other_label(table: SheetTable, grid: SheetGrid) -> str | None:
    """The address of a label that is another one in the copy; a blank one is of a row or column that was hidden."""
    kept = 0
    for (row, column), role in table.layout.roles.items():
        if role not in (LABEL, HEADER):
            continue
        before, now = (without_header_count(one.text(row, column)) for one in (table.grid, grid))
        if now and now != before:
            return grid.place(row, column).address
        kept += bool(now)
    return None if kept else grid.place(1, 1).address


def _as_in_copy(table: SheetTable, grid: SheetGrid, grids: Sequence[SheetGrid], options: SheetOptions) -> SheetTable:
    """A table with what the copy shows of each of its cells; what parts leave of a total is left to be worked out."""
    published = table.published
    dimensions = published.dimensions
    codes = [tuple(d.codes[c] for d, c in zip(dimensions, row, strict=True)) for row in published.codes.tolist()]
    standing = [{own[axis] for own, places in table.places.items() if places} for axis in range(len(dimensions))]
    before = published.values[table.measure]
    decimals = published.decimals[table.measure]
    listed_rows = [all(code in held for code, held in zip(own, standing, strict=True)) for own in codes]
    now = [
        _now(table, grid, table.places.get(own, ()), float(number), decimals, options)
        for own, number in zip(codes, before, strict=True)
    ]
    shown = {own for own, one, row in zip(codes, now, listed_rows, strict=True) if row and not np.isnan(one.number)}
    kept = np.array(
        [row or _follows(dimensions, own, standing, shown) for own, row in zip(codes, listed_rows, strict=True)], bool
    )
    values, least, most = (np.array(side, float)[kept] for side in zip(*now, strict=True))
    ranges: Mapping[str, tuple[Array, Array]] = {}
    if (np.isfinite(least) | np.isfinite(most)).any():
        ranges = {table.measure: (least, most)}
    copied = replace(
        published,
        codes=published.codes[kept],
        values={table.measure: values},
        status=np.where(np.isnan(values), HIDDEN, "").astype(str),
        ranges=ranges,
    )
    shares = tuple(
        replace(one, grid=next((other for other in grids if other.sheet == one.grid.sheet), grid))
        for one in table.share_tables
    )
    return replace(table, grid=grid, published=copied, share_tables=shares, _table=None)


def _follows(
    dimensions: Sequence[Dimension], own: CellCodes, standing: Sequence[set[str]], shown: set[CellCodes]
) -> bool:
    """Whether what parts leave of a total still follows: the total and all parts that are listed are shown."""
    for axis, (dimension, code) in enumerate(zip(dimensions, own, strict=True)):
        if code in standing[axis]:
            continue
        for whole, parts in dimension.relations:
            names = [whole, *(part for part, _ in parts)]
            others = [(*own[:axis], name, *own[axis + 1 :]) for name in names if name != code]
            if code in names and all(other in shown for other in others):
                return True
    return False


def _now(
    table: SheetTable,
    grid: SheetGrid,
    places: tuple[CellPlace, ...],
    before: float,
    decimals: int,
    options: SheetOptions,
) -> NumberNow:
    """What the copy shows of a cell, wherever it stands; one that stands nowhere is known to be zero."""
    each = [_in_place(table, grid, place, before, decimals, options) for place in places] or [NumberNow(before)]
    shown = [one for one in each if not np.isnan(one.number)]
    if shown:
        return shown[0]
    return NumberNow(np.nan, max(one.least for one in each), min(one.most for one in each))


def _in_place(
    table: SheetTable, grid: SheetGrid, place: CellPlace, before: float, decimals: int, options: SheetOptions
) -> NumberNow:
    at = (place.row, place.column)
    text = grid.text(*at)
    if text == table.grid.text(*at):
        return NumberNow(before)
    if stated_count(table.grid.text(*at)) is not None:  # "Treated (N = 40)"
        stated = None if states_mark(text) else stated_count(text)
        return NumberNow(np.nan if stated is None else stated)
    cell = read_cell(grid.cells.get(at), options)
    if cell.kind == WORDS:
        raise InputError(
            f"{grid.source!r}: {place.address} holds text that is neither a number nor a known mark; say suppressed= "
            "(--suppressed) for a mark of hidden numbers, zero= (--zero) for one of zeros"
        )
    if cell.kind == RANGED:
        ends = range_ends(cell.text.partition("(")[0].strip(), decimals, repr(grid.source))
        return NumberNow(np.nan, *ends)
    if cell.kind == NUMERIC:
        (number,), _ = numbers_of([cell], repr(grid.source), options)
        return NumberNow(np.nan if number is None else number)
    return NumberNow(0.0 if cell.kind == BLANK and options.blank == "zero" else np.nan)
