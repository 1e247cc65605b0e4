"""Text with separators (CSV, TSV) as a grid: the separator that parts most lines alike, unless it is said."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from discreet.base.texts import csv_rows, read_text
from discreet.errors import InputError
from discreet.sheets.sheet_grid import SheetCell, SheetGrid, leading

SEPARATORS = ("\t", ";", "|", ",")


def delimited_grid(path: Path, *, separator: str | None = None, encoding: str | None = None) -> SheetGrid:
    """The lines of a file as rows of a grid; every value is text."""
    text = read_text(path, encoding)
    if not text.strip():
        raise InputError(f"{path.name!r} is empty")
    rows = csv_rows(text, separator or _separator(text, path.name), repr(path.name))
    cells = {
        (r, c): SheetCell(field, indent=leading(field))
        for r, row in enumerate(rows, 1)
        for c, field in enumerate(row, 1)
        if field.strip()
    }
    return SheetGrid(path.name, "", cells)


def _separator(text: str, name: str) -> str:
    """The sign that parts the most lines into one same number of fields; titles and notes may be parted otherwise.

    >>> _separator("People, all\\narea;f;m\\nNorth;1,5;2,5\\n", "x")
    ';'
    """
    head = "\n".join(text.splitlines()[:1000])
    alike = {}
    for sign in SEPARATORS:
        if sign in head:
            widths = Counter(len(row) for row in csv_rows(head, sign, repr(name)) if len(row) > 1)
            width, times = max(widths.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
            alike[sign] = (times, width)
    return max(alike, key=lambda sign: alike[sign], default=",")
