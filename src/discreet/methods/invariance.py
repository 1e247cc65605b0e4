"""Transition matrices that keep the distribution they start from, and draws that keep it exactly. [JOS15]_ 3.3."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.base.annotations import Array, Floats
from discreet.errors import InputError

_WHOLE = 1e-7  # how far from a whole number still counts as one


def read_matrix(matrix: Any, size: int | None = None) -> Floats:
    """A square matrix of probabilities, rows with sum 1."""
    try:
        p = np.array(matrix, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("the transition matrix is not an array of numbers") from error
    if p.ndim != 2 or p.shape[0] != p.shape[1] or not p.size:
        raise InputError(f"the transition matrix has shape {p.shape}: give as many rows as columns")
    if size is not None and len(p) != size:
        raise InputError(f"the transition matrix has {len(p)} rows: give one for each of the {size} categories")
    if not np.isfinite(p).all() or p.min() < 0 or np.abs(p.sum(axis=1) - 1).max() > 1e-9:
        raise InputError("the rows of the transition matrix are probabilities: each 0 or more, with sum 1")
    p /= p.sum(axis=1, keepdims=True)
    return p


def invariant(matrix: Any, frequencies: Any, alpha: float = 1.0) -> Floats:
    r"""R = α P Q + (1 - α) I with :math:`Q_{ji} = p_{ij} t_i / \sum_k p_{kj} t_k`, so that t R = t.

    The two-stage invariant matrix of Willenborg and de Waal (2001), as in Shlomo and Young (2008) and [JOS15]_ 3.3.

    >>> r = invariant([[0.8, 0.2], [0.4, 0.6]], [30, 10])
    >>> (np.array([30, 10]) @ r).round(12).tolist()
    [30.0, 10.0]
    """
    t = np.asarray(frequencies, np.float64)
    p = read_matrix(matrix, len(t))
    if not 0 <= alpha <= 1:
        raise InputError(f"alpha={alpha}: give a share from 0 (nothing moves) to 1")
    if not np.isfinite(t).all() or t.min() < 0:
        raise InputError("frequencies are 0 or more")
    joint = t[:, None] * p
    arrived = joint.sum(axis=0)
    back = np.divide(joint.T, arrived[:, None], out=np.eye(len(t)), where=arrived[:, None] > 0)
    r: Floats = alpha * (p @ back) + (1 - alpha) * np.eye(len(t))
    r[t == 0] = np.eye(len(t))[t == 0]  # nobody is there to move
    r /= r.sum(axis=1, keepdims=True)
    return r


def apportioned(matrix: Floats, frequencies: Array, rng: np.random.Generator) -> Array:
    """How many of each category go where: the expected numbers t_i r_ij, each rounded up or down at random.

    Rows are exact, and for an invariant matrix columns too, so that the frequencies after the move are those before;
    the mean of every number is its expectation (Cox 1987).

    >>> r = invariant([[0.8, 0.2], [0.4, 0.6]], [30, 10])
    >>> apportioned(r, np.array([30, 10]), np.random.default_rng(1)).sum(axis=0).tolist()
    [30, 10]
    """
    expected = np.asarray(frequencies, np.float64)[:, None] * matrix
    columns = expected.sum(axis=0)
    slack = np.ceil(columns - _WHOLE) - columns  # what makes columns whole that are not
    return cox(np.vstack([expected, np.maximum(slack, 0)]), rng)[:-1]


def cox(x: Floats, rng: np.random.Generator) -> Array:
    """A matrix with whole row and column sums rounded at random, sums kept, every entry unbiased. Cox (1987).

    >>> cox(np.array([[0.5, 0.5], [0.5, 0.5]]), np.random.default_rng(0)).sum(axis=0).tolist()
    [1, 1]
    """
    x = np.array(x, np.float64)
    while True:
        loose = np.abs(x - np.rint(x)) > _WHOLE
        if not loose.any():
            return np.rint(x).astype(np.int64)
        cycle = _cycle(loose)
        if cycle is None:
            raise InputError("the rows and columns of the matrix do not have whole sums, so it cannot be rounded")
        at = tuple(np.array(cycle).T)
        part = x[at] - np.floor(x[at])
        sign = np.where(np.arange(len(cycle)) % 2 == 0, 1.0, -1.0)
        up = np.where(sign > 0, 1 - part, part).min()
        down = np.where(sign > 0, part, 1 - part).min()
        x[at] += sign * (up if rng.random() * (up + down) < down else -down)


def _cycle(loose: Array) -> list[tuple[int, int]] | None:
    """Entries that alternate along rows and columns and close, from a walk over those that are not whole."""
    i, j = (int(a[0]) for a in np.nonzero(loose))
    path, seen = [(i, j)], {i: 0}
    while True:
        others = [int(k) for k in np.flatnonzero(loose[i]) if k != j]
        if not others:
            return None
        j = others[0]
        path.append((i, j))
        rows = [int(k) for k in np.flatnonzero(loose[:, j]) if k != i]
        if not rows:
            return None
        back = [k for k in rows if k in seen]
        i = back[-1] if back else rows[0]
        if back:
            out = seen[i] + 1  # where the walk once left the row it comes back to; by the same column, perhaps
            return path[out + 1 :] if path[out] == (i, j) else [*path[out:], (i, j)]
        seen[i] = len(path)
        path.append((i, j))


def assign(kind: Array, chance: Floats, numbers: Array) -> Array:
    """What every member becomes: those of kind i, in the order of their chance, fill the numbers of row i.

    >>> assign(np.array([0, 0, 1]), np.array([0.9, 0.1, 0.5]), np.array([[1, 1], [0, 1]])).tolist()
    [1, 0, 1]
    """
    order = np.lexsort((chance, kind))
    sizes = np.bincount(kind, minlength=len(numbers))
    first = np.cumsum(sizes) - sizes
    rank = np.arange(len(kind)) - first[kind[order]]
    ends = np.cumsum(numbers, axis=1)
    out = np.empty(len(kind), np.int64)
    out[order] = (rank[:, None] >= ends[kind[order]]).sum(axis=1)
    return out


def draw(kind: Array, chance: Floats, matrix: Floats) -> Array:
    """What every member becomes, each drawn on its own from the row of its kind."""
    ends = np.cumsum(matrix, axis=1)
    for i, p in enumerate(matrix):
        ends[i, int(np.flatnonzero(p)[-1]) :] = 2.0
    out = np.zeros(len(kind), np.int64)
    for j in range(matrix.shape[1] - 1):
        out += chance >= ends[:, j][kind]
    return out
