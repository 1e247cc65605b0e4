"""Sections that are variables of one population, as in Table 1 of a paper: each adds up to the same numbers.

They are tables of their own, one for each variable, that have their total in common.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.base.annotations import Array
from discreet.sheets.blocks.body_numbers import BodyNumbers, BodyParts
from discreet.sheets.blocks.cell_reading import ReadCell
from discreet.sheets.blocks.label_paths import LabelLevel, is_total_text
from discreet.sheets.blocks.sheet_blocks import SheetBlock
from discreet.sheets.blocks.stated_populations import counted_columns, counted_rows, header_counts
from discreet.tables.totals import ASK

_DECIMAL = re.compile(r"\d+(?:\.\d+)?")


def separate_blocks(
    block: SheetBlock, parts: BodyParts, numbers: BodyNumbers, down: Sequence[LabelLevel], across: Sequence[LabelLevel]
) -> list[SheetBlock]:
    """A block for each variable, or none if rows and columns are not of several variables."""
    rows = counted_rows(block, parts, down)
    columns = counted_columns(block, parts, across)
    values = np.where(numbers.hidden, np.nan, numbers.values)
    population = _population(block, parts, rows, values)
    if groups := _groups(rows, values, population, apart=bool(rows) and not rows[0].sections):
        return [_of_rows(block, parts, rows[0], name, items, groups, values) for name, items in groups.items()]
    if groups := _groups([level for level in columns if len({*level.texts}) > 1], values.T, None):
        return [_of_columns(block, parts, name, items, groups, columns, values) for name, items in groups.items()]
    return []


@dataclass(frozen=True, eq=False)
class Population:
    """Of every column how many people it is of, and per cell the bits by which its percentage says that it is of them.

    Where a percentage says otherwise that is minus infinity.
    """

    size: Array
    shares: Array


def _population(block: SheetBlock, parts: BodyParts, levels: Sequence[LabelLevel], values: Array) -> Population | None:
    """What headers state ("N = 40"), or else a row of totals outside all sections; None if there is neither."""
    columns = parts.columns[: values.shape[1]]
    counts = header_counts(block, columns)
    size = np.array([counts[column][0] for column in columns]) if counts else None
    if size is None and levels:
        outside = [
            k
            for k, (outer, inner) in enumerate(zip(levels[0].texts, levels[-1].texts, strict=True))
            if not outer and is_total_text(inner)
        ]
        size = values[outside[0]] if outside else None
    if size is None or not np.isfinite(size).all() or not (size > 0).all():
        return None
    shares = np.zeros(values.shape)
    for k, row in enumerate(parts.rows[: len(values)]):
        for j, column in enumerate(columns):
            shares[k, j] = _confirmed(block.cells.get((row, column)), values[k, j], size[j])
    return Population(size, shares)


def _confirmed(cell: ReadCell | None, count: float, size: float) -> float:
    """The bits by which the percentage behind a count says that it is one of so many; 0 if none is there."""
    text = "" if cell is None or cell.share is None else cell.share.rstrip("% ").replace(",", ".")
    if np.isnan(count) or not _DECIMAL.fullmatch(text):
        return 0.0
    unit = 10.0 ** -len(text.partition(".")[2])
    fits = abs(float(text) - 100 * count / size) <= 0.5 * unit + 1e-9
    return float(np.log2(100 / unit)) if fits else -np.inf


def _groups(
    levels: Sequence[LabelLevel], values: Array, population: Population | None, *, apart: bool = False
) -> dict[str, list[int]]:
    """The items of each outer label, if all of them have the same sums in every line, beyond chance.

    Where some are hidden, so that there is no sum, shown numbers must be of one ``population``.

    ``apart``: only if no inner label stands below two of them, as labels of levels that cross do.
    """
    if len(levels) < 2:
        return {}
    groups: dict[str, list[int]] = {}
    for k, text in enumerate(levels[0].texts):
        if text and not is_total_text(text):
            groups.setdefault(text, []).append(k)
    inner = levels[-1].texts
    sums = []
    below = [{inner[k] for k in items if not is_total_text(inner[k])} for items in groups.values()]
    if apart and len(set().union(*below)) < sum(len(labels) for labels in below):
        return {}
    for items in groups.values():
        own = [k for k in items if inner[k] and not is_total_text(inner[k])]
        if len(own) < 2:
            return {}
        sums.append(values[own].sum(axis=0))
    if len(sums) < 2:
        return {}
    table = np.array(sums)
    full = table[:, ~np.isnan(table).any(axis=0)]
    if not (full == full[0]).all():
        return {}
    if (len(full) - 1) * float(np.log2(1 + np.abs(full[0])).sum()) >= ASK:
        return groups
    hidden = bool(np.isnan(table).any())
    confirmed = hidden and population is not None and _of_population(table, population, groups, values)
    return groups if confirmed else {}


def _of_population(sums: Array, population: Population, groups: dict[str, list[int]], values: Array) -> bool:
    """Whether shown sums are the population, no shown part is more, and percentages are of it, beyond chance."""
    size = population.size
    items = sorted(k for own in groups.values() for k in own)
    shown = [np.nansum(values[own], axis=0) for own in groups.values()]
    fits = (np.isnan(sums) | (sums == size)).all() and (np.array(shown) <= size).all()
    bits = float((~np.isnan(sums) * np.log2(1 + size)).sum()) + float(population.shares[items].sum())
    return bool(fits) and bits >= ASK


def _common(
    levels_first: Sequence[str], groups: dict[str, list[int]], values: Array, items: Sequence[int]
) -> list[int]:
    """Items outside all groups that hold the sum of a group: the total that all variables share."""
    inside = {k for own in groups.values() for k in own}
    total = values[list(items)].sum(axis=0)
    outside = [k for k in range(len(levels_first)) if k not in inside]
    return [k for k in outside if (np.isnan(total) | (values[k] == total)).all()]


def _of_rows(
    block: SheetBlock,
    parts: BodyParts,
    outer: LabelLevel,
    name: str,
    items: Sequence[int],
    groups: dict[str, list[int]],
    values: Array,
) -> SheetBlock:
    common = _common(outer.texts, groups, values, items)
    rows = sorted(parts.rows[k] for k in (*items, *common))
    stub = block.stub
    if not outer.sections:
        stub = tuple(column for column in block.stub if column != block.stub[0]) or block.stub
    return replace(block, body=tuple(rows), sections=(), stub=stub, row_name=name)


def _of_columns(
    block: SheetBlock,
    parts: BodyParts,
    name: str,
    items: Sequence[int],
    groups: dict[str, list[int]],
    columns: Sequence[LabelLevel],
    values: Array,
) -> SheetBlock:
    varying = [level for level in columns if len({*level.texts}) > 1]
    common = _common(varying[0].texts, groups, values.T, items)
    kept = sorted(parts.columns[k] for k in (*items, *common))
    return replace(block, values=tuple(kept), column_name=name)
