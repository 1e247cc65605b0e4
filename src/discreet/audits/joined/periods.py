"""Dimensions that are times by their names or codes: each code of one is a table of its own, not a part of a whole."""

from __future__ import annotations

import re
from collections.abc import Sequence

from discreet.audits.joined.publication import Publication
from discreet.data.dimension import Dimension

_NAMES = re.compile(
    r"times?|periods?|dates?|years?|months?|quarters?|weeks?|days?|waves?|editions?|time_period|ref_?period"
    r"|jahre?|monate?|quartale?|wochen?|tage?|zeit|zeitraum|periode|berichts(?:jahr|monat|zeitraum)"
    r"|ann[ée]e|mois|trimestre|semaine|p[ée]riode|año|ano|mes|semana|per[ií]odo|anno|mese|settimana"
    r"|jaar|maand|kwartaal|år|kvartal|måned|månad|rok|miesiąc|měsíc|vuosi|kuukausi",
    re.IGNORECASE,
)
_MONTHS = (
    r"jan(?:uary|uar|vier)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz?|apr(?:il)?|ma[iy]|june?|juni|july?|juli|aug(?:ust)?"
    r"|sept?(?:ember)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?"
)
_CODE = re.compile(
    r"(?:1[89]|20|21)\d\d(?:[-/ ]?(?:[mqwtks]\d{1,2}|\d{2}(?:[-/]\d{2})?))?|q[1-4]|[mqw]\d{1,2}[-/ ](?:19|20)\d\d"
    rf"|(?:{_MONTHS})\.?(?:[-/ ]*\d{{2,4}})?",
    re.IGNORECASE,
)


def is_time(dimension: Dimension) -> bool:
    """Whether a dimension is times: it is called so, or all of its codes are years, quarters, months or days.

    >>> [is_time(Dimension.flat(n, c)) for n, c in (("t", ["2024Q1", "2024Q2"]), ("Jahr", ["a"]), ("sex", ["m", "f"]))]
    [True, True, False]
    """
    codes = [code.strip() for code in dimension.leaves]
    return bool(_NAMES.fullmatch(dimension.name.strip())) or all(_CODE.fullmatch(code) for code in codes)


def periods_apart(publications: Sequence[Publication]) -> list[str]:
    """Times without a total within a table, which are not set against each other unless it is said."""
    names = [
        d.name
        for p in publications
        for d in p.release.dimensions
        if d.total is None and len(d.leaves) > 1 and is_time(d)
    ]
    return [
        f"{name!r} is a time without a total, and its codes were not set against each other: say --along {name} "
        f"(along={name!r})"
        for name in dict.fromkeys(names)
    ]
