"""What the records are, in words: people unless the codebook says households, holdings, patients."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from discreet.data.dimension import Dimension
from discreet.errors import InputError, nearest

PEOPLE = "people"
ENGLISH = "en"
LANGUAGES = (ENGLISH, "fr", "de", "es")


def checked_words(counted: str | Mapping[str, str]) -> dict[str, str]:
    """A plural by language, as the codebook has it; a word alone is the English one.

    >>> checked_words("holdings"), checked_words({"en": "holdings", "de": "Betriebe"})
    ({'en': 'holdings'}, {'en': 'holdings', 'de': 'Betriebe'})
    """
    words = {ENGLISH: counted} if isinstance(counted, str) else dict(counted)
    for language, word in words.items():
        if language not in LANGUAGES:
            raise InputError(f"counted has no language {language!r}; {nearest(language, LANGUAGES)}")
        if not word.strip() or word != " ".join(word.split()) or len(word) > 60:
            raise InputError(f"counted: {word!r} is not a word for what is counted, such as 'households'")
    if words and ENGLISH not in words:
        raise InputError("counted needs the English word, which is taken where a language has none: en = 'holdings'")
    return words


def counted_words(dimensions: Sequence[Dimension]) -> Mapping[str, str]:
    """What the records behind some variables are, by language; empty where their codebook says nothing."""
    return next((d.description.counted for d in dimensions if d.description.counted), {})


def with_counted(sentence: str, word: str, before: str = PEOPLE) -> str:
    """A sentence of the rules that speaks of so many people, about what is counted.

    >>> with_counted("fewer than 1,000 people per cell", "holdings")
    'fewer than 1,000 holdings per cell'
    """
    if word == before:
        return sentence
    return re.sub(
        rf"\b(fewer than [\d,.]+|too few|a few) {re.escape(before)}\b", lambda at: f"{at[1]} {word}", sentence
    )
