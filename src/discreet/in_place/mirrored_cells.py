"""Cells of one table on a sheet that mirror each other, as links: hidden on one side, each is hidden on the other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discreet.audits.mirrored_pairs import mirrored_dimensions, mirrored_pairs
from discreet.in_place.margin_links import MarginLink
from discreet.in_place.table_margins import TableMargins


def mirrored_cells(number: int, table: TableMargins) -> Iterator[MarginLink]:
    """Pairs of cells of one table that hold one number: "A and B" is "B and A". All must be equal, totals included."""
    if not mirrored_dimensions(table.labels):
        return
    pairs = mirrored_pairs(table.labels, table.wholes, table.values)
    one, other = (np.stack(np.unravel_index(own, table.shape), axis=1).tolist() for own in pairs.T)
    for left, right in zip(one, other, strict=True):
        yield MarginLink((number, tuple(left)), ((number, tuple(right)),), sure=False)
