"""Headers, labels and signs that look like something else: what stands around them says what they are."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest

from discreet.errors import InputError
from discreet.sheets.reading_sheets import read_table, read_tables
from discreet.sheets.sheet_table import SheetTable


def table(folder: Path, text: str, **options: object) -> SheetTable:
    """The table of lines with fields between bars."""
    path = folder / "t.csv"
    lines = [line.split("|") for line in text.splitlines() if line.strip()]
    path.write_text("".join("\t".join(map(str.strip, line)) + "\n" for line in lines), encoding="utf-8")
    return read_table(path, separator="\t", **options)  # type: ignore[arg-type]


def totals(read: SheetTable) -> dict[str, str | None]:
    """The total of each dimension."""
    return {d.name: d.total for d in read.dimensions}


def test_years_below_the_name_of_a_pivot_table_are_headers(tmp_path: Path) -> None:
    """In the tabular form of a pivot table nothing stands above the years, and labels stand beside them."""
    read = table(
        tmp_path,
        """
        Sum of cases |  | year
        region | town | 2022 | 2023 | Grand Total
        North | Leeds | 12 | 3 | 15
         | York | 9 | 30 | 39
        North Total |  | 21 | 33 | 54
        South | Bath | 8 | 10 | 18
         | Exeter | 20 | 25 | 45
        South Total |  | 28 | 35 | 63
        Grand Total |  | 49 | 68 | 117
        """,
    )
    assert totals(read) == {"town": "Grand Total", "year": "Grand Total"}


@pytest.mark.parametrize(
    "classes", ["0 | 1-4 | 5-9 | 10+", "0 | 1 to 4 | 5 to 9 | 10 and over", "1 | 2-4 | 5-9 | 10 or more"]
)
def test_classes_of_size_are_headers(classes: str, tmp_path: Path) -> None:
    """Numbers and ranges that rise and do not overlap, where the labels are blank, are no row of the table."""
    read = table(tmp_path, f"NACE | Total | Employees\n | | {classes}\nC | 30 | 9 | 8 | 7 | 6\nF | 14 | 2 | 3 | 4 | 5")
    assert len(read.places) == 10


def test_codes_above_numbers_with_a_total_behind_them_are_headers(tmp_path: Path) -> None:
    """As statistics programs write a cross-tabulation; where names stand below, numbers are numbers."""
    read = table(tmp_path, " | sex\nage | 0 | 1 | Total\n1 | 12 | 3 | 15\n2 | 9 | 30 | 39\nTotal | 21 | 33 | 54")
    assert totals(read) == {"age": "Total", "sex": "Total"}


def test_years_merged_across_the_numbers_are_headings(tmp_path: Path) -> None:
    """Each is of the rows below it, whether it is written as a text or as a number."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["Unit", "f", "m", "All"])
    for year in (2022, 2023):
        sheet.append([None, year])
        sheet.merge_cells(start_row=sheet.max_row, end_row=sheet.max_row, start_column=2, end_column=4)
        more = year - 2022
        for row in (["A", 12, 3 + more, 15 + more], ["B", 9, 30, 39], ["Total", 21, 33 + more, 54 + more]):
            sheet.append(row)
    book.save(tmp_path / "t.xlsx")
    read = read_table(tmp_path / "t.xlsx")
    assert list(read.dimensions[0].codes) == ["2022", "2023"]
    assert len(read.places) == 18


def test_dashes_and_dots_say_how_deep_a_label_stands(tmp_path: Path) -> None:
    """Two dashes are a level below one."""
    for one, two in (("- ", "-- "), ("– ", "– – "), (".. ", ".... ")):
        read = table(
            tmp_path,
            f"Injury | f | m\nTotal | 60 | 90\n{one}Cuts | 25 | 35\n{two}Arm | 5 | 15\n{two}Leg | 20 | 20\n"
            f"{one}Burns | 35 | 55\n{two}Hand | 15 | 25\n{two}Face | 20 | 30",
        )
        assert {g.code: len(g.parts) for g in read.dimensions[0].groups} == {f"{one}Cuts": 2, f"{one}Burns": 2}


def test_notes_and_kinds_of_areas_are_no_dimensions(tmp_path: Path) -> None:
    """Columns that name notes on the rows, or say what kind of area each is."""
    read = table(
        tmp_path,
        "Region | Notes | f | m\nAsia | [note 1] | 12 | 3\nAfrica |  | 9 | 30\nEurope | [note 2, note 3] | 8 | 10\n"
        "Total |  | 29 | 43",
    )
    assert totals(read) == {"Region": "Total", "column": None}
    read = table(
        tmp_path,
        """
        Code | Name | Geography | All people | Male | Female
        K02 | UNITED KINGDOM | Country | 410 | 160 | 250
        E92 | ENGLAND | Country | 300 | 110 | 190
        E12 | NORTH EAST | Region | 100 | 40 | 60
        E13 | NORTH WEST | Metropolitan County | 200 | 70 | 130
        W92 | WALES | Country | 70 | 30 | 40
        S92 | SCOTLAND | Country | 40 | 20 | 20
        """,
        total={"Name": "K02", "column": "All people"},
    )
    assert [d.name for d in read.dimensions] == ["Name", "column"]
    assert any("what kind of area" in text for text in read.assumed)


def test_headers_that_may_be_of_labels_are_of_counts_where_they_add_up(tmp_path: Path) -> None:
    """Day and Night make the total, and N is the sum of both sexes."""
    read = table(
        tmp_path, "Ward | Day | Night | Total\nA | 12 | 3 | 15\nB | 9 | 30 | 39\nC | 8 | 10 | 18\nTotal | 29 | 43 | 72"
    )
    assert totals(read) == {"Ward": "Total", "column": "Total"}
    read = table(
        tmp_path,
        "Group | N | Female | Male\nCase | 15 | 12 | 3\nControl | 39 | 9 | 30\nOther | 50 | 29 | 21\n"
        "All | 104 | 50 | 54",
    )
    assert totals(read) == {"Group": "All", "column": "N"}
    with pytest.raises(InputError, match="--stub-columns"):
        table(tmp_path, "Ward | Day | Night\nA | 12 | 3\nB | 9 | 30\nC | 8 | 10")


def test_other_numbers_or_sums_say_which_sign_parts_thousands(tmp_path: Path) -> None:
    """Percentages have the other sign before decimals; a sum of numbers with and without a sign holds one way only."""
    read = table(
        tmp_path, "Land | m | w | Summe | Anteil m in %\nA | 1.234 | 321 | 1.555 | 79,4\nB | 5 | 7 | 12 | 41,7"
    )
    assert read.table.n == 1567
    read = table(tmp_path, "State | Total | Male | Female\nA | 1,555 | 1,234 | 321\nB | 12 | 5 | 7\nC | 31 | 17 | 14")
    assert read.table.n == 1598
    with pytest.raises(InputError, match="--thousands"):
        table(tmp_path, "State | Male | Female\nA | 1,234 | 321\nB | 5 | 7")


def test_a_rate_of_a_total_says_whose_part_the_total_is(tmp_path: Path) -> None:
    """Without it the population beside a sum would have to be asked about."""
    rows = {"Avon": (12, 3, 400_000), "Kent": (9, 30, 700_000), "Essex": (8, 10, 650_000), "Cumbria": (40, 2, 300_000)}
    lines = ["Force | Knife | Gun | Total | Population | Rate per 100,000"]
    for name, (knife, gun, people) in rows.items():
        lines.append(f"{name} | {knife} | {gun} | {knife + gun} | {people} | {100_000 * (knife + gun) / people:.1f}")
    read = table(tmp_path, "\n".join(lines))
    column = read.dimensions[1]
    assert (column.total, [g.code for g in column.groups]) == ("Population", ["Total"])


def test_parts_behind_a_total_that_overlap_are_several_tables(tmp_path: Path) -> None:
    """ "Insgesamt", and those of them who are women, and those who are young, who may be women, too."""
    path = tmp_path / "t.csv"
    path.write_text(
        "Land;Insgesamt;darunter weiblich;darunter unter 25\nBayern;60;31;4\nHessen;80;45;20\nBerlin;50;24;18\n",
        encoding="utf-8",
    )
    assert len(read_tables(path)) > 1


def test_subtotals_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """ "Subtotal" behind each group adds up the labels before it."""
    read = table(
        tmp_path,
        """
        Provider | Day | Night | Total
        State | 12 | 3 | 15
        Local | 9 | 30 | 39
        Subtotal | 21 | 33 | 54
        Profit | 8 | 10 | 18
        Charity | 20 | 25 | 45
        Subtotal | 28 | 35 | 63
        Total | 49 | 68 | 117
        """,
    )
    assert {g.code: len(g.parts) for g in read.dimensions[0].groups} == {"1 Subtotal": 2, "2 Subtotal": 2}


def test_some_of_a_total_behind_its_groups_are_protected(tmp_path: Path) -> None:
    """Both sexes, their total, and "of which" behind it, which is part of the total and of no sex alone."""
    path = tmp_path / "t.csv"
    path.write_text("Land;m;w;Insgesamt;darunter neu\nA;12;30;42;4\nB;9;30;39;20\nC;20;24;44;18\n", encoding="utf-8")
    tables = read_tables(path)
    assert {"m", "w", "Insgesamt"} <= {*tables[0].dimensions[1].codes}
    assert any("darunter neu" in own.dimensions[1].codes for own in tables)


def test_headers_of_the_second_table_are_known_again(tmp_path: Path) -> None:
    """Also where a letter is a mark elsewhere, and where years stand above words."""
    path = tmp_path / "t.csv"
    rows = ["Area,A,B,C,All", "N,12,3,9,24", "S,9,30,8,47", "Total,21,33,17,71"]
    path.write_text("\n".join([*rows, ",,,,", "Men,,,,", *rows[:1], "N,7,2,3,12", "S,4,21,6,31", "Total,11,23,9,43"]))
    assert [len(own.places) for own in read_tables(path)] == [12, 12]
    years = ["Code,Area,2022,,2023,", ",,f,m,f,m"]
    one, two = ["1,N,12,3,9,24", "2,S,9,30,8,47"], ["1,N,7,2,3,12", "2,S,4,21,6,31"]
    path.write_text("\n".join([*years, *one, ",,,,,", "Men,,,,,", *years, *two]))
    assert [len(own.places) for own in read_tables(path)] == [8, 8]


def test_stocks_are_left_aside_with_what_is_said(tmp_path: Path) -> None:
    """Hidden flows follow from stocks at the beginning as well as at the end; both are named, and the fix works."""
    rows = ["Month;Open;New;Closed;Left", "Apr;200;5;9;196", "May;196;40;7;229", "Jun;229;3;6;226", "Jul;226;8;34;200"]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(rows), encoding="utf-8")
    with pytest.raises(InputError, match="--leave Open --leave Left"):
        read_table(path)
    path.write_text("\n".join(";".join(row.split(";")[:4]) for row in rows), encoding="utf-8")
    with pytest.raises(InputError, match="--leave Open"):
        read_table(path)
    assert len(read_table(path, leave="Open").places) == 8
