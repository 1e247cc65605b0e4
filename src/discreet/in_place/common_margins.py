"""Dimensions and codes that tables of one file have in common."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import product

import numpy as np

from discreet.audits.joined.same_labels import NamedLabels, plain_name, same_dimensions
from discreet.base.annotations import Array
from discreet.in_place.table_margins import TableMargins


class CommonMargins:
    """Dimensions and codes that pairs of tables have in common; worked out once for all tables with the same labels."""

    def __init__(self, tables: Sequence[TableMargins]) -> None:
        numbers: dict[object, int] = {}
        self.tables = tables
        self._kinds = [
            -1 if table.too_large else numbers.setdefault(_kind_of_labels(table), len(numbers)) for table in tables
        ]
        sets: dict[tuple[str, ...], Collection[str]] = {}
        self._named = [[] if table.too_large else _shared_sets(table, sets) for table in tables]
        self._dimensions: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self._codes: dict[object, tuple[Array, Array]] = {}

    def kind(self, i: int) -> int:
        """Tables of one kind have the same labels at the same positions."""
        return self._kinds[i]

    def dimensions(self, i: int, j: int) -> list[tuple[int, int]]:
        """Positions of the dimensions that two tables have in common."""
        kinds = self._kinds[i], self._kinds[j]
        if kinds not in self._dimensions:
            self._dimensions[kinds] = same_dimensions(self._named[i], self._named[j])
        return self._dimensions[kinds]

    def codes(self, i: int, j: int, shared: Sequence[tuple[int, int]]) -> tuple[Array, Array]:
        """Combinations of the codes that both tables have, a row each, all other dimensions at their total."""
        key = self._kinds[i], self._kinds[j], tuple(shared)
        if key not in self._codes:
            self._codes[key] = _common_codes(self.tables[i], self.tables[j], shared)
        return self._codes[key]


def _kind_of_labels(table: TableMargins) -> object:
    """What is equal for tables with the same labels at the same positions."""
    names = tuple(dimension.name for dimension in table.dimensions)
    return names, table.wholes, tuple(tuple(labels.items()) for labels in table.labels)


def _shared_sets(table: TableMargins, sets: dict[tuple[str, ...], Collection[str]]) -> list[NamedLabels]:
    """The dimensions of a table by name and labels; equal lists of labels are one object, not to be compared."""
    names = [plain_name(dimension.name) for dimension in table.dimensions]
    labels = [sets.setdefault(tuple(own), own.keys()) for own in table.labels]
    return [NamedLabels(name, own) for name, own in zip(names, labels, strict=True)]


def _common_codes(one: TableMargins, two: TableMargins, shared: Sequence[tuple[int, int]]) -> tuple[Array, Array]:
    """Combinations of the codes that both tables have, a row each, all other dimensions at their total."""
    choices = []
    for here, there in shared:
        labels = one.labels[here].keys() & two.labels[there].keys()
        both = [(one.labels[here][label], two.labels[there][label]) for label in sorted(labels)]
        choices.append([(one.wholes[here], two.wholes[there]), *both])
    rows = list(product(*choices))
    left = np.tile(np.array(one.wholes), (len(rows), 1))
    right = np.tile(np.array(two.wholes), (len(rows), 1))
    for k, (here, there) in enumerate(shared):
        left[:, here] = [row[k][0] for row in rows]
        right[:, there] = [row[k][1] for row in rows]
    return left, right
