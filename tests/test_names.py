"""One name, one thing: no module, class or public function of the source has the name of another."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import discreet

HOME = Path(discreet.__file__).parent
FILES = sorted(HOME.rglob("*.py"))
# Rooms that do the same thing for another partner say it in the same words: two engines, and the front doors, where a
# command or a route has the name of what it calls.
BACKENDS = ("engines/duckdb/", "engines/ibis/")
DOORS = ("cli/",)
ADDRESSES = ("command", "group", "get", "post")  # decorators by which a command line or a server finds a function

# Names that two things have, and why that is right.
SHARED = {
    "_kernels": "compiled loops, private, beside the files of a room that call them",
    "checks": "what is wrong with records: counted by both engines, listed once above them",
    "to_bytes": "every format is a module with this one function",
    "read_codebook": "`formats.argus` reads the same from files of another program",
    "read_table": "the same of a table: `formats.argus` reads one from files of another program",
    "write": "users write a release to a file (`dc.write`), or a bundled data set (`dc.datasets.write`)",
    "run": "users run a programme; `cli.run` is the command line as a function; `deadline.run` keeps a limit",
    "check": "users check tables against each other; `deadline.check` raises when time is up",
    "intervals": "users draw intervals (`dc.plot.intervals`), which audits work out",
}


def place(path: Path) -> str:
    return path.relative_to(HOME).as_posix()


def is_address(node: ast.AST) -> bool:
    """Whether a function is a command or a route: found by its address, not by its name."""
    decorators = getattr(node, "decorator_list", [])
    called = [d.func for d in decorators if isinstance(d, ast.Call)]
    return any(isinstance(f, ast.Attribute) and f.attr in ADDRESSES for f in called)


def definitions(path: Path) -> Iterator[tuple[str, str]]:
    """Kind and name of everything public that a file defines for others, and the file's own name."""
    if path.stem not in ("__init__", "__main__"):
        yield "module", path.stem
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield "class", node.name
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not (
            node.name.startswith("_") or is_address(node)
        ):
            yield "function", node.name


def homes() -> Mapping[tuple[str, str], list[str]]:
    """Where each name is defined; the two engines count as one place, a command's module as none."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path in FILES:
        for kind, name in definitions(path):
            where = place(path)
            if kind == "module" and where.startswith(DOORS):
                continue
            where = next(("an engine" for room in BACKENDS if where.startswith(room)), where)
            if where not in found[kind, name]:
                found[kind, name].append(where)
    return found


@pytest.mark.parametrize("kind", ["module", "class", "function"])
def test_a_name_stands_for_one_thing(kind: str) -> None:
    """Twice is an error, unless the list above says why."""
    twice = {name: where for (of, name), where in homes().items() if of == kind and len(where) > 1}
    assert {name: where for name, where in twice.items() if name not in SHARED} == {}


def test_every_reason_is_needed() -> None:
    """What stands for one thing again leaves the list."""
    twice = {name for (_, name), where in homes().items() if len(where) > 1}
    assert {name for name in SHARED if name not in twice} == set()


def test_words_of_the_trade() -> None:
    """No module, class or function is called by a metaphor that the house has left behind."""
    gone = {"desk", "road", "ledger", "wafer", "wafers"}
    words = {
        (place(path), name)
        for path in FILES
        for _, name in definitions(path)
        for word in name.lower().split("_")
        if word in gone
    }
    assert words == set()
