"""Rows that stand in the order of their counts: what the order says of counts that are not shown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.base.annotations import Array
from discreet.data.dimension import Dimension

LEAST_SHOWN = 3
"""Shown counts from which on an order is seen."""


def ordered_lines(dimensions: Sequence[Dimension], codes: Array, values: Array) -> list[Array]:
    """Rows of every column whose shown counts go up or down throughout and that hides one, from most to least.

    A column: the finest codes of the first dimension, in the order of the file, at one code of each other dimension.

    >>> area = Dimension.flat("area", ["a", "b", "c", "d", "e"], total="All")
    >>> numbers = np.array([40, 12, 6, np.nan, np.nan, 69])
    >>> place = [[area.position[code]] for code in ("a", "b", "c", "d", "e", "All")]
    >>> [rows.tolist() for rows in ordered_lines([area], np.array(place), numbers)]
    [[0, 1, 2, 3, 4]]
    """
    first = dimensions[0]
    if first.groups or not len(codes):
        return []
    finest = np.array([code in first.leaf_position for code in first.codes])[codes[:, 0]]
    lines: dict[tuple[int, ...], list[int]] = {}
    for row in np.flatnonzero(finest).tolist():
        lines.setdefault(tuple(codes[row, 1:].tolist()), []).append(row)
    ordered = []
    for rows in lines.values():
        line = np.asarray(values, float)[rows]
        shown = line[~np.isnan(line)]
        if len(shown) < LEAST_SHOWN or len(shown) == len(line) or len(np.unique(shown)) < 2:
            continue
        steps = np.diff(shown)
        if (steps <= 0).all():
            ordered.append(np.array(rows))
        elif (steps >= 0).all():
            ordered.append(np.array(rows[::-1]))
    return ordered


def order_note(dimensions: Sequence[Dimension], lines: Sequence[Array]) -> str:
    """What is said of rows that seem to stand in the order of their counts, with the option that uses it."""
    many = f"{len(lines):,} columns" if len(lines) > 1 else "a column"
    return (
        f"the shown counts of {many} go up or down from row to row of {dimensions[0].name!r}: whoever knows that rows "
        "are sorted by them knows more of those that are hidden; --sorted judges that"
    )


def order_pairs(lines: Sequence[Array]) -> Array:
    """Pairs of rows, the count of the first of which is not less than that of the second."""
    pairs = [np.column_stack([rows[:-1], rows[1:]]) for rows in lines]
    return np.concatenate(pairs) if pairs else np.zeros((0, 2), np.int64)
