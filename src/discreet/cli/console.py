"""The console a command runs in: how much is said, letters that it lacks, names that it garbles."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from io import TextIOWrapper

import click

from discreet.errors import InputError

LEVELS = ("debug", "info", "warning", "error")
_level = LEVELS.index("info")


def set_level(context: click.Context, option: click.Parameter, name: str) -> None:
    """From now on what is below this is not said; results and exit codes are the same."""
    global _level
    _level = LEVELS.index(name)
    logging.getLogger("discreet.compiling").setLevel(name.upper())


def heard(level: str) -> bool:
    """Whether words of a level are said."""
    return LEVELS.index(level) >= _level


def say(text: str, level: str = "info") -> None:
    """Words on stderr."""
    if heard(level):
        click.echo(text, err=True)


def prepare_console(arguments: Sequence[str]) -> None:
    """Let every character be printed on whatever console, and refuse arguments that were not understood.

    Files are written as bytes and keep all their characters; this is about words on a screen.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and not stream.encoding.lower().startswith("utf"):
            stream.reconfigure(errors="replace")
    for text in arguments:
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise InputError(
                "an argument has letters that the locale of this console does not have; set PYTHONUTF8=1, or a locale "
                "such as C.UTF-8"
            )
