"""The pages of proofs: each has its parts, and names tests and files that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted(p for p in (ROOT / "docs/maintain/proofs").glob("*.md") if p.name != "index.md")
PARTS = ["Statement", "Proof", "Assumptions", "The test that would fail"]


def test_what_is_called_safe_has_its_page() -> None:
    """The seven claims, each in the index."""
    names = {p.stem for p in PAGES}
    assert names == {
        "weak-duality", "presolve", "modulo-a-prime", "witnesses", "guard", "keyed-order", "barrier",
    }  # fmt: skip
    index = (ROOT / "docs/maintain/proofs/index.md").read_text(encoding="utf-8")
    assert names == set(re.findall(r"\]\(([\w-]+)\.md\)", index))
    files = re.findall(r"`([\w/]+\.py)`", index)
    assert not [f for f in files if not (ROOT / "src/discreet" / f).exists() and not (ROOT / f).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_a_page_has_all_parts_and_its_tests_exist(page: Path) -> None:
    """Statement, proof, assumptions, and tests by file and name."""
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == PARTS
    tests = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text.partition(f"## {PARTS[-1]}")[2])
    assert len(tests) >= 2
    for file, name in tests:
        assert re.search(rf"^def {name}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE), f"{file}::{name}"
