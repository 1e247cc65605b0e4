"""Tables of cells that say a count and of how many it is, "3/45 (6.7%)": counts with their populations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from discreet.errors import InputError, listed, many
from discreet.sheets.blocks.cell_reading import BLANK, NUMERIC
from discreet.sheets.blocks.sheet_blocks import SheetBlock
from discreet.sheets.sheet_grid import CellPlace
from discreet.sheets.sheet_layout import CountedShare
from discreet.sheets.sheet_options import SheetOptions
from discreet.sheets.sheet_table import SheetTable
from discreet.sheets.stated_counts import stated_count
from discreet.sheets.understanding import understood


def quotient_tables(block: SheetBlock, options: SheetOptions) -> list[SheetTable] | None:
    """The tables of a block whose counts say of how many they are; None if they do not.

    All counts of a column must be of the same number, its population.
    """
    cells = {(r, c): cell for r in block.body for c in block.values if (cell := block.cell(r, c)).base is not None}
    if not cells or not block.headers:
        return None
    others = [
        block.grid.place(row, column)
        for row in block.body
        for column in block.values
        if (cell := block.cell(row, column)).kind == NUMERIC and cell.base is None
    ]
    if others:
        raise InputError(
            f"{block.grid.source!r}: beside cells that say of how many their count is, as in '3/45 (6.7%)', "
            f"{many(len(others), 'cell says', 'cells say')} a number alone ({listed([p.address for p in others], 4)}); "
            "write all of them in one way"
        )
    populations = _populations(block)
    if populations is None:
        raise InputError(
            f"{block.grid.source!r}: cells say of how many their count is, as in '3/45 (6.7%)', and that is not the "
            "same down each column; write two columns in place of each, with 'Numerator' and 'Denominator' below its "
            "header"
        )
    return _tables(block, populations, cells, options)


def _populations(block: SheetBlock) -> dict[int, float] | None:
    """The one number of which the counts of each column are, infinite where marks hide it; None if there is none."""
    populations: dict[int, float] = {}
    for column in block.values:
        held = [cell for row in block.body if (cell := block.cell(row, column)).kind != BLANK]
        bases = {cell.base for cell in held if cell.base is not None}
        if len(bases) > 1:
            return None
        if held:
            populations[column] = bases.pop() if bases else math.inf
    return populations


def _tables(
    block: SheetBlock,
    populations: Mapping[int, float],
    cells: Mapping[tuple[int, int], object],
    options: SheetOptions,
) -> list[SheetTable]:
    block = replace(
        block,
        populations=dict(populations),
        values=tuple(column for column in block.values if column in populations),
        counted_rows=frozenset(block.body),
        counted_columns=frozenset(block.values),
    )
    head = {column: block.grid.place(block.headers[-1], column) for column in block.values}
    sentence = "each count is a part of the number that stands with it in its cell"
    return [_with_quotients(table, head, cells, sentence) for table in understood(block, options)]


def _with_quotients(
    table: SheetTable, head: Mapping[int, CellPlace], cells: Mapping[tuple[int, int], object], sentence: str
) -> SheetTable:
    counted = {
        place: CountedShare(head[place.column], 100.0, 0, with_count=True)
        for places in table.places.values()
        for place in places
        if (place.row, place.column) in cells
    }
    plain = None if table.plain is None else _with_quotients(table.plain, head, cells, sentence)
    there = {place for places in table.places.values() for place in places}
    within = tuple(
        place
        for place in head.values()
        if place in there and stated_count(table.grid.text(place.row, place.column)) is None
    )
    return replace(table, counted=counted, within=within, assumed=(sentence, *table.assumed), plain=plain)
