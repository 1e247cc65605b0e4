"""A file in, the same file out on the command line: the pattern, the words on stderr, and nothing where it fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openpyxl
import pytest
from tests.sheets.gallery.draft import Draft, written

from discreet.cli import run
from discreet.sheets.sources.by_kind import grids_of

ROWS: dict[str, tuple[int, ...]] = {
    "Ward 1": (6, 18, 14),
    "Ward 2": (8, 27, 12),
    "Ward 3": (2, 38, 16),
    "Ward 4": (11, 25, 11),
    "Ward 5": (4, 28, 12),
}


def fill(sheet: Any, rows: dict[str, tuple[int, ...]]) -> None:
    """A title, a header, wards, totals, a share and a source."""
    sheet.append(["Patients by ward and age"])
    sheet.append([])
    sheet.append(["Ward", "0-17", "18-64", "65+", "Total", "% 65+"])
    sums = tuple(map(sum, zip(*rows.values(), strict=True)))
    for name, counts in [*rows.items(), ("All wards", sums)]:
        sheet.append([name, *counts, sum(counts), round(100 * counts[-1] / sum(counts), 1)])
    sheet.append([])
    sheet.append(["Source: made up"])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workbook of one sheet."""
    monkeypatch.chdir(tmp_path)
    book = openpyxl.Workbook()
    book.active.title = "Wards"
    fill(book.active, ROWS)
    book.save("wards.xlsx")
    return tmp_path


def cells(path: str, sheet: str = "Wards") -> list[list[Any]]:
    return [list(row) for row in openpyxl.load_workbook(path)[sheet].iter_rows(values_only=True)]


def said(capture: Any) -> str:
    err: bytes = capture.readouterr().err
    return err.decode()


def test_no_verdict_is_said_of_a_file_that_is_refused(folder: Path, capfdbinary: Any) -> None:
    """Its table passes, and a label states what is hidden: nothing is written, and no pass is told before that."""
    book = openpyxl.load_workbook("wards.xlsx")
    book["Wards"]["A6"] = "Ward 3 (2 children)"
    book.save("told.xlsx")
    assert run(["protect", "told.xlsx", "--hide-under", "6"]) == 2
    text = said(capfdbinary)
    assert "labels or headers state a hidden count" in text
    assert "audit: pass" not in text
    assert not (folder / "told.safe.xlsx").exists()


def test_one_command_gives_the_same_workbook_back(folder: Path, capfdbinary: Any) -> None:
    """Every number in its place or a mark; what was done and for the form on stderr; the source untouched."""
    source = (folder / "wards.xlsx").read_bytes()
    assert run(["protect", "wards.xlsx", "--hide-under", "6"]) == 0
    text = said(capfdbinary)
    assert "understood: SheetTable(Ward x column: 24 cells; count; 'wards.xlsx: Wards'" in text
    assert "wards.xlsx: Wards: 24 cells, 2 primary, 2 secondary, " in text
    assert "audit: pass, 4 cells judged" in text
    assert "for the form: Counts from 1 to 5 and cells that would give them away are not shown; 4 of 24 cells" in text
    assert (folder / "wards.xlsx").read_bytes() == source
    before, after = cells("wards.xlsx"), cells("wards.safe.xlsx")
    for old, new in zip(before[:9], after[:9], strict=True):
        assert new[:5] == old[:5] or old[0] in ("Ward 3", "Ward 5")
    assert [after[r][1] for r in (5, 7)] == ["*", "*"]
    assert [after[r][5] for r in (3, 5)] == [pytest.approx(36.8, abs=0.05), "*"]
    assert after[-1][0].startswith("* in place of a number: not shown to protect confidentiality.")


def test_a_file_that_is_there_is_not_written_over(folder: Path, capfdbinary: Any) -> None:
    """Unless asked; the source never is."""
    (folder / "wards.safe.xlsx").write_text("kept")
    assert run(["protect", "wards.xlsx", "--hide-under", "6"]) == 2
    assert "--force" in said(capfdbinary)
    assert (folder / "wards.safe.xlsx").read_text() == "kept"
    assert run(["protect", "wards.xlsx", "--hide-under", "6", "--force"]) == 0
    assert run(["protect", "wards.xlsx", "--hide-under", "6", "--force", "-o", "wards.xlsx"]) == 2
    assert "would be written over" in said(capfdbinary)


def test_without_a_rule_it_is_asked_for(folder: Path, capfdbinary: Any) -> None:
    """A default never publishes the truth."""
    assert run(["protect", "wards.xlsx"]) == 2
    text = said(capfdbinary)
    assert "--hide-under 6" in text
    assert "'opensafely'" in text
    assert list(folder.iterdir()) == [folder / "wards.xlsx"]


def test_recipes_marks_and_a_list(folder: Path, capfdbinary: Any) -> None:
    """Recipe by name with parameters, a mark that says a range, and a tidy list in place of the sheet."""
    assert run(["protect", "wards.xlsx", "--recipe", "nhs", "-P", "most=5", "-o", "nhs.xlsx"]) == 0
    assert cells("nhs.xlsx")[3][1:5] == [5, 20, 15, 40]
    assert run(["protect", "wards.xlsx", "--hide-under", "6", "--mark", "<6", "-o", "range.xlsx"]) == 0
    assert cells("range.xlsx")[5][1:] == ["<6", 38, "*", 56, "*"]
    assert run(["protect", "wards.xlsx", "--recipe", "opensafely", "--layout", "tidy"]) == 0
    lines = (folder / "wards.safe.csv").read_text().splitlines()
    assert lines[0] == "Ward,column,count,status"
    assert "Ward 3,0-17,,c" in lines
    capfdbinary.readouterr()


def test_nothing_is_written_where_the_audit_fails(folder: Path, capfdbinary: Any) -> None:
    """Four ones, and an eight, follow from a rounded total: an error that counts cells and tells no number."""
    book = openpyxl.Workbook()
    ages = {"a": 1, "b": 1, "c": 1, "d": 1, "e": 8, "Total": 12}
    for row in [["age", "people"], *map(list, ages.items())]:
        book.active.append(row)
    book.save("ages.xlsx")
    assert run(["protect", "ages.xlsx", "--recipe", "nhs"]) != 0
    assert "5 cells that must stay unknown follow" in said(capfdbinary)
    assert not (folder / "ages.safe.xlsx").exists()


def test_sheets_of_one_population_hide_the_same_cells(folder: Path, capfdbinary: Any) -> None:
    """A cell that one sheet hides for its own sums is hidden on the other, which repeats it."""
    book = openpyxl.load_workbook("wards.xlsx")
    few = {name: counts[:2] for name, counts in ROWS.items()}
    other = book.create_sheet("Young")
    other.append(["Ward", "0-17", "18-64"])
    for name, counts in [*few.items(), ("All wards", tuple(map(sum, zip(*few.values(), strict=True))))]:
        other.append([name, *counts])
    book.save("two.xlsx")
    assert run(["protect", "two.xlsx", "--hide-under", "6"]) == 0
    first, second = cells("two.safe.xlsx"), cells("two.safe.xlsx", "Young")
    hidden = {(row[0], k) for row in first[3:9] for k in (1, 2) if isinstance(row[k], str)}
    assert hidden == {(row[0], k) for row in second[1:] for k in (1, 2) if isinstance(row[k], str)}
    assert hidden
    text = said(capfdbinary)
    assert text.count("for the form: ") == 1
    assert "for the form: 2 tables: counts from 1 to 5" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--hide-under", "6", "--recipe", "nhs"], "give one of them"),
        (["--hide-under", "6", "--method", "round"], "--method"),
        (["--recipe", "nsh"], "'nhs'"),
        (["--recipe", "statcan-base5"], "-P seed="),
        (["--hide-under", "6", "--mark", "<5"], "does not hold"),
        (["--hide-under", "6", "-P", "base=5"], "--hide-under has none"),
        (["--hide-under", "6", "--sheet", "Wrads"], "Wards"),
        (["--by", "Ward", "--mark", "*", "--method", "round"], "--mark"),
        (["--recipe", "nhs", "--hide-zeros"], "--hide-zeros"),
    ],
)
def test_options_that_do_not_go_together(folder: Path, capfdbinary: Any, arguments: list[str], words: str) -> None:
    """Refused with what to do; nothing is written."""
    assert run(["protect", "wards.xlsx", *arguments]) == 2
    assert words in said(capfdbinary)
    assert list(folder.iterdir()) == [folder / "wards.xlsx"]


def test_the_short_words_hold_for_records_too(folder: Path, capfdbinary: Any) -> None:
    """--hide-under and --recipe with --by count records and protect their table."""
    people = {"a,x": 14, "a,y": 13, "b,x": 1, "b,y": 20}
    lines = [line for line, n in people.items() for _ in range(n)]
    (folder / "m.csv").write_text("\n".join(["area,job", *lines]) + "\n")
    assert run(["protect", "m.csv", "--by", "area,job", "--hide-under", "6", "-o", "one.csv"]) == 0
    more = ["--method", "suppress", "--rule", "threshold(n=6)", "-o", "two.csv"]
    assert run(["protect", "m.csv", "--by", "area,job", *more]) == 0
    assert (folder / "one.csv").read_bytes() == (folder / "two.csv").read_bytes()
    assert run(["protect", "m.csv", "--by", "area,job", "--recipe", "opensafely", "-o", "three.csv"]) == 0
    assert "b,x,,c" in (folder / "three.csv").read_text()
    capfdbinary.readouterr()


def test_signs_of_a_text_file_that_were_said_are_written_again(folder: Path, capfdbinary: Any) -> None:
    """An encoding in which a byte of a letter is that of the separator: every other byte stays."""
    text = "区|男|女|計\nポ|12|3|15\n南|14|27|41\n西|20|6|26\n計|46|36|82\n".encode("shift_jis")
    Path("wards.csv").write_bytes(text)
    code = run(
        ["protect", "wards.csv", "--hide-under", "6", "--encoding", "shift_jis", "--separator", "|", "--total", "計"]
    )
    assert code == 0, said(capfdbinary)
    after = Path("wards.safe.csv").read_bytes().decode("shift_jis").splitlines()
    assert [line.split("|")[0] for line in after[:5]] == ["区", "ポ", "南", "西", "計"]
    assert [after[1].split("|")[k] for k in (2, 3)] == ["*", "15"]
    assert after[4] == "計|46|36|82"


def test_text_files_come_back_as_they_were_written(folder: Path, capfdbinary: Any) -> None:
    """Separators and thousands stay; a total that was worked out anew is the one that was judged; records are told."""
    (folder / "semi.csv").write_text("area;f;m;all\nN;1.200;3;1.203\nS;800;900;1.700\nall;2.000;903;2.903\n")
    assert run(["protect", "semi.csv", "--hide-under", "6", "--thousands", "."]) == 0
    lines = (folder / "semi.safe.csv").read_text().split()
    assert lines == ["area;f;m;all", "N;*;*;1.203", "S;*;*;1.700", "all;2.000;903;2.903"]
    (folder / "off.csv").write_text("area,f,m,Total\nN,12,8,21\nS,8,9,17\nTotal,20,17,37\n")
    assert run(["protect", "off.csv", "--hide-under", "6", "--totals", "compute"]) == 0
    assert (folder / "off.safe.csv").read_text().split()[1] == "N,12,8,20"
    (folder / "people.csv").write_text("area,sex\n" + "a,f\nb,m\n" * 9)
    assert run(["protect", "people.csv", "--hide-under", "6"]) == 2
    assert "name the dimensions of the table (--by)" in said(capfdbinary)


@pytest.mark.parametrize("suffix", ["xlsx", "ods"])
def test_a_sheet_of_notes_is_kept_where_it_is_named(folder: Path, capfdbinary: Any, suffix: str) -> None:
    """Its texts stay, its numbers do not, and it is not read as a table whatever stands on it."""
    data, notes = Draft("Data"), Draft("Notes")
    table: list[list[Any]] = [["Area", "f", "m"], ["N", 20, 3], ["S", 30, 40], ["Total", 50, 43]]
    for row, line in enumerate(table, 1):
        data.line(row, line)
    words: list[list[Any]] = [["About"], ["Telephone", 5551], ["Fax", 5552], ["Area", "Year"], ["N", 2021], ["S", 2021]]
    for row, line in enumerate(words, 1):
        notes.line(row, line)
    path = written([data, notes], folder, suffix)
    safe = path.with_name(f"safe.{suffix}")
    assert run(["protect", str(path), "--hide-under", "6", "--text-sheet", "Notes", "-o", str(safe)]) == 0
    assert "numbers outside the tables that were understood are blanked: 'Notes'" in said(capfdbinary)
    grids = {grid.sheet: grid for grid in grids_of(safe)}
    assert [grids["Notes"].text(row, 1) for row in range(1, 7)] == ["About", "Telephone", "Fax", "Area", "N", "S"]
    assert not any(isinstance(cell.value, int | float) for cell in grids["Notes"].cells.values())
    assert grids["Data"].text(2, 3) == "*"
    assert run(["protect", str(path), "--hide-under", "6", "--text-sheet", "Note"]) == 2
    assert "did you mean 'Notes'" in said(capfdbinary)


def test_a_file_without_sheets_has_none_to_keep(folder: Path, capfdbinary: Any) -> None:
    """Said, and nothing is written."""
    (folder / "wards.csv").write_text("Area,f,m\nN,20,3\nS,30,40\n")
    assert run(["protect", "wards.csv", "--hide-under", "6", "--text-sheet", "Notes"]) == 2
    assert "has no sheets with names" in said(capfdbinary)
    assert not (folder / "wards.safe.csv").exists()


@pytest.mark.parametrize(("cell", "option"), [("", ["--blank", "none"]), ("n.k.", ["--unavailable", "n.k."])])
def test_a_cell_that_cannot_exist_hides_no_other(folder: Path, capfdbinary: Any, cell: str, option: list[str]) -> None:
    """Whoever reads the sheet knows it to be nothing, so 5 in all are 5 men, and 48 - 40 - 5 are 3."""
    source, pattern = folder / "wards.csv", folder / "pattern.csv"
    source.write_text(f"Area;f;m;Total\nN;20;3;23\nS;30;40;70\nW;{cell};5;5\nTotal;50;48;98\n")
    assert run(["protect", "wards.csv", "--hide-under", "4", *option]) == 0
    rows = [line.split(";") for line in (folder / "wards.safe.csv").read_text().splitlines()]
    assert rows[1][2] == "*"
    assert rows[3][1] == cell
    assert not (rows[3][2] == "*" and rows[3][3] == "5")
    assert run(["audit", "wards.safe.csv", "--suppressed", "*", *option]) == 0
    capfdbinary.readouterr()
    pattern.write_text("Area;f;m;Total\nN;*;*;23\nS;30;40;70\nW;;*;5\nTotal;50;48;98\n")
    assert run(["audit", "pattern.csv", "--suppressed", "*", "--blank", "none"]) == 1
    assert "N m: 30 + 23 - 50 = 3" in said(capfdbinary)


def test_marks_mean_the_same_wherever_a_sheet_is_read(folder: Path, capfdbinary: Any) -> None:
    """Flags behind numbers, on the commands that show, protect and audit; a mark may say what it stands for."""
    (folder / "flags.csv").write_text("Area;f;m;Total\nN;20 prov;3;23\nS;30;40;70\nTotal;50;43;93\n")
    for command in (["show"], ["protect", "--hide-under", "6"]):
        assert run([command[0], "flags.csv", *command[1:]]) == 2
        assert run([command[0], "flags.csv", *command[1:], "--flag", "prov"]) == 0
    assert "N;20 prov;*;23" not in (folder / "flags.safe.csv").read_text()
    (folder / "marked.csv").write_text("Area;f;m;Total\nN;20 prov;low;23\nS;30;low;70\nTotal;50;43;93\n")
    assert run(["audit", "marked.csv", "--flag", "prov", "--suppressed", "low=1-40"]) == 1
    assert run(["show", "marked.csv", "--flag", "prov", "--suppressed", "low=1-40"]) == 0
    capfdbinary.readouterr()
