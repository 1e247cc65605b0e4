"""``read_table`` and ``read_tables``: from a path or a frame to tables, with everything that was assumed."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from discreet.base.arguments import checked
from discreet.errors import InputError, listed, many, nearest
from discreet.sheets.blocks.cell_reading import NUMERIC, read_cell
from discreet.sheets.blocks.sheet_blocks import NO_TABLE, SheetBlock, sheet_blocks, with_blank_rows
from discreet.sheets.blocks.worded_cells import counted_units, quotient_cells
from discreet.sheets.counted_shares import counted_tables
from discreet.sheets.listed_cells import CUBES, own_cells, tables_of_list
from discreet.sheets.person_records import refuse_records
from discreet.sheets.quotient_tables import quotient_tables
from discreet.sheets.shares_elsewhere import ReadBlock, says_shares, with_shares
from discreet.sheets.sheet_grid import SheetGrid
from discreet.sheets.sheet_layout import MEAN
from discreet.sheets.sheet_options import SheetOptions
from discreet.sheets.sheet_sums import BlankCellsError
from discreet.sheets.sheet_table import SheetTable
from discreet.sheets.sources.by_kind import SUFFIXES, chosen_sheet, grids_of
from discreet.sheets.sums.sum_questions import PerhapsTotalError
from discreet.sheets.understanding import understood

MOST_PERCENT = 100.0
"""Whole numbers up to this may be percentages of another table's."""


@checked
def read_table(
    source: Any,
    *,
    sheet: str | int | None = None,
    range: str | None = None,
    header_rows: int | None = None,
    stub_columns: int | str | Sequence[str] | None = None,
    total: str | Mapping[str, str | None] | None = None,
    totals: str = "check",
    tolerance: float = 0,
    names: Sequence[str] | None = None,
    measure: str | Sequence[str] | None = None,
    value: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    blank: str | None = None,
    zero: str | Sequence[str] = (),
    suppressed: str | Sequence[str] = (),
    unavailable: str | Sequence[str] = (),
    flag: str | Sequence[str] = (),
    missing: str | Mapping[str, str] | None = None,
    percent: str | Sequence[str] = (),
    leave: str | Sequence[str] = (),
    nested: bool = True,
    partly: bool = False,
    separator: str | None = None,
    encoding: str | None = None,
) -> SheetTable:
    """The one table of a file (XLSX, ODS, CSV, TSV, HTML, Parquet) or of a frame of pandas, polars or Arrow.

    Titles, header rows, stub columns, totals, percentages, marks and notes are recognised; a total is one that adds up.
    What cannot be told is an error that names the option which says it. Where: ``sheet`` (name, or number from 1),
    ``range`` ("A3:F20"), ``header_rows``, ``stub_columns`` (how many columns of labels, or their headers). Labels:
    ``names`` of the dimensions, ``missing`` for rows without a label, ``nested=False`` if indents and columns do not
    show sums, ``partly`` if parts leave a remainder. Totals: ``total`` (a code, or one for each dimension, None for no
    total), ``totals`` ("check", "compute", "trust"), ``tolerance`` per part. Numbers: ``measure`` (the headers of the
    counts), ``value`` (the name of a magnitude), ``percent`` and ``leave`` (headers of other numbers), ``decimal``,
    ``thousands``, ``blank`` ("zero", "hidden", "none"); marks: ``zero``, ``suppressed``, ``unavailable`` (a number that
    nobody has), ``flag`` (stands behind a number and changes nothing). Files of text: ``separator``, ``encoding``.

    >>> import pandas as pd
    >>> counts = pd.DataFrame({"f": [20, 3, 23], "m": [9, 30, 39]}, index=["North", "South", "Total"])
    >>> read_table(counts, names=["area", "sex"])
    SheetTable(area x sex: 6 cells; count; 'the DataFrame' A1:C4)
    """
    options = SheetOptions.among(locals())
    if (raw := own_cells(source, options)) is not None:
        return tables_of_list(raw, options)[0]
    grid = chosen_sheet(grids_of(source, separator=separator, encoding=encoding), sheet)
    tables = _tables_of(grid, options)
    if len(tables) > 1:
        if tables[0].layout.range.meets(tables[-1].layout.range):  # parts of one block
            names = [d.name for table in tables for d in table.dimensions]
            variables = [name for name in dict.fromkeys(names) if names.count(name) == 1]
            raise InputError(
                f"{tables[0].name!r} holds a table for each of {len(tables)} variables of one population "
                f"({listed(variables, 4)}); read all of them with read_tables"
            )
        ranges = [f"range={table.layout.range.address!r}" for table in tables]
        raise InputError(
            f"{tables[0].name!r} holds {many(len(tables), 'table')}; say which with {listed(ranges, 4)} (--range), or "
            "read all of them with read_tables"
        )
    return tables[0]


def _tables_of(grid: SheetGrid, options: SheetOptions) -> list[SheetTable]:
    blocks, pending = _read_blocks(grid, options)
    return _with_share_tables(blocks, pending, options)


class _Pending(NamedTuple):
    """A block that could not be read as counts, and why."""

    block: SheetBlock
    error: InputError


def _read_blocks(grid: SheetGrid, options: SheetOptions) -> tuple[list[ReadBlock], list[_Pending]]:
    """The tables of a sheet, block by block, and the blocks that may hold shares of others."""
    blocks: list[ReadBlock] = []
    pending: list[_Pending] = []
    for block in sheet_blocks(grid, options):
        try:
            tables = _of_block(block, options)
        except InputError as error:
            pending.append(_Pending(block, error))
            continue
        for table in tables:
            refuse_records(table)
        blocks.append(ReadBlock(block, tables))
    return blocks, pending


def _with_share_tables(blocks: list[ReadBlock], pending: Sequence[_Pending], options: SheetOptions) -> list[SheetTable]:
    """The tables of blocks, those of percentages set beside the counts that they are of; raises for any other block."""
    for block, error in pending:
        if any(_take_shares(block, blocks, k, named=True) for k in range(len(blocks))):
            continue
        if (tables := counted_tables(block, options)) is None:
            raise error
        blocks.append(ReadBlock(block, tables))
    held = list(blocks)
    for one in reversed(held):
        alone = len(one.tables) == 1 and not one.tables[0].share_tables
        if alone and len(blocks) > 1 and _may_be_shares(one.tables[0]):
            others = [other for other in blocks if other.block is not one.block]
            if any(_take_shares(one.block, others, k, named=False) for k in range(len(others))):
                blocks = others
    for one in list(blocks):
        numbers = [number for table in one.tables for number in table.percentages]
        if places := {number.place[1:] for number in numbers if number.numerator is None and number.kind != MEAN}:
            bases = [k for k, other in enumerate(blocks) if other.block is not one.block]
            taken = any(_take_shares(one.block, blocks, k, named=False, only=places) for k in bases)
            counted = None if taken else counted_tables(one.block, options)
            if counted is not None:
                blocks[blocks.index(one)] = ReadBlock(one.block, counted)
    return [table for one in blocks for table in one.tables]


def _take_shares(
    block: SheetBlock,
    blocks: list[ReadBlock],
    k: int,
    *,
    named: bool,
    only: Collection[tuple[int, int]] | None = None,
) -> bool:
    """Whether a block holds shares of another one's counts; they are set beside these then."""
    tables = with_shares(block, blocks[k], named=named, only=only)
    if tables is not None:
        blocks[k] = ReadBlock(blocks[k].block, tables)
    return tables is not None


def _may_be_shares(table: SheetTable) -> bool:
    """Whether all numbers of a table are small enough for percentages."""
    values = table.published.values[table.measure]
    return bool(np.nanmax(values, initial=0.0) <= MOST_PERCENT)


def _of_block(block: SheetBlock, options: SheetOptions) -> list[SheetTable]:
    """The tables of a block; a row with a label alone is no heading where that cannot be but a row of blanks may."""
    if (tables := quotient_tables(block, options)) is not None:
        return tables
    try:
        return understood(block, options)
    except InputError as error:
        if not block.sections:
            raise
        first = error
    try:
        tables = understood(with_blank_rows(block), options)
    except BlankCellsError as error:
        few = len(block.sections) <= max(1, len(block.body) // 4) and not isinstance(first, PerhapsTotalError)
        raise (error if few else first) from None
    except InputError:
        raise first from None
    rows = ", ".join(map(str, block.sections[:4])) + (", ..." if len(block.sections) > 4 else "")
    sentence = f"rows {rows} hold a label and no number; they are rows of the table, as headings they do not add up"
    return [replace(table, assumed=(sentence, *table.assumed)) for table in tables]


@checked
def read_tables(
    source: Any,
    *,
    sheets: Sequence[str] | None = None,
    text_sheets: Sequence[str] = (),
    rounding: float = 0.0,
    hidden_under: int | None = None,
    **options: Any,
) -> list[SheetTable]:
    """Every table of a file: of all its sheets that hold one, or of those named; options as of ``read_table``.

    ``text_sheets`` are sheets of notes, which hold no table and are not read, whatever numbers stand in their texts.
    ``rounding``: how far each number of a published table may have been rounded by itself, as 2.5 to base 5, so that
    sums are off. ``hidden_under``: counts below it were to be hidden in a published table; what listed parts leave of a
    shown total may be known from there on (from 10 unless stated).

    >>> import pandas as pd
    >>> [len(table.table) for table in read_tables(pd.DataFrame({"sex": ["f", "m"], "n": [3, 4]}))]
    [2]
    """
    _refuse_unknown(options)
    separator, encoding = options.pop("separator", None), options.pop("encoding", None)
    alone = SheetOptions(rounding=rounding, hidden_under=hidden_under, **options)
    if sheets is None and (raw := own_cells(source, alone)) is not None:
        return tables_of_list(raw, alone)
    grids = grids_of(source, separator=separator, encoding=encoding)
    notes = [chosen_sheet(grids, name) for name in text_sheets]
    if sheets is not None:
        grids = [chosen_sheet(grids, name) for name in sheets]
    grids = [grid for grid in grids if grid not in notes]
    shown = [grid for grid in grids if grid.cells and (sheets is not None or not grid.hidden)]
    several = sheets is None and len(shown) > 1
    silent = [grid for grid in shown if several and not _has_numbers(grid)]
    held = [grid for grid in shown if grid not in silent]
    sheet_of: dict[int, SheetGrid] = {}
    own = SheetOptions(rounding=rounding, hidden_under=hidden_under, several=len(held) > 1, **options)
    blocks: list[ReadBlock] = []
    pending: list[_Pending] = []
    for grid in held:
        try:
            read, unread_blocks = _read_blocks(grid, own)
        except InputError as error:
            raise _of_sheet(error, grid, held, named=sheets is not None or len(held) == 1) from error
        blocks += read
        error_of = {id(one.error): grid for one in unread_blocks}
        pending += unread_blocks
        sheet_of.update(error_of)
    try:
        tables = _with_share_tables(blocks, pending, own)
    except InputError as error:
        counted = {one.block.grid.sheet for one in blocks if not says_shares(one.block)}
        grid = sheet_of.get(id(error), held[0])
        others = [other for other in held if other is grid or other.sheet in counted]
        raise _of_sheet(error, grid, others, named=sheets is not None or len(held) == 1) from error
    if not tables:
        raise InputError(
            f"{(grids or notes)[0].source!r} holds no table: no sheet that is shown holds numbers under a header"
        )
    if own.several:
        _refuse_unknown_totals(own.total, tables)
    unread = [f"sheet {grid.sheet!r} holds no numbers and was not read" for grid in silent]
    unread += [f"sheet {g.sheet!r} is hidden and was not read; sheets= names it" for g in grids if g.hidden and g.cells]
    if sheets is None and unread:
        tables = [replace(table, assumed=(*table.assumed, *unread), unread=tuple(silent)) for table in tables]
    return tables


def _refuse_unknown_totals(total: str | Mapping[str, str | None] | None, tables: Sequence[SheetTable]) -> None:
    """Refuse a total that is said and is on none of several sheets."""
    codes: dict[str, dict[str, None]] = {}
    for table in tables:
        for d in table.dimensions:  # one of several groupings is called by its labels, too
            codes.setdefault(d.name.partition(": ")[0], {}).update(dict.fromkeys(d.codes))
    said = total if isinstance(total, Mapping) else dict.fromkeys(codes, total)
    for name in said:
        if name not in codes:
            raise InputError(
                f"total= (--total) names the unknown dimension {name!r}; {nearest(str(name), list(codes))}"
            )
    if said and not any(code is None or code in codes[name] for name, code in said.items()):
        known = list(dict.fromkeys(code for name in said for code in codes[name]))
        first = str(next(iter(said.values())))
        raise InputError(f"no sheet has the total {first!r}; {nearest(first, known)}")


def _of_sheet(error: InputError, grid: SheetGrid, held: Sequence[SheetGrid], *, named: bool) -> InputError:
    """An error of one of several sheets, with its name, and how to go on with the others that hold counts."""
    others = [other.sheet for other in held if other is not grid]
    if named and not others:
        return error
    words = str(error)
    name = "" if repr(grid.sheet) in words or f": {grid.sheet}" in words else f"sheet {grid.sheet!r}: "
    flags = shlex.join([word for other in others for word in ("--sheet", other)][:8])
    without = "" if named or not others else f"; or go on without sheet {grid.sheet!r}: sheets={others[:4]} ({flags})"
    if NO_TABLE in words and not named:
        notes = shlex.join(["--text-sheet", grid.sheet])
        without = f"; if the sheet is of notes, keep its texts: text_sheets=[{grid.sheet!r}] ({notes}){without}"
    return type(error)(f"{name}{words}{without if len(others) <= 4 else ''}")


def _has_numbers(grid: SheetGrid) -> bool:
    """Whether a sheet holds a row with a label and a number, which a page of notes does not."""
    options = SheetOptions()
    rows: dict[int, set[str]] = {}
    cells = {place: read_cell(cell, options) for place, cell in grid.cells.items()}
    for (row, _), cell in cells.items():
        rows.setdefault(row, set()).add(cell.kind)
    return (
        bool(counted_units(cells) or quotient_cells(cells))
        or sum(NUMERIC in kinds and len(kinds) > 1 for kinds in rows.values()) > 1
    )


def _refuse_unknown(options: Mapping[str, Any]) -> None:
    known = [p for p in signature(read_table).parameters if p not in ("source", "sheet")]
    for name in options:
        if name not in known:
            raise InputError(f"read_tables has no argument {name!r}; {nearest(name, known)}")


def is_sheet(path: Path) -> bool:
    """Whether a file is one that ``read_table`` reads, by its suffix."""
    return path.suffix.lower() in SUFFIXES or path.name.lower().endswith(CUBES)
