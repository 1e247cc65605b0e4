"""A block with several groupings of one population, as a block for each of them with the total in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from discreet.sheets.blocks.body_numbers import BodyParts
from discreet.sheets.blocks.sheet_blocks import SheetBlock
from discreet.sheets.sheet_options import SheetOptions
from discreet.sheets.sums.axis_levels import AxisDimension
from discreet.sheets.sums.groupings import Groupings


def grouped_blocks(
    block: SheetBlock,
    parts: BodyParts,
    rows: Sequence[AxisDimension],
    columns: Sequence[AxisDimension],
    axis: int,
    groupings: Groupings,
    options: SheetOptions,
) -> list[tuple[SheetBlock, SheetOptions]]:
    """A block for each grouping of a dimension, given by its number, and the options to read it with."""
    dims = (*rows, *columns)
    own = dims[axis]
    down = axis < len(rows)
    renamed = own is dims[len(rows) - 1] if down else len(columns) == 1 and len(own.levels) == 1
    blocks = []
    for labels in (*groupings.labels, *groupings.partly, groupings.apart):
        if not labels:
            continue
        name = _name(own.name, labels) if renamed else own.name
        shared = () if labels == groupings.apart else (groupings.total,)
        part = _with_labels(block, parts, own, {*labels, *shared}, name if renamed else "", down=down)
        total = _totals(options.total, dims, own.name, name, shared)
        partly = options.partly or labels in groupings.partly
        blocks.append((part, replace(options, total=total, partly=partly)))
    return blocks


def _name(name: str, labels: Sequence[str]) -> str:
    """The name of a grouping, from those of the dimension and of its labels."""
    if len(labels) < 3:
        return f"{name}: {', '.join(labels)}"
    return f"{name}: {labels[0]} to {labels[-1]}"


def _with_labels(
    block: SheetBlock, parts: BodyParts, own: AxisDimension, labels: set[str], name: str, *, down: bool
) -> SheetBlock:
    """The block with the rows or columns of some labels, and those of derived numbers."""
    if down:
        kept = {row for row, code in zip(parts.rows, own.codes, strict=True) if code in labels} | {*parts.derived_rows}
        return replace(block, body=tuple(row for row in block.body if row in kept), row_name=name or block.row_name)
    kept = {column for column, code in zip(parts.columns, own.codes, strict=True) if code in labels}
    kept |= {*parts.derived_columns}
    values = tuple(column for column in block.values if column in kept)
    return replace(block, values=values, column_name=name or block.column_name)


def _totals(
    total: str | Mapping[str, str | None] | None,
    dims: Sequence[AxisDimension],
    old: str,
    new: str,
    shared: Sequence[str],
) -> dict[str, str | None]:
    """What is said of totals, with that of the groupings under their name."""
    if isinstance(total, str):
        total = {dim.name: total for dim in dims if total in dim.codes}
    said = {name: code for name, code in (total or {}).items() if name != old}
    return said | dict.fromkeys([new] if shared else [], *shared)
