"""In which order cells ask to be published: the most important first, so that the least important are hidden."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import numbers
from discreet.base.kinds import is_function
from discreet.errors import InputError
from discreet.tables.table import Table

Order = str | Callable[[Table], Any] | Array


def importance(table: Table, order: Order, primary: Array) -> Array:
    """How much each cell is wanted, a number per cell.

    "value" and "count": the size plus 1, and between cells of one size the size of what they share inner cells with:
    w + 0.99 XᵀXw / max(XᵀXw), as GaussSuppression ranks its candidates. "rank": see ``rank_aware``. Or a function from
    Table to numbers, or the numbers.
    """
    if isinstance(order, str):
        if order == "rank":
            return rank_aware(table, primary)
        if order not in ("value", "count"):
            raise InputError(f"order is 'value', 'count', 'rank', a function or numbers, not {order!r}")
        size = np.abs((table.value if order == "value" else table.count).astype(float))
        return with_ties(table, size + (1 if order == "count" or table.magnitude is None else 0))
    wanted = numbers("order", order(table) if is_function(order) else order)
    if wanted.shape != (len(table),) or np.isnan(wanted).any():
        raise InputError(f"order must give one number for each of the {len(table):,} cells; given: {wanted.shape}")
    return wanted


def with_ties(table: Table, size: Array) -> Array:
    """Sizes with ties broken by the sizes of the cells that share inner cells."""
    shared = table.matrix.T @ (table.matrix @ size)
    most = shared.max(initial=0)
    return np.asarray(size + 0.99 * shared / most if most > 0 else size)


def rank_aware(table: Table, primary: Array) -> Array:
    """Importance by value, but cells in the lines of the primaries and of one chosen partner each come last.

    See ``crossing``: those are the first to be hidden where elimination has to hide something. Where totals are
    released too the rank falls by what elimination hides, wherever that is, and this only keeps it together.
    """
    size = importance(table, "value", primary)
    return np.where(crossing(table, primary), size - size.max(initial=0) - 1, size)


def crossing(table: Table, primary: Array) -> Array:
    """The cells, in all linked tables, that lie in the lines of the primaries and of one chosen partner each.

    Propositions 1-3 of [ODF03]_, for linked tables that are released without totals: the rank of the released system
    falls most, and the hidden cells stay most uncertain, when the secondary cells of all tables lie in the same rows
    and columns. So for every dimension one code beside those of the primaries is chosen, the one whose cells weigh
    least over all tables together.
    """
    size = importance(table, "value", primary)
    codes = table.layout.codes
    aligned = np.ones(len(table), bool)
    for k, dimension in enumerate(table.dimensions):
        total = -1 if dimension.total is None else dimension.position[dimension.total]
        leaf = np.array([c in dimension.leaf_position for c in dimension.codes])
        hot = np.zeros(len(dimension.codes), bool)
        hot[np.unique(codes[primary, k])] = True
        hot[total] = hot[total] and total < 0
        beside = leaf & ~hot
        if beside.any() and hot.any():
            weight = np.bincount(codes[:, k], weights=size, minlength=len(leaf))
            hot[np.flatnonzero(beside)[np.argmin(weight[beside])]] = True
        if total >= 0:
            hot[total] = True
        aligned &= hot[codes[:, k]]
    deep = (codes != [-1 if d.total is None else d.position[d.total] for d in table.dimensions]).sum(axis=1)
    return np.asarray(aligned & (deep == deep[primary].max(initial=0)))


def totals_released(table: Table) -> bool:
    """Whether one of the linked tables shows the total of a dimension beside its parts."""
    for block in table.layout.blocks:
        for dimension, shown in zip(table.dimensions, block, strict=True):
            total = -1 if dimension.total is None else dimension.position[dimension.total]
            if len(shown) > 1 and total in shown:
                return True
    return False


def rank_fall(table: Table, hidden: Array) -> tuple[int, int]:
    """By how much the rank of what is released falls, and that of its cells that are no totals of a linked table."""
    from discreet.linear import modular

    totals = [-1 if d.total is None else d.position[d.total] for d in table.dimensions]
    deep = (table.layout.codes != totals).sum(axis=1)
    inside = deep == deep.max(initial=0)
    falls = [
        modular.rank(table.matrix, among) - modular.rank(table.matrix, among & ~hidden)
        for among in (np.ones(len(table), bool), inside)
    ]
    return falls[0], falls[1]


def sequence(wanted: Array, first: Array, candidates: Array) -> Array:
    """Candidates from the most to the least wanted, those of ``first`` (zeros, mostly) before all others."""
    order = np.argsort(-wanted, kind="stable")
    order = order[candidates[order]]
    return np.concatenate([order[first[order]], order[~first[order]]])
