"""A block with several groupings of one population, as a block for each of them with the total in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from discreet.sheets.blocks.body_numbers import BodyParts
from discreet.sheets.blocks.sheet_blocks import SheetBlock
from discreet.sheets.blocks.stated_populations import Body, header_counts, plain_rows
from discreet.sheets.sheet_options import SheetOptions
from discreet.sheets.sums.axis_levels import AxisDimension
from discreet.sheets.sums.axis_lines import AxisLines
from discreet.sheets.sums.groupings import Groupings
from discreet.sheets.sums.sum_runs import runs_to, told_apart
from discreet.tables.totals import TOTAL


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
        shared: tuple[str, ...] = () if labels == groupings.apart else (groupings.total,)
        part = _with_labels(block, parts, own, {*labels, *shared}, name if renamed else "", down=down)
        if down and len(rows) == 1 and (alone := _by_finest_labels(part, parts)) is not None:
            part = alone
            shared = tuple(
                part.grid.text(row, part.stub[-1])
                for row, code in zip(parts.rows, own.codes, strict=True)
                if code in shared
            )
        total = _totals(options.total, dims, own.name, name, shared)
        partly = options.partly or labels in groupings.partly
        blocks.append((part, replace(options, total=total, partly=partly)))
    return blocks


def without_derived(block: SheetBlock, parts: BodyParts) -> SheetBlock:
    """The block of the counts alone, without percentages and the like."""
    return replace(
        block,
        body=tuple(row for row in block.body if row not in parts.derived_rows),
        values=tuple(column for column in block.values if column not in parts.derived_columns),
    )


def population_blocks(block: SheetBlock, body: Body, options: SheetOptions) -> list[tuple[SheetBlock, SheetOptions]]:
    """Blocks of rows that add up to the populations which headers state, and of rows that count a part by themselves.

    They are the variables of Table 1 of a paper. There are none if all rows together add up to the populations, or if
    a row exceeds them.
    """
    parts, numbers = body.parts, body.numbers
    counts = header_counts(block, parts.columns)
    if not counts or np.isinf([number for number, _ in counts.values()]).any():
        return []
    *outer, inner = body.down
    flat = not outer or (len(outer) == 1 and outer[0].sections)
    if not flat or not options.nested or inner.name in _denied(options):
        return []
    stated = np.array([counts[column][0] for column in parts.columns])
    plain = plain_rows(block, body)
    values = np.vstack([np.where(numbers.hidden, 0, np.nan_to_num(numbers.values)), stated])
    shown = np.vstack([~numbers.hidden, np.ones(len(stated), bool)])
    if len(plain) < 2 or (values[plain] > stated).any():
        return []
    if not block.populations and (values[:-1] == stated).all(axis=1).any():
        return []
    lines = AxisLines(values, shown, np.ones(values.shape, bool))
    runs, left = runs_to(lines, len(values) - 1, plain)
    runs, left, said = told_apart(lines, len(values) - 1, runs, left, partly=options.partly)
    if len(runs) == 1 and not left:
        return []
    blocks = []
    names: set[str] = set()
    for run in (*runs, *([k] for k in left)):
        rows = {parts.rows[k] for k in run} | {*parts.derived_rows}
        at = [block.body.index(parts.rows[k]) for k in run]
        above = {outer[0].texts[k] for k in at} if outer else set()
        section = "" if len(above) != 1 or len(run) == 1 else above.pop()
        name = section or _name(inner.name or "row", [inner.texts[k] for k in at])
        while name in names:
            name += "'"
        names.add(name)
        own = tuple(row for row in block.body if row in rows)
        part = replace(block, body=own, sections=(), row_name=name, assumed=(*block.assumed, *said))
        total = _totals(options.total, (), inner.name, name, (TOTAL,))
        blocks.append((part, replace(options, total=total, partly=options.partly or len(run) == 1)))
    return blocks


def _denied(options: SheetOptions) -> set[str]:
    """Dimensions of which it is said that no label is a sum of others."""
    said = options.total if isinstance(options.total, Mapping) else {}
    return {name for name, code in said.items() if code is None}


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


def _by_finest_labels(block: SheetBlock, parts: BodyParts) -> SheetBlock | None:
    """The block named by its last column of labels alone, where each row has one of its own there: "Sex, Female"."""
    counted = [row for row in block.body if row in parts.rows]
    texts = [block.grid.text(row, block.stub[-1]) for row in counted]
    return replace(block, finest=True) if len(block.stub) > 1 and all(texts) and len({*texts}) == len(texts) else None


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
