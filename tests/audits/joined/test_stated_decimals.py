"""Zeros behind the point of percentages and means are digits like others: what follows from them is what follows."""

from __future__ import annotations

import zipfile
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.sheets.blocks.cell_reading import format_decimals

Lines = list[list[str]]
SPREADSHEET = """<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"
 xmlns:number="urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0"><office:automatic-styles>{styles}
</office:automatic-styles><office:body><office:spreadsheet><table:table table:name="s">{rows}</table:table>
</office:spreadsheet></office:body></office:document-content>"""


def places(text: str) -> int:
    return len(text.partition(".")[2])


def as_excel(lines: Lines, path: Path, percent: bool = False) -> None:
    """Numbers as numbers, with as many decimals in their format as the text has; ``percent``: 0.3 shown as 30.0%."""
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for r, line in enumerate(lines, 1):
        for c, text in enumerate(line, 1):
            number = text.replace(".", "", 1).isdecimal()
            share = percent and number and places(text) > 0
            value = round(float(text) / 100, 9) if share else float(text) if number else text
            cell = sheet.cell(r, c, value)
            if places(text):
                cell.number_format = "0." + "0" * places(text) + "%" * share
    book.save(path)


def as_document(lines: Lines, path: Path) -> None:
    styles = "".join(
        f'<number:number-style style:name="n{d}"><number:number number:decimal-places="{d}"/></number:number-style>'
        f'<style:style style:name="c{d}" style:family="table-cell" style:data-style-name="n{d}"/>'
        for d in (0, 1, 2)
    )

    def cell(text: str) -> str:
        if not text.replace(".", "", 1).isdecimal():
            return f'<table:table-cell office:value-type="string"><text:p>{text}</text:p></table:table-cell>'
        about = f'table:style-name="c{places(text)}" office:value-type="float" office:value="{float(text):g}"'
        return f"<table:table-cell {about}><text:p>{text}</text:p></table:table-cell>"

    rows = "".join(f"<table:table-row>{''.join(map(cell, line))}</table:table-row>" for line in lines)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        file.writestr("content.xml", SPREADSHEET.format(styles=styles, rows=rows))


def written(lines: Lines, folder: Path, kind: str) -> Path:
    path = folder / f"t.{kind.partition(' ')[0]}"
    if kind == "csv":
        path.write_text("\n".join(",".join(line) for line in lines) + "\n")
    elif kind == "html":
        rows = "".join(f"<tr>{''.join(f'<td>{text}</td>' for text in line)}</tr>" for line in lines)
        path.write_text(f"<html><body><table>{rows}</table></body></html>")
    elif kind == "ods":
        as_document(lines, path)
    else:
        as_excel(lines, path, kind.endswith("percent"))
    return path


@settings(max_examples=16, deadline=None)
@given(
    st.sampled_from(["csv", "html", "ods", "xlsx", "xlsx percent"]),
    st.lists(st.tuples(st.integers(1, 6), st.integers(10, 90)), min_size=4, max_size=4),
    st.integers(1, 2),
)
def test_intervals_of_counts_beside_whole_percentages_are_those_that_counting_finds(
    tmp_path_factory: pytest.TempPathFactory, kind: str, rows: list[tuple[int, int]], decimals: int
) -> None:
    """Percentages that are whole, stated to one or two decimals: floats would not tell."""
    wholes = [100 * hundreds for hundreds, _ in rows]
    women = [hundreds * percent for hundreds, percent in rows]
    shares = [f"{percent}.{'0' * decimals}" for _, percent in rows]
    total, all_women = sum(wholes), sum(women)
    lines = [["Area", "Female", "Male", "Total", "% female"], ["North", "*", "*", str(wholes[0]), "*"]]
    lines.append(["South", "*", "*", str(wholes[1]), shares[1]])
    for name, whole, own, share in zip(("East", "West"), wholes[2:], women[2:], shares[2:], strict=True):
        lines.append([name, str(own), str(whole - own), str(whole), share])
    lines.append(["Total", str(all_women), str(total - all_women), str(total), "*"])
    path = written(lines, tmp_path_factory.mktemp("shares"), kind)
    assume(not any(share.ambiguous for share in dc.read_table(path, suppressed=["*"]).percentages))
    report = dc.audit([path], mapping={"marks": {"*": "suppressed"}})
    half = Decimal(1) / 2 / 10**decimals
    rest = all_women - women[2] - women[3]
    south = [
        own
        for own in range(1, wholes[1])
        if abs(Decimal(100 * own) / wholes[1] - rows[1][1]) <= half and 1 <= rest - own < wholes[0]
    ]
    found = {(one["Area"], one["column"]): (one["lower"], one["upper"]) for one in report.cells.to_dict("records")}
    assert found["South", "Female"] == (south[0], south[-1])
    assert found["North", "Female"] == (rest - south[-1], rest - south[0])
    assert (report.verdict == "fail") == (len(south) == 1)


@pytest.mark.parametrize("kind", ["csv", "html", "ods", "xlsx"])
def test_a_mean_with_zeros_at_its_end(tmp_path: Path, kind: str) -> None:
    """Means to two decimals of whole ages: 5 is the only count of Ac whose sums fit."""
    lines = [["Area", "Patients", "Mean age"], ["Ab", "4", "16.00"], ["Ac", "*", "46.20"], ["Ad", "*", "*"]]
    lines += [["Ae", "5", "50.20"], ["Af", "5", "53.00"], ["Total", "21", "42.90"]]
    report = dc.audit([written(lines, tmp_path, kind)], mapping={"marks": {"*": "suppressed"}, "mean": {"Mean age": 1}})
    found = {one["Area"]: (one["lower"], one["upper"]) for one in report.cells.to_dict("records")}
    assert found["Ac"] == (5, 5)
    assert report.verdict == "fail"


def test_decimals_are_those_of_values_where_these_have_more(tmp_path: Path) -> None:
    """A format that shows fewer digits than a cell holds hides nothing from whoever opens the file."""
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    rows: list[list[str | float]] = [["Area", "Female", "Male", "Total", "% female"], ["North", "*", "*", 500, "*"]]
    rows += [["South", "*", "*", 410, 29.268], ["East", 300, 200, 500, 60], ["Total", 640, 770, 1410, 45.39]]
    for line in rows:
        sheet.append(line)
    sheet["E3"].number_format = "0"
    book.save(tmp_path / "t.xlsx")
    report = dc.audit([tmp_path / "t.xlsx"], mapping={"marks": {"*": "suppressed"}})
    assert report.verdict != "pass"


def test_decimals_of_number_formats() -> None:
    codes = {"0.0": 1, "#,##0.00_);(#,##0.00)": 2, "0.0##": 3, "0%": 2, "0.0 %": 3, '0" (1.25)"': 0, "[<1]0.00;0": 2}
    assert {code: format_decimals(code) for code in codes} == codes


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_units_are_heard_for_every_layout(tmp_path: Path, kind: str) -> None:
    """Of 12 to 14 people only 13 have a sum of whole ages behind 41.23; of any numbers each of them has."""
    lines = [
        ["Area", "Men", "Women", "Total", "Mean age total"],
        ["N", "3", "4", "7", "30.14"],
        ["S", "8", "*", "*", "41.23"],
    ]
    lines += [["E", "4", "*", "*", "*"], ["Total", "15", "13", "28", "37.54"]]
    path = written(lines, tmp_path, kind)
    ends = {}
    for unit in (0, 1):
        report = dc.audit([path], mapping={"marks": {"*": "suppressed"}, "mean": {"Mean age total": unit}})
        ends[unit] = [
            (one["lower"], one["upper"])
            for one in report.cells.to_dict("records")
            if (one["Area"], one["column"]) == ("S", "Total")
        ]
    assert ends[1] == [(13, 13)]
    assert ends[0] != ends[1]
