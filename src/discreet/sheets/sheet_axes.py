"""The dimensions of rows and columns of a sheet, under the names of the sheet or of the caller."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from discreet.base.naming import unused
from discreet.errors import InputError, listed, many
from discreet.sheets.blocks.body_numbers import BodyParts
from discreet.sheets.blocks.label_paths import LabelLevel, is_total_text
from discreet.sheets.blocks.sheet_blocks import SheetBlock
from discreet.sheets.blocks.stated_populations import counted_columns, counted_rows
from discreet.sheets.sheet_grid import column_letters
from discreet.sheets.sheet_options import SheetOptions
from discreet.sheets.sums.axis_levels import AxisDimension, axis_dimensions
from discreet.sheets.sums.nested_labels import UNNAMED_COLUMNS

MEASURE_NAME = re.compile(
    r"\b(number|numbers|count|counts|n|freq\w*|persons|people|cases|anzahl|nombre|antal)\b", re.IGNORECASE
)


@dataclass(frozen=True, eq=False)
class SheetAxes:
    """The dimensions of rows, those of columns, and what was assumed to find them."""

    rows: tuple[AxisDimension, ...]
    columns: tuple[AxisDimension, ...]
    assumed: tuple[str, ...]


def sheet_axes(
    block: SheetBlock, parts: BodyParts, down: Sequence[LabelLevel], across: Sequence[LabelLevel], options: SheetOptions
) -> SheetAxes:
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
    if len(varying) == 1 and options.missing is None:
        _refuse_unnamed_columns(block, parts, varying[0])
    columns = axis_dimensions(varying, fallback=fallback, nested=options.nested, missing=options.missing)
    dims = [*rows.dimensions, *columns.dimensions]
    if len(parts.columns) > 1 and not varying:
        raise InputError(
            f"{block.grid.source!r}: {many(len(parts.columns), 'column of numbers has', 'columns of numbers have')} "
            "the same header; give them different ones, or say which rows are headers with header_rows= (--header-rows)"
        )
    names = _names(dims, options)
    dims = [replace(dim, name=name) for dim, name in zip(dims, names, strict=True)]
    cut = len(rows.dimensions)
    return SheetAxes(tuple(dims[:cut]), tuple(dims[cut:]), (*rows.assumed, *columns.assumed))


def _refuse_unnamed_columns(block: SheetBlock, parts: BodyParts, level: LabelLevel) -> None:
    """Refuse a column of numbers without a header beside others, by its letter."""
    counted = [column for column in parts.columns if column not in parts.stated_columns]
    bare = [column for column, text in zip(counted, level.texts, strict=False) if not text]
    if not bare:
        return
    letters = column_letters(bare[0])
    hidden = ", which is hidden," if bare[0] in block.grid.hidden_columns else ""
    raise InputError(
        f"{block.grid.source!r}: column {letters}{hidden} holds numbers and has no header; write one above it, take "
        "the column out, or read the others (range=, --range)"
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
                f"names= (--names) gives {len(options.names)} names, but the sheet has {many(len(dims), 'dimension')} "
                f"({listed([d.name for d in dims])}); give a different name for each"
            )
        return [str(name) for name in options.names]
    names: list[str] = []
    for dim in dims:
        names.append(unused(dim.name, names))
    return names
