"""Time limits: what was asked and what was taken, over tables of many shapes and every method with a limit.

Run: python benchmarks/deadlines.py [--times 5,20] [--only WORD]
Each line is a process of its own, after the compiled code has been cached. A line is late if it took more than 20 %
and two seconds above what was asked; what was returned is judged by the audit without a limit unless ``--no-audit``
is given, and ``open`` counts the sensitive cells that the pattern leaves with less than they need.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import discreet as dc
from discreet import datasets

FLAT = "flat"
LATE = (1.2, 2.0)  # times what was asked, and seconds
KILLED = 10.0  # times what was asked


def linked(
    sizes: list[int], margins: Sequence[tuple[int, ...]], records: int, *, groups: int = 0, magnitude: bool = False
) -> dc.Table:
    """Records in skewed categories, counted (or their values added) in linked margins; ``groups``: a hierarchy."""
    import pandas as pd

    rng = np.random.default_rng(len(sizes) * records + len(margins))
    columns: dict[str, Any] = {}
    dimensions = []
    for k, size in enumerate(sizes):
        share = rng.dirichlet(np.full(size, 1.5))
        codes = [f"{chr(97 + k)}{j // max(groups, 1):02d}{j % max(groups, 1):02d}" for j in range(size)]
        columns[f"d{k}"] = np.array(codes)[rng.choice(size, records, p=share)]
        made = dc.Dimension.from_prefix(f"d{k}", codes, [3]) if groups else dc.Dimension.flat(f"d{k}", codes)
        dimensions.append(made)
    value = "amount" if magnitude else None
    if magnitude:
        columns["amount"] = np.round(rng.lognormal(5, 1.7, records))
    data = dc.Microdata.read(pd.DataFrame(columns), dc.Codebook(dimensions=tuple(dimensions), **_magnitudes(magnitude)))
    names = [tuple(f"d{k}" for k in margin) for margin in margins]
    return dc.tabulate(data, margins=names, value=value)


def _magnitudes(there: bool) -> dict[str, Any]:
    from discreet.data.codebook import Magnitude

    return {"magnitudes": (Magnitude("amount"),)} if there else {}


def business(value: str | None, *margins: tuple[str, ...], n: int = 20_000) -> dc.Table:
    return dc.tabulate(datasets.business(n), margins=list(margins), value=value)


def census(*margins: tuple[str, ...], n: int = 20_000) -> dc.Table:
    return dc.tabulate(datasets.census(n), margins=list(margins))


PAIRS3 = [(0, 1), (0, 2), (1, 2)]
PAIRS4 = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
TABLES: dict[str, Callable[[], dc.Table]] = {
    "2d counts": lambda: linked([40, 30], [(0, 1)], 9_000),
    "3d counts": lambda: linked([14, 12, 9], [(0, 1, 2)], 9_000),
    "3d pairs counts": lambda: linked([40, 30, 25], PAIRS3, 12_000),
    "3d pairs groups counts": lambda: linked([40, 32, 24], PAIRS3, 12_000, groups=4),
    "4d pairs counts": lambda: linked([24, 20, 16, 12], PAIRS4, 12_000, groups=4),
    "4d triples counts": lambda: linked([10, 9, 8, 7], [(0, 1, 2), (0, 1, 3), (1, 2, 3)], 12_000),
    "2d p%": lambda: linked([40, 30], [(0, 1)], 9_000, magnitude=True),
    "3d p%": lambda: linked([14, 12, 9], [(0, 1, 2)], 6_000, magnitude=True),
    "3d pairs p%": lambda: linked([40, 30, 25], PAIRS3, 9_000, groups=5, magnitude=True),
    "4d pairs p%": lambda: linked([24, 20, 16, 12], PAIRS4, 8_000, groups=4, magnitude=True),
    "4d triples p%": lambda: linked([10, 9, 8, 7], [(0, 1, 2), (0, 1, 3), (1, 2, 3)], 8_000, magnitude=True),
    "business counts": lambda: business(None, ("region", "activity"), ("region", "size"), ("activity", "size")),
    "business p%": lambda: business("turnover", ("region", "activity"), ("region", "size"), ("activity", "size")),
    "business 3d p%": lambda: business("turnover", ("region", "activity", "size")),
    "census": lambda: census(("region", "age", "occupation"), ("sex", "age", "education"), ("occupation", "education")),
}


def methods(table: dc.Table, seconds: float) -> dict[str, Callable[[], Any]]:
    rule = dc.Threshold(4) if table.magnitude is None else dc.PPercent(10)
    return {
        "optimal": lambda: dc.protect(table, dc.Suppress(rule, method=dc.Optimal(time=seconds))),
        "scip": lambda: dc.protect(table, dc.Suppress(rule, method=dc.Optimal(time=seconds, solver="scip"))),
        "modular": lambda: dc.protect(table, dc.Suppress(rule, method=dc.Modular(time=seconds))),
        "clean-up": lambda: dc.protect(table, dc.Suppress(rule, method=dc.Optimal(time=seconds), clean_up=True)),
    }


def measure(name: str, method: str, seconds: float, judge: bool) -> None:
    """One line, in this process: figures as JSON."""
    table = TABLES[name]()
    table.matrix  # noqa: B018 - made when first used; it belongs to the table
    rule = dc.Threshold(4) if table.magnitude is None else dc.PPercent(10)
    out: dict[str, Any] = {"cells": len(table), "primary": int(rule(table).sum())}
    small = dc.Table.of(np.arange(30).reshape(5, 6), ["a", "b"])
    for work in (dc.Optimal(time=60), dc.Modular(time=60)):  # compiled code is compiled, libraries are loaded
        dc.protect(small, dc.Suppress(dc.Threshold(3), method=work))
    began = time.perf_counter(), time.process_time()
    try:
        done = methods(table, seconds)[method]()
    except dc.DiscreetError as error:
        out["said"] = str(error)[:60]
        done = None
    out |= {"wall": time.perf_counter() - began[0], "cpu": time.process_time() - began[1]}
    if done is not None:
        out |= {"hidden": int(done.hidden.sum()), "said": str(done.details.get("solver status", ""))}
        if judge:
            audit = dc.audit(done)
            out["open"] = len(table) if not audit.ok else 0
    print(json.dumps(out))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", default="5,20")
    parser.add_argument("--only", default="")
    parser.add_argument("--methods", default="optimal,modular")
    parser.add_argument("--no-audit", action="store_true")
    parser.add_argument("--one", nargs=3)
    given = parser.parse_args()
    if given.one:
        measure(given.one[0], given.one[1], float(given.one[2]), not given.no_audit)
        return
    head = f"{'table':24} {'cells':>6} {'prim.':>5} {'method':9} {'asked':>6} {'taken':>7} {'cpu':>6} {'load':>5}"
    print(head, "result")
    for name in TABLES:
        for method in given.methods.split(","):
            for seconds in map(float, given.times.split(",")):
                if given.only in name:
                    _line(name, method, seconds, given.no_audit)


def _line(name: str, method: str, seconds: float, no_audit: bool) -> None:
    command = [sys.executable, __file__, "--one", name, method, str(seconds)] + ["--no-audit"] * no_audit
    load = os.getloadavg()[0]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=KILLED * seconds + 10)
    except subprocess.TimeoutExpired:
        print(f"{name:24} {'':6} {'':5} {method:9} {seconds:6.0f} unfinished", flush=True)
        return
    if done.returncode:
        print(f"{name:24} {method} failed: {done.stderr.strip().splitlines()[-1:]}", flush=True)
        return
    got = json.loads(done.stdout)
    late = " LATE" if got["wall"] > LATE[0] * seconds + LATE[1] else ""
    found = f"hidden {got['hidden']:,} ({got['said']})" if "hidden" in got else f"none: {got['said']}"
    bad = " OPEN" if got.get("open") else ""
    print(
        f"{name:24} {got['cells']:6} {got['primary']:5} {method:9} {seconds:6.0f} {got['wall']:7.1f} "
        f"{got['cpu']:6.1f} {load:5.1f} {found}{late}{bad}",
        flush=True,
    )


if __name__ == "__main__":
    main()
