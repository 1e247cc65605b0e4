"""Dimensions of two tables that are the same one whatever they are called: most of their labels are the same."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from typing import NamedTuple

from discreet.data.dimension import Dimension
from discreet.data.plain_labels import plain_labels

FEWEST = 2
"""Labels that two dimensions of different names have in common at least."""


def plain_name(name: str) -> str:
    """A name as it is compared.

    >>> plain_name("Age group") == plain_name("AGE_GROUP")
    True
    """
    composed = unicodedata.normalize("NFC", name)
    return re.sub(r"[\W_]+", "_", composed.casefold()).strip("_") or name


class NamedLabels(NamedTuple):
    """The name of a dimension and its labels but the total's, as they are compared."""

    name: str
    labels: Collection[str]

    @classmethod
    def of(cls, dimension: Dimension) -> NamedLabels:
        return cls(plain_name(dimension.name), plain_labels(dimension).keys())


def labels_alike(one: Dimension, other: Dimension) -> bool:
    """Whether two dimensions have at least half of the labels of the smaller one in common, and two of them.

    >>> wards = Dimension.flat("Ward", ["Ash", "Bray", "Coll"], total="All")
    >>> labels_alike(wards, Dimension.flat("Ward name", ["ash", "Bray", "Dene"], total=None))
    True
    >>> labels_alike(wards, Dimension.flat("sex", ["f", "m"], total=None))
    False
    """
    here, there = NamedLabels.of(one), NamedLabels.of(other)
    return _are_alike(here, there, _in_common(here, there))


def _in_common(here: NamedLabels, there: NamedLabels) -> int:
    if here.labels is there.labels:
        return len(here.labels)
    return len(set(here.labels) & set(there.labels))


def _are_alike(here: NamedLabels, there: NamedLabels, common: int) -> bool:
    return common >= FEWEST and 2 * common >= min(len(here.labels), len(there.labels))


def same_dimensions(one: Sequence[NamedLabels], other: Sequence[NamedLabels]) -> list[tuple[int, int]]:
    """Positions of dimensions that two tables have in common: of one name and some label, else by most labels.

    >>> wards = Dimension.flat("Ward", ["Ash", "Bray"], total="All")
    >>> named = Dimension.flat("Ward name", ["Ash", "Bray"], total="Total")
    >>> ages = Dimension.flat("age", ["0", "1"], total=None)
    >>> same_dimensions([NamedLabels.of(wards)], [NamedLabels.of(ages), NamedLabels.of(named)])
    [(0, 1)]
    """
    pairs: list[tuple[int, int]] = []
    common = {(i, j): _in_common(here, there) for i, here in enumerate(one) for j, there in enumerate(other)}
    by_name = [(i, j) for (i, j), many in common.items() if many and one[i].name == other[j].name]
    by_label = [(i, j) for (i, j), many in common.items() if _are_alike(one[i], other[j], many)]
    for i, j in [*by_name, *by_label]:
        if i not in {k for k, _ in pairs} and j not in {k for _, k in pairs}:
            pairs.append((i, j))
    return pairs
