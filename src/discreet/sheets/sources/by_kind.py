"""Which source a path or a frame is: grids of all its sheets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.errors import InputError, listed, many, nearest
from discreet.sheets.excel.excel_grid import excel_grids
from discreet.sheets.opendocument.opendocument_grid import opendocument_grids
from discreet.sheets.sheet_grid import SheetGrid
from discreet.sheets.sources.delimited_grid import delimited_grid
from discreet.sheets.sources.frame_grid import frame_grid, is_frame
from discreet.sheets.sources.html_grid import html_grids

DELIMITED = (".csv", ".tsv", ".tab", ".txt")
EXCEL = (".xlsx", ".xlsm", ".xltx", ".xltm")
SUFFIXES = (*EXCEL, ".ods", *DELIMITED, ".html", ".htm", ".parquet")
OLD = {".xls": ".xlsx", ".xlsb": ".xlsx", ".numbers": ".xlsx", ".fods": ".ods"}


def grids_of(source: Any, *, separator: str | None = None, encoding: str | None = None) -> list[SheetGrid]:
    """The sheets of a file, or the one grid that a frame is."""
    if is_frame(source):
        return [frame_grid(source)]
    if not isinstance(source, (str, Path)):
        raise InputError(
            f"read_table takes the path of a file or a frame of pandas, polars or Arrow, not {type(source).__name__}"
        )
    path = Path(source)
    suffix = path.suffix.lower()
    if not path.is_file():
        raise InputError(f"there is no file {path.name!r}")
    if suffix in EXCEL:
        return excel_grids(path)
    if suffix == ".ods":
        return opendocument_grids(path)
    if suffix in (".html", ".htm"):
        return html_grids(path, encoding=encoding)
    if suffix == ".parquet":
        return [_parquet_grid(path)]
    if suffix in DELIMITED or not suffix:
        usual = "\t" if suffix in (".tsv", ".tab") else None
        return [delimited_grid(path, separator=separator or usual, encoding=encoding)]
    if suffix in OLD:
        raise InputError(f"{path.name!r}: save it as {OLD[suffix]}; {suffix} is not read")
    raise InputError(f"{path.name!r}: no format for {suffix!r} is known; {nearest(suffix, SUFFIXES)}")


def _parquet_grid(path: Path) -> SheetGrid:
    from dataclasses import replace

    import pandas as pd

    try:
        frame = pd.read_parquet(path)
    except (OSError, ValueError):
        raise InputError(f"cannot read {path.name!r} as Parquet") from None
    return replace(frame_grid(frame), source=path.name)


def chosen_sheet(grids: list[SheetGrid], sheet: str | int | None) -> SheetGrid:
    """The sheet that is asked for by name or number (from 1), or the only one that holds anything."""
    filled = [grid for grid in grids if grid.cells]
    names = [grid.sheet for grid in grids]
    if isinstance(sheet, int):
        if not 1 <= sheet <= len(grids):
            raise InputError(f"sheet={sheet}: {grids[0].source!r} has {many(len(grids), 'sheet')}, counted from 1")
        return grids[sheet - 1]
    if sheet is not None:
        if names == [""]:
            raise InputError(f"{grids[0].source!r} is one table and has no sheets with names; leave out {sheet!r}")
        if sheet not in names:
            raise InputError(f"{grids[0].source!r} has no sheet {sheet!r}; {nearest(sheet, names)}")
        return grids[names.index(sheet)]
    if not filled:
        raise InputError(f"{grids[0].source!r} is empty")
    if len(filled) > 1:
        raise InputError(
            f"{grids[0].source!r} holds {many(len(filled), 'sheet')} ({listed([g.sheet for g in filled], 6)}): say "
            f"which with sheet={filled[0].sheet!r} (--sheet), or read all of them with read_tables"
        )
    return filled[0]
