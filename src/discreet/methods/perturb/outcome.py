"""What a perturbing method hands back: every cell published, and what a reader can tell of the true values."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import InputError
from discreet.release import Protected, Status
from discreet.tables.room import NONE_STATED, Room
from discreet.tables.table import Table


def perturbed(
    table: Table, cells: Array, method: str, *, lower: Array | None = None, upper: Array | None = None, **details: Any
) -> Protected:
    """A Protected from the measure's cells in whole units of its last decimal.

    ``lower`` and ``upper`` are closed bounds on the true value, in the same units, that hold for whoever knows the
    method and its parameters; counts are known not to be negative.
    """
    scale = 10 ** table.statistic(table.measure).decimals
    published = cells if scale == 1 else cells / scale
    room = NONE_STATED
    if lower is not None and upper is not None:
        if is_count(table) and (lower < 0).any():
            lower = np.where(table.layout.signed, lower, np.maximum(lower, 0))
        room = Room(lower=lower / scale, upper=upper / scale)
    status = np.full(len(table), Status.PUBLISHED.value)
    return Protected(table, {table.measure: published}, status, method, details, truthful=False, room=room)


def is_count(table: Table) -> bool:
    """Whether the measure is a number of records or a weighted one, which no reader takes to be negative."""
    return table.measure in ("count", "weighted count")


def count_cells(table: Table, method: str) -> Array:
    """The published counts, or an error where the measure is something else."""
    if table.measure != "count":
        raise InputError(
            f"{method} works on counts; this table's measure is {table.measure!r}: tabulate without value="
        )
    return table.statistic("count").cells


MOST_BASE = 1 << 53  # units of the last decimal


def whole_base(table: Table, base: float) -> int:
    """A rounding base in units of the measure's last decimal."""
    decimals = table.statistic(table.measure).decimals
    scaled: float = base * 10**decimals
    if scaled >= MOST_BASE:
        raise InputError(f"base={base}: give a base below {MOST_BASE / 10**decimals:g}; more would round all to 0")
    if round(scaled) != scaled or scaled < 1:
        raise InputError(f"base={base}: give a multiple of the measure's last decimal, {10**-decimals:g}")
    return round(scaled)
