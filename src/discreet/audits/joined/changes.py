"""Tables of different populations or times set against each other: what their differences tell.

Where two tables show a cell that is the same by its codes with different values, they are not of the same people. If
one population is within the other (men among everybody, those who were there in January among those of February), the
difference is a table of the others, and its small cells are small populations. A combination of more than two is told
only where it is negative in no cell, which a count of people never is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from discreet.audits.contradiction import InfeasibleError
from discreet.audits.joined.common_cells import NOBODY
from discreet.audits.joined.together import JoinedTables, view_together
from discreet.audits.known import settled_intervals
from discreet.base.annotations import Array

MOST_GROUPS = 12  # populations up to which combinations of more than two are tried
FEWEST_CELLS = 3  # that tables must have in common for a combination of more than two


@dataclass(frozen=True, eq=False)
class PeopleOf:
    """Tables that fit each other, so that they may be of the same people; per common cell its value, NaN if unknown."""

    tables: tuple[int, ...]
    value: Array
    source: Array
    """Per common cell the table that shows it, −1 where several together give it."""


def agreeing(joined: JoinedTables, measure: str, decimals: int) -> list[list[int]]:
    """Tables in groups that fit each other, in the order they are given: no cell, and no sum, excludes another."""
    chosen = [k for k, p in enumerate(joined.publications) if measure in p.release.values]
    groups: list[tuple[list[int], Array, Array]] = []
    for k in chosen:
        low, high = _bounds(joined, k, measure, decimals)
        for n, (members, least, most) in enumerate(groups):
            both = np.maximum(least, low), np.minimum(most, high)
            if (both[0] <= both[1]).all():
                groups[n] = ([*members, k], *both)
                break
        else:
            groups.append(([k], low, high))
    return [part for members, _, _ in groups for part in _fitting(joined, measure, members)]


def _fitting(joined: JoinedTables, measure: str, members: list[int]) -> list[list[int]]:
    """A group, or smaller ones where the sums of its tables contradict each other."""
    if len(members) == 1 or _fits(joined, measure, members):
        return [members]
    parts: list[list[int]] = []
    for k in members:
        for part in parts:
            if _fits(joined, measure, [*part, k]):
                part.append(k)
                break
        else:
            parts.append([k])
    return parts


def _fits(joined: JoinedTables, measure: str, members: Sequence[int]) -> bool:
    try:
        settled_intervals(view_together(joined, measure, only=members).known, np.zeros(0, np.int64))
    except InfeasibleError:
        return False
    return True


def _bounds(joined: JoinedTables, k: int, measure: str, decimals: int) -> tuple[Array, Array]:
    """Per common cell what one table says of it."""
    p, table = joined.publications[k], joined.tables[k]
    keys = table.own(joined.common.keys[k])
    at = np.ravel_multi_index(tuple(p.release.codes.T), table.shape)
    least, most = p.bounds(measure, decimals)
    low, high = np.full(joined.common.size, -np.inf), np.full(joined.common.size, np.inf)
    low[keys[at]] = least
    high[keys[at]] = most
    low[NOBODY], high[NOBODY] = -np.inf, np.inf
    return low, high


def people_of(joined: JoinedTables, tables: Sequence[int], measure: str) -> PeopleOf:
    """What is shown, and what follows for hidden cells, of a group of tables that fit each other."""
    seen = view_together(joined, measure, only=tables)
    system = seen.known.system()
    value = np.full(joined.common.size, np.nan)
    source = np.full(joined.common.size, -1)
    targets = np.flatnonzero(seen.withheld & (system.lower < system.upper)[: len(seen.withheld)])
    lower, upper, _ = settled_intervals(seen.known, targets)
    own = np.where(system.lower == system.upper, system.lower, np.nan)
    own[targets] = np.where(lower == upper, lower, np.nan)
    start = 0
    for k, layout in zip(
        [t for t in tables if measure in joined.publications[t].release.values], seen.layouts, strict=True
    ):
        keys = joined.tables[k].own(joined.common.keys[k])
        values = own[start : start + len(layout)]
        new = ~np.isnan(values) & np.isnan(value[keys])
        value[keys[new]] = values[new]
        source[keys[new]] = k
        start += len(layout)
    value[NOBODY] = np.nan
    return PeopleOf(tuple(tables), value, source)


@dataclass(frozen=True, eq=False)
class GroupCombination:
    """A combination of groups of tables with factors: the common cells it is known for, its value there, its kind."""

    factors: tuple[tuple[int, int], ...]
    cells: Array
    value: Array
    inside: bool
    """Whether it is negative nowhere, so that it may count people."""


def combined(groups: Sequence[PeopleOf], terms: int) -> Iterator[GroupCombination]:
    """Every pair as a difference, and combinations of up to ``terms`` groups that are negative nowhere."""
    for one, other in combinations(range(len(groups)), 2):
        change = _change(groups, ((one, 1), (other, -1)))
        if (change.value < 0).any() and not (change.value > 0).any():
            change = _change(groups, ((other, 1), (one, -1)))
        yield change
    if len(groups) > MOST_GROUPS:
        return
    for size in range(3, terms + 1):
        for chosen in combinations(range(len(groups)), size):
            for signs in product((1, -1), repeat=size - 1):
                change = _change(groups, tuple(zip(chosen, (1, *signs), strict=True)))
                if -1 not in signs or len(change.cells) < FEWEST_CELLS:
                    continue
                if (change.value <= 0).all():
                    change = _change(groups, tuple((g, -f) for g, f in change.factors))
                if change.inside and any(f < 0 for _, f in change.factors):
                    yield change


def _change(groups: Sequence[PeopleOf], factors: tuple[tuple[int, int], ...]) -> GroupCombination:
    total = sum(factor * groups[g].value for g, factor in factors)
    cells = np.flatnonzero(~np.isnan(total))
    value = np.asarray(total)[cells]
    return GroupCombination(factors, cells, value, bool((value >= 0).all()))
