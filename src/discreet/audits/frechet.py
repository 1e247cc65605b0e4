"""Fréchet bounds: the exact interval of every inner cell when the published margins are decomposable."""

from __future__ import annotations

import itertools

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.tables.layout import Layout


@checked
def frechet(layout: Layout, cells: Array) -> tuple[Array, Array] | None:
    r"""Least and greatest value of each inner cell from complete, decomposable margins; None where that does not apply.

    .. math:: \max(0, \sum_C n_C - \sum_S n_S) \le n \le \min_C n_C

    over the cliques C and separators S of the margins. ``cells`` are the published values, none hidden, of a table
    whose inner cells are known not to be negative.

    >>> from discreet import Table
    >>> t = Table.of([[3, 0], [1, 2]], ["area", "sex"]).with_margins([("area",), ("sex",)])
    >>> [b.tolist() for b in frechet(t.layout, t.value)]
    [[1.0, 0.0, 1.0, 0.0], [3.0, 2.0, 3.0, 2.0]]
    """
    if layout.possible is not None or layout.signed.any():
        return None
    cliques = _cliques(layout)
    tree = _junction_tree(cliques)
    if tree is None:
        return None
    margins = {clique: _margin(layout, cells, clique) for clique in cliques}
    upper = np.full(layout.shape, np.inf)
    total = np.zeros(layout.shape)
    for margin in margins.values():
        upper = np.minimum(upper, margin)
        total = total + margin
    for a, b in tree:
        shared = a & b
        axes = tuple(k for k in a if k not in shared)
        total = total - margins[a].sum(axis=axes, keepdims=True)
    covered = frozenset().union(*cliques)
    every = all(k in covered or n == 1 for k, n in enumerate(layout.shape))
    lower = np.maximum(total, 0.0) if every else np.zeros(layout.shape)
    return lower.ravel(), upper.ravel()


def _cliques(layout: Layout) -> list[frozenset[int]]:
    """Largest sets of dimensions whose finest margin is published; empty if a margin is published that none implies."""
    whole, every = [], []
    for block in layout.blocks:
        fine, used = [], []
        for k, (codes, d) in enumerate(zip(block, layout.dimensions, strict=True)):
            names = {d.codes[c] for c in codes}
            if names >= set(d.leaves) and len(d.leaves) > 1:
                fine.append(k)
            if any(len(d.leaves_of(n)) < len(d.leaves) for n in names):
                used.append(k)
        has_total = all(
            k in fine or len(d.leaves) == 1 or any(len(d.leaves_of(d.codes[c])) == len(d.leaves) for c in block[k])
            for k, d in enumerate(layout.dimensions)
        )
        if has_total:
            whole.append(frozenset(fine))
        every.append(frozenset(used))
    cliques = [c for c in dict.fromkeys(whole) if not any(c < other for other in whole)]
    return cliques if all(any(u <= c for c in cliques) for u in every) else []


def _junction_tree(cliques: list[frozenset[int]]) -> list[tuple[frozenset[int], frozenset[int]]] | None:
    """Pairs of neighbouring cliques, or None if the cliques have no such tree."""
    if not cliques:
        return None
    tree, inside = [], [cliques[0]]
    while len(inside) < len(cliques):
        pairs = itertools.product([c for c in cliques if c not in inside], inside)
        new, old = max(pairs, key=lambda pair: len(pair[0] & pair[1]))
        tree.append((new, old))
        inside.append(new)
    shared = sum(len(a & b) for a, b in tree)
    return tree if shared == sum(map(len, cliques)) - len(frozenset().union(*cliques)) else None


def _margin(layout: Layout, cells: Array, clique: frozenset[int]) -> Array:
    """The published finest margin of some dimensions, with axes of length 1 for the others."""
    index = []
    for k, d in enumerate(layout.dimensions):
        if k in clique or len(d.leaves) == 1:
            index.append(np.array([d.position[leaf] for leaf in d.leaves]))
        else:
            held = set(layout.codes[:, k].tolist())
            index.append(np.array([next(c for c in held if len(d.leaves_of(d.codes[c])) == len(d.leaves))]))
    flat = np.ravel_multi_index(np.ix_(*index), layout.code_shape)
    order = np.argsort(layout.flat)
    at = order[np.searchsorted(layout.flat[order], flat.ravel())]
    return np.asarray(cells, float)[at].reshape(flat.shape)
