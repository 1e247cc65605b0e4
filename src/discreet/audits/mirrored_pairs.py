"""Tables with the same labels on both sides and equal numbers across the diagonal: a pair of cells is one number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from discreet.base.annotations import Array
from discreet.data.plain_labels import plain_labels
from discreet.tables.layout import Layout

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FEWEST_LABELS = 3
"""Labels in common from which two dimensions may mirror each other."""
SURE = 20.0
"""Bits of coincidence from which numbers that are equal across the diagonal are the same number."""


def mirrored_dimensions(labels: Sequence[Mapping[str, int]]) -> list[tuple[int, int]]:
    """Dimensions with the same labels, two by two; mostly none, so that no number need be looked at."""
    several = [k for k, own in enumerate(labels) if len(own) >= FEWEST_LABELS]
    return [(a, b) for a, b in combinations(several, 2) if labels[a].keys() == labels[b].keys()]


def mirrored_pairs(labels: Sequence[Mapping[str, int]], wholes: Sequence[int | None], values: Array) -> Array:
    """Pairs of cells that hold one number, by their places in ``values``: "A and B" is "B and A".

    ``labels`` are the positions of the codes of each dimension but its total, which is in ``wholes``. All numbers must
    be equal, totals included, where both are known (not NaN), and must be so beyond chance.

    >>> names = {"gout": 0, "lupus": 1, "stroke": 2}
    >>> held = np.array([[900.0, 310, 205], [310, 800, np.nan], [205, np.nan, 700]])
    >>> mirrored_pairs([names, names], [None, None], held).tolist()
    []
    >>> mirrored_pairs([names, names], [None, None], 100 * held).tolist()
    [[1, 3], [2, 6], [5, 7]]
    """
    number = np.arange(values.size).reshape(values.shape)
    pairs = [np.zeros((0, 2), np.int64)]
    for a, b in mirrored_dimensions(labels):
        rows, columns = ([own[label] for label in labels[a]] for own in (labels[a], labels[b]))
        whole, other_whole = wholes[a], wholes[b]
        if whole is not None and other_whole is not None:
            rows, columns = [*rows, whole], [*columns, other_whole]
        square = np.moveaxis(number, (a, b), (0, 1))[np.ix_(rows, columns)]
        above = np.triu_indices(len(rows), 1)
        both = np.stack([square[above].ravel(), square.swapaxes(0, 1)[above].ravel()], axis=1)
        held = values.ravel()[both]
        held = held[~np.isnan(held).any(axis=1)]
        if (held[:, 0] == held[:, 1]).all() and np.log2(1 + np.abs(held[:, 0])).sum() >= SURE:
            pairs.append(both)
    return np.concatenate(pairs)


def with_mirrored(relations: csr_array, layouts: Sequence[Layout], lower: Array, upper: Array) -> csr_array:
    """The equations of tables with one more for each pair of cells that mirror each other and are not both shown.

    ``lower`` and ``upper`` are the bounds of all cells, one table after the other.
    """
    from scipy.sparse import coo_array, csr_array, vstack

    found = [np.zeros((0, 2), np.int64)]
    start = 0
    for layout in layouts:
        labels = [{text: d.position[code] for text, code in plain_labels(d).items()} for d in layout.dimensions]
        wholes = [None if d.total is None else d.position[d.total] for d in layout.dimensions]
        own = slice(start, start + len(layout))
        shown = np.where(lower[own] == upper[own], lower[own], np.nan).reshape(layout.code_shape)
        found.append(mirrored_pairs(labels, wholes, shown) + start)
        start += len(layout)
    pairs = np.concatenate(found)
    pairs = pairs[(lower[pairs] < upper[pairs]).any(axis=1)]
    if not len(pairs):
        return relations
    row = np.repeat(np.arange(len(pairs)), 2)
    signs = np.tile([1.0, -1.0], len(pairs))
    rows = coo_array((signs, (row, pairs.ravel())), shape=(len(pairs), relations.shape[1]))
    return csr_array(vstack([relations, rows], format="csr"))
