"""Tuning is values: no module of a search has numbers of its own, and every value steers something."""

from __future__ import annotations

import ast
import re
from dataclasses import fields
from pathlib import Path

import pytest

from discreet.methods.suppress.model.tuning import DEFAULT
from tests.import_graph import HOME

SUPPRESS = HOME / "methods" / "suppress"
FILES = sorted(path for path in SUPPRESS.rglob("*.py") if path.stem != "tuning")
CODES = {
    "gauss/_kernel.py",
    "gauss/_kernel_questions.py",
    "model/singletons.py",
    "suppressed.py",
}  # kinds by number, and a width in print


def numbers(node: ast.expr) -> bool:
    """Whether an expression is a number, or several."""
    if isinstance(node, ast.Tuple):
        return any(numbers(element) for element in node.elts)
    if isinstance(node, ast.UnaryOp):
        return numbers(node.operand)
    if isinstance(node, ast.BinOp):
        return numbers(node.left) or numbers(node.right)
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SUPPRESS)))
def test_no_module_has_numbers_of_its_own(path: Path) -> None:
    """What steers a search is in one place, where it is said what it was chosen on."""
    own = [
        ast.unparse(node)
        for node in ast.parse(path.read_text()).body
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None and numbers(node.value)
    ]
    assert own == [] or str(path.relative_to(SUPPRESS)) in CODES


@pytest.mark.parametrize("room", [field.name for field in fields(DEFAULT)])
def test_every_value_is_used(room: str) -> None:
    """A value that nothing reads would say something about the search that is not so."""
    source = "".join(path.read_text() for path in FILES)
    unused = [f.name for f in fields(getattr(DEFAULT, room)) if not re.search(rf"\.{f.name}\b", source)]
    assert unused == []
