"""The cells of several published tables, one table after the other: bounds, marks, order, means."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.audits.joined.publication import Publication
from discreet.audits.mean_equations import CellMeans
from discreet.audits.view import beyond_ranges, finest_cells, means_of_cells, not_available, not_published
from discreet.base.annotations import Array
from discreet.errors import InputError, many
from discreet.tables.layout import Layout


def shown_cells(
    some: Sequence[Publication], layouts: Sequence[Layout], measure: str, decimals: int, *, from_one: bool
) -> tuple[Array, ...]:
    """Bounds of all cells of the tables, values left in marked cells, cells that are not part of a publication,
    hidden ones of which a range leaves one value, finest ones with a number that nobody has, counts above ranges."""
    lower, upper, left, aside, hidden, unavailable, beyond = [], [], [], [], [], [], []
    for p, layout in zip(some, layouts, strict=True):
        at = np.ravel_multi_index(tuple(p.release.codes.T), layout.code_shape)
        if repeated := len(at) - len(np.unique(at)):
            raise InputError(
                f"{p.name!r}: {many(repeated, 'row repeats', 'rows repeat')} the cell of another row; keep one for "
                "each cell"
            )
        low, high = np.full(len(layout), -np.inf), np.full(len(layout), np.inf)
        low[at], high[at] = p.bounds(measure, decimals, from_one=from_one)
        words = np.full(len(layout), "", object)
        for other, rows in p.left.items():
            words[at[rows]] += np.where(words[at[rows]] == "", other, f", {other}")
        lower.append(low)
        upper.append(high)
        left.append(words)
        no_cell = not_published(layout, at)
        nobody = not_available(p.release, measure)
        no_cell[at] |= nobody
        aside.append(no_cell)
        unavailable.append(finest_cells(layout, at[nobody]))
        beyond.append(beyond_ranges(p.release, measure, at, len(layout)) * 10.0**decimals)
        alone = np.zeros(len(layout), bool)
        alone[at] = np.isnan(np.asarray(p.release.values[measure], float)) & (low[at] == high[at])
        hidden.append(alone)
    return tuple(np.concatenate(parts) for parts in (lower, upper, left, aside, hidden, unavailable, beyond))


def joined_means(some: Sequence[Publication], layouts: Sequence[Layout], measure: str) -> tuple[CellMeans, ...]:
    """Means beside the counts of all tables."""
    at = [np.ravel_multi_index(tuple(p.release.codes.T), own.code_shape) for p, own in zip(some, layouts, strict=True)]
    return means_of_cells(
        [(p.release, rows, len(own)) for p, rows, own in zip(some, at, layouts, strict=True)], measure
    )


def ordered_cells(some: Sequence[Publication], layouts: Sequence[Layout], measure: str) -> Array:
    """Pairs of cells in the order that their tables are said to be sorted in."""
    pairs, start = [np.zeros((0, 2), np.int64)], 0
    for p, layout in zip(some, layouts, strict=True):
        at = np.ravel_multi_index(tuple(p.release.codes.T), layout.code_shape)
        pairs.append(start + at[p.release.ordered_rows(measure)])
        start += len(layout)
    return np.concatenate(pairs)
