"""Nothing hidden survives in a workbook that is written back: numbers planted everywhere, and searched for."""

from __future__ import annotations

import io
from pathlib import Path

import openpyxl
import pytest

from discreet.sheets.rewrite.notices import Rewritten
from discreet.sheets.same_layout import write_same
from tests.sheets.excel.planted_workbook import HIDDEN, SHEET, SHOWN, planted_workbook
from tests.sheets.rewrite.secrets_in_files import Planted, remains, spellings


@pytest.fixture(scope="module")
def planted() -> tuple[bytes, dict[str, str]]:
    plant = Planted()
    return planted_workbook(plant), plant.corners


@pytest.fixture
def rewritten(planted: tuple[bytes, dict[str, str]], tmp_path: Path) -> Rewritten:
    return write_same(planted[0], tmp_path / "out.xlsx", HIDDEN, shown=SHOWN, note="* fewer than 6 persons", mark="*")


def test_the_search_finds_every_corner_of_the_source(planted: tuple[bytes, dict[str, str]]) -> None:
    """Or it would prove nothing."""
    data, corners = planted
    assert len(corners) > 90
    assert remains(data, corners) == set(corners) - {"date"}  # of which two digits are there


@pytest.mark.parametrize("spelling", list(spellings("8300017")))
def test_the_search_knows_every_spelling(spelling: bytes) -> None:
    """Each of them is found."""
    assert remains(b"before " + spelling + b" behind", {"x": "8300017"}) == {"x"}


def test_nothing_planted_survives(planted: tuple[bytes, dict[str, str]], rewritten: Rewritten) -> None:
    """Not in any part, name, attribute, format, cache or comment."""
    assert remains(rewritten.path.read_bytes(), planted[1]) == set()


def test_only_parts_that_we_write_are_there(rewritten: Rewritten) -> None:
    """The list of parts is ours, whatever the source has."""
    import zipfile

    with zipfile.ZipFile(rewritten.path) as package:
        assert set(package.namelist()) == {
            "[Content_Types].xml",
            "_rels/.rels",
            "xl/_rels/workbook.xml.rels",
            "xl/workbook.xml",
            "xl/styles.xml",
            "xl/sharedStrings.xml",
            "xl/theme/theme1.xml",
            "xl/worksheets/sheet1.xml",
            "xl/worksheets/_rels/sheet1.xml.rels",
            "xl/tables/table1.xml",
        }


def test_what_is_seen_stays(rewritten: Rewritten) -> None:
    """Labels, shown numbers, marks, the note; freeze, widths, merged cells, table, print area."""
    book = openpyxl.load_workbook(rewritten.path, rich_text=True)
    sheet = book[SHEET]
    rows = [[cell.value for cell in row[:4]] for row in sheet.iter_rows(min_row=3, max_row=6)]
    assert rows == [
        ["Ward", "Women", "Men", "All"],
        ["North", "*", "*", 900],
        ["East", "*", "*", 700],
        ["All", 800, 800, "=SUM(D4:D5)"],
    ]
    assert book.sheetnames == [SHEET]
    assert str(sheet["A2"].value) == "Wards of the town"
    assert sheet["A2"].value[0].font.b
    assert sheet.freeze_panes == "A4"
    assert sheet.column_dimensions["A"].width == 20
    assert [str(area) for area in sheet.merged_cells.ranges] == ["A1:D1"]
    assert sheet.tables["Table1"].ref == "A3:D6"
    assert sheet.page_setup.orientation == "landscape"
    assert (sheet["A8"].value, sheet["A10"].value) == (None, "* fewer than 6 persons")
    notes = [cell.value for (cell,) in sheet.iter_rows(min_row=7, max_col=1) if cell.value]
    assert notes == ["* fewer than 6 persons"]


def test_what_is_left_out_is_said(rewritten: Rewritten) -> None:
    """In words, with places, and without a number of the source."""
    text = "\n".join(rewritten.left_out)
    for word in (
        "hidden sheet 'Old'",
        "hidden sheet 'Older'",
        "sheet 'Raw'",
        "comments",
        "charts",
        "pivot",
        "macros",
        "defined names",
        "document properties",
        "conditional formats",
        "data validation",
        "links to other workbooks",
        "tracked changes",
        "in hidden rows or columns are blanked",
        "under a merged one",
        "number format shows nothing",
        "sparklines",
        "outside the tables",
        "number which is hidden now",
        "formula puts together",
        "colour of the paper",
    ):
        assert word in text, word
    assert not remains(text.encode(), {str(n): str(8_300_017 + 4_561 * n) for n in range(150)})


def test_the_same_bytes_every_time(planted: tuple[bytes, dict[str, str]], tmp_path: Path) -> None:
    """No date, no name, no chance."""
    first = write_same(planted[0], tmp_path / "a.xlsx", HIDDEN, shown=SHOWN)
    second = write_same(planted[0], tmp_path / "b.xlsx", HIDDEN, shown=SHOWN)
    assert first.path.read_bytes() == second.path.read_bytes()


def test_written_back_again_nothing_more_is_lost(rewritten: Rewritten, tmp_path: Path) -> None:
    """What is written back is a workbook that can be read and written back again."""
    again = write_same(rewritten.path, tmp_path / "again.xlsx", {}, shown=SHOWN)
    assert again.left_out == ()
    one, other = (openpyxl.load_workbook(io.BytesIO(p.read_bytes()))[SHEET] for p in (rewritten.path, again.path))
    assert [[c.value for c in row] for row in one.rows] == [[c.value for c in row] for row in other.rows]
