"""Tables with the same labels on both sides and equal numbers across the diagonal: a pair of cells is one number."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from discreet.in_place.margin_links import MarginLink
from discreet.in_place.table_margins import TableMargins

FEWEST_LABELS = 3
"""Labels in common from which two dimensions may mirror each other."""
SURE = 20.0
"""Bits of coincidence from which numbers that are equal across the diagonal are the same number."""


def mirrored_cells(number: int, table: TableMargins) -> Iterator[MarginLink]:
    """Pairs of cells of one table that hold one number: "A and B" is "B and A". All must be equal, totals included."""
    for a, b in combinations(range(len(table.shape)), 2):
        labels = table.labels[a].keys()
        if len(labels) < FEWEST_LABELS or labels != table.labels[b].keys():
            continue
        rows = [*(table.labels[a][label] for label in labels), table.wholes[a]]
        columns = [*(table.labels[b][label] for label in labels), table.wholes[b]]
        square = np.moveaxis(table.values, (a, b), (0, 1))[np.ix_(rows, columns)]
        above = np.triu_indices(len(rows), 1)
        if not np.array_equal(square, square.swapaxes(0, 1)) or np.log2(1 + square[above]).sum() < SURE:
            continue
        others = [range(size) for axis, size in enumerate(table.shape) if axis not in (a, b)]
        for one, two in zip(*above, strict=True):
            for rest in np.ndindex(*map(len, others)):
                left, right = list(rest), list(rest)
                for axis, here, there in ((a, rows[one], rows[two]), (b, columns[two], columns[one])):
                    left.insert(axis, here)
                    right.insert(axis, there)
                yield MarginLink((number, tuple(map(int, left))), ((number, tuple(map(int, right))),), sure=False)
