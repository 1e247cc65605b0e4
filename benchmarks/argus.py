"""Recorded runs of tau-ARGUS beside ours: statuses, protection levels, secondary cells and what they hold, audits.

Run: python benchmarks/argus.py FOLDER [--seconds 60] [--only simple2d,sas_ex1]
FOLDER holds golden.json and the runs' own files (simple2d/, sas2argus/). Everything is read as tau-ARGUS reads it.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import discreet as dc
from discreet.formats import argus

Array = NDArray[Any]
NUMBERS = {1: "s", 2: "s", 3: "u", 11: "x", 12: "x", 14: ""}  # of statuses in tau-ARGUS' text output


@dataclass(frozen=True, eq=False)
class Recorded:
    """A table as tau-ARGUS made it, its rule, and what it said of every cell ('' where a cell is empty)."""

    table: dc.Table
    rule: dc.Rule
    status: Array | None = None
    levels: tuple[Array, Array] | None = None


def key(table: dc.Table) -> list[tuple[str, ...]]:
    """The codes of every cell."""
    return [tuple(d.codes[c] for d, c in zip(table.dimensions, row, strict=True)) for row in table.layout.codes]


def of_output(table: dc.Table, rule: dc.Rule, data: Path) -> Recorded:
    """What an output file with levels (its .rda beside it) says, laid over the table."""
    made = argus.read_table(data, totals="trust")
    place = {codes: k for k, codes in enumerate(key(made.table))}
    at = np.array([place.get(codes, -1) for codes in key(table)])
    laid = [np.where(at >= 0, numbers[at], np.nan) for numbers in (made.marks.lower, made.marks.upper)]
    there = table.count > 0 if "count" in table.statistics else table.value != 0
    status = np.where((at >= 0) & there, made.marks.status[at], "")
    return Recorded(table, rule, status, (laid[0], laid[1]))


def simple2d(folder: Path) -> Recorded:
    """Size x Region, P(15,1), weights not used."""
    home = folder / "simple2d"
    records = argus.read_microdata(home / "tau_testW.asc", home / "Tau_TestW.rda", weighted=False)
    table = dc.tabulate(records, by=["Size", "Region"], value="Var2", top=3)
    made = of_output(table, dc.PPercent(15), folder / "simple2d" / "pp.tab")
    with (folder / "simple2d" / "Simple2D.txt").open(newline="") as file:
        said = {tuple(c.strip() for c in row[:2]): NUMBERS[int(row[3])] for row in csv.reader(file)}
    return replace(made, status=np.array([said[codes] for codes in key(table)]))


def example(number: int, rule: dc.Rule, by: list[str], value: str | None, folder: Path) -> Recorded:
    """One of the examples made from records."""
    home = folder / "sas2argus"
    records = argus.read_microdata(home / f"Example{number}.CSV", home / f"Example{number}.RDA")
    table = dc.tabulate(records, by=by, value=value, top=None if value is None else 3)
    return of_output(table, rule, home / f"Example{number}_Out_5_1.csv")


def example4(folder: Path) -> Recorded:
    """The one that starts from a table with the two largest contributions of each cell."""
    home = folder / "sas2argus"
    made = argus.read_table(home / "Example4.CSV", home / "Example4.RDA", totals="trust")
    return of_output(made.table, dc.PPercent(20), home / "Example4_Out_5_1.csv")


PLACES = ["Region", "Age", "Sex"]
CASES: dict[str, tuple[Callable[[Path], Recorded], list[dict[str, Any]]]] = {
    "simple2d": (simple2d, [{"weights": "value", "singletons": "none"}, {"weights": "value"},
                           {"weights": "log"}, {"weights": "unity"}, {"weights": "value", "zeros": True}]),
    "sas_ex1": (lambda f: example(1, dc.PPercent(20), ["Age", "Omk"], "Resp", f),
                [{"weights": "value", "singletons": "none"}, {"weights": "value"}]),
    "sas_ex2": (lambda f: example(2, dc.Dominance(1, 50) | dc.Dominance(2, 80), PLACES, "Resp", f),
                [{"method": "gauss"}, {"method": "modular"}, {"weights": "value"}]),
    "sas_ex3": (lambda f: example(3, dc.Threshold(3, level=30), PLACES, None, f),
                [dict(o, zeros=True) for o in ({"method": "gauss"}, {"method": "modular"}, {"weights": "value"})]),
    "sas_ex4": (example4, [{"weights": "value", "singletons": "none"}, {"weights": "value"}]),
}  # fmt: skip


def agreement(made: Recorded) -> str:
    """How many statuses and levels are the recorded ones."""
    mine = made.rule(made.table)
    words = []
    if made.status is not None:
        theirs = made.status == "u"
        empty = (made.table.value == 0) & (made.status == "")
        words.append(f"statuses {int(((mine == theirs) | empty).sum())}/{len(mine)}")
    if made.levels is not None:
        unit = 10.0 ** -made.table.statistic(made.table.measure).decimals
        above = np.maximum(made.rule.levels(made.table)[1], unit)  # tau-ARGUS asks for one unit at least,
        below = np.minimum(above, made.table.value - 0.1 * unit)  # and leaves a little
        same = np.isclose(below, made.levels[0], atol=6e-3) & np.isclose(above, made.levels[1], atol=6e-3)
        words.append(f"levels {int(same[mine].sum())}/{int(mine.sum())}")
    return ", ".join(words)


def run(made: Recorded, options: dict[str, Any], seconds: float) -> str:
    """One pattern: cells, value, certified gap, seconds, and the audit of it."""
    given = dict(options)
    method = given.pop("method", "optimal")
    if method == "gauss":
        given |= {"repair": "levels", "clean_up": True}
    elif method == "modular":
        method = dc.Modular(time=seconds)
    else:
        method = dc.Optimal(weights=given.pop("weights"), time=seconds)
    began = time.perf_counter()
    done = dc.protect(made.table, dc.Suppress(made.rule, method=method, **given))
    took = time.perf_counter() - began
    primary = np.flatnonzero(done.status == "u")
    verdict = dc.audit(done, targets=primary).summary()["cells"]
    second = done.status == "x"
    words = [f"{int(second.sum()):5,} cells", f"value {made.table.value[second].sum():14,.2f}"]
    if "gap" in done.details:
        words.append(f"{done.details['solver status']}, gap {100 * done.details['gap']:.2f} %")
    if made.status is not None and (made.status == "x").any():
        words.append(f"{int((second & (made.status == 'x')).sum())} of theirs")
    words += [f"audit {int(verdict['exact'])} exact, {int(verdict['narrow'])} narrow", f"{took:.1f} s"]
    return ", ".join(words)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    golden = {entry["id"]: entry for entry in json.loads((given.folder / "golden.json").read_text())}
    for name, (make, runs) in CASES.items():
        if given.only and name not in given.only.split(","):
            continue
        made, theirs = make(given.folder), golden[name]
        print(f"{name}: {len(made.table):,} cells, {theirs['rules']}; {agreement(made)}")
        value = f", value {theirs['secondary_value']:,.0f}" if "secondary_value" in theirs else ""
        open_ = theirs.get("not_fully_protected_reported", 0)
        bad = f", {open_:,} reported as not fully protected" if open_ else ""
        print(f"  {'tau-ARGUS ' + theirs['method'].split(',')[0]:32} {theirs['secondary']:5,} cells{value}{bad}")
        for options in runs:
            label = " ".join(f"{k}={v}" for k, v in options.items())
            print(f"  {label:32} {run(made, options, given.seconds)}", flush=True)


if __name__ == "__main__":
    main()
