"""A table on a sheet understood: dimensions, sums, numbers, percentages; everything assumed is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from discreet.data.dimension import Dimension
from discreet.errors import InputError, listed, many
from discreet.sheets.blocks.body_numbers import BodyParts, body_numbers, body_parts, with_thousands
from discreet.sheets.blocks.label_paths import column_levels, row_levels
from discreet.sheets.blocks.running_sums import without_running_sums
from discreet.sheets.blocks.separate_variables import separate_blocks
from discreet.sheets.blocks.sheet_blocks import SheetBlock
from discreet.sheets.blocks.stated_populations import Body, with_stated_counts
from discreet.sheets.cell_roles import cell_roles
from discreet.sheets.grouped_blocks import grouped_blocks, population_blocks, without_derived
from discreet.sheets.sheet_axes import SheetAxes, sheet_axes
from discreet.sheets.sheet_grid import CellPlace, CellRange
from discreet.sheets.sheet_layout import NUMBERING, LeftAside, RunningSum, SheetLayout
from discreet.sheets.sheet_options import SheetOptions
from discreet.sheets.sheet_sums import SheetSums, blank_error, sheet_sums
from discreet.sheets.sheet_table import CellPlaces, SheetTable
from discreet.sheets.sums.axis_sums import SumTree
from discreet.sheets.sums.cell_map import CellMap, cell_map
from discreet.sheets.sums.groupings import parts_in_doubt
from discreet.sheets.sums.share_pairs import share_pairs
from discreet.sheets.sums.shares import derived_numbers
from discreet.sheets.sums.unexplained_sums import refuse_unexplained_sums
from discreet.sheets.table_of_cells import (
    flat_notes,
    full_table,
    published_sheet,
    rewritten_totals,
    sheet_dimension,
    sheet_notes,
    sheet_title,
    sum_doubts,
)
from discreet.tables import totals


def understood(block: SheetBlock, options: SheetOptions, *, doubted: bool = False) -> list[SheetTable]:
    """The table of a block, or one for each variable where its sections are variables of one population.

    Where a part may be part of another one there is a further table for that, unless the block is ``doubted`` already.
    """
    down, across = row_levels(block), column_levels(block)
    parts = body_parts(block, down, across, options)
    parts, options = with_thousands(block, parts, options)
    numbers = body_numbers(block, parts, options)
    parts, numbers = without_running_sums(block, parts, numbers, options)
    if variables := separate_blocks(block, parts, numbers, down, across):
        return [table for variable in variables for table in understood(variable, options)]
    body = Body(parts, numbers, tuple(down), tuple(across))
    if populations := population_blocks(block, body, options):
        return [table for part, own in populations for table in understood(part, own)]
    body = with_stated_counts(block, body)
    parts = body.parts
    axes = sheet_axes(block, parts, body.down, body.across, options)
    cells = cell_map(block, parts, body.numbers, axes.rows, axes.columns)
    sums = sheet_sums(block, cells, share_pairs(block, parts, cells), options)
    first, *others = _readings(block, body, axes, cells, sums, options, doubted=doubted)
    return [replace(first, plain=_plain(block, parts, cells, sums, options)), *others]


def _readings(
    block: SheetBlock,
    body: Body,
    axes: SheetAxes,
    cells: CellMap,
    sums: SheetSums,
    options: SheetOptions,
    *,
    doubted: bool,
) -> list[SheetTable]:
    """The table of a block, or one for each grouping of a dimension, and those of parts that may be parts of others."""
    parts = body.parts
    for axis, groupings in sums.groupings.items():
        blocks = grouped_blocks(block, parts, axes.rows, axes.columns, axis, groupings, options)
        sentence = groupings.sentence(cells.dimensions[axis].name)
        tables = [table for part, own in blocks for table in understood(part, own)]
        tables = [replace(table, assumed=(sentence, *table.assumed)) for table in tables]
        return [*tables, *_doubted(block, parts, axes, cells, sums, axis, options)]
    table = _table(block, body, axes, cells, sums, options)
    if doubted:
        return [table]
    further = [_doubted(block, parts, axes, cells, sums, axis, options) for axis in range(len(cells.dimensions))]
    return [table, *(one for tables in further for one in tables)]


def _plain(
    block: SheetBlock, parts: BodyParts, cells: CellMap, sums: SheetSums, options: SheetOptions
) -> SheetTable | None:
    """The table without parts that numbers alone show; None if there are none, or no such table."""
    in_doubt = [dim.name for dim, tree in zip(cells.dimensions, sums.trees, strict=True) if tree.in_doubt]
    if not in_doubt:
        return None
    own = replace(options, total={**sums.said, **dict.fromkeys(in_doubt)})
    found = understood(without_derived(block, parts), own, doubted=True)
    sentence = f"read once more, to be set against other sheets, without parts among the labels of {listed(in_doubt)}"
    return replace(found[0], assumed=(sentence, *found[0].assumed)) if len(found) == 1 else None


def _doubted(
    block: SheetBlock,
    parts: BodyParts,
    axes: SheetAxes,
    cells: CellMap,
    sums: SheetSums,
    axis: int,
    options: SheetOptions,
) -> list[SheetTable]:
    """Tables of parts of a sum that may be parts of each other, beside the one in which they exclude each other."""
    name, codes, tree = cells.dimensions[axis].name, cells.codes[axis], sums.trees[axis]
    overlapping = bool(tree.overlapping)
    held = tree.overlapping or {code: tree.children[code] for code in tree.partly}
    plain = without_derived(block, parts)
    tables = []
    for one, sentence in parts_in_doubt(name, codes, cells.lines(axis, sums.allowed), held, overlapping):
        for part, own in grouped_blocks(plain, parts, axes.rows, axes.columns, axis, one, options):
            found = understood(part, own, doubted=True)
            tables += [replace(table, assumed=(sentence, *table.assumed)) for table in found]
    return tables


def _table(
    block: SheetBlock, body: Body, axes: SheetAxes, cells: CellMap, sums: SheetSums, options: SheetOptions
) -> SheetTable:
    parts, trees, further = body.parts, sums.trees, sums.further
    _settle_unclear(block, cells, trees, sums.allowed)
    dims = tuple(
        sheet_dimension(dim, tree, groups) for dim, tree, groups in zip(cells.dimensions, trees, further, strict=True)
    )
    _refuse_repeated(block, cells, dims)
    named = {dim.name: dim for dim in dims}
    refuse_unexplained_sums(block, parts, body.numbers, (axes.rows, axes.columns), named, sums.said, sums.allowed)
    measure = options.value or "count"
    table = full_table(block, cells, dims, trees, measure, options)
    rewritten = [] if table is None else rewritten_totals(block, cells, table)
    layout = _layout(block, parts, cells, dims)
    derived = derived_numbers(block, parts, cells, trees)
    assumed = [*rewritten, *axes.assumed, *parts.assumed, *(text for tree in trees for text in tree.assumed)]
    assumed += _more_assumed(block, cells, trees, sums.said)
    for dim, groups in zip(cells.dimensions, further, strict=True):
        assumed += [
            f"{code!r} is the sum of {listed(parts, 4)} of {dim.name!r} in every line" for code, parts in groups.items()
        ]
    published = published_sheet(
        block,
        cells,
        dims,
        trees if not sums.allowed else (),
        measure,
        sum_doubts(cells, trees, further, sums.said, options.rounding),
        options,
    )
    names = cells.all_names()
    return SheetTable(
        block.grid,
        layout,
        measure,
        replace(published, assumed=flat_notes(cells, trees, further, options.rounding)),
        CellPlaces(zip(names, cells.places, strict=True)),
        derived,
        _running_sums(block, parts),
        _left_aside(block, parts),
        tuple(dict.fromkeys(assumed)),
        _in_labels(block, names, cells.places),
        table,
    )


def _in_labels(
    block: SheetBlock, names: Sequence[tuple[str, ...]], where: Sequence[Sequence[CellPlace]]
) -> tuple[tuple[str, ...], ...]:
    """Cells whose number stands in headers or labels alone."""
    headers, stub = {*block.headers}, {*block.stub}
    return tuple(
        name
        for name, places in zip(names, where, strict=True)
        if all(place.column in stub or place.row in headers for place in places)
    )


def _refuse_repeated(block: SheetBlock, cells: CellMap, dims: Sequence[Dimension]) -> None:
    """Refuse finest cells that stand in two places: two rows with the same labels may be two parts of one count."""
    finest = [np.array([code in d.leaf_position for code in own]) for d, own in zip(dims, cells.codes, strict=True)]
    inner = np.logical_and.reduce([flags[cells.position[:, k]] for k, flags in enumerate(finest)])
    twice = [places for k, places in enumerate(cells.places) if len(places) > 1 and inner[k]]
    if twice:
        raise InputError(
            f"{block.grid.source!r}: {many(len(twice), 'cell stands', 'cells stand')} in two rows or columns with the "
            f"same labels ({twice[0][0].address} and {twice[0][1].address}); keep one of them, or add them up; say "
            "stub_columns= (--stub-columns) if more columns are labels"
        )


def _settle_unclear(block: SheetBlock, cells: CellMap, trees: Sequence[SumTree], allowed: float) -> None:
    """Ask what blank cells and dashes mean, unless sums show that they are zeros."""
    if not cells.unclear.any():
        return
    proved = np.zeros(len(cells.values), bool)
    for axis, (codes, tree) in enumerate(zip(cells.codes, trees, strict=True)):
        where = cells.cells_along(axis)
        place = {code: k for k, code in enumerate(codes)}
        for code, parts in tree.children.items():
            if code in tree.partly:
                continue
            rows = [place[code], *(place[part] for part in parts)]
            there = where[rows]
            plain = ~((there >= 0) & cells.hidden[there]).any(axis=0) & (there[0] >= 0)
            held = there[:, plain]
            proved[held[held >= 0]] = True
    if (cells.unclear & ~proved).any():
        raise blank_error(block, cells)


def _layout(block: SheetBlock, parts: BodyParts, cells: CellMap, dims: Sequence[Dimension]) -> SheetLayout:
    roles, dimension_of = cell_roles(block, parts, cells, dims)
    return SheetLayout(
        block.range,
        block.headers,
        block.stub,
        parts.rows,
        parts.columns,
        roles,
        dimension_of,
        sheet_title(block),
        sheet_notes(block),
    )


def _running_sums(block: SheetBlock, parts: BodyParts) -> tuple[RunningSum, ...]:
    """The running sums of a sheet, line by line."""
    return tuple(
        RunningSum(block.grid.place(row, one.column), block.grid.place(row, one.base), row == line[0])
        for one in parts.running
        for line in one.lines
        for row in line
        if (row, one.column) in block.cells
    )


def _left_aside(block: SheetBlock, parts: BodyParts) -> tuple[LeftAside, ...]:
    box = block.range
    aside = [
        LeftAside(CellRange(box.first_row, column, box.last_row, column), reason)
        for column, reason in parts.aside_columns.items()
    ]
    aside += [
        LeftAside(CellRange(box.first_row, column, box.last_row, column), "a column of text beside the numbers")
        for column in block.texts
    ]
    aside += [LeftAside(CellRange(row, box.first_column, row, box.last_column), NUMBERING) for row in block.numbering]
    return tuple(aside)


def _more_assumed(
    block: SheetBlock, cells: CellMap, trees: Sequence[SumTree], said: Mapping[str, str | None]
) -> list[str]:
    """What was taken as so of blank cells, hidden rows, absent combinations and sums that leave a remainder."""
    texts = []
    if zeros := int(cells.unclear.sum()):
        texts.append(
            f"{many(zeros, 'blank cell or dash is a zero', 'blank cells or dashes are zeros')}: every sum that holds "
            f"{'it' if zeros == 1 else 'them'} shows it"
        )
    hidden = [row for row in block.grid.hidden_rows if row in block.body]
    columns = [column for column in block.grid.hidden_columns if column in block.values]
    if hidden or columns:
        texts.append(
            f"{many(len(hidden), 'hidden row')} and {many(len(columns), 'hidden column')} are part of the table"
        )
    if absent := _absent(cells, trees):
        texts.append(f"{many(absent, 'combination')} of labels have no cell on the sheet and count as zero")
    for dim, tree in zip(cells.dimensions, trees, strict=True):
        if tree.total is not None and tree.total == dim.blank:
            texts.append(f"rows or columns without a label of {dim.name!r} are its total")
        elif tree.total is not None:
            otherwise = "" if dim.name in said else f"; {totals.option(dim.name, None)} if it is not"
            texts.append(f"{tree.total!r} is the total of {dim.name!r}{otherwise}")
        else:
            texts.append(f"{dim.name!r} has no total on the sheet")
        for code in tree.partly:
            texts.append(
                f"the parts of {code!r} leave a remainder, which follows by subtraction and is protected as well"
            )
    return texts


def _absent(cells: CellMap, trees: Sequence[SumTree]) -> int:
    """How many combinations of finest labels have no cell."""
    finest = [[code not in tree.children for code in codes] for codes, tree in zip(cells.codes, trees, strict=True)]
    inner = np.logical_and.reduce([np.array(flags)[cells.position[:, k]] for k, flags in enumerate(finest)])
    return int(np.prod([sum(flags) for flags in finest])) - int(inner.sum())
