"""What the numbers of a table are, in words: the choices of the form, and the heading of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.data.dimension import Dimension
from discreet.errors import InputError
from discreet.policy import Policy
from discreet.policy.measure_words import RATE, WORDS, filled_sentence, sentence_of, unit_of
from discreet.policy.served_measures import COUNT, STANDARD_ERROR, SUM, Statistic
from discreet.server.languages import number_of, spoken, translated

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
    number = number_of(spoken(dimensions), language)
    sentence, values = sentence_of(policy, dimensions, measure, statistic, number)
    if sentence in SENTENCES:
        sentence = translated(sentence, language)
    said = filled_sentence(sentence, values)
    is_share = Statistic.of(statistic or SUM).is_share
    unit = unit_of(policy, dimensions, measure, statistic) if measure in policy.measures and not is_share else ""
    return f"{said} ({unit})" if unit else said
