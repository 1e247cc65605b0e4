"""Formats that say what their numbers are (JSON-stat, PX, SDMX-CSV, what discreet wrote), read as tables of sheets.

Their cells are drawn as a list, a row for each; places are those of that list. What adds up what is found there as on
any sheet, since few of these formats say it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from discreet.base.naming import STATUS, unused
from discreet.base.texts import csv_rows, read_text
from discreet.data.dimension import Dimension
from discreet.errors import DiscreetWarning, InputError, listed
from discreet.sheets.blocks.sheet_blocks import sheet_blocks
from discreet.sheets.sheet_grid import CellRange, SheetCell, SheetGrid
from discreet.sheets.sheet_layout import LABEL, MARK, NAME, NUMBER, TOTAL, SheetLayout
from discreet.sheets.sheet_options import SheetOptions
from discreet.sheets.sheet_table import CellPlaces, SheetTable
from discreet.sheets.understanding import understood
from discreet.tables.published import Published, check_codes, of_raw
from discreet.tables.reading.by_suffix import raw_table
from discreet.tables.reading.number_cells import NumberSigns
from discreet.tables.reading.number_marks import FLAG, SUPPRESSED, UNAVAILABLE, ZERO, NumberMarks, may_be_named
from discreet.tables.reading.raw_table import HIDDEN, NOT_AVAILABLE, RawTable
from discreet.tables.table import Table

CUBES = (".sdmx.csv", ".json", ".px")
NO_OPTIONS = SheetOptions()


def own_cells(source: Any, options: SheetOptions = NO_OPTIONS) -> RawTable | None:
    """The cells of a file that says what they are; None for a sheet that somebody laid out.

    What ``options`` say of marks holds here as on sheets.
    """
    if not isinstance(source, (str, Path)) or not Path(source).is_file():
        return None
    path = Path(source)
    name = path.name.lower()
    signs = NumberSigns(marks=_marks(options))
    if name.endswith(CUBES):
        return raw_table(path, None, signs)
    if name.endswith((".xlsx", ".html", ".htm")):
        try:
            return raw_table(path, None, signs)
        except InputError:
            return None  # a sheet of another make, which its own reader looks at
    if name.endswith(".csv") and _has_status(path):
        return raw_table(path, None, signs)
    if name.endswith(".parquet") and _is_ours(path):
        return raw_table(path, None, signs)
    return None


def _marks(options: SheetOptions) -> NumberMarks:
    said = {ZERO: options.zero, SUPPRESSED: options.suppressed, UNAVAILABLE: options.unavailable, FLAG: options.flag}
    return NumberMarks({mark: meaning for meaning, marks in said.items() for mark in marks})


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


def tables_of_list(raw: RawTable, options: SheetOptions) -> list[SheetTable]:
    """The table of such a file, and where parts may be parts of others one for each reading, as of any sheet.

    What its format says of totals and of codes below others is taken as if a caller had said it, and checked.
    """
    measure = _measure(raw, options)
    if not _is_whole(raw, measure):
        _refuse_unknown_status(raw, measure)
        return [of_cells(raw, options)]
    check_codes(raw)
    said = options.total if isinstance(options.total, str) else {**raw.totals, **(options.total or {})}
    parents = {name: _parents(raw.codes[at], raw.children.get(name, {})) for at, name in enumerate(raw.names)}
    nobody = (*options.unavailable, NOT_AVAILABLE)
    own = replace(options, measure=None, nested=False, total=said or None, parents=parents, unavailable=nobody)
    grid = _grid(raw, measure)
    return [_with_words(table, raw) for block in sheet_blocks(grid, own) for table in understood(block, own)]


def _is_whole(raw: RawTable, measure: str) -> bool:
    """Whether no number of a measure is hidden; one may be blank, or of a kind that nobody has."""
    status = raw.status.astype(str)
    blank = np.isnan(raw.values[measure])
    return bool(((status == "") | ((status == NOT_AVAILABLE) & blank)).all())


def _refuse_unknown_status(raw: RawTable, measure: str) -> None:
    """Refuse a mark beside a number that is shown, of which nobody said what it means."""
    beside = raw.status.astype(str)[~np.isnan(raw.values[measure])]
    if unknown := [mark for mark in np.unique(beside).tolist() if mark not in ("", HIDDEN, NOT_AVAILABLE)]:
        named = next((mark for mark in unknown if may_be_named(mark)), None)
        many = f"{len(unknown):,} marks" if len(unknown) > 1 else "a mark"
        raise InputError(
            f"{raw.name!r}: {many} stand{'' if len(unknown) > 1 else 's'} beside numbers that are shown, and what that "
            f"means is not known{'' if named is None else f' ({named!r})'}; if such numbers are as they are shown, say "
            f"flag={named or 'p'!r} (--flag {named or 'p'!r})"
        )


def _parents(codes: Sequence[str], children: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """What stands above each code, where a file says it and all parts of it are there."""
    held = set(codes)
    return {part: code for code, parts in children.items() if code in held and held >= set(parts) for part in parts}


def _with_words(table: SheetTable, raw: RawTable) -> SheetTable:
    """The table with the labels, the title and the source that stand in the file."""

    def labelled(dimension: Dimension) -> Dimension:
        labels = {code: text for code, text in raw.labels.get(dimension.name, {}).items() if code in dimension.position}
        return replace(dimension, labels=labels)

    dimensions = tuple(labelled(d) for d in table.dimensions)
    own, title = table._table, raw.words.get("title", "")
    if own is not None:
        layout = replace(own.layout, dimensions=dimensions)
        own = replace(own, layout=layout, title=title, source=raw.words.get("source", ""))
    return replace(
        table,
        published=replace(table.published, dimensions=dimensions, words=raw.words, notes=raw.notes),
        layout=replace(table.layout, title=title, notes=raw.notes),
        plain=None if table.plain is None else _with_words(table.plain, raw),
        _table=own,
    )


def of_cells(raw: RawTable, options: SheetOptions) -> SheetTable:
    """The table of a file with hidden numbers; totals are found as for an audit, and what was found is assumed."""
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
    """The list of cells; one without a number and a status is blank, as on any sheet."""
    cells: dict[tuple[int, int], SheetCell] = {}
    for c, (name, codes) in enumerate(zip(raw.names, raw.codes, strict=True), 1):
        cells[(1, c)] = SheetCell(name)
        for r, code in enumerate(codes, 2):
            cells[(r, c)] = SheetCell(code)
    last = len(raw.names) + 1
    cells[(1, last)] = SheetCell(measure)
    for r, (number, status) in enumerate(zip(raw.values[measure], raw.status, strict=True), 2):
        if not np.isnan(number):
            cells[(r, last)] = SheetCell(_plain(float(number)))
        elif status:
            cells[(r, last)] = SheetCell(str(status))
    names = {("column", c): name for c, name in enumerate(raw.names, 1)}
    listed = not _stands_in_lines(raw)
    return SheetGrid(raw.name, "", cells, header_rows=1, stub_columns=len(raw.names), names=names, listed=listed)


def _stands_in_lines(raw: RawTable) -> bool:
    """Whether the file has the list itself: a line for each cell, below one line of names."""
    name = raw.name.lower()
    if name.endswith(".csv") and not name.endswith(CUBES):
        return not raw.labels and [*raw.lines] == [*range(2, len(raw.status) + 2)]
    return name.endswith(".parquet")


def _plain(number: float) -> int | float:
    return int(number) if number.is_integer() else number


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
