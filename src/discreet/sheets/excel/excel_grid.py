"""Sheets of an Excel workbook, by openpyxl: saved results of formulas are the values, their texts stand beside them."""

from __future__ import annotations

import warnings
import zipfile
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.sheets.sheet_grid import CellRange, SheetCell, SheetGrid, leading

MOST_BYTES = 500_000_000  # unpacked: a small file can hold more than any memory
INDENT = 4  # blanks that a level of indentation is worth, where both are used


def excel_grids(path: Path) -> list[SheetGrid]:
    """Every sheet of a workbook, in its order."""
    calculated = _formulas_in(path)
    book = _loaded(path, results=True)
    formulas = _loaded(path, results=False) if calculated else None
    grids = []
    for sheet in book.worksheets:
        texts = {} if formulas is None else _formula_texts(formulas[sheet.title])
        grids.append(_grid(path.name, sheet, texts))
    return grids


def _formulas_in(path: Path) -> bool:
    """Whether a sheet holds formulas; refuses what is not a workbook of this kind."""
    try:
        with zipfile.ZipFile(path) as book:
            if sum(part.file_size for part in book.infolist()) > MOST_BYTES:
                raise InputError(f"{path.name!r} is too large when unpacked; write the table as CSV or Parquet")
            sheets = [name for name in book.namelist() if name.startswith("xl/worksheets/")]
            return any(b"<f>" in (data := book.read(name)) or b"<f " in data for name in sheets)
    except zipfile.BadZipFile:
        raise InputError(
            f"{path.name!r} is not an Excel workbook of today's kind: it is protected by a password, or of the kind "
            ".xls; save it as .xlsx without a password"
        ) from None
    except OSError as error:
        raise InputError(f"cannot read {path.name!r}: {error.strerror}") from None


def _loaded(path: Path, *, results: bool) -> Any:
    import openpyxl

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of parts that hold no cells
        try:
            return openpyxl.load_workbook(path, data_only=results, keep_links=False)
        except Exception:  # noqa: BLE001 - whatever a damaged part raises; its message may hold values
            raise InputError(f"{path.name!r} is damaged: its parts do not fit together; save it again") from None


def _formula_texts(sheet: Any) -> dict[tuple[int, int], str]:
    return {
        place: str(getattr(cell.value, "text", None) or cell.value)
        for place, cell in sheet._cells.items()
        if cell.data_type == "f"
    }


def _grid(source: str, sheet: Any, formulas: dict[tuple[int, int], str]) -> SheetGrid:
    styles: dict[int, tuple[str, int, bool]] = {}
    cells = {}
    for place, cell in sheet._cells.items():
        value, formula = cell.value, formulas.get(place)
        if value is None and formula is None:
            continue
        if isinstance(value, str) and not value.strip() and formula is None:
            continue
        number = cell._style
        style = styles.get(id(number)) if cell.has_style else ("General", 0, False)
        if style is None:
            style = (cell.number_format, int(cell.alignment.indent or 0), bool(cell.font.b))
            styles[id(number)] = style
        text = str(getattr(value, "text", value)) if type(value).__name__ == "CellRichText" else value
        cells[place] = SheetCell(text, style[0], style[1] * INDENT + leading(text), style[2], formula)
    rows = {row for row, about in sheet.row_dimensions.items() if about.hidden}
    columns = {
        column
        for about in sheet.column_dimensions.values()
        if about.hidden and about.min is not None
        for column in range(about.min, min(about.max, sheet.max_column) + 1)
    }
    return SheetGrid(
        source,
        sheet.title,
        cells,
        merged=tuple(CellRange(r.min_row, r.min_col, r.max_row, r.max_col) for r in sheet.merged_cells.ranges),
        hidden_rows=frozenset(rows),
        hidden_columns=frozenset(columns),
        hidden=sheet.sheet_state != "visible",
    )
