"""The languages of the pages: English sentences are the keys, catalogues hold what they are in the others.

A catalogue is a TOML file of ``translations/``. Its first lines are sentences of templates, scripts and messages;
``[rules]`` has the sentences that the library says with names or numbers in them, which stand in braces.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache, partial
from importlib import resources
from typing import Any

from fastapi import Request
from jinja2 import Environment, PackageLoader, StrictUndefined

from discreet.data.counted_units import PEOPLE, counted_words, with_counted
from discreet.data.dimension import Dimension

ENGLISH = "en"
LANGUAGES = {ENGLISH: "English", "fr": "Français", "de": "Deutsch", "es": "Español"}
LANGUAGE = "discreet_language"  # the cookie that remembers a choice
THOUSANDS = {ENGLISH: ",", "fr": "\u202f", "de": ".", "es": "."}  # as browsers have it
UNGROUPED = {"es": 10_000}  # below which a number has no sign between its thousands
IN_SCRIPTS = re.compile(r'\bwords\(\s*"((?:[^"\\]|\\.)*)"')
NUMBER_OF_PEOPLE, NUMBER_OF = "Number of people", "Number: %(counted)s"
SENTENCES = (PEOPLE, NUMBER_OF_PEOPLE, NUMBER_OF)
Words = tuple[tuple[str, str], ...]
GROUPED = re.compile(r"\d{1,3}(,\d{3})+")
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


def translated_reason(sentence: str, language: str, counted: Words = ()) -> str:
    """A sentence of the library, such as the reason of a refusal, whose names and numbers are kept.

    ``counted`` is what the records are, by language, where they are not called people.

    >>> translated_reason("fewer than 100 people", "de"), translated_reason("fewer than 1,000 people", "de")
    ('weniger als 100 Personen', 'weniger als 1.000 Personen')
    >>> translated_reason("a sentence that no catalogue has", "de")
    'a sentence that no catalogue has'
    >>> translated_reason("fewer than 100 holdings", "de", (("en", "holdings"), ("de", "Betriebe")))
    'weniger als 100 Betriebe'
    """
    words = dict(counted)
    of_people = with_counted(sentence, PEOPLE, before=words[ENGLISH]) if words and language != ENGLISH else sentence
    for pattern, translation in _patterns(language):
        if fitting := pattern.fullmatch(of_people):
            said = translation
            if words:
                said = _with_word(translation, translated(PEOPLE, language), words.get(language, words[ENGLISH]))
            holes = {name: _grouped(text, language) for name, text in fitting.groupdict().items()}
            if words and holes.get("counted") == words[ENGLISH]:
                holes["counted"] = words.get(language, words[ENGLISH])
            return said.format(**holes)
    return translated(sentence, language)


def _grouped(text: str, language: str) -> str:
    """A number of a reason with the signs of a language between its thousands; any other text as it is."""
    return written(int(text.replace(",", "")), language) if GROUPED.fullmatch(text) else text


def _with_word(said: str, people: str, word: str) -> str:
    """A sentence with another word for people; French leaves a vowel out before one."""
    if word[:1].lower() in "aeiouyhâàéèêëîïôöûüœ":
        said = said.replace(f" de {people}", f" d’{people}")
    return said.replace(people, word)


def number_of(counted: Words, language: str) -> str:
    """What a count is called.

    >>> number_of((), "de"), number_of((("en", "holdings"), ("de", "Betriebe")), "de")
    ('Zahl der Personen', 'Anzahl: Betriebe')
    """
    if not counted:
        return translated(NUMBER_OF_PEOPLE, language)
    words = dict(counted)
    return translated(NUMBER_OF, language) % {"counted": words.get(language, words[ENGLISH])}


def spoken(dimensions: Sequence[Dimension]) -> Words:
    """What the records behind some variables are, by language, as functions here take it."""
    return tuple(counted_words(dimensions).items())


def counted_word(counted: Words, language: str) -> str:
    """What the records are called.

    >>> counted_word((), "fr"), counted_word((("en", "holdings"),), "fr")
    ('personnes', 'holdings')
    """
    words = dict(counted)
    return words.get(language, words[ENGLISH]) if words else translated(PEOPLE, language)


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


def as_sentence(words: str, language: str = ENGLISH, counted: Words = ()) -> str:
    """What the library says, in a language, with a capital at its beginning and a stop at its end.

    >>> as_sentence("fewer than 100 people"), as_sentence("did you mean 'Wien'?")
    ('Fewer than 100 people.', "Did you mean 'Wien'?")
    """
    said = translated_reason(words, language, counted)
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
def templates(language: str, counted: Words = ()) -> Environment:
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
    environment.filters["reason"] = partial(translated_reason, language=language, counted=counted)
    environment.filters["sentence"] = partial(as_sentence, language=language, counted=counted)
    environment.globals |= {"counted": counted_word(counted, language), "number_of": number_of(counted, language)}
    environment.globals |= {"language": language, "languages": LANGUAGES, "script_words": script_words(language)}
    return environment
