"""The command line: argv to library calls. Data go to stdout or -o, words to stderr.

Exit codes: 0 done, 1 a verdict of fail or unknown (an audit, a programme), 2 wrong input, 3 refused by the policy, 4 an
edition of a cube was kept, 70 a fault of ours.
"""

from __future__ import annotations

import gc
import os
import platform
import re
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from discreet.base.version import described
from discreet.cli import (  # noqa: F401 - importing a file of commands adds them to the application
    admin,
    attack,
    audit,
    certificate,
    compiling,
    console,
    demo,
    policy,
    programme,
    protect,
    risk,
    serve,
    tables,
)
from discreet.cli.application import app
from discreet.cli.console import say
from discreet.errors import DiscreetError, DiscreetWarning, InputError, Refused

FAULT = 70
COLLECT = (200_000, 50, 50)
"""How often memory is searched for cycles: the cells of a large table are many objects that all stay, and the usual
search, every 700 of them, takes a fourth of the time of a command."""
EXTRAS = {
    "fastapi": "server", "starlette": "server", "jinja2": "server", "orjson": "server", "sqlalchemy": "server",
    "uvicorn": "server", "uvloop": "server", "httptools": "server", "psycopg": "postgresql", "pyscipopt": "optimal",
    "ibis": "ibis",
}  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Run, and turn every error into one line and an exit code."""
    gc.set_threshold(*COLLECT)
    sys.exit(run(arguments))


@contextmanager
def _notes() -> Iterator[None]:
    """What needs a look is a line on stderr, not a warning with a place in our source."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", DiscreetWarning)
        shown = warnings.showwarning

        def note(message: Warning | str, category: type[Warning], *rest: Any) -> None:
            if issubclass(category, DiscreetWarning):
                say(f"note: {message}", "warning")
            else:
                shown(message, category, *rest)

        warnings.showwarning = note  # type: ignore[assignment]
        yield


def typed(message: str) -> str:
    """A message of the library in the words of the command line, where an argument has an option of its name.

    >>> typed("name the counts (count=...) or a magnitude (value=...)"), typed("tabulate(..., top=3) keeps them")
    ('name the counts (--count COLUMN) or a magnitude (--value COLUMN)', '--top 3 keeps them')
    """
    message = re.sub(r"tabulate\(\.\.\., top=(\w+)\)", r"--top \1", message)
    message = re.sub(r"(?<![\w'\"-])(count|value)=\.\.\.", r"--\1 COLUMN", message)
    return re.sub(r"(?<![\w'\"-])(value|top)=(?!')(\d*)", lambda m: f"--{m[1]} {m[2]}".rstrip(), message)


def run(arguments: Sequence[str] | None = None) -> int:
    """Like main, but returns the exit code."""
    began = time.perf_counter()
    try:
        console.prepare_console(sys.argv[1:] if arguments is None else arguments)
        with _notes():
            code = app.main(
                args=None if arguments is None else list(arguments), prog_name="discreet", standalone_mode=False
            )
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        say(f"discreet: {error.format_message()}", "error")
        return 2
    except click.Abort:
        say("discreet: stopped", "error")
        return 130
    except Refused as error:
        say(f"refused: {typed(str(error))}", "error")
        return error.exit_code
    except DiscreetError as error:
        say(f"discreet: {typed(str(error))}", "error")
        return error.exit_code
    except BrokenPipeError:  # the reader went away, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # a traceback or its message could hold a value
        name = str(getattr(error, "name", None)).partition(".")[0]
        if isinstance(error, ModuleNotFoundError) and name in EXTRAS:
            cure = f"pip install 'discreet[{EXTRAS[name]}]'"
            say(f"discreet: this needs {name!r}, which is not installed: {cure}", "error")
            return InputError.exit_code
        if os.environ.get("DISCREET_TRACEBACK"):
            raise
        at = error.__traceback__
        while at and at.tb_next:
            at = at.tb_next
        place = f"{Path(at.tb_frame.f_code.co_filename).name}:{at.tb_lineno}" if at else "?"
        say(
            f"discreet: a fault ({type(error).__name__} at {place}); its message may hold data, so it is withheld. "
            "DISCREET_TRACEBACK=1 shows it",
            "error",
        )
        return FAULT
    finally:
        if console.heard("debug"):
            took = time.perf_counter() - began
            say(f"debug: {described()}, Python {platform.python_version()}, {took:.2f} s", "debug")
