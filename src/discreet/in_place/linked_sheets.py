"""Tables of one file that have cells in common: what is hidden in one is hidden in all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import Refused, many
from discreet.in_place.common_margins import CommonMargins
from discreet.in_place.margin_links import MarginLink
from discreet.in_place.table_links import found_links
from discreet.in_place.table_margins import TableMargins
from discreet.methods.suppress.method import Suppress
from discreet.release import Protected, Status
from discreet.rules import Request
from discreet.sheets.sheet_table import SheetTable

ROUNDS = 10


@dataclass(frozen=True, eq=False)
class LinkedPair:
    """Of two tables the positions of their cells in common that hold the same number."""

    first: int
    second: int
    cells: tuple[tuple[int, int], ...]


def linked_pairs(tables: Sequence[TableMargins], links: Sequence[MarginLink]) -> list[LinkedPair]:
    """Cells that stand on two sheets as the same margin, by pairs of tables."""
    cells: dict[tuple[int, int], dict[tuple[int, int], None]] = {}
    for link in links:
        if len(link.parts) != 1:
            continue
        (one, here), (two, there) = link.whole, link.parts[0]
        left, right = int(tables[one].cells[here]), int(tables[two].cells[there])
        if left >= 0 and right >= 0:
            cells.setdefault((one, two), {})[left, right] = None
    return [LinkedPair(one, two, tuple(pairs)) for (one, two), pairs in cells.items()]


def linked_tables(sheets: Sequence[SheetTable]) -> list[LinkedPair]:
    """Pairs of tables of one population, by their cells in common (see ``found_links``)."""
    tables = [TableMargins(sheet) for sheet in sheets]
    return linked_pairs(tables, found_links(CommonMargins(tables)).links)


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


def hidden_for_others(done: Protected, chosen: Any) -> Protected:
    """A protected table in which what is hidden only because another table hides it is a secondary suppression."""
    if not isinstance(chosen, Suppress):
        return done
    own = np.asarray(chosen.rule(done.table))
    foreign = (done.status == Status.PRIMARY.value) & ~own
    return replace(done, status=np.where(foreign, Status.SECONDARY.value, done.status)) if foreign.any() else done


def check_linked(sheets: Sequence[SheetTable], pairs: Sequence[LinkedPair], done: Sequence[Protected]) -> None:
    """Raise where a cell is hidden in one table and shown in another of the same population."""
    faults = shown_elsewhere(pairs, done)
    if faults:
        names = ", ".join(repr(sheets[k].name) for k in sorted(faults))
        several = sum(map(len, faults.values()))
        raise Refused(
            "linked tables",
            f"{many(several, 'cell')} of {names} {'shows' if several == 1 else 'show'} what another table of the file "
            "hides",
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
