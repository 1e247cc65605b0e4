"""Insiders: what follows for one who adds his own inner cells to what is published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.base.annotations import Array
from discreet.methods.suppress.gauss.eliminate import Pattern, eliminate, shortest_first
from discreet.methods.suppress.gauss.tied_columns import TiedColumns

if TYPE_CHECKING:
    from scipy.sparse import csc_array


def close_insiders(
    matrix: Any,
    tied: TiedColumns,
    primary: Array,
    order: Array,
    forced: int,
    secondary: Array,
    group: Array,
    *,
    rounds: int,
) -> Pattern:
    """Withhold more until no sensitive column follows for one who knows his own inner cells; exact.

    The test during elimination compares columns pair by pair and can miss a combination of several. Here everybody who
    can still open one gets an elimination of his own, with his cells let in first.
    """
    more = list(secondary)
    unsafe = primary[:0]
    for _ in range(rounds):
        published = order[~np.isin(order, more)]
        who = openers(matrix, published, primary, group, tied=tied)
        if not who.any() or len(unsafe):
            break
        for insider in np.unique(who[who > 0]):
            rows = np.flatnonzero(group == insider)
            columns = tied.with_inner(rows)
            published = order[~np.isin(order, more)]
            pattern = eliminate(
                columns,
                primary[who == insider],
                published,
                known=np.concatenate([tied.known, tied.residues.shape[1] + np.arange(len(rows))]),
                forced=int((~np.isin(order[:forced], more)).sum()),
                modular_columns=columns,
                pivots=tied.pivots,
            )
            more += pattern.secondary.tolist()
            unsafe = np.union1d(unsafe, pattern.unsafe)
    return Pattern(np.array(more, np.int64), unsafe)


def openers(
    matrix: Any,
    basis_columns: Any,
    target_columns: Any,
    group: Array,
    nothing: Array | None = None,
    *,
    tied: TiedColumns | None = None,
) -> Array:
    """For each target the number of somebody for whom it follows: he knows the basis columns and his own rows.

    ``group`` has for every row 0 or the number of its owner; 0 in the answer says that nobody can. A target within
    somebody's own rows is his anyway and does not count; rows of ``nothing`` hold nothing of anybody else's either.
    ``tied``: the same columns in fewer entries.

    >>> from scipy.sparse import csr_array
    >>> openers(csr_array([[1, 1, 0], [1, 0, 1]]), [0], [1, 2], np.array([7, 0])).tolist()
    [0, 7]
    """
    from scipy.sparse import csc_array

    from discreet.linear.modular import positions, span_of

    tied = TiedColumns.plain(matrix) if tied is None else tied
    rows = np.flatnonzero(group)
    columns = tied.with_inner(rows)
    first = tied.residues.shape[1]
    basis = positions(basis_columns, matrix.shape[1])
    targets = positions(target_columns, matrix.shape[1])
    who_learns = np.zeros(len(targets), np.int64)
    known = shortest_first(columns, tied.known)
    inner = first + np.arange(len(rows))
    everybody = span_of(columns, np.concatenate([known, basis, inner]), targets, tied.pivots)[1]
    asked = np.flatnonzero(np.diff(everybody.indptr) == 0)  # the others are safe from all of them together
    if not len(asked):
        return who_learns
    left = span_of(columns, np.concatenate([known, basis]), np.concatenate([targets[asked], inner]), tied.pivots)[1]
    left = csc_array(left.tocsr()[np.unique(left.indices)].tocsc())  # only rows that matter
    left.indices = left.indices.astype(np.int32)
    left.indptr = left.indptr.astype(np.int64)
    target, owner = _covering(left, len(asked), group[rows])
    part = matrix.tocsc()[:, targets[asked]]
    empty = np.zeros(len(part.indices), bool) if nothing is None else nothing[part.indices]
    low = np.minimum.reduceat(np.where(empty, np.iinfo(group.dtype).max, group[part.indices]), part.indptr[:-1])
    high = np.maximum.reduceat(np.where(empty, 0, group[part.indices]), part.indptr[:-1])
    others = ~((low == high)[target] & (low[target] == owner))
    target = target[others]
    owner = owner[others]
    for who in np.unique(owner):
        mine = target[owner == who]
        rest = span_of(left, len(asked) + np.flatnonzero(group[rows] == who), mine)[1]
        who_learns[asked[mine[np.diff(rest.indptr) == 0]]] = who
    return who_learns


def _covering(left: csc_array, many: int, group: Array) -> tuple[Array, Array]:
    """Pairs of a target (the first columns) and an owner (of the others) whose columns touch all of its rows."""
    from scipy.sparse import csc_array

    touch = csc_array((np.ones(len(left.data), np.int32), left.indices, left.indptr), shape=left.shape)
    names, owner = np.unique(group, return_inverse=True)
    shape = (len(group), len(names))
    whose = csc_array((np.ones(len(group), np.int32), (np.arange(len(group)), owner)), shape=shape)
    reach = touch[:, many:] @ whose
    reach.data[:] = 1
    shared = (touch[:, :many].T @ reach).tocoo()
    full = shared.data == np.diff(touch.indptr)[:many][shared.row]
    return shared.row[full].astype(np.int64), names[shared.col[full]]
