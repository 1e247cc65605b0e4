"""Tables of one file that have cells in common: what is hidden in one is hidden in all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import Refused
from discreet.methods.suppress.method import Suppress
from discreet.release import Protected, Status
from discreet.rules import Request
from discreet.sheets.sheet_table import SheetTable

CellName = frozenset[tuple[str, str]]
ROUNDS = 10


@dataclass(frozen=True, eq=False)
class LinkedPair:
    """Of two tables the positions of their cells in common that hold the same number."""

    first: int
    second: int
    cells: tuple[tuple[int, int], ...]
    differ: bool = False
    """Whether other cells of the same name differ, such as totals of which one counts more rows."""


def cell_positions(sheet: SheetTable) -> dict[CellName, int]:
    """Cells that stand on a sheet by the codes that are not totals, whatever table they are in."""
    table = sheet.table
    layout = table.layout
    columns = [np.array(d.codes, object)[layout.codes[:, k]].tolist() for k, d in enumerate(layout.dimensions)]
    named: dict[CellName, int] = {}
    for k, codes in enumerate(zip(*columns, strict=True)):
        if sheet.places.get(codes):
            pairs = zip(table.dimensions, codes, strict=True)
            named[frozenset((d.name, code) for d, code in pairs if code != d.total)] = k
    return named


def linked_tables(sheets: Sequence[SheetTable]) -> list[LinkedPair]:
    """Pairs of tables of one population: at least half of the finest cells in common hold the same number.

    Cells that are empty in both say nothing. Totals may differ where one table has rows that the other has not.
    """
    if len(sheets) < 2:
        return []
    names = [cell_positions(sheet) for sheet in sheets]
    pairs = []
    for i, one in enumerate(names):
        for j in range(i + 1, len(names)):
            common = list(one.keys() & names[j].keys())
            if not common:
                continue
            here = np.array([one[name] for name in common])
            there = np.array([names[j][name] for name in common])
            left, right = sheets[i].table.value[here], sheets[j].table.value[there]
            size = np.array([len(name) for name in common])
            finest = (size == size.max()) & ((left != 0) | (right != 0))
            same = left == right
            if finest.any() and 2 * int((finest & same).sum()) >= int(finest.sum()):
                cells = tuple(zip(here[same].tolist(), there[same].tolist(), strict=True))
                pairs.append(LinkedPair(i, j, cells, not bool(same.all())))
    return pairs


def shown_elsewhere(pairs: Sequence[LinkedPair], done: Sequence[Protected]) -> dict[int, set[int]]:
    """Per table the cells that it shows and another hides."""
    faults: dict[int, set[int]] = {}
    for pair in pairs:
        for here, there in pair.cells:
            one, two = done[pair.first].hidden[here], done[pair.second].hidden[there]
            if one and not two:
                faults.setdefault(pair.second, set()).add(there)
            if two and not one:
                faults.setdefault(pair.first, set()).add(here)
    return faults


def also_hiding(chosen: Any, cells: Mapping[int, Array], number: int) -> Any:
    """Suppression that hides some cells of a table, too, and protects them as it does small ones."""
    if number not in cells or not isinstance(chosen, Suppress):
        return chosen
    return replace(chosen, rule=chosen.rule | Request(cells[number]))


def check_linked(sheets: Sequence[SheetTable], pairs: Sequence[LinkedPair], done: Sequence[Protected]) -> None:
    """Raise where a cell is hidden in one table and shown in another of the same population."""
    faults = shown_elsewhere(pairs, done)
    if faults:
        names = ", ".join(repr(sheets[k].name) for k in sorted(faults))
        many = sum(map(len, faults.values()))
        raise Refused(
            "linked tables",
            f"{many:,} cells of {names} show what another table of the file hides",
            "take --hide-under, which hides a cell in all tables, or protect the tables one by one with --sheet",
        )
    for pair in pairs:
        if pair.differ and (many := known_together(pair, done)):
            both = " and ".join(repr(sheets[k].name) for k in (pair.first, pair.second))
            raise Refused(
                "linked tables",
                f"{many:,} hidden cells follow from {both} together: their totals differ by rows that only one of them "
                "has",
                "give both tables the same rows, leave the totals out of one of them, or protect and publish one alone "
                "(--sheet)",
            )


def known_together(pair: LinkedPair, done: Sequence[Protected]) -> int:
    """Sensitive cells of two tables that are sums and differences of what both show, common cells being the same."""
    from scipy.sparse import coo_array, csc_array, hstack

    from discreet.linear import modular

    one, two = done[pair.first], done[pair.second]
    layouts = one.table.layout, two.table.layout
    inner = [layout.inner_of_cell for layout in layouts]
    count = layouts[0].n_inner
    variable = np.arange(layouts[1].n_inner) + count
    for here, there in pair.cells:
        if inner[0][here] >= 0 and inner[1][there] >= 0:
            variable[inner[1][there]] = inner[0][here]
    first = coo_array(layouts[0].matrix)
    second = coo_array(layouts[1].matrix)
    size = count + layouts[1].n_inner
    blocks = [
        csc_array((first.data, (first.row, first.col)), shape=(size, first.shape[1])),
        csc_array((second.data, (variable[second.row], second.col)), shape=(size, second.shape[1])),
    ]
    shown = np.concatenate([~one.hidden, ~two.hidden])
    asked = np.concatenate([part.status == Status.PRIMARY.value for part in (one, two)]) & ~shown
    if not asked.any():
        return 0
    matrix = hstack(blocks, format="csc")
    return int(modular.in_span(matrix, np.flatnonzero(shown), np.flatnonzero(asked)).sum())


def masks_of(
    faults: Mapping[int, set[int]], earlier: Mapping[int, Array], done: Sequence[Protected]
) -> dict[int, Array]:
    """Cells to be hidden per table: those of before and those that another table hides."""
    masks = dict(earlier)
    for number, cells in faults.items():
        mask = masks.get(number, np.zeros(len(done[number].table), bool)).copy()
        mask[list(cells)] = True
        masks[number] = mask
    return masks
