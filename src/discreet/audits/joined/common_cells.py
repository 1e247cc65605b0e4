"""Published tables laid over each other: which of their cells are the same, which sums tie them.

Two cells are the same if they are made of the same finest codes in every dimension, whatever their codes are called
and whether a dimension stands in the table, in its population, or nowhere.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import numpy as np

from discreet.base.annotations import Array

if TYPE_CHECKING:
    from scipy.sparse import csr_array

GRID = 4_000_000  # combinations of a table's codes up to which cells that it does not show are laid out too
MOST_NUMBERS = 1 << 62
NOBODY = 0  # the key of cells that consist of no finest code


@dataclass(frozen=True)
class Axis:
    """A dimension of a table: its codes, the finest codes in each (minus where taken away), its sums.

    ``parts`` are positions counted from 1, so that they can carry a sign. ``virtual``: the last code is the total that
    the table itself does not show.
    """

    name: str
    codes: tuple[str, ...]
    parts: tuple[tuple[int, ...], ...]
    sums: tuple[tuple[int, tuple[tuple[int, int], ...]], ...]
    total: int = -1
    virtual: bool = False


class Laid(Protocol):
    """A table by its axes: ``leaves`` says how many finest codes each dimension has, ``fixed`` those of a population
    that is no axis; ``cells`` are rows of code positions."""

    @property
    def axes(self) -> tuple[Axis, ...]: ...
    @property
    def leaves(self) -> Mapping[str, int]: ...
    @property
    def fixed(self) -> Mapping[str, tuple[int, ...]]: ...
    @property
    def cells(self) -> Array: ...


Kind = TypeVar("Kind", bound=Laid)


@dataclass(frozen=True, eq=False)
class CommonCells(Generic[Kind]):
    """``keys[t]`` has for every combination of the codes of table t (flattened) the number of its cell."""

    tables: tuple[Kind, ...]
    keys: tuple[Array, ...]
    size: int
    groups: dict[str, dict[tuple[int, ...], int]]
    """For every dimension the sets of finest codes that occur in a table, and their numbers; 0 is the whole."""

    @classmethod
    def of(cls, tables: Sequence[Kind]) -> CommonCells[Kind]:
        names = list(dict.fromkeys(n for t in tables for n in [a.name for a in t.axes] + list(t.fixed)))
        groups: dict[str, dict[tuple[int, ...], int]] = {name: {} for name in names}
        numbers = [_numbered(t, names, groups) for t in tables]
        keys = _joined(numbers, [len(groups[n]) + 2 for n in names])
        return cls(tuple(tables), tuple(keys), int(max((k.max(initial=0) for k in keys), default=0)) + 1, groups)

    def shape(self, t: int) -> tuple[int, ...]:
        return tuple(len(a.codes) for a in self.tables[t].axes)

    @cached_property
    def cells(self) -> tuple[Array, ...]:
        """For every table the numbers of the cells it has, shown or hidden."""
        return tuple(
            keys[np.ravel_multi_index(tuple(t.cells.T), self.shape(k))]
            for k, (t, keys) in enumerate(zip(self.tables, self.keys, strict=True))
        )

    def sums(self, t: int) -> csr_array:
        """The sums of a table, one a row: parts minus the whole, over the numbered cells."""
        shape, keys = self.shape(t), self.keys[t]
        grid = np.arange(math.prod(shape)).reshape(shape)
        rows, columns, data, count = [], [], [], 0
        for k, axis in enumerate(self.tables[t].axes):
            for whole, parts in axis.sums:
                number = count + np.arange(grid.size // shape[k])
                for code, sign in ((whole, -1), *parts):
                    rows.append(number)
                    columns.append(keys[np.take(grid, code, axis=k).ravel()])
                    data.append(np.full(len(number), float(sign)))
                count += len(number)
        return _sparse(rows, columns, data, (count, self.size))


def _sparse(rows: list[Array], columns: list[Array], data: list[Array], shape: tuple[int, int]) -> csr_array:
    from scipy.sparse import coo_array, csr_array

    if not rows:
        return csr_array(shape)
    at = (np.concatenate(rows), np.concatenate(columns))
    sums = csr_array(coo_array((np.concatenate(data), at), shape=shape).tocsr())
    sums.sum_duplicates()
    sums.eliminate_zeros()  # a group of one part is that part
    return sums


def too_large(table: Laid) -> bool:
    """Whether a table has more combinations of codes than are laid out."""
    return math.prod(len(a.codes) for a in table.axes) > GRID


def _numbered(
    table: Laid, names: Sequence[str], groups: dict[str, dict[tuple[int, ...], int]]
) -> tuple[tuple[int, ...], list[tuple[int, Array]]]:
    """The shape of a table's codes, and by dimension of all tables the axis (−1: none) and the number of every code."""

    def number(name: str, parts: tuple[int, ...]) -> int:
        if not parts:
            return -1
        if parts[0] > 0 and len(parts) == table.leaves[name]:
            return 0
        return groups[name].setdefault(parts, len(groups[name]) + 1)

    axes = {a.name: (k, a) for k, a in enumerate(table.axes)}
    numbered = []
    for name in names:
        k, parts = (axes[name][0], axes[name][1].parts) if name in axes else (-1, (table.fixed.get(name),))
        numbered.append((k, np.array([0 if p is None else number(name, p) for p in parts])))
    return tuple(len(a.codes) for a in table.axes), numbered


def _joined(numbers: Sequence[tuple[tuple[int, ...], list[tuple[int, Array]]]], sizes: Sequence[int]) -> list[Array]:
    """One number per distinct cell, the same in every table; 0 for cells of nobody.

    Numbers are made of one dimension after the other and counted anew before they grow too large.
    """
    totals = [np.zeros(shape, np.int64) for shape, _ in numbers]
    nobody = [np.zeros(shape, bool) for shape, _ in numbers]
    bound = 1
    for d, size in enumerate(sizes):
        if bound * size >= MOST_NUMBERS:
            totals, bound = _renumbered(totals)
        for t, (shape, axes) in enumerate(numbers):
            k, codes = axes[d]
            along = [1] * len(shape)
            if k >= 0:
                along[k] = -1
            part = codes.reshape(along) if k >= 0 else codes[0]
            totals[t] = totals[t] * size + np.maximum(part, 0)
            nobody[t] = nobody[t] | (part < 0)
        bound *= size
    flats = [np.where(gone, -1, total).ravel() for total, gone in zip(totals, nobody, strict=True)]
    _, inverse = np.unique(np.concatenate([[-1], *flats]), return_inverse=True)
    inverse = inverse.ravel()[1:]
    return np.split(inverse, np.cumsum([len(f) for f in flats])[:-1])


def _renumbered(totals: Sequence[Array]) -> tuple[list[Array], int]:
    """The same numbers counted anew from 0, and how many there are."""
    known, inverse = np.unique(np.concatenate([total.ravel() for total in totals]), return_inverse=True)
    pieces = np.split(inverse.ravel(), np.cumsum([total.size for total in totals])[:-1])
    return [piece.reshape(total.shape) for piece, total in zip(pieces, totals, strict=True)], len(known)


def axis_of_classes(name: str, leaves: int, groups: Sequence[tuple[int, ...]]) -> Axis:
    """Classes of finest codes that no group tells apart, the groups themselves, and the whole."""
    member = np.zeros((leaves, len(groups)), np.int8)
    for g, group in enumerate(groups):
        for p in group:
            member[abs(p) - 1, g] = 1 if p > 0 else -1
    kinds, of = np.unique(member, axis=0, return_inverse=True)
    classes = [tuple((np.flatnonzero(of.ravel() == c) + 1).tolist()) for c in range(len(kinds))]
    sums = [
        (len(classes) + g, tuple((c, int(kinds[c, g])) for c in range(len(classes)) if kinds[c, g]))
        for g in range(len(groups))
    ]
    whole = len(classes) + len(groups)
    sums.append((whole, tuple((c, 1) for c in range(len(classes)))))
    parts: tuple[tuple[int, ...], ...] = (*classes, *groups, tuple(range(1, leaves + 1)))
    return Axis(name, tuple(str(k) for k in range(len(parts))), parts, tuple(sums), whole)
