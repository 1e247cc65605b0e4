"""Connected parts: variables that rows tie together, directly or through others, and the system of each part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from discreet.base.annotations import Array
from discreet.linear.system import System

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def labels(rows: csr_array, tied: Array | None = None) -> tuple[Array, Array]:
    """A number for each row and each column, the same for all that hang together; ``tied``: columns that tie at all.

    >>> from scipy.sparse import csr_array
    >>> [part.tolist() for part in labels(csr_array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))]
    [[0, 1], [0, 0, 1]]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    entries, (m, n) = rows.tocoo(), rows.shape
    ties = np.ones(entries.nnz, bool) if tied is None else tied[entries.col] & (entries.data != 0)
    ends = (entries.row[ties], m + entries.col[ties])
    graph = coo_array((np.ones(int(ties.sum()), np.int8), ends), shape=(m + n, m + n))
    label = np.asarray(connected_components(graph.tocsr(), directed=False)[1], np.int64)
    return label[:m], label[m:]


def components(system: System) -> Iterator[tuple[System, Array]]:
    """Parts that share no row, each with the numbers of its variables; variables in no row are left out."""
    m = system.rows.shape[0]
    if not m:
        return
    row_label, column_label = labels(system.rows)
    row_order = np.argsort(row_label, kind="stable")
    column_order = np.argsort(column_label, kind="stable")
    names, row_start = np.unique(row_label[row_order], return_index=True)
    row_stop = np.append(row_start[1:], m)
    column_label = column_label[column_order]
    for name, a, b in zip(names, row_start, row_stop, strict=True):
        first, last = np.searchsorted(column_label, [name, name + 1])
        variables = np.sort(column_order[first:last])
        numbers = np.sort(row_order[a:b])
        part = system.rows[numbers][:, variables].tocsr()
        part.sort_indices()
        point = None if system.point is None else system.point[variables]
        lower = system.lower[variables]
        upper = system.upper[variables]
        yield System(part, system.rhs[numbers], lower, upper, system.integer, point), variables
