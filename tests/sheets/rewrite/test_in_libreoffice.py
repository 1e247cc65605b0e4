"""What is written back opens in LibreOffice and looks like its source: words in their places, pixels around them."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest
import xlsxwriter

from discreet.sheets.same_layout import write_same
from discreet.sheets.sheet_grid import CellPlace
from discreet.sheets.sheet_layout import DerivedNumber
from tests.sheets.excel.planted_workbook import HIDDEN, SHOWN, planted_workbook
from tests.sheets.rewrite.office import converted, differences_outside, pixels, words
from tests.sheets.rewrite.secrets_in_files import Planted

pytestmark = pytest.mark.xdist_group("libreoffice")  # slow to start: by one worker

S = "People"
NUMBERS = [[1203, 3407, 31], [881, 4101, 77], [45, 2903, 558], [1207, 2111, 413]]
NOTE = "* hidden to protect persons"


def workbook(path: Path) -> None:
    """A table as an office makes it: title, header rows, merged cells, indents, formats, totals, percentages, notes."""
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet(S)
        title = book.add_format({"bold": True, "font_size": 14, "align": "center", "font_name": "Liberation Sans"})
        head = book.add_format({"bold": True, "bg_color": "#DDEBF7", "bottom": 1, "text_wrap": True, "align": "right"})
        stub = book.add_format({"indent": 1, "italic": True})
        number = book.add_format({"num_format": "#,##0", "border": 4})
        share = book.add_format({"num_format": "0.0%", "font_color": "#7F6000"})
        total = book.add_format({"num_format": "#,##0", "bold": True, "top": 6})
        small = book.add_format({"font_size": 8, "font_color": "#808080"})
        sheet.merge_range("A1:F1", "Table 1. People by ward and age", title)
        sheet.write_rich_string("A2", "as of ", book.add_format({"bold": True}), "1 January", " (preliminary)")
        sheet.write_row("A3", ["Ward", "Under 16", "16 to 64", "65 and over", "Total", "Share 65+"], head)
        for row, (name, values) in enumerate(zip(["North", "East", "South", "West"], NUMBERS, strict=True), 4):
            sheet.write(f"A{row}", name, stub)
            sheet.write_row(f"B{row}", values, number)
            sheet.write_formula(f"E{row}", f"=SUM(B{row}:D{row})", number, sum(values))
            sheet.write_formula(f"F{row}", f"=D{row}/E{row}", share, values[2] / sum(values))
        for at, column in enumerate("BCD"):
            whole = sum(values[at] for values in NUMBERS)
            sheet.write_formula(f"{column}8", f"=SUM({column}4:{column}7)", total, whole)
        everybody = sum(map(sum, NUMBERS))
        sheet.write("A8", "All wards", total)
        sheet.write_formula("E8", "=SUM(E4:E7)", total, everybody)
        sheet.write_formula("F8", "=D8/E8", share, sum(values[2] for values in NUMBERS) / everybody)
        sheet.write("A10", "Source: register of residents.", small)
        sheet.conditional_format("E4:E7", {"type": "2_color_scale", "min_color": "#FFFFFF", "max_color": "#F8696B"})
        sheet.set_column("A:A", 24)
        sheet.set_column("B:F", 11)
        sheet.set_row(2, 32)
        sheet.freeze_panes(3, 1)
        sheet.set_landscape()


def protected(source: Path, target: Path) -> None:
    """Four cells hidden, shares worked out anew."""
    shown = {CellPlace(S, row, column) for row in range(4, 9) for column in range(2, 6)}
    hidden = {CellPlace(S, row, column): "*" for row in (4, 6) for column in (2, 4)}
    derived = [
        DerivedNumber(CellPlace(S, row, 6), "share", CellPlace(S, row, 4), CellPlace(S, row, 5), 1.0)
        for row in range(4, 9)
    ]
    write_same(source, target, hidden, shown=shown, derived=derived, note=NOTE, mark="*")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sources and what is made of them, as .xlsx of two writers and as .ods, and the pages of all of them."""
    place = tmp_path_factory.mktemp("office")
    (place / "own").mkdir()
    workbook(place / "plain.xlsx")
    for kind in ("xlsx", "ods"):
        converted([place / "plain.xlsx"], kind, place / "own")
    (place / "own" / "plain.xlsx").rename(place / "saved.xlsx")
    (place / "own" / "plain.ods").rename(place / "open.ods")
    files = [place / name for name in ("plain.xlsx", "saved.xlsx", "open.ods")]
    for file in files:
        protected(file, place / f"{file.stem}-out{file.suffix}")
    converted([*files, *(place / f"{file.stem}-out{file.suffix}" for file in files)], "pdf", place)
    return place


@pytest.mark.parametrize("name", ["plain", "saved", "open"])
def test_it_looks_like_its_source(folder: Path, name: str) -> None:
    """Marks for hidden numbers, and the note; all other words and pixels stand where they stood."""
    before, after = words(folder / f"{name}.pdf"), words(folder / f"{name}-out.pdf")
    gone, new = set(before) - set(after), set(after) - set(before)
    shares = [f"{100 * NUMBERS[k][2] / sum(NUMBERS[k]):.1f}%" for k in (0, 2)]
    assert Counter(w.text for w in gone) == Counter(["1,203", "31", "45", "558", *shares])
    assert Counter(w.text for w in new) == Counter(["*"] * 6 + NOTE.split())
    one, other = (pixels(folder / f"{name}{end}.pdf", folder) for end in ("", "-out"))
    assert differences_outside(one, other, gone | new) == 0


def test_the_comparison_sees_a_change(folder: Path) -> None:
    """Without the boxes of what changed there is a difference."""
    one, other = (pixels(folder / f"plain{end}.pdf", folder) for end in ("", "-out"))
    assert differences_outside(one, other, []) > 0


def test_a_workbook_with_everything_in_it_opens(tmp_path: Path) -> None:
    """What is made of the workbook with a number in every corner, and a text file, are read as they were meant."""
    write_same(planted_workbook(Planted()), tmp_path / "planted.xlsx", HIDDEN, shown=SHOWN, note=NOTE)
    write_same(b"ward;n\r\nNorth;3,5\r\n", tmp_path / "text.csv", {("", 2, 2): "*"}, shown=())
    (tmp_path / "as").mkdir()
    (page,) = converted([tmp_path / "planted.xlsx"], "csv", tmp_path / "as")
    rows = list(csv.reader(page.read_text().splitlines()))
    assert [row[:4] for row in rows[3:6]] == [
        ["North", "*", "*", "900"],
        ["East", "*", "*", "700"],
        ["All", "800", "800", "1600"],
    ]
    assert converted([tmp_path / "text.csv"], "pdf", tmp_path / "as")
