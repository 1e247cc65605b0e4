"""Text with separators (CSV, TSV) as a grid: the separator that parts most lines alike, unless it is said."""

from __future__ import annotations

from pathlib import Path

from discreet.base.texts import csv_rows, read_text
from discreet.errors import InputError
from discreet.sheets.rewrite.delimited_text import likeliest_separator
from discreet.sheets.sheet_grid import SheetCell, SheetGrid, leading


def delimited_grid(path: Path, *, separator: str | None = None, encoding: str | None = None) -> SheetGrid:
    """The lines of a file as rows of a grid; every value is text."""
    text = read_text(path, encoding)
    if not text.strip():
        raise InputError(f"{path.name!r} is empty")
    rows = csv_rows(text, separator or likeliest_separator(text, path.name), repr(path.name))
    cells = {
        (r, c): SheetCell(field, indent=leading(field))
        for r, row in enumerate(rows, 1)
        for c, field in enumerate(row, 1)
        if field.strip()
    }
    return SheetGrid(path.name, "", cells)
