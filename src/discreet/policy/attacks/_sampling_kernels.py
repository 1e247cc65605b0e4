"""Whole-number tables of one small population, sampled under the exact noise: one number for each set of records.

A state is a list of records, each with a random key. A published cell of the population has the records that fall into
it, their number and the sum of their keys; cells with equal sums hold the same records, and a keyed method shows
them alike. So the likelihood has one factor for each *set* of records, not for each cell, and a state in which one set
would show two numbers is all but impossible.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discreet.base.annotations import Array
from discreet.base.compiled import compiled
from discreet.policy.attacks._sampled_table import (
    PublishedCells,
    TableState,
    admit_record,
    dismiss_record,
    enter_cell,
    place_record,
    relocate_record,
    screen_pair,
    screen_record,
)
from discreet.population._random import start, uniform


class Prior(NamedTuple):
    """What is believed of a record before anything of the population itself is seen, and where proposals come from."""

    log_prior: Array  # full combination -> log-probability
    stride: Array  # variable -> its step in the combination
    block: Array  # number of a block, variable -> whether a proposal redraws it
    block_stride: Array  # block, variable -> its step in the table of log_proposal
    block_offset: Array  # block -> its first entry
    log_proposal: Array  # log-probabilities of what the stock gives for the variables of each block
    stock: Array  # draws from the proposal, record by variable


@compiled
def _pick(state: TableState, number: int) -> int:
    """One of 0, 1, ..., number - 1."""
    return min(int(uniform(state.chance) * number), number - 1)


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
    place_record(public, new, places[0])
    quick = screen_record(public, state, which, places[0], penalty) / heat
    if np.log(uniform(state.chance)) >= ratio + quick:
        return 0.0
    places[1] = state.cell[which]
    change = relocate_record(public, state, which, new, places[0], penalty)
    if np.log(uniform(state.chance)) < change / heat - quick:
        return change
    relocate_record(public, state, which, old, places[1], penalty)
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
    place_record(public, spare[2], places[0])
    place_record(public, spare[3], places[1])
    quick = screen_pair(public, state, one, other, places, penalty) / heat
    if np.log(uniform(state.chance)) >= ratio + quick:
        return 0.0
    places[2], places[3] = state.cell[one], state.cell[other]
    change = relocate_record(public, state, one, spare[2], places[0], penalty)
    change += relocate_record(public, state, other, spare[3], places[1], penalty)
    if np.log(uniform(state.chance)) < change / heat - quick:
        return change
    relocate_record(public, state, one, spare[0], places[2], penalty)
    relocate_record(public, state, other, spare[1], places[3], penalty)
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
        change = admit_record(public, state, spare[0], penalty)
        if np.log(uniform(state.chance)) < ratio + change / heat:
            return change
        dismiss_record(public, state, state.size[0] - 1, penalty)
        return 0.0
    if state.size[0] <= 1:
        return 0.0
    which = _pick(state, state.size[0])
    for variable in range(spare.shape[1]):
        spare[0, variable] = state.record[which, variable]
    ratio = _proposal(prior, whole, spare[0]) - prior.log_prior[_combination(prior, spare[0])]
    change = dismiss_record(public, state, which, penalty)
    if np.log(uniform(state.chance)) < ratio + change / heat:
        return change
    admit_record(public, state, spare[0], penalty)
    return 0.0


@compiled
def begin(public: PublishedCells, state: TableState, penalty: float) -> float:
    """The log-likelihood of the state with which a chain begins: its records are entered one by one."""
    total = 0.0
    for cell in range(public.shown.size):
        total += enter_cell(public, state, cell, penalty)
    number = state.size[0]
    state.size[0] = 0
    for which in range(number):
        total += admit_record(public, state, state.record[which].copy(), penalty)
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
