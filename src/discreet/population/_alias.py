"""Multinomial counts at a few nanoseconds a cell, by tables made once per sample.

Poisson counts with rates r p_i, given their sum S, are Multinomial(S; p); m - S units that fall one by one make them
Multinomial(m; p). With r a little below m, S exceeds m now and then (all is then drawn again, which does not touch the
shares). Both parts come from Walker's alias tables, one a cell and one a stratum, 32 bits choosing the entry and 32
whether it is kept: every probability is right to a factor of 1 + 2^-16 at worst, 1 + 2^-24 in tables of usual size.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from discreet.base.compiled import compiled_part
from discreet.information import Array, Floats
from discreet.population._random import GOLDEN, mixed

MOST = 1 << 16  # entries of a sample's tables; beyond, conditional binomials take less time and memory
_BELOW = 0.6  # standard deviations of S that r stays below m: the least time for two draws again in seven
_32, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


class Alias(NamedTuple):
    """The cells that can grow, those of stratum h from first[h] on, each with a table at ``offset`` of ``width`` for
    the counts from ``low`` on; behind these tables one for each stratum, over its cells.

    An entry holds in its upper half the chance of being kept, in units of 2^-32, and in its lower what it gives else.
    """

    cells: Array
    first: Array
    low: Array
    offset: Array
    width: Array
    entry: Array


@compiled_part
def _width(rate: float) -> tuple[int, int]:
    reach = 8.5 * math.sqrt(rate)
    return max(math.floor(rate - reach), 0), math.ceil(rate + reach + 13.0)


@compiled_part
def _build(p: Floats, low: int, entry: Array, stack: Array) -> None:
    """Vose's construction for the numbers from ``low`` on with probabilities p."""
    size, few, many = p.size, 0, p.size
    p *= size
    for i in range(size):
        entry[i] = low + i
        if p[i] < 1.0:
            stack[few] = i
            few += 1
        else:
            many -= 1
            stack[many] = i
    while few > 0 and many < size:
        few -= 1
        small, large = stack[few], stack[many]
        entry[small] = low + large
        p[large] -= 1.0 - p[small]
        if p[large] < 1.0:
            stack[few] = large
            few += 1
            many += 1
    for i in range(few):
        p[stack[i]] = 1.0
    for i in range(many, size):
        p[stack[i]] = 1.0
    for i in range(size):
        entry[i] |= np.uint64(min(p[i] * 4294967296.0, 4294967295.0)) << _32


@compiled_part
def alias_tables(a: Floats, edges: Array, left: Array) -> Alias:
    """The tables of one sample; empty ones when they would be larger than MOST."""
    strata, number, size = left.size, 0, 0
    cells, first = np.empty(a.size, np.int64), np.zeros(strata + 1, np.int64)
    share, rate = np.empty(a.size), np.empty(a.size)
    offset, width = np.zeros(a.size + strata, np.uint64), np.zeros(a.size + strata, np.uint64)
    low = np.zeros(a.size + strata, np.int64)
    for h in range(strata):
        total = a[edges[h] : edges[h + 1]].sum()
        takes = max(left[h] - _BELOW * math.sqrt(left[h]), 0.0)
        for i in range(edges[h], edges[h + 1]):
            if a[i] > 0.0:
                cells[number], share[number], rate[number] = i, a[i] / total, takes * a[i] / total
                low[number], high = _width(rate[number])
                offset[number], width[number] = size, high - low[number] + 1
                size += high - low[number] + 1
                number += 1
        first[h + 1] = number
    size = size + number if size + number <= MOST else 0
    entry = np.empty(size, np.uint64)
    if size > 0:
        p, stack = np.empty(size), np.empty(size, np.int64)
        end = 0
        for k in range(number):
            start, end = int(offset[k]), int(offset[k] + width[k])
            _poisson(rate[k], low[k], p[start:end])
            _build(p[start:end], low[k], entry[start:end], stack)
        for h in range(strata):
            start, end = end, end + first[h + 1] - first[h]
            offset[number + h], width[number + h], low[number + h] = start, end - start, first[h]
            _build(share[first[h] : first[h + 1]], first[h], entry[start:end], stack)
    return Alias(cells[:number], first, low, offset, width, entry)


@compiled_part
def _poisson(rate: float, low: int, p: Floats) -> None:
    """Poisson probabilities of low, low + 1, ..., from the mode outwards, made to sum to 1."""
    mode = min(max(int(rate) - low, 0), p.size - 1)
    p[mode] = 1.0
    for i in range(mode, 0, -1):
        p[i - 1] = p[i] * (low + i) / rate
    for i in range(mode + 1, p.size):
        p[i] = p[i - 1] * rate / (low + i)
    p /= p.sum()


@compiled_part
def share_out(state: Array, left: int, h: int, alias: Alias, drawn: Array, out: Array) -> None:
    """Add Multinomial(left; p) to the cells of stratum h. The generator's state is kept in a register meanwhile."""
    s, rest, begin, end = state[0], -1, alias.first[h], alias.first[h + 1]
    while rest < 0:
        rest = left
        for k in range(begin, end):
            s += GOLDEN
            z = mixed(s)
            i = ((z >> _32) * alias.width[k]) >> _32
            entry = alias.entry[alias.offset[k] + i]
            other = np.int64(entry & _LOW)  # arithmetic, not a branch: which of the two it is cannot be foreseen
            x = other + np.int64((z & _LOW) < (entry >> _32)) * (alias.low[k] + np.int64(i) - other)
            drawn[k] = x
            rest -= x
    at = alias.cells.size + h
    start, width = alias.offset[at], alias.width[at]
    for _ in range(rest):
        s += GOLDEN
        z = mixed(s)
        i = ((z >> _32) * width) >> _32
        entry = alias.entry[start + i]
        other = np.int64(entry & _LOW)
        drawn[other + np.int64((z & _LOW) < (entry >> _32)) * (begin + np.int64(i) - other)] += 1
    for k in range(begin, end):
        out[alias.cells[k]] += drawn[k]
    state[0] = s
