"""Draw a population and measure it at once: R1, R2 and uniques of millions of tables that are never stored."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from discreet.base.compiled import compiled, compiled_part
from discreet.information import Array, Floats
from discreet.population._kernels import (
    MULTINOMIAL,
    POLYA,
    Parameters,
    Strata,
    alias_of,
    draw_population,
    prepare,
    work_space,
)
from discreet.population._random import start
from discreet.risk._kernels import sum_xlogx

R2, R1, ZEROS, UNIQUES, MATCHES = range(5)
"""Rows of the result: the two risks, empty cells, population uniques, those of them that are in the sample."""


@compiled_part
def _xlogx(x: int, lookup: Floats) -> float:
    return lookup[x] if x < lookup.size else x * math.log(x)


@compiled_part
def _live(law: int, f: Array, a: Floats) -> Array:
    """The cells that need a look: a multinomial leaves those without a chance as they are, which is empty."""
    out, number = np.empty(f.size, np.int64), 0
    for i in range(f.size):
        if law != MULTINOMIAL or f[i] > 0 or a[i] > 0.0:
            out[number] = i
            number += 1
    return out[:number]


@compiled_part
def _measure(
    F: Array, f: Array, live: Array, known: Floats, n: int, lookup: Floats, w: Floats, space: Floats, out: Array, j: int
) -> None:
    """(3.6.6) and (3.5.2) of [Ant16]_ for population j; H(X|Y) as collapsed in discreet.information."""
    cells, size, logs = F.size, space[0], space[1]
    zeros, uniques, matches, total, each = cells - live.size, 0, 0, 0, 0.0
    for k in range(live.size):
        x = F[live[k]]
        zeros += x == 0
        uniques += x == 1
        matches += (x == 1) & (f[live[k]] == 1)
        total += x
        logs[k] = _xlogx(x, lookup)
        each += logs[k]
    N, m = float(total), float(n)
    h = max(math.log(N) - each / N, 0.0) if cells - zeros > 1 else 0.0
    moved, up_x, up_y, log_x, log_y = 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(live.size):
        x, y = F[live[k]], f[live[k]]
        gap = x * m - y * N
        up = 1.0 if gap < 0.0 else 0.0
        up_x += up * x
        up_y += up * y
        log_x += up * logs[k]
        log_y += up * known[k]
        moved += max(gap, 0.0)
        size[k] = abs(gap)
    r = moved / (N * m)
    spread = sum_xlogx(size, space[2], space[3]) / (N * m) - 2.0 * r * math.log(N * m)
    hidden = (r * math.log(r) if r > 0.0 else 0.0) - spread
    hidden += (log_y - up_y * math.log(m)) / m - (log_x - up_x * math.log(N)) / N
    left = 1.0 if h <= 0.0 else min(max(1.0 - max(hidden, 0.0) / h, 0.0), 1.0)
    share, term = zeros / cells, min(max(1.0 - h / math.log(cells), 0.0), 1.0) if cells > 1 else 0.0
    last = w[2] * (1.0 + 0.5 * math.log(N)) / math.sqrt(N)
    # F >= f, so every zero of F is one of f: |D or E| / |D and E| = |E| / |D|
    first = share ** (known[live.size] / zeros) if zeros > 0 else 0.0
    out[R2, j] = w[0] * first + w[1] * term * left + last
    out[R1, j] = w[0] * share + w[1] * term + last
    out[ZEROS, j], out[UNIQUES, j], out[MATCHES, j] = zeros, uniques, matches


@compiled
def risks(
    law: int,
    seed: Any,
    sample: int,
    f: Array,
    parameters: Parameters,
    strata: Strata,
    lookup: Floats,
    w: Floats,
    first: int,
    last: int,
    out: Floats,
) -> None:
    """Measures of the populations first..last of one sample into out[measure, population]."""
    if last <= first:
        return
    work = work_space(f.size, strata.left.size)
    live, n = _live(law, f, parameters.a), f.sum()
    space, F = np.empty((4, live.size)), np.empty(f.size, np.int64)
    known = np.empty(live.size + 1)  # f log f of the cells, then the number of empty cells of the sample
    for k in range(live.size):
        known[k] = _xlogx(f[live[k]], lookup)
    known[live.size] = (f == 0).sum()
    alias = alias_of(law, parameters, strata)
    if law == POLYA:
        prepare(parameters, strata, work)
    for j in range(first, last):
        start(work.state, seed, sample, j)
        draw_population(law, f, parameters, strata, alias, work, F)
        _measure(F, f, live, known, n, lookup, w, space, out, j)
