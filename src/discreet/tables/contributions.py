"""The largest contributions to every cell, margins included, from those of the inner cells.

A contributor who stands in one inner cell only is among the largest of a margin only if he is among the largest of
that cell, so lists of the largest can be merged upwards. One who stands in several (a holding with firms in many
regions) is added up cell by cell first: his small parts may make him the largest of a total.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.base.annotations import Array
from discreet.data.dimension import Dimension
from discreet.tables.layout import Layout


@dataclass(frozen=True, eq=False)
class Spanning:
    """Contributors with parts in more than one inner cell: one row per part, in whole numbers that add exactly."""

    inner: Array  # row of the inner cell
    contributor: Array
    value: Array  # in units of 10**-decimals
    weighted: Array  # in units of 10**-weighted_decimals
    decimals: int
    weighted_decimals: int


@dataclass(frozen=True, eq=False)
class Contributions:
    """Per cell the largest contributions in size (absolute value), largest first, and how many contributors there are.

    ``value`` is NaN and ``contributor`` −1 where a cell has fewer, and everywhere in a cell that takes inner cells
    away (a signed group), where nobody's contribution is defined. ``count`` is −1 there.
    """

    value: Array  # cells x top
    weight: Array  # cells x top
    contributor: Array  # cells x top
    count: Array  # cells

    @property
    def top(self) -> int:
        return int(self.value.shape[1])

    def take(self, rows: Array) -> Contributions:
        """The same for some cells."""
        return Contributions(self.value[rows], self.weight[rows], self.contributor[rows], self.count[rows])


def merge_up(layout: Layout, inner: Contributions, spanning: Spanning | None) -> Contributions:
    """Contributions of every published cell."""
    parts = []
    for block, new in zip(layout.blocks, layout.fresh, strict=True):
        grids = [_grid(layout, a) for a in (inner.value, inner.weight, inner.contributor)]
        for k in sorted(range(len(block)), key=lambda k: len(block[k]) / layout.shape[k]):
            grids = _merge_axis(grids, k, layout.dimensions[k], block[k])
        flat = [g.reshape(-1, inner.top) for g in grids]
        parts.append(flat if new is None else [f[new] for f in flat])
    value, weight, contributor = (np.concatenate([p[i] for p in parts]) for i in range(3))
    count = layout.aggregate(inner.count)
    contributions = Contributions(value, weight, contributor, count)
    if spanning is not None and len(spanning.inner):
        contributions = _add_spanning(layout, contributions, spanning)
    signed = layout.signed
    if signed.any():
        contributions.value[signed], contributions.weight[signed] = np.nan, np.nan
        contributions.contributor[signed], contributions.count[signed] = -1, -1
    return contributions


def largest(value: Array, weight: Array, contributor: Array, top: int) -> tuple[Array, Array, Array]:
    """The ``top`` largest in size along the last axis, NaN last.

    Ties go to the positive one, the smaller contributor number, the larger weight: as engines rank them, so that a
    table has the same ones however it is put together.
    """
    pools = [pool.reshape(-1, pool.shape[-1]) for pool in (value, weight, contributor)]
    size = np.where(np.isnan(pools[0]), -1.0, np.abs(pools[0]))
    if top < size.shape[1]:
        some = np.argpartition(-size, top - 1, axis=1)[:, :top]
        least = np.take_along_axis(size, some, 1).min(axis=1)
        tied = np.flatnonzero((least >= 0) & ((size >= least[:, None]).sum(axis=1) > top))
        some[tied] = _ranked([pool[tied] for pool in pools], size[tied])[:, :top]
        pools = [np.take_along_axis(pool, some, 1) for pool in pools]
        size = np.take_along_axis(size, some, 1)
    order = _ranked(pools, size)
    first, second, third = (np.take_along_axis(pool, order, 1).reshape(*value.shape[:-1], -1) for pool in pools)
    return first, second, third


def _ranked(pools: list[Array], size: Array) -> Array:
    """Places along the last axis, of the first in rank first."""
    return np.lexsort(rank_keys(pools[0], pools[1], pools[2], size), axis=-1)


def rank_keys(value: Array, weight: Array, contributor: Array, size: Array) -> tuple[Array, Array, Array, Array]:
    """What contributions are ranked by, for ``np.lexsort``: the last counts most."""
    return -np.nan_to_num(weight), contributor, value < 0, -size


def _grid(layout: Layout, rows: Array) -> Array:
    """Per-inner rows laid out over the product of leaves."""
    if layout.possible is None:
        return rows.reshape(*layout.shape, rows.shape[1])
    empty = -1 if rows.dtype.kind == "i" else np.nan
    full = np.full((layout.possible.size, rows.shape[1]), empty, rows.dtype)
    full[layout.inner] = rows
    return full.reshape(*layout.shape, rows.shape[1])


def _merge_axis(grids: list[Array], axis: int, dimension: Dimension, codes: Array) -> list[Array]:
    """Replace the leaves on an axis by codes, each with the largest of its leaves."""
    shape = grids[0].shape
    top, pre, post = shape[-1], math.prod(shape[:axis]), math.prod(shape[axis + 1 : -1])
    old = [g.reshape(pre, shape[axis], post, top) for g in grids]
    out = [np.empty((pre, len(codes), post, top), g.dtype) for g in grids]
    matrix = dimension.matrix
    for j, code in enumerate(codes):
        leaves = matrix.indices[matrix.indptr[code] : matrix.indptr[code + 1]]
        if len(leaves) == 1:
            for o, g in zip(out, old, strict=True):
                o[:, j] = g[:, leaves[0]]
            continue
        pool = [np.moveaxis(g[:, leaves], 1, 2).reshape(pre, post, len(leaves) * top) for g in old]
        for o, best in zip(out, largest(*pool, top), strict=True):  # type: ignore[arg-type, call-arg]
            o[:, j] = best
    return [o.reshape(*shape[:axis], len(codes), *shape[axis + 1 :]) for o in out]


def _add_spanning(layout: Layout, merged: Contributions, spanning: Spanning) -> Contributions:
    """Add up each spanning contributor within every cell, then let him stand beside the others."""
    matrix = layout.matrix[spanning.inner].tocoo()
    part, cell = matrix.row.astype(np.int64), matrix.col.astype(np.int64)
    order = np.lexsort((spanning.contributor[part], cell))
    part, cell = part[order], cell[order]
    who = spanning.contributor[part]
    starts = np.flatnonzero(np.concatenate([[True], (cell[1:] != cell[:-1]) | (who[1:] != who[:-1])]))
    value = np.add.reduceat(spanning.value[part], starts) / 10**spanning.decimals
    weighted = np.add.reduceat(spanning.weighted[part], starts) / 10**spanning.weighted_decimals
    cell, who = cell[starts], who[starts]
    count = merged.count + np.bincount(cell, minlength=len(layout))
    order = np.lexsort((who, -np.abs(value), cell))
    cell, who, value, weighted = cell[order], who[order], value[order], weighted[order]
    first = np.flatnonzero(np.concatenate([[True], cell[1:] != cell[:-1]]))
    rank = np.arange(len(cell)) - np.repeat(first, np.diff(np.append(first, len(cell))))
    keep = rank < merged.top
    cell, who, value, weighted, rank = cell[keep], who[keep], value[keep], weighted[keep], rank[keep]
    cells, row = np.unique(cell, return_inverse=True)
    shape = (len(cells), merged.top)
    v, w, c = np.full(shape, np.nan), np.full(shape, np.nan), np.full(shape, -1)
    v[row, rank], c[row, rank] = value, who
    w[row, rank] = np.divide(weighted, value, out=np.ones_like(weighted), where=value != 0)
    old = merged.take(cells)
    best = largest(
        np.concatenate([old.value, v], 1),
        np.concatenate([old.weight, w], 1),
        np.concatenate([old.contributor, c], 1),
        merged.top,
    )
    merged.value[cells], merged.weight[cells], merged.contributor[cells] = best
    return Contributions(merged.value, merged.weight, merged.contributor, count)
