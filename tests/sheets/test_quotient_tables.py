"""Cells that say a count and of how many it is: "3/45 (6.7%)" is hidden as a whole, and written anew as a whole."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.cli import run
from discreet.errors import InputError, Refused
from discreet.in_place.contents import HiddenMarks
from discreet.in_place.sheet_files import protect_file, write_in_place
from discreet.methods.suppress.method import Suppress
from discreet.rules import Threshold
from discreet.sheets.quotient_cells import quotient_in
from discreet.sheets.reading_sheets import read_tables

ARMS = ("Drug", "Placebo", "None")
OUTCOMES = ("Death", "Stroke", "Fall", "Rash")


def saved(path: Path, rows: list[list[str]]) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.worksheets[0].append(row)
    book.save(path)
    return path


def back(path: Path) -> list[tuple[object, ...]]:
    return list(openpyxl.load_workbook(path).worksheets[0].iter_rows(values_only=True))


def cell(count: int, base: int, decimals: int) -> str:
    return f"{count}/{base} ({100 * count / base:.{decimals}f}%)"


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 40), min_size=3, max_size=3), min_size=2, max_size=4),
    st.lists(st.integers(0, 20), min_size=3, max_size=3),
    st.integers(0, 1),
)
def test_no_part_of_a_hidden_cell_stays(
    tmp_path_factory: pytest.TempPathFactory, counts: list[list[int]], more: list[int], decimals: int
) -> None:
    """Neither the count nor the number that it is of, nor the percentage; what is shown stays as it was."""
    inner = np.array(counts)
    bases = inner.max(axis=0) + np.array(more)
    assume((bases > 0).all())
    folder = tmp_path_factory.mktemp("quotients")
    rows = [["Outcome", *ARMS]]
    rows += [
        [name, *(cell(n, b, decimals) for n, b in zip(own, bases.tolist(), strict=True))]
        for name, own in zip(OUTCOMES, counts, strict=False)
    ]
    source = saved(folder / "t.xlsx", rows)
    try:
        done = protect_file(source, Suppress(Threshold(n=6)), reading={"total": {"column": None}})
    except Refused:
        return
    write_in_place(done, folder / "safe.xlsx", HiddenMarks("*", "*"), "")
    hidden = {
        place
        for sheet, one in zip(done.sheets, done.done, strict=True)
        for places, gone in zip(sheet.places_in(one.table.layout), one.hidden.tolist(), strict=True)
        if gone
        for place in places
    }
    bases_hidden = {place.column for place in hidden if place.row == 1}
    for k, (own, now) in enumerate(zip(rows[1:], back(folder / "safe.xlsx")[1 : len(rows)], strict=True), 2):
        for j, (before, after) in enumerate(zip(own[1:], now[1:4], strict=True), 2):
            gone = j in bases_hidden or any((place.row, place.column) == (k, j) for place in hidden)
            assert after == ("*" if gone else before)
            quotient = quotient_in(before)
            assert quotient is not None
            assert gone or not (0 < quotient.part < 6 or 0 < quotient.base - quotient.part < 6 or quotient.base < 6)


def test_a_copy_says_nothing_of_what_is_hidden(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A trial, end to end; its audit is passed, and nothing is left in the file."""
    rows = [["Outcome by arm"], ["Outcome", "Drug", "Placebo"], ["Death", "3/45 (6.7%)", "5/44 (11.4%)"]]
    rows += [["Stroke", "2/45 (4.4%)", "7/44 (15.9%)"], ["Bleeding", "12/45 (26.7%)", "9/44 (20.5%)"]]
    source = saved(tmp_path / "t.xlsx", rows)
    assert run(["protect", str(source), "--hide-under", "6"]) == 0
    safe = back(tmp_path / "t.safe.xlsx")[1:5]
    assert safe == [
        ("Outcome", "Drug", "Placebo"),
        ("Death", "*", "*"),
        ("Stroke", "*", "7/44 (15.9%)"),
        ("Bleeding", "12/45 (26.7%)", "9/44 (20.5%)"),
    ]
    with zipfile.ZipFile(tmp_path / "t.safe.xlsx") as book:
        everything = b"".join(book.read(name) for name in book.namelist())
    assert not any(part in everything for part in (b"(6.7", b"11.4", b"(4.4", b"3/45", b"5/44"))
    capsys.readouterr()
    assert run(["audit", str(tmp_path / "t.safe.xlsx"), "--original", str(source), "--suppressed", "*"]) == 0
    assert run(["audit", str(tmp_path / "t.safe.xlsx"), "--suppressed", "*", "--partly"]) == 0


def test_rounded_counts_are_written_with_their_share(tmp_path: Path) -> None:
    """Each cell is written anew as a whole, in its own way."""
    rows = [["Health", "North", "South"], ["Good", "27 of 45 [60,0 %]", "26 of 47 [55,3 %]"]]
    rows += [["Poor", "18 of 45 [40,0 %]", "21 of 47 [44,7 %]"]]
    assert run(["protect", str(saved(tmp_path / "t.xlsx", rows)), "--recipe", "nhs"]) == 0
    assert back(tmp_path / "t.safe.xlsx")[1][1:] == ("25 of 45 [55,6 %]", "25 of 45 [55,6 %]")


def test_a_small_number_of_people_hides_all_of_its_column(tmp_path: Path) -> None:
    """Whether the header says it, too, or not."""
    rows = [["Outcome", "Drug", "Placebo (n=44)"], ["Death", "3/4 (75%)", "15/44 (34%)"]]
    rows += [["Stroke", "0/4 (0%)", "17/44 (39%)"], ["Fall", "2/4 (50%)", "22/44 (50%)"]]
    assert run(["protect", str(saved(tmp_path / "t.xlsx", rows)), "--hide-under", "6"]) == 0
    assert [row[1] for row in back(tmp_path / "t.safe.xlsx")[:4]] == ["Drug", "*", "*", "*"]
    rows[0][1] = "Drug (n=4)"
    assert run(["protect", str(saved(tmp_path / "h.xlsx", rows)), "--hide-under", "6"]) == 0
    assert [row[1] for row in back(tmp_path / "h.safe.xlsx")[:4]] == ["Drug (n=*)", "*", "*", "*"]


def test_different_numbers_of_people_are_refused_and_the_named_fix_works(tmp_path: Path) -> None:
    rows = [["Outcome", "Drug", "Placebo"], ["Death", "3 of 45", "5 of 44"], ["Stroke", "2 of 43", "7 of 44"]]
    with pytest.raises(InputError, match="'Numerator' and 'Denominator' below its header"):
        read_tables(saved(tmp_path / "t.xlsx", rows))
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    for row in (
        ["Outcome", "Drug", None, "Placebo", None],
        [None, "Numerator", "Denominator", "Numerator", "Denominator"],
        ["Death", 3, 45, 5, 44],
        ["Stroke", 2, 43, 7, 44],
        ["Fall", 12, 44, 9, 41],
    ):
        sheet.append(row)
    for cells in ("B1:C1", "D1:E1", "A1:A2"):
        sheet.merge_cells(cells)
    book.save(tmp_path / "fixed.xlsx")
    assert run(["protect", str(tmp_path / "fixed.xlsx"), "--hide-under", "6"]) == 0
    assert [row[1] for row in back(tmp_path / "fixed.safe.xlsx")[2:5]] == ["*", "*", 12]


def test_a_percentage_that_is_another_is_no_such_cell(tmp_path: Path) -> None:
    """A cell is taken for a count of a number only where its percentage says so, too."""
    rows = [["Outcome", "Drug"], ["Death", "3/45 (16.7%)"], ["Stroke", "2/45 (44%)"], ["Fall", "12/45 (2%)"]]
    with pytest.raises(InputError, match="texts that begin with a number"):
        read_tables(saved(tmp_path / "t.xlsx", rows))


def test_percentages_may_stand_beside_numbers_with_words(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        ["School", "Pupils", "% of all"],
        ["North", "14 pupils", 28.0],
        ["South", "4 pupils", 8.0],
    ]
    rows += [["West", "12 pupils", 24.0], ["East", "20 pupils", 40.0], ["Total", "50 pupils", 100.0]]
    assert run(["protect", str(saved(tmp_path / "t.xlsx", rows)), "--hide-under", "6"]) == 0  # type: ignore[arg-type]
    assert back(tmp_path / "t.safe.xlsx")[2:4] == [("South", "*", "*"), ("West", "*", "*")]
