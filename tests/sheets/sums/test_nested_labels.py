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


def protected(folder: Path, text: str, *options: str) -> list[list[str]]:
    source = written(folder, text)
    assert run(["protect", str(source), "--hide-under", "6", *options]) == 0
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


OF_WHICH = "Area,{total},of which foreign,of which EU\nA,{a},44,41\nB,170,60,50\nC,144,30,20\n"


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("total", "a"), [("Total", 98), ("Residents", 98), ("Residents", 60)])
def test_a_second_part_that_may_be_part_of_the_first_is_protected_so(
    total: str, a: int, turned: bool, tmp_path: Path
) -> None:
    """44 - 41 would be those from elsewhere; also where both come to more than all, and in rows as in columns."""
    lines = [line.split(",") for line in OF_WHICH.format(total=total, a=a).splitlines()]
    lines = [list(line) for line in zip(*lines, strict=True)] if turned else lines
    rows = protected(tmp_path, "\n".join(",".join(line) for line in lines) + "\n")
    rows = [list(line) for line in zip(*rows, strict=True)] if turned else rows
    assert "*" in rows[1][2:]
    assert [row[1:] for row in rows[2:]] == [["170", "60", "50"], ["144", "30", "20"]]


def test_what_the_first_part_alone_leaves_is_protected(tmp_path: Path) -> None:
    """Of 97 all but 3 are foreign if those from the EU are some of these; what both leave is hidden by one of them."""
    rows = protected(tmp_path, "Area,Residents,of which foreign,of which EU\nA,97,94,2\nB,170,60,50\nC,144,30,20\n")
    assert "*" in rows[1][1:3]


def test_parts_that_exceed_each_other_somewhere_exclude_each_other(tmp_path: Path) -> None:
    """One table, as before."""
    text = "Area,Residents,of which A,of which B\nX,98,44,41\nY,170,20,50\n"
    assert len(read_tables(written(tmp_path, text))) == 1


def test_indented_parts_close_to_each_other_are_protected_too(tmp_path: Path) -> None:
    """Without the words "of which" numbers alone must show it."""
    text = "Group,North,South,East,West\nResidents,98,170,144,120\n  Foreign,44,70,60,52\n  Non-citizens,41,66,57,50\n"
    rows = protected(tmp_path, text, "--partly")
    assert all("*" in column[2:] for column in list(zip(*rows, strict=True))[1:])


def test_many_parts_that_may_be_parts_of_each_other_are_asked_about(tmp_path: Path) -> None:
    """Seven that fall: the question names what settles it, and both ways work."""
    counts = {f"of which P{k}": (90 - 9 * k, 80 - 8 * k) for k in range(7)}
    lines = ["Group,North,South", "Residents,998,870", *(f"{label},{a},{b}" for label, (a, b) in counts.items())]
    path = written(tmp_path, "\n".join(lines) + "\n")
    with pytest.raises(InputError, match=r"may be part of 'of which P3'.*--total Group="):
        read_tables(path)
    assert len(read_tables(path, total={"Group": None})) == 1
    plain = written(tmp_path, "\n".join(lines).replace("of which ", "  ") + "\n")
    assert len(read_tables(plain, partly=True)) == 1
