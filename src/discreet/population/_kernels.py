"""Compiled draws of population tables given a sample; imported only when populations are drawn.

``law`` says how F - f is distributed and ``Parameters`` holds its numbers.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from discreet.base.compiled import compiled, compiled_part
from discreet.information import Array, Floats
from discreet.population._alias import Alias, alias_tables, share_out
from discreet.population._random import GOLDEN, binomial, gamma, mixed, poisson, start, uniform

MULTINOMIAL, DIRICHLET, POLYA, POISSON, GAMMA, NODES = range(6)
BARS = 1 << 15  # places for the bars of a Dirichlet-multinomial with whole masses; larger ones use gamma variables
GRID = 4096  # points of an urn's table of black balls; up to so many draws it is complete

_0, _1, _2, _4, _6, _32, _56, _63 = (np.uint64(k) for k in (0, 1, 2, 4, 6, 32, 56, 63))
_FIVES, _THREES = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_FIFTEENS, _EACH = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


class Parameters(NamedTuple):
    """Of one sample. ``a``, ``b`` per cell: weights; gamma shapes; rates; shapes and scales. Nodes: cells x rates."""

    a: Floats
    b: Floats
    nodes: Floats
    node_mass: Floats
    theta: Floats


class Strata(NamedTuple):
    """Cells edges[h] to edges[h + 1] form stratum h, of which left[h] units were not sampled."""

    edges: Array
    left: Array


class Work(NamedTuple):
    """Scratch space of one thread, and what an urn needs to know once per sample (see ``prepare``)."""

    state: Array
    weight: Floats
    rest: Floats
    empty: Array
    times: Array
    mass: Floats
    sizes: Array
    z: Array
    cumulated: Floats
    whole: Array
    bits: Array


@compiled_part
def work_space(cells: int, strata: int) -> Work:
    """Scratch space for tables of so many cells and strata."""
    return Work(
        np.zeros(1, np.uint64),
        np.empty(cells),
        np.empty(cells),
        np.empty(cells, np.int64),
        np.empty(cells, np.int64),
        np.empty(strata),
        np.empty(strata, np.int64),
        np.empty((strata, GRID), np.int64),
        np.empty((strata, GRID)),
        np.zeros(strata, np.bool_),
        np.empty(BARS // 64 + 1, np.uint64),
    )


@compiled_part
def _share_out(left: int, w: Floats, low: int, high: int, work: Work, out: Array) -> None:
    """Add Multinomial(left; w / sum w) to out[low:high] by conditional binomials."""
    total, rest = 0.0, work.rest
    for i in range(high - 1, low - 1, -1):
        total += w[i]
        rest[i] = total
    for i in range(low, high):
        if left <= 0:
            return
        if w[i] > 0.0:
            x = binomial(work.state, left, w[i] / rest[i])
            out[i] += x
            left -= x


@compiled_part
def _ones(x: Any) -> Any:
    """The number of bits set."""
    x = x - ((x >> _1) & _FIVES)
    x = (x & _THREES) + ((x >> _2) & _THREES)
    return (((x + (x >> _4)) & _FIFTEENS) * _EACH) >> _56


@compiled_part
def _between_bars(left: int, n: int, a: Floats, low: int, high: int, work: Work, out: Array) -> None:
    """Dirichlet-multinomial with whole masses that sum to n: n - 1 bars among left + n - 1 places part the units.

    Cell i gets what lies between its a[i] bars and those before; the bars are bits set at random.
    """
    size, bits = left + n - 1, work.bits
    for k in range((size >> 6) + 1):
        bits[k] = _0
    s, width = work.state[0], np.uint64(size)
    for _ in range(n - 1):
        while True:
            s += GOLDEN
            place = ((mixed(s) >> _32) * width) >> _32
            bit = _1 << (place & _63)
            if bits[place >> _6] & bit == _0:
                break
        bits[place >> _6] |= bit
    work.state[0] = s
    word, seen, bars, before = 0, 0, 0, -1
    here = int(_ones(bits[0]))
    for i in range(low, high):
        if a[i] > 0.0:
            bars += int(a[i])
            at = size
            if bars < n:
                while seen + here < bars:
                    seen += here
                    word += 1
                    here = int(_ones(bits[word]))
                x = bits[word]
                for _ in range(bars - seen - 1):
                    x &= x - _1
                at = 64 * word + int(_ones((x & (~x + _1)) - _1))
            out[i] += at - before - int(a[i])
            before = at


@compiled_part
def _dirichlet(left: int, a: Floats, low: int, high: int, work: Work, out: Array) -> None:
    """The same with weights that are gamma variables of shape a: Dirichlet-multinomial."""
    for i in range(low, high):
        work.weight[i] = gamma(work.state, a[i])
    _share_out(left, work.weight, low, high, work, out)


@compiled_part
def _log_rate(theta: float, mass: float, z: float) -> float:
    """-log P(no black ball in the first z draws), up to a constant."""
    return math.lgamma(mass + theta + z) - math.lgamma(mass + z)


@compiled_part
def alias_of(law: int, parameters: Parameters, strata: Strata) -> Alias:
    """Once per sample: the tables of multinomial draws, empty for other laws."""
    if law == MULTINOMIAL:
        return alias_tables(parameters.a, strata.edges, strata.left)
    none, empty = np.empty(0, np.int64), np.empty(0, np.uint64)
    return Alias(none, none, none, empty, empty, empty)


@compiled_part
def prepare(parameters: Parameters, strata: Strata, work: Work) -> None:
    """Once per sample: the mass of each stratum's urn and a table of draws z and -log P(no black ball up to z)."""
    for h in range(strata.left.size):
        left, theta = strata.left[h], parameters.theta[h]
        mass = parameters.a[strata.edges[h] : strata.edges[h + 1]].sum()
        size = min(left + 1, GRID)
        for i in range(size):
            z = i if left < GRID else int(left * (i / (size - 1.0)) ** 3)
            work.z[h, i] = z
            work.cumulated[h, i] = _log_rate(theta, mass, z) - _log_rate(theta, mass, 0)
        work.mass[h], work.sizes[h] = mass, size
        a = parameters.a[strata.edges[h] : strata.edges[h + 1]]
        filled, fits = (a > 0.0).sum(), 2.0 * mass < left < BARS - mass
        work.whole[h] = fits and mass < 16 * filled and (a == np.floor(a)).all()


@compiled_part
def _next_black(level: float, theta: float, h: int, work: Work) -> int:
    """The first draw at which the cumulated rate reaches ``level``; -1 if none does."""
    mass, cumulated = work.mass[h], work.cumulated[h]
    low, high = 0, work.sizes[h] - 1
    if cumulated[high] < level:
        return -1
    if work.z[h, high] == high:  # the table is complete: near where the rate's integral says
        at = min(max(int((mass + 0.5 * (theta - 1.0)) * math.expm1(level / theta)), 1), high)
        while cumulated[at] < level:
            at += 1
        while at > 1 and cumulated[at - 1] >= level:
            at -= 1
        return int(at)
    while high - low > 1:
        middle = (low + high) // 2
        if cumulated[middle] < level:
            low = middle
        else:
            high = middle
    first, last = work.z[h, low], work.z[h, high]
    while last - first > 1:
        middle = (first + last) // 2
        if _log_rate(theta, mass, middle) - _log_rate(theta, mass, 0) < level:
            first = middle
        else:
            last = middle
    return int(last)


@compiled_part
def _new_colours(theta: float, number: int, h: int, work: Work) -> int:
    """When black balls come up and which empty cells they open, at most all ``number`` of them."""
    blacks, level = 0, 0.0
    while theta > 0.0 and blacks < number:
        at = _next_black(level - math.log(uniform(work.state)), theta, h, work)
        if at < 0:
            break
        if at < work.sizes[h] and work.z[h, at] == at:  # the table is complete
            level = work.cumulated[h, at]
        else:
            level = _log_rate(theta, work.mass[h], at) - _log_rate(theta, work.mass[h], 0)
        work.times[blacks] = at
        other = blacks + int(uniform(work.state) * (number - blacks))
        work.empty[blacks], work.empty[other] = work.empty[other], work.empty[blacks]
        blacks += 1
    return blacks


@compiled_part
def _followers(state: Array, after: int, older: float) -> int:
    """Of ``after`` units that fall on a new ball or on ``older`` old ones, in Pólya's manner, those on the new one."""
    if after > 30.0 * older:
        return binomial(state, after, 1.0 - uniform(state) ** (1.0 / older))
    p, u, x = older / (after + older), uniform(state), 0
    while u > p and x < after:
        u -= p
        p *= (after - x) / (after - x + older - 1.0)
        x += 1
    return x


@compiled_part
def _polya(h: int, parameters: Parameters, strata: Strata, work: Work, out: Array) -> None:
    """The urn of UNECE15 section 5.2 in O(cells): when black balls come up, then shares going back in time.

    A colour that enters when the urn holds T coloured balls gets a Beta(1, T - 1) share of what later falls on it and
    on all older colours together. With no empty cell left a black ball is put back and drawing goes on.
    """
    low, high, left = strata.edges[h], strata.edges[h + 1], strata.left[h]
    number = 0
    for i in range(low, high):
        if parameters.a[i] <= 0.0:
            work.empty[number] = i
            number += 1
    blacks = _new_colours(parameters.theta[h], number, h, work)
    after = left - (work.times[blacks - 1] if blacks > 0 else 0)
    for k in range(blacks - 1, -1, -1):
        x = _followers(work.state, after, work.mass[h] + work.times[k] - 1.0)
        out[work.empty[k]] += 1 + x
        after += work.times[k] - 1 - (work.times[k - 1] if k > 0 else 0) - x
    if work.whole[h]:
        _between_bars(after, int(work.mass[h]), parameters.a, low, high, work, out)
    else:
        _dirichlet(after, parameters.a, low, high, work, out)


@compiled_part
def _node(state: Array, cumulated: Floats) -> int:
    """The first place where the cumulated probability reaches a uniform number."""
    u, low, high = uniform(state), 0, cumulated.size - 1
    while low < high:
        middle = (low + high) // 2
        if cumulated[middle] < u:
            low = middle + 1
        else:
            high = middle
    return low


@compiled_part
def _cells(law: int, parameters: Parameters, state: Array, out: Array) -> None:
    """Add independent counts: Poisson, Poisson with gamma rates, Poisson with rates from nodes."""
    for i in range(out.size):
        if law == POISSON:
            out[i] += poisson(state, parameters.a[i])
        elif law == GAMMA:
            out[i] += poisson(state, gamma(state, parameters.a[i]) * parameters.b[i])
        else:
            out[i] += poisson(state, parameters.nodes[i, _node(state, parameters.node_mass[i])])


@compiled_part
def draw_population(
    law: int, f: Array, parameters: Parameters, strata: Strata, alias: Alias, work: Work, out: Array
) -> None:
    """One population into ``out``: the sample f plus a draw, stratum by stratum where the total is fixed."""
    for i in range(f.size):
        out[i] = f[i]
    if law >= POISSON:
        _cells(law, parameters, work.state, out)
        return
    for h in range(strata.left.size):
        low, high = strata.edges[h], strata.edges[h + 1]
        if law == MULTINOMIAL and alias.entry.size > 0:
            share_out(work.state, strata.left[h], h, alias, work.empty, out)
        elif law == MULTINOMIAL:
            _share_out(strata.left[h], parameters.a, low, high, work, out)
        elif law == DIRICHLET:
            _dirichlet(strata.left[h], parameters.a, low, high, work, out)
        else:
            _polya(h, parameters, strata, work, out)


@compiled
def populations(
    law: int, seed: Any, f: Array, parameters: Parameters, strata: Strata, first: int, last: int, out: Array
) -> None:
    """Populations first..last of one sample into the rows of ``out``."""
    work = work_space(f.size, strata.left.size)
    alias = alias_of(law, parameters, strata)
    if law == POLYA:
        prepare(parameters, strata, work)
    for j in range(first, last):
        start(work.state, seed, 0, j)
        draw_population(law, f, parameters, strata, alias, work, out[j])
