"""The papers' words are in the glossary, and whoever is named is in the list of papers."""

from __future__ import annotations

from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
WORDS: tuple[str, ...] = ()
WORDS += (
    "hypercube",
    "a posteriori",
    "collusion",
    "nondisclosive unknown",
    "gad",
    "wgad",
    "sap",
    "pólya",
    "unique",
)
WORDS += ("t-rule", "dr (of odf03", "dr (of psd14", "preliminary rules", "dr_rank", "dr_k-contr", "dr_m-group")
WORDS += ("dr_approx", "dr_min", "coalition", "population unique", "sample unique", "fréchet bounds")
NAMES: tuple[str, ...] = ()
NAMES += (
    "Skinner and D. J. Holmes",
    "Bethlehem",
    "Takemura",
    "Elamir",
    "Skinner and N. Shlomo",
    "Samuels",
    "Frank, ",
)
NAMES += (
    "Smith and M. J. Elliot",
    "Duncan",
    "Fraser and J. Wooton",
    "Buzzigoli and A. Giusti",
    "Willenborg and T. de Waal",
)
NAMES += ("1978", "Fienberg, U. E. Makov and R. J. Steele", "Dobra", "Gouweleeuw", "Hundepool")


@pytest.mark.parametrize("word", WORDS)
def test_glossary(word: str) -> None:
    """A row of its own, or within the row that explains it."""
    rows = [line for line in (DOCS / "glossary.md").read_text().splitlines() if line.startswith("| ")][1:]
    assert any(word in row.lower() for row in rows)


def test_the_glossary_explains_every_row() -> None:
    """No word twice, none without a meaning."""
    rows = [line.split("|") for line in (DOCS / "glossary.md").read_text().splitlines() if line.startswith("| ")][1:]
    words = [row[1].strip() for row in rows]
    assert len(set(words)) == len(words) > 80
    assert all(len(row[2].strip()) > 3 for row in rows)


@pytest.mark.parametrize("name", NAMES)
def test_references(name: str) -> None:
    """Used by name somewhere, listed here."""
    assert name in (DOCS / "references.md").read_text()
