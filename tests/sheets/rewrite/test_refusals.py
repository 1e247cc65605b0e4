"""Files that cannot be written back say what they are and what to do; nothing is written."""

from __future__ import annotations

import io
import time
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter

from discreet.errors import InputError
from discreet.sheets.same_layout import write_same
from tests.sheets.excel.test_same_excel import S, book, places, saved

OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
STRICT = {
    b"http://schemas.openxmlformats.org/spreadsheetml/2006/main": b"http://purl.oclc.org/ooxml/spreadsheetml/main",
    b"http://schemas.openxmlformats.org/officeDocument/2006/relationships": (
        b"http://purl.oclc.org/ooxml/officeDocument/relationships"
    ),
    b"http://schemas.openxmlformats.org/drawingml/2006/main": b"http://purl.oclc.org/ooxml/drawingml/main",
}


def changed(data: bytes, change: Any) -> bytes:
    """A package with each of its parts changed; a part without bytes is left out."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(target, "w") as package:
        for part in source.namelist():
            if text := change(part, source.read(part)):
                package.writestr(part, text)
    return target.getvalue()


def replaced(old: bytes, new: bytes, data: bytes) -> bytes:
    return changed(data, lambda part, text: text.replace(old, new))


def test_encrypted_and_old_files_say_what_to_do(tmp_path: Path) -> None:
    """Passwords, .xls, .xlsb, and what is no workbook at all."""
    binary = changed(saved(book([[1]])), lambda part, text: text)
    with zipfile.ZipFile(buffer := io.BytesIO(), "w") as package:
        package.writestr("xl/workbook.bin", b"x")
    for name, data, message in (
        ("a.xlsx", OLD + "EncryptedPackage".encode("utf-16-le"), "locked with a password; save a copy without one"),
        ("a.xls", OLD, r"before 2007 \(.xls\); save it as .xlsx"),
        ("a.xlsb", buffer.getvalue(), r"binary workbook \(.xlsb\); save it as .xlsx"),
        ("a.xlsx", b"no package", "cannot be read as a workbook"),
        ("a.xlsx", binary[:-30], "cannot be read as a workbook"),
        ("a.docx", binary, "cannot be written back in its own layout"),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(InputError, match=message):
            write_same(tmp_path / name, tmp_path / "out.xlsx", {}, shown={(S, 1, 1)})
    assert not (tmp_path / "out.xlsx").exists()


def test_the_source_is_never_overwritten(tmp_path: Path) -> None:
    """Nor is a target given a suffix that promises macros, or something else."""
    (tmp_path / "a.xlsm").write_bytes(saved(book([[1]])))
    for target in ("a.xlsm", "b.xlsm", "b.ods", "b"):
        with pytest.raises(InputError, match=r"write the protected copy|is written as '\.xlsx'"):
            write_same(tmp_path / "a.xlsm", tmp_path / target, {}, shown={(S, 1, 1)})
    assert write_same(tmp_path / "a.xlsm", tmp_path / "b.xlsx", {}, shown={(S, 1, 1)}).path.exists()


def test_sheets_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    """One that is hidden, one that is not there, and none at all."""
    made = book([[1]])
    made.create_sheet("Old").sheet_state = "hidden"
    for shown, message in (
        ({("Old", 1, 1)}, "sheet 'Old' is hidden"),
        ({("Peeple", 1, 1)}, "has no sheet 'Peeple'; it has 'People', 'Old'"),
        (set(), "no cell of 'out.xlsx' is to be written"),
    ):
        with pytest.raises(InputError, match=message):
            write_same(saved(made), tmp_path / "out.xlsx", {}, shown=shown)


def test_damaged_parts_are_refused(tmp_path: Path) -> None:
    """A document type, XML that is none, a part that is missing, cells out of order, a number that is none."""
    data = saved(book([["a", 1], ["b", 2]]))
    head = b"<worksheet"
    sheet = "xl/worksheets/sheet1.xml"
    for broken, message in (
        (replaced(head, b'<!DOCTYPE x [<!ENTITY y "z">]><worksheet', data), "declares a document type"),
        (replaced(b"</worksheet>", b"", data), "is not XML"),
        (changed(data, lambda part, text: b"" if part == sheet else text), "is missing"),
        (replaced(b'r="B2"', b'r="A2"', data), "not in order"),
        (replaced(b'r="2"', b'r="1"', data), "not in order"),
        (replaced(b"<v>2</v>", b"<v>2;3</v>", data), "is said to be a number"),
        (replaced(b"<sheetFormatPr", b'<sheetFormatPr zeroHeight="1"', data), "hides all rows"),
    ):
        with pytest.raises(InputError, match=message):
            write_same(broken, tmp_path / "out.xlsx", {}, shown=places(range(1, 3), range(1, 3)))


def test_the_strict_edition_is_read(tmp_path: Path) -> None:
    """Its namespaces are others, its dates are texts."""

    def strict(part: str, text: bytes) -> bytes:
        for old, new in STRICT.items():
            text = text.replace(old, new)
        return text.replace(b"<v>7</v>", b"<v>2024-03-01</v>").replace(b'r="B1" t="n"', b'r="B1" t="d"')

    source = changed(saved(book([["North", 7, 3]])), strict)
    write_same(source, tmp_path / "out.xlsx", {(S, 1, 3): "*"}, shown=places(range(1, 2), range(1, 3)))
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx")[S]
    assert [cell.value for cell in sheet[1]] == ["North", 45352, "*"]


@pytest.mark.parametrize("content", [float("nan"), float("inf")])
def test_a_number_that_is_none_is_refused(tmp_path: Path, content: float) -> None:
    """A hidden cell has a mark, not a NaN."""
    with pytest.raises(InputError, match="missing or infinite"):
        write_same(saved(book([[1]])), tmp_path / "out.xlsx", {(S, 1, 1): content}, shown=())


def test_fifty_sheets_of_two_thousand_cells_take_seconds(tmp_path: Path) -> None:
    """Less than eight of this process, whatever else the machine does."""
    with xlsxwriter.Workbook(tmp_path / "many.xlsx") as made:
        for number in range(50):
            sheet = made.add_worksheet(f"S{number}")
            for row in range(100):
                sheet.write_row(row, 0, [f"Area {row}", *range(row, row + 19)])
    shown = {(f"S{n}", row, column) for n in range(50) for row in range(1, 101) for column in range(2, 21)}
    hidden = {place: "*" for place in shown if sum(place[1:]) % 9 == 0}
    start = time.process_time()
    write_same(tmp_path / "many.xlsx", tmp_path / "out.xlsx", hidden, shown=shown, note="* hidden")
    assert time.process_time() - start < 8
