"""The pages in four languages: every sentence is translated, no catalogue has one too many, and the reader chooses."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import discreet as dc
from discreet import datasets, policy
from discreet.server import languages
from discreet.server.pages import messages, methodologist, nearest_tables
from discreet.server.views import charts, page_measures
from tests import servers

TEMPLATES = Path(languages.__file__).parent / "templates"
OTHERS = [code for code in languages.LANGUAGES if code != "en"]
SPOKEN = (  # by modules of the server
    *messages.SENTENCES,
    *nearest_tables.SENTENCES,
    *page_measures.SENTENCES,
    *charts.SENTENCES,
    *languages.SENTENCES,
    *methodologist.SENTENCES,
    "All categories",
)
MARKUP = re.compile(
    r"<code>.*?</code>|{%-?\s*trans.*?endtrans\s*-?%}|{%.*?%}|{{.*?}}|{#.*?#}|<[^>]*>|&\w+;|/[\w./?=…]*", re.DOTALL
)


def template_sentences() -> set[str]:
    """Every sentence of a template that is to be translated."""
    environment = languages.templates("en")
    taken: set[str] = set()
    for path in TEMPLATES.glob("*.html"):
        for _, _, said in environment.extract_translations(path.read_text(encoding="utf-8")):  # type: ignore[attr-defined]
            taken |= {said} if isinstance(said, str) else {one for one in said if one}
    return taken


def holes(sentence: str) -> list[str]:
    return sorted(re.findall(r"%\(\w+\)s|{\w+}", sentence))


@pytest.mark.parametrize("language", OTHERS)
def test_every_sentence_is_translated_and_none_is_left_over(language: str) -> None:
    """Of templates and scripts; what stands in a sentence stands in its translation, too."""
    held = dict(languages.translations_of(language))
    rules = held.pop("rules")
    used = template_sentences() | set(languages.script_sentences()) | set(SPOKEN)
    assert used - set(held) == set()
    assert set(held) - used == set()
    for sentence, translation in (held | rules).items():
        assert translation.strip()
        assert holes(sentence) == holes(translation), sentence


def test_all_catalogues_have_the_same_sentences_of_rules() -> None:
    """A rule that speaks German speaks French."""
    first, *more = [languages.translations_of(language)["rules"].keys() for language in OTHERS]
    assert all(keys == first for keys in more)


@pytest.mark.parametrize("path", sorted(TEMPLATES.glob("*.html")), ids=lambda path: path.name)
def test_a_template_says_nothing_outside_the_catalogue(path: Path) -> None:
    """Whatever is read on a page goes through a catalogue."""
    bare = MARKUP.sub(" ", path.read_text(encoding="utf-8"))
    assert re.findall(r"[A-Za-z]{2,}", bare) == []


def test_the_reader_chooses_the_language(tmp_path: Path) -> None:
    """By the address, which is remembered; else by the browser's preference; else English."""
    with servers.client(tmp_path) as client:
        assert '<html lang="en">' in client.get("/login").text
        french = client.get("/login", headers={"Accept-Language": "da, fr-CH;q=0.9, en;q=0.8"}).text
        assert '<html lang="fr">' in french
        assert "Mot de passe" in french
        assert '<html lang="en">' in client.get("/login?lang=xx", headers={"Accept-Language": "tlh"}).text
        assert "Passwort" in client.get("/login?lang=de").text
        assert "Passwort" in client.get("/login", headers={"Accept-Language": "fr"}).text  # chosen before
        assert client.get("/api/metadata?lang=de").status_code == 422  # a program's answer has no language


def test_a_page_leads_to_itself_in_every_language(tmp_path: Path) -> None:
    """The same table, the same address but for the language."""
    with servers.client(tmp_path) as client:
        page = client.get("/table?variables=sex,age&where=region=R1").text
        for code in languages.LANGUAGES:
            address = f"/table?variables=sex,age&amp;where=region=R1&amp;lang={code}"
            assert address in page
            assert client.get(address.replace("&amp;", "&")).status_code == 200


@pytest.mark.parametrize("language", OTHERS)
def test_reasons_keep_their_names_and_numbers(language: str) -> None:
    """A sentence of a rule with a number in it, written as the language writes it, and one that no catalogue knows."""
    said = languages.translated_reason("fewer than 12,345 people", language)
    assert languages.written(12345, language) in said
    assert said != "fewer than 12,345 people"
    assert "'1,234'" in languages.translated_reason("variable '1,234' is not published", language)  # a name
    assert languages.translated_reason("nobody said this", language) == "nobody said this"


def stated_refusals() -> set[str]:
    """What the policies' rules say: reasons and hints as they stand in the code, with something in their holes."""
    found = set()
    for path in Path(policy.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Refused":
                found |= {text for part in node.args[1:] if (text := stated(part))}
    return found


def stated(node: ast.expr) -> str:
    """A text of the code with a number in its holes; nothing where a hole holds a part of the sentence."""
    if isinstance(node, ast.JoinedStr):
        text = "".join(str(one.value) if isinstance(one, ast.Constant) else "{}" for one in node.values)
        return "" if re.search(r"\w{}|}{|, {}$", text) else text.replace("{}", "7")
    return str(node.value) if isinstance(node, ast.Constant) else ""


@pytest.mark.parametrize("language", OTHERS)
def test_every_refusal_of_a_policy_is_translated(language: str) -> None:
    """What a visitor is refused with, wherever it is said."""
    said = stated_refusals()
    assert len(said) > 20
    assert [one for one in said if languages.translated_reason(one, language) == one] == []


METHODS = (
    "publish", "cell-key", "random-round", "semi-controlled-round", "round", "barnard", "stochastic", "synthetic",
)  # fmt: skip


@pytest.mark.parametrize("language", OTHERS)
def test_what_was_done_is_said_in_the_language(language: str) -> None:
    """The method of a table and its notes, of every kind that a server can have."""
    people = datasets.census(2000)
    for name in METHODS:
        head = "before" if name == "synthetic" else "method"
        kind = f'[[{head}]]\nname = "{name}"\n' + {"round": "base = 5\n"}.get(name, "seed = 1\n")
        kind = 'publish = "as it is"' if name == "publish" else kind
        made = dc.answer(people, policy.Query.of(["sex", "age"], where="region=R1"), policy.parse_policy(kind))
        said = [*made.method.split("; "), *made.notes]
        assert [one for one in said if languages.translated_reason(one, language) == one] == [], name


def test_a_permanent_link_of_the_first_version_still_leads_to_its_table(tmp_path: Path) -> None:
    """Layers had another name in it."""
    with servers.client(tmp_path) as client:
        old = client.get("/table?variables=sex,age,activity&wafers=activity&wafer=1").text
        assert client.get("/table?variables=sex,age,activity&layers=activity&layer=1").text.count("<tr>") > 10
        assert "layers=activity" in old
        assert "layer=1" in old
