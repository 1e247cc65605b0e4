"""Labels that count part of what another counts: the differences of their numbers are counts, and are protected."""

from __future__ import annotations

import csv
from itertools import pairwise
from pathlib import Path

import pytest

from discreet.cli import run
from discreet.errors import InputError
from discreet.sheets.reading_sheets import read_table, read_tables

GRADES = "Subject,Entries,A*-A,A*-B,A*-C\nArt,98,13,40,95\nMaths,170,36,100,166\nMusic,14,7,9,12\n"
STEPS = "Trust,Referred,Seen,Treated\nA,98,95,90\nB,170,166,120\nC,14,12,7\nD,55,55,44\n"
PUPILS = "School,Pupils,Pupils with a plan,Pupils in care\nA,98,95,20\nB,170,36,8\nC,44,12,7\nD,55,55,9\n"


def written(folder: Path, text: str) -> Path:
    (folder / "t.csv").write_text(text, encoding="utf-8")
    return folder / "t.csv"


def protected(folder: Path, text: str) -> list[list[str]]:
    source = written(folder, text)
    assert run(["protect", str(source), "--hide-under", "6"]) == 0
    with source.with_name("t.safe.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize(
    "headers",
    [
        ["Entries", "A*-C", "A*-B", "A*-A"],
        ["Total", "A*-C", "A*-B", "A*-A"],
        ["Pupils", "9-4", "9-5", "9-7"],
        ["All ages", "16+", "18+", "65+"],
        ["Attendances", "Over 2 hours", "Over 4 hours", "Over 12 hours"],
        ["Number of pupils", "Grade 4 or above", "Grade 5 or above", "Grade 7 or above"],
        ["Apr-Mar", "Apr-Dec", "Apr-Sep", "Apr-Jun"],
        ["Pupils", "1+ GCSEs", "3+ GCSEs", "5+ GCSEs"],
    ],
)
def test_no_small_difference_of_ranges_in_each_other_is_shown(headers: list[str], tmp_path: Path) -> None:
    """Of any two columns of which one is the next wider, one is hidden where few are in one and not the other."""
    lines = ["Art,98,95,40,13", "Maths,170,166,100,36", "Music,14,12,9,7"]
    for row in protected(tmp_path, "\n".join([",".join(["Subject", *headers]), *lines, ""]))[1:]:
        assert "*" in row
        shown = [(int(wide), int(narrow)) for wide, narrow in pairwise(row[1:]) if "*" not in (wide, narrow)]
        assert all(not 0 < wide - narrow < 6 for wide, narrow in shown)


def test_ranges_in_each_other_are_a_hierarchy_with_remainders(tmp_path: Path) -> None:
    """Whatever their order; the option that is named says that they are not."""
    path = written(tmp_path, GRADES)
    table = read_table(path)
    parts = {group.code: {part for part, _ in group.parts} for group in table.dimensions[1].groups}
    assert parts["A*-C"] == {"A*-B", "A*-C: not listed"}
    assert table.dimensions[1].total == "Entries"
    assert any("'Entries' counts all of 'A*-C'; total={'column': None}" in text for text in table.assumed)
    assert read_table(path, total={"column": None}).dimensions[1].groups == ()


@pytest.mark.parametrize(
    "text",
    [
        "Area,16+,18+,Total\nA,40,38,78\nB,70,66,136\nC,31,30,61\n",  # kinds of homes, which add up
        "Ward,2021,2022,2023\nX,40,43,60\nY,36,39,41\nZ,17,22,31\nV,30,33,34\n",
        "Ward,Males,Females\nX,40,43\nY,36,39\nZ,17,22\nW,90,99\n",
        "Area,Seen,Left\nNorth,40,12\nNorth-East,38,10\nNorth-West,17,9\nWest,90,31\n",
        "Subject,A*-C,A*-B\nArt,40,95\nMaths,100,36\n",  # no line confirms it
    ],
)
def test_labels_that_are_beside_each_other_are_not_nested(text: str, tmp_path: Path) -> None:
    """Numbers that add up, times, regions, and ranges that their numbers deny."""
    assert all(not dimension.groups for dimension in read_table(written(tmp_path, text)).dimensions)


def test_a_column_close_below_another_in_every_line_is_asked_about(tmp_path: Path) -> None:
    """Both options that the question names work: what is part of it is protected so, or nothing is part of another."""
    path = written(tmp_path, STEPS)
    with pytest.raises(InputError, match="of which Seen") as error:
        read_table(path)
    assert "--total column=" in str(error.value)
    assert read_table(path, total={"column": None}).table is not None
    rows = protected(tmp_path, STEPS.replace("Seen", "of which Seen").replace("Treated", "of which Treated"))
    assert [row[2] for row in rows[1:]] == ["*", "*", "*", "55"]


def test_parts_that_overlap_are_each_taken_from_the_whole(tmp_path: Path) -> None:
    """They come to more than all; what each of them leaves is a count."""
    assert len(read_tables(written(tmp_path, PUPILS))) == 2
    assert [row[2] for row in protected(tmp_path, PUPILS)[1:]] == ["*", "36", "12", "55"]
