"""Which columns and rows of a sheet hold percentages, means and rates, by their names and formats."""

from __future__ import annotations

import re
from collections.abc import Sequence

from discreet.sheets.blocks.cell_reading import NUMERIC, ReadCell

# Patterns of names in small letters, the boundary of a word before all of them at once: a sheet has thousands of labels
_SHARE_NAME = re.compile(
    r"%|\b(?:per\s?cent(?:age)?s?|pct|prozent|anteile?|pourcentages?|porcentajes?|porcentagem|percentuale?|procent"
    r"|prosent(?:ti)?|osuus|andel|aandeel|udział|shares?|proportions?|prevalence|fraction)\b"
)
_MEAN_NAME = re.compile(
    r"\+/[-\u2212\u2013]|\u00b1|(?<![\u0370-\u03ff])\u03b4(?![\u0370-\u03ff])|\b(?:durchschnitt|mittelwert|(?:means?|averages?|avg|medians?|moyennes?|médianes?"
    r"|promedio|media|mediana|medelvärde|gennemsnit|gjennomsnitt|keskiarvo|średnia|gemiddelde?|rates?|ratios?|per\s1,?0+"
    r"|standard deviation|sd|iqr|p[- ]?value|variance|rank(?:ing)?|change|difference|veränderung|évolution|percentile"
    r"|quartile|odds|diff|net (?:change|migration|flow|increase|decrease)|growth|variation|variación|variação"
    r"|variazione|verandering|endring|förändring|ændring|muutos|zmiana|margins? of error)\b)"
)
_STATISTIC_NAME = re.compile(
    r"(?:(?:minimum|maximum|min|max|lowest|highest|range|mode|mean|average|avg|median|durchschnitt|mittelwert|moyenne"
    r"|médiane|promedio|media|mediana|gemiddelde?|mínimo|máximo|minimo|massimo)(?:[ .:,(].*)?"
    r"|net|saldo|change|difference|diff)"
)
"""Names of rows that hold no counts, whole as their numbers may be."""
_WEAK_NAME = re.compile(r"\b(?:ci|lower|upper|limit|index|score|se|std)\b")

_STATISTIC = re.compile(
    r"\b(minimum|maximum|min|max|lowest|highest|range|mode|means?|averages?|avg|medians?|durchschnitt\w*|mittelwert\w*|sd"
    r"|moyennes?|médianes?|promedio|media|mediana|gemiddelde?|standard deviation|variance|iqr|percentile"
    r"|quartile|rank)\b",
    re.IGNORECASE,
)
_QUOTIENT = re.compile(r"%|\bper\b|\brates?\b|\bratios?\b|\bchange\b|\bdiff(?:erence)?\b|\bshares?\b", re.IGNORECASE)

_CUMULATIVE = re.compile(
    r"\b(?:running[ ](?:total|sum|count)|to[ -]date|so far|year[ -]to[ -]date|ytd|cumul\w*|kumul\w*|acumul\w*"
    r"|aufgelaufen\w*|narast\w*|skumul\w*|oplopend\w*|cum\b|(?-i:[cC]um(?=[A-Z])))",
    re.IGNORECASE,
)

_STOCK = re.compile(
    r"\b(?:opening|closing|start|end|begin(?:ning)?|balance|stocks?|carried (?:forward|over)|brought forward|[bc]/f"
    r"|on roll|caseload|waiting|backlog|outstanding|pending|remaining|current(?:ly)?|(?:un)?occupied|in (?:care"
    r"|custody|prison|treatment|school|post)|population|inmates|headcount|open (?:cases|at)|active|inventory|anfang\w*"
    r"|ende|beginn|bestand\w*|saldo|d\u00e9but|fin|encours|effectifs?|inicial(?:es)?|final(?:es)?|existencias|pendientes?)\b",
    re.IGNORECASE,
)
_FLOW = re.compile(
    r"\b(?:new|joined|joiners?|left|leavers?|ad(?:missions?|mitted)|discharge[sd]?|enter(?:ed|ing)|entries|entrants?|exits?"
    r"|in|out|inflows?|outflows?|opened|closed|started|starts|ended|arrivals?|departures?|births?|deaths?|immigra\w*"
    r"|emigra\w*|received|completed|added|removed|referr\w+|seen|treated|hire[sd]|releases?d?|recruited|lapsed|zug\u00e4nge?"
    r"|abg\u00e4nge?|zugang|abgang|entr\u00e9es?|sorties?|nouveaux|altas|bajas|entradas?|salidas?)\b",
    re.IGNORECASE,
)


def is_stock(name: str) -> bool:
    """Whether a header may say that a column holds what there is at a time.

    >>> is_stock("Caseload"), is_stock("On roll at start"), is_stock("Married")
    (True, True, False)
    """
    return _STOCK.search(name.replace("_", " ")) is not None


def is_flow(name: str) -> bool:
    """Whether a header may say that a column holds what comes or goes.

    >>> is_flow("New cases"), is_flow("Discharges"), is_flow("Married")
    (True, True, False)
    """
    return _FLOW.search(name.replace("_", " ")) is not None


def derived_kind(name: str, cells: Sequence[ReadCell]) -> str | None:
    r""" "share", "mean", or None for counts.

    A name that may mean something else counts only where numbers are not whole.

    >>> derived_kind("% of patients", []), derived_kind("Mean age", []), derived_kind("Patients", [])
    ('share', 'mean', None)
    >>> derived_kind("\u0394 2022-2023", []), derived_kind("\u0386\u03bd\u03b4\u03c1\u03b5\u03c2", [])  # "men" in Greek
    ('mean', None)
    """
    said = name
    name = name.replace("_", " ").casefold()
    numbers = [cell for cell in cells if cell.kind == NUMERIC]
    formatted = bool(numbers) and all(cell.percent for cell in numbers)
    if formatted or _SHARE_NAME.search(name):
        return "share"
    if _MEAN_NAME.search(name) or is_statistic(name):
        return "mean"
    if any(_not_whole(cell) for cell in numbers) and is_cumulative(said):
        return "share"
    if _WEAK_NAME.search(name) and any(_not_whole(cell) for cell in numbers):
        return "mean"
    return None


def is_statistic(name: str) -> bool:
    """Whether a name says of itself that it is no count: "Average", "Maximum per school", "Net".

    >>> is_statistic("Average"), is_statistic("Range (days)"), is_statistic("Change of address")
    (True, True, False)
    """
    return _STATISTIC_NAME.fullmatch(name.strip().casefold()) is not None


def is_quotient_or_change(name: str) -> bool:
    """Whether a name may be that of a quotient or a change of counts: any but those of means and other statistics.

    >>> is_quotient_or_change("Rate per 1,000"), is_quotient_or_change("Maximum"), is_quotient_or_change("Mean change")
    (True, False, True)
    """
    return not _STATISTIC.search(name.replace("_", " ")) or _QUOTIENT.search(name.replace("_", " ")) is not None


def is_cumulative(name: str) -> bool:
    """Whether a header says that the numbers below it are added up from line to line.

    >>> is_cumulative("Cumulative cases"), is_cumulative("cumCasesByDate"), is_cumulative("Cucumbers")
    (True, True, False)
    """
    return _CUMULATIVE.search(name.replace("_", " ")) is not None


def _not_whole(cell: ReadCell) -> bool:
    if cell.number is not None:
        return cell.number != int(cell.number)
    return "." in cell.digits or "," in cell.digits
