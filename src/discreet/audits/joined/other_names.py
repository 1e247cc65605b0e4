"""Dimensions of published tables that are the same under other names: their labels say so, and the numbers agree."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from discreet.audits.joined.publication import Publication
from discreet.audits.joined.same_labels import labels_alike
from discreet.data.dimension import Dimension
from discreet.data.plain_labels import plain_labels

FEWEST_SHOWN = 2
"""Equal totals other than zero that two dimensions must show to be taken as one."""
FEWEST_IN_DOUBT = 3
"""Common labels from which two dimensions that show too few totals may be one."""


def under_common_names(each: Sequence[Publication], said: Collection[str] = ()) -> list[Publication]:
    """The tables with one name for dimensions of the same labels and totals; where that is open, with a doubt.

    ``said``: dimensions that a mapping speaks of, which keep the names that it gives them.
    """
    renamed: list[Publication] = []
    for table in each:
        current = table
        for other in renamed:
            for here in current.release.dimensions:
                for there in other.release.dimensions:
                    current = _settled(current, here, other, there, said)
        renamed.append(current)
    return renamed


def _settled(
    table: Publication, here: Dimension, other: Publication, there: Dimension, said: Collection[str]
) -> Publication:
    """A table with one of its dimensions under the name of another's, if they are the same; a doubt if they may be."""
    names = [d.name for d in table.release.dimensions]
    elsewhere = [d.name for d in other.release.dimensions]
    apart = there.name not in (*names, *table.fixed) and here.name in names and here.name not in elsewhere
    if not apart or {here.name, there.name} & set(said) or not labels_alike(here, there):
        return table
    if set(table.release.values) != set(other.release.values):
        return table
    one, two = plain_labels(here), plain_labels(there)
    common = one.keys() & two.keys()
    own, others = _totals(table, here), _totals(other, there)
    both = [(own[one[label]], others[two[label]]) for label in common if one[label] in own and two[label] in others]
    if any(a != b for a, b in both):
        return table
    if sum(a != 0 for a, _ in both) >= FEWEST_SHOWN:
        words = (
            f"{here.name!r} is taken as {there.name!r} of {other.name!r}, as labels and totals are the same; if it is "
            f'something else, say so in a mapping: [dimensions] "{here.name}" = "{here.name}"'
        )
        same = table.renamed({here.name: there.name}, {})
        return replace(same, release=replace(same.release, assumed=(*same.release.assumed, words)))
    if len(common) < FEWEST_IN_DOUBT:
        return table
    doubt = (
        f"{here.name!r} has the labels of {there.name!r} in {other.name!r}, and too few totals are shown to tell "
        f'whether they are the same: say so in a mapping, [dimensions] "{here.name}" = "{there.name}", or '
        f'"{here.name}" = "{here.name}" if they are not'
    )
    return replace(table, release=replace(table.release, doubts=(*table.release.doubts, doubt)))


def _totals(table: Publication, dimension: Dimension) -> dict[str, float]:
    """The number shown of each code of a dimension over all others, where these have a total."""
    release = table.release
    axis = [d.name for d in release.dimensions].index(dimension.name)
    rest = [k for k in range(len(release.dimensions)) if k != axis]
    wholes = [-1 if (d := release.dimensions[k]).total is None else d.position[d.total] for k in rest]
    rows = np.flatnonzero((release.codes[:, rest] == np.array(wholes, int)).all(axis=1))
    first = np.asarray(next(iter(release.values.values())), float)
    return {dimension.codes[release.codes[row, axis]]: float(first[row]) for row in rows if not np.isnan(first[row])}
