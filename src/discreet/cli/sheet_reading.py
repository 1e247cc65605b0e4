"""Options that say how a table in a layout of its own is read, and the arguments of ``read_table`` that they are."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import click

from discreet.cli.option_texts import missing_of, total_of

_TEXTS = {"multiple": True, "metavar": "TEXT"}
_OPTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "sheets": ("--sheet", {"multiple": True, "metavar": "NAME", "help": "Only this sheet; repeatable."}),
    "text_sheets": (
        "--text-sheet",
        {"multiple": True, "metavar": "NAME", "help": "A sheet of notes: not read, its texts are kept; repeatable."},
    ),
    "cell_range": ("--range", {"metavar": "A3:F20", "help": "The cells of the sheet that hold the table."}),
    "header_rows": ("--header-rows", {"type": click.IntRange(0), "metavar": "N", "help": "Rows that are headers."}),
    "stub_columns": ("--stub-columns", {"metavar": "N|A,B", "help": "Columns of labels: how many, or their headers."}),
    "total": ("--total", {"multiple": True, "metavar": "[DIMENSION=]CODE", "help": "The total; DIMENSION= for none."}),
    "totals": (
        "--totals",
        {
            "type": click.Choice(["check", "compute", "trust"]),
            "help": "Whether totals are checked, recomputed or kept as given.",
        },
    ),
    "tolerance": ("--tolerance", {"type": click.FloatRange(0), "help": "How far a sum may differ, per part."}),
    "names": ("--names", {"metavar": "A,B", "help": "Names of the dimensions, in their order."}),
    "measure": (
        "--measure",
        {"multiple": True, "metavar": "HEADER", "help": "The header of the counts, beside other numbers."},
    ),
    "value": ("--value", {"metavar": "NAME", "help": "The numbers are sums of this magnitude, not counts."}),
    "decimal": ("--decimal", {"metavar": "SIGN", "help": "The sign before decimals."}),
    "thousands": ("--thousands", {"metavar": "SIGN", "help": "The sign between thousands."}),
    "blank": ("--blank", {"type": click.Choice(["zero", "hidden", "none"]), "help": "What blank cells mean."}),
    "zero": ("--zero", {**_TEXTS, "help": "A mark that means zero; repeatable."}),
    "suppressed": ("--suppressed", {**_TEXTS, "help": "A mark that means a hidden number: '*', '[low]=1-4'."}),
    "unavailable": ("--unavailable", {**_TEXTS, "help": "A mark for a number that is not available; repeatable."}),
    "flag": ("--flag", {**_TEXTS, "help": "What may stand behind a number without changing it: p, provisional."}),
    "missing": ("--missing", {"multiple": True, "metavar": "[DIMENSION=]CODE", "help": "Rows without a label."}),
    "percent": ("--percent", {"multiple": True, "metavar": "HEADER", "help": "A column of percentages; repeatable."}),
    "leave": (
        "--leave",
        {"multiple": True, "metavar": "HEADER", "help": "A column, or rows by their label, left out; repeatable."},
    ),
    "nested": ("--nested/--no-nested", {"default": None, "help": "Whether indents and columns show sums."}),
    "partly": ("--partly", {"is_flag": True, "help": "Parts of a sum may leave a remainder."}),
    "separator": ("--separator", {"metavar": "SIGN", "help": "The sign between fields of a CSV."}),
    "encoding": ("--encoding", {"metavar": "NAME", "help": "The encoding of a text file, such as cp1250."}),
}
READING_OPTIONS = tuple(_OPTIONS)
_RENAMED = {"cell_range": "range"}


def reading_options(*, without: Collection[str] = ()) -> Callable[[Any], Any]:
    """The options of ``read_table``, but for those that a command has already."""

    def add(command: Any) -> Any:
        for name, (flag, about) in reversed(_OPTIONS.items()):
            if name not in without:
                command = click.option(flag, name, **about)(command)
        return command

    return add


def reading_arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of ``read_tables`` that options say; those that were not given are left out.

    >>> reading_arguments({"cell_range": "A1:B2", "total": ("sex=All",), "blank": None, "zero": ()})
    {'range': 'A1:B2', 'total': {'sex': 'All'}}
    """
    arguments: dict[str, Any] = {}
    for name in _OPTIONS:
        value = given.get(name)
        if value is None or value == () or (value is False and name == "partly"):
            continue
        if name == "total":
            value = total_of(value)
        elif name == "suppressed":
            value = tuple(text.partition("=")[0] or text for text in value)  # an audit also takes what it may stand for
        elif name == "missing":
            value = missing_of(value)
        elif name == "stub_columns":
            value = int(value) if value.isdecimal() else tuple(part.strip() for part in value.split(","))
        elif name == "names":
            value = [part.strip() for part in value.split(",")]
        arguments[_RENAMED.get(name, name)] = value
    return arguments
