"""The table of records that a chain stands at: its cells, its sets of records, and what a record that moves changes.

Sets are found by a hash table of key sums, kept up to date by each move.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discreet.base.annotations import Array
from discreet.base.compiled import compiled

SCREENED = 0.5  # how much of the quick answer decides whether a move is looked at closely: cells share their noise


class PublishedCells(NamedTuple):
    """What was published of the population: cells in blocks, one block for each table that they come from."""

    offset: Array  # block -> its first cell
    step: Array  # block, variable, leaf -> how far the leaf moves the cell
    shown: Array  # cell -> the number shown, -1 where none is
    kind: Array  # cell -> which of the chances holds for it
    chance: Array  # kind, count, change + reach -> log-probability
    row_period: int
    keyed: bool
    """Whether a set of records always shows the same number."""


class TableState(NamedTuple):
    """The present table; everything is changed in place."""

    record: Array  # record, variable -> leaf
    key: Array
    cell: Array  # record, block -> cell
    size: Array  # [number of records]
    held: Array  # cell -> number of records
    sums: Array  # cell -> sum of keys
    slots: Array  # the hash table: what stands there
    counts: Array  # and how often
    chance: Array  # the generator's state


@compiled
def _slot(slots: Array, name: Any) -> Any:
    at = np.int64((name * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & (slots.size - 1)
    while slots[at] != 0 and slots[at] != name:
        at = (at + 1) & (slots.size - 1)
    return at


@compiled
def _count_up(slots: Array, counts: Array, name: Any) -> Any:
    """One more of a name; how many there were."""
    at = _slot(slots, name)
    slots[at] = name
    counts[at] += 1
    return counts[at] - 1


@compiled
def _count_down(slots: Array, counts: Array, name: Any) -> Any:
    """One less of a name; how many are left. An emptied slot is closed, so that no search ends there too early."""
    at = _slot(slots, name)
    counts[at] -= 1
    left = counts[at]
    if left > 0:
        return left
    mask = slots.size - 1
    gap, after = at, (at + 1) & mask
    while slots[after] != 0:
        home = np.int64((slots[after] * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & mask
        if ((after - home) & mask) >= ((after - gap) & mask):
            slots[gap], counts[gap] = slots[after], counts[after]
            gap = after
        after = (after + 1) & mask
    slots[gap], counts[gap] = 0, 0
    return 0


@compiled
def _log_chance(public: PublishedCells, cell: int, count: int, shown: int, penalty: float) -> Any:
    """Log-probability of a shown number; what cannot be is held to be very unlikely, the more the further away."""
    last = public.chance.shape[1] - 1
    row = (
        count if count <= last else last - (public.row_period - (count - last) % public.row_period) % public.row_period
    )
    reach = public.chance.shape[2] // 2
    change = shown - count
    if change < -reach or change > reach:
        return -penalty - 0.5 * (abs(change) - reach)
    value = public.chance[public.kind[cell], row, change + reach]
    return value if value > -penalty else -penalty


@compiled
def _pair(key: Any, shown: int) -> Any:
    word = (key ^ (np.uint64(shown + 1) * np.uint64(0xD6E8FEB86659FD93))) * np.uint64(0xC2B2AE3D27D4EB4F)
    return word | np.uint64(1)


@compiled
def enter_cell(public: PublishedCells, state: TableState, cell: int, penalty: float) -> Any:
    """The log-likelihood that a cell adds as it is."""
    shown, count = public.shown[cell], state.held[cell]
    if shown < 0:
        return 0.0
    if count == 0 or not public.keyed:
        return _log_chance(public, cell, count, shown, penalty)
    key = state.sums[cell]
    if _count_up(state.slots, state.counts, _pair(key, shown)) > 0:
        return 0.0
    several = _count_up(state.slots, state.counts, key & ~np.uint64(1) | np.uint64(2)) > 0
    return _log_chance(public, cell, count, shown, penalty) - (penalty if several else 0.0)


@compiled
def _leave(public: PublishedCells, state: TableState, cell: int, penalty: float) -> Any:
    """The log-likelihood that is lost when a cell is taken away."""
    shown, count = public.shown[cell], state.held[cell]
    if shown < 0:
        return 0.0
    if count == 0 or not public.keyed:
        return -_log_chance(public, cell, count, shown, penalty)
    key = state.sums[cell]
    if _count_down(state.slots, state.counts, _pair(key, shown)) > 0:
        return 0.0
    several = _count_down(state.slots, state.counts, key & ~np.uint64(1) | np.uint64(2)) > 0
    return -_log_chance(public, cell, count, shown, penalty) + (penalty if several else 0.0)


@compiled
def _shift(public: PublishedCells, state: TableState, cell: int, key: int, by: int, penalty: float) -> Any:
    """One record more or fewer in a cell; the change of the log-likelihood."""
    change = _leave(public, state, cell, penalty)
    state.held[cell] += by
    if by > 0:
        state.sums[cell] += key
    else:
        state.sums[cell] -= key
    return change + enter_cell(public, state, cell, penalty)


@compiled
def place_record(public: PublishedCells, record: Array, cells: Array) -> None:
    """The cells of a record, block by block."""
    for block in range(public.offset.size):
        cell = public.offset[block]
        for variable in range(record.size):
            cell += public.step[block, variable, record[variable]]
        cells[block] = cell


@compiled
def _one_by_one(public: PublishedCells, state: TableState, cell: int, by: int, penalty: float) -> Any:
    """What more or fewer records in a cell would change if every cell had noise of its own: quick to say."""
    shown, count = public.shown[cell], state.held[cell]
    if shown < 0:
        return 0.0
    return _log_chance(public, cell, count + by, shown, penalty) - _log_chance(public, cell, count, shown, penalty)


@compiled
def screen_record(public: PublishedCells, state: TableState, which: int, cells: Array, penalty: float) -> float:
    """The same for a record that goes to other cells."""
    change = 0.0
    for block in range(cells.size):
        before = state.cell[which, block]
        if before != cells[block]:
            change += _one_by_one(public, state, before, -1, penalty)
            change += _one_by_one(public, state, cells[block], 1, penalty)
    return SCREENED * change


@compiled
def screen_pair(
    public: PublishedCells, state: TableState, one: int, other: int, places: Array, penalty: float
) -> float:
    """The same for two records; cells that one leaves and the other enters stay as they are."""
    change = 0.0
    cells, by = np.zeros(4, np.int64), np.zeros(4, np.int64)
    for block in range(places.shape[1]):
        cells[0], cells[1] = state.cell[one, block], state.cell[other, block]
        cells[2], cells[3] = places[0, block], places[1, block]
        by[0], by[1], by[2], by[3] = -1, -1, 1, 1
        for later in range(1, 4):
            for earlier in range(later):
                if cells[later] == cells[earlier] and by[later] != 0:
                    by[earlier] += by[later]
                    by[later] = 0
        for number in range(4):
            if by[number] != 0:
                change += _one_by_one(public, state, cells[number], by[number], penalty)
    return SCREENED * change


@compiled
def relocate_record(
    public: PublishedCells, state: TableState, which: int, target: Array, cells: Array, penalty: float
) -> float:
    """A record gets other values; the change of the log-likelihood."""
    change = 0.0
    key = state.key[which]
    for block in range(public.offset.size):
        cell = cells[block]
        before = state.cell[which, block]
        if cell != before:
            change += _shift(public, state, before, key, -1, penalty)
            change += _shift(public, state, cell, key, 1, penalty)
            state.cell[which, block] = cell
    for variable in range(target.size):
        state.record[which, variable] = target[variable]
    return change


@compiled
def admit_record(public: PublishedCells, state: TableState, record: Array, penalty: float) -> float:
    """One more record at the end of the list."""
    which = state.size[0]
    change = 0.0
    for block in range(public.offset.size):
        cell = public.offset[block]
        for variable in range(record.size):
            cell += public.step[block, variable, record[variable]]
        state.cell[which, block] = cell
        change += _shift(public, state, cell, state.key[which], 1, penalty)
    for variable in range(record.size):
        state.record[which, variable] = record[variable]
    state.size[0] = which + 1
    return change


@compiled
def dismiss_record(public: PublishedCells, state: TableState, which: int, penalty: float) -> float:
    """A record goes; the last one takes its place."""
    change = 0.0
    last = state.size[0] - 1
    for block in range(public.offset.size):
        change += _shift(public, state, state.cell[which, block], state.key[which], -1, penalty)
        state.cell[which, block] = state.cell[last, block]
    state.key[which], state.key[last] = state.key[last], state.key[which]
    for variable in range(state.record.shape[1]):
        state.record[which, variable] = state.record[last, variable]
    state.size[0] = last
    return change
