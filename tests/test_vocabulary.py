"""Pages, README, messages and help use the words of the vocabulary, and none of those that it replaces."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import discreet as dc
from discreet.cli.application import app
from tests.import_graph import HOME

ROOT = Path(__file__).parents[1]
VOCABULARY = ROOT / "docs" / "vocabulary.md"
PAGES = [page for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))] if page != VOCABULARY]
ALLOWED = re.compile(r"\bthere\s+(?:is|are)\s+no\b|\b(?:is|are)\s+no\s+longer\b", re.I)
NOT_PROSE = re.compile(r"^```.*?^```|``[^`]*``|`[^`\n]*`|\]\([^)]*\)|^--8<--.*$", re.M | re.S)


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
    assert not lapses("There is no such thing. It is no longer so. [audit](what-is-out.md)")


def messages(tree: ast.AST) -> Iterator[str]:
    """Sentences of a module that a user may read: texts of more than one word; docstrings are apart, names are code."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # of fields, too
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "`x`" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            text = node.value
        else:
            continue
        if " " in text.strip():
            yield text


@pytest.mark.parametrize("path", sorted(HOME.rglob("*.py")), ids=lambda path: str(path.relative_to(HOME)))
def test_messages_keep_to_the_vocabulary(path: Path) -> None:
    """Errors, notes, warnings, help of options: no phrase of the second column."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert {text: found for text in messages(tree) if (found := lapses(text))} == {}


@pytest.mark.parametrize("path", sorted(HOME.rglob("*.html")), ids=lambda path: path.name)
def test_pages_of_the_server_keep_to_the_vocabulary(path: Path) -> None:
    """What stands between the tags."""
    text = re.sub(r"\{[{%].*?[%}]\}|<[^>]*>", " ", path.read_text(encoding="utf-8"), flags=re.S)
    assert not lapses(text)


def commands(group: click.Command, name: str = "discreet") -> Iterator[tuple[str, click.Command]]:
    """Every command, with those below it."""
    yield name, group
    if isinstance(group, click.Group):
        for word in group.list_commands(click.Context(group)):
            below = group.get_command(click.Context(group), word)
            assert below is not None
            yield from commands(below, f"{name} {word}")


def test_help_keeps_to_the_vocabulary() -> None:
    """Of every command and option."""
    texts = {name: one.get_help(click.Context(one)) for name, one in commands(app)}
    assert len(texts) > 10
    assert {name: found for name, text in texts.items() if (found := lapses(text))} == {}


def test_tables_of_parameters_keep_to_the_vocabulary() -> None:
    """What the reference says of parameters."""
    words = tomllib.loads((ROOT / "docs" / "theme" / "parameters.toml").read_text(encoding="utf-8"))
    assert {text: found for one in words.values() for text in one.values() if (found := lapses(text))} == {}


@pytest.mark.parametrize("name", sorted(dc.__all__))
def test_the_reference_keeps_to_the_vocabulary(name: str) -> None:
    """What the reference says of a public name and of its methods."""
    item = getattr(dc, name)
    texts = [item.__doc__ or ""] if callable(item) else []
    if isinstance(item, type):
        texts += [getattr(one, "__doc__", None) or "" for word, one in vars(item).items() if not word.startswith("_")]
    assert [found for text in texts if (found := lapses(text))] == []


def test_messages_are_seen_in_every_spelling() -> None:
    """Plain, with values in them, in calls; not docstrings of modules, functions and fields."""
    code = '''"""It is no module."""
def f(a, help="that is no help"):
    """Is no code."""
    raise ValueError(f"{a!r} is no number" + "it is no road")
class A:
    b: int
    """What is out."""
'''
    assert sorted(messages(ast.parse(code))) == [
        " is no number",
        "`x` is no number",
        "it is no road",
        "that is no help",
    ]


@pytest.mark.parametrize(
    "word", ["layer", "header", "metadata", "non-dominated", "primary suppression", "mark", "release"]
)
def test_words_to_write_are_explained(word: str) -> None:
    """What the vocabulary asks for has a row in the glossary."""
    rows = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()
    assert any(row.startswith(f"| {word}") for row in rows)
