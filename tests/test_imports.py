"""The house plan: imports only go up this list, and importing stays quick."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import discreet

HOME = Path(discreet.__file__).parent
ORDER = [
    "errors", "base", "engines", "data", "tables", "information", "utility", "plot", "release", "rules", "population",
    "linear", "risk", "audits", "methods", "formats", "parts", "policy", "publishing", "datasets", "server", "cli",
    "__main__",
]  # fmt: skip


def running(path: Path) -> list[ast.AST]:
    """Everything in a file that runs: what stands under TYPE_CHECKING does not."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
    return list(ast.walk(tree))


def imports(path: Path) -> set[str]:
    """The rooms a file imports from, wherever in the file it does."""
    found = set()
    for node in running(path):
        if isinstance(node, ast.ImportFrom) and node.module == "discreet":
            found |= {alias.name for alias in node.names} & set(ORDER)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("discreet."):
            found.add((node.module or "").split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {a.name.split(".")[1] for a in node.names if a.name.startswith("discreet.")}
    return found


@pytest.mark.parametrize("path", sorted(HOME.rglob("*.py")), ids=lambda p: str(p.relative_to(HOME)))
def test_imports_only_go_up_the_list(path: Path) -> None:
    """A room uses only what stands before it."""
    room = path.relative_to(HOME).parts[0].removesuffix(".py")
    if room == "__init__":
        return
    assert room in ORDER, "a new room needs its place in the plan"
    assert not {name for name in imports(path) - {room} if ORDER.index(name) > ORDER.index(room)}


def test_only_plot_imports_matplotlib() -> None:
    """Everything else works without a drawing library being loaded."""
    users = {
        path.stem
        for path in HOME.rglob("*.py")
        for node in running(path)
        if isinstance(node, (ast.Import, ast.ImportFrom)) and "matplotlib" in ast.unparse(node)
    }
    assert users <= {"plot"}


def test_importing_loads_nothing_heavy() -> None:
    """`import discreet` and `discreet --help` wait for no data frame, database or compiler."""
    heavy = ("pandas", "duckdb", "numba", "matplotlib", "scipy", "highspy", "pyarrow")
    code = f"import sys, discreet, discreet.cli; print([m for m in {heavy} if m in sys.modules])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "[]"


def test_every_public_name_is_there() -> None:
    """What __all__ promises can be had, and the rest is a plain AttributeError."""
    assert all(getattr(discreet, name) is not None for name in discreet.__all__)
    assert set(discreet.__all__) == set(discreet._HOME)
    with pytest.raises(AttributeError):
        discreet.nonsense  # noqa: B018
