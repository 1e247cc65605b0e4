"""The cells of a sheet as a table and as what is published of it: dimensions with their sums, numbers, doubts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discreet.base.naming import unused
from discreet.data.code_groups import Group
from discreet.data.dimension import Dimension
from discreet.errors import InputError, listed, many
from discreet.sheets.blocks.sheet_blocks import SheetBlock
from discreet.sheets.sheet_options import SheetOptions
from discreet.sheets.sums.axis_levels import AxisDimension
from discreet.sheets.sums.axis_lines import AxisLines
from discreet.sheets.sums.axis_sums import WRONG_TOTALS, SumTree
from discreet.sheets.sums.cell_map import CellMap
from discreet.sheets.sums.remainders import remainder_code, shown_remainders, with_remainders
from discreet.tables import totals
from discreet.tables.flat_parts import FlatReading, flat_reading
from discreet.tables.groups import possible_group
from discreet.tables.published import Published
from discreet.tables.reading.raw_table import HIDDEN
from discreet.tables.table import Table


def sheet_dimension(dim: AxisDimension, tree: SumTree, further: Mapping[str, Sequence[str]]) -> Dimension:
    """The dimension of an axis with the sums that were found."""
    children = {code: [p for p in parts if p not in further] for code, parts in tree.children.items()}
    for code in tree.partly:
        children[code].append(remainder_code(code))
    rest = [remainder_code(code) for code in tree.partly]
    leaves = [code for code in (*dim.distinct, *rest) if code not in children and code not in further]
    groups = tuple(
        Group(code, tuple((part, 1) for part in parts), 0) for code, parts in children.items() if code != tree.total
    )
    groups += tuple(Group(code, tuple((p, 1) for p in parts), n) for n, (code, parts) in enumerate(further.items(), 1))
    labels = dict(dim.labels)
    return Dimension(dim.name, tuple(leaves), groups, tree.total, labels)


def full_table(
    block: SheetBlock,
    cells: CellMap,
    dims: Sequence[Dimension],
    trees: Sequence[SumTree],
    measure: str,
    options: SheetOptions,
) -> Table | None:
    """The table of all cells; None where a number is hidden."""
    if cells.hidden.any():
        return None
    values = cells.values
    if measure == "count" and (negative := np.flatnonzero(values < 0)).size:
        addresses = [cells.places[k][0].address for k in negative]
        raise InputError(
            f"{block.grid.source!r}: {many(len(addresses), 'number of the table is', 'numbers of the table are')} "
            f"negative, and a count cannot be ({listed(addresses, 4)}); for changes or sums of a magnitude say what it "
            "is (value='change', --value change), else leave their columns aside by their headers (leave=, --leave)"
        )
    codes, position, values = with_remainders(cells.codes, trees, cells.position, values)
    if measure == "count" and (values < 0).any():
        names = [dim.name for dim, tree in zip(dims, trees, strict=True) if tree.partly]
        raise InputError(
            f"{block.grid.source!r}: what the parts leave of the totals of {listed(names)} cannot be counts, since "
            f"together they leave less than nothing; correct the sheet, {WRONG_TOTALS}"
        )
    columns: dict[str, Any] = {
        dim.name: np.array(own, object)[position[:, axis]].tolist()
        for axis, (dim, own) in enumerate(zip(dims, codes, strict=True))
    }
    column = unused(measure, columns)
    whole = not cells.decimals
    columns[column] = values.astype(np.int64) if whole else np.round(values, cells.decimals)
    return Table.of(
        columns,
        list(dims),
        count=column if measure == "count" else None,
        value=None if measure == "count" else column,
        decimals=None if measure == "count" else cells.decimals,
        totals="trust" if options.rounding else options.totals,
        tolerance=max(options.tolerance, 0.5 if cells.decimals else 0),
        title=sheet_title(block),
    )


def rewritten_totals(block: SheetBlock, cells: CellMap, table: Table) -> list[str]:
    """What is said of totals that were off and are written as the sums of their parts; refused where parts are missing.

    A total without any part on the sheet would be written as zero.
    """
    places = [np.array([d.position[c] for c in own]) for d, own in zip(table.dimensions, cells.codes, strict=True)]
    shape = [len(d.codes) for d in table.dimensions]
    at = np.ravel_multi_index([own[p] for own, p in zip(places, cells.position.T, strict=True)], shape)
    known = np.ravel_multi_index(list(table.layout.codes.T), shape)
    order = np.argsort(known)
    value = table.value.astype(float)[order][np.searchsorted(known[order], at)]
    changed = np.flatnonzero(np.abs(value - cells.values) > 0.5 * 10.0**-cells.decimals)
    addresses = [cells.places[k][0].address for k in changed]
    if lost := [cells.places[k][0].address for k in changed if value[k] == 0]:
        raise InputError(
            f"{block.grid.source!r}: {many(len(lost), 'total has', 'totals have')} no parts on the sheet that could be "
            f"added up ({listed(lost, 4)}); say totals='trust' (--totals trust) to keep them, or leave their column "
            "aside by its header (leave=, --leave)"
        )
    if not addresses:
        return []
    several = f"{len(addresses):,} totals that were off are" if len(addresses) > 1 else "a total that was off is"
    return [f"{several} written as the sum of the parts: {listed(addresses, 6)}"]


def published_sheet(
    block: SheetBlock,
    cells: CellMap,
    dims: Sequence[Dimension],
    trees: Sequence[SumTree],
    measure: str,
    doubts: tuple[str, ...],
    options: SheetOptions,
) -> Published:
    """What the sheet publishes, hidden cells among it; a cell that is said not to exist is a zero that all know.

    ``trees``: sums whose numbers are exact, so that what their parts leave is as good as shown where all of them are.
    """
    nothing = _finest(cells.absent, cells, dims)
    values = np.where(cells.hidden, np.nan, cells.values)
    own, rest, left = shown_remainders(cells.codes, trees, cells.position, values, cells.most, options.hidden_under)
    known = np.append(np.zeros(len(nothing)), left)
    position = np.concatenate([cells.position, nothing, rest])
    codes = np.stack(
        [
            np.array([d.position[c] for c in named])[position[:, k]]
            for k, (d, named) in enumerate(zip(dims, own, strict=True))
        ],
        axis=1,
    )
    ranged = np.isfinite(cells.least) | np.isfinite(cells.most)
    hidden = np.append(cells.hidden, np.zeros(len(known), bool))
    return Published(
        tuple(dims),
        codes.astype(np.int32),
        {measure: np.append(values, known)},
        {measure: cells.decimals},
        np.where(hidden, HIDDEN, "").astype(str),
        doubts,
        words={"title": sheet_title(block)},
        notes=sheet_notes(block),
        ranges={measure: (np.append(cells.least, known), np.append(cells.most, known))} if ranged.any() else {},
    )


def _finest(position: Any, cells: CellMap, dims: Sequence[Dimension]) -> Any:
    """Of cells that are said not to exist those of finest labels alone, which everybody knows to be zero."""
    finest = [np.array([c in d.leaf_position for c in own]) for d, own in zip(dims, cells.codes, strict=True)]
    inner = np.logical_and.reduce([flags[position[:, k]] for k, flags in enumerate(finest)])
    return position[inner]


def sum_doubts(
    cells: CellMap,
    trees: Sequence[SumTree],
    further: Sequence[Mapping[str, object]],
    said: Mapping[str, str | None],
    rounding: float = 0.0,
) -> tuple[str, ...]:
    """Dimensions some of whose labels may be sums of others, which an audit cannot see: with a total or without."""
    rows = _rows(cells, rounding)
    flat = flat_readings(cells, trees, further, rounding)
    below_total = [reading.doubt(name, total) for (name, total), reading in flat.items()]
    without_total = [
        f"no total found for {dim.name!r}, and some of its labels may be sums of others, so that more is known than an "
        f"audit sees: name its total{_perhaps_total(cells, axis, rounding)}, or say that there is none and no label is "
        f"a sum of others: {totals.option(dim.name, None)}"
        for axis, (dim, tree) in enumerate(zip(cells.dimensions, trees, strict=True))
        if not tree.children and not further[axis] and dim.name not in said and possible_group(rows, axis)
    ]
    return (*without_total, *filter(None, below_total))


def _perhaps_total(cells: CellMap, axis: int, rounding: float) -> str:
    """The option for the first or last label, where nothing that is shown says that it is not the total."""
    lines = cells.lines(axis, rounding)
    several = len(cells.codes[axis])
    ends = dict.fromkeys((0, several - 1)) if several > 2 else {}
    fitting = [at for at in ends if _may_add_up(lines, at, [k for k in range(several) if k != at])]
    said = [totals.option(cells.dimensions[axis].name, cells.codes[axis][at]) for at in fitting]
    return f" ({' or '.join(said)} fits what is shown)" if said else ""


def _may_add_up(lines: AxisLines, whole: int, parts: Sequence[int]) -> bool:
    """Whether a label is at least the sum of what is shown of all others, and more than any of them."""
    denied, *_ = lines.evidence(whole, parts)
    shown = lines.shown[whole] & lines.there[whole]
    return bool(not denied and shown.any() and (lines.values[whole][shown] > 0).any())


def flat_notes(
    cells: CellMap, trees: Sequence[SumTree], further: Sequence[Mapping[str, object]], rounding: float = 0.0
) -> tuple[str, ...]:
    """Dimensions whose labels are taken as parts of their total alone, which no line confirms."""
    flat = flat_readings(cells, trees, further, rounding)
    return tuple(text for (name, total), reading in flat.items() if (text := reading.note(name, total)))


def flat_readings(
    cells: CellMap, trees: Sequence[SumTree], further: Sequence[Mapping[str, object]], rounding: float = 0.0
) -> dict[tuple[str, str], FlatReading]:
    """By dimension and total whether labels are parts of the total alone, where a sheet has no other sums."""
    rows = _rows(cells, rounding)
    return {
        (dim.name, tree.total): flat_reading(rows, axis, tree.total)
        for axis, (dim, tree) in enumerate(zip(cells.dimensions, trees, strict=True))
        if tree.total is not None and set(tree.children) == {tree.total} and not further[axis]
    }


def _rows(cells: CellMap, rounding: float = 0.0) -> totals.Cells:
    return totals.Cells(
        names=tuple(dim.name for dim in cells.dimensions),
        codes=cells.codes,
        position=tuple(cells.position.T),
        numbers=(np.rint(np.nan_to_num(cells.values) * 10.0**cells.decimals),),
        shown=~cells.hidden,
        loose=(max(0.5 if cells.decimals else 0.0, rounding * 10.0**cells.decimals),),
        absent_is_zero=False,
    )


def sheet_notes(block: SheetBlock) -> tuple[str, ...]:
    """The texts of the rows of notes, each row from left to right."""
    columns: dict[int, list[int]] = {row: [] for row in block.notes}
    for row, column in block.cells:
        if row in columns:
            columns[row].append(column)
    return tuple(block.grid.text(row, column) for row, own in columns.items() for column in sorted(own))


def sheet_title(block: SheetBlock) -> str:
    """The first line above the table."""
    columns = {row: min(c for r, c in block.cells if r == row) for row in block.titles[:1]}
    return next((block.grid.text(row, column) for row, column in columns.items()), "")
