"""Sums that a rule keeps unknown although no cell shows them: how far each can be above what it is.

A line discloses something when everybody but a few of its people are known to be in one of its cells [LL21]_. What has
to stay open is therefore the sum of the others, whether or not any cell is hidden.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audits.known import Known, settled_intervals
from discreet.audits.view import View
from discreet.base.annotations import Array
from discreet.linear.integer import whole_point
from discreet.linear.system import ContradictionError, System
from discreet.rules.base import AllOf, AnyOf, Rule, Sums
from discreet.tables.room import KeptSums

if TYPE_CHECKING:
    from scipy.sparse import csc_array

    from discreet.tables.table import Table

SECONDS = 10.0  # for all sums that whole numbers must reach; what is not settled by then is unknown


@dataclass(frozen=True, eq=False)
class Lines:
    """Per sum of inner cells: what it is, what it can be, what it must be able to be (confidential).

    >>> import discreet as dc
    >>> table = dc.Table.of([[20, 1, 0], [10, 12, 8], [30, 7, 5]], ["area", "sex"])
    >>> report = dc.audit(dc.protect(table, dc.Suppress(dc.KDisclosure(1))))
    >>> report.sums.upper.tolist(), report.sums.reach.tolist(), report.sums.exposed.tolist()
    ([9.0], [2.0], [False])
    """

    matrix: csc_array
    truth: Array
    lower: Array
    upper: Array
    reach: Array
    settled: Array

    @property
    def exposed(self) -> Array:
        """Sums that cannot be as large as the rule asks (mask)."""
        return np.asarray(self.upper < self.reach - 1e-6)

    @property
    def unknown(self) -> Array:
        """Sums of which that could not be judged (mask)."""
        return np.asarray(~self.exposed & ~self.settled)


def sums_of(rules: Sequence[tuple[Table, Rule]]) -> tuple[list[Sums | None], tuple[str, ...]]:
    """The sums that a rule keeps unknown in each table, and in words what of it cannot be judged."""
    sums, words = [], []
    for table, rule in rules:
        sums.append(rule.virtual(table))
        words += [
            f"{part} keeps sums unknown only together with another rule (&), which an audit cannot judge"
            for part in _joined_by_and(rule)
            if part.virtual(table) is not None
        ]
    return sums, tuple(dict.fromkeys(words))


def flagged(rule: Rule, table: Table) -> Array:
    """Cells that a rule calls sensitive themselves; a rule on whole lines is judged by its sums instead."""
    if isinstance(rule, AnyOf):
        return np.asarray(np.logical_or.reduce([flagged(part, table) for part in rule.rules]))
    return np.zeros(len(table), bool) if rule.virtual(table) is not None else np.asarray(rule(table), bool)


def _joined_by_and(rule: Rule, inside: bool = False) -> list[Rule]:
    if isinstance(rule, (AnyOf, AllOf)):
        inner = inside or isinstance(rule, AllOf)
        return [found for part in rule.rules for found in _joined_by_and(part, inner)]
    return [rule] if inside else []


def judged(
    seen: View,
    tables: Sequence[Table],
    sums: Sequence[KeptSums | None],
    progress: Callable[[int, int], None] | None = None,
) -> Lines | None:
    """What can be worked out of the sums of all tables together; None if there are none."""
    from scipy.sparse import csc_array, csr_array, hstack

    pairs = [(t, s) for t, s in zip(tables, sums, strict=True) if s is not None]
    if not pairs:
        return None
    parts = [s.matrix.tocsr() if len(tables) == 1 else s.matrix.tocsr()[_rows(seen, t)] for t, s in pairs]
    truth = np.concatenate([s.matrix.T @ t.statistic("count").inner for t, s in pairs]).astype(float)
    reach = truth + np.concatenate([s.above for _, s in pairs])
    matrix, known, many = csc_array(hstack(parts)), seen.known, len(truth)
    cells = known.matrix.shape[1]
    open_ = np.full(many, np.inf)
    point = None
    if known.point is not None:
        point = np.concatenate([known.point[:cells], truth, known.point[cells:]])
    whole = Known(
        matrix=csr_array(hstack([known.matrix, matrix])),
        lower=np.concatenate([known.lower, -open_]),
        upper=np.concatenate([known.upper, open_]),
        inner_lower=known.inner_lower,
        inner_upper=known.inner_upper,
        integer=known.integer,
        point=point,
    )
    number = cells + np.arange(many)
    lower, upper, _ = settled_intervals(whole, number, progress=progress)
    able = np.flatnonzero(upper >= reach - 1e-6)
    settled = np.ones(many, bool)
    if known.integer and max(len(layout.dimensions) for layout in seen.layouts) > 2:  # of two, bounds are whole anyway
        system, until = whole.system(), time.monotonic() + SECONDS
        for k in able:
            reached = _reached(system, int(number[k]), float(reach[k]), until - time.monotonic())
            settled[k] = reached is not None
            upper[k] = reach[k] - 1 if reached is False else upper[k]
    return Lines(matrix, truth, lower, upper, reach, settled)


def _reached(system: System, variable: int, value: float, seconds: float) -> bool | None:
    """Whether a solution in whole numbers gives a variable at least some value; None if time ran out."""
    if seconds <= 0:
        return None
    lower = system.lower.copy()
    lower[variable] = value
    try:
        point = whole_point(System(system.rows, system.rhs, lower, system.upper, True), seconds)
    except ContradictionError:
        return False
    return None if point is None else True


def _rows(seen: View, table: Table) -> Array:
    """For each inner cell of the tables together the one of a table that it is part of."""
    dimensions: dict[str, Any] = {d.name: d for layout in seen.layouts for d in layout.dimensions}
    place = np.arange(seen.known.matrix.shape[0]) if seen.inner_place is None else seen.inner_place
    at = dict(zip(dimensions, np.unravel_index(place, [len(d.leaves) for d in dimensions.values()]), strict=True))
    layout = table.layout
    row = np.full(int(np.prod(layout.shape)), -1)
    row[layout.inner] = np.arange(layout.n_inner)
    return np.asarray(row[np.ravel_multi_index(tuple(at[d.name] for d in table.dimensions), layout.shape)])
