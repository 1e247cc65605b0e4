"""Whole-number tables of one small population, sampled under the exact noise: one number for each set of records.

A state is a list of records, each with a random key. A published cell of the population has the records that fall into
it, their number and the sum of their keys; cells with equal sums hold the same records, and a keyed method shows
them alike. So the likelihood has one factor for each *set* of records, not for each cell, and a state in which one set
would show two numbers is all but impossible. Sets are found by a hash table of key sums, kept up to date by each move.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discreet.base.annotations import Array
from discreet.base.compiled import compiled
from discreet.population._random import start, uniform

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


class Prior(NamedTuple):
    """What is believed of a record before anything of the population itself is seen, and where proposals come from."""

    log_prior: Array  # full combination -> log-probability
    stride: Array  # variable -> its step in the combination
    block: Array  # number of a block, variable -> whether a proposal redraws it
    block_stride: Array  # block, variable -> its step in the table of log_proposal
    block_offset: Array  # block -> its first entry
    log_proposal: Array  # log-probabilities of what the stock gives for the variables of each block
    stock: Array  # draws from the proposal, record by variable


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
def _pick(state: TableState, number: int) -> int:
    """One of 0, 1, ..., number - 1."""
    return min(int(uniform(state.chance) * number), number - 1)


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
def _enter(public: PublishedCells, state: TableState, cell: int, penalty: float) -> Any:
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
    return change + _enter(public, state, cell, penalty)


@compiled
def _place(public: PublishedCells, record: Array, cells: Array) -> None:
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
def _screen(public: PublishedCells, state: TableState, which: int, cells: Array, penalty: float) -> float:
    """The same for a record that goes to other cells."""
    change = 0.0
    for block in range(cells.size):
        before = state.cell[which, block]
        if before != cells[block]:
            change += _one_by_one(public, state, before, -1, penalty)
            change += _one_by_one(public, state, cells[block], 1, penalty)
    return SCREENED * change


@compiled
def _screen_two(
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
def _relocate(
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
def _admit(public: PublishedCells, state: TableState, record: Array, penalty: float) -> float:
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
def _dismiss(public: PublishedCells, state: TableState, which: int, penalty: float) -> float:
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


@compiled
def _combination(prior: Prior, record: Array) -> int:
    at = 0
    for variable in range(record.size):
        at += prior.stride[variable] * record[variable]
    return at


@compiled
def _proposal(prior: Prior, block: int, record: Array) -> Any:
    at = prior.block_offset[block]
    for variable in range(record.size):
        at += prior.block_stride[block, variable] * record[variable]
    return prior.log_proposal[at]


@compiled
def _redraw(
    public: PublishedCells, prior: Prior, state: TableState, heat: float, penalty: float, spare: Array, places: Array
) -> float:
    """Some values of one record are drawn anew, from the stock. Accepted in two steps (Christen and Fox 2005)."""
    which = _pick(state, state.size[0])
    block = _pick(state, prior.block.shape[0])
    drawn = _pick(state, prior.stock.shape[0])
    old, new = spare[0], spare[1]
    for variable in range(old.size):
        old[variable] = state.record[which, variable]
        new[variable] = prior.stock[drawn, variable] if prior.block[block, variable] else old[variable]
    believed = prior.log_prior[_combination(prior, new)] - prior.log_prior[_combination(prior, old)]
    ratio = believed + _proposal(prior, block, old) - _proposal(prior, block, new)
    if ratio < -60.0:
        return 0.0
    _place(public, new, places[0])
    quick = _screen(public, state, which, places[0], penalty) / heat
    if np.log(uniform(state.chance)) >= ratio + quick:
        return 0.0
    places[1] = state.cell[which]
    change = _relocate(public, state, which, new, places[0], penalty)
    if np.log(uniform(state.chance)) < change / heat - quick:
        return change
    _relocate(public, state, which, old, places[1], penalty)
    return 0.0


@compiled
def _swap(
    public: PublishedCells, prior: Prior, state: TableState, heat: float, penalty: float, spare: Array, places: Array
) -> float:
    """Two records exchange some of their values."""
    one = _pick(state, state.size[0])
    other = _pick(state, state.size[0])
    block = _pick(state, prior.block.shape[0])
    differ = False
    for variable in range(spare.shape[1]):
        spare[0, variable] = spare[2, variable] = state.record[one, variable]
        spare[1, variable] = spare[3, variable] = state.record[other, variable]
        if prior.block[block, variable]:
            spare[2, variable], spare[3, variable] = spare[1, variable], spare[0, variable]
            differ = differ or spare[0, variable] != spare[1, variable]
    if not differ:
        return 0.0
    ratio = prior.log_prior[_combination(prior, spare[2])] + prior.log_prior[_combination(prior, spare[3])]
    ratio -= prior.log_prior[_combination(prior, spare[0])] + prior.log_prior[_combination(prior, spare[1])]
    if ratio < -60.0:
        return 0.0
    _place(public, spare[2], places[0])
    _place(public, spare[3], places[1])
    quick = _screen_two(public, state, one, other, places, penalty) / heat
    if np.log(uniform(state.chance)) >= ratio + quick:
        return 0.0
    places[2], places[3] = state.cell[one], state.cell[other]
    change = _relocate(public, state, one, spare[2], places[0], penalty)
    change += _relocate(public, state, other, spare[3], places[1], penalty)
    if np.log(uniform(state.chance)) < change / heat - quick:
        return change
    _relocate(public, state, one, spare[0], places[2], penalty)
    _relocate(public, state, other, spare[1], places[3], penalty)
    return 0.0


@compiled
def _resize(
    public: PublishedCells, prior: Prior, state: TableState, heat: float, penalty: float, spare: Array
) -> float:
    """One record more or one fewer: all numbers of records are held to be equally likely beforehand."""
    whole = prior.block.shape[0] - 1  # the last block is of all variables
    if uniform(state.chance) < 0.5:
        if state.size[0] >= state.record.shape[0]:
            return 0.0
        drawn = _pick(state, prior.stock.shape[0])
        for variable in range(spare.shape[1]):
            spare[0, variable] = prior.stock[drawn, variable]
        ratio = prior.log_prior[_combination(prior, spare[0])] - _proposal(prior, whole, spare[0])
        change = _admit(public, state, spare[0], penalty)
        if np.log(uniform(state.chance)) < ratio + change / heat:
            return change
        _dismiss(public, state, state.size[0] - 1, penalty)
        return 0.0
    if state.size[0] <= 1:
        return 0.0
    which = _pick(state, state.size[0])
    for variable in range(spare.shape[1]):
        spare[0, variable] = state.record[which, variable]
    ratio = _proposal(prior, whole, spare[0]) - prior.log_prior[_combination(prior, spare[0])]
    change = _dismiss(public, state, which, penalty)
    if np.log(uniform(state.chance)) < ratio + change / heat:
        return change
    _admit(public, state, spare[0], penalty)
    return 0.0


@compiled
def begin(public: PublishedCells, state: TableState, penalty: float) -> float:
    """The log-likelihood of the state with which a chain begins: its records are entered one by one."""
    total = 0.0
    for cell in range(public.shown.size):
        total += _enter(public, state, cell, penalty)
    number = state.size[0]
    state.size[0] = 0
    for which in range(number):
        total += _admit(public, state, state.record[which].copy(), penalty)
    return total


@compiled
def advance(
    public: PublishedCells, prior: Prior, state: TableState, moves: int, heat: float, penalty: float, seed: int
) -> float:
    """So many moves of a chain; the change of the log-likelihood."""
    start(state.chance, np.uint64(seed), 0, 0)
    spare = np.zeros((4, state.record.shape[1]), state.record.dtype)
    places = np.zeros((4, public.offset.size), np.int64)
    change = 0.0
    for _ in range(moves):
        kind = uniform(state.chance)
        if kind < 0.6:
            change += _redraw(public, prior, state, heat, penalty, spare, places)
        elif kind < 0.96:
            change += _swap(public, prior, state, heat, penalty, spare, places)
        else:
            change += _resize(public, prior, state, heat, penalty, spare)
    return change
