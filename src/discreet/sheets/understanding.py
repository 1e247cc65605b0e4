"""A table on a sheet understood: dimensions, sums, numbers, percentages; everything assumed is said."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from discreet.base.naming import unused
from discreet.data.dimension import Dimension
from discreet.errors import InputError, listed
from discreet.sheets.blocks.body_numbers import BodyParts, body_numbers, body_parts, with_thousands
from discreet.sheets.blocks.implied_indents import OF_WHICH
from discreet.sheets.blocks.label_paths import LabelLevel, column_levels, is_total_text, row_levels
from discreet.sheets.blocks.running_sums import refuse_running_sums
from discreet.sheets.blocks.separate_variables import separate_blocks
from discreet.sheets.blocks.sheet_blocks import SheetBlock
from discreet.sheets.blocks.stated_populations import Body, counted_columns, counted_rows, with_stated_counts
from discreet.sheets.cell_roles import cell_roles
from discreet.sheets.grouped_blocks import grouped_blocks, population_blocks
from discreet.sheets.sheet_grid import CellPlace, CellRange
from discreet.sheets.sheet_layout import NUMBERING, LeftAside, SheetLayout
from discreet.sheets.sheet_options import SheetOptions
from discreet.sheets.sheet_table import CellPlaces, SheetTable
from discreet.sheets.sums.axis_levels import AxisDimension, axis_dimensions
from discreet.sheets.sums.axis_sums import SumTree, find_sums
from discreet.sheets.sums.cell_map import CellMap, cell_map
from discreet.sheets.sums.further_groups import further_groups
from discreet.sheets.sums.groupings import Groupings, find_groupings, parts_in_doubt, with_finer_groupings
from discreet.sheets.sums.joint_totals import with_joint_totals
from discreet.sheets.sums.nested_labels import UNNAMED_COLUMNS
from discreet.sheets.sums.share_pairs import Pairs, share_pairs
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

MEASURE_NAME = re.compile(
    r"\b(number|numbers|count|counts|n|freq\w*|persons|people|cases|anzahl|nombre|antal)\b", re.IGNORECASE
)
IS_PARTLY = re.compile(rf"\b(?:{OF_WHICH})\b", re.IGNORECASE)

ROOMS = (0.5, 2.5, 5.0)
"""Units per part by which totals that need not add up may be off, to be found by their numbers."""


@dataclass(frozen=True, eq=False)
class _Axes:
    rows: tuple[AxisDimension, ...]
    columns: tuple[AxisDimension, ...]
    assumed: tuple[str, ...]


def understood(block: SheetBlock, options: SheetOptions, *, doubted: bool = False) -> list[SheetTable]:
    """The table of a block, or one for each variable where its sections are variables of one population.

    Where a part may be part of another one there is a further table for that, unless the block is ``doubted`` already.
    """
    down, across = row_levels(block), column_levels(block)
    parts = body_parts(block, down, across, options)
    parts, options = with_thousands(block, parts, options)
    numbers = body_numbers(block, parts, options)
    refuse_running_sums(block, parts, numbers, options)
    if variables := separate_blocks(block, parts, numbers, down, across):
        return [table for variable in variables for table in understood(variable, options)]
    body = Body(parts, numbers, tuple(down), tuple(across))
    if populations := population_blocks(block, body, options):
        return [table for part, own in populations for table in understood(part, own)]
    body = with_stated_counts(block, body)
    parts = body.parts
    axes = _axes(block, parts, body.down, body.across, options)
    cells = cell_map(block, parts, body.numbers, axes.rows, axes.columns)
    sums = _sums(block, cells, share_pairs(block, parts, cells), options)
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


def _doubted(
    block: SheetBlock,
    parts: BodyParts,
    axes: _Axes,
    cells: CellMap,
    sums: _Sums,
    axis: int,
    options: SheetOptions,
) -> list[SheetTable]:
    """Tables of parts of a sum that may be parts of each other, beside the one in which they exclude each other."""
    name, codes, tree = cells.dimensions[axis].name, cells.codes[axis], sums.trees[axis]
    overlapping = bool(tree.overlapping)
    held = tree.overlapping or {code: tree.children[code] for code in tree.partly}
    plain = replace(
        block,
        body=tuple(row for row in block.body if row not in parts.derived_rows),
        values=tuple(column for column in block.values if column not in parts.derived_columns),
    )
    tables = []
    for one, sentence in parts_in_doubt(name, codes, cells.lines(axis, sums.allowed), held, overlapping):
        for part, own in grouped_blocks(plain, parts, axes.rows, axes.columns, axis, one, options):
            found = understood(part, own, doubted=True)
            tables += [replace(table, assumed=(sentence, *table.assumed)) for table in found]
    return tables


@dataclass(frozen=True, eq=False)
class _Sums:
    """Of every dimension what adds up what; ``groupings`` of those whose labels group one total in several ways."""

    trees: list[SumTree]
    further: list[dict[str, tuple[str, ...]]]
    groupings: dict[int, Groupings]
    said: Mapping[str, str | None]
    allowed: float


def _sums(block: SheetBlock, cells: CellMap, pairs: Pairs, options: SheetOptions) -> _Sums:
    said = _stated_totals(cells, options)
    named = {} if options.total is None else said
    partly = options.partly or any(IS_PARTLY.search(code) for codes in cells.codes for code in codes)
    whole = not cells.decimals or options.value is not None
    if not whole:
        raise InputError(
            f"{block.grid.source!r} {block.grid.sheet} {block.range.address}: some numbers of the table are not whole, "
            "so they are not counts; for percentages and means name their headers (percent=, --percent; leave=, "
            "--leave) or those of the counts (measure=, --measure); if the whole table is of percentages or means, "
            "name the sheet or the range of the counts alone (sheets=, --sheet; range=, --range); for sums of a "
            "magnitude say what it is (value='turnover', --value turnover)"
        )
    loose = 0.5 if options.value is not None and cells.decimals else options.tolerance
    allowed = max(loose * 10.0**-cells.decimals, options.rounding)
    try:
        trees = _trees(cells, allowed, named, partly, pairs, options, block.grid.sheet)
        trees = with_joint_totals(cells, trees, named, allowed)
    except InputError as error:
        if cells.unclear.any():
            raise _blank_error(block, cells) from error
        raise
    further: list[dict[str, tuple[str, ...]]] = [{} for _ in trees]
    groupings = {}
    for axis, (dim, codes) in enumerate(zip(cells.dimensions, cells.codes, strict=True)):
        denied = dim.name in named and named[dim.name] is None
        lines = cells.lines(axis, allowed)
        if options.totals == "check" and not denied:
            trees[axis], further[axis] = further_groups(codes, lines, with_finer_groupings(codes, lines, trees[axis]))
        own = find_groupings(dim.name, codes, lines, trees[axis], further[axis], partly=partly, said=named)
        groupings.update({axis: own} if own is not None else {})
    return _Sums(trees, further, groupings, named, allowed)


def _table(
    block: SheetBlock, body: Body, axes: _Axes, cells: CellMap, sums: _Sums, options: SheetOptions
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


def _stated_totals(cells: CellMap, options: SheetOptions) -> dict[str, str | None]:
    """What is said of the total of each dimension; a total that is said must be a label of the sheet, or of another."""
    codes = {dim.name: own for dim, own in zip(cells.dimensions, cells.codes, strict=True)}
    total = options.total
    if options.several:
        if isinstance(total, Mapping):
            total = {n: code for n, code in total.items() if n in codes and (code is None or code in codes[n])}
        elif total is not None and not any(total in own for own in codes.values()):
            total = None
    said = totals.stated(total, list(codes), codes)
    for name, code in said.items():
        if code is not None and code not in codes[name]:
            raise InputError(
                f"dimension {name!r} does not have the total {code!r}; its labels are {listed(codes[name], 6)}"
            )
    if isinstance(total, str) and not any(total in own for own in codes.values()):
        raise InputError(
            f"no dimension has the total {total!r} (total=, --total); dimensions are {listed(list(codes))}"
        )
    return said


def _axes(
    block: SheetBlock, parts: BodyParts, down: Sequence[LabelLevel], across: Sequence[LabelLevel], options: SheetOptions
) -> _Axes:
    """The dimensions of rows and columns, under the names of the sheet or of the caller."""
    rows = axis_dimensions(
        counted_rows(block, parts, down),
        fallback=block.row_name or "row",
        nested=options.nested,
        missing=options.missing,
    )
    levels = counted_columns(block, parts, across)
    varying = [level for level in levels if len({*level.texts}) > 1]
    above = levels[: levels.index(varying[0])] if varying else []
    name = next((level.texts[0] for level in reversed(above) if not MEASURE_NAME.search(level.texts[0])), "")
    fallback = block.column_name or name or UNNAMED_COLUMNS
    varying = _under_one_name(varying)
    if block.column_name and len(varying) > 1:
        first, *varying = varying
        varying[-1] = replace(
            varying[-1],
            texts=tuple(text or above for text, above in zip(varying[-1].texts, first.texts, strict=True)),
            places=tuple(place or above for place, above in zip(varying[-1].places, first.places, strict=True)),
        )
    columns = axis_dimensions(varying, fallback=fallback, nested=options.nested, missing=options.missing)
    dims = [*rows.dimensions, *columns.dimensions]
    if len(parts.columns) > 1 and not varying:
        raise InputError(
            f"{block.grid.source!r}: {len(parts.columns)} columns of numbers have the same header; give them different "
            "ones, or say which rows are headers with header_rows= (--header-rows)"
        )
    names = _names(dims, options)
    dims = [replace(dim, name=name) for dim, name in zip(dims, names, strict=True)]
    cut = len(rows.dimensions)
    return _Axes(tuple(dims[:cut]), tuple(dims[cut:]), (*rows.assumed, *columns.assumed))


def _refuse_repeated(block: SheetBlock, cells: CellMap, dims: Sequence[Dimension]) -> None:
    """Refuse finest cells that stand in two places: two rows with the same labels may be two parts of one count."""
    finest = [np.array([code in d.leaf_position for code in own]) for d, own in zip(dims, cells.codes, strict=True)]
    inner = np.logical_and.reduce([flags[cells.position[:, k]] for k, flags in enumerate(finest)])
    twice = [places for k, places in enumerate(cells.places) if len(places) > 1 and inner[k]]
    if twice:
        raise InputError(
            f"{block.grid.source!r}: {len(twice):,} cells stand in two rows or columns with the same labels "
            f"({twice[0][0].address} and {twice[0][1].address}); keep one of them, or add them up; say stub_columns= "
            "(--stub-columns) if more columns are labels"
        )


def _under_one_name(levels: list[LabelLevel]) -> list[LabelLevel]:
    """Levels without an outer one that is the name of the labels below it and stands beside a total: Sex above f, m."""
    if len(levels) != 2:
        return levels
    outer, inner = levels
    plain = {text for text in outer.texts if text and not is_total_text(text)}
    alone = all(bool(below) != is_total_text(above) for above, below in zip(outer.texts, inner.texts, strict=True))
    if len(plain) != 1 or not alone:
        return levels
    texts = tuple(below or above for above, below in zip(outer.texts, inner.texts, strict=True))
    places = tuple(below or above for above, below in zip(outer.places, inner.places, strict=True))
    return [replace(inner, name=inner.name or next(iter(plain)), texts=texts, places=places)]


def _names(dims: Sequence[AxisDimension], options: SheetOptions) -> list[str]:
    """Names of dimensions, each once."""
    if options.names is not None:
        if len(options.names) != len(dims) or len({*options.names}) < len(dims):
            raise InputError(
                f"names= (--names) gives {len(options.names)} names, but the sheet has {len(dims)} dimensions "
                f"({listed([d.name for d in dims])}); give a different name for each"
            )
        return [str(name) for name in options.names]
    names: list[str] = []
    for dim in dims:
        names.append(unused(dim.name, names))
    return names


def _trees(
    cells: CellMap,
    allowed: float,
    said: Mapping[str, str | None],
    partly: bool,
    pairs: Pairs,
    options: SheetOptions,
    title: str,
) -> list[SumTree]:
    """The sums of every dimension; where totals need not add up they are looked for with more and more tolerance."""
    unit = 10.0**-cells.decimals
    wider = () if options.totals == "check" else tuple(allowed + room * unit for room in ROOMS)
    trees = []
    for axis, (dim, codes) in enumerate(zip(cells.dimensions, cells.codes, strict=True)):
        parents = {c: p for c, p in dim.parents.items() if c in codes and p in codes}
        sums = partial(
            find_sums,
            dim.name,
            codes,
            parents=parents,
            said=said,
            partly=partly,
            short_total=options.partly,
            pairs=pairs.get(dim.name, ()),
            headed=dim.headed,
            title=title,
        )
        tree = None
        for room in (allowed, *wider):
            try:
                tree = sums(cells.lines(axis, room))
            except InputError:
                if not wider:
                    raise
            if tree is not None and (not wider or _is_whole(tree, partly)):
                break
        if tree is None or (wider and not _is_whole(tree, partly)):
            tree = sums(cells.lines(axis, allowed), trusted=True)
        trees.append(tree)
    return trees


def _is_whole(tree: SumTree, partly: bool) -> bool:
    """Whether a tree has a total, and its parts leave no remainder that nobody spoke of."""
    return tree.total is not None and (partly or not tree.partly)


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
        raise _blank_error(block, cells)


class BlankCellsError(InputError):
    """Blank cells or dashes of which nobody said what they mean."""


def _blank_error(block: SheetBlock, cells: CellMap) -> BlankCellsError:
    unclear = np.flatnonzero(cells.unclear)
    first = cells.places[int(unclear[0])][0]
    text = block.grid.text(first.row, first.column)
    if text:
        return BlankCellsError(
            f"{block.grid.source!r}: {len(unclear):,} cells hold {text!r} or are blank (the first is {first.address}), "
            f"and sums do not show what that means; say zero={text!r} (--zero) if it is a zero, suppressed={text!r} "
            "(--suppressed) if a number is hidden, blank='zero' (--blank) for blank cells"
        )
    return BlankCellsError(
        f"{block.grid.source!r}: {len(unclear):,} cells of the table are blank (the first is {first.address}), and "
        "sums do not show what that means; say blank='zero' (--blank) if nothing is there, blank='hidden' if a number "
        "is not shown, blank='none' if such a cell cannot exist"
    )


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
        texts.append(f"{zeros:,} blank cells or dashes are zeros: every sum that holds them shows it")
    hidden = [row for row in block.grid.hidden_rows if row in block.body]
    columns = [column for column in block.grid.hidden_columns if column in block.values]
    if hidden or columns:
        texts.append(f"{len(hidden):,} hidden rows and {len(columns):,} hidden columns are part of the table")
    if absent := _absent(cells, trees):
        texts.append(f"{absent:,} combinations of labels have no cell on the sheet and count as zero")
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
