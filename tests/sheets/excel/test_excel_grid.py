"""Workbooks read cell by cell: the same as openpyxl reads, which wrote none of this code."""

from __future__ import annotations

import datetime as dt
import importlib
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.styles import Alignment, Font

from discreet.errors import InputError
from discreet.sheets.excel.excel_grid import excel_grids
from discreet.sheets.sheet_grid import SheetCell, SheetGrid, cell_text
from tests.sheets.gallery.draft import LAYOUTS, Layout, written

for _theme in sorted((Path(__file__).parents[1] / "gallery").glob("*.py")):
    importlib.import_module(f"tests.sheets.gallery.{_theme.stem}")
CASES = [pytest.param(layout, id=layout.name) for layout in LAYOUTS if "xlsx" in layout.formats]


def by_openpyxl(path: Path) -> dict[str, dict[tuple[int, int], tuple[Any, int, bool, bool]]]:
    """By sheet and place: the text of a value, its level of indentation, whether it is bold, and a formula."""
    results = openpyxl.load_workbook(path, data_only=True)
    formulas = openpyxl.load_workbook(path)
    sheets = {}
    for sheet in results.worksheets:
        cells = {}
        for row in sheet.iter_rows():
            for cell in row:
                formula = formulas[sheet.title].cell(cell.row, cell.column).data_type == "f"
                if (cell.value is None or str(cell.value).strip() == "") and not formula:
                    continue
                text = cell_text(SheetCell(cell.value)) if not isinstance(cell.value, dt.timedelta) else str(cell.value)
                bold, indent = bool(cell.font.b), int(cell.alignment.indent or 0)
                cells[cell.row, cell.column] = (text, indent, bold, formula)
        sheets[sheet.title] = cells
    return sheets


def read(grids: list[SheetGrid]) -> dict[str, dict[tuple[int, int], tuple[Any, int, bool, bool]]]:
    return {
        grid.sheet: {
            place: (
                cell_text(cell),
                cell.indent // 4 if not str(cell.value).startswith(" ") else 0,
                cell.bold,
                bool(cell.formula),
            )
            for place, cell in grid.cells.items()
        }
        for grid in grids
    }


@pytest.mark.parametrize("case", CASES)
def test_every_layout_is_read_as_openpyxl_reads_it(case: Layout, tmp_path: Path) -> None:
    """Values, indents, bold letters and formulas."""
    path = written(case.draw(), tmp_path, "xlsx")
    assert read(excel_grids(path)) == by_openpyxl(path)


def odd_workbook(path: Path) -> Path:
    """Every kind of value a cell can have."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "Odd"
    moments = [
        dt.date(2021, 3, 1),
        dt.datetime(2021, 3, 1, 13, 30),
        dt.time(7, 45),
        dt.timedelta(hours=30, minutes=5),
        dt.datetime(1900, 1, 15),
    ]
    sheet.append(["Text", "  indented", " ", "snake_case", "a < b & c", "tab\tand\nline", *moments])
    sheet.append([1, 2.5, -3, 1e20, 1.5e-7, True, False, "#N/A", "=1+2", "=SUM(A2:B2)", 12345678901234567])
    sheet["A3"] = CellRichText("plain ", TextBlock(InlineFont(b=True), "bold"), " again")
    sheet["B3"].font = Font(bold=True)
    sheet["B3"] = 5
    sheet["C3"].alignment = Alignment(indent=2)
    sheet["C3"] = "two levels"
    for column, code in enumerate(["0%", "[Red]0", '0" days"', "yyyy", "[$-409]d-mmm", "#,##0;(#,##0)", "mm:ss"], 4):
        sheet.cell(3, column, 44000).number_format = code
    sheet["A5"] = "merged"
    sheet.merge_cells("A5:C6")
    book.save(path)
    return path


def test_every_kind_of_value(tmp_path: Path) -> None:
    """Dates, times, durations, truths, errors, large and small numbers, rich texts, formats that look like dates."""
    path = odd_workbook(tmp_path / "odd.xlsx")
    assert read(excel_grids(path)) == by_openpyxl(path)


def test_days_since_1904(tmp_path: Path) -> None:
    """The same number is another date."""
    book = openpyxl.Workbook()
    book.epoch = openpyxl.utils.datetime.MAC_EPOCH
    book.worksheets[0].append([dt.date(2021, 3, 1), "day"])
    book.save(tmp_path / "old.xlsx")
    assert read(excel_grids(tmp_path / "old.xlsx")) == by_openpyxl(tmp_path / "old.xlsx")


def test_an_empty_text_that_a_formula_gave_is_blank(tmp_path: Path) -> None:
    """It was saved, and is nothing; a formula without any result is told."""
    book = openpyxl.Workbook()
    book.worksheets[0].append(["a", '=IF(A1="a","","b")', "=1+1"])
    book.save(tmp_path / "a.xlsx")
    with zipfile.ZipFile(tmp_path / "a.xlsx") as package:
        parts = {name: package.read(name) for name in package.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = parts[sheet].replace(b'<c r="B1">', b'<c r="B1" t="str">')
    with zipfile.ZipFile(tmp_path / "b.xlsx", "w") as package:
        for name, data in parts.items():
            package.writestr(name, data)
    (grid,) = excel_grids(tmp_path / "b.xlsx")
    assert (1, 2) not in grid.cells
    assert grid.cells[1, 3].formula
    assert grid.value(1, 3) is None


def test_damaged_workbooks_are_refused(tmp_path: Path) -> None:
    """Cut short anywhere, or with a bit turned anywhere: read or refused, never an error of another kind."""
    whole = odd_workbook(tmp_path / "odd.xlsx").read_bytes()
    for at in range(0, len(whole), 97):
        for data in (whole[:at], whole[:at] + bytes([whole[at] ^ 16]) + whole[at + 1 :]):
            (tmp_path / "bad.xlsx").write_bytes(data)
            with suppress(InputError):
                excel_grids(tmp_path / "bad.xlsx")
