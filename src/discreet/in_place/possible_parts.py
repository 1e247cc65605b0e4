"""What is left of a table without others that may be parts of it: small differences are protected as small counts are.

No sheet says that its people are among those of another. But a part is nowhere more than the whole: where each of two
tables is larger than the other in some number, neither is a part of the other, and nothing follows from their
difference. The others are taken as parts, alone and, as far as they fit into the whole together, several at a time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.data.dimension import Dimension
from discreet.in_place.common_margins import CommonMargins
from discreet.in_place.margin_links import Margin, MarginLink
from discreet.in_place.table_margins import TableMargins
from discreet.methods.suppress.method import Suppress
from discreet.release import Protected, Status
from discreet.tables.table import Table

MOST_TRIED = 40_000
"""Differences that are looked at; where there are more, nothing is said of any of them."""
MOST_JUDGED = 5_000
"""Differences that are protected; where more would have to be, nothing is said of any of them."""
SMALL = 10
"""Differences under this are of few people where a method has no threshold."""


@dataclass(frozen=True, eq=False)
class Remainder:
    """A table less others, in the combinations of codes that they have in common; it stands on no sheet."""

    whole: TableMargins
    parts: tuple[TableMargins, ...]
    terms: tuple[tuple[int, Array], ...]
    """The whole and its parts: which table, and a row of codes for each difference."""

    @property
    def name(self) -> str:
        names = " and ".join(repr(part.sheet.grid.sheet or part.sheet.layout.range.address) for part in self.parts)
        return f"{self.whole.name} without {names}"

    @property
    def tables(self) -> frozenset[int]:
        """The whole and its parts."""
        return frozenset(table for table, _ in self.terms)

    @cached_property
    def values(self) -> Array:
        """The true differences."""
        (_, rows), *others = self.terms
        left = self.whole.values[tuple(rows.T)]
        for part, (_, codes) in zip(self.parts, others, strict=True):
            left = left - part.values[tuple(codes.T)]
        return np.asarray(left)

    def inner_cells(self, codes: Sequence[int]) -> tuple[Array, Array]:
        """Every difference is an unknown of its own."""
        return np.array(codes, np.int64), np.ones(1, np.int64)

    def links(
        self, number: int, tables: Sequence[TableMargins | Remainder], done: Sequence[Protected]
    ) -> list[MarginLink]:
        """The whole is its parts and the remainder, which is table ``number``: where not all of them are shown."""
        needed = done[number].status == Status.PRIMARY.value
        for table, rows in self.terms:
            margins = tables[table]
            assert not isinstance(margins, Remainder)
            cells = margins.cells[tuple(rows.T)]
            needed = needed | (cells < 0) | done[table].hidden[cells]
        terms = [[(table, tuple(codes)) for codes in rows[needed].tolist()] for table, rows in self.terms]
        return [
            MarginLink(margins[0], (*margins[1:], (number, (at,))), sure=False)
            for at, *margins in zip(np.flatnonzero(needed).tolist(), *terms, strict=True)
        ]

    def hidden(self, chosen: Any) -> Protected:
        """The differences as a table of which nothing is shown; small ones are sensitive."""
        values = self.values
        table = Table.of(values, [Dimension.flat("difference", [str(k) for k in range(len(values))], total=None)])
        small = np.asarray(chosen.rule(table)) if isinstance(chosen, Suppress) else values < SMALL
        status = np.where(small & (values > 0), Status.PRIMARY.value, Status.NEVER.value)
        return Protected(table, {"count": np.full(len(values), np.nan)}, status, "not shown", truthful=True)


def possible_remainders(common: CommonMargins, known: Collection[frozenset[int]]) -> tuple[list[Remainder], bool]:
    """What is left of tables without their possible parts, and whether these are all there are.

    ``known`` are pairs of tables of which it is known how one is a part of the other.
    """
    tables = common.tables
    found: list[Remainder] = []
    cells = 0
    for whole in range(len(tables)):
        fits = [k for k in range(len(tables)) if k != whole and frozenset((k, whole)) not in known]
        for parts, terms in _parts_of(whole, [k for k in fits if not tables[k].too_large], common):
            found.append(Remainder(tables[whole], tuple(tables[k] for k in parts), terms))
            cells += len(terms[0][1])
            if cells > MOST_TRIED:
                return found, False
    return found, True


def _parts_of(
    whole: int, others: Sequence[int], common: CommonMargins
) -> Iterator[tuple[tuple[int, ...], tuple[tuple[int, Array], ...]]]:
    """Tables that are nowhere more than a table, and several of them that are so together."""
    if common.tables[whole].too_large:
        return
    kinds: dict[tuple[object, int], list[tuple[int, Array, Array]]] = {}
    for part in others:
        shared = common.dimensions(whole, part)
        if not shared:
            continue
        left, right = common.codes(whole, part, shared)
        most = common.tables[whole].values[tuple(left.T)]
        own = common.tables[part].values[tuple(right.T)]
        if own.any() and (own <= most).all() and (own < most).any():
            kinds.setdefault((common.kind(part), len(left)), []).append((part, own, right))
    for members in kinds.values():
        shared = common.dimensions(whole, members[0][0])
        rows = common.codes(whole, members[0][0], shared)[0]
        total = common.tables[whole].values[tuple(rows.T)]
        for chosen in _fitting_together(members, total):
            terms = ((whole, rows), *((members[k][0], members[k][2]) for k in chosen))
            yield tuple(members[k][0] for k in chosen), terms


def _fitting_together(members: Sequence[tuple[int, Array, Array]], total: Array) -> Iterator[tuple[int, ...]]:
    """All sets of members that are nowhere more than the total together, small sets first."""
    level: list[tuple[tuple[int, ...], Array]] = [((k,), own) for k, (_, own, _) in enumerate(members)]
    while level:
        yield from (chosen for chosen, _ in level)
        wider = []
        for chosen, own in level:
            for k in range(chosen[-1] + 1, len(members)):
                both = own + members[k][1]
                if (both <= total).all():
                    wider.append(((*chosen, k), both))
        level = wider


def worth_judging(remainders: Sequence[Remainder], chosen: Any) -> list[Remainder]:
    """What is left of tables without one other, or without several where a difference is small; none if too many."""
    some = [
        one for one in remainders if len(one.parts) == 1 or (one.hidden(chosen).status == Status.PRIMARY.value).any()
    ]
    return some if sum(len(one.values) for one in some) <= MOST_JUDGED else []


def hidden_for_remainders(
    remainders: Sequence[Remainder], tables: Sequence[TableMargins], done: Sequence[Protected], chosen: Any
) -> dict[int, set[int]]:
    """Per table the cells to hide so that no small difference is the difference of numbers that are shown.

    A number that is part of many small differences is hidden first, of equal ones the smallest.
    """
    wanted: list[list[tuple[int, int]]] = []
    for remainder in remainders:
        small = np.flatnonzero(remainder.hidden(chosen).status == Status.PRIMARY.value)
        for k in small.tolist():
            terms: list[Margin] = [(table, tuple(rows[k].tolist())) for table, rows in remainder.terms]
            cells = [(table, int(tables[table].cells[codes])) for table, codes in terms]
            standing = [(table, cell) for table, cell in cells if cell >= 0]
            if len(standing) == len(cells) and not any(done[table].hidden[cell] for table, cell in standing):
                wanted.append([(table, cell) for table, cell in standing if done[table].table.value[cell] > 0])
    often: dict[tuple[int, int], int] = {}
    for cells in wanted:
        for place in cells:
            often[place] = often.get(place, 0) + 1
    gone: dict[int, set[int]] = {}
    for cells in wanted:
        if any(cell in gone.get(table, ()) for table, cell in cells):
            continue
        table, cell = min(cells, key=lambda at: (-often[at], done[at[0]].table.value[at[1]], at))
        gone.setdefault(table, set()).add(cell)
    return gone
