"""Counts that a sentence or a label states: its numbers without dates, ages, limits, percentages and numbering."""

from __future__ import annotations

import re
from collections.abc import Collection, Container
from typing import NamedTuple

from discreet.sheets.count_words import CJK_DIGITS, COUNTERS, NOUNS, NUMBER_WORDS, SEVERAL_MEANINGS

_MONTHS = (
    "jan(?:uary|uar|vier)?|feb(?:ruary|ruar)?|mar(?:ch|s|zo)?|märz|apr(?:il)?|may|mai|june?|juni|july?|juli|juin|juillet|"
    "aug(?:ust)?|sept?(?:ember)?|o[ck]t(?:ober|obre)?|nov(?:ember|embre)?|de[czs](?:ember|embre)?"
)
_LIMITS = (
    "rounded to|nearest|multiples? of|"
    "under|below|over|above|than|least|most|up to|exceeding|minimum|maximum|unter|über|als|mindestens|höchstens|ab|bis|"
    "moins de|plus de|menos de|más de|aged?|ages|alter|âge|edad"
)
_UNITS = (
    "years?|months?|weeks?|days?|hours?|minutes?|yrs?|jahren?|monate|tage|ans|mois|jours|años|km|kg|mg|ml|cm|mm|miles"
)
_NUMBERED = (
    "tables?|tab|tabelle|tableau|tabla|figures?|fig|charts?|sheets?|notes?|footnotes?|annex|appendix|sections?|chapter|"
    "part|version|release|edition|wave|round|phase|quarter|quartal|grades?|bands?|types?|levels?|class|decile|quintile|"
    "quartile|stage|step|category|icd|no|nr|§|years?|weeks?|months?|days?|page|volume|vol|issue|row|column|line|article|"
    "fachserie|reihe|heft|anhang|kapitel|seite|abb|abbildung|artikel|annexe?|chapitre|cuadro|gr\u00e1fico|anexo|quadro|tavola|"
    "tabel|tabell|tabulka|tablica|tabl|taulukko|bijlage|bilaga|rozdzia\u0142|\u0442\u0430\u0431\u043b\u0438\u0446\u0430"
)
_YEAR = r"(?:1[89]\d\d|20\d\d|21[0-4]\d)"
_INNOCENT = re.compile(
    "|".join(
        (
            r"\d{4}-\d\d-\d\d",
            r"\b\d{1,2}([./])\d{1,2}\1(?:\d{4}|\d\d)\b",
            rf"\b\d{{1,2}}\.?\s*(?:{_MONTHS})\b\.?",
            rf"\b(?:{_MONTHS})\.?\s+\d{{1,2}}\b(?!\s*(?:{NOUNS})\b)",
            rf"(?<![=\d,.]){_YEAR}(?:\s*[-/–]\s*(?:\d{{4}}|\d\d))?(?![\d,.]\d)(?!\s*(?:{NOUNS})\b)",
            r"\b\d+(?:[.,]\d+)?\s*(?:%|‰|per ?cent\b|percent\b|pct\b|prozent\b)",
            r"\b\d+(?:[.,]\d+)?\s*(?:-|–|—|\bto\b|\bbis\b|\bà\b)\s*\d+(?:[.,]\d+)?",
            r"\b\d+\s*\+",
            r"\b\d+\s+(?:and|or|und|et|y|ou|o)\s+(?:over|older|more|above|under|younger|below|fewer|less|mehr|älter|plus)\b",
            rf"(?:\b(?:{_LIMITS})|[<>≤≥])\s*=?\s*\d[\d,. ]*(?:\s*(?:-|–|—|\bto\b|\bbis\b)\s*\d+)?",
            r"\b(?:per|pro|pour|por|je)\s+\d[\d,. ]*",
            rf"(?:\b(?:{_NUMBERED})|§)\.?\s*\d+(?:\.\d+)*[a-z]?\b(?!\s+(?:{NOUNS})\b)",
            rf"\A\s*[(\[]?\d{{1,2}}(?:[)\].:]\s|\s+(?=[A-ZÀ-Þ])(?!(?:{NOUNS})\b))",
            r"\A\s*[(\[]\d{1,2}[)\]]",
            rf"\b\d+(?:[.,]\d+)?\s*(?:{_UNITS})\b",
            r"[£$€]\s*\d[\d,. ]*",
            rf"[^\W\d]-?\d+(?!\s?(?:{COUNTERS}))\w*",
            rf"\b\d+(?!(?:{NOUNS})\b|{COUNTERS})[^\W\d]\w*",
            r"\b\d{6,}(?=\D|\Z)",
        )
    ),
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"(?:\A\s*|\A\s*(?:notes?|footnotes?|remarks?|anmerkung(?:en)?|hinweise?|remarques?|notas?|noter)\s*:\s*|[.;]\s+)"
    r"([(\[]?(\d{1,2})[)\].])\s+(?=[^\W\d])",
    re.IGNORECASE,
)
"""A number of a list, at the beginning of a text ("Notes: 1. ...") or of one of its sentences."""
_TOKEN = re.compile(r"(?<![\d.,])\d{1,3}(?:[,.'\u2019 \u00a0\u202f]\d{3})+(?!\d)|(?<![\d.,])\d+(?![.,]?\d)")
_BEGINS = re.compile(r"(?<!\w)\d")
"""A number that begins a word; digits behind letters, as in codes, are none."""
_COUNTED = re.compile(rf"\d\s?(?:{COUNTERS})")
_BY_NAME = re.compile(r"(?:\b(?:n|base|total|count|gesamt)\s*[=:]?|=)\s*\Z", re.IGNORECASE)
_SET_APART = re.compile(r"(?:[(\[{\uff08\uff3b\uff1a,;:|/]|\s[-\u2013\u2014])\s*\Z")
_NOUN = re.compile(rf"\s*(?:(?:{NOUNS})\b|{COUNTERS})", re.IGNORECASE)
_IN_WORDS = re.compile(rf"\b({'|'.join(NUMBER_WORDS)})\s+(?:{NOUNS})\b", re.IGNORECASE)
_IN_BRACKETS = re.compile(rf"[(\[]\s*({'|'.join(NUMBER_WORDS)})\s*[)\]]", re.IGNORECASE)
_IN_CHINESE = re.compile(rf"(?<![{''.join(CJK_DIGITS)}])([{''.join(CJK_DIGITS)}])(?:{COUNTERS})")
_CIRCLED = {0x2460 + n: f" {n + 1} " for n in range(20)}
_PLAIN_WORDS = re.compile(
    rf"\b({'|'.join(word for word in NUMBER_WORDS if word not in SEVERAL_MEANINGS)}|(?<=: )(?:six|acht|sept|dix))\b",
    re.IGNORECASE,
)
"""Numbers in words that mean nothing else in another of these languages."""


class StatedNumber(NamedTuple):
    """A whole number in a text; ``named`` if the text calls it a count, ``apart`` if it stands apart from a name."""

    number: float
    named: bool
    apart: bool


def counts_in(text: str) -> list[StatedNumber]:
    """The whole numbers of a text that may be counts.

    >>> [one.number for one in counts_in("Table 4: of 1,234 patients aged 65 and over in 2024, four men moved")]
    [1234.0, 4.0]
    >>> counts_in("Beacon (n = 53)"), counts_in("5-9 years")
    ([StatedNumber(number=53.0, named=True, apart=False)], [])
    """
    numbers = []
    text = text.translate(_CIRCLED)
    if _BEGINS.search(text) or _COUNTED.search(text):
        rest = _INNOCENT.sub(lambda match: "\x00" * len(match[0]), _without_list_numbers(text))
        for token in _TOKEN.finditer(rest):
            before, behind = rest[: token.start()], rest[token.end() :]
            named = bool(_BY_NAME.search(before) or _NOUN.match(behind))
            digits = float(re.sub(r"\D", "", token[0]))
            numbers.append(StatedNumber(digits, named, bool(_SET_APART.search(before))))
    numbers += [StatedNumber(float(NUMBER_WORDS[word.lower()]), True, False) for word in _IN_WORDS.findall(text)]
    numbers += [StatedNumber(float(NUMBER_WORDS[word.lower()]), False, True) for word in _IN_BRACKETS.findall(text)]
    numbers += [StatedNumber(float(CJK_DIGITS[sign]), True, False) for sign in _IN_CHINESE.findall(text)]
    return numbers


def _without_list_numbers(text: str) -> str:
    """A text with the numbers 1, 2, 3 of its notes masked: they are in order and begin where the text does.

    >>> _without_list_numbers("Notes: 1. Provisional. 2. Source: PAS. 5. Births").replace(chr(0), "_")
    'Notes: __ Provisional. __ Source: PAS. 5. Births'
    """
    expected = 1
    for match in _LISTED.finditer(text):
        if int(match[2]) != expected or (expected == 1 and text[match.start()] in ".;"):
            break
        text = text[: match.start(1)] + "\x00" * len(match[1]) + text[match.end(1) :]
        expected += 1
    return text


def states_one(text: str, secret: Container[float]) -> bool:
    """Whether a sentence states one of these numbers, in digits or words.

    >>> states_one("Men in Abbey: vier", {4.0}), states_one("One of the wards closed once", {1.0, 11.0})
    (True, False)
    """
    if any(one.number in secret for one in counts_in(text)):
        return True
    return any(NUMBER_WORDS[word.lower()] in secret for word in _PLAIN_WORDS.findall(text))


def states_another(text: str, told: Container[float], labels: Collection[str] = ()) -> bool:
    """Whether a sentence states a count that is none of those told: it may be a sum or a difference of hidden ones.

    A number is a count if the text calls it one, or names one of the ``labels`` of the table (in small letters).

    >>> states_another("Oak and Elm together have 34 girls", {53.0}), states_another("Girls: 53", {53.0}, ("girls",))
    (True, False)
    >>> states_another("boys outnumber girls by 26 in Elm", {53.0}, ("boys", "elm")), states_another("Annex 26", {53.0})
    (True, False)
    """
    others = [one for one in counts_in(text) if one.number not in told]
    if not others:
        return False
    plain = text.casefold()
    return any(one.named for one in others) or any(re.search(rf"\b{re.escape(label)}\b", plain) for label in labels)
