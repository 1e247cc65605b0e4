"""Totals that are sums of what is shown: they tell a reader nothing that the cells below them do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import InputError
from discreet.release import Protected, Status
from discreet.tables.layout import Layout

WORDS = "totals are sums of what is shown"


def sums_of_shown(done: Protected) -> Protected:
    """The same inner cells, and every total the sum of those that are shown.

    A total of which nothing is shown but zeros, and something is hidden, is hidden too.
    """
    table = done.table
    layout, status = table.layout, done.status
    inner = _inner_cells(layout)
    gone = done.hidden
    shown = layout.aggregate(np.where(gone, 0, np.nan_to_num(done.published["count"])).astype(np.int64)[inner])
    withheld = layout.aggregate(gone[inner].astype(np.int64))
    total = layout.inner_of_cell < 0
    hidden = np.where(total, (withheld > 0) & (shown == 0), gone)
    low, high = _bounds_of(done)
    low, high = _summed(layout, low[inner]), _summed(layout, high[inner])
    status = np.where(total, np.where(hidden, Status.SECONDARY.value, Status.PUBLISHED.value), status)
    room = replace(
        done.room,
        lower=np.where(hidden, -np.inf, low),
        upper=np.where(hidden, np.inf, high),
        bounds=(np.where(hidden, low, -np.inf), np.where(hidden, high, np.inf)),
    )
    published = {"count": np.where(hidden, np.nan, shown.astype(float))}
    return replace(done, published=published, status=status, method=f"{done.method}, {WORDS}", room=room)


def _inner_cells(layout: Layout) -> Array:
    """The cell that each inner cell is published as."""
    if layout.signed.any():
        raise InputError("totals='sum' needs groups that add up; one here takes others away: totals='own'")
    rows = layout.inner_of_cell
    cell = np.full(layout.n_inner, -1)
    cell[rows[rows >= 0]] = np.flatnonzero(rows >= 0)
    if (cell < 0).any():
        raise InputError("totals='sum' adds up the inner cells, and not all are published here: totals='own'")
    return cell


def _bounds_of(done: Protected) -> tuple[Array, Array]:
    """The least and greatest true count of every cell, shown or hidden."""
    room, gone = done.room, done.hidden
    shown = np.nan_to_num(np.asarray(done.published["count"], float))
    lower, upper = (shown, shown) if room.lower is None or room.upper is None else (room.lower, room.upper)
    least, most = room.bounds or (np.full(len(gone), -np.inf), np.full(len(gone), np.inf))
    return np.where(gone, np.maximum(least, 0), np.maximum(lower, 0)), np.where(gone, most, upper)


def _summed(layout: Layout, inner: Array) -> Array:
    """Sums over inner cells of which some may be without bound."""
    open_ = np.isinf(inner)
    sums = layout.aggregate(np.where(open_, 0, inner).astype(np.int64)).astype(float)
    return np.where(layout.aggregate(open_.astype(np.int64)) > 0, np.inf, sums)
