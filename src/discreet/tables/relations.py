"""The sums that tie cells to each other and to inner cells, as sparse rows.

Variables are the cells, then the inner cells that are not cells themselves. A table's rows come from the sums its
dimensions define (a region is its counties), which is far sparser than every total written over inner cells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.base.annotations import Array
from discreet.tables.layout import Layout

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def variable_of_inner(matrix: csr_array) -> Array:
    """For each inner cell the number of its variable: a cell that is this inner cell alone, else one past the cells.

    >>> from discreet import Table
    >>> variable_of_inner(Table.of([3, 1], ["sex"]).matrix).tolist()
    [1, 2]
    """
    by_cell = matrix.tocsc()
    alone = np.flatnonzero(np.diff(by_cell.indptr) == 1)
    at = by_cell.indptr[alone]
    alone, inner = alone[by_cell.data[at] == 1], by_cell.indices[at][by_cell.data[at] == 1]
    variable = np.full(matrix.shape[0], -1, np.int64)
    variable[inner[::-1]] = alone[::-1]  # the first of several
    new = np.flatnonzero(variable < 0)
    variable[new] = matrix.shape[1] + np.arange(len(new))
    return variable


def of_matrix(matrix: csr_array, cells: Array | None = None) -> csr_array:
    """One row for each (given) cell: the cell is the sum of its inner cells. Exact for any matrix."""
    from scipy.sparse import coo_array, csr_array

    variable = variable_of_inner(matrix)
    size = max(matrix.shape[1], int(variable.max(initial=-1)) + 1)
    named = np.zeros(matrix.shape[1], bool)
    named[variable[variable < matrix.shape[1]]] = True
    wanted = np.flatnonzero(~named) if cells is None else cells
    part = matrix.tocsc()[:, wanted].tocoo()
    rows = np.concatenate([part.col, np.arange(len(wanted))])
    columns = np.concatenate([variable[part.row], wanted])
    data = np.concatenate([part.data.astype(float), np.full(len(wanted), -1.0)])
    relations = csr_array(coo_array((data, (rows, columns)), shape=(len(wanted), size)).tocsr())
    relations.eliminate_zeros()  # a cell that is its only inner cell says nothing
    return relations


def of_layout(layout: Layout, *, independent: bool = False) -> csr_array:
    """The rows of a table: along every dimension each code is the sum of its parts, where all of them are cells.

    ``independent``: of a table that has every combination of codes only rows that do not follow from others; those
    along a dimension stand at the finest codes of the dimensions behind it, the one with most sums being the last.

    >>> from discreet import Table
    >>> layout = Table.of([[3, 0], [1, 2]], ["area", "sex"]).layout
    >>> of_layout(layout).shape, of_layout(layout, independent=True).shape
    ((6, 9), (5, 9))
    """
    from scipy.sparse import coo_array, csr_array, vstack

    n = len(layout)
    flat = layout.flat
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    rows, columns, data, explained, count = [], [], [], np.zeros(n, bool), 0
    shape = layout.code_shape
    behind = _finest_behind(layout) if independent and n == int(np.prod(shape, dtype=np.int64)) else None
    for k, dimension in enumerate(layout.dimensions):
        stride = int(np.prod(shape[k + 1 :], dtype=np.int64))
        for parent, parts in dimension.relations:
            here = layout.codes[:, k] == dimension.position[parent]
            at = np.flatnonzero(here if behind is None else here & behind[k])
            base = flat[at] - dimension.position[parent] * stride
            wanted = base[:, None] + np.array([dimension.position[p] for p, _ in parts]) * stride
            place = np.minimum(np.searchsorted(ordered, wanted), n - 1)
            whole = (ordered[place] == wanted).all(axis=1)
            at, child = at[whole], order[place[whole]]
            explained[at] = True
            number = count + np.arange(len(at))
            count += len(at)
            rows += [number, np.repeat(number, len(parts))]
            columns += [at, child.ravel()]
            data += [np.full(len(at), -1.0), np.tile([float(s) for _, s in parts], len(at))]
    leaf = np.flatnonzero(layout.inner_of_cell >= 0)
    variable = variable_of_inner(layout.matrix)  # where another cell stands for an inner cell, the two are tied
    explained[leaf] |= variable[layout.inner_of_cell[leaf]] == leaf
    rest = of_matrix(layout.matrix, np.flatnonzero(~explained & (layout.parts > 0)))
    if not count:
        return rest
    sums = coo_array(
        (np.concatenate(data), (np.concatenate(rows), np.concatenate(columns))), shape=(count, rest.shape[1])
    )
    return csr_array(vstack([sums.tocsr(), rest], format="csr"))


def _finest_behind(layout: Layout) -> list[Array]:
    """Per dimension which cells have the finest codes in all dimensions with more sums (masks)."""
    finest = [np.array([code in d.leaf_position for code in d.codes]) for d in layout.dimensions]
    fine = [own[layout.codes[:, k]] for k, own in enumerate(finest)]
    order = sorted(range(len(finest)), key=lambda k: (len(layout.dimensions[k].relations), k))
    masks = [np.ones(len(layout), bool) for _ in finest]
    for place, k in enumerate(order):
        for other in order[place + 1 :]:
            masks[k] &= fine[other]
    return masks
