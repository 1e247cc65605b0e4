"""Cells of a table that somebody names: by a truth mask, by their numbers, or by their codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import InputError, many
from discreet.tables.table import Table


def cell_mask(table: Table, cells: Any) -> Array:
    """The named cells as a truth mask over all cells of the table.

    >>> t = Table.of([[3, 0], [1, 2]], ["area", "sex"])
    >>> np.flatnonzero(cell_mask(t, {"area": "1", "sex": "2"})).tolist()
    [5]
    """
    mask = np.zeros(len(table), bool)
    if isinstance(cells, Mapping):
        cells = [cells]
    if isinstance(cells, Iterable) and not isinstance(cells, np.ndarray):
        cells = list(cells)
        if cells and all(isinstance(codes, Mapping) for codes in cells):
            for codes in cells:
                mask |= table.layout.find(codes)
            return mask
    numbers = np.asarray(cells)
    if numbers.dtype == bool:
        if numbers.shape != mask.shape:
            raise InputError(f"the mask has shape {numbers.shape}, the table {many(len(table), 'cell')}")
        return numbers.copy()
    if numbers.size and (numbers.dtype.kind not in "iu" or numbers.min() < 0 or numbers.max() >= len(table)):
        raise InputError(f"cells to hide are a mask, numbers from 0 to {len(table) - 1:,}, or {{dimension: code}}")
    mask[numbers.astype(int)] = True
    return mask
