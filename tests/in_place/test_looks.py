"""Colours, fonts, widths and bars that follow the numbers go; those of columns, stripes and totals stay."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest
from openpyxl.styles import Alignment, Font, PatternFill
from tests.sheets.rewrite.office import converted

from discreet.cli import run
from discreet.sheets.rewrite.looks import telling_cells

HEADER = ["Female", "Male", "Total"]
ROWS = {"Abbey": [71, 100], "Beacon": [49, 4], "Castle": [30, 43], "Dene": [60, 51], "Elm": [31, 33]}


def frame() -> pd.DataFrame:
    counts = pd.DataFrame(ROWS, index=HEADER[:2]).T
    counts["Total"] = counts.sum(axis=1)
    counts.loc["All wards"] = counts.sum()
    return counts


def workbook(path: Path, look: Callable[[Any, int, int], None]) -> None:
    """The counts with a look for every number."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Ward", *HEADER])
    for name, counts in frame().iterrows():
        sheet.append([name, *map(int, counts)])
    for row in range(2, 8):
        for column in range(2, 5):
            look(sheet.cell(row, column), row, column)
    book.save(path)


def fill(colour: str) -> PatternFill:
    return PatternFill("solid", fgColor=colour)


def heat(cell: Any, row: int, column: int) -> None:
    if row < 7:
        cell.fill = fill(f"FFFF{255 - int(cell.value):02X}00")


def red(cell: Any, row: int, column: int) -> None:
    if cell.value < 6:
        cell.font = Font(color="FFFF0000")


def bold(cell: Any, row: int, column: int) -> None:
    if cell.value < 40:
        cell.font = Font(bold=True)


def set_in(cell: Any, row: int, column: int) -> None:
    if cell.value < 6:
        cell.alignment = Alignment(indent=4)


def stripes(cell: Any, row: int, column: int) -> None:
    if row % 2:
        cell.fill = fill("FFEEEEEE")
    if row == 7:
        cell.fill, cell.font = fill("FFCCCCCC"), Font(bold=True)


def columns(cell: Any, row: int, column: int) -> None:
    cell.fill = fill(f"FF00AA{column}{column}")


def looks(path: Path) -> set[tuple[Any, ...]]:
    """Fill, font and alignment of the inner cells."""
    sheet = openpyxl.load_workbook(path).active
    cells = [sheet.cell(row, column) for row in range(2, 7) for column in range(2, 4)]
    return {(c.fill.fgColor.rgb, c.font.b, repr(c.font.color and c.font.color.rgb), c.alignment.indent) for c in cells}


@pytest.mark.parametrize("look", [heat, red, bold, set_in])
def test_looks_that_follow_the_numbers_go(tmp_path: Path, capfdbinary: Any, look: Callable[..., None]) -> None:
    """All inner cells look alike, and that is said."""
    workbook(tmp_path / "wards.xlsx", look)
    assert len(looks(tmp_path / "wards.xlsx")) > 1
    assert run(["protect", str(tmp_path / "wards.xlsx"), "--hide-under", "6"]) == 0
    assert len(looks(tmp_path / "wards.safe.xlsx")) == 1
    assert "left out: colours and fonts of number cells" in capfdbinary.readouterr().err.decode()


@pytest.mark.parametrize("look", [stripes, columns])
def test_looks_of_columns_stripes_and_totals_stay(tmp_path: Path, capfdbinary: Any, look: Callable[..., None]) -> None:
    """They say nothing of the numbers."""
    workbook(tmp_path / "wards.xlsx", look)
    assert run(["protect", str(tmp_path / "wards.xlsx"), "--hide-under", "6"]) == 0
    assert looks(tmp_path / "wards.safe.xlsx") == looks(tmp_path / "wards.xlsx")
    assert "colours and fonts" not in capfdbinary.readouterr().err.decode()


def label_looks(path: Path) -> list[tuple[Any, ...]]:
    sheet = openpyxl.load_workbook(path).active
    cells = [sheet.cell(row, 1) for row in range(2, 8)]
    return [(c.fill.fgColor.rgb, c.font.b, repr(c.font.color and c.font.color.rgb), c.alignment.indent) for c in cells]


def coloured_labels(path: Path, look: Callable[[Any, Any, int], None]) -> None:
    """The counts, plain, with a look for every label of a row that may know the counts beside it."""
    workbook(path, lambda cell, row, column: None)
    book = openpyxl.load_workbook(path)
    sheet = book.active
    for row in range(2, 8):
        sheet.cell(row, 1).alignment = Alignment(indent=2)
        look(sheet.cell(row, 1), sheet.cell(row, 3).value, row)
    book.save(path)


def red_where_few(cell: Any, count: int, row: int) -> None:
    if count < 6:
        cell.font = Font(color="FFFF0000")


def filled_by_count(cell: Any, count: int, row: int) -> None:
    if row < 7:
        cell.fill = fill(f"FFFF{255 - count:02X}00")


@pytest.mark.parametrize("look", [red_where_few, filled_by_count])
def test_colours_of_labels_that_may_follow_the_numbers_go(
    tmp_path: Path, capfdbinary: Any, look: Callable[..., None]
) -> None:
    """The labels of wards look alike and stay set in; in an OpenDocument, too."""
    coloured_labels(tmp_path / "wards.xlsx", look)
    assert len({*label_looks(tmp_path / "wards.xlsx")[:5]}) > 1
    assert run(["protect", str(tmp_path / "wards.xlsx"), "--hide-under", "6"]) == 0
    after = label_looks(tmp_path / "wards.safe.xlsx")
    assert len({*after[:5]}) == 1
    assert after[0][3] == 2
    assert "or of labels of rows" in capfdbinary.readouterr().err.decode()
    [source] = converted([tmp_path / "wards.xlsx"], "ods", tmp_path)
    assert run(["protect", str(source), "--hide-under", "6", "-o", str(tmp_path / "out.ods")]) == 0
    text = zipfile.ZipFile(tmp_path / "out.ods").read("content.xml").decode().lower()
    assert not re.findall('(?:background-)?color="#ff[0-9a-f]{2}00', text)


def striped_labels(cell: Any, count: int, row: int) -> None:
    cell.font = Font(bold=row == 7)
    if row % 2 and row < 7:
        cell.fill = fill("FFEEEEEE")


def test_stripes_and_bold_totals_of_labels_stay(tmp_path: Path, capfdbinary: Any) -> None:
    coloured_labels(tmp_path / "wards.xlsx", striped_labels)
    assert run(["protect", str(tmp_path / "wards.xlsx"), "--hide-under", "6"]) == 0
    assert label_looks(tmp_path / "wards.safe.xlsx") == label_looks(tmp_path / "wards.xlsx")
    assert "colours and fonts" not in capfdbinary.readouterr().err.decode()


def test_colours_of_an_opendocument_go(tmp_path: Path, capfdbinary: Any) -> None:
    """No colour of the scale is in the package."""
    workbook(tmp_path / "wards.xlsx", heat)
    [source] = converted([tmp_path / "wards.xlsx"], "ods", tmp_path)
    colours = "#ffff|#FFFF|#ff[0-9a-f]{2}00"
    assert run(["protect", str(source), "--hide-under", "6", "-o", str(tmp_path / "out.ods")]) == 0
    before, after = (zipfile.ZipFile(path).read("content.xml").decode() for path in (source, tmp_path / "out.ods"))
    assert len(re.findall(f'background-color="(?:{colours})', before)) > 5
    assert not re.findall(f'background-color="(?:{colours})', after)
    assert "left out: colours and fonts of number cells" in capfdbinary.readouterr().err.decode()


def test_bars_widths_and_classes_of_a_page_go(tmp_path: Path, capfdbinary: Any) -> None:
    """Gradients of a Styler, and attributes of single cells and rows; a rule for all cells stays."""
    style = "<style>td { color: #123456 } #T_row1_col1 { background: linear-gradient(90deg, red 4.0%, white 4.0%) }"
    style += " tr:nth-child(3) td { width: 4px } tr:nth-child(even) { color: #aabbcc } .row1 { width: 4px }</style>"
    lines = [
        f'<tr class="{"tiny" if men < 6 else "large"}" bgcolor="#0000{men:02x}"><th>{name}</th><td>{women}</td>'
        f'<td width="{men}" style="width: {men}px" class="data row{k}"><span style="width:{men}%">{men}</span></td>'
        for k, (name, (women, men)) in enumerate(ROWS.items())
    ]
    head = "<tr><th>Ward</th><th>Female</th><th>Male</th></tr>"
    (tmp_path / "wards.html").write_text(f"{style}<table>{head}{''.join(lines)}</table>")
    assert run(["protect", str(tmp_path / "wards.html"), "--hide-under", "6"]) == 0
    text = (tmp_path / "wards.safe.html").read_text()
    assert "<td>*</td>" in text
    assert not re.findall("gradient|width|tiny|large|bgcolor|row1|4px", text)
    assert "td { color: #123456 }" in text
    assert "tr:nth-child(even) { color: #aabbcc }" in text
    said = capfdbinary.readouterr().err.decode()
    assert "left out: colours and fonts of number cells" in said
    assert "left out: rules of style sheets for single cells or rows, and gradients" in said


def test_a_look_is_judged_table_by_table_and_kind_by_kind() -> None:
    """A look of its own for totals is none; one cell that differs takes the look of its whole table."""
    kinds = {(row, column): (0, row == 5) for row in range(6) for column in range(3)}
    kinds |= {(row + 10, column): (1, False) for row in range(6) for column in range(3)}
    plain = {cell: kind[1] for cell, kind in kinds.items()}
    assert telling_cells(plain, kinds) == frozenset()
    for changed in ((2, 1), (5, 2)):
        assert telling_cells({**plain, changed: "red"}, kinds) == {cell for cell in kinds if cell[0] < 10}
    assert telling_cells({(row, 0): row for row in range(6)}, {(row, 0): (0, 0) for row in range(6)})
