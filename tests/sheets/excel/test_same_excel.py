"""A workbook comes back as it was: every number that is shown stands where it stood, in the same format."""

from __future__ import annotations

import datetime as dt
import io
import re
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl.formatting.rule import CellIsRule, ColorScaleRule
from openpyxl.styles import Alignment, Border, Font, PatternFill, Side

from discreet.errors import InputError
from discreet.sheets.same_layout import write_same
from discreet.sheets.sheet_grid import CellPlace
from discreet.sheets.sheet_layout import DerivedNumber

S = "People"


def book(rows: list[list[Any]], formats: dict[str, str] | None = None) -> openpyxl.Workbook:
    made = openpyxl.Workbook()
    sheet = made.active
    sheet.title = S
    for row in rows:
        sheet.append(row)
    for place, code in (formats or {}).items():
        sheet[place].number_format = code
    return made


def saved(made: openpyxl.Workbook) -> bytes:
    buffer = io.BytesIO()
    made.save(buffer)
    return buffer.getvalue()


def with_values(data: bytes, values: dict[str, str]) -> bytes:
    """The workbook with results of formulas, which openpyxl does not write."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(target, "w") as package:
        for part in source.namelist():
            text = source.read(part)
            if part == "xl/worksheets/sheet1.xml":
                for place, value in values.items():
                    text = re.sub(
                        rf'(<c r="{place}"[^>]*>.*?)<v ?/>|(<c r="{place}"[^>]*>.*?)<v></v>'.encode(),
                        lambda m, v=value: (m[1] or m[2]) + f"<v>{v}</v>".encode(),  # type: ignore[misc]
                        text,
                        count=1,
                    )
            package.writestr(part, text)
    return target.getvalue()


def places(rows: range, columns: range) -> set[CellPlace]:
    return {CellPlace(S, row, column) for row in rows for column in columns}


def opened(path: Path) -> Any:
    return openpyxl.load_workbook(path)[S]


CONTENT = st.one_of(
    st.integers(-(10**9), 10**9),
    st.floats(-1e9, 1e9).filter(lambda x: x == x),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=8).filter(
        lambda text: text[:1] != "="
    ),
    st.none(),
    st.booleans(),
    st.dates(dt.date(1901, 1, 1), dt.date(2099, 1, 1)),
)


@settings(max_examples=25)
@given(
    st.lists(st.lists(CONTENT, min_size=3, max_size=3), min_size=2, max_size=6),
    st.sets(st.tuples(st.integers(1, 2), st.integers(1, 3)), max_size=4),
)
def test_every_shown_cell_is_the_same_in_place(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[Any]], hidden: set[tuple[int, int]]
) -> None:
    """Whatever stands in it: numbers to the last digit, dates, truth values, texts."""
    source = saved(book(rows))
    target = tmp_path_factory.mktemp("same") / "out.xlsx"
    marks = {CellPlace(S, row, column): "[c]" for row, column in hidden}
    write_same(source, target, marks, shown=places(range(1, 7), range(1, 4)))
    before, after = openpyxl.load_workbook(io.BytesIO(source))[S], opened(target)
    for row in range(1, len(rows) + 1):
        for column in range(1, 4):
            value = "[c]" if (row, column) in hidden else before.cell(row, column).value
            assert after.cell(row, column).value == (None if value == "" else value)


def test_numbers_that_were_judged_by_nobody_are_blanked(tmp_path: Path) -> None:
    """A copy of a hidden number beside the table, as a number or as text, is not shown; headers that are named are."""
    source = saved(book([["", 2021], ["North", 3], ["copy", "3", 3, "1 234"]]))
    done = write_same(source, tmp_path / "out.xlsx", {(S, 2, 2): "*"}, shown={(S, 1, 2)})
    assert [[c.value for c in row] for row in opened(done.path).rows] == [
        [None, 2021, None, None],
        ["North", "*", None, None],
        ["copy", None, None, None],
    ]
    assert done.left_out[-1] == "numbers outside the tables that were understood are blanked: 'People' B3, C3, D3"


def test_the_look_of_a_sheet_stays(tmp_path: Path) -> None:
    """Fonts, fills, borders, alignments, number formats, widths, heights, panes, print settings, scales of colours."""
    made = book([["Ward", "n"], ["North", 3], ["East", 1234.5], ["All", 1237.5]], {"B3": "#,##0.0", "B2": "#,##0.0"})
    sheet = made[S]
    sheet["A1"].font = Font(name="Arial", bold=True, size=14, color="FF123456")
    sheet["B2"].fill = PatternFill("solid", fgColor="FFDDEEFF")
    sheet["B3"].border = Border(bottom=Side("double", color="FF0000FF"))
    sheet["A2"].alignment = Alignment(indent=2, wrap_text=True, vertical="top")
    sheet.column_dimensions["A"].width = 33
    sheet.row_dimensions[2].height = 40
    sheet.freeze_panes = "B2"
    sheet.sheet_view.showGridLines = False
    sheet.sheet_properties.tabColor = "FF00FF00"
    sheet.print_area = "A1:B4"
    sheet.print_title_rows = "1:1"
    sheet.page_setup.orientation = "landscape"
    sheet.page_margins.left = 0.3
    sheet.oddFooter.center.text = "Page &P of &N"
    sheet.conditional_formatting.add("B2:B3", ColorScaleRule("min", None, "FFFFFFFF", "max", None, "FFFF0000"))
    sheet.conditional_formatting.add(
        "B2:B3", CellIsRule("lessThan", ["6"], fill=PatternFill("solid", bgColor="FFFF0000"))
    )
    done = write_same(
        saved(made), tmp_path / "out.xlsx", {(S, 2, 2): "*"}, shown=places(range(3, 5), range(2, 3)), note="* under 6"
    )
    after = opened(done.path)
    for place in ("A1", "B2", "B3", "A2"):
        for trait in ("font", "fill", "border"):
            assert repr(getattr(after[place], trait)) == repr(getattr(sheet[place], trait))
    assert after["B3"].number_format == "#,##0.0"
    assert (after["B2"].value, after["B2"].alignment.horizontal) == ("*", "right")
    assert (after["A2"].alignment.indent, after["A2"].alignment.wrap_text) == (2, True)
    assert (after.column_dimensions["A"].width, after.row_dimensions[2].height) == (33, 40)
    assert (after.freeze_panes, after.sheet_view.showGridLines) == ("B2", False)
    assert after.sheet_properties.tabColor.rgb == "FF00FF00"
    assert (after.print_area, after.print_title_rows) == ("'People'!$A$1:$B$6", "$1:$1")  # the note is printed, too
    assert (after.page_setup.orientation, after.page_margins.left) == ("landscape", 0.3)
    assert after.oddFooter.center.text == "Page &P of &N"
    rules = [rule.type for ranges in after.conditional_formatting for rule in ranges.rules]
    assert rules == ["colorScale"]  # the other one names a limit
    assert "conditional formats with limits, formulas or texts" in done.left_out
    assert (after["A6"].value, after["A6"].font.i) == ("* under 6", True)


def test_formulas_stay_where_all_they_use_is_shown(tmp_path: Path) -> None:
    """Totals over a hidden cell become values, and so do formulas that use more or come to something else."""
    made = book(
        [
            ["", "a", "b", "all"],
            ["North", 3, 40, "=SUM(B2:C2)"],
            ["East", 50, 60, "=B3+C3"],
            ["All", "=SUM(B2:B3)", "=SUM(C2:C3)", "=SUM(D2:D3)*1"],
            ["odd", "=B3+50-50", "=SUM(C2:C9)", "=SUM(B3:C3)"],
        ]
    )
    values = {"D2": "43", "D3": "110", "B4": "53", "C4": "100", "D4": "153", "B5": "50", "C5": "160", "D5": "999"}
    source = with_values(saved(made), values)
    shown = places(range(2, 6), range(2, 5))
    write_same(source, tmp_path / "out.xlsx", {(S, 2, 2): "*"}, shown=shown)
    rows = [[cell.value for cell in row[1:]] for row in opened(tmp_path / "out.xlsx").iter_rows(min_row=2, max_row=5)]
    assert rows == [
        ["*", 40, 43],
        [50, 60, "=B3+C3"],
        [53, "=SUM(C2:C3)", "=SUM(D2:D3)*1"],
        [50, 160, 999],
    ]


def test_a_formula_without_its_result_is_blanked_and_said(tmp_path: Path) -> None:
    """It would be a hole in the table that a program fills in when it opens the file."""
    done = write_same(saved(book([["a", "=1+1"]])), tmp_path / "out.xlsx", {}, shown=places(range(1, 2), range(1, 3)))
    assert [c.value for c in opened(done.path)[1]] == ["a", None]
    assert "without their result" in done.left_out[-1]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, 25.0),
        ({(S, 1, 1): 20}, 50.0),
        ({(S, 1, 2): 80}, 12.5),
        ({(S, 1, 1): "*"}, "*"),
        ({(S, 1, 2): "*"}, "*"),
    ],
)
def test_percentages_are_those_of_published_numbers(tmp_path: Path, change: Any, expected: Any) -> None:
    """Or the mark, where one of the two is hidden."""
    number = DerivedNumber(CellPlace(S, 1, 3), "share", CellPlace(S, 1, 1), CellPlace(S, 1, 2))
    source = saved(book([[10, 40, 25.3]]))
    write_same(
        source, tmp_path / "out.xlsx", change, shown=places(range(1, 2), range(1, 3)), derived=[number], mark="*"
    )
    assert opened(tmp_path / "out.xlsx")["C1"].value == expected


def test_a_share_behind_its_number_in_one_cell(tmp_path: Path) -> None:
    """As Table 1 of papers has it: both are written anew."""
    number = DerivedNumber(CellPlace(S, 1, 1), "share", CellPlace(S, 1, 1), CellPlace(S, 1, 2), decimals=1, inside=True)
    source = saved(book([["12 (30.0%)", 40]]))
    for change, expected in (({(S, 1, 1): 16}, "16 (40.0%)"), ({(S, 1, 1): "*"}, "*"), ({(S, 1, 2): "*"}, "12 (c)")):
        write_same(source, tmp_path / "out.xlsx", change, shown=places(range(1, 2), range(1, 3)), derived=[number])
        assert opened(tmp_path / "out.xlsx")["A1"].value == expected


def test_a_number_stored_as_text_stays_one(tmp_path: Path) -> None:
    """With its own thousands sign and decimals."""
    source = saved(book([["1 234,5", "12"]]))
    write_same(source, tmp_path / "out.xlsx", {(S, 1, 1): 5678, (S, 1, 2): "*"}, shown=())
    assert [c.value for c in opened(tmp_path / "out.xlsx")[1]] == ["5 678,0", "*"]


@pytest.mark.parametrize("mark", ["=1+1", "+1", "@x", "", "  ", "x" * 41, "\x00", "-1", "a\x0b"])
def test_a_mark_that_is_a_formula_or_nothing_is_refused(tmp_path: Path, mark: str) -> None:
    """Before anything is written."""
    with pytest.raises(InputError, match="mark is a short text"):
        write_same(saved(book([[1]])), tmp_path / "out.xlsx", {(S, 1, 1): mark}, shown=())
    assert not (tmp_path / "out.xlsx").exists()


def test_a_text_that_looks_like_a_formula_stays_a_text(tmp_path: Path) -> None:
    """A label is never turned into something that a program runs."""
    made = book([["x", 1]])
    made[S]["A1"].value = "=cmd|' /C calc'!A0"
    made[S]["A1"].data_type = "s"
    write_same(saved(made), tmp_path / "out.xlsx", {}, shown={(S, 1, 2)})
    with zipfile.ZipFile(tmp_path / "out.xlsx") as package:
        assert b"<f>" not in package.read("xl/worksheets/sheet1.xml")
        assert b"cmd|" in package.read("xl/sharedStrings.xml")
