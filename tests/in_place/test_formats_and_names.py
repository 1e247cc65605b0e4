"""Words in number formats and names of sheets are read by whoever opens the file: none states what is hidden."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest

from discreet.cli import run
from discreet.sheets.excel.excel_formats import without_figures

ROWS = [
    ["Ward", "Female", "Male", "Total"],
    ["Abbey", 71, 100, 171],
    ["Beacon", 49, 4, 53],
    ["Castle", 30, 43, 73],
    ["Dene", 60, 51, 111],
    ["All wards", 210, 198, 408],
]


def workbook(path: Path, formats: dict[str, str], title: str = "Wards") -> Path:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = title
    for row in ROWS:
        sheet.append(row)
    for address, code in formats.items():
        sheet[address].number_format = code
    book.save(path)
    return path


def formats_of(path: Path) -> dict[str, str]:
    sheet = openpyxl.load_workbook(path).active
    assert sheet is not None
    return {cell.coordinate: cell.number_format for line in sheet.iter_rows() for cell in line}


def test_words_with_figures_in_number_formats_do_not_stay(tmp_path: Path) -> None:
    """Of labels, headers, shown numbers and totals; units without figures stay."""
    telling = {
        "A3": '@" (4 male)"',
        "B1": '@" \u2463"',
        "B2": '0" (Beacon 4)"',
        "D6": r"0\4",
        "D2": "[$4-409]0",
        "D3": "0 4",
        "B4": '0;0;"4";@"4"',
    }
    path = workbook(tmp_path / "w.xlsx", {**telling, "B5": '0.0" kg"', "C2": "#,##0.00"})
    assert run(["protect", str(path), "--hide-under", "6"]) == 0
    safe = formats_of(tmp_path / "w.safe.xlsx")
    assert not [safe[address] for address in telling if any(sign in safe[address] for sign in "4\u2463")]
    assert (safe["B5"], safe["C2"]) == ('0.0" kg"', "#,##0.00")


@pytest.mark.parametrize(
    ("code", "kept"),
    [('0" (South 4177)"', "0"), ('0.0" kg"', '0.0" kg"'), ('@" (4 young)"', "@"), ('0"4', "0"), (r"0\ \k", r"0\ \k")],
)
def test_formats_without_figures(code: str, kept: str) -> None:
    assert without_figures(code) == kept


def test_the_name_of_a_sheet_that_states_a_hidden_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = workbook(tmp_path / "w.xlsx", {}, "Beacon 4 male")
    assert run(["protect", str(path), "--hide-under", "6"]) == 2
    refusal = capsys.readouterr().err.strip().splitlines()[-1]
    assert "the name of a sheet states a number of its table that is hidden" in refusal
    assert "Beacon" not in refusal
    assert not (tmp_path / "w.safe.xlsx").exists()
    for title in ("Table 4", "2024", "Wards 408"):
        run(["protect", str(workbook(tmp_path / "t.xlsx", {}, title)), "--hide-under", "6", "--force"])
        assert openpyxl.load_workbook(tmp_path / "t.safe.xlsx").sheetnames == [title]


def test_sheets_that_are_numbered_keep_their_names(tmp_path: Path) -> None:
    """Names that differ in a number at their end alone state no count; one that differs in more does."""
    for names, code in ((("Area 1", "Area 4"), 0), (("Area 4", "Wards"), 2), (("4 males", "5 males"), 2)):
        book = openpyxl.load_workbook(workbook(tmp_path / "w.xlsx", {}, names[0]))
        book.copy_worksheet(book.active).title = names[1]
        book.save(tmp_path / "w.xlsx")
        assert run(["protect", str(tmp_path / "w.xlsx"), "--hide-under", "6", "--force"]) == code
