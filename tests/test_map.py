"""The maintainers' map tells of every folder and of files that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.import_graph import HOME

ROOT = Path(__file__).parent.parent
MAP = ROOT / "docs/maintain/architecture.md"
SOLVER = ROOT / "docs/maintain/solver.md"
PLUMBING = {  # no technique of its own
    "method.py", "solve.py", "named.py", "model/roles.py", "model/earlier_tables.py", "model/independent_parts.py",
    "gauss/on_table.py",
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


def test_tests_stand_where_the_code_does() -> None:
    """Every folder of code has one of tests, with a test in it; papers and pages in a browser have their own."""
    tests = ROOT / "tests"
    code = {p.parent.relative_to(HOME) for p in HOME.rglob("*.py")}
    tested = {p.parent.relative_to(tests) for p in tests.rglob("test_*.py")}
    assert code == tested - {Path("papers"), Path("browser")}


@pytest.mark.parametrize("path", sorted((ROOT / "tests").rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT)))
def test_files_of_tests_are_short_enough_to_be_read(path: Path) -> None:
    """None is longer than 400 lines."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


WALKS = re.search(r"## Six walks(.*?)\n## ", MAP.read_text(), re.DOTALL)


@pytest.mark.parametrize("step", sorted(set(re.findall(r"`([\w/]+(?:\.\w+)?)`", WALKS[1] if WALKS else ""))))
def test_every_step_of_a_walk_exists(step: str) -> None:
    """A file or folder of the code and, behind the point, what stands in it."""
    path, _, name = step.partition(".")
    file = HOME / f"{path}.py"
    if not name:
        assert file.exists() or (HOME / path).is_dir()
        return
    body = ast.parse(file.read_text()).body
    assert name in {node.name for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
