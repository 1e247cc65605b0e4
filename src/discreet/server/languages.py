"""The languages of the pages: English sentences are the keys, catalogues hold what they are in the others.

A catalogue is a TOML file of ``translations/``. Its first lines are sentences of templates, scripts and messages;
``[rules]`` has the sentences that the library says with names or numbers in them, which stand in braces.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache, partial
from importlib import resources
from typing import Any

from fastapi import Request
from jinja2 import Environment, PackageLoader, StrictUndefined

ENGLISH = "en"
LANGUAGES = {ENGLISH: "English", "fr": "Français", "de": "Deutsch", "es": "Español"}
LANGUAGE = "discreet_language"  # the cookie that remembers a choice
THOUSANDS = {ENGLISH: ",", "fr": "\u202f", "de": ".", "es": "."}  # as browsers have it
UNGROUPED = {"es": 10_000}  # below which a number has no sign between its thousands
IN_SCRIPTS = re.compile(r'\bwords\(\s*"((?:[^"\\]|\\.)*)"')
HOLE = re.compile(r"\\{\w+\\}")


@cache
def translations_of(language: str) -> Mapping[str, Any]:
    """The sentences of a language by their English; none of English itself.

    >>> translations_of("fr")["Sign in"]
    'Se connecter'
    """
    if language == ENGLISH:
        return {}
    file = resources.files("discreet.server").joinpath("translations", f"{language}.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


def translated(sentence: str, language: str) -> str:
    """A sentence of a page in a language; in English where the catalogue lacks it.

    >>> translated("Sign in", "de")
    'Anmelden'
    """
    return str(translations_of(language).get(sentence, sentence))


def of_number(singular: str, plural: str, number: int, language: str) -> str:
    """The sentence for one or for several."""
    return translated(singular if number == 1 else plural, language)


def translated_reason(sentence: str, language: str) -> str:
    """A sentence of the library, such as the reason of a refusal, whose names and numbers are kept.

    >>> translated_reason("fewer than 100 people", "de")
    'weniger als 100 Personen'
    >>> translated_reason("a sentence that no catalogue has", "de")
    'a sentence that no catalogue has'
    """
    for pattern, translation in _patterns(language):
        if fitting := pattern.fullmatch(sentence):
            return translation.format(**fitting.groupdict())
    return translated(sentence, language)


@cache
def _patterns(language: str) -> list[tuple[re.Pattern[str], str]]:
    """The sentences of rules as expressions in which every hole takes some text."""
    rules: Mapping[str, str] = translations_of(language).get("rules", {})
    return [(re.compile(_open_holes(sentence)), translation) for sentence, translation in rules.items()]


def _open_holes(sentence: str) -> str:
    return HOLE.sub(lambda hole: f"(?P<{hole[0][2:-2]}>.+?)", re.escape(sentence))


def written(number: float, language: str, decimals: int = 0) -> str:
    """A number with the signs between thousands and before decimals that a language has.

    >>> written(245700, "en"), written(245700, "de"), written(1234567.8, "de", 2)
    ('245,700', '245.700', '1.234.567,80')
    """
    sign = "" if abs(number) < UNGROUPED.get(language, 0) else THOUSANDS[language]
    whole, _, rest = f"{number:,.{decimals}f}".partition(".")
    return whole.replace(",", sign) + (f"{'.' if language == ENGLISH else ','}{rest}" if rest else "")


def as_sentence(words: str, language: str = ENGLISH) -> str:
    """What the library says, in a language, with a capital at its beginning and a stop at its end.

    >>> as_sentence("fewer than 100 people"), as_sentence("did you mean 'Wien'?")
    ('Fewer than 100 people.', "Did you mean 'Wien'?")
    """
    said = translated_reason(words, language)
    return said[:1].upper() + said[1:] + ("" if said.endswith(("?", ".", "!")) else ".")


def language_of(request: Request) -> str:
    """The language of a page: what the address says, else what this browser chose before, else what it prefers."""
    remembered = [request.cookies.get(f"{prefix}{LANGUAGE}", "") for prefix in ("__Host-", "")]
    for name in (
        request.query_params.get("lang", ""),
        *remembered,
        *preferred(request.headers.get("accept-language", "")),
    ):
        if name in LANGUAGES:
            return name
    return ENGLISH


def preferred(header: str) -> list[str]:
    """The languages of an ``Accept-Language`` header without their countries, the most wanted first.

    >>> preferred("da, en-GB;q=0.8, fr-CH;q=0.9")
    ['da', 'fr', 'en']
    """
    weighed = []
    for place, part in enumerate(header[:400].split(",")):
        name, *more = [piece.strip().lower() for piece in part.split(";")]
        quality = next((piece[2:] for piece in more if piece.startswith("q=")), "1")
        if name and re.fullmatch(r"[01](\.\d{1,3})?", quality) and float(quality) > 0:
            weighed.append((-float(quality), place, name.partition("-")[0]))
    return [name for _, _, name in sorted(weighed)]


@cache
def script_sentences() -> tuple[str, ...]:
    """The sentences that scripts of the pages say, as ``words("...")``."""
    files, texts = [resources.files("discreet.server").joinpath("static")], []
    while files:
        for entry in files.pop().iterdir():
            if entry.is_dir():
                files.append(entry)
            elif entry.name.endswith((".js", ".mjs")) and not entry.name.endswith(".min.js"):
                texts.append(entry.read_text(encoding="utf-8"))
    return tuple(sorted({one.replace('\\"', '"') for text in texts for one in IN_SCRIPTS.findall(text)}))


@cache
def script_words(language: str) -> Mapping[str, str]:
    """What scripts need of a catalogue."""
    held = translations_of(language)
    return {sentence: held[sentence] for sentence in script_sentences() if sentence in held}


@cache
def templates(language: str) -> Environment:
    """The templates of the pages, which speak a language: ``_("...")``, ``{% trans %}``, ``| number``, ``| reason``."""
    environment = Environment(
        loader=PackageLoader("discreet.server"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    environment.install_gettext_callables(  # type: ignore[attr-defined]
        partial(translated, language=language), partial(of_number, language=language), newstyle=True
    )
    environment.policies["ext.i18n.trimmed"] = True
    environment.filters["number"] = lambda number, decimals=0: written(number, language, decimals)
    environment.filters["reason"] = partial(translated_reason, language=language)
    environment.filters["sentence"] = partial(as_sentence, language=language)
    environment.globals |= {"language": language, "languages": LANGUAGES, "script_words": script_words(language)}
    return environment
