"""Refusals of protect: the fix that a message names is followed, and works."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from discreet.cli import run
from discreet.sheets.counts_in_words import counts_in
from discreet.tables.reading.by_suffix import raw_table

Rows = list[list[Any]]
COUNTS: Rows = [
    ["Area", "F", "M", "Total"],
    ["A", 10, 20, 30],
    ["B", 3, 22, 25],
    ["C", 14, 30, 44],
    ["Total", 27, 72, 99],
]
SHARES: Rows = [COUNTS[0], ["A", 33.3, 66.7, 100], ["B", 12.5, 88.1, 100], ["C", 31.8, 68.2, 100]]


def workbook(path: Path, **sheets: Rows) -> str:
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return str(path)


@pytest.mark.parametrize("suffix", [".px", ".json", ".sdmx.csv", ".notes.csv", ".xlsx", ".html"])
def test_formats_of_lists_are_written_as_the_message_says(
    suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The options stand in the message as they are given."""
    monkeypatch.chdir(tmp_path)
    source = workbook(tmp_path / "source.xlsx", Counts=COUNTS)
    assert run(["protect", source, "--hide-under", "2", "--layout", "tidy", "-o", f"t{suffix}"]) == 0  # hides nothing
    assert run(["protect", f"t{suffix}", "--hide-under", "6", "--layout", "same"]) == 2
    said = capsys.readouterr().err
    options = re.search(r"--layout tidy -o \S+", said)
    assert options is not None
    assert run(["protect", f"t{suffix}", "--hide-under", "6", *options[0].split()]) == 0
    assert run(["audit", f"t.safe{suffix}", "--hidden-under", "6"]) == 0
    assert run(["protect", f"t{suffix}", "--hide-under", "6", "--force"]) == 0  # the same without any option
    assert run(["audit", f"t.safe{suffix}", "--hidden-under", "6"]) == 0


def test_counts_beside_percentages_are_protected_by_sheet_or_range(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message names the sheet that is refused, and the option that leaves it out."""
    path = workbook(tmp_path / "t.xlsx", Counts=COUNTS, Shares=SHARES)
    assert run(["protect", path, "--hide-under", "6"]) == 2
    said = capsys.readouterr().err
    assert "Shares' A1:D4" in said
    assert "--sheet" in said
    assert run(["protect", path, "--hide-under", "6", "--sheet", "Counts"]) == 0
    stacked = workbook(tmp_path / "s.xlsx", Both=[*COUNTS, [], *SHARES])
    assert run(["protect", stacked, "--hide-under", "6"]) == 2
    assert "--range" in capsys.readouterr().err
    assert run(["protect", stacked, "--hide-under", "6", "--range", "A1:D5"]) == 0


def test_a_sheet_with_hidden_cells_is_audited_as_the_message_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command stands in the message."""
    path = workbook(tmp_path / "t.xlsx", Counts=COUNTS)
    assert run(["protect", path, "--hide-under", "6"]) == 0
    safe = str(tmp_path / "t.safe.xlsx")
    assert run(["protect", safe, "--hide-under", "6"]) == 2
    assert "discreet audit FILE" in capsys.readouterr().err
    assert run(["audit", safe]) == 0


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Notes: 1. Figures for 2023/24 are provisional. 2. Source: PAS.", []),
        ("1) Provisional; 2) own counts", []),
        ("Total: 4. Source: PAS.", [4]),
        ("Total: 1. Source: PAS. 2. Own counts", [1, 2]),
        ("Notes: 4. Source: PAS.", [4]),
        ("1. Provisional. 3. Of 5 sites", [3, 5]),
    ],
)
def test_numbers_of_a_list_are_no_counts_and_others_may_be(text: str, numbers: list[int]) -> None:
    """Only those in order from one on, from the beginning of a text on."""
    assert [one.number for one in counts_in(text)] == numbers


def test_the_limit_of_a_recipe_stands_in_the_form_and_in_the_note(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """cms-11 hides counts from 1 to 10, and says so as --hide-under 11 does."""
    path = workbook(tmp_path / "t.xlsx", Counts=COUNTS)
    forms = []
    for name, method in (("a.xlsx", ["--recipe", "cms-11"]), ("b.xlsx", ["--hide-under", "11"])):
        assert run(["protect", path, *method, "-o", str(tmp_path / name)]) == 0
        forms.append(capsys.readouterr().err.partition("for the form: ")[2])
        cells = openpyxl.load_workbook(tmp_path / name).worksheets[0].iter_rows(values_only=True)
        assert any("1 to 10" in str(value) for row in cells for value in row)
    assert forms[0] == forms[1]
    assert "from 1 to 10" in forms[0]


BLANKS: Rows = [
    ["Ward", "Men", "Women", "Total"],
    ["A", 14, 20, 34],
    ["B", None, None, None],
    ["C", 3, 31, 34],
    ["D", 9, 8, 17],
    ["Total", 26, 59, 85],
]


@pytest.mark.parametrize("options", [[], ["--blank", "zero"]])
def test_a_row_with_nobody_is_no_heading(options: list[str], tmp_path: Path) -> None:
    """The total is the sum of all rows, and so the row of blanks is one of zeros."""
    path = workbook(tmp_path / "t.xlsx", Wards=BLANKS)
    assert run(["protect", path, "--hide-under", "6", *options]) == 0
    rows = list(openpyxl.load_workbook(tmp_path / "t.safe.xlsx")["Wards"].values)
    assert rows[2] == ("B", None, None, None)
    assert rows[3] == ("C", "*", "*", 34)


def test_a_sign_behind_a_number_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A letter that means a revision."""
    rows: Rows = [COUNTS[0], ["A", "10q", 20, 30], *COUNTS[2:]]
    path = workbook(tmp_path / "t.xlsx", Counts=rows)
    assert run(["protect", path, "--hide-under", "6"]) == 2
    assert "--flag" in capsys.readouterr().err
    assert run(["protect", path, "--hide-under", "6", "--flag", "q"]) == 0


def test_a_cell_of_several_readings_counts_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Parts that may be part of each other are read in several ways; the form says how many cells there are."""
    rows: Rows = [["Cause", "Male", "Female", "All"], ["Cancer", 60, 51, 111], ["  of which lung", 22, 18, 40]]
    rows += [["  of which breast", 0, 14, 14], ["Other", 57, 50, 107], ["All causes", 117, 101, 218]]
    assert run(["protect", workbook(tmp_path / "t.xlsx", Deaths=rows), "--hide-under", "6"]) == 0
    said = capsys.readouterr().err
    assert "tables:" in said
    assert re.search(r"(\d+ of 15 cells are not shown|no cell had to be)", said.splitlines()[-1])


AGES = ["16-24", "25-64", "65+", "16+"]
CODED = ["Y16-24", "Y25-64", "Y_GE65", "Y_GE16"]


@pytest.mark.parametrize("bands", [AGES, CODED])
def test_bands_with_their_sum_are_no_measurements(bands: list[str], tmp_path: Path) -> None:
    """In a long list a band that other bands add up to stands beside them; rows of some areas are missing."""
    lines = ["year,area,sex,age,count"]
    for year in (2022, 2023):
        for k, area in enumerate(("North", "South", "West")):
            for sex, own in (("Male", (80 + 41 * k, 185 - 33 * k, 9)), ("Female", (75, 120 + 29 * k, 3))):
                lines += [f"{year},{area},{sex},{band},{n}" for band, n in zip(bands, (*own, sum(own)), strict=True)]
    path = tmp_path / "long.csv"
    path.write_text("\n".join([*lines[:-4], ""]), encoding="utf-8")  # not every area has every sex
    assert run(["protect", str(path), "--hide-under", "6"]) == 0


def test_codes_that_are_numbers_are_labels_as_the_message_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beside a column called count another one of numbers may be codes: the option is taken as it stands there."""
    path = tmp_path / "codes.csv"
    rows = [("A", 1, 20), ("A", 2, 3), ("B", 2, 17), ("B", 1, 25), ("C", 1, 14), ("C", 2, 31)]
    path.write_text("area,sex,count\n" + "".join(f"{a},{s},{n}\n" for a, s, n in rows), encoding="utf-8")
    assert run(["protect", str(path), "--hide-under", "6"]) == 2
    option = re.search(r"--stub-columns \d", capsys.readouterr().err)
    assert option is not None
    assert run(["protect", str(path), "--hide-under", "6", *option[0].split()]) == 0


def test_a_sheet_of_notes_is_kept_as_the_message_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A numbered list of notes is no table; its texts stay in the copy."""
    notes: Rows = [["Note", "Text"], [1, "Counts of persons"], [2, "Areas of 2021"]]
    source = workbook(tmp_path / "source.xlsx", Notes=notes, Counts=COUNTS)
    assert run(["protect", source, "--hide-under", "6"]) == 2
    option = re.search(r"--text-sheet \w+", capsys.readouterr().err)
    assert option is not None
    assert run(["protect", source, "--hide-under", "6", *option[0].split()]) == 0
    assert openpyxl.load_workbook(tmp_path / "source.safe.xlsx").sheetnames == ["Notes", "Counts"]


def test_numbers_with_units_are_pointed_to_and_not_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where no table is found as its cells hold "14 pupils of 60" the first of them is named by its address."""
    rows = [[row[0], *(n if isinstance(n, str) else f"{n} pupils of {n + 46}" for n in row[1:])] for row in COUNTS]
    assert run(["protect", workbook(tmp_path / "source.xlsx", Counts=rows), "--hide-under", "6"]) == 2
    said = capsys.readouterr().err
    assert "12 cells hold texts that begin with a number" in said
    assert "the first is B2" in said
    assert "pupils" not in said


def test_lists_of_several_tables_are_files_with_a_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protected together: what one hides of a margin in common, the other hides too; no file that is there is lost."""
    monkeypatch.chdir(tmp_path)
    by_age: Rows = [["Area", "0-39", "40+", "Total"], ["A", 12, 18, 30], ["B", 9, 16, 25], ["C", 20, 24, 44]]
    book = workbook(tmp_path / "t.xlsx", Sex=COUNTS, Age=[*by_age, ["Total", 41, 58, 99]])
    assert run(["protect", book, "--hide-under", "6", "--layout", "tidy", "-o", "t.csv"]) == 0
    assert "t-2.csv: SheetTable(Area x column" in capsys.readouterr().err
    assert not Path("t.csv").exists()
    assert run(["audit", "t-1.csv", "t-2.csv", "--hidden-under", "6"]) == 0
    assert "B,F,,c" in Path("t-1.csv").read_text()
    assert run(["protect", book, "--hide-under", "6", "--layout", "tidy", "-o", "t.csv"]) == 2
    assert "'t-1.csv' is there already" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", [".csv", ".json", ".sdmx.csv", ".px"])
def test_numbers_that_nobody_has_are_no_zeros_in_a_list(suffix: str, tmp_path: Path) -> None:
    source, safe = tmp_path / "t.csv", tmp_path / f"t.safe{suffix}"
    source.write_text("town,f,m\nAlpha,30,n/a\nBeta,4,22\nGamma,0,40\n")
    options = ["--hide-under", "6", "--unavailable", "n/a", "--layout", "tidy"]
    assert run(["protect", str(source), *options, "-o", str(safe)]) == 0
    read = raw_table(safe, None)
    (values,) = read.values.values()
    cells = dict(zip(zip(*read.codes, strict=True), values.tolist(), strict=True))
    assert ("Alpha", "m") not in cells
    assert cells["Gamma", "f"] == 0
    assert sum(number == 0 for number in cells.values()) == 1
