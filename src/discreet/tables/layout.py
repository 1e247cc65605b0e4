"""Which cells a table publishes over which inner cells: geometry only, no numbers.

Every published cell is one code per dimension, so margins, hierarchies and linked tables are all just more columns
of one sparse matrix (inner cells x published cells).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.base.annotations import Array
from discreet.data.dimension import Dimension
from discreet.errors import InputError, listed, many, nearest

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Margin = Sequence[str] | Mapping[str, str | Sequence[str]]
Structural = Array | Sequence[Mapping[str, str | Sequence[str]]]

MOST_INNER = 60_000_000  # one statistic of so many inner cells takes half a gigabyte
MOST_ENTRIES = 2**31 - 1


@dataclass(frozen=True, eq=False, repr=False)
class Layout:
    """Published cells over inner cells.

    ``blocks``: for every margin, the code positions taken from each dimension; a cell in two blocks counts once.
    ``possible``: which cells of the product of leaves can exist; None when all can.
    """

    dimensions: tuple[Dimension, ...]
    blocks: tuple[tuple[Array, ...], ...]
    possible: Array | None = None

    @classmethod
    def of(
        cls,
        dimensions: Sequence[Dimension],
        margins: Sequence[Margin] | None = None,
        structural: Structural | None = None,
    ) -> Layout:
        """All codes of all dimensions crossed, or the given margins of that cross-classification."""
        dimensions = tuple(dimensions)
        names = [d.name for d in dimensions]
        if not names:
            raise InputError("a table needs at least one dimension")
        if len(set(names)) < len(names):
            raise InputError(f"a dimension is named twice: {listed(names)}")
        inner = math.prod(len(d.leaves) for d in dimensions)
        if inner > MOST_INNER:
            raise InputError(
                f"{' x '.join(names)} has {inner:,} inner cells, more than {MOST_INNER:,}; "
                "take fewer dimensions or coarser codes"
            )
        if margins is None:
            blocks: tuple[tuple[Array, ...], ...] = (tuple(np.arange(len(d.codes)) for d in dimensions),)
        else:
            blocks = tuple(_block(dimensions, margin) for margin in margins)
        if not blocks:
            raise InputError("no margins given; leave margins out to publish all of them")
        return cls(dimensions, blocks, _possible(dimensions, structural))

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Leaves per dimension."""
        return tuple(len(d.leaves) for d in self.dimensions)

    @cached_property
    def code_shape(self) -> tuple[int, ...]:
        """Codes per dimension, groups and totals included."""
        return tuple(len(d.codes) for d in self.dimensions)

    @cached_property
    def inner(self) -> Array:
        """Positions of the inner cells in the product of leaves, structural zeros left out."""
        return np.arange(math.prod(self.shape)) if self.possible is None else np.flatnonzero(self.possible)

    @property
    def n_inner(self) -> int:
        return math.prod(self.shape) if self.possible is None else len(self.inner)

    @cached_property
    def _flat(self) -> tuple[Array, list[Array | None]]:
        """``flat`` and ``fresh``, which are found together."""
        seen = np.empty(0, np.int64)
        parts: list[Array] = []
        news: list[Array | None] = []
        for block in self.blocks:
            flat = _outer([codes * stride for codes, stride in zip(block, _strides(self.code_shape), strict=True)])
            flat = flat.ravel()
            new = None if not len(seen) else np.flatnonzero(~np.isin(flat, seen, assume_unique=True))
            news.append(new)
            parts.append(flat if new is None else flat[new])
            if len(self.blocks) > 1:
                seen = np.concatenate([seen, parts[-1]])
        return np.concatenate(parts), news

    @property
    def flat(self) -> Array:
        """Each cell's position in the product of codes."""
        return self._flat[0]

    @property
    def fresh(self) -> list[Array | None]:
        """For each block which of its cells stand in no block before it; None for all."""
        return self._flat[1]

    @cached_property
    def codes(self) -> Array:
        """The code positions of every cell, one column per dimension."""
        return np.stack(np.unravel_index(self._flat[0], self.code_shape), axis=1).astype(np.int32)

    def __len__(self) -> int:
        return len(self._flat[0])

    @cached_property
    def is_full(self) -> bool:
        """Whether every combination of codes is published, in the order of the codes."""
        return len(self.blocks) == 1 and all(
            len(codes) == n and bool((codes == np.arange(n)).all())
            for codes, n in zip(self.blocks[0], self.code_shape, strict=True)
        )

    @cached_property
    def inner_of_cell(self) -> Array:
        """For a cell that is itself an inner cell its row in the matrix, else −1."""
        flat = np.zeros(len(self), np.int64)
        is_leaf = np.ones(len(self), bool)
        for k, dimension in enumerate(self.dimensions):
            leaf_of = np.array([dimension.leaf_position.get(c, -1) for c in dimension.codes])
            leaf = leaf_of[self.codes[:, k]]
            is_leaf &= leaf >= 0
            flat = flat * len(dimension.leaves) + leaf
        rows = flat
        if self.possible is not None:
            row_of = np.full(self.possible.size, -1)
            row_of[self.inner] = np.arange(len(self.inner))
            rows = row_of[np.where(is_leaf, flat, 0)]
        return np.where(is_leaf, rows, -1)

    @cached_property
    def parts(self) -> Array:
        """How many inner cells each published cell is made of; 0 for one that consists of structural zeros."""
        if self.possible is not None:
            return self.aggregate(np.ones(self.n_inner, np.int64), absolute=True)
        parts = np.ones(len(self), np.int64)
        for k, dimension in enumerate(self.dimensions):
            parts *= np.asarray(abs(dimension.matrix).sum(axis=0), np.int64).ravel()[self.codes[:, k]]
        return parts

    @cached_property
    def signed(self) -> Array:
        """Cells in which some inner cell is taken away rather than added."""
        negative = np.zeros(len(self), bool)
        for k, dimension in enumerate(self.dimensions):
            has = np.array([min(dimension.leaves_of(c).values()) < 0 for c in dimension.codes])
            negative |= has[self.codes[:, k]]
        return negative

    # -- sums ---------------------------------------------------------------------------------------------------

    def dense(self, inner: Array) -> Array:
        """A vector over inner cells as an array over the product of leaves, zero where nothing can be."""
        if self.possible is None:
            return inner.reshape(self.shape)
        full = np.zeros(self.possible.size, inner.dtype)
        full[self.inner] = inner
        return full.reshape(self.shape)

    def aggregate(self, inner: Array, *, absolute: bool = False) -> Array:
        """``matrix.T @ inner`` by sums along the axes, without the matrix; ``absolute`` adds what signs take away.

        Integers stay integers and unsigned ones wrap around, which is what sums of keys need.
        """
        dense = self.dense(inner)
        parts = []
        for block, new in zip(self.blocks, self._flat[1], strict=True):
            out = dense
            # the axes that grow the array most come last, so that the others run over less
            for k in sorted(range(len(block)), key=lambda k: len(block[k]) / self.shape[k]):
                out = _sum_axis(out, k, self.dimensions[k], block[k], absolute)
            flat = out.flatten() if out is dense else out.ravel()
            parts.append(flat if new is None else flat[new])
        return np.concatenate(parts) if len(parts) > 1 else parts[0]

    @cached_property
    def matrix(self) -> csr_array:
        """Inner cells x published cells, entries 0 and 1 (−1 where a signed group takes away), never dense."""
        from scipy.sparse import csr_array, hstack

        parts = []
        for block, new in zip(self.blocks, self._flat[1], strict=True):
            block_matrix = _block_matrix(self.dimensions, block)
            if self.possible is not None:
                block_matrix = block_matrix[self.inner]
            parts.append(block_matrix if new is None else block_matrix[:, new])
        return csr_array(hstack(parts, format="csr")) if len(parts) > 1 else parts[0]

    def find(self, codes: Mapping[str, Any]) -> Array:
        """Which cells have the given code (or one of several) in each named dimension."""
        mask = np.ones(len(self), bool)
        for name, wanted in codes.items():
            k = self.axis(name)
            wanted = [wanted] if isinstance(wanted, str) or not isinstance(wanted, (list, tuple, set)) else wanted
            mask &= np.isin(self.codes[:, k], [self.dimensions[k].index(c) for c in wanted])
        return mask

    def axis(self, name: str) -> int:
        """The position of a dimension."""
        names = [d.name for d in self.dimensions]
        if name not in names:
            raise InputError(f"no dimension {name!r}; {nearest(name, names)}")
        return names.index(name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Layout):
            return NotImplemented
        same = self.dimensions == other.dimensions and np.array_equal(self._flat[0], other._flat[0])
        return same and np.array_equal(self.inner, other.inner)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        names = " x ".join(d.name for d in self.dimensions)
        return f"Layout({names}: {len(self):,} cells over {self.n_inner:,} inner)"


def _strides(shape: Sequence[int]) -> list[int]:
    return [math.prod(shape[k + 1 :]) for k in range(len(shape))]


def _outer(parts: Sequence[Array]) -> Array:
    """Sums of one entry from each vector, as an array with one axis per vector."""
    total: Array = np.zeros((1,) * len(parts), np.int64)
    for k, part in enumerate(parts):
        total = total + part.reshape([-1 if j == k else 1 for j in range(len(parts))])
    return total


def _sum_axis(x: Array, axis: int, dimension: Dimension, codes: Array, absolute: bool) -> Array:
    """Replace the leaves on an axis by codes, each the signed sum of its leaves."""
    if len(codes) == len(dimension.leaves) and [*codes] == [dimension.position[leaf] for leaf in dimension.leaves]:
        return x  # the leaves themselves
    pre, post = math.prod(x.shape[:axis]), math.prod(x.shape[axis + 1 :])
    x3 = x.reshape(pre, x.shape[axis], post)
    out = np.empty((pre, len(codes), post), x.dtype)
    single: list[int] = []
    leaf: list[int] = []
    for j, code in enumerate(codes.tolist()):
        plus, minus = dimension.added[code]
        if len(plus) == 1 and not len(minus):
            single.append(j)
            leaf.append(plus[0])
            continue
        out[:, j] = _leaf_sum(x3, plus)
        if len(minus) and absolute:
            out[:, j] += _leaf_sum(x3, minus)
        elif len(minus):
            out[:, j] -= _leaf_sum(x3, minus)
    if single:
        out[:, single] = x3[:, leaf]
    return out.reshape(*x.shape[:axis], len(codes), *x.shape[axis + 1 :])


def _leaf_sum(x3: Array, leaves: Array) -> Array:
    if len(leaves) and leaves[-1] - leaves[0] + 1 == len(leaves):  # neighbours need no copy
        part = x3[:, leaves[0] : leaves[-1] + 1]
    else:
        part = x3[:, leaves]
    return np.asarray(part.sum(axis=1, dtype=x3.dtype))


def _block_matrix(dimensions: Sequence[Dimension], block: Sequence[Array]) -> csr_array:
    """The Kronecker product of the dimensions' matrices, row by row, in one broadcast.

    Every leaf lies in few codes of its dimension; padded to the same number they make a regular array, so that no
    coordinate list of the whole product is ever sorted.
    """
    from scipy.sparse import csr_array

    shape, columns = tuple(len(d.leaves) for d in dimensions), [len(codes) for codes in block]
    member, sign = zip(*(_memberships(d, codes) for d, codes in zip(dimensions, block, strict=True)), strict=True)
    widths = [m.shape[1] for m in member]
    entries = math.prod(shape) * math.prod(widths)
    if entries > MOST_ENTRIES:
        raise InputError(
            f"the matrix of this table would hold {many(entries, 'entry', 'entries')}; publish fewer margins at once"
        )
    index_type = np.int32 if math.prod(columns) <= MOST_ENTRIES else np.int64
    d = len(dimensions)
    indices = np.zeros((1,) * 2 * d, index_type)
    data = np.ones((1,) * 2 * d, np.int8)
    for k, stride in enumerate(_strides(columns)):
        axes = [1] * 2 * d
        axes[k], axes[d + k] = shape[k], widths[k]
        indices = indices + (member[k] * stride).astype(index_type).reshape(axes)
        data = data * sign[k].reshape(axes)
    rows, width = math.prod(shape), math.prod(widths)
    indices, data = indices.reshape(rows, width), data.reshape(rows, width)
    held = data != 0
    if held.all():
        indptr = np.arange(0, rows * width + 1, width)
        matrix = csr_array((data.ravel(), indices.ravel(), indptr), shape=(rows, math.prod(columns)))
    else:
        indptr = np.concatenate([[0], np.cumsum(held.sum(axis=1))])
        matrix = csr_array((data[held], indices[held], indptr), shape=(rows, math.prod(columns)))
    matrix.sort_indices()
    return matrix


def _memberships(dimension: Dimension, codes: Array) -> tuple[Array, Array]:
    """For each leaf the positions (within ``codes``) of the codes that hold it, and the signs; padded with sign 0."""
    rows = dimension.matrix[:, codes].tocsr()
    rows.sort_indices()
    lengths = np.diff(rows.indptr)
    width = max(int(lengths.max(initial=0)), 1)
    member, sign = np.zeros((len(lengths), width), np.int64), np.zeros((len(lengths), width), np.int8)
    held = np.arange(width) < lengths[:, None]
    member[held], sign[held] = rows.indices, rows.data
    return member, sign


def _block(dimensions: Sequence[Dimension], margin: Margin) -> tuple[Array, ...]:
    """Code positions of one margin: named dimensions with all (or the named) codes, the others at their total."""
    if isinstance(margin, str):
        margin = [margin]
    wanted = dict(margin) if isinstance(margin, Mapping) else dict.fromkeys(margin)
    names = [d.name for d in dimensions]
    for name in wanted:
        if name not in names:
            raise InputError(f"margin names no dimension {name!r}; {nearest(name, names)}")
    block = []
    for dimension in dimensions:
        if dimension.name not in wanted:
            if dimension.total is None:
                raise InputError(
                    f"dimension {dimension.name!r} has no total, so every margin must name it (or give it a total)"
                )
            block.append(np.array([dimension.position[dimension.total]]))
            continue
        choice = wanted[dimension.name]
        if choice is None:
            block.append(np.arange(len(dimension.codes)))
            continue
        choices = [choice] if isinstance(choice, str) else list(choice)
        codes = [c for one in choices for c in (dimension.levels.get(one) or (one,))]
        block.append(np.array(list(dict.fromkeys(dimension.index(c) for c in codes)), np.int64))
    return tuple(block)


def _possible(dimensions: Sequence[Dimension], structural: Structural | None) -> Array | None:
    """Flat mask of the inner cells that can exist."""
    if structural is None:
        return None
    shape = tuple(len(d.leaves) for d in dimensions)
    if isinstance(structural, np.ndarray):
        if structural.shape != shape or structural.dtype != bool:
            raise InputError(
                f"structural zeros are a truth array of shape {shape}, True where no one can be; "
                f"given: {structural.dtype} of shape {structural.shape}"
            )
        impossible = structural
    else:
        impossible = np.zeros(shape, bool)
        names = [d.name for d in dimensions]
        for combination in structural:
            for name in combination:
                if name not in names:
                    raise InputError(f"structural zeros name no dimension {name!r}; {nearest(name, names)}")
            impossible[np.ix_(*(_leaf_mask(d, combination.get(d.name)) for d in dimensions))] = True
    if impossible.all():
        raise InputError("every inner cell is a structural zero")
    return np.asarray(~impossible.ravel())


def _leaf_mask(dimension: Dimension, codes: str | Sequence[str] | None) -> Array:
    if codes is None:
        return np.ones(len(dimension.leaves), bool)
    held = {leaf for c in ([codes] if isinstance(codes, str) else codes) for leaf in dimension.leaves_of(c)}
    return np.array([leaf in held for leaf in dimension.leaves])
