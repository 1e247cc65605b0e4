"""Sheets of an Excel workbook as grids: saved results of formulas are the values, their texts stand beside them."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection
from pathlib import Path

from discreet.errors import DiscreetError, InputError
from discreet.sheets.excel.excel_cells import StoredCell, StoredSheet
from discreet.sheets.excel.excel_package import ExcelBook, ListedSheet, excel_book
from discreet.sheets.excel.excel_styles import CellLook, Styles
from discreet.sheets.sheet_grid import CellValue, SheetCell, SheetGrid, leading

NO_CELLS = ("chartsheet", "dialogsheet", "xlMacrosheet", "xlIntlMacrosheet")
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")


def excel_grids(path: Path) -> list[SheetGrid]:
    """Every sheet of a workbook, in its order."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path.name!r}: {error.strerror}") from None
    try:
        book = excel_book(data, path.name)
        styles = Styles(book.styles)
        return [_grid(book, sheet, styles) for sheet in book.sheets if sheet.kind not in NO_CELLS]
    except DiscreetError:
        raise
    except Exception:  # noqa: BLE001 - whatever a damaged part raises; its message may hold values
        raise InputError(f"{path.name!r} is damaged: its parts do not fit together; save it again") from None


def _grid(book: ExcelBook, listed: ListedSheet, styles: Styles) -> SheetGrid:
    stored = book.stored(listed)
    looks: dict[int, CellLook] = {}
    numbers: dict[tuple[str, int], SheetCell] = {}  # the same cell wherever number and style are the same
    covered = _covered(stored)
    cells: dict[tuple[int, int], SheetCell] = {}
    for cell in stored.cells():
        if cell.kind == "empty" or (cell.row, cell.column) in covered:
            continue
        look = looks.get(cell.style)
        if look is None:
            look = looks[cell.style] = styles.look(cell.style)
        if cell.kind == "number" and cell.formula is None and not look.date:
            key = cell.raw, cell.style
            if key not in numbers:
                numbers[key] = SheetCell(_number(cell), look.code, look.indent, look.bold)
            cells[cell.row, cell.column] = numbers[key]
            continue
        value = _value(cell, look, book)
        formula = None if cell.formula is None else f"={cell.formula.text or ''}"
        if value is None and (formula is None or cell.kind == "text"):
            continue
        cells[cell.row, cell.column] = SheetCell(value, look.code, look.indent + leading(value), look.bold, formula)
    last = max((column for _, column in cells), default=1)
    return SheetGrid(
        book.name,
        listed.name,
        cells,
        merged=stored.merged,
        hidden_rows=stored.hidden_rows,
        hidden_columns=frozenset(
            column for first, end in stored.hidden_columns for column in range(first, min(end, last) + 1)
        ),
        hidden=listed.hidden,
        book=book,
    )


def _value(cell: StoredCell, look: CellLook, book: ExcelBook) -> CellValue:
    """What a cell holds; None for a formula without a result, and for a text of blanks."""
    if cell.kind in ("text", "error"):
        text = unescaped(cell.raw)
        return text if text.strip() else None
    if cell.number is None:
        return None
    if cell.kind == "truth":
        return bool(cell.number)
    return _date(cell.number, look, book) if cell.kind == "date" or look.date else _number(cell)


def unescaped(text: str) -> str:
    """A text with the signs that XML cannot hold, which Excel writes by their numbers.

    >>> unescaped("a_x000D_b _x005F_x000D_ snake_case")
    'a\\rb _x000D_ snake_case'
    """
    if "_x" not in text:
        return text
    return _ESCAPE.sub(lambda match: match[0] if match[1][:1] in "dD" else chr(int(match[1], 16)), text)


def _number(cell: StoredCell) -> int | float:
    raw = cell.raw
    return float(raw) if "." in raw or "e" in raw or "E" in raw else int(raw)


def _date(number: float, look: CellLook, book: ExcelBook) -> CellValue:
    """Days since the first of all days as a date, by openpyxl, which knows the leap year that never was."""
    from openpyxl.utils.datetime import MAC_EPOCH, WINDOWS_EPOCH, from_excel

    try:
        moment = from_excel(number, MAC_EPOCH if book.from_1904 else WINDOWS_EPOCH, timedelta=look.duration)
    except (OverflowError, ValueError):
        return "#VALUE!"
    return moment if isinstance(moment, (dt.date, dt.time)) else str(moment)


def _covered(sheet: StoredSheet) -> Collection[tuple[int, int]]:
    """Cells under a merged one, which nobody sees."""
    last = max((number for number, _, _ in sheet.rows), default=0)
    widest = max((cell.column for cell in sheet.cells()), default=0) if sheet.merged else 0
    return {
        (row, column)
        for area in sheet.merged
        for row in range(area.first_row, min(area.last_row, last) + 1)
        for column in range(area.first_column, min(area.last_column, widest) + 1)
        if (row, column) != (area.first_row, area.first_column)
    }
