"""Tables of a file that hold the counts of another as percentages or rates: hidden counts follow from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import InputError
from discreet.in_place.common_margins import CommonMargins
from discreet.in_place.table_margins import TableMargins

SCALES = (100.0, 1_000.0, 10_000.0, 100_000.0)
FEWEST = 3
"""Shares other than nothing and all by which a table is known for one of shares."""


def refuse_share_tables(common: CommonMargins) -> None:
    """Raise where the whole numbers of a table are those of another as percentages: they cannot be hidden in step."""
    tables = common.tables
    for i, j in permutations([k for k, table in enumerate(tables) if not table.too_large], 2):
        shared = common.dimensions(i, j)
        if len(shared) == len(tables[j].shape) and _is_share_of(i, j, common, shared):
            counts, shares = tables[i].sheet, tables[j].sheet
            apart = counts.grid.sheet != shares.grid.sheet
            where = counts.grid.sheet if apart else counts.layout.range.address
            option = f"sheets=[{where!r}] (--sheet {where!r})" if apart else f"range={where!r} (--range {where})"
            raise InputError(
                f"{shares.name!r} {shares.layout.range.address} holds percentages or rates of the counts in "
                f"{counts.name!r} {counts.layout.range.address}, from which hidden counts follow: protect the counts "
                f"alone by {option}, or put the percentages beside their counts, where they are computed again"
            )


def _is_share_of(i: int, j: int, common: CommonMargins, shared: Sequence[tuple[int, int]]) -> bool:
    """Whether each finest number of table j is that of table i as a rounded share of one of its sums."""
    one, two = common.tables[i], common.tables[j]
    left, right = common.codes(i, j, shared)
    finest = (left[:, [here for here, _ in shared]] != np.array(one.wholes)[[here for here, _ in shared]]).all(axis=1)
    left, right = left[finest], right[finest]
    counts, shares = one.values[tuple(left.T)].astype(float), two.values[tuple(right.T)].astype(float)
    if np.array_equal(counts, shares):
        return False
    return any(_fits(counts, wholes, shares) for wholes in _wholes(one, left, [here for here, _ in shared]))


def _wholes(table: TableMargins, codes: Array, axes: Sequence[int]) -> Iterator[Array]:
    """The sums of which numbers may be shares: over every choice of dimensions."""
    for size in range(1, len(axes) + 1):
        for some in combinations(axes, size):
            sums = codes.copy()
            sums[:, list(some)] = np.array(table.wholes)[list(some)]
            yield table.values[tuple(sums.T)].astype(float)


def _fits(counts: Array, wholes: Array, shares: Array) -> bool:
    held = wholes > 0
    telling = held & (counts > 0) & (counts < wholes)
    if telling.sum() < FEWEST:
        return False
    parts = counts[held] / wholes[held]
    return any((np.abs(scale * parts - shares[held]) <= 0.5 + 1e-9).all() for scale in SCALES)
