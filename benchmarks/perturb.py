"""Perturbing a census cube, beside what a user would use instead.

    python benchmarks/perturb.py [--rows 1500000] [--csp FOLDER]

Times are the best of several runs in one process; compare the ratios. The ONS package is measured if it can be imported
(pip install cell-key-perturbation), and left out otherwise. ``--csp`` names a folder of .jj instances for the
adjustment whose optima are known.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import io
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import discreet as dc
from discreet.methods.perturb.cta import Adjustment, adjust

OPTIMA = {"targus": 4.393833, "table8": 0.341038, "table7": 20.388156}


def best(work: Callable[[], Any], runs: int = 7) -> float:
    """Seconds of the quickest run."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def line(what: str, seconds: float, note: str = "") -> None:
    print(f"{what:<66}{seconds * 1000:>9.1f} ms  {note}")


def people(rows: int) -> tuple[dc.Microdata, dict[str, Any], tuple[int, ...]]:
    """The synthetic census as whole numbers: microdata over them, the bare arrays, and the cube's shape."""
    import pyarrow as pa

    table = dc.datasets.census_arrow(rows)
    dims = dc.datasets.census_dimensions()
    columns: dict[str, Any] = {}
    for dimension in dims:
        columns[dimension.name] = table[dimension.name].combine_chunks().indices.to_numpy()
    columns["rkey"] = table["rkey"].to_numpy()
    coded = [dc.Dimension.flat(d.name, range(len(d.leaves))) for d in dims]
    data = dc.Microdata.of(pa.table(columns), dimensions=coded, key="rkey")
    return data, columns, tuple(len(d.leaves) for d in dims)


def cell_keys(data: dc.Microdata, columns: dict[str, Any], shape: tuple[int, ...]) -> dc.Table:
    names = [d.name for d in data.dimensions]
    inner: list[dict[str, str | list[str]]] = [{n: n for n in names}]
    method = dc.CellKey(d=2, v=1)
    ptable = method.noise
    ends = np.ascontiguousarray(ptable.probabilities.cumsum(axis=1).T)

    def ours() -> dc.Protected:
        return method(dc.tabulate(data, by=names, margins=inner))

    def bare() -> Any:
        """No codebook, no check, no mixing of the keys, no bounds: the least one can do."""
        cell = np.zeros(len(columns["rkey"]), np.int32)
        for name, size in zip(names, shape, strict=True):
            cell = cell * np.int32(size) + columns[name]
        cells = int(np.prod(shape))
        count = np.bincount(cell, minlength=cells)
        key = np.zeros(cells, np.uint64)
        np.add.at(key, cell, columns["rkey"])
        u, row = key / 2.0**64, np.minimum(count, len(ptable.probabilities) - 1)
        return count + sum((u >= ends[k][row]).astype(np.int64) for k in range(2 * ptable.d)) - ptable.d

    print(f"{len(columns['rkey']):,} records to {int(np.prod(shape)):,} cells with cell keys")
    mine, numpy = best(ours), best(bare)
    line("  discreet: tabulate and CellKey(d=2, v=1)", mine)
    line("  NumPy: bincount, sum of keys, look-up", numpy, f"discreet takes {mine / numpy:.2f} x as long (goal: 3)")
    other = ons(columns, names)
    if other is not None:
        note = f"discreet is {other / mine:.1f} x faster (goal: 10)"
        line("  cell-key-perturbation (ONS, PyPI), integer codes", other, note)
    return dc.tabulate(data, by=names, margins=inner)


def ons(columns: dict[str, Any], names: list[str]) -> float | None:
    """Seconds of the ONS package on the same records; its keys run from 0 to 255."""
    if importlib.util.find_spec("cell_key_perturbation") is None:
        print("  (cell-key-perturbation is not installed: left out)")
        return None
    import pandas as pd

    create_perturbed_table = importlib.import_module(
        "cell_key_perturbation.create_perturbed_table"
    ).create_perturbed_table
    frame = pd.DataFrame({name: columns[name].astype(np.int64) for name in names})
    frame["rkey"] = (columns["rkey"] % 256).astype(np.int64)
    grid = np.meshgrid(np.arange(1, 751), np.arange(256), indexing="ij")
    noise = np.random.default_rng(1).integers(-2, 3, grid[0].size)
    ptable = pd.DataFrame({"pcv": grid[0].ravel(), "ckey": grid[1].ravel(), "pvalue": noise})
    with contextlib.redirect_stdout(io.StringIO()):  # it reports on every run
        return best(lambda: create_perturbed_table(frame, ptable, names[:1], names[1:], "rkey", threshold=0), runs=3)


def others(data: dc.Microdata, cube: dc.Table) -> None:
    full = dc.tabulate(data, by=[d.name for d in data.dimensions])
    semi = dc.SemiControlledRound(3, control=("region",))
    line("semi-controlled rounding of the cube to base 3", best(lambda: semi(cube)), "(goal: 50)")
    line(f"  the same with all {len(full):,} cells of its margins", best(lambda: semi(full), 3))
    line("random rounding of the cube to base 3", best(lambda: dc.RandomRound(3)(cube)))
    rng = np.random.default_rng(1)
    table = dc.Table.of(rng.poisson(6, (100, 100)), ["a", "b"])
    seconds = best(lambda: dc.ControlledRound(5)(table), 3)
    line("controlled rounding of a 100 x 100 table to base 5", seconds, "(goal: 1,000)")
    line("stochastic perturbation of the cube", best(lambda: dc.Stochastic(control=("region",))(cube), 2))
    plain = dc.Swap("region", strata=("sex",), profile=("age",), seed=1)
    aimed = dc.Swap("region", profile=("sex", "age"), risk=("age", "occupation", "citizenship"), k=3, seed=1)
    line(f"swapping 10 % of {data.n:,} persons, alike in sex and age", best(lambda: plain(data), 2), "(goal: 5,000)")
    line("  targeted: rare ones first, those in cells below 3 always", best(lambda: aimed(data), 2), "(goal: 5,000)")
    line("PRAM of one variable, invariant", best(lambda: dc.Pram("education", seed=1)(data), 2))


def adjustments(folder: Path) -> None:
    print("controlled tabular adjustment, L1, weights 1 / value")
    for name, optimum in OPTIMA.items():
        problem = read_jj(folder / f"{name}.jj")
        start = time.perf_counter()
        found = adjust(problem)
        note = f"cost {found.cost:.6f}, known optimum {optimum:.6f}"
        line(f"  {name}: {len(problem.values):,} cells", time.perf_counter() - start, note)


def read_jj(path: Path) -> Adjustment:
    """An instance in the JJ format: cells with value, status, bounds and levels, then the relations."""
    from scipy.sparse import csr_array

    lines = path.read_text().splitlines()
    n = int(lines[1])
    cells = [text.split() for text in lines[2 : 2 + n]]
    value, lower, upper, down, up = (np.array([float(c[k]) for c in cells]) for k in (1, 4, 5, 6, 7))
    m = int(lines[2 + n])
    found = [(k, int(c), float(s)) for k, text in enumerate(lines[3 + n : 3 + n + m])
             for c, s in re.findall(r"(\d+) \((-?\d+)\)", text.split(":")[1])]  # fmt: skip
    row, column, sign = (np.array(x) for x in zip(*found, strict=True))
    relations = csr_array((sign, (row, column)), shape=(m, n))
    cost = 1 / np.where(value > 0, value, 1)
    return Adjustment(value, relations, np.array([c[3] == "u" for c in cells]), down, up, lower, upper, cost)


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--rows", type=int, default=1_500_000)
    arguments.add_argument("--csp", type=Path)
    given = arguments.parse_args()
    data, columns, shape = people(given.rows)
    others(data, cell_keys(data, columns, shape))
    if given.csp is not None:
        adjustments(given.csp)


if __name__ == "__main__":
    main()
