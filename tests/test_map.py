"""The maintainers' map tells of every folder and of files that exist."""

from __future__ import annotations

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.test_imports import HOME, ast, running

ROOT = Path(__file__).parent.parent
MAP = ROOT / "docs/maintain/architecture.md"
SOLVER = ROOT / "docs/maintain/solver.md"
PLUMBING = {  # no technique of its own
    "method.py", "solve.py", "named.py", "model/problem.py", "model/roles.py", "model/from_table.py",
    "model/earlier_tables.py", "model/components.py", "exact/optimal.py", "gauss/on_table.py", "model/solution.py",
}  # fmt: skip


def test_the_map_names_every_folder() -> None:
    """A folder without a line on the map is one that nobody finds."""
    named = set(re.findall(r"`([\w/.]+)`", MAP.read_text()))
    folders = {str(p.relative_to(HOME)) for p in HOME.rglob("*") if p.is_dir() and p.name != "__pycache__"}
    assert {"."} | folders <= named


def test_the_map_of_the_solver_names_files_that_exist() -> None:
    """Each technique leads to a file, and every file of suppression is on the map."""
    suppress = HOME / "methods" / "suppress"
    named = set(re.findall(r"`([\w/]+\.py)`", SOLVER.read_text()))
    missing = {n for n in named if not any((at / n).exists() for at in (suppress, HOME, ROOT / "src"))}
    assert not missing
    files = {str(p.relative_to(suppress)) for p in suppress.rglob("*.py") if p.name != "__init__.py"}
    assert files <= named | PLUMBING


@pytest.mark.parametrize("room", sorted(p.parent.name for p in HOME.glob("*/__init__.py")))
def test_no_circle_of_imports_inside_a_room(room: str) -> None:
    """What a module loads when it is loaded never leads back to it."""
    files = {".".join(p.relative_to(HOME.parent).with_suffix("").parts): p for p in (HOME / room).rglob("*.py")}
    graph: dict[str, set[str]] = {}
    for name, path in files.items():
        nodes = running(path)
        lazy = {id(n) for f in nodes if isinstance(f, ast.FunctionDef) for n in ast.walk(f)}
        graph[name] = set()
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and node.module and id(node) not in lazy:
                several = {f"{node.module}.{a.name}" for a in node.names}
                graph[name] |= ({node.module} | several) & set(files) - {name}
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(f"a circle of imports: {error.args[1]}")
