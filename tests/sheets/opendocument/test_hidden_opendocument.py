"""An OpenDocument spreadsheet comes back with what is seen, and without anything else."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from discreet.errors import InputError
from discreet.sheets.opendocument.opendocument_grid import opendocument_grids
from discreet.sheets.opendocument.opendocument_package import document_book
from discreet.sheets.rewrite.notices import Rewritten
from discreet.sheets.same_layout import write_same
from tests.sheets.opendocument.planted_document import HIDDEN, SHEET, SHOWN, planted_document
from tests.sheets.rewrite.secrets_in_files import Planted, remains


@pytest.fixture(scope="module")
def planted() -> tuple[bytes, dict[str, str]]:
    plant = Planted()
    return planted_document(plant), plant.corners


@pytest.fixture
def rewritten(planted: tuple[bytes, dict[str, str]], tmp_path: Path) -> Rewritten:
    return write_same(planted[0], tmp_path / "out.ods", HIDDEN, shown=SHOWN, note="* fewer than 6 persons", mark="*")


def test_nothing_planted_survives(planted: tuple[bytes, dict[str, str]], rewritten: Rewritten) -> None:
    """And all of it is in the source."""
    assert len(planted[1]) > 50
    assert remains(planted[0], planted[1]) == set(planted[1])
    assert remains(rewritten.path.read_bytes(), planted[1]) == set()


def test_only_parts_that_we_write_are_there(rewritten: Rewritten) -> None:
    """With the kind of the file first and not compressed, as the standard asks."""
    with zipfile.ZipFile(rewritten.path) as package:
        parts = package.infolist()
        assert [part.filename for part in parts] == [
            "mimetype",
            "content.xml",
            "styles.xml",
            "settings.xml",
            "META-INF/manifest.xml",
        ]
        assert parts[0].compress_type == zipfile.ZIP_STORED
        assert b'"VerticalSplitPosition" config:type="int">2<' in package.read("settings.xml")
        assert b'table:formula="of:=SUM([.C3:.C4])"' in package.read("content.xml")


def test_what_is_seen_stays(rewritten: Rewritten) -> None:
    """Labels, numbers, marks, the note, merged cells."""
    (grid,) = opendocument_grids(rewritten.path)
    assert grid.sheet == SHEET
    assert {place: cell.value for place, cell in grid.cells.items()} == {
        (1, 1): "People by ward",
        (2, 1): "Ward",
        (2, 2): "Women",
        (2, 3): "All",
        (3, 1): "North",
        (3, 2): "*",
        (3, 3): 900,
        (4, 1): "East",
        (4, 2): "*",
        (4, 3): 700.5,
        (5, 1): "All",
        (5, 2): 800,
        (5, 3): 1600.5,
        (6, 1): "Notes",
        (9, 1): "See us",
        (12, 1): "* fewer than 6 persons",
    }
    assert [area.address for area in grid.merged] == ["A1:B1"]
    assert grid.cells[3, 2].bold


def test_what_is_left_out_is_said(rewritten: Rewritten) -> None:
    """In words."""
    text = "\n".join(rewritten.left_out)
    for word in (
        "hidden sheet 'Old'",
        "sheet 'Raw'",
        "comments",
        "thumbnail",
        "macros",
        "defined names",
        "pivot",
        "tracked changes",
        "document properties",
        "conditional formats",
        "data validation",
        "in hidden rows",
        "under a merged one",
        "number format shows nothing",
        "number which is hidden now",
        "formula puts together",
        "outside the tables",
        "links",
    ):
        assert word in text, word


def test_repeated_cells_and_rows_are_told_apart(tmp_path: Path) -> None:
    """A number that is written once for three cells, or for three rows, is changed in one."""
    from tests.sheets.opendocument.planted_document import _SPACES

    cell = '<table:table-cell table:number-columns-repeated="3" office:value-type="float" office:value="7"/>'
    row = (
        f'<table:table-row table:number-rows-repeated="3">{cell}<table:table-cell '
        f'table:number-columns-repeated="999"/></table:table-row>'
    )
    empty = '<table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row>'
    content = (
        f"<office:document-content {_SPACES}><office:body><office:spreadsheet><table:table table:name='S'>{row}{empty}"
        "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as package:
        package.writestr("content.xml", content)
    shown = {("S", r, c) for r in (1, 2, 3) for c in (1, 2, 3)}
    done = write_same(
        buffer.getvalue(), tmp_path / "out.ods", {("S", 2, 2): "*", ("S", 5, 1): 4, ("S", 1, 5): "c"}, shown=shown
    )
    (grid,) = opendocument_grids(done.path)
    values = {place: cell.value for place, cell in grid.cells.items()}
    assert values == {(r, c): 7 for _, r, c in shown} | {(2, 2): "*", (5, 1): 4, (1, 5): "c"}


def test_what_cannot_be_written_is_refused(planted: tuple[bytes, dict[str, str]], tmp_path: Path) -> None:
    """A hidden sheet, one that is not there, a document with a password, and what is no document."""
    with zipfile.ZipFile(locked := io.BytesIO(), "w") as package:
        package.writestr("META-INF/manifest.xml", "<manifest:encryption-data/>")
    with zipfile.ZipFile(other := io.BytesIO(), "w") as package:
        package.writestr("word/document.xml", "<x/>")
    for data, sheet, message in (
        (planted[0], "Old", "sheet 'Old' is hidden"),
        (planted[0], "Peeple", "has no sheet 'Peeple'"),
        (locked.getvalue(), SHEET, "locked with a password"),
        (other.getvalue(), SHEET, "is not an OpenDocument spreadsheet"),
        (b"x", SHEET, "cannot be read as a workbook"),
    ):
        with pytest.raises(InputError, match=message):
            write_same(data, tmp_path / "out.ods", {}, shown={(sheet, 1, 1)})


def test_a_document_that_was_read_before_gives_the_same_bytes(
    planted: tuple[bytes, dict[str, str]], rewritten: Rewritten, tmp_path: Path
) -> None:
    """It is not parsed again."""
    book = document_book(planted[0], "out.ods")
    note, mark = "* fewer than 6 persons", "*"
    again = write_same(b"", tmp_path / "again.ods", HIDDEN, shown=SHOWN, note=note, mark=mark, book=book)
    assert again.path.read_bytes() == rewritten.path.read_bytes()
    assert again.left_out == rewritten.left_out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<!DOCTYPE x><x/>", "declares a document type"),
        ("<x>", "is not XML"),
        (
            '<x xmlns:o="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
            'xmlns:t="urn:oasis:names:tc:opendocument:xmlns:table:1.0"><o:body><o:spreadsheet><t:table><t:table-row>'
            '<t:table-cell t:number-columns-repeated="x"/></t:table-row></t:table></o:spreadsheet></o:body></x>',
            "is damaged: its parts do not fit together",
        ),
    ],
)
def test_what_cannot_be_read_is_refused(content: str, message: str, tmp_path: Path) -> None:
    """A document type, broken XML, an attribute that is no number."""
    with zipfile.ZipFile(tmp_path / "a.ods", "w") as package:
        package.writestr("content.xml", content)
    with pytest.raises(InputError, match=message):
        opendocument_grids(tmp_path / "a.ods")
