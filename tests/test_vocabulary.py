"""The pages and the README use the words of the vocabulary, and none of those that it replaces."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
VOCABULARY = ROOT / "docs" / "vocabulary.md"
PAGES = [page for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))] if page != VOCABULARY]
ALLOWED = re.compile(r"\bthere\s+(?:is|are)\s+no\b|\b(?:is|are)\s+no\s+longer\b", re.I)
NOT_PROSE = re.compile(r"^```.*?^```|`[^`\n]*`|\]\([^)]*\)|^--8<--.*$", re.M | re.S)


def replaced_phrases() -> list[str]:
    """The second column of the vocabulary's table."""
    rows = [line.split(" | ") for line in VOCABULARY.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    return [phrase for row in rows[1:] for phrase in re.findall(r"`([^`]+)`", row[1])]


def lapses(text: str) -> list[str]:
    """The phrases that a text should not have, outside code and the targets of links."""
    prose = ALLOWED.sub("", NOT_PROSE.sub(" ", text))
    patterns = {phrase: r"\b" + r"\s+".join(map(re.escape, phrase.split())) + r"\b" for phrase in replaced_phrases()}
    return [phrase for phrase, pattern in patterns.items() if re.search(pattern, prose, re.I)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_keeps_to_the_vocabulary(page: Path) -> None:
    """No phrase of the second column."""
    assert not lapses(page.read_text(encoding="utf-8"))


def test_every_replaced_phrase_is_noticed() -> None:
    """Across a line break and in any case; not in code, in a target of a link, or where it is allowed."""
    phrases = replaced_phrases()
    assert len(phrases) == len(set(phrases)) > 20
    for phrase in phrases:
        assert phrase in lapses(f"So {phrase.upper()}.")
        assert phrase in lapses("So " + phrase.replace(" ", "\n") + ".")
        assert phrase not in lapses(f"So `{phrase}`.\n```text\n{phrase}\n```\n")
    assert not lapses("There is no such thing. It is no longer so. [audit](audit-what-is-out.md)")


@pytest.mark.parametrize(
    "word", ["layer", "header", "metadata", "non-dominated", "primary suppression", "mark", "release"]
)
def test_words_to_write_are_explained(word: str) -> None:
    """What the vocabulary asks for has a row in the glossary."""
    rows = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()
    assert any(row.startswith(f"| {word}") for row in rows)
