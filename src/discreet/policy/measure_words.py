"""What the numbers of an answer are, in words: the measure, its statistic and unit, the variables, the population."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from discreet.data.counted_units import ENGLISH, PEOPLE, counted_words
from discreet.data.dimension import Dimension
from discreet.policy.policy import Policy
from discreet.policy.query import Resolved
from discreet.policy.served_measures import COUNT, MEAN, STANDARD_ERROR, SUM, Statistic
from discreet.release import Release
from discreet.release.table_words import TableWords

NUMBER = "Number of {counted}"
RATE = "rate"
WORDS = {
    SUM: "%(measure)s: sum",
    MEAN: "%(measure)s: mean",
    "median": "%(measure)s: median",
    "p25": "%(measure)s: lower quartile",
    "p75": "%(measure)s: upper quartile",
    "quantile": "%(measure)s: percentile %(share)s",
    "per": "%(measure)s per %(other)s",
    "percent": "%(measure)s: percent of the table",
    "percent of": "%(measure)s: percent of the total of %(other)s",
    RATE: "%(measure)s: per 1,000 of the total of %(other)s",
    STANDARD_ERROR: "%(measure)s: standard error",
}


def described_answer(release: Release, resolved: Resolved, policy: Policy) -> Release:
    """An answer with what it is about: what is measured, by which variables, of which population."""
    query, dimensions = resolved.query, resolved.known
    counted = counted_words(dimensions).get(ENGLISH, PEOPLE)
    sentence, values = sentence_of(policy, dimensions, query.measure, query.statistic, NUMBER.format(counted=counted))
    label, unit = (
        filled_sentence(sentence, values),
        unit_of(policy, dimensions, query.measure, query.statistic, counted),
    )
    names = [*release.values]
    words = TableWords("", dict.fromkeys(names, label), dict.fromkeys(names, unit) if unit else {})
    *variables, last = (resolved.source[name].title for name in query.names)
    by = f"{', '.join(variables)} and {last}" if variables else last
    parts = [f"{words.measured(names[0])}, by {by}", *population_words(resolved)]
    return replace(release, words=replace(words, subject="; ".join(parts)))


def population_words(resolved: Resolved) -> list[str]:
    """Whom a filtered table is about, a phrase for each variable."""
    return [
        f"{resolved.source[name].title} = {' or '.join(resolved.source[name].label(code) for code in codes)}"
        for name, (_, codes) in resolved.population.items()
    ]


def sentence_of(
    policy: Policy, dimensions: Sequence[Dimension], measure: str, statistic: str, number: str
) -> tuple[str, Mapping[str, str]]:
    """What each number is, as a sentence with holes and what fills them; ``number`` is what a count is called."""
    name = number if measure == COUNT else measure_label(policy, measure)
    if measure == COUNT and not statistic:
        return "%(measure)s", {"measure": name}
    asked = Statistic.of(statistic or SUM)
    kind = "percent of" if asked.kind == "percent" and asked.other else asked.kind
    if statistic in ("median", "p25", "p75"):
        kind = statistic
    titles = {d.name: d.title for d in dimensions}
    other = measure_label(policy, asked.other).lower() if kind == "per" else titles.get(asked.other, asked.other)
    return WORDS[kind], {"measure": name, "other": other, "share": f"{100 * asked.share:.0f}"}


def unit_of(policy: Policy, dimensions: Sequence[Dimension], measure: str, statistic: str, counted: str = "") -> str:
    """The unit of the numbers: of counts what is ``counted``, of shares percent or per 1,000, else the measure's."""
    asked = Statistic.of(statistic or SUM)
    if asked.is_share:
        return "percent" if asked.kind == "percent" else "per 1,000"
    return counted if measure == COUNT else measure_unit(policy, dimensions, measure)


def measure_unit(policy: Policy, dimensions: Sequence[Dimension], measure: str) -> str:
    """What a measure is in: as the policy says, else as the codebook of the data does."""
    stated = next((d.description.units for d in dimensions if d.description.units), {})
    return policy.measures[measure].unit or stated.get(measure, "")


def filled_sentence(sentence: str, values: Mapping[str, str]) -> str:
    """Holes of a sentence filled_sentence; a percent sign by itself stays."""
    for name, value in values.items():
        sentence = sentence.replace(f"%({name})s", value)
    return sentence


def measure_label(policy: Policy, measure: str) -> str:
    """What a served measure is called."""
    served = policy.measures.get(measure)
    return (served.label if served is not None else "") or measure
