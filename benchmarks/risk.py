"""R1 + R2 of a million tables, and one large table with all its lines: seconds, memory, and the ratio to plain NumPy.

Run: python benchmarks/risk.py            (about a minute; prints one line a measurement)
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from typing import Any

import numpy as np

from discreet import risk

Array = np.ndarray[Any, Any]
CELLS = 90
WEIGHTS = (0.1, 0.8, 0.1)


def batch(tables: int, dtype: type = np.int16) -> tuple[Array, Array]:
    """Sparse skewed tables and their random rounding to base 3, made in place in pieces."""
    rng = np.random.default_rng(1)
    f: Array = np.empty((tables, CELLS), dtype=dtype)
    g = np.empty_like(f)
    rates = rng.gamma(0.4, 25.0, CELLS)
    for start in range(0, tables, 10_000):
        piece = f[start : start + 10_000]
        piece[...] = rng.poisson(rates, piece.shape)
        piece[:, 0] += 1  # nobody is an error, not a table
        g[start : start + 10_000] = 3 * ((piece + rng.integers(0, 3, piece.shape)) // 3)
    return f, g


def plain(f: Array, g: Array) -> tuple[Array, Array]:
    """R1 and R2 as one writes them down from (3.5.2), (3.6.5) and (3.6.6)."""
    n, m = f.sum(axis=1, keepdims=True).astype(float), g.sum(axis=1, keepdims=True).astype(float)
    k = f.shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        p = f / n
        h = -np.nansum(p * np.log(p), axis=1)
        a, b = m * f, n * g
        low = np.minimum(a, b)
        rest = n * m - low.sum(axis=1, keepdims=True)
        hc = -np.nansum(low / (n * m) * np.log(low / b), axis=1)
        hc -= np.nansum((a - low) / (n * m) * np.log((a - low) / rest), axis=1)
        hc -= np.nansum((b - low) / (n * m) * np.log((b - low) / b), axis=1)
        d, e = f == 0, g == 0
        zeros = d.mean(axis=1)
        power = (d | e).sum(axis=1) / (d & e).sum(axis=1)
        second = 1 - h / np.log(k)
        third = (1 + 0.5 * np.log(n[:, 0])) / np.sqrt(n[:, 0])
        first = np.where((d & e).any(axis=1), zeros**power, 0.0)
        r1 = WEIGHTS[0] * zeros + WEIGHTS[1] * second + WEIGHTS[2] * third
        r2 = WEIGHTS[0] * first + WEIGHTS[1] * second * (1 - hc / h) + WEIGHTS[2] * third
    return r1, r2


def million(tables: int) -> None:
    """In a process of its own, so that the peak memory is that of the work and of the data."""
    small = np.tile(np.arange(CELLS, dtype=np.int16), (50_000, 1))
    start = time.perf_counter()
    risk.r1(small, axis=1)
    risk.r2(small, small, axis=1)
    print(f"first use (load or compile)          {time.perf_counter() - start:8.2f} s")
    del small
    f, g = batch(tables)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        one, two = risk.r1(f, axis=1), risk.r2(f, g, axis=1)
        times.append(time.perf_counter() - start)
    seconds = statistics.median(times)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"R1 + R2, {tables:,} tables of {CELLS} cells {seconds:8.2f} s    peak {peak:.2f} GB")
    for piece in (2_000, 100_000):  # as much as stays in the cache, and more than does
        f_part, g_part = f[: 2 * piece], g[: 2 * piece]
        start, found = time.perf_counter(), [plain(f_part[i : i + piece], g_part[i : i + piece]) for i in (0, piece)]
        slow = (time.perf_counter() - start) * tables / len(f_part)
        first, second = (np.concatenate([x[i] for x in found]) for i in (0, 1))
        worst = max(np.abs(first - one.value[: 2 * piece]).max(), np.abs(second - two.value[: 2 * piece]).max())
        print(
            f"plain NumPy, {piece:7,} tables at a time {slow:8.2f} s    ratio {slow / seconds:.1f}, differ {worst:.0e}"
        )


def cube() -> None:
    """The hypercube of JOS15 section 5: 245,700 cells, nine in ten empty."""
    rng = np.random.default_rng(2)
    table = rng.poisson(rng.gamma(0.02, 300.0, (2, 2, 21, 5, 13, 9, 5)))
    times = []
    for _ in range(20):
        start = time.perf_counter()
        risk.r1(table)
        lines = risk.line_risks(table)
        times.append(time.perf_counter() - start)
    ours = statistics.median(times)
    start = time.perf_counter()
    for axis in range(table.ndim):
        rows = np.moveaxis(table, axis, -1).reshape(-1, table.shape[axis])
        rows = rows[rows.any(axis=1)]
        plain(rows, rows)
    slow = time.perf_counter() - start
    number = sum(x.size for x in lines)
    print(f"R1 of {table.size:,} cells and {number:,} lines {ours * 1000:7.1f} ms   ratio {slow / ours:.1f}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        million(int(sys.argv[1]))
    else:
        subprocess.run([sys.executable, __file__, "1000000"], check=True)
        cube()
