"""What part each cell plays in a suppression: sensitive, to be published, withheld anyway; and what is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import numbers
from discreet.base.kinds import is_function
from discreet.errors import InputError, Refused, listed
from discreet.methods.suppress.model import earlier_tables as before
from discreet.methods.suppress.model.parameters import LEVELS, SuppressParameters
from discreet.rules.base import Sums
from discreet.rules.levels import Asked, Levels, asked
from discreet.tables.cell_choice import cell_mask
from discreet.tables.table import Table


@dataclass(frozen=True)
class Roles:
    """What each column is: the table's cells, then those of earlier tables.

    ``low`` and ``high`` are what an intruder knows of a hidden cell beforehand, in units of the last decimal;
    ``asked`` the protection levels in the measure's own units, None where a second possible value is enough.
    """

    joined: before.Joined
    matrix: Any
    primary: Array
    forced: Array
    never: Array
    zeros: bool
    safe_zeros: bool
    empty: Array
    sums: Sums | None
    low: Array
    high: Array
    asked: Asked | None

    @property
    def n(self) -> int:
        return int(self.matrix.shape[1])

    @property
    def old(self) -> Array:
        """Cells that are out already and cannot be taken back."""
        return self.joined.published


def roles_of(parameters: SuppressParameters, table: Table, *, clash: bool = False) -> Roles:
    """The roles of the cells of a table; ``clash`` lets a cell be sensitive and forced at once."""
    joined = before.with_earlier(table, parameters.earlier)
    n, m = len(table), len(joined.layout)
    sums = parameters.rule.virtual(table)
    primary, forced, never = (np.zeros(m, bool) for _ in range(3))
    primary[:n] = parameters.rule(table)
    forced[:n] = cells_of(parameters.forced, table)
    never[:n] = cells_of(parameters.hidden, table)
    if parameters.marks is not None:
        primary[:n] |= parameters.marks.mask(table, "unsafe")
        primary[:n] &= ~parameters.marks.mask(table, "safe")
        forced[:n] |= parameters.marks.mask(table, "publish")
        never[:n] |= parameters.marks.mask(table, "never")
    structural = joined.layout.parts == 0
    primary &= ~structural
    never |= joined.withheld & ~joined.primary & ~structural
    forced |= joined.published
    primary |= joined.primary
    never &= ~primary
    if (both := primary & forced).any() and not clash:
        raise Refused(
            "suppression",
            f"{int(both.sum()):,} sensitive cells must be published or are published already: "
            + names(joined.layout, np.flatnonzero(both)),
            "mark them safe, or do not force them",
        )
    zeros = sums is not None if parameters.zeros is None else parameters.zeros
    empty = joined.layout.aggregate(inner_records(table)) == 0
    levels = _levels(parameters, table)
    low, high = _bounds(parameters.bounds, levels, table, m)
    return Roles(
        joined=joined,
        matrix=joined.layout.matrix,
        primary=primary,
        forced=forced & ~never,
        never=never,
        zeros=zeros,
        safe_zeros=not zeros and not (primary & empty).any(),
        empty=empty,
        sums=sums,
        low=low,
        high=high,
        asked=asked(table, parameters.rule, levels) if parameters.asks == LEVELS else None,
    )


def _levels(parameters: SuppressParameters, table: Table) -> Levels | None:
    """The levels of single cells: those given, else what the marks bring along."""
    levels = parameters.levels if parameters.levels is not None else getattr(parameters.marks, "levels", None)
    return levels(table) if callable(levels) else levels


def levels_of(parameters: SuppressParameters, table: Table) -> Asked:
    """The protection levels of the rule, and those of single cells instead where there are some."""
    return asked(table, parameters.rule, _levels(parameters, table))


def inner_records(table: Table) -> Array:
    """How many records each inner cell has; of a ready table without counts, whether it has any."""
    if "count" in table.statistics:
        return table.statistic("count").inner
    return np.asarray(table.statistic(table.measure).inner != 0, np.int64)


def cells_of(cells: Any, table: Table) -> Array:
    """A mask from any of the ways to name cells."""
    if cells is None:
        return np.zeros(len(table), bool)
    return cell_mask(table, cells(table) if is_function(cells) else cells)


def _over(table: Table, side: Any) -> Array:
    """One side of the bounds as a number for each cell."""
    known = numbers("bounds", side(table) if is_function(side) else side)
    if known.shape not in ((), (len(table),)):
        raise InputError(f"bounds are one number, or one for each of the {len(table):,} cells; given: {known.shape}")
    return np.broadcast_to(known, (len(table),))


def _bounds(bounds: Any, levels: Levels | None, table: Table, m: int) -> tuple[Array, Array]:
    """What is known beforehand of every column, in units of the last decimal; nothing of earlier tables' own cells."""
    n, scale = len(table), 10 ** table.statistic(table.measure).decimals
    value = np.asarray(table.value, float)
    sides = [np.full(n, -np.inf), np.full(n, np.inf)]
    if isinstance(bounds, (int, float)) and not isinstance(bounds, bool):
        if not 1 <= bounds < np.inf:
            raise InputError(f"bounds in percent of the value are at least 1, as 50 for 50 %, not {bounds}")
        sides = [value - bounds / 100 * np.abs(value), value + bounds / 100 * np.abs(value)]
    elif bounds is not None:
        if not isinstance(bounds, Sequence) or len(bounds) != 2:
            raise InputError("bounds are a percentage, or (lower, upper): arrays over the cells, functions or None")
        for k, side in enumerate(bounds):
            if side is not None:
                sides[k] = _over(table, side)
    if levels is not None:
        over = levels.over(table)
        for k, name in enumerate(("lower", "upper")):
            sides[k] = np.where(np.isnan(over[name]), sides[k], over[name])
    if wrong := int((~((sides[0] <= value + 1e-9) & (value - 1e-9 <= sides[1]))).sum()):
        raise InputError(f"bounds: {wrong:,} cells do not lie between what is said to be known of them")
    low, high = np.full(m, -np.inf), np.full(m, np.inf)
    # a value of whole units lies within whole units
    low[:n], high[:n] = np.ceil(sides[0] * scale - 1e-6), np.floor(sides[1] * scale + 1e-6)
    return low, high


def names(layout: Any, cells: Array) -> str:
    """Cells by their codes, for a message."""
    texts = [
        "/".join(d.codes[c] for d, c in zip(layout.dimensions, layout.codes[cell], strict=True)) for cell in cells[:6]
    ]
    return listed(texts, most=5) if len(cells) <= 5 else f"{listed(texts[:5])} and {len(cells) - 5:,} more"
