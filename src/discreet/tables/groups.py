"""Whether a code of a ready table may be, or is, a group of others: their sum, wherever all of them are shown."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import InputError, listed
from discreet.tables.totals import ASK, Cells

MOST_SUBSETS = 12
"""Codes of which every set is tried; of more, those that stand together."""
MOST_CODES = 14
"""Above so many codes not all sets of them are tried, and a group is possible."""


def possible_group(cells: Cells, axis: int) -> bool:
    """Whether some code of a dimension may be the sum of two or more of the others, as far as is shown.

    Only lines in which every code is shown can deny it; where there is none, or there are too many codes to try all
    sets of them, it is possible.
    """
    codes = cells.codes[axis]
    if len(codes) < 3:
        return False
    if len(codes) > MOST_CODES:
        return True
    lines, allowed = [], []
    for numbers, loose in zip(cells.numbers, cells.loose, strict=True):
        values, shown = cells.lines(axis, numbers, range(len(codes)))
        full = values[:, shown.all(axis=0)]
        lines.append(full)
        allowed.append(np.full(full.shape[1], loose * len(codes)))
    return _sum_of_some(np.hstack(lines), np.concatenate(allowed))


def _sum_of_some(values: Array, allowed: Array) -> bool:
    """Whether a row is the sum of two or more others in every column, give or take ``allowed``.

    >>> _sum_of_some(np.array([[3.0, 4], [2, 3], [1, 1], [9, 9]]), np.zeros(2))
    True
    >>> _sum_of_some(np.array([[3.0, 4], [2, 3], [1, 7], [9, 9]]), np.zeros(2))
    False
    """
    size = len(values)
    chosen = (np.arange(2**size)[:, None] >> np.arange(size)) & 1
    chosen = chosen[chosen.sum(axis=1) >= 2]
    for row in range(size):
        left = chosen[chosen[:, row] == 0]
        for column, room in zip(values.T, allowed, strict=True):
            left = left[np.abs(left @ column - column[row]) <= room]
            if not len(left):
                break
        if len(left):
            return True
    return False


def refuse_groups(cells: Cells, axis: int, total: str | None) -> None:
    """Refuse a code that is the sum of some others in every line, far beyond chance, where nobody said that it is.

    Taken for a category it is counted twice in the total, and what is hidden of its parts follows from it.
    """
    codes = cells.codes[axis]
    first = np.unique(cells.position[axis], return_index=True)
    kept = [int(k) for k in first[0][np.argsort(first[1])] if codes[k] != total]
    if len(kept) < 3:
        return
    values = np.hstack([cells.lines(axis, numbers, kept)[0] for numbers in cells.numbers])
    if (values < 0).any():
        return
    loose = np.repeat(cells.loose, values.shape[1] // len(cells.loose))
    for whole, parts, least in _candidates(values):
        gap = np.abs(values[whole] - values[parts].sum(axis=0))
        allowed = loose * (len(parts) + 1)
        bits = (np.log2(1 + values[whole]) - np.log2(1 + 2 * allowed)).clip(0)
        several = (values[parts] > 0).any(axis=1).sum() > 1
        if several and (gap <= allowed + 1e-6).all() and (bits > 0).sum() > 1 and bits.sum() >= least:
            name, below = cells.names[axis], listed([codes[kept[k]] for k in parts], 4)
            raise InputError(
                f"dimension {name!r}: {codes[kept[whole]]!r} is the sum of {below} in every line; say what is a sum of "
                f"what by a codebook (--codebook), or in Python by dc.Dimension.from_parents({name!r}, ...) in place "
                f"of the name, or leave its rows out; if that is chance, a codebook or dc.Dimension.flat({name!r}, "
                "[...]) says so"
            )


def _candidates(values: Array) -> Iterator[tuple[int, list[int], float]]:
    """Codes and others that may add up to them, with the bits of coincidence that are asked of each."""
    count = len(values)
    guide = values.sum(axis=1)
    beside = ASK + 2 * math.log2(count)
    if count <= MOST_SUBSETS:
        chosen = (np.arange(2**count)[:, None] >> np.arange(count)) & 1
        chosen = chosen[chosen.sum(axis=1) > 1]
        sums = chosen @ guide
        for whole in range(count):
            for own in chosen[(np.abs(sums - guide[whole]) <= 1e-6 * (1 + guide[whole])) & (chosen[:, whole] == 0)]:
                parts = np.flatnonzero(own).tolist()
                together = max(whole, *parts) - min(whole, *parts) == len(parts)
                yield whole, parts, beside if together and not parts[0] < whole < parts[-1] else ASK + count
        return
    ends = np.concatenate([[0.0], guide.cumsum()])
    for whole in range(count):
        for start in np.flatnonzero(np.isclose(ends[whole] - ends[: max(whole - 1, 0)], guide[whole])).tolist():
            yield whole, list(range(start, whole)), beside
        behind = ends[whole + 3 :] - ends[whole + 1]
        for stop in np.flatnonzero(np.isclose(behind, guide[whole])).tolist():
            yield whole, list(range(whole + 1, whole + 3 + stop)), beside
