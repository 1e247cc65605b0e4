"""Percentages without counts, beside those of whom they are: read as counts, protected and written back as such."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.cli import run
from discreet.errors import InputError, Refused
from discreet.in_place.contents import HiddenMarks
from discreet.in_place.sheet_files import ProtectedFile, protect_file, write_in_place
from discreet.methods.suppress.method import Suppress
from discreet.rules import Threshold
from discreet.sheets.reading_sheets import read_table, read_tables
from discreet.sheets.sheet_grid import CellPlace

ANSWERS, AREAS = ("Good", "Fair", "Poor"), ("North", "South", "East")
Rows = list[list[Any]]


def saved(path: Path, rows: Rows) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.worksheets[0].append(row)
    book.save(path)
    return path


def laid(inner: np.ndarray, numbers: np.ndarray, where: str) -> Rows:
    """A sheet of answers by area with the people of each area in a row, in the headers, or (turned) in a column."""
    sizes = inner.sum(axis=0).tolist()
    body = [[answer, *own] for answer, own in zip(ANSWERS, numbers.tolist(), strict=True)]
    if where == "headers":
        heads = [f"{area} (n={size})" for area, size in zip(AREAS, sizes, strict=True)]
        return [["Health, % of respondents"], ["Health", *heads], *body]
    if where == "row":
        return [["Health, % of respondents"], ["Health", *AREAS], *body, ["N", *sizes]]
    heads = [f"{answer} %" for answer in ANSWERS]
    rows = [[area, *own, size] for area, own, size in zip(AREAS, numbers.T.tolist(), sizes, strict=True)]
    return [["Area", *heads, "N"], *rows]


inner_counts = st.lists(st.lists(st.integers(0, 60), min_size=3, max_size=3), min_size=3, max_size=3)


@settings(max_examples=40, deadline=None)
@given(inner_counts, st.sampled_from(["headers", "row", "column"]), st.sampled_from([1, 2]))
def test_percentages_are_hidden_where_their_counts_are(
    tmp_path_factory: pytest.TempPathFactory, cells: list[list[int]], where: str, decimals: int
) -> None:
    """The same pattern as that of the table of counts; what stays is as it was, and a count is its percentage."""
    inner = np.array(cells)
    assume((inner.sum(axis=0) > 0).all())
    folder = tmp_path_factory.mktemp("shares")
    shares = np.round(100 * inner / inner.sum(axis=0), decimals)
    turned = where == "column"
    source = saved(folder / "percent.xlsx", laid(inner, shares, where))
    apart = {"total": {"Area" if turned else "column": None}}  # areas that are sums of others by chance
    read, *others = read_tables(source, total=apart["total"])
    assume(not others)  # answers that nobody gave may be of variables of their own
    names = [d.name for d in read.dimensions]
    values = {tuple(row[:-1]): row[-1] for row in read.table.cells[[*names, "count"]].itertuples(index=False)}
    for codes, own in read.places.items():
        if own and own[0] in read.counted:
            answer, area = codes[::-1] if turned else codes
            assert values[codes] == inner[ANSWERS.index(answer.removesuffix(" %")), AREAS.index(area)]
    try:
        done = protect_file(source, Suppress(Threshold(n=6)), reading=apart)
    except Refused:
        return
    except InputError as error:
        if "stock" not in str(error):  # small numbers may grow and fall by others by chance
            raise
        return
    write_in_place(done, folder / "safe.xlsx", HiddenMarks("*", "*"), "")
    hidden = hidden_places(done)
    before, now = (openpyxl.load_workbook(path).worksheets[0] for path in (source, folder / "safe.xlsx"))
    for place, share in done.sheets[0].counted.items():
        at = (place.row, place.column)
        assert now.cell(*at).value == ("*" if {place, share.base} & hidden else before.cell(*at).value)
    small = (inner > 0) & (inner < 6)
    marks = np.array([[cell.value == "*" for cell in row] for row in now.iter_rows(2 if turned else 3, 5)])
    grid = marks[:3, 1:4].T if turned else marks[:3, 1:4]
    assert grid[small].all()


def hidden_places(done: ProtectedFile) -> set[CellPlace]:
    """Where hidden counts stand."""
    at = [own.places_in(one.table.layout) for own, one in zip(done.sheets, done.done, strict=True)]
    flags = [one.hidden.tolist() for one in done.done]
    return {
        place
        for places, gone in zip(at, flags, strict=True)
        for own, flag in zip(places, gone, strict=True)
        if flag
        for place in own
    }


def test_a_protected_copy_is_read_like_its_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rows and columns of nothing but marks are hidden counts; the audit needs no original."""
    rows: Rows = [["Area", "Good %", "Fair %", "Poor %", "N"]]
    rows += [["North", 60.0, 33.3, 6.7, 45], ["South", 57.8, 40.0, 2.2, 45], ["East", 71.4, 21.4, 7.1, 42]]
    assert run(["protect", str(saved(tmp_path / "t.xlsx", rows)), "--hide-under", "6"]) == 0
    assert run(["audit", str(tmp_path / "t.safe.xlsx"), "--suppressed", "*"]) == 0
    told = capsys.readouterr()
    assert "6 open" in told.out + told.err
    copy = list(openpyxl.load_workbook(tmp_path / "t.safe.xlsx").worksheets[0].iter_rows(2, 4, values_only=True))
    assert copy == [("North", 60, "*", "*", 45), ("South", 57.8, "*", "*", 45), ("East", 71.4, "*", "*", 42)]


def test_several_answers_are_parts_of_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each answer leaves a remainder; the audit of a copy says by which option that is told."""
    rows: Rows = [["Symptoms, %"], ["Symptom", "Boys", "Girls"], ["Cough", 70.5, 75.2], ["Fever", 60.3, 57.0]]
    rows += [["Rash", 1.3, 1.3], ["Base (n)", 312, 298]]
    source = saved(tmp_path / "t.xlsx", rows)
    tables = read_tables(source)
    assert [t.dimensions[0].name for t in tables] == ["Cough", "Fever", "Rash"]
    assert run(["protect", str(source), "--hide-under", "6"]) == 0
    audit = ["audit", str(tmp_path / "t.safe.xlsx"), "--suppressed", "*"]
    assert run(audit) == 1  # as if fever and rash were all that there is: both tables are judged
    assert "--partly" in capsys.readouterr().err
    assert run([*audit, "--partly"]) == 0
    assert run([*audit, "--original", str(source)]) == 0


def test_frames_and_other_methods_write_percentages_of_what_is_published() -> None:
    """Rounded counts give other percentages; a total of 100 % is no count of its own."""
    shares = pd.DataFrame({"Good %": [60.0, 57.8], "Poor %": [40.0, 42.2], "All %": [100, 100], "N": [45, 45]})
    shares.index = pd.Index(["North", "South"], name="Area")
    safe = dc.round_counts(shares, base=10, how="nearest")
    assert safe["N"].tolist() == [50, 50]
    assert safe["Good %"].tolist() == [60.0, 60.0]
    assert safe["All %"].tolist() == [100, 100]


def test_what_is_no_whole_number_is_refused_and_the_named_fix_works(tmp_path: Path) -> None:
    """More decimals where several counts may be meant; without a base the message says where to write it."""
    title: Rows = [["Health, %"]]
    bare: Rows = [*title, ["Health", "North", "South"], ["Good", 60, 58], ["Fair", 33, 40], ["Poor", 7, 2]]
    with pytest.raises(InputError, match=r"'Boys \(n=312\)'"):
        read_table(saved(tmp_path / "bare.xlsx", bare))
    based = [*title, ["Health", "North (n=450)", "South (n=445)"], *bare[2:]]
    with pytest.raises(InputError, match="write them with 1 decimal in place of 0"):
        read_table(saved(tmp_path / "based.xlsx", based))
    exact = [*based[:2], ["Good", 60.0, 58.0], ["Fair", 33.3, 40.0], ["Poor", 6.7, 2.0]]
    assert read_table(saved(tmp_path / "exact.xlsx", exact)).table.n == 895
    weighted = [*title, ["Health", "North (n=45)", "South (n=44)"], ["Good", 60.1, 58.0], ["Fair", 39.9, 42.0]]
    with pytest.raises(InputError, match="no whole number of people"):
        read_table(saved(tmp_path / "weighted.xlsx", weighted))


def test_counts_beside_a_number_of_people_stay_counts(tmp_path: Path) -> None:
    """Whole numbers that add up to the base are no percentages, whatever the title says."""
    rows: Rows = [["Per cent or not"], ["Health", "North (n=100)", "South (n=50)"], ["Good", 60, 30], ["Poor", 40, 20]]
    table = read_table(saved(tmp_path / "t.xlsx", rows))
    assert (table.table.n, dict(table.counted)) == (150, {})


@pytest.mark.parametrize(
    ("rows", "hidden"),
    [
        (  # a row of numbers in brackets below the headers
            [
                ["Satisfied, %"],
                [None, "Men", "Women"],
                ["(n)", "(46)", "(51)"],
                ["Yes", "80.4", "94.1"],
                ["No", "19.6", "5.9"],
            ],
            ["94.1", "5.9"],
        ),
        (  # no word of percentages, and all of them add up to 100
            [
                ["Area", "For", "Open", "Against", "Total", "N"],
                ["North", 60.0, 33.3, 6.7, 100, 45],
                ["South", 57.8, 40.0, 2.2, 100, 45],
            ],
            [33.3, 6.7, 40.0, 2.2],
        ),
        (  # several answers, of which the first header alone speaks
            [["Event, %", "Treated (n=60)", "Control (n=58)"], ["Headache", 25.0, 20.7], ["Nausea", 11.7, 5.2]],
            [5.2],
        ),
    ],
    ids=["brackets", "all", "events"],
)
def test_bases_as_people_write_them(rows: Rows, hidden: list[Any], tmp_path: Path) -> None:
    """What is not hidden stays as it was, the number of people too."""
    assert run(["protect", str(saved(tmp_path / "t.xlsx", rows)), "--hide-under", "6"]) == 0
    written = openpyxl.load_workbook(tmp_path / "t.safe.xlsx").worksheets[0]
    for row, now in zip(rows, written.iter_rows(values_only=True), strict=False):
        for before, after in zip(row, now, strict=False):
            assert after == ("*" if before in hidden else before)
