"""A frame with other contents in its cells: the same kind, index, columns and order; missing where a cell is hidden."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discreet.errors import InputError, listed
from discreet.in_place.contents import SheetContents
from discreet.sheets.rewrite.number_look import first_number, without_share, written_with_share
from discreet.sheets.rewrite.parquet_columns import index_metadata
from discreet.sheets.sheet_grid import CellPlace, SheetGrid
from discreet.sheets.sheet_layout import DerivedNumber, derived_value

NULLABLE = {name.lower(): name for size in (8, 16, 32, 64) for name in (f"Int{size}", f"UInt{size}")}
MISSING = object()
"""What stands for a hidden number where no mark is asked for."""


def frame_like(frame: Any, grid: SheetGrid, contents: SheetContents, mark: str | None) -> Any:
    """The frame with its protected numbers; a column with hidden ones can hold missing values, or text with a mark."""
    now = _now(grid, contents, mark)
    home = type(frame).__module__.split(".")[0]
    if home == "polars":
        return _polars(frame, now, mark)
    if home == "pyarrow":
        return _arrow(frame, now, mark)
    return _pandas(frame, grid, now)


def _now(grid: SheetGrid, contents: SheetContents, mark: str | None) -> dict[tuple[int, int], Any]:
    """Per row and column of the grid what stands there: shares are worked out of what is published."""
    marked = {place for place, content in contents.replacements.items() if isinstance(content, str)}
    values: dict[CellPlace, Any] = dict(contents.replacements)
    for place in marked:
        values[place] = MISSING if mark is None else contents.replacements[place]
    for place in contents.blanked:
        values[place] = MISSING
    for number in contents.derived:
        values[number.place] = _share(number, grid, contents, values, mark)
    for row, column in grid.cells:
        place = grid.place(row, column)
        judged = place in values or place in contents.shown
        if not judged and _number(grid, place) is not None:
            values[place] = MISSING
    return {(place.row, place.column): value for place, value in values.items()}


def _share(
    number: DerivedNumber, grid: SheetGrid, contents: SheetContents, values: Mapping[CellPlace, Any], mark: str | None
) -> Any:
    def published(place: CellPlace | None) -> float | None:
        if place is None:
            return None
        value = values.get(place, _count(grid, place) if place in contents.shown else None)
        return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None

    part, whole = published(number.numerator), published(number.denominator)
    share = None if part is None or whole is None else derived_value(number.kind, part, whole, number.scale)
    share = None if share is None else round(share, number.decimals)
    if number.inside:
        text = grid.text(number.place.row, number.place.column)
        if part is not None:
            return written_with_share(text, part, share, mark or "*")
        return values.get(number.place, without_share(text) if number.place in contents.shown else MISSING)
    if share is None:
        return MISSING if mark is None else mark
    return share


def _count(grid: SheetGrid, place: CellPlace) -> float | None:
    """The number of a cell, also where a share stands behind it in the same text."""
    value = grid.value(place.row, place.column)
    return first_number(value) if isinstance(value, str) else _number(grid, place)


def _number(grid: SheetGrid, place: CellPlace) -> float | None:
    value = grid.value(place.row, place.column)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def left_out_of_frame(grid: SheetGrid, contents: SheetContents) -> tuple[str, ...]:
    """What of a frame does not come back, by the headers of its columns, and what stays unjudged."""
    blanked = {place.column for place in contents.blanked}
    unconfirmed = {number.place.column for number in contents.derived if number.numerator is None}
    kept = {place.column for place in contents.kept}
    sentences = (
        (blanked, "columns that are neither labels nor counts come back empty (keep_text= keeps texts)"),
        (unconfirmed, "percentages, means or rates whose base is not confirmed are left out"),
        (kept, "columns stay as said, and the audit does not judge them"),
    )
    heads = grid.header_rows or 1
    named = {
        column: " ".join(text for row in range(1, heads + 1) if (text := grid.text(row, column)))
        or grid.names.get(("column", column), "")
        for columns, _ in sentences
        for column in columns
    }
    return tuple(
        f"{words}: {listed([named[column] for column in sorted(columns)])}" for columns, words in sentences if columns
    )


def _by_column(now: Mapping[tuple[int, int], Any], rows: int, columns: int) -> dict[int, list[tuple[int, Any]]]:
    """Changes by column, both from 0, given how many rows and columns of the grid stand before the body."""
    held: dict[int, list[tuple[int, Any]]] = {}
    for (row, column), value in now.items():
        if row <= rows or column <= columns:
            raise InputError(
                "something in the labels or headers of the frame may not stay: a number that no table accounts for, or "
                "a text that states a hidden count; make labels plain texts, or name them (keep_text=)"
            )
        held.setdefault(column - columns - 1, []).append((row - rows - 1, value))
    return held


# -- one library each -------------------------------------------------------------------------------------------


def _pandas(frame: Any, grid: SheetGrid, now: Mapping[tuple[int, int], Any]) -> Any:
    import pandas as pd

    source = frame.data if type(frame).__name__ == "Styler" else frame
    body = source.to_frame() if isinstance(source, pd.Series) else source
    out = body.copy()
    out.attrs = {}
    for column, changes in _by_column(now, grid.header_rows or 1, grid.stub_columns or 0).items():
        out.isetitem(column, _pandas_column(body.iloc[:, column], changes))
    if isinstance(source, pd.Series):
        series = out.iloc[:, 0]
        series.name = source.name
        return series
    return out


def _pandas_column(series: Any, changes: Sequence[tuple[int, Any]]) -> Any:
    """A column of the same kind if it can hold what is in it now: whole numbers that can be missing, or any value."""
    import pandas as pd

    values = series.tolist()
    for row, value in changes:
        values[row] = None if value is MISSING else value
    texts = any(isinstance(value, str) for _, value in changes)
    kind = series.dtype
    if texts or kind.kind == "O":
        return pd.Series([pd.NA if v is None else v for v in values], index=series.index, dtype=object)
    if any(value is None for value in values) and isinstance(kind, np.dtype) and kind.kind in "iu":
        kind = NULLABLE[str(kind)]
    elif any(value is None for value in values) and kind.kind == "b":
        kind = "boolean"
    if any(isinstance(value, float) and value % 1 for _, value in changes) and kind.kind in "iu":
        kind = "Float64"
    return pd.Series(values, index=series.index, dtype=kind)


def _polars(frame: Any, now: Mapping[tuple[int, int], Any], mark: str | None) -> Any:
    import polars as pl

    lazy = isinstance(frame, pl.LazyFrame)
    body = frame.collect() if isinstance(frame, pl.LazyFrame) else frame
    body = body.to_frame() if isinstance(body, pl.Series) else body
    for column, changes in _by_column(now, 1, 0).items():
        name = body.columns[column]
        kind = (
            pl.String if isinstance(body[name].dtype, (pl.Enum, pl.Categorical)) else body[name].dtype
        )  # no categories
        body = body.with_columns(pl.Series(name, *_listed(body[name].to_list(), changes, kind, pl.String)))
    if isinstance(frame, pl.Series):
        return body.to_series()
    return body.lazy() if lazy else body


def _listed(values: list[Any], changes: Sequence[tuple[int, Any]], kind: Any, text: Any) -> tuple[list[Any], Any]:
    """Values of a column with its changes, and their kind: text where a mark stands among them."""
    for row, value in changes:
        values[row] = None if value is MISSING else value
    if any(isinstance(value, str) for _, value in changes) and kind != text:
        return [None if v is None else str(v) for v in values], text
    return values, kind


def _arrow(frame: Any, now: Mapping[tuple[int, int], Any], mark: str | None) -> Any:
    import pyarrow as pa

    columns = list(frame.columns)
    fields = [pa.field(field.name, field.type, field.nullable) for field in frame.schema]  # without their metadata
    for column, changes in _by_column(now, 1, 0).items():
        values, kind = _listed(columns[column].to_pylist(), changes, fields[column].type, pa.string())
        fields[column] = pa.field(fields[column].name, kind)
        columns[column] = pa.array(values, type=kind)
    return type(frame).from_arrays(columns, schema=pa.schema(fields, metadata=index_metadata(frame.schema)))
