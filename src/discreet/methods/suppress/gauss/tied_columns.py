"""The cells of a table as columns for elimination, short ones: over cells, which the table's sums tie to each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.linear.modular import residues
from discreet.methods.suppress.model.singletons import Singletons
from discreet.tables.layout import Layout


@dataclass(frozen=True, eq=False)
class TiedColumns:
    """Cells, ``virtual`` sums that no cell shows, and the sums that tie cells to each other, which are known.

    Rows are the cells, then inner cells that are none: a cell is one entry, and a sum as long as it has parts. Written
    over inner cells alone a total would be as long as the table, and the work many times as much. ``pivots``: of rows
    as pivots the least is best.
    """

    residues: Any
    virtual: int
    known: Array
    row_of_inner: Array
    pivots: Array

    @classmethod
    def of(cls, layout: Layout, virtual: Sequence[Any], turn: Array) -> TiedColumns:
        """The cells of a layout and further sums (matrices over inner cells); ``turn``: when each cell comes about."""
        from scipy.sparse import coo_array, csc_array, diags_array, hstack

        from discreet.tables.relations import of_layout, variable_of_inner

        lines = of_layout(layout)
        row = variable_of_inner(layout.matrix)
        n, size = len(layout), lines.shape[1]
        further = csc_array(hstack(virtual)).tocoo()
        something = np.concatenate([layout.parts > 0, np.ones(size - n, bool)]).astype(float)  # the others are known: 0
        cells = coo_array((something[:n], (np.arange(n), np.arange(n))), shape=(size, n))
        sums = coo_array((further.data, (row[further.row], further.col)), shape=(size, further.shape[1]))
        ties = csc_array((lines @ diags_array(something)).T)
        known = n + sums.shape[1] + np.arange(ties.shape[1])
        columns = residues(csc_array(hstack([cells, sums, ties])))
        return cls(columns, sums.shape[1], known, row, late_codes(layout, row, size, turn))

    @classmethod
    def plain(cls, matrix: Any) -> TiedColumns:
        """The columns of any matrix over its own rows, tied by nothing."""
        rows = np.arange(matrix.shape[0])
        return cls(residues(matrix), 0, rows[:0], rows, np.zeros(len(rows), np.int64))

    def with_inner(self, inner: Array) -> Any:
        """The columns and behind them some inner cells, each a column of its own."""
        from scipy.sparse import csc_array, hstack

        many = len(inner)
        ones = np.ones(many, np.uint64)
        alone = csc_array((ones, self.row_of_inner[inner], np.arange(many + 1)), shape=(self.residues.shape[0], many))
        columns = csc_array(hstack([self.residues, alone]))
        columns.indices = columns.indices.astype(np.int32)
        columns.indptr = columns.indptr.astype(np.int64)
        return columns

    def singletons(self, single: Singletons) -> Singletons:
        """The same people, by rows instead of inner cells."""
        group = np.zeros(self.residues.shape[0], single.group.dtype)
        group[self.row_of_inner] = single.group
        return replace(single, group=group)


def late_codes(layout: Layout, row_of_inner: Array, size: int, turn: Array) -> Array:
    """A place for every row as pivot: first rows of codes whose cells come late, in all dimensions taken together.

    A pivot that is published needs another, so late ones are best. But where each line takes its own latest cell, the
    lines fill each other; where all take the same codes, what is left of them stays short.
    """
    n = len(layout)
    other = np.flatnonzero(row_of_inner >= n)  # inner cells that are no cells
    leaves = np.unravel_index(layout.inner[other], layout.shape)
    late = np.zeros(size)
    for k, dimension in enumerate(layout.dimensions):
        codes = layout.codes[:, k]
        many = np.bincount(codes, minlength=len(dimension.codes))
        mean = np.bincount(codes, weights=turn, minlength=len(many)) / np.maximum(many, 1)
        place = np.argsort(np.argsort(np.where(many > 0, mean, n), kind="stable")) / len(many)
        late[:n] += place[codes]
        position = np.array([dimension.position[code] for code in dimension.leaves])
        late[row_of_inner[other]] += place[position[leaves[k]]]
    ranked = np.empty(size, np.int64)
    ranked[np.lexsort((-np.concatenate([turn, np.full(size - n, n)]), -late))] = np.arange(size)
    return ranked
