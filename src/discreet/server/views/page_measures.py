"""What the numbers of a table are, in words: the choices of the form, and the heading of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discreet.data.dimension import Dimension
from discreet.errors import InputError
from discreet.policy import Policy
from discreet.policy.served_measures import COUNT, MEAN, STANDARD_ERROR, SUM, Statistic
from discreet.server.languages import number_of, spoken, translated

RATE = "rate"
WORDS = {
    SUM: "%(measure)s: sum",
    MEAN: "%(measure)s: mean",
    "median": "%(measure)s: median",
    "quantile": "%(measure)s: %(share)s % have less",
    "per": "%(measure)s per %(other)s",
    "percent": "%(measure)s: percent of the table",
    "percent of": "%(measure)s: percent of the total of %(other)s",
    RATE: "%(measure)s: per 1,000 of the total of %(other)s",
    STANDARD_ERROR: "%(measure)s: standard error",
}
SENTENCES = tuple(WORDS.values())


@dataclass(frozen=True)
class MeasureOption:
    """Something that can be asked of the cells: its name in the form, the query's parts, and words."""

    value: str
    measure: str
    statistic: str
    words: str


def measure_options(
    policy: Policy,
    dimensions: Sequence[Dimension],
    language: str,
    *,
    weighted: bool = False,
    rates: Sequence[str] = (),
) -> list[MeasureOption]:
    """What may be asked, counts first; what has one possibility only needs no choice.

    ``rates`` are variables that restrict the population, of whose total the people can be shown per 1,000.
    """
    asked = [(COUNT, ""), *([(COUNT, STANDARD_ERROR)] if weighted else [])]
    asked += [(COUNT, f"{RATE}-{name}") for name in rates]
    asked += [
        (name, "" if statistic == SUM else statistic)
        for name, served in policy.measures.items()
        for statistic in served.statistics
    ]
    return [
        MeasureOption(form_value(*pair), *pair, measure_words(policy, dimensions, *pair, language)) for pair in asked
    ]


def form_value(measure: str, statistic: str) -> str:
    """A measure and its statistic as one field of the form; nothing for counts."""
    return "" if (measure, statistic) == (COUNT, "") else f"{statistic or SUM} {measure}"


def from_form_value(text: str) -> tuple[str, str]:
    """The measure and the statistic of a field of the form.

    >>> from_form_value("mean pay"), from_form_value(""), from_form_value("sum pay")
    (('pay', 'mean'), ('count', ''), ('pay', ''))
    """
    if not text:
        return COUNT, ""
    statistic, _, measure = text.partition(" ")
    if not measure:
        raise InputError(f"measure: {text!r} is not a statistic and a measure, such as 'mean income'")
    return measure, "" if statistic == SUM else statistic


def measure_words(policy: Policy, dimensions: Sequence[Dimension], measure: str, statistic: str, language: str) -> str:
    """What each number is, in words, with its unit."""
    titles = {d.name: d.title for d in dimensions}
    name = number_of(spoken(dimensions), language) if measure == COUNT else _label(policy, measure)
    if measure == COUNT and not statistic:
        return name
    asked = Statistic.of(statistic or SUM)
    kind = "percent of" if asked.kind == "percent" and asked.other else asked.kind
    if statistic == "median":
        kind = statistic
    other = _label(policy, asked.other).lower() if kind == "per" else titles.get(asked.other, asked.other)
    values: Mapping[str, str] = {"measure": name, "other": other, "share": f"{100 * asked.share:.0f}"}
    said = _filled(translated(WORDS[kind], language), values)
    unit = policy.measures[measure].unit if measure in policy.measures else ""
    return f"{said} ({unit})" if unit and not asked.is_share else said


def _filled(sentence: str, values: Mapping[str, str]) -> str:
    """Holes of a sentence filled; a percent sign by itself stays."""
    for name, value in values.items():
        sentence = sentence.replace(f"%({name})s", value)
    return sentence


def _label(policy: Policy, measure: str) -> str:
    served = policy.measures.get(measure)
    return (served.label if served is not None else "") or measure
