"""What a message about a sheet asks for can be said in Python and on the command line."""

from __future__ import annotations

import ast
import re
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

import discreet.sheets
from discreet.cli import run, typed
from discreet.cli.sheet_reading import _OPTIONS
from discreet.errors import InputError
from discreet.sheets.reading_sheets import read_table
from tests.sheets.test_questions import Rows, book

FLAGS = {name if name != "cell_range" else "range": flag.split("/")[0] for name, (flag, _) in _OPTIONS.items()}
FLAGS["nested"] = "--no-nested"


def messages() -> list[tuple[str, str]]:
    """The constant parts of every error that reading a sheet can raise, with the file."""
    found = []
    for path in sorted(Path(discreet.sheets.__path__[0]).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "InputError":
                parts = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
                found.append((path.name, " ".join(parts)))
    return found


def test_every_option_in_a_message_stands_there_as_a_flag_too() -> None:
    """``leave=`` beside ``--leave``: whoever types a command does not know the arguments of Python."""
    known = [name for name in signature(read_table).parameters if name in FLAGS]
    texts = messages()
    assert len(texts) > 40
    lacking = [
        (file, name)
        for file, text in texts
        for name in known
        if re.search(rf"(?<![\w-]){name}=", text) and FLAGS[name] not in text
    ]
    assert not lacking


def test_a_magnitude_in_quotes_stays_as_it_is_on_the_command_line() -> None:
    """The words of the library are turned into flags only where nothing is quoted behind them."""
    assert typed("say what it is (value='turnover', --value turnover)") == (
        "say what it is (value='turnover', --value turnover)"
    )


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([["Area", "f"], ["N", 12], ["S", -4], ["W", 7]], r"negative.*'B3'.*--value"),
        ([["Area", "f"], ["N", "12,34,5"], ["S", "1,200"], ["W", "7.5"]], r"digits.*'B2'.*--thousands"),
        ([["Area", "f", "m"], ["N", 1.5, 2], ["S", 3.5, 4]], r"--percent.*--leave.*--measure.*--value turnover"),
    ],
)
def test_what_is_no_count_is_named_by_its_place_with_what_to_do(rows: Rows, words: str, tmp_path: Path) -> None:
    """Negative numbers, digits that are no number, decimals."""
    with pytest.raises(InputError, match=words):
        read_table(book(tmp_path, rows))


def test_a_column_of_text_can_be_left_aside_by_its_header(tmp_path: Path) -> None:
    """As the message on a column of words and numbers advises."""
    rows: Rows = [["Ward", "Female", "Male", "Comment"], ["Abbey", 71, 100, "checked"], ["Beacon", 49, 4, "late again"]]
    table = read_table(book(tmp_path, rows), leave="Comment")
    assert [d.codes for d in table.dimensions] == [("Abbey", "Beacon"), ("Female", "Male")]
    with pytest.raises(InputError, match=r"--leave\) names 'Coment'.*'Comment'"):
        read_table(book(tmp_path, rows), leave="Coment")


def test_the_name_of_the_index_below_a_header_is_no_label(tmp_path: Path) -> None:
    """As a Styler and ``to_html`` of pandas write it, with a name of the columns or without."""
    import pandas as pd

    counts = pd.DataFrame({"f": [20, 3, 23], "m": [9, 30, 39]}, index=pd.Index(["a", "b", "All"], name="Ward"))
    for name in (None, "Sex"):
        counts.columns.name = name
        for text in (counts.style.to_html(), counts.to_html()):
            (tmp_path / "t.html").write_text(text)
            rows = read_table(tmp_path / "t.html").dimensions[0]
            assert (rows.name, rows.leaves, rows.total, rows.groups) == ("Ward", ("a", "b"), "All", ())


def test_blanks_and_dashes_stay_and_the_note_says_what_is_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: Any
) -> None:
    """Cells that did not change are not touched; zeros are named where they are hidden; one cell is not "all"."""
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("Ward,Female,Male,Total\nAbbey,71,,71\nBeacon,49,4,53\nCastle,30,-,30\nAll,150,4,154\n")
    assert run(["protect", "t.csv", "--hide-under", "6"]) == 0
    assert [line.split(",")[2] for line in Path("t.safe.csv").read_text().splitlines()] == ["Male", "", "*", "-", "*"]
    Path("u.csv").write_text("Ward,n\nAbbey,71\nBeacon,4\nCastle,30\n")
    assert run(["protect", "u.csv", "--hide-under", "6", "--hide-zeros"]) == 0
    said = capfdbinary.readouterr().err.decode()
    assert "Counts from 0 to 5" in said
    assert "an audit of the one hidden cell found that it does not follow" in said
