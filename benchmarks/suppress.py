"""Cell suppression from a thousand to a million cells: seconds, peak memory, and the ratio to what R needed.

Run: python benchmarks/suppress.py [FOLDER] [--audit] [--whole] [--most CELLS]
FOLDER holds the scaling inputs, one folder each (inner.csv[.gz], hier_geo.csv, hier_nace.csv, hier_age.csv); without it
tables of the same shape are made. Each size runs in a process of its own, after the compiled code has been cached.
``--audit`` also checks up to 100,000 cells for sensitive cells with one possible value, and repairs. ``--whole`` then
prints the whole call as a ratio to elimination alone for other shapes, and how it grows (``whole_call.py``). ``--most``
leaves out larger tables.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import discreet as dc
from discreet.base.compiled import always_compiled

# GaussSuppression 1.2.3, SuppressSmallCounts(maxN = 3), R 4.2.2 on a 2-core machine: CPU seconds and secondary cells
RECORDED = {
    "s1k_3way": (0.8, 163), "s10k_3way": (38.5, 1038), "s50k_3way": (752.0, 3968), "s100k_3way": (3183.0, 7256),
}  # fmt: skip
GOALS = {"s10k_3way": 0.2, "s50k_3way": 1.5, "s100k_3way": 5.0, "s300k_3way": 20.0, "million": 120.0}
MADE = {  # areas, places in each, branches of four, ages
    "s1k_3way": (3, 5, 2, 3), "s10k_3way": (6, 10, 8, 3), "s50k_3way": (20, 10, 8, 5), "s100k_3way": (30, 10, 12, 4),
    "s300k_3way": (50, 10, 12, 8), "million": (60, 10, 25, 11),
}  # fmt: skip

ABOUT = {
    "s1k_3way": 1e3, "s10k_3way": 1e4, "s50k_3way": 5e4, "s100k_3way": 1e5, "s300k_3way": 3e5, "million": 1e6,
}  # fmt: skip


def read(folder: Path) -> dc.Table:
    """A recorded input."""
    import pandas as pd

    path = next(p for p in (folder / "inner.csv", folder / "inner.csv.gz") if p.exists())
    frame = pd.read_csv(path, dtype={"geo": str, "nace": str, "age": str})
    dims = []
    for name in ("geo", "nace", "age"):
        links = pd.read_csv(folder / f"hier_{name}.csv", dtype=str)
        pairs = list(zip(links["mapsFrom"], links["mapsTo"], strict=True))
        dims.append(dc.Dimension.from_parents(name, pairs, total="Total"))
    return dc.Table.of(frame, dims, count="freq")


def made(name: str) -> dc.Table:
    """Three dimensions, two of them with a level of groups; about 15 % of the cells hold 1 to 3 records."""
    areas, per_area, branches, ages = MADE[name]
    rng = np.random.default_rng(len(name))
    geo = dc.Dimension.from_prefix("geo", [f"G{a:03d}{b:02d}" for a in range(areas) for b in range(per_area)], [4])
    nace = dc.Dimension.from_prefix("nace", [f"N{a:02d}{b}" for a in range(branches) for b in range(4)], [3])
    age = dc.Dimension.flat("age", [f"A{k}" for k in range(ages)])
    rates = [rng.lognormal(0, 0.8, len(d.leaves)) for d in (geo, nace, age)]
    mean = np.einsum("i,j,k->ijk", *rates)
    counts = rng.poisson(mean * 14 / mean.mean() * rng.lognormal(0, 0.5, mean.shape))
    return dc.Table.of(counts, [geo, nace, age])


def measure(name: str, folder: str, audit: bool) -> None:
    """One size, in this process: figures as JSON."""
    table = read(Path(folder)) if folder else made(name)
    rule = dc.Threshold(4)
    table.matrix  # noqa: B018 - made when first used; it belongs to the table
    out: dict[str, Any] = {"cells": len(table), "primary": int(rule(table).sum())}
    small = dc.Table.of(np.arange(12).reshape(3, 4), ["a", "b"])
    for kind in ("none", "sums"):
        with always_compiled():  # while it is timed nothing is compiled, loaded or run as Python
            dc.protect(small, dc.Suppress(rule, singletons=kind))
        method = dc.Suppress(rule, singletons=kind, repair="off")
        wall, cpu = time.perf_counter(), time.process_time()
        done = dc.protect(table, method)
        out[kind] = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
        out[kind]["secondary"] = int((done.status == "x").sum())
    out["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if audit:
        from discreet.audits.known import Known, unmovable

        began = time.perf_counter()
        stuck = unmovable(Known.hiding(table, done.hidden), np.flatnonzero(done.status == "u"))
        out["audit"] = {"wall": time.perf_counter() - began, "known": int(stuck.sum())}
        began = time.perf_counter()
        mended = dc.protect(table, dc.Suppress(rule))
        out["repair"] = {"wall": time.perf_counter() - began, "added": mended.details["repair"]}
    print(json.dumps(out))


def in_r(folder: Path) -> float | None:
    """Seconds that R needs for the same table here, where R and the package are installed."""
    if shutil.which("Rscript") is None:
        return None
    path = next(p for p in (folder / "inner.csv", folder / "inner.csv.gz") if p.exists())
    hierarchies = ", ".join(f"{n} = read.csv('{folder}/hier_{n}.csv')" for n in ("geo", "nace", "age"))
    code = (
        f"suppressMessages(library(GaussSuppression)); d <- read.csv('{path}'); t <- system.time(SuppressSmallCounts("
        f"d, maxN = 3, protectZeros = FALSE, freqVar = 'freq', hierarchies = list({hierarchies}), printInc = FALSE)); "
        "cat(t[['elapsed']])"
    )
    done = subprocess.run(["Rscript", "-e", code], capture_output=True, text=True)
    return float(done.stdout.split()[-1]) if done.returncode == 0 and done.stdout.strip() else None


def main(folder: Path | None, audit: bool, most: float) -> None:
    measure_line = (
        f"{'table':12} {'cells':>9} {'primary':>8} {'second.':>8} {'none s':>8} {'sums s':>8} {'goal':>14} {'MB':>6}"
    )
    print(measure_line, " ratio to R (CPU, sums)")
    for name, cells in ABOUT.items():
        if cells > most:
            continue
        source = "" if folder is None or not (folder / name).exists() else str(folder / name)
        check = audit and name not in ("s300k_3way", "million")
        command = [sys.executable, __file__, "--one", name, source, "audit" if check else ""]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            print(name, "failed", done.stderr.strip().splitlines()[-1:])
            continue
        got = json.loads(done.stdout)
        recorded = RECORDED.get(name) if source else None
        goal = GOALS.get(name)
        word = "no goal" if goal is None else f"{goal:g} s: {'met' if got['sums']['wall'] <= goal else 'missed'}"
        beside = ""
        if recorded:
            same = "same number of secondaries" if recorded[1] == got["sums"]["secondary"] else f"R hides {recorded[1]}"
            beside = f"1 : {recorded[0] / got['sums']['cpu']:,.0f} of the recorded {recorded[0]:g} s, {same}"
            if name in ("s1k_3way", "s10k_3way") and (here := in_r(Path(source))) is not None:
                beside += f"; 1 : {here / got['sums']['wall']:,.0f} of {here:.1f} s measured here"
        print(
            f"{name:12} {got['cells']:>9,} {got['primary']:>8,} {got['sums']['secondary']:>8,} "
            f"{got['none']['wall']:>8.2f} {got['sums']['wall']:>8.2f} {word:>14} {got['peak']:>6.0f}  " + beside
        )
        if check:
            print(
                f"{'':12} audit of all primaries {got['audit']['wall']:.1f} s, {got['audit']['known']} exactly known; "
                f"with repair {got['repair']['wall']:.1f} s, {got['repair']['added']} cells more"
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        measure(sys.argv[2], sys.argv[3], bool(sys.argv[4]))
    else:
        parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("folder", nargs="?", type=Path, metavar="FOLDER")
        parser.add_argument("--audit", action="store_true")
        parser.add_argument("--whole", action="store_true")
        parser.add_argument("--most", type=float, default=float("inf"), metavar="CELLS")
        given = parser.parse_args()
        main(given.folder, given.audit, given.most)
        if given.whole:
            subprocess.run([sys.executable, str(Path(__file__).with_name("whole_call.py"))], check=True)
