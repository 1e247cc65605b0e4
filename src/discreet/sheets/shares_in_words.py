"""Shares that a sentence states: percentages, parts in words, ratios, means; what is hidden may follow from one."""

from __future__ import annotations

import re

from discreet.sheets.count_words import NUMBER_WORDS

PLAIN_MEAN = re.compile(
    r"\bmeans?\b|\baverages?\b|\bavg\b|\bdurchschnitt\w*|\bmittelwert\w*|\bmoyennes?\b|\bpromedio\b|\bmedia\b"
    r"|\bmedelvärde\b|\bgennemsnit\b|\bgjennomsnitt\b|\bkeskiarvo\b|\bśrednia\b|\bgemiddelde?\b",
    re.IGNORECASE,
)
SHARE = re.compile(
    r"(\d+(?:[.,]\d+)?)\s*(?:[%\u2030\u2031\u066a\ufe6a\uff05]|per[\s-]?cent\b|percent\w*|pct\b|p\.\s?c\.|prozent\b"
    r"|v\.\s?h\.|vom\s+hundert\b|pour\s?cent\b|procent\b|prosent\w*|por\s?ciento\b|per\s?cento\b|por\s?cento\b"
    r"|(?:in|per|pro|je|pour|por)\s+(?:every\s+)?(?:1[., ]?0{2,3}(?:[., ]?000)?)\b)",
    re.IGNORECASE,
)
SURE = re.compile(
    r"[-\s]*(?:confidence|conf\.|ci\b|c\.i\.|konfidenz|(?:intervalle )?de confiance|intervalo|credible|cl\b)", re.I
)
PART = re.compile(
    r"(?<!table )(?<!tabelle )(?<!page )(?<!sheet )(?<!part )(?<!note )\b\d+\s+(?:in|out of|of|von|sur|av)\s+"
    r"(?:the\s+|every\s+)?(?!(?:19|20)\d\d\b)\d+\b",
    re.IGNORECASE,
)
"""A share in words, 3 in 10; not a page of several, nor a year."""
FRACTION = re.compile(
    r"\b(?:half|halves|two[\s-]thirds|(?:one|a)[\s-]third|thirds?\s+of|three[\s-]quarters|(?:one|a)[\s-]quarter|quarters?\s+of"
    r"(?!\s+(?:19|20)\d\d)|(?:one|a|two|three|four)[\s-](?:fifth|sixth|seventh|eighth|ninth|tenth)s?|(?:fifth|tenth)s\s+of"
    r"|h\u00e4lfte|(?:ein|zwei|drei|vier)\s?(?:drittel|viertel|f\u00fcnftel|achtel|zehntel)|moiti\u00e9|(?:un|deux|trois)\s+"
    r"(?:tiers|quarts?)|la\s+mitad|(?:un|dos|tres)\s+(?:tercios?|cuartos?))\b|[\u00bc-\u00be\u2150-\u215e]",
    re.IGNORECASE,
)
MEAN_FIGURE = re.compile(r"\d[.,]\d")
"""A figure with decimals beside the word mean or average."""
_NUMBER_WORDS = "|".join(sorted(NUMBER_WORDS, key=len, reverse=True))
PART_IN_WORDS = re.compile(
    rf"\b(?:{_NUMBER_WORDS})\s+(?:in|out of|of|von|sur|de|av)\s+(?:the\s+|every\s+|cada\s+)?(?:{_NUMBER_WORDS})\b",
    re.IGNORECASE,
)
RATIO = re.compile(
    r"\b(?:ratios?|verhältnis|rapport|raz[oó]n|proporci[oó]n)\b(?:[^.;]|(?<=\d)\.(?=\d))*\d\s*(?::|to|zu|à|a)\s*\d"
    rf"|\b(?:\d+(?:[.,]\d+)?|{_NUMBER_WORDS})\s*(?:times\s+(?:as|more|the|fewer|less)|[-\s]?fold\b|mal\s+so|fois\s+plus"
    r"|veces\s+m[aá]s)|\b(?:twice|doppelt|deux fois|el doble)\s+(?:as|so|plus|the|de)\b",
    re.IGNORECASE,
)
"""One count as a multiple of another: 5:1, five times as many."""


def states_share(text: str) -> bool:
    """Whether a sentence states a percentage or a share of something, other than all of it or how sure an interval is.

    >>> states_share("12 % of the 48 women"), states_share("one group: 3 in 10 patients")
    (True, True)
    >>> states_share("Rows add up to 100 %; 95% confidence intervals"), states_share("Table 2 of 5: aged 65 in 2020")
    (False, False)
    >>> states_share("One in six was male"), states_share("five times as many women"), states_share("ratio 5:1")
    (True, True, True)
    """
    shares = [match for match in SHARE.finditer(text) if float(match[1].replace(",", ".")) != 100]
    if any(not SURE.match(text, match.end()) for match in shares) or any(
        pattern.search(text) for pattern in (PART, PART_IN_WORDS, RATIO, FRACTION)
    ):
        return True
    return bool(PLAIN_MEAN.search(text) and MEAN_FIGURE.search(text))
