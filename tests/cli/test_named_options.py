"""Every option that a message names is one of the command that says it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import openpyxl
import pytest

import discreet
from discreet.audits.joined.sheet_releases import PUBLISHED
from discreet.cli import run
from discreet.cli.application import app

SOURCE = Path(discreet.__file__).parent
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
ELSEWHERE = {"--porcelain", "--untracked-files", "--help"}  # of git, and of every command
BY_ROOM = {
    "sheets": ("protect", "show", "audit"),
    "sheets/rewrite": ("protect",),
    "sheets/same_layout.py": ("protect",),
    "audits": ("audit",),
    "release": ("audit",),
    "tables": ("audit",),
    "in_place": ("protect",),
}
"""Commands that come to the messages of a room."""
NOT_IN_AUDIT = "say totals='trust' (--totals trust) to keep them"
"""Of sheets that are read with --totals compute, which is not said of a published one."""
OTHER_COMMAND = re.compile(r"discreet \w+ [^;]*?--[a-z-]+|`[a-z]+ --[a-z-]+`")
"""A call of another command that a message tells."""


def options(group: click.Command = app, path: tuple[str, ...] = ()) -> Iterator[tuple[str, set[str]]]:
    """Every command with its options."""
    yield " ".join(path), {text for one in group.params for text in (*one.opts, *one.secondary_opts)}
    if isinstance(group, click.Group):
        for name in group.list_commands(click.Context(group)):
            command = group.get_command(click.Context(group), name)
            assert command is not None
            yield from options(command, (*path, name))


def room_of(file: Path) -> str:
    """The folder of a file, as far as the list above has it."""
    parts = file.relative_to(SOURCE).parts
    return "/".join(parts[:2]) if "/".join(parts[:2]) in BY_ROOM else parts[0]


def texts() -> Iterator[tuple[str, str]]:
    """Every text of the source but docstrings, with its room; a text in pieces is one."""
    for file in SOURCE.rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        plain = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        plain |= {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                parts = [part.value for part in node.values if isinstance(part, ast.Constant)]
                yield room_of(file), "".join(str(part) for part in parts)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in plain:
                yield room_of(file), node.value


def test_every_option_that_a_message_names_exists() -> None:
    """In any command; in those that come to the room where it stands."""
    of_command = dict(options())
    everything = set().union(*of_command.values()) | ELSEWHERE
    wrong = set()
    for room, text in texts():
        named = set(OPTION.findall(text))
        wrong |= {(room, name) for name in named - everything}
        own = set(OPTION.findall(OTHER_COMMAND.sub("", text)))
        for command in BY_ROOM.get(room, ()):
            said = text.replace(NOT_IN_AUDIT, "") if command == "audit" else text
            for before, after in PUBLISHED.items() if command == "audit" else ():
                said = said.replace(before, after)
            wrong |= {(command, name) for name in own & set(OPTION.findall(said)) if name not in of_command[command]}
    assert wrong == set()


TABLES = {
    "off": [["Area", "x", "y", "Total"], ["A", 10, 15, 30], ["B", 20, 5, 25], ["Total", 30, 20, 55]],
    "above": [["Area", "x"], ["North", 9], ["  A", 4], ["  B", 6], ["South", 5], ["Total", 14]],
    "mark": [["Area", "x", "y", "Total"], ["A", "?", 15, 30], ["B", 20, 5, 25], ["Total", 30, 20, 55]],
    "blank": [["Area", "x", "y"], ["A", None, 15], ["B", 20, 5]],
    "decimals": [["Area", "x", "y"], ["A", 1.5, 15], ["B", 20, 5]],
    "words": [["Area", "count", "y"], ["A", 1, 15], ["B", 20, 5]],
    "more": [["Area", "x", "y", "Total"], ["A", 10, 15, 20], ["B", 20, 5, 25], ["Total", 30, 20, 40]],
}


@pytest.mark.parametrize("command", ["audit", "show", "protect"])
@pytest.mark.parametrize("name", TABLES)
def test_what_a_refusal_names_can_be_said(
    tmp_path: Path, name: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of sheets that are refused, or asked about."""
    book = openpyxl.Workbook()
    for row in TABLES[name]:
        book.worksheets[0].append(row)
    book.save(tmp_path / "a.xlsx")
    more = ["--hide-under", "6", "-o", str(tmp_path / "out.xlsx")] if command == "protect" else []
    run([command, str(tmp_path / "a.xlsx"), *more])
    said = OTHER_COMMAND.sub("", capsys.readouterr().err)
    assert set(OPTION.findall(said)) <= dict(options())[command] | ELSEWHERE


@pytest.mark.parametrize("rounding", ["5", "5:random", "a.xlsx=5"])
def test_what_the_audit_says_of_sums_that_are_off_settles_it(tmp_path: Path, rounding: str) -> None:
    """--rounded, which the message names, reads the sheet."""
    book = openpyxl.Workbook()
    for row in TABLES["off"]:
        book.worksheets[0].append(row)
    book.save(tmp_path / "a.xlsx")
    assert run(["audit", str(tmp_path / "a.xlsx")]) == 2
    assert run(["audit", str(tmp_path / "a.xlsx"), "--rounded", rounding]) == 0
