"""Formats that say what their numbers are (JSON-stat, PX, SDMX-CSV, what discreet wrote), read as tables of sheets.

Their cells are drawn as a list, a row for each; places are those of that list.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discreet.base.naming import STATUS, unused
from discreet.base.texts import csv_rows, read_text
from discreet.errors import DiscreetWarning, InputError, listed
from discreet.sheets.sheet_grid import CellRange, SheetCell, SheetGrid
from discreet.sheets.sheet_layout import LABEL, MARK, NAME, NUMBER, TOTAL, SheetLayout
from discreet.sheets.sheet_options import SheetOptions
from discreet.sheets.sheet_table import CellPlaces, SheetTable
from discreet.tables.published import Published, of_raw
from discreet.tables.reading.by_suffix import raw_table
from discreet.tables.reading.raw_table import RawTable
from discreet.tables.table import Table

CUBES = (".sdmx.csv", ".json", ".px")


def own_cells(source: Any) -> RawTable | None:
    """The cells of a file that says what they are; None for a sheet that somebody laid out."""
    if not isinstance(source, (str, Path)) or not Path(source).is_file():
        return None
    path = Path(source)
    name = path.name.lower()
    if name.endswith(CUBES):
        return raw_table(path, None)
    if name.endswith((".xlsx", ".html", ".htm")):
        try:
            return raw_table(path, None)
        except InputError:
            return None  # a sheet of another make, which its own reader looks at
    if name.endswith(".csv") and _has_status(path):
        return raw_table(path, None)
    if name.endswith(".parquet") and _is_ours(path):
        return raw_table(path, None)
    return None


def _has_status(path: Path) -> bool:
    """Whether the last column of a CSV is the status that discreet writes."""
    lines = [line for line in read_text(path).splitlines()[:50] if not line.startswith("# ")]
    head = csv_rows(lines[0], ",", repr(path.name))[0] if lines and lines[0].strip() else []
    return len(head) > 2 and head[-1] == unused(STATUS, head[:-1])


def _is_ours(path: Path) -> bool:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_schema(path).metadata or {}
    except (OSError, pa.ArrowInvalid):
        return False
    return b"discreet" in metadata


def of_cells(raw: RawTable, options: SheetOptions) -> SheetTable:
    """The table of such a file; totals are found as for an audit, and what was found is among the assumptions."""
    measure = _measure(raw, options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DiscreetWarning)
        published = of_raw(raw, None, options.total, rounding=options.rounding)
    assumed = [str(one.message) for one in caught] + list(published.doubts)
    grid = _grid(raw, measure)
    codes = [tuple(d.codes[k] for d, k in zip(published.dimensions, row, strict=True)) for row in published.codes]
    column = len(raw.names) + 1
    places = CellPlaces({cell: (grid.place(k, column),) for k, cell in enumerate(codes, 2)})
    one = Published(
        published.dimensions,
        published.codes,
        {measure: published.values[measure]},
        {measure: published.decimals[measure]},
        published.status,
        published.doubts,
        published.words,
        published.notes,
        {measure: published.ranges[measure]} if measure in published.ranges else {},
    )
    return SheetTable(
        grid,
        _layout(raw, one, measure),
        measure,
        one,
        places,
        assumed=tuple(assumed),
        _table=_table(raw, one, measure, options),
    )


def _measure(raw: RawTable, options: SheetOptions) -> str:
    wanted = options.measure[0] if options.measure else options.value
    if wanted is None and len(raw.values) == 1:
        return next(iter(raw.values))
    if wanted is None and "count" in raw.values:
        return "count"
    if wanted not in raw.values:
        raise InputError(f"{raw.name!r} holds {listed(raw.values)}: say which with measure= (--measure)")
    return str(wanted)


def _grid(raw: RawTable, measure: str) -> SheetGrid:
    cells: dict[tuple[int, int], SheetCell] = {}
    for c, (name, codes) in enumerate(zip(raw.names, raw.codes, strict=True), 1):
        cells[(1, c)] = SheetCell(name)
        for r, code in enumerate(codes, 2):
            cells[(r, c)] = SheetCell(code)
    last = len(raw.names) + 1
    cells[(1, last)] = SheetCell(measure)
    for r, (number, status) in enumerate(zip(raw.values[measure], raw.status, strict=True), 2):
        cells[(r, last)] = SheetCell(str(status) or "c") if np.isnan(number) else SheetCell(float(number))
    return SheetGrid(raw.name, "", cells, header_rows=1, stub_columns=len(raw.names))


def _layout(raw: RawTable, published: Published, measure: str) -> SheetLayout:
    rows = tuple(range(2, len(published.codes) + 2))
    last = len(raw.names) + 1
    roles: dict[tuple[int, int], str] = {(1, c): NAME for c in range(1, last + 1)}
    dimension_of = {}
    leaves = [[code in d.leaf_position for code in d.codes] for d in published.dimensions]
    hidden = np.isnan(published.values[measure])
    for r, codes in zip(rows, published.codes, strict=True):
        for c, d in enumerate(published.dimensions, 1):
            roles[(r, c)] = LABEL
            dimension_of[(r, c)] = d.name
        inner = all(flags[k] for flags, k in zip(leaves, codes, strict=True))
        roles[(r, last)] = MARK if hidden[r - 2] else NUMBER if inner else TOTAL
    stub: Sequence[int] = range(1, last)
    box = CellRange(1, 1, len(rows) + 1, last)
    return SheetLayout(
        box, (1,), tuple(stub), rows, (last,), roles, dimension_of, raw.words.get("title", ""), raw.notes
    )


def _table(raw: RawTable, published: Published, measure: str, options: SheetOptions) -> Table | None:
    values = published.values[measure]
    if np.isnan(values).any() or (published.status != "").any():
        return None
    columns: dict[str, Any] = {name: list(codes) for name, codes in zip(raw.names, raw.codes, strict=True)}
    column = unused(measure, columns)
    decimals = published.decimals[measure]
    is_count = options.value is None and (measure == "count" or not decimals)
    columns[column] = values.astype(np.int64) if is_count else values
    return Table.of(
        columns,
        list(published.dimensions),
        count=column if is_count else None,
        value=None if is_count else column,
        decimals=None if is_count else decimals,
        totals=options.totals,
        tolerance=options.tolerance,
        title=raw.words.get("title", ""),
        source=raw.words.get("source", ""),
    )
