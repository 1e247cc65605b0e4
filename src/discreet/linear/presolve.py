"""A system of equations within bounds, made smaller without changing any variable's interval.

Bounds are propagated through the rows (the shuttle algorithm), variables with one value are put in, two variables in
one row become one, rows said twice are dropped and variables that stand in the same rows are added up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.base.annotations import Array
from discreet.base.compiled import is_in_memory
from discreet.linear.swept_bounds import can_be_swept, sweep
from discreet.linear.system import ContradictionError, System

if TYPE_CHECKING:
    from scipy.sparse import csr_array

TOLERANCE = 1e-7


@dataclass(frozen=True, eq=False)
class Affine:
    """Old variable = offset + factor * new variable; without a new one (−1) it is the offset."""

    offset: Array
    factor: Array
    variable: Array

    def back(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """Bounds of the old variables from those of the new ones."""
        kept = self.variable >= 0
        at = np.where(kept, self.variable, 0)
        if not len(lower):
            return self.offset.copy(), self.offset.copy()
        with np.errstate(invalid="ignore"):
            a = np.where(kept, self.offset + self.factor * lower[at], self.offset)
            b = np.where(kept, self.offset + self.factor * upper[at], self.offset)
        return np.minimum(a, b), np.maximum(a, b)

    def forward(self, wanted: Array) -> Array:
        """Which new variables the wanted old ones need."""
        return np.unique(self.variable[wanted][self.variable[wanted] >= 0])

    def only(self, wanted: Array, needed: Array) -> Affine:
        """The same for the wanted old variables alone, over the new ones that ``forward`` says they need."""
        variable = self.variable[wanted]
        place = np.where(variable >= 0, np.searchsorted(needed, variable), -1)
        return Affine(self.offset[wanted], self.factor[wanted], place)


@dataclass(frozen=True, eq=False)
class Merged:
    """New variable = sum of the old ones of a group, each within its own bounds.

    ``others``: the least and greatest sum of the others of each one's group.
    """

    group: Array
    lower: Array
    upper: Array
    others: tuple[Array, Array]

    @classmethod
    def of(cls, group: Array, lower: Array, upper: Array) -> Merged:
        """The step for groups of variables within bounds."""
        alone = (np.bincount(group) == 1)[group]  # these may be unbounded
        low = np.where(alone, 0.0, lower)
        high = np.where(alone, 0.0, upper)
        others = (np.bincount(group, low)[group] - low, np.bincount(group, high)[group] - high)
        return cls(group, lower, upper, others)

    def back(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """What is left for each old variable when the others of its group take all or nothing."""
        low, high = self.others
        return np.maximum(self.lower, lower[self.group] - high), np.minimum(self.upper, upper[self.group] - low)

    def forward(self, wanted: Array) -> Array:
        """Which groups the wanted old variables are in."""
        return np.unique(self.group[wanted])

    def only(self, wanted: Array, needed: Array) -> Merged:
        """The same for the wanted old variables alone, over the groups that ``forward`` says they are in."""
        low, high = self.others
        place = np.searchsorted(needed, self.group[wanted])
        return Merged(place, self.lower[wanted], self.upper[wanted], (low[wanted], high[wanted]))


Step = Affine | Merged


def reduce(system: System, *, merge: bool = True) -> tuple[System, list[Step]]:
    """A smaller system, its bounds propagated, and the steps that lead back to the old variables."""
    steps: list[Step] = []
    while True:
        lower, upper = propagated(system)
        system = replace(system, lower=lower, upper=upper)
        smaller, step = _substituted(system)
        if step is not None:
            steps.append(step)
            system = smaller
            continue
        smaller, merged = _merged(system) if merge else (system, None)
        if merged is None:
            return system, steps
        steps.append(merged)
        system = smaller


def back(steps: Sequence[Step], lower: Array, upper: Array) -> tuple[Array, Array]:
    """Bounds of the first variables from those of the last."""
    for step in reversed(steps):
        lower, upper = step.back(lower, upper)
    return lower, upper


def forward(steps: Sequence[Step], wanted: Array) -> Array:
    """The last variables that the wanted first ones depend on."""
    for step in steps:
        wanted = step.forward(wanted)
    return wanted


def steps_for(steps: Sequence[Step], wanted: Array) -> tuple[list[Step], Array]:
    """The steps for the wanted first variables alone, and the last variables that these depend on."""
    some: list[Step] = []
    for step in steps:
        needed = step.forward(wanted)
        some.append(step.only(wanted, needed))
        wanted = needed
    return some, wanted


def propagated(system: System, lower: Array | None = None, upper: Array | None = None) -> tuple[Array, Array]:
    """Bounds that each row enforces given those of its other variables: the shuttle algorithm.

    They hold whenever it stops, which is nearly always at a fixpoint; whoever relies on that asks ``to_fixpoint``.

    >>> from scipy.sparse import csr_array
    >>> rows = csr_array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    >>> s = System(rows, np.array([4.0, 9.0]), np.zeros(3), np.full(3, np.inf), True)
    >>> [b.tolist() for b in propagated(s)]
    [[0.0, 0.0, 5.0], [4.0, 4.0, 9.0]]
    """
    lower, upper, _ = to_fixpoint(system, lower, upper)
    return lower, upper


def to_fixpoint(system: System, lower: Array | None = None, upper: Array | None = None) -> tuple[Array, Array, bool]:
    """The same bounds, and whether no row could tighten them further.

    Bounds that creep through a long chain by one step at a time would take the square of its length; that is cut off.
    """
    from discreet.linear import _propagation

    lower = np.array(system.lower if lower is None else lower, float)
    upper = np.array(system.upper if upper is None else upper, float)
    if system.integer:
        lower = np.ceil(lower - TOLERANCE) + 0.0
        upper = np.floor(upper + TOLERANCE) + 0.0
    if not is_in_memory(_propagation.propagate) and can_be_swept(system, lower, upper) and sweep(system, lower, upper):
        return lower + 0.0, upper + 0.0, True
    columns = system.columns
    places = (system.rows.indptr, system.rows.indices, columns.indptr, columns.indices)
    row_ptr, row_indices, column_ptr, column_rows = (place.astype(np.int64, copy=False) for place in places)
    stop = _propagation.propagate(
        row_ptr,
        row_indices,
        system.rows.data,
        system.rhs,
        column_ptr,
        column_rows,
        lower,
        upper,
        system.integer,
        60 * system.rows.shape[0] + 1000,
    )
    if stop >= 0 or (lower > upper + TOLERANCE).any():
        raise ContradictionError
    return lower + 0.0, np.maximum(lower, upper) + 0.0, bool(stop == _propagation.FIXPOINT)


def _substituted(system: System) -> tuple[System, Affine | None]:
    """Fixed variables put in and pairs joined; None if there were none."""
    from discreet.linear import _propagation

    n = system.size
    with np.errstate(invalid="ignore"):
        size = np.abs(np.where(np.isfinite(system.lower), system.lower, 0))
        fixed = system.upper - system.lower <= 1e-9 + 1e-14 * size
    value = np.where(fixed, _whole((np.where(fixed, system.lower, 0) + np.where(fixed, system.upper, 0)) / 2), 0.0)
    rows = system.rows
    rhs = system.rhs
    if fixed.any():
        rhs = rhs - rows @ value
        rows = _without(rows, fixed)
    rows, rhs, redundant = _distinct(rows, rhs)
    pairs = np.flatnonzero(np.diff(rows.indptr) == 2)
    root = np.arange(n)
    offset = np.zeros(n)
    factor = np.ones(n)
    lower = system.lower.copy()
    upper = system.upper.copy()
    joined = 0
    if len(pairs):
        at = rows.indptr[pairs]
        joined = _propagation.join(
            rows.indices[at].astype(np.int64),
            rows.indices[at + 1].astype(np.int64),
            rows.data[at],
            rows.data[at + 1],
            rhs[pairs],
            root,
            offset,
            factor,
            lower,
            upper,
            system.integer,
        )
        if joined < 0:
            raise ContradictionError
    if not fixed.any() and not joined:
        if redundant:
            return System(rows, rhs, lower, upper, system.integer, system.point), _identity(n)
        return system, None
    offset[fixed] = value[fixed]
    factor[fixed] = 0.0
    smaller = System(rows, rhs, lower, upper, system.integer, system.point)
    return _renamed(smaller, root, offset, factor, fixed)


def _renamed(system: System, root: Array, offset: Array, factor: Array, fixed: Array) -> tuple[System, Affine]:
    """The system in terms of the roots that are left."""
    from scipy.sparse import coo_array

    n = system.size
    keep = np.flatnonzero((root == np.arange(n)) & ~fixed)
    number = np.full(n, -1, np.int64)
    number[keep] = np.arange(len(keep))
    variable = np.where(fixed, -1, number[root])
    with np.errstate(invalid="ignore"):
        a = (system.lower - offset) * factor
        b = (system.upper - offset) * factor
    live = variable >= 0
    lower = np.full(len(keep), -np.inf)
    upper = np.full(len(keep), np.inf)
    np.maximum.at(lower, variable[live], np.minimum(a, b)[live])
    np.minimum.at(upper, variable[live], np.maximum(a, b)[live])
    change = coo_array((factor[live], (np.flatnonzero(live), variable[live])), shape=(n, len(keep))).tocsr()
    moved = np.where(fixed, 0.0, offset)
    rows = (system.rows @ change).tocsr()
    rows.eliminate_zeros()
    rows.sort_indices()
    rows, rhs, _ = _distinct(rows, system.rhs - system.rows @ moved)
    point = None if system.point is None else system.point[keep]
    return System(rows, rhs, lower, upper, system.integer, point), Affine(offset, factor, variable)


def _distinct(rows: csr_array, rhs: Array) -> tuple[csr_array, Array, bool]:
    """Rows said twice (or with the other sign) once; empty rows gone."""
    length = np.diff(rows.indptr)
    scale = np.maximum(1, np.abs(rhs))
    if (np.abs(rhs[length == 0]) > 1e-7 + 1e-12 * scale[length == 0]).any():
        raise ContradictionError
    sign, name = _names(rows)
    held = np.flatnonzero(length > 0)
    first, group = _alike(rows, sign, name, held)
    value = (rhs * sign)[held]
    if (np.abs(value - value[first][group]) > 1e-7 + 1e-12 * scale[held]).any():
        raise ContradictionError
    if len(first) == len(length):
        return rows, rhs, False
    keep = held[np.sort(first)]
    return rows[keep], rhs[keep], True


def _names(rows: csr_array) -> tuple[Array, Array]:
    """A sign and a number for each row such that equal rows up to sign have the same number, others hardly ever."""
    random = np.random.default_rng(20031).integers(1, 2**62, rows.shape[1], dtype=np.int64).astype(np.uint64)
    terms = np.rint(rows.data * 2).astype(np.int64).astype(np.uint64) * random[rows.indices]
    total = np.concatenate([[np.uint64(0)], np.cumsum(terms, dtype=np.uint64)])
    name = total[rows.indptr[1:]] - total[rows.indptr[:-1]]
    negative = name >= np.uint64(2**63)
    return np.where(negative, -1.0, 1.0), np.where(negative, np.uint64(0) - name, name)


def _alike(rows: csr_array, sign: Array, name: Array, held: Array) -> tuple[Array, Array]:
    """Groups of equal rows among some: the place of each group's first, and the group of each.

    Names only say where to look. Rows are of one group if they are equal entry by entry, up to their sign; those that
    have a name in common by chance, or by entries that are no multiples of 1/2, stay apart.
    """
    name = name[held].copy()
    while True:
        _, first, group = np.unique(name, return_index=True, return_inverse=True)
        unlike = np.flatnonzero(_unlike(rows, sign, held, held[first[group]]))
        if not len(unlike):
            return first, group
        name[unlike] = (unlike.astype(np.uint64) + np.uint64(len(name))) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(1)


def _unlike(rows: csr_array, sign: Array, one: Array, other: Array) -> Array:
    """Of pairs of rows whether they differ, each taken with its sign; a row is like itself (mask)."""
    length = np.diff(rows.indptr)
    unlike = np.asarray(length[one] != length[other])
    pairs = np.flatnonzero((one != other) & ~unlike)
    size = length[one[pairs]]
    within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    mine, theirs = (np.repeat(rows.indptr[row[pairs]], size) + within for row in (one, other))
    turn = np.repeat(sign[one[pairs]] * sign[other[pairs]], size)
    differ = (rows.indices[mine] != rows.indices[theirs]) | (rows.data[mine] != turn * rows.data[theirs])
    unlike[pairs] = np.bincount(np.repeat(np.arange(len(pairs)), size), differ, len(pairs)) > 0
    return unlike


def _merged(system: System) -> tuple[System, Merged | None]:
    """Variables that stand in the same rows with the same factors, added up."""
    if not system.size or not system.rows.shape[0]:
        return system, None
    from scipy.sparse import coo_array, csr_array

    columns = system.columns
    turned = csr_array((columns.data, columns.indices, columns.indptr), shape=(system.size, system.rows.shape[0]))
    sign, name = _names(turned)
    name = np.where(sign < 0, np.uint64(0) - name, name)
    alone = (np.diff(columns.indptr) == 0) | ~np.isfinite(system.lower) | ~np.isfinite(system.upper)
    name[alone] = np.flatnonzero(alone).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(1)
    first, group = _alike(turned, np.ones(system.size), name, np.arange(system.size))
    if len(first) == system.size:
        return system, None
    lower = np.bincount(group, system.lower, len(first))
    upper = np.bincount(group, system.upper, len(first))
    picked = coo_array((np.ones(len(first)), (first, np.arange(len(first)))), shape=(system.size, len(first)))
    rows = csr_array((system.rows @ picked.tocsr()).tocsr())
    rows.sort_indices()
    point = None if system.point is None else np.bincount(group, system.point, len(first))
    smaller = System(rows, system.rhs, lower, upper, system.integer, point)
    return smaller, Merged.of(group, system.lower, system.upper)


def _identity(n: int) -> Affine:
    return Affine(np.zeros(n), np.ones(n), np.arange(n))


def _without(rows: csr_array, columns: Array) -> csr_array:
    """The same rows with some columns empty."""
    from scipy.sparse import csr_array

    keep = ~columns[rows.indices]
    ends = np.concatenate([[0], np.cumsum(keep)])[rows.indptr]
    return csr_array((rows.data[keep], rows.indices[keep], ends), shape=rows.shape)


def _whole(x: Array) -> Array:
    """Numbers that are whole but for rounding, whole."""
    near = np.rint(x)
    return np.where(np.abs(x - near) <= 1e-7, near, x)
