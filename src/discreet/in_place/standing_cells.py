"""Cells of several sheets set against each other by the labels they stand under, however each sheet was understood."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from discreet.base.annotations import Array
from discreet.data.plain_labels import plain_label
from discreet.in_place.margin_links import Margin, MarginLink
from discreet.in_place.table_margins import TableMargins

FEWEST_CELLS = 4
"""Cells in which sheets must agree, or one be the sum of others."""
Labels = tuple[str, ...]
Standing = Mapping[Labels, tuple[Margin, float]]
"""A number of the sheet by the labels of its cell, and the margin of a table that it is."""


def links_by_cell(
    numbers: Sequence[int],
    tables: Sequence[TableMargins],
    added_up: Callable[[Array], Iterable[tuple[int, tuple[int, ...]]]],
) -> Iterator[MarginLink]:
    """Equal numbers and sums of sheets that were understood in different ways, as tables of other dimensions.

    That a label seemed to be part of another on one sheet and not on the next is no reason not to compare them.
    ``added_up`` says which of several rows of numbers are the sums of which others.
    """
    sheets: dict[tuple[str, str], list[int]] = {}
    for number in numbers:
        grid = tables[number].sheet.grid
        sheets.setdefault((grid.source, grid.sheet), []).append(number)
    readings = [[tuple(map(tuple, tables[k].labels)) for k in own] for own in sheets.values()]
    if len(sheets) < 2 or all(reading == readings[0] for reading in readings):
        return
    cells = [_standing(own, tables) for own in sheets.values()]
    for (i, one), (j, two) in combinations(enumerate(cells), 2):
        if readings[i] != readings[j]:
            yield from _equal_cells(one, two)
    families: dict[frozenset[Labels], list[int]] = {}
    for k, own in enumerate(cells):
        families.setdefault(frozenset(own), []).append(k)
    for labels, members in families.items():
        if len(members) < 3 or len(labels) < FEWEST_CELLS or all(readings[k] == readings[members[0]] for k in members):
            continue
        keys = sorted(labels)
        vectors = np.array([[cells[k][key][1] for key in keys] for k in members])
        for whole, parts in added_up(vectors):
            for key in keys:
                margins = [cells[members[m]][key][0] for m in (whole, *parts)]
                yield MarginLink(margins[0], tuple(margins[1:]))


def _standing(own: Sequence[int], tables: Sequence[TableMargins]) -> Standing:
    held: dict[Labels, tuple[Margin, float]] = {}
    for number in own:
        table = tables[number]
        known = [{code: plain_label(d.labels.get(code, code)) for code in d.codes} for d in table.dimensions]
        for codes, places in table.sheet.places.items():
            if places:
                at = tuple(d.position[code] for d, code in zip(table.dimensions, codes, strict=True))
                key = tuple(names[code] for names, code in zip(known, codes, strict=True))
                held.setdefault(key, ((number, at), float(table.values[at])))
    return held


def _equal_cells(one: Standing, two: Standing) -> Iterator[MarginLink]:
    """Cells of two sheets with the same labels and number, if at least half of those that are not zero are equal."""
    common = [key for key in one if key in two]
    filled = [key for key in common if one[key][1] or two[key][1]]
    equal = [key for key in filled if one[key][1] == two[key][1]]
    if len(equal) >= FEWEST_CELLS and 2 * len(equal) >= len(filled):
        for key in equal:
            yield MarginLink(one[key][0], (two[key][0],))
