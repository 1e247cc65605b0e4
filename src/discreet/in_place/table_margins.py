"""The sums that a table holds, whether its sheet shows them or not: every code of every dimension, and the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from discreet.base.annotations import Array
from discreet.data.dimension import Dimension
from discreet.data.plain_labels import plain_labels
from discreet.sheets.sheet_table import SheetTable

MOST_MARGINS = 4_000_000
"""Combinations of codes up to which the sums of a table are written down."""


@dataclass(frozen=True, eq=False)
class TableMargins:
    """A table of a sheet by its codes; a dimension without a total has one more code, the sum of its finest ones."""

    sheet: SheetTable

    @property
    def name(self) -> str:
        """The file and the sheet, for messages."""
        return self.sheet.name

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        return self.sheet.table.layout.dimensions

    @cached_property
    def too_large(self) -> bool:
        """Whether there are too many combinations of codes to be set against other tables."""
        return prod(self.shape) > MOST_MARGINS

    @cached_property
    def members(self) -> tuple[Array, ...]:
        """Per dimension which finest codes each code is the sum of: codes x finest codes, with signs."""
        parts = []
        for dimension in self.dimensions:
            own = dimension.matrix.toarray().T.astype(np.int64)
            whole = np.ones((1, own.shape[1]), np.int64)
            parts.append(own if dimension.total is not None else np.concatenate([own, whole]))
        return tuple(parts)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(d.codes) + (d.total is None) for d in self.dimensions)

    @cached_property
    def wholes(self) -> tuple[int, ...]:
        """The position of the total of each dimension."""
        return tuple(len(d.codes) if d.total is None else d.position[d.total] for d in self.dimensions)

    @cached_property
    def values(self) -> Array:
        """The true sums over all combinations of codes."""
        table = self.sheet.table
        sums = table.layout.dense(np.asarray(table.statistic(table.measure).inner))
        for axis, members in enumerate(self.members):
            sums = np.moveaxis(np.tensordot(members, sums, axes=(1, axis)), 0, axis)
        return sums

    @cached_property
    def labels(self) -> tuple[dict[str, int], ...]:
        """Per dimension the positions of codes but the total by their labels."""
        return tuple({label: d.position[c] for label, c in plain_labels(d).items()} for d in self.dimensions)

    @cached_property
    def cells(self) -> Array:
        """The cell of the table for every combination of codes where one stands on the sheet, else −1."""
        layout = self.sheet.table.layout
        standing = np.array([bool(places) for places in self.sheet.places_in(layout)])
        numbers = np.full(self.shape, -1, np.int64)
        numbers[tuple(layout.codes[standing].T)] = np.flatnonzero(standing)
        return numbers

    @cached_property
    def _inner(self) -> Array:
        """The number of the inner cell for every combination of finest codes, −1 where nothing can be."""
        layout = self.sheet.table.layout
        return layout.dense(np.arange(1, layout.n_inner + 1)) - 1

    def inner_cells(self, codes: Sequence[int]) -> tuple[Array, Array]:
        """The inner cells of a combination of codes, and their signs."""
        rows = [members[code] for members, code in zip(self.members, codes, strict=True)]
        held = [np.flatnonzero(row) for row in rows]
        signs = np.ones((), np.int64)
        for row, at in zip(rows, held, strict=True):
            signs = np.multiply.outer(signs, row[at])
        inner = self._inner[np.ix_(*held)].ravel()
        return inner[inner >= 0], signs.ravel()[inner >= 0]
