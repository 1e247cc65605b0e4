"""Slips in the address of a table: the nearest names that the codebook has, as an address to go to."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence

from discreet.data.dimension import Dimension
from discreet.data.filters import parse_filters
from discreet.errors import DiscreetError
from discreet.policy import Query
from discreet.server.queries import SIGN
from discreet.server.views.choices import Pairs
from discreet.server.views.page_choice import QUERY, PageChoice

ALIKE = 0.6


def corrected_choice(
    parameters: Mapping[str, str], dimensions: Sequence[Dimension], measures: Mapping[str, Sequence[str]] | None = None
) -> PageChoice | None:
    """The table that an address with slips most likely means; None if nothing is near enough.

    >>> sex, age = Dimension.flat("sex", "fm"), Dimension.flat("age", ["0-4", "5-9"])
    >>> corrected_choice({"variable": "Sexx", "where": "agee=0_4"}, [sex, age]).link()
    '/table?variables=sex&where=age=0-4'
    """
    named = {_nearest(name, QUERY) or "": value for name, value in parameters.items()}
    known = {d.name: d for d in dimensions}
    names = {**{d.title: d.name for d in dimensions}, **{name: name for name in known}}
    try:
        variables = _variables(named.get("variables", ""), known, names)
        where = _population(named.get("where", ""), known, names)
        others = {n: codes for n, codes in where.items() if n not in dict(variables)}
        query = Query.of(dict(variables), where=others, **_asked(named, measures or {}))
        query.resolved(dimensions)
    except DiscreetError:
        return None
    return PageChoice(query.variables, query.where, measure=query.measure, statistic=query.statistic)


def _asked(named: Mapping[str, str], measures: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The nearest measure and statistic that are served; counts where none is like what was written."""
    measure = _nearest(named.get("measure", ""), measures)
    if measure is None:
        return {}
    return {"measure": measure, "statistic": _nearest(named.get("statistic", ""), measures[measure]) or ""}


def _variables(text: str, known: Mapping[str, Dimension], names: Mapping[str, str]) -> Pairs:
    """Variables with their levels, each the nearest there is; what is like none is left out."""
    pairs: dict[str, str] = {}
    for part in text.split(","):
        name, _, level = (piece.strip() for piece in part.partition(":"))
        near = _nearest(name, names)
        if near is None:
            continue
        dimension = known[names[near]]
        labels = {label: one for one, label in dimension.description.levels.items()}
        levels = {**labels, **{one: one for one in dimension.levels if one != "total"}}
        pairs[dimension.name] = levels[_nearest(level, levels) or dimension.name] if level else dimension.name
    return tuple(pairs.items())


def _population(text: str, known: Mapping[str, Dimension], names: Mapping[str, str]) -> dict[str, list[str]]:
    """Filters with their codes, by code or by label; a code that is like none makes the filter fall away."""
    kept: dict[str, list[str]] = {}
    codes_of = {name: d.position for name, d in known.items()}
    for name, codes in parse_filters(text, sign=SIGN, known=codes_of).items():
        near = _nearest(name, names)
        if near is None:
            continue
        dimension = known[names[near]]
        labels = {**{dimension.label(code): code for code in dimension.codes}, **{c: c for c in dimension.codes}}
        codes_near = [labels[one] for code in codes if (one := _nearest(code, labels)) is not None]
        if codes_near:
            kept[dimension.name] = codes_near
    return kept


def _nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like one, whatever its capitals."""
    folded = {one.casefold(): one for one in known}
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=ALIKE)
    return folded[close[0]] if close else None
