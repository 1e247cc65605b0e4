"""Tables of one workbook that numbers tie together, whatever their labels are: no hidden count follows from both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openpyxl
import pytest

from discreet.cli import run

MAIN: list[list[Any]] = [
    ["Ward", "Women", "Men", "Total"],
    ["Abbey", 71, 100, 171],
    ["Beacon", 49, 4, 53],
    ["Castle", 49, 43, 92],
]
MAIN += [["Total", 169, 147, 316]]


def save(path: Path, **sheets: list[list[Any]]) -> None:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)


def protected(tmp_path: Path, **sheets: list[list[Any]]) -> dict[str, list[tuple[Any, ...]]]:
    save(tmp_path / "a.xlsx", **sheets)
    assert run(["protect", str(tmp_path / "a.xlsx"), "--hide-under", "6"]) == 0
    book = openpyxl.load_workbook(tmp_path / "a.safe.xlsx")
    return {sheet.title: list(sheet.iter_rows(values_only=True)) for sheet in book}


def test_a_column_under_other_labels_hides_the_same_counts(tmp_path: Path) -> None:
    """53 in Beacon less 49 women on the second sheet are the 4 men."""
    again: list[list[Any]] = [
        ["Ward name", "Females"],
        ["Abbey ward", 71],
        ["Beacon ward", 49],
        ["Castle ward", 49],
        ["Total", 169],
    ]
    sheets = protected(tmp_path, Main=MAIN, F=again)
    hidden = [row[0] == "*" or row[1] == "*" for row in sheets["F"][1:4]]
    assert [row[1] == "*" for row in sheets["Main"][1:4]] == hidden
    assert hidden[1]


def test_a_single_number_whose_label_names_the_cell_is_hidden(tmp_path: Path) -> None:
    figures: list[list[Any]] = [["Indicator", "Number"], ["Patients", 316], ["Men", 147], ["Women in Beacon", 49]]
    sheets = protected(tmp_path, Main=MAIN, Key=figures)
    assert sheets["Main"][2][1] == "*"
    assert sheets["Key"][3][1] == "*"


def test_coarser_groups_on_another_sheet_are_tied_to_the_finer_ones(tmp_path: Path) -> None:
    """12 under 18 years less 9 of 5 to 17 are the 3 of 0 to 4, unless both of these are hidden."""
    fine: list[list[Any]] = [
        ["Ward", "0-4", "5-17", "18-64", "65+", "All"],
        ["A", 3, 9, 40, 7, 59],
        ["B", 12, 20, 55, 18, 105],
    ]
    fine += [["C", 14, 22, 61, 8, 105], ["All", 29, 51, 156, 33, 269]]
    coarse: list[list[Any]] = [
        ["Ward", "0-17", "18+", "All"],
        ["A", 12, 47, 59],
        ["B", 32, 73, 105],
        ["C", 36, 69, 105],
    ]
    coarse += [["All", 80, 189, 269]]
    sheets = protected(tmp_path, A=fine, B=coarse)
    assert sheets["A"][1][1] == "*"
    assert "*" in (sheets["A"][1][2], sheets["B"][1][1])


def test_wards_of_districts_on_another_sheet(tmp_path: Path) -> None:
    wards: list[list[Any]] = [
        ["Ward", "Men", "Women", "All"],
        ["A1", 3, 30, 33],
        ["A2", 20, 22, 42],
        ["B1", 14, 18, 32],
    ]
    wards += [["B2", 9, 31, 40], ["B3", 12, 15, 27], ["All", 58, 116, 174]]
    districts: list[list[Any]] = [
        ["District", "Men", "Women", "All"],
        ["A", 23, 52, 75],
        ["B", 35, 64, 99],
        ["All", 58, 116, 174],
    ]
    sheets = protected(tmp_path, Wards=wards, Districts=districts)
    assert "*" in (sheets["Wards"][2][1], sheets["Districts"][1][1])


def test_a_year_to_date_is_that_of_the_month_before_and_the_month(tmp_path: Path) -> None:
    first: list[list[Any]] = [
        ["Ward", "January", "Year to date"],
        ["A", 14, 14],
        ["B", 9, 9],
        ["C", 20, 20],
        ["Total", 43, 43],
    ]
    second: list[list[Any]] = [
        ["Ward", "February", "Year to date"],
        ["A", 11, 25],
        ["B", 4, 13],
        ["C", 17, 37],
        ["Total", 32, 75],
    ]
    sheets = protected(tmp_path, Jan=first, Feb=second)
    assert sheets["Feb"][2][1] == "*"
    known = sheets["Jan"][2][1] != "*" or sheets["Jan"][2][2] != "*"
    assert not known or sheets["Feb"][2][2] == "*"


def test_whole_percentages_on_another_sheet_are_worked_out_anew(tmp_path: Path, capfdbinary: Any) -> None:
    """Nothing calls them so; of the columns or of the rows, as numbers say; a total that is another one is refused."""
    counts: list[list[Any]] = [
        ["Ward", "Seen", "Waiting", "All"],
        ["Red", 12, 30, 42],
        ["Blue", 4, 20, 24],
        ["Green", 18, 9, 27],
    ]
    counts += [["All wards", 34, 59, 93]]
    shares: list[list[Any]] = [
        ["Ward", "Seen", "Waiting", "All"],
        ["Red", 29, 71, 100],
        ["Blue", 17, 83, 100],
        ["Green", 67, 33, 100],
    ]
    save(tmp_path / "a.xlsx", Counts=counts, Sheet2=[*shares, ["All wards", 37, 63, 100]])
    assert run(["protect", str(tmp_path / "a.xlsx"), "--hide-under", "6"]) == 0
    copy = openpyxl.load_workbook(tmp_path / "a.safe.xlsx")
    hidden = [[cell == "*" for cell in row] for row in copy["Counts"].iter_rows(values_only=True)]
    after = [[cell == "*" for cell in row] for row in copy["Sheet2"].iter_rows(values_only=True)]
    assert after[:5] == hidden[:5]
    assert sum(map(sum, after)) == 4
    assert run(["protect", str(tmp_path / "a.xlsx"), "--hide-under", "6", "--sheet", "Counts", "--force"]) == 0
    assert capfdbinary.readouterr()


def test_cells_hidden_for_another_table_are_secondary(tmp_path: Path, capfdbinary: Any) -> None:
    """One count is small; the others of the list behind the table are hidden because the table hides them."""
    rows: list[list[Any]] = [["Ward", "Sex", "Number"]]
    rows += [[row[0], sex, number] for row in MAIN[1:4] for sex, number in zip(("Women", "Men"), row[1:3], strict=True)]
    protected(tmp_path, Main=MAIN, Data=rows)
    assert "Data: 6 cells, 1 primary, 3 secondary" in capfdbinary.readouterr().err.decode()


@pytest.mark.parametrize("header", ["NHS no", "Patient", "patient_id", "Case number"])
def test_records_are_not_taken_for_a_table(tmp_path: Path, capfdbinary: Any, header: str) -> None:
    records: list[list[Any]] = [[header, "Ward", "Sex", "Visits"]]
    records += [[f"P{400 + k}", "Abbey" if k % 3 else "Beacon", "f" if k % 2 else "m", 7 + k % 5] for k in range(30)]
    save(tmp_path / "a.xlsx", Main=MAIN, Data=records)
    assert run(["protect", str(tmp_path / "a.xlsx"), "--hide-under", "6"]) == 2
    told = capfdbinary.readouterr().err.decode()
    assert "looks like records" in told
    assert "--sheet Main" in told
    assert not (tmp_path / "a.safe.xlsx").exists()


@pytest.mark.parametrize("header", ["Hospital", "NHS", "School"])
def test_places_are_not_persons(tmp_path: Path, header: str) -> None:
    """Names without numbers are those of places, whatever an issuer of numbers is called."""
    save(tmp_path / "a.xlsx", Data=[[header, *MAIN[0][1:]], *MAIN[1:]])
    assert run(["protect", str(tmp_path / "a.xlsx"), "--hide-under", "6"]) == 0


def test_ages_are_not_counts(tmp_path: Path, capfdbinary: Any) -> None:
    save(tmp_path / "a.xlsx", Data=[["Name of ward", "Age"], ["A", 30], ["B", 41], ["C", 52]])
    assert run(["protect", str(tmp_path / "a.xlsx"), "--hide-under", "6"]) == 2
    assert "'Age' is not a count" in capfdbinary.readouterr().err.decode()


@pytest.mark.parametrize(
    "sentence",
    ["Of those in Beacon 7.5 % were men.", "One in thirteen in Beacon was male", "Men in Beacon: vier", "Ratio 49:4"],
)
def test_sentences_with_shares_do_not_stay(tmp_path: Path, sentence: str) -> None:
    sheets = protected(tmp_path, Main=[*MAIN, [None], [sentence], ["Source: hospital register"]])
    texts = [value for row in sheets["Main"] for value in row if isinstance(value, str)]
    assert sentence not in texts
    assert "Source: hospital register" in texts


def test_an_audit_looks_at_sheets_of_text(tmp_path: Path, capfdbinary: Any) -> None:
    """What a cover sheet says of hidden numbers is not judged, so that the file is not passed."""
    protected(tmp_path, Main=MAIN)
    book = openpyxl.load_workbook(tmp_path / "a.safe.xlsx")
    book.create_sheet("Cover", 0)["A1"] = "Of those in Beacon 7.5 % were men."
    book.save(tmp_path / "b.xlsx")
    capfdbinary.readouterr()
    assert run(["audit", str(tmp_path / "b.xlsx"), "--suppressed", "*"]) == 1
    assert "Cover!A1" in capfdbinary.readouterr().err.decode()
