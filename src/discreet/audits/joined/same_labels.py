"""Dimensions of two tables that are the same one whatever they are called: most of their labels are the same."""

from __future__ import annotations

import re
from collections.abc import Sequence

from discreet.data.dimension import Dimension

FEWEST = 2
"""Labels that two dimensions of different names have in common at least."""


def plain_name(name: str) -> str:
    """A name as it is compared.

    >>> plain_name("Age group") == plain_name("AGE_GROUP")
    True
    """
    return re.sub(r"[\W_]+", "_", name.casefold()).strip("_") or name


def plain_labels(dimension: Dimension) -> dict[str, str]:
    """The codes of a dimension but the total by their labels, as they are compared.

    >>> plain_labels(Dimension.flat("ward", ["Ash", "Bray"], total="All"))
    {'ash': 'Ash', 'bray': 'Bray'}
    """
    labels, total = dimension.labels, dimension.total
    return {" ".join(labels.get(code, code).casefold().split()): code for code in dimension.codes if code != total}


def labels_alike(one: Dimension, other: Dimension) -> bool:
    """Whether two dimensions have at least half of the labels of the smaller one in common, and two of them.

    >>> wards = Dimension.flat("Ward", ["Ash", "Bray", "Coll"], total="All")
    >>> labels_alike(wards, Dimension.flat("Ward name", ["ash", "Bray", "Dene"], total=None))
    True
    >>> labels_alike(wards, Dimension.flat("sex", ["f", "m"], total=None))
    False
    """
    here, there = plain_labels(one), plain_labels(other)
    common = len(here.keys() & there.keys())
    return common >= FEWEST and 2 * common >= min(len(here), len(there))


def same_dimensions(one: Sequence[Dimension], other: Sequence[Dimension]) -> list[tuple[int, int]]:
    """Positions of dimensions that two tables have in common: of one name and some label, else by most labels.

    >>> wards = Dimension.flat("Ward", ["Ash", "Bray"], total="All")
    >>> named = Dimension.flat("Ward name", ["Ash", "Bray"], total="Total")
    >>> same_dimensions([wards], [Dimension.flat("age", ["0", "1"], total=None), named])
    [(0, 1)]
    """
    pairs: list[tuple[int, int]] = []
    by_name = [
        (i, j)
        for i, here in enumerate(one)
        for j, there in enumerate(other)
        if plain_name(here.name) == plain_name(there.name) and plain_labels(here).keys() & plain_labels(there).keys()
    ]
    by_label = [(i, j) for i, here in enumerate(one) for j, there in enumerate(other) if labels_alike(here, there)]
    for i, j in [*by_name, *by_label]:
        if i not in {k for k, _ in pairs} and j not in {k for _, k in pairs}:
            pairs.append((i, j))
    return pairs
