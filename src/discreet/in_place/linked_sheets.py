"""Tables of one file that have cells in common: what is hidden in one is hidden in all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import Refused
from discreet.methods.suppress.method import Suppress
from discreet.release import Protected
from discreet.rules import Request
from discreet.sheets.sheet_table import SheetTable

CellName = frozenset[tuple[str, str]]
LEAST_COMMON = 3
ROUNDS = 10


@dataclass(frozen=True, eq=False)
class LinkedPair:
    """Of two tables the positions of their cells in common."""

    first: int
    second: int
    cells: tuple[tuple[int, int], ...]


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
    """Pairs of tables of one population: several cells in common, and the same number in all of them."""
    if len(sheets) < 2:
        return []
    names = [cell_positions(sheet) for sheet in sheets]
    pairs = []
    for i, one in enumerate(names):
        for j in range(i + 1, len(names)):
            common = [(one[name], names[j][name]) for name in one.keys() & names[j].keys()]
            if len(common) < LEAST_COMMON:
                continue
            here, there = (np.array(side) for side in zip(*common, strict=True))
            if np.array_equal(sheets[i].table.value[here], sheets[j].table.value[there]):
                pairs.append(LinkedPair(i, j, tuple(common)))
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
