"""docs/papers.md: 157 items, each with names that can be imported and tests that exist and stand on their own."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROWS = [
    [cell.strip() for cell in line.strip("|\n").split("|")]
    for line in (HERE.parents[1] / "docs" / "papers.md").read_text().splitlines()
    if re.match(r"\| \d", line)
]
# what may be imported here: rooms with a page of their own in the reference, never a module of the implementation
PUBLIC = {
    "discreet", "discreet.audits", "discreet.cli", "discreet.cli.serve", "discreet.data.codebook",
    "discreet.information", "discreet.methods.redesign", "discreet.policy", "discreet.population", "discreet.risk",
    "discreet.risk.intruder", "discreet.rules", "discreet.server", "discreet.server.counting",
    "discreet.server.counting.counting", "discreet.server.pages",
    "discreet.server.guarding.guard", "discreet.server.record.record_lines", "discreet.utility",
}  # fmt: skip


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_all_items_are_there() -> None:
    """Numbered 1 to 157, none twice, each with a paper, a name and a test."""
    assert [int(row[0]) for row in ROWS] == list(range(1, 158))
    assert all(
        len(row) == 6 and row[1] and row[3] and names(row[4]) and (names(row[5]) or row[5] == "not yet") for row in ROWS
    )


@pytest.mark.parametrize("name", sorted({n for row in ROWS for n in names(row[4])}))
def test_every_name_can_be_imported(name: str) -> None:
    """From the package, or from a public room of it."""
    parts = name.split(".")
    assert not any(part.startswith("_") for part in parts)
    found: Any = importlib.import_module("discreet")
    for k, part in enumerate(parts):
        if not hasattr(found, part):
            found = importlib.import_module("discreet." + ".".join(parts[: k + 1]))
        else:
            found = getattr(found, part)
    assert callable(found) or isinstance(found, (dict, tuple, list))


def test_every_test_exists() -> None:
    """By its file and name, as a function that asserts something."""
    written = {}
    for path in HERE.glob("test_*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                written[f"{path.stem}::{node.name}"] = any(isinstance(n, ast.Assert) for n in ast.walk(node))
    missing = {t for row in ROWS for t in names(row[5]) if not written.get(t)}
    assert not missing


@pytest.mark.parametrize("path", sorted(HERE.glob("*.py")), ids=lambda p: p.stem)
def test_only_public_names_are_imported(path: Path) -> None:
    """What is under test, nothing that it is made of; and files stay short enough to be read."""
    text = path.read_text()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("discreet"):
            assert node.module in PUBLIC, ast.unparse(node)
            assert not any(alias.name.startswith("_") for alias in node.names)
        elif isinstance(node, ast.Import):
            assert all(a.name in PUBLIC for a in node.names if a.name.startswith("discreet"))
    assert len(text.splitlines()) <= 400
