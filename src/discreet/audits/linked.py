"""Linked tables as one system of sums: its rank, what in it is said twice, what a pattern of hidden cells sets free.

Everything here is exact elimination modulo a prime: no linear program, no tolerance (ODF03 sections 4.4 and 4.5).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audits.view import view
from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.errors import InputError
from discreet.release import Protected
from discreet.tables.table import Table

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Released = Table | Protected | Sequence[Protected]


@checked
def released_rank(released: Released) -> int:
    """Rank of the system of published sums: n_inner minus it is what stays undetermined (ODF03 section 4.5).

    >>> t = Table.of(np.ones((3, 4, 3), int), ["A", "S", "R"])
    >>> tables = [("A", "S"), ("A", "R"), ("S", "R")]
    >>> [released_rank(t.with_margins(tables[:k])) for k in (1, 2, 3)]
    [12, 18, 24]
    """
    from discreet.linear import modular

    matrix, shown = _columns(released)
    return modular.rank(matrix, np.flatnonzero(shown))


@checked
def freedom(released: Released, pattern: Array) -> int:
    """Degrees of freedom gained by hiding a pattern (mask over the cells): the rank that the released system loses.

    >>> t = Table.of(np.ones((3, 4), int), ["A", "S"])
    >>> freedom(t, t.where(A=["1", "2"], S=["1", "2"]))
    1
    """
    from discreet.linear import modular

    matrix, shown = _columns(released)
    pattern = np.asarray(pattern)
    if pattern.shape != shown.shape or pattern.dtype != bool:
        raise InputError(f"a pattern is a mask over the {len(shown):,} cells")
    before = modular.rank(matrix, np.flatnonzero(shown))
    return before - modular.rank(matrix, np.flatnonzero(shown & ~pattern))


@checked
def exactly_known(released: Protected | Sequence[Protected]) -> Array:
    """Hidden cells that are sums and differences of published ones (mask): by rank alone, in one elimination.

    Whoever adds and subtracts finds these. Non-negativity may give away more: see ``unmovable`` and ``audit``.
    A hidden cell is determined if the sums, with what is published taken out, combine to that cell alone.

    >>> import discreet as dc
    >>> table = Table.of([[20, 50], [10, 2]], ["area", "sex"])
    >>> exactly_known(dc.protect(table, dc.Redact(2))).tolist()
    [False, False, False, False, False, False, False, False, True]
    """
    from scipy.sparse import coo_array, hstack

    from discreet.linear import modular

    seen = view(released)
    cells = seen.known.matrix.shape[1]
    system = seen.known.system()
    open_ = np.ones(system.size, bool)
    empty = np.diff(seen.known.matrix.tocsc().indptr) == 0  # structural zeros only
    open_[:cells] = seen.unknown & ~empty
    rows = _once(system.rows[:, np.flatnonzero(open_)].tocsr())
    targets = np.flatnonzero(open_[:cells])  # the cells come first among the variables that are open
    known = np.asarray(seen.unknown & empty)
    if not len(targets) or not rows.shape[0]:
        return known
    one = np.ones(len(targets), np.int8)
    units = coo_array((one, (np.arange(len(targets)), np.arange(len(targets)))), shape=(rows.shape[1], len(targets)))
    both = hstack([rows.T, units], format="csc")
    known[targets] = modular.in_span(both, np.arange(rows.shape[0]), rows.shape[0] + np.arange(len(targets)))
    return known


def _once(rows: csr_array) -> csr_array:
    """Rows that still say something, each once, the short ones first: they are what elimination likes to begin with."""
    size = np.diff(rows.indptr)
    held = np.flatnonzero(size > 0)
    keys = {}
    for r in held[::-1].tolist():
        span = slice(rows.indptr[r], rows.indptr[r + 1])
        keys[rows.indices[span].tobytes() + (rows.data[span] * rows.data[span][0]).tobytes()] = r
    kept = np.array(sorted(keys.values(), key=lambda r: int(size[r])), np.int64)
    return rows[kept]


@checked
def redundant(released: Released) -> Array:
    """Published cells that follow from the other published ones (mask): each alone can be hidden without any effect.

    >>> t = Table.of([3, 1], ["area"])
    >>> redundant(t).tolist()
    [True, True, True]
    """
    from discreet.linear import modular

    matrix, shown = _columns(released)
    cells = np.flatnonzero(shown)
    follows = np.zeros(len(shown), bool)
    dependent = np.flatnonzero(spare(released))
    if not len(dependent):
        return follows
    base = np.setdiff1d(cells, dependent)
    # a cell is in a circle of sums if it is spare, or if some spare cell needs it: try each base cell that is left out
    follows[dependent] = True
    for cell in base:
        follows[cell] = bool(modular.in_span(matrix, np.setdiff1d(cells, [cell]), np.array([cell]))[0])
    return follows


@checked
def spare(released: Released) -> Array:
    """A largest set of published cells that can all be hidden together without any effect (mask); later cells first.

    >>> t = Table.of([3, 1], ["area"])
    >>> spare(t).tolist()
    [False, False, True]
    """
    matrix, shown = _columns(released)
    cells = np.flatnonzero(shown)
    mask = np.zeros(len(shown), bool)
    mask[_dependent(matrix, np.array([], np.int64), cells)] = True
    return mask


def _dependent(matrix: Any, base: Array, cells: Array) -> Array:
    """Of cells in order, those that the base and the ones before them determine; by halving, few eliminations."""
    from discreet.linear import modular

    if not len(cells):
        return cells
    free = modular.rank(matrix, np.concatenate([base, cells])) - (modular.rank(matrix, base) if len(base) else 0)
    if free == len(cells):
        return cells[:0]
    if free == 0:
        return cells
    half = len(cells) // 2
    first = _dependent(matrix, base, cells[:half])
    kept = np.setdiff1d(cells[:half], first)
    return np.concatenate([first, _dependent(matrix, np.concatenate([base, kept]), cells[half:])])


def _columns(released: Released) -> tuple[Any, Array]:
    """The matrix over common inner cells and which of its columns are published as they are."""
    if isinstance(released, Table):
        return released.matrix, np.ones(len(released), bool)
    seen = view(released)
    return seen.known.matrix, ~seen.unknown
