"""One sheet in every kind of file and frame: the same cells."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.errors import InputError
from discreet.sheets.sheet_grid import CellRange
from discreet.sheets.sources.by_kind import chosen_sheet, grids_of
from tests.sheets.gallery.draft import Draft, written


def draft() -> Draft:
    sheet = Draft("People")
    sheet.line(1, ["Area", "Sex", None])
    sheet.merge(1, 2, 1, 3)
    sheet.line(2, ["f", "m"], 2)
    sheet.text(3, 1, "North")
    sheet.text(4, 1, "of which A", indent=1)
    sheet.line(3, [12, 3], 2)
    sheet.line(4, [5, 1], 2)
    return sheet


@pytest.mark.parametrize("kind", ["xlsx", "ods", "html", "csv"])
def test_every_format_holds_the_same_cells(kind: str, tmp_path: Path) -> None:
    """Texts, numbers and indents; merged ranges where a format has them."""
    (grid,) = grids_of(written([draft()], tmp_path, kind))
    shift = 1 if kind == "html" else 0
    assert {(r - shift, c): grid.text(r, c) for r, c in grid.cells} == {
        place: str(drawn.value) for place, drawn in draft().cells.items()
    }
    assert grid.cells[(4 + shift, 1)].indent > grid.cells[(3 + shift, 1)].indent
    merged = (CellRange(1 + shift, 2, 1 + shift, 3),) if kind != "csv" else ()
    assert grid.merged == merged


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_any_separator_and_encoding(separator: str, encoding: str, tmp_path: Path) -> None:
    """Titles with other signs above the table do not mislead."""
    rows = ["Menschen, 2020; alle", separator.join(["Gebiet", "Männer", "Frauen"]), separator.join(["Süd", "12", "7"])]
    path = tmp_path / "a.csv"
    path.write_bytes("\r\n".join(rows).encode(encoding))
    (grid,) = grids_of(path)
    assert [grid.text(3, c) for c in (1, 2, 3)] == ["Süd", "12", "7"]


def test_an_encoding_that_is_said(tmp_path: Path) -> None:
    """A file in Polish of long ago; a wrong name is refused."""
    path = tmp_path / "a.csv"
    path.write_bytes("województwo,ogółem\nłódzkie,3\n".encode("cp1250"))
    assert grids_of(path, encoding="cp1250")[0].text(2, 1) == "łódzkie"
    with pytest.raises(InputError, match="encoding"):
        grids_of(path, encoding="klingon")


def test_formulas_keep_their_text_and_their_saved_result(tmp_path: Path) -> None:
    """A result that was never saved is blank, and the formula is still told."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.append(["Area", "n"])
    sheet.append(["North", "=1+2"])
    book.save(tmp_path / "a.xlsx")
    (grid,) = grids_of(tmp_path / "a.xlsx")
    assert grid.cells[(2, 2)].formula == "=1+2"
    assert grid.value(2, 2) is None


def test_hidden_rows_columns_and_sheets_are_told(tmp_path: Path) -> None:
    """They are in the file whether they are shown or not."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.append(["Area", "n", "m"])
    sheet.row_dimensions[1].hidden = True
    sheet.column_dimensions["C"].hidden = True
    other = book.create_sheet("Truth")
    other.append(["secret"])
    other.sheet_state = "hidden"
    book.save(tmp_path / "a.xlsx")
    first, second = grids_of(tmp_path / "a.xlsx")
    assert (first.hidden_rows, first.hidden_columns, first.hidden) == (frozenset({1}), frozenset({3}), False)
    assert second.hidden


def test_frames_are_grids_with_their_index_as_stub() -> None:
    """pandas with levels, polars and Arrow without."""
    records = pd.DataFrame({"area": ["N", "N", "S"], "sex": ["f", "m", "f"], "age": ["y", "o", "o"]})
    cross = pd.crosstab(records["area"], [records["sex"], records["age"]], margins=True)
    (grid,) = grids_of(cross)
    assert (grid.header_rows, grid.stub_columns) == (2, 1)
    assert grid.names == {("row", 1): "sex", ("row", 2): "age", ("column", 1): "area"}
    assert [grid.text(3, c) for c in (1, 2)] == ["N", "0"]
    plain = pl.DataFrame({"area": ["N", "S"], "n": [3, None]})
    for frame in (plain, plain.to_arrow(), plain.lazy(), pa.table({"area": ["N", "S"], "n": [3, None]})):
        (grid,) = grids_of(frame)
        assert (grid.text(2, 1), grid.text(2, 2), grid.text(3, 2)) == ("N", "3", "")


def test_what_is_no_source_is_said(tmp_path: Path) -> None:
    """With what to do: another suffix, another object, a file that is not there, one that is damaged."""
    (tmp_path / "a.xls").write_bytes(b"old")
    (tmp_path / "a.xlsx").write_bytes(b"PK not a zip")
    (tmp_path / "a.ods").write_bytes(b"not a zip")
    (tmp_path / "a.pdf").write_bytes(b"page")
    for name, word in (("a.xls", "xlsx"), ("a.xlsx", "damaged"), ("a.ods", "damaged"), ("a.pdf", "known")):
        with pytest.raises(InputError, match=word):
            grids_of(tmp_path / name)
    with pytest.raises(InputError, match="no file"):
        grids_of(tmp_path / "b.xlsx")
    with pytest.raises(InputError, match="frame"):
        grids_of(3)


def test_one_of_several_sheets_is_asked_for(tmp_path: Path) -> None:
    """By its name or number; the nearest name where none fits."""
    other = Draft("Notes")
    other.text(1, 1, "Words")
    grids = grids_of(written([draft(), other], tmp_path, "xlsx"))
    assert chosen_sheet(grids, "Notes").sheet == "Notes"
    assert chosen_sheet(grids, 1).sheet == "People"
    with pytest.raises(InputError, match="sheet='People'"):
        chosen_sheet(grids, None)
    with pytest.raises(InputError, match="did you mean 'Notes'"):
        chosen_sheet(grids, "Note")
    with pytest.raises(InputError, match="from 1"):
        chosen_sheet(grids, 3)
