"""Tables of one file that do not fit together: of different populations, as where one leaves out who is not known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from discreet.audits.joined.publication import Publication
from discreet.errors import listed


def same_population(several: Sequence[Publication]) -> list[list[Publication]]:
    """Tables of one file by their totals of everybody; a table that shows none stands alone.

    One group, if they are not all of one file: files that contradict each other are an error.
    """
    files = {p.release.file for p in several}
    if len(files) > 1 or "" in files:
        return [list(several)]
    groups: dict[tuple[object, ...], list[Publication]] = {}
    for number, p in enumerate(several):
        everybody = _everybody(p)
        key = ("alone", number) if everybody is None else ("total", *everybody)
        groups.setdefault(key, []).append(p)
    return list(groups.values())


def _everybody(p: Publication) -> tuple[float, ...] | None:
    """The totals of all numbers of a table, None where one is not shown."""
    release = p.release
    places = [d.position[d.total] if d.total is not None else -1 for d in release.dimensions]
    rows = np.flatnonzero((release.codes == np.array(places)).all(axis=1))
    totals = [float(values[row]) for values in release.values.values() for row in rows[:1]]
    return tuple(totals) if totals and not any(np.isnan(totals)) else None


def apart_words(groups: Sequence[Sequence[Publication]], crossing: Sequence[str]) -> tuple[str, ...]:
    """Why an audit of tables that do not fit together is no pass; nothing where each is said to be of its own.

    Nothing either of those that are neither part nor whole of any other, as numbers that both show say.
    ``crossing``: dimensions whose codes have nothing to do with each other.
    """
    for name in crossing:
        codes = [{p.fixed.get(name) for p in group} for group in groups]
        if None not in set().union(*codes) and sum(map(len, codes)) == len(set().union(*codes)):
            return ()
    groups = [one for one in groups if not all(other is one or _neither_holds(one, other) for other in groups)]
    if not groups:
        return ()
    names = [listed([p.name for p in group], 3) for group in groups]
    return (
        f"the tables do not fit together and were judged apart ({'; '.join(names)}): their totals differ, so they are "
        "of different populations; what one says of a part of another is not judged. If one is the sum of others, say "
        'in a mapping which: [sums.population] Total = ["...", "..."], [tables."..."] fixed = { population = "..." }. '
        'If nothing follows, say that each has a population of its own: crossing = ["population"] and the same fixed',
    )


def _neither_holds(ones: Sequence[Publication], others: Sequence[Publication]) -> bool:
    """Whether two populations are neither part of each other: a count is greater in one, and another in the other.

    Then none is a sum of several with the other among them, either.
    """
    more = less = False
    for one, other in product(ones, others):
        here, there = _shown_counts(one), _shown_counts(other)
        gaps = [here[cell] - there[cell] for cell in here.keys() & there.keys()]
        more = more or any(gap > 0 for gap in gaps)
        less = less or any(gap < 0 for gap in gaps)
    return more and less


def _shown_counts(p: Publication) -> Mapping[object, float]:
    """The numbers that a table shows, by measure and by the codes of each dimension."""
    release = p.release
    names = [d.name for d in release.dimensions]
    codes = [[d.codes[c] for c in own] for d, own in zip(release.dimensions, release.codes.T.tolist(), strict=True)]
    cells = [frozenset(zip(names, own, strict=True)) for own in zip(*codes, strict=True)]
    return {
        (measure, cell): float(value)
        for measure, values in release.values.items()
        for cell, value in zip(cells, values.tolist(), strict=True)
        if not np.isnan(value)
    }
