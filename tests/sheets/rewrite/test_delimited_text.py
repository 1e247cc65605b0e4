"""A text file comes back byte for byte, but for the fields that change."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.sheets.rewrite.delimited_text import fields_of
from discreet.sheets.rewrite.notices import REPEATED
from discreet.sheets.same_layout import write_same

FIELD = st.text(st.sampled_from('ab1 ,;"\n\r.'), max_size=5)


def everything(rows: int = 20, columns: int = 12) -> set[tuple[str, int, int]]:
    return {("", row, column) for row in range(1, rows) for column in range(1, columns)}


def once(text: str) -> str:
    """As every reader of text takes it."""
    return text.replace("\r\r\n", "\r\n")


@given(
    st.lists(st.lists(FIELD, min_size=1, max_size=4), max_size=5),
    st.sampled_from(",;"),
    st.sampled_from(["\n", "\r\n"]),
)
@example([["\r\r"], [""]], ",", "\n")
def test_fields_are_those_of_the_csv_reader(rows: list[list[str]], separator: str, end: str) -> None:
    """By row and column, however lines end and fields are quoted; line ends turned to Windows' twice count once."""
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter=separator, lineterminator=end).writerows(rows)
    text = buffer.getvalue()
    expected = {
        (r, c): field
        for r, row in enumerate(csv.reader(io.StringIO(once(text), newline=""), delimiter=separator), 1)
        for c, field in enumerate(row, 1)
    }
    assert {(f.row, f.column): once(f.value) for f in fields_of(text, separator, "x")} == expected


@given(
    st.lists(st.lists(FIELD, min_size=2, max_size=4), min_size=1, max_size=5),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_nothing_changes_where_everything_is_shown(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]], encoding: str
) -> None:
    """To the last byte."""
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows(rows)
    data = buffer.getvalue().encode(encoding)
    target = tmp_path_factory.mktemp("text") / "out.csv"
    write_same(data, target, {}, shown=everything(), separator=",")
    assert target.read_bytes() == data


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (b"ward,n\nNorth,3\nEast,40\n", b"ward,n\nNorth,*\nEast,50\n"),
        (b"ward;n\r\nNorth;3,0\r\nEast;1.240,5\r\n", b"ward;n\r\nNorth;*\r\nEast;50,0\r\n"),
        (b'"ward"\t"n"\n"North"\t"3"\n"East"\t"1,240"', b'"ward"\t"n"\n"North"\t"*"\n"East"\t"50"'),
        (b"\xef\xbb\xbfward,n\nNorth, 3 \nEast,  40\n", b"\xef\xbb\xbfward,n\nNorth, * \nEast,  50\n"),
        (b"d\xe9j\xe0 \x81,n\nNorth,3\nEast,40.00%\n", b"d\xe9j\xe0 \x81,n\nNorth,*\nEast,50.00%\n"),
        ("ward|n\rNorth|3\rEast|1 240\r".encode("utf-16"), "ward|n\rNorth|*\rEast|50\r".encode("utf-16")),
    ],
)
def test_separators_encodings_quotes_and_line_ends_stay(tmp_path: Path, source: bytes, target: bytes) -> None:
    """And decimals, blanks around fields and percent signs."""
    (tmp_path / "in.csv").write_bytes(source)
    write_same(tmp_path / "in.csv", tmp_path / "out.csv", {("", 2, 2): "*", ("", 3, 2): 50}, shown=())
    assert (tmp_path / "out.csv").read_bytes() == target


def test_numbers_that_were_judged_by_nobody_are_blanked(tmp_path: Path) -> None:
    """And sentences that repeat a hidden one, large or small; the number of a table is none."""
    source = b'ward,n,copy\nNorth,1234567,1234567\n\n"North had 1,234,567.",,\nTable 3,3,Of them 3 men\n'
    done = write_same(source, tmp_path / "out.csv", {("", 2, 2): "*", ("", 5, 2): "*"}, shown=())
    assert done.path.read_bytes() == b'ward,n,copy\nNorth,*,\n\n"",,\nTable 3,*,\n'
    assert done.left_out == (
        "numbers outside the tables that were understood are blanked: C2",
        f"{REPEATED}: A4, C5",
    )


def test_a_note_stands_where_notes_are(tmp_path: Path) -> None:
    """Not below a table alone, where a program would take it for data."""
    for source, end in (
        (b"a,b\nx,3\n", b""),
        (b"People\na,b\nx,3\n", b'"* = c, hidden",\n'),
        (b"a,b\nx,3\nSource: us", b'\n"* = c, hidden"'),
    ):
        row = source.split(b"\n").index(b"x,3") + 1
        done = write_same(source, tmp_path / "out.csv", {("", row, 2): "*"}, shown=(), note="* = c, hidden")
        assert done.path.read_bytes() == source.replace(b"x,3", b"x,*") + end
        assert bool(end) != any("the note" in line for line in done.left_out)


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    """A quotation mark left open, bytes that are no text, a cell that is not there."""
    for data, message in ((b'a,"b\n', "left open"), (b"a\0b", "not a text file"), (b"a,b\n", "are not in the file")):
        with pytest.raises(InputError, match=message):
            write_same(data, tmp_path / "out.csv", {("", 9, 9): "*"}, shown=())


def test_an_encoding_that_is_named_holds(tmp_path: Path) -> None:
    """Also one in which a byte of a letter looks like the separator."""
    source = "ソ|n\n北|3\n".encode("shift_jis")
    assert source.count(b"|") == 2
    tricky = "ポ|n\n北|3\n".encode("shift_jis")  # its first letter ends with the byte of the separator
    assert tricky.count(b"|") == 3
    for data in (source, tricky):
        done = write_same(data, tmp_path / "out.csv", {("", 2, 2): "*"}, shown=(), encoding="shift_jis", separator="|")
        assert done.path.read_bytes() == data.replace(b"|3\n", b"|*\n")
    for encoding, message in (("nonsense", "is not written in"), ("ascii", "is not written in")):
        with pytest.raises(InputError, match=message):
            write_same(source, tmp_path / "out.csv", {("", 2, 2): "*"}, shown=(), encoding=encoding)
