"""The compiled loops behind ``known_sums``: equations in a few hidden cells, added to and taken from each other."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discreet.base.annotations import Array
from discreet.base.compiled import compiled, compiled_part


class Equations(NamedTuple):
    """The hidden cells of each equation in ascending order, with their factors; and the equations of each cell."""

    begin: Array
    cells: Array
    factors: Array
    cell_begin: Array
    of_cell: Array


class Found(NamedTuple):
    """Combinations one after the other: their cells and factors up to an end, and the equations of each (-1: none)."""

    cells: Array
    factors: Array
    ends: Array
    used: Array


def _pair_steps(equations: Equations, one: Array, *rest: Any) -> float:
    return 2.0 * len(one) * len(equations.cells) / max(len(equations.begin) - 1, 1)


@compiled(steps=_pair_steps)
def plain_differences(equations: Equations, one: Array, two: Array, cell: Array) -> tuple[Array, Array, Array]:
    """The pairs of equations whose difference without a cell is a plain sum: cells, ends, and which pairs."""
    widest = 0
    for k in range(len(equations.begin) - 1):
        widest = max(widest, equations.begin[k + 1] - equations.begin[k])
    cells = np.empty(1024 + 2 * widest, np.int64)
    scratch = np.empty((2, 2 * widest), np.int64)
    ends = np.empty(len(one), np.int64)
    which = np.empty(len(one), np.int64)
    many = 0
    used = 0
    for k in range(len(one)):
        first = equations.begin[one[k]]
        last = equations.begin[one[k] + 1]
        size = _without(equations.cells[first:last], equations.factors[first:last], equations, two[k], cell[k], scratch)
        if not _is_plain(scratch[1, :size]):
            continue
        if used + size > len(cells):
            longer = np.empty(2 * len(cells), np.int64)
            longer[:used] = cells[:used]
            cells = longer
        cells[used : used + size] = scratch[0, :size]
        used += size
        ends[many] = used
        which[many] = k
        many += 1
    return cells[:used], ends[:many], which[:many]


def _several_steps(
    equations: Equations, one: Array, two: Array, cell: Array, signs: int, most: int, *rest: Any
) -> float:
    wide = len(equations.cells) / max(len(equations.begin) - 1, 1)
    ways = len(equations.of_cell) / max(len(equations.cell_begin) - 1, 1)
    return min(float(most), len(one) * (signs * ways) ** 2) * 8 * wide


@compiled(steps=_several_steps)
def of_several(
    equations: Equations, one: Array, two: Array, cell: Array, signs: int, most: int, together: int
) -> Found:
    """Combinations of three equations and more, ``together`` at most, beginning with pairs; so many steps are taken.

    Each further equation takes a cell away (see ``_to_take_away``). No combination is found twice, whatever its sign.
    """
    n = len(equations.cell_begin) - 1
    scratch = np.empty((2, n + 1), np.int64)
    ends = np.empty(most + 1, np.int64)
    used = np.full((most + 1, together), -1, np.int64)
    cells = np.empty(4096 + n, np.int64)
    factors = np.empty(4096 + n, np.int64)
    places = 4
    while places < 2 * (most + 1):
        places *= 2
    table = np.full(places, -1, np.int64)
    number = 0
    steps = 0
    start = 0
    stop = 0
    for level in range(2, together):
        before = number
        for item in range(len(one) if level == 2 else stop - start):
            names = np.full(together, -1, np.int64)
            if level == 2:
                names[0] = one[item]
                names[1] = two[item]
                first = equations.begin[one[item]]
                last = equations.begin[one[item] + 1]
                size = _without(
                    equations.cells[first:last],
                    equations.factors[first:last],
                    equations,
                    two[item],
                    cell[item],
                    scratch,
                )
                terms = scratch[0, :size].copy()
                signed = scratch[1, :size].copy()
            else:
                at = start + item
                names[:] = used[at]
                first = ends[at - 1] if at else 0
                terms = cells[first : ends[at]].copy()
                signed = factors[first : ends[at]].copy()
            for place in _to_take_away(signed, signs):
                gone = terms[place]
                for e in range(equations.cell_begin[gone], equations.cell_begin[gone + 1]):
                    other = equations.of_cell[e]
                    known = False
                    for k in range(level):
                        known = known or names[k] == other
                    if known:
                        continue
                    steps += 1
                    if steps > most:
                        return _as_found(cells, factors, ends, used, number)
                    size = _without(terms, signed, equations, other, gone, scratch)
                    if size == 0:
                        continue
                    end = ends[number - 1] if number else 0
                    if end + size > len(cells):
                        cells = _longer(cells, end, 2 * len(cells) + size)
                        factors = _longer(factors, end, 2 * len(factors) + size)
                    sign = 1 if scratch[1, 0] > 0 else -1
                    cells[end : end + size] = scratch[0, :size]
                    factors[end : end + size] = sign * scratch[1, :size]
                    ends[number] = end + size
                    if _is_new(cells, factors, ends, number, table):
                        used[number] = names
                        used[number, level] = other
                        number += 1
        start = before
        stop = number
    return _as_found(cells, factors, ends, used, number)


@compiled_part
def _as_found(cells: Array, factors: Array, ends: Array, used: Array, number: int) -> Found:
    """What has been found, without the room for more."""
    end = ends[number - 1] if number else 0
    return Found(cells[:end], factors[:end], ends[:number], used[:number])


@compiled_part
def _longer(old: Array, kept: int, size: int) -> Array:
    """The same numbers with room for more."""
    new = np.empty(size, np.int64)
    new[:kept] = old[:kept]
    return new


@compiled_part
def _without(terms: Array, signed: Array, equations: Equations, other: int, cell: int, out: Array) -> int:
    """The terms less an equation, or plus it, so that a cell stands there no more; how many are left.

    None where its factors differ in size.
    """
    first = equations.begin[other]
    last = equations.begin[other + 1]
    here = signed[np.searchsorted(terms, cell)]
    there = equations.factors[first + np.searchsorted(equations.cells[first:last], cell)]
    if abs(here) != abs(there):
        return 0
    sign = 1 if here == there else -1
    size = 0
    i = 0
    j = first
    while i < len(terms) or j < last:
        if j == last or (i < len(terms) and terms[i] < equations.cells[j]):
            out[0, size] = terms[i]
            out[1, size] = signed[i]
            i += 1
        elif i == len(terms) or equations.cells[j] < terms[i]:
            out[0, size] = equations.cells[j]
            out[1, size] = -sign * equations.factors[j]
            j += 1
        else:
            out[0, size] = terms[i]
            out[1, size] = signed[i] - sign * equations.factors[j]
            i += 1
            j += 1
        size += 1 if out[1, size] != 0 else 0
    return size


@compiled_part
def _is_plain(factors: Array) -> bool:
    """Whether these are the factors of a plain sum of two or more."""
    for k in range(len(factors)):
        if abs(factors[k]) != 1 or factors[k] != factors[0]:
            return False
    return len(factors) > 1


@compiled_part
def _to_take_away(factors: Array, signs: int) -> Array:
    """Places of the sign that is rarer, if they are few; of a sum all. Nothing where a factor is not 1 or -1."""
    ups = 0
    downs = 0
    for factor in factors:
        if factor == 1:
            ups += 1
        elif factor == -1:
            downs += 1
    fewer = min(ups, downs)
    out = np.empty(len(factors), np.int64)
    if ups + downs < len(factors) or fewer > signs:
        return out[:0]
    rarer = 1 if ups < downs else -1
    size = 0
    for k in range(len(factors)):
        if fewer == 0 or ups == downs or factors[k] == rarer:
            out[size] = k
            size += 1
    return out[:size]


@compiled_part
def _is_new(cells: Array, factors: Array, ends: Array, number: int, table: Array) -> bool:
    """Whether a combination is not among those before it; if so, it is entered in the table of places."""
    first = ends[number - 1] if number else 0
    size = ends[number] - first
    mark = 17
    for k in range(first, ends[number]):
        mark = (mark * 1000003 + 31 * cells[k] + factors[k] + 7) % 2147483647
    place = mark % len(table)
    while table[place] >= 0:
        begin = ends[table[place] - 1] if table[place] else 0
        same = ends[table[place]] - begin == size
        k = 0
        while same and k < size:
            same = cells[begin + k] == cells[first + k] and factors[begin + k] == factors[first + k]
            k += 1
        if same:
            return False
        place = (place + 1) % len(table)
    table[place] = number
    return True
