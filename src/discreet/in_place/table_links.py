"""Sums that tables of one file have in common: equal margins, a row that another table divides, sums of tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from discreet.base.annotations import Array
from discreet.in_place.common_margins import CommonMargins
from discreet.in_place.margin_links import MarginLink
from discreet.in_place.mirrored_cells import mirrored_cells
from discreet.in_place.number_links import (
    ENOUGH,
    ENOUGH_IN_BLOCK,
    added_lines,
    cells_by_label,
    divided_codes,
    lines_in_common,
)
from discreet.in_place.possible_parts import Remainder, possible_remainders
from discreet.in_place.standing_cells import links_by_cell
from discreet.in_place.table_margins import TableMargins
from discreet.sheets.sheet_grid import CellPlace

FEWEST_CELLS = 4
"""Cells, totals included, in which one table must be the sum of others to be taken as that sum."""
FEWEST_EQUAL = 3
"""Numbers other than zero in which a row must be the total of a table whose title does not name the row."""
MOST_TABLES = 10
"""Tables with the same labels up to which all ways to add some of them up are tried."""


@dataclass(frozen=True)
class TableLinks:
    """The margins that tables have in common, and what is left of tables without those that may be parts of them."""

    links: tuple[MarginLink, ...]
    remainders: tuple[Remainder, ...] = ()
    all_tried: bool = True
    """Whether there are no other remainders."""
    unknown: tuple[tuple[int, int], ...] = ()
    """Pairs of tables that are too large to be set against each other."""


def found_links(common: CommonMargins) -> TableLinks:
    """All links between tables, found by labels and by numbers that are equal, and those inside of one."""
    tables = common.tables
    links: list[MarginLink] = [*_same_places(tables)]
    for k, table in enumerate(tables):
        links += () if table.too_large else mirrored_cells(k, table)
    parts: list[MarginLink] = []
    large = []
    for i, j in combinations(range(len(tables)), 2):
        if tables[i].too_large or tables[j].too_large:
            large.append((i, j))
            continue
        shared = common.dimensions(i, j)
        links += _equal_margins(i, j, common, shared)
        parts += _divided_rows(i, j, common, shared)
        parts += _divided_rows(j, i, common, [(there, here) for here, there in shared])
        links += [*_divided_codes(i, j, common, shared), *_added_lines(i, j, common, shared)]
        if not shared:
            links += [*cells_by_label(i, j, tables), *cells_by_label(j, i, tables)]
    several = [k for k, table in enumerate(tables) if not table.too_large]
    parts += _sums_of_tables(several, tables)
    links += links_by_cell(several, tables, _added_up)
    links += parts
    links += lines_in_common(several, tables) if len(several) > 1 else ()
    known = {frozenset((link.whole[0], table)) for link in parts for table, _ in link.parts}
    known |= {frozenset(pair) for pair in combinations(several, 2) if _of_one_block(*(tables[k] for k in pair))}
    remainders, all_tried = possible_remainders(common, known)
    return TableLinks(tuple(links), tuple(remainders), all_tried, tuple(large))


def _of_one_block(one: TableMargins, two: TableMargins) -> bool:
    """Whether two tables are readings of the same cells."""
    same = one.sheet.grid.source == two.sheet.grid.source and one.sheet.grid.sheet == two.sheet.grid.sheet
    return same and one.sheet.layout.range.meets(two.sheet.layout.range)


def _same_places(tables: Sequence[TableMargins]) -> Iterator[MarginLink]:
    """Cells of several readings of one sheet that stand in the same place, and so are the same number."""
    held: dict[tuple[str, CellPlace], tuple[int, tuple[int, ...]]] = {}
    readings = Counter((table.sheet.grid.source, table.sheet.grid.sheet) for table in tables if not table.too_large)
    for number, table in enumerate(tables):
        if table.too_large or readings[table.sheet.grid.source, table.sheet.grid.sheet] < 2:
            continue
        positions = [d.position for d in table.dimensions]
        for codes, places in table.sheet.places.items():
            margin = number, tuple(own[code] for own, code in zip(positions, codes, strict=True))
            for place in places:
                first = held.setdefault((table.sheet.grid.source, place), margin)
                if first[0] != number:
                    yield MarginLink(first, (margin,))


def _equal_margins(i: int, j: int, common: CommonMargins, shared: Sequence[tuple[int, int]]) -> list[MarginLink]:
    """Margins in common, if at least half of the finest of them that are not empty hold the same number.

    Totals may differ where one table has rows that the other has not.
    """
    one, two = common.tables[i], common.tables[j]
    left, right = common.codes(i, j, shared)
    here, there = one.values[tuple(left.T)], two.values[tuple(right.T)]
    depth = (left != np.array(one.wholes)).sum(axis=1)
    finest = (depth == depth.max()) & ((here != 0) | (there != 0))
    same = here == there
    if not finest.any() or 2 * int((finest & same).sum()) < int(finest.sum()):
        return []
    codes = zip(left[same].tolist(), right[same].tolist(), strict=True)
    return [MarginLink((i, tuple(a)), ((j, tuple(b)),)) for a, b in codes]


def _divided_rows(i: int, j: int, common: CommonMargins, shared: Sequence[tuple[int, int]]) -> Iterator[MarginLink]:
    """Rows of table i that table j divides further: their numbers are the totals of table j."""
    one, two = common.tables[i], common.tables[j]
    title = " ".join(f"{two.sheet.grid.sheet} {two.sheet.layout.title}".casefold().split())
    for axis, labels in enumerate(one.labels):
        columns = [pair for pair in shared if pair[0] != axis]
        line = np.moveaxis(one.values, axis, -1)[one.wholes[:axis] + one.wholes[axis + 1 :]]
        equal = {*np.flatnonzero(line == two.values[two.wholes]).tolist()}  # mostly none
        if not equal:
            continue
        left, right = common.codes(i, j, columns)
        totals = two.values[tuple(right.T)]
        for label, code in labels.items():
            if code not in equal:
                continue
            rows = left.copy()
            rows[:, axis] = code
            enough = 1 if label in title else FEWEST_EQUAL
            if np.count_nonzero(totals) < enough or not (one.values[tuple(rows.T)] == totals).all():
                continue
            for a, b in zip(rows.tolist(), right.tolist(), strict=True):
                yield MarginLink((i, tuple(a)), ((j, tuple(b)),))


def _divided_codes(i: int, j: int, common: CommonMargins, shared: Sequence[tuple[int, int]]) -> Iterator[MarginLink]:
    """Codes of either table that the other divides, along dimensions that have other labels there."""
    one, two = common.tables[i], common.tables[j]
    free = [{*range(len(t.shape))} - {pair[k] for pair in shared} for k, t in enumerate((one, two))]
    differing = [(a, b) for a, b in shared if one.labels[a].keys() != two.labels[b].keys()]
    enough = ENOUGH_IN_BLOCK if _of_one_block(one, two) else ENOUGH
    for a, b in [*product(*map(sorted, free)), *differing]:
        left, right = common.codes(i, j, [pair for pair in shared if pair != (a, b)])
        yield from divided_codes(i, j, (a, b), (left, right), common.tables, enough)
        yield from divided_codes(j, i, (b, a), (right, left), common.tables, enough)


def _added_lines(i: int, j: int, common: CommonMargins, shared: Sequence[tuple[int, int]]) -> Iterator[MarginLink]:
    """Lines of either table that one of its own and one of the other's add up to."""
    for a, b in shared:
        left, right = common.codes(i, j, [(a, b)])
        codes = left[:, a], right[:, b]
        yield from added_lines(i, j, (a, b), codes, common.tables)
        yield from added_lines(j, i, (b, a), codes[::-1], common.tables)


def _sums_of_tables(numbers: Sequence[int], tables: Sequence[TableMargins]) -> Iterator[MarginLink]:
    """Margins of one table that are the sums of those of others with the same labels, in every cell."""
    families: dict[tuple[tuple[str, ...], ...], list[tuple[int, tuple[int, ...]]]] = {}
    for number in numbers:
        labels = [tuple(sorted(own)) for own in tables[number].labels]
        axes = sorted(range(len(labels)), key=lambda axis: labels[axis])
        choices = {tuple(axes), *((axis,) for axis in axes)}
        for chosen in choices:
            key = tuple(labels[axis] for axis in chosen)
            if np.prod([len(own) + 1 for own in key]) >= FEWEST_CELLS:
                families.setdefault(key, []).append((number, chosen))
    for key, members in families.items():
        members = list({number: (number, axes) for number, axes in members}.values())
        if len(members) < 3:
            continue
        codes = [_margin_codes(tables[number], axes, key) for number, axes in members]
        vectors = np.array(
            [tables[number].values[tuple(rows.T)] for (number, _), rows in zip(members, codes, strict=True)]
        )
        for whole, parts in _added_up(vectors):
            for k in range(vectors.shape[1]):
                margins = [(members[m][0], tuple(codes[m][k].tolist())) for m in (whole, *parts)]
                yield MarginLink(margins[0], tuple(margins[1:]))


def _margin_codes(table: TableMargins, axes: Sequence[int], key: Sequence[Sequence[str]]) -> Array:
    """All combinations of the labels of some dimensions and their totals, the others at their total."""
    choices = [
        [table.wholes[axis], *(table.labels[axis][label] for label in labels)]
        for axis, labels in zip(axes, key, strict=True)
    ]
    rows = np.array(list(product(*choices)))
    codes = np.tile(np.array(table.wholes), (len(rows), 1))
    codes[:, list(axes)] = rows
    return codes


def _added_up(vectors: Array) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Which vectors are the sums of which others: all ways of few, else of two, of neighbours, and of all others."""
    many = len(vectors)
    present = [k for k in range(many) if vectors[k].any()]
    ways: set[tuple[int, ...]] = set()
    if len(present) <= MOST_TABLES:
        ways = {some for size in range(2, len(present)) for some in combinations(present, size)}
    else:
        ways = set(combinations(present, 2))
        ways |= {tuple(present[a:b]) for a in range(len(present)) for b in range(a + 2, len(present) + 1)}
        ways |= {tuple(k for k in present if k != left) for left in present}
    first = vectors[:, 0]
    wanted: dict[float, list[int]] = {}
    for k in present:
        wanted.setdefault(float(first[k]), []).append(k)
    for some in sorted(ways):
        for whole in wanted.get(float(first[list(some)].sum()), ()):
            if whole not in some and np.array_equal(vectors[list(some)].sum(axis=0), vectors[whole]):
                yield whole, some
