"""Options that say how the numbers of published tables are written, and what marks stand for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.sheet_reading import reading_arguments, reading_options
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.tables.reading.number_cells import NumberSigns

MARKS = {
    "suppressed": (
        "MARK[=RANGE]",
        "Mark of a number that is not shown: '*', or '[low]=1-4' for one of these.",
    ),
    "zero": ("MARK", "Mark of a zero, such as '-'."),
    "unavailable": ("MARK", "Mark of a number that is not available, so that nothing is hidden."),
    "flag": (
        "MARK",
        "What may stand behind a number, or be its status, without changing it: p, provisional.",
    ),
}


def number_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Signs and marks, which ``signs_of`` takes together."""
    options: list[Callable[..., Any]] = [
        click.option("--decimal", help="The decimal sign of a CSV, . or a comma, where it is not clear."),
        click.option("--thousands", help="The sign between thousands in a CSV, where it is not clear."),
        *(click.option(f"--{name}", multiple=True, metavar=form, help=words) for name, (form, words) in MARKS.items()),
        click.option("--zeros-hidden", is_flag=True, help="<5 and * may be 0, too; 1 at least unless stated."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


SHEET = {
    "sheet": ("NAME", "Of a workbook, only this sheet; all that are shown unless stated."),
    "percent": (
        "HEADER[=OF]",
        "A column of percentages; in a list of cells, OF is the dimension whose total is 100, or all.",
    ),
    "mean": (
        "HEADER[=UNIT]",
        "A column of means, and what single values are multiples of: 1 for ages in years, 0 for any number.",
    ),
    "leave": ("HEADER", "Of a sheet, a column, or rows by their label, left out."),
}


OTHER = (
    *("sheets", "total", "totals", "tolerance", "measure", "decimal", "thousands", "blank", "percent", "leave"),
    *MARKS,
)
"""Options on sheets that are said otherwise of a published table, or not at all: it is judged as it stands."""


def layout_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What is said of a table in a layout of its own, which ``sheet_of`` takes together."""
    command = reading_options(without=OTHER)(command)
    words = "Of a sheet, what blank cells mean."
    command = click.option("--blank", type=click.Choice(["zero", "hidden", "none"]), help=words)(command)
    words = "The file that FILE is a protected copy of: its layout and sums are those of the copy."
    command = click.option("--original", type=click.Path(path_type=Path, dir_okay=False), help=words)(command)
    words = "Of a sheet, counts below N were to be hidden: what parts leave of a total may be known from N on."
    command = click.option("--hidden-under", type=click.IntRange(2), metavar="N", help=words)(command)
    for name, (form, text) in reversed(SHEET.items()):
        command = click.option(f"--{name}", multiple=True, metavar=form, help=text)(command)
    return command


def sheet_of(written: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of ``read_tables`` that ``layout_options`` say."""
    columns = [text for text in written["percent"] if "=" not in text]
    named = {"sheets": written["sheet"], "percent": columns, "leave": written["leave"]}
    said: dict[str, Any] = {name: list(texts) for name, texts in named.items() if texts}
    said |= reading_arguments({name: value for name, value in written.items() if name not in OTHER})
    more = {name: written[name] for name in ("blank", "original", "hidden_under") if written[name] is not None}
    return {**said, **more}


def percent_of(written: Mapping[str, Any]) -> dict[str, str]:
    """Columns of percentages in lists of cells and what each is a share of."""
    return dict(text.split("=", 1) for text in written["percent"] if "=" in text)


def mean_of(written: Mapping[str, Any]) -> dict[str, float | None]:
    """Columns of means and what single values behind them are multiples of, None where that is not said."""
    from discreet.tables.means import checked_unit

    parts = [text.rpartition("=") if "=" in text else (text, "", "") for text in written["mean"]]
    return {name: checked_unit(unit, f"--mean {name}") for name, _, unit in parts}


def signs_of(written: Mapping[str, Any], *, negative: bool = False) -> NumberSigns:
    """What ``number_options`` say."""
    from discreet.tables.reading.number_cells import NumberSigns
    from discreet.tables.reading.number_marks import NumberMarks

    stated: dict[str, str] = {}
    for name in MARKS:
        for text in written[name]:
            mark, equals, numbers = text.partition("=") if name == "suppressed" else (text, "", "")
            meaning = numbers if equals and mark else name
            mark = mark or text
            if stated.setdefault(mark, meaning) != meaning:
                raise InputError(f"the mark {mark!r} is said to stand for two things; say one of them")
    marks = NumberMarks(stated, zeros_hidden=written["zeros_hidden"], negative=negative)
    return NumberSigns(written["decimal"], written["thousands"], marks)


def said_options(written: Mapping[str, Any]) -> dict[str, Any]:
    """The options by name with what was said, for messages on those that have no use."""
    return {f"--{name.removeprefix('cell_').replace('_', '-')}": value for name, value in written.items()}
