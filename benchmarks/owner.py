"""What somebody who has the program works out of suppressed tables, without and with a key; and what the key costs.

Run: python benchmarks/owner.py [TABLES] [--seconds S] [--only counts,3x3,gauss]
Random tables of 3 x 3, 4 x 3 and 3 x 3 x 3 cells, counts (threshold 3) and magnitudes (p % of 15), by elimination and
by the optimal method. Each setting takes TABLES tables (1000) or S seconds (300), whichever is less. "exact" are
sensitive cells with one value left, "undecided" those where no second value was seen among draws, or the release was
not met again. "nearly" are cells of which one value has a chance above 90 %. Hidden cells are compared with no key.
"""

from __future__ import annotations

import argparse
import itertools
import time
from dataclasses import replace
from typing import Any

import numpy as np

import discreet as dc

SHAPES = {"3x3": (3, 3), "4x3": (4, 3), "3x3x3": (3, 3, 3)}
NAMES = ("a", "b", "c")
KEYS, CALLS, FITTING, DRAWS = 2, 400, 300, 60  # of one attack


def counts(random: np.random.Generator, shape: tuple[int, ...]) -> dc.Table:
    """Small counts, about a quarter of them sensitive."""
    return dc.Table.of(random.poisson(4 * random.lognormal(0, 0.8, shape)), list(NAMES[: len(shape)]))


def magnitudes(random: np.random.Generator, shape: tuple[int, ...]) -> dc.Table:
    """Turnover of one to six firms a cell."""
    import pandas as pd

    dimensions = [dc.Dimension.flat(name, range(size)) for name, size in zip(NAMES, shape, strict=False)]
    codes = [code for code in np.ndindex(*shape) for _ in range(int(random.integers(1, 7)))]
    frame = pd.DataFrame(codes, columns=list(NAMES[: len(shape)])).astype(str)
    frame["turnover"] = np.rint(random.lognormal(3, 1, len(frame))).astype(int) + 1
    frame["firm"] = np.arange(len(frame))
    micro = dc.Microdata.of(frame, dimensions=dimensions, unit="firm", magnitudes=["turnover"])
    return dc.tabulate(micro, list(NAMES[: len(shape)]), value="turnover", top=3)


KINDS: dict[str, tuple[Any, Any]] = {"counts": (counts, dc.Threshold(3)), "magnitudes": (magnitudes, dc.PPercent(15))}
METHODS: dict[str, Any] = {"gauss": "gauss", "optimal": dc.Optimal(time=10)}


def attacked(table: dc.Table, method: dc.Suppress) -> tuple[np.ndarray[Any, Any], int]:
    """Primaries: judged, exact, undecided, nearly known; tables that survive and fit; and hidden cells."""
    done = dc.protect(table, method)
    audit = dc.owner_audit(done, method, most=FITTING, draws=DRAWS, keys=KEYS, calls=CALLS, seconds=60)
    nearly = int((audit.likeliest > 0.9).sum()) if not audit.unjudged else 0
    figures = [len(audit.number), len(audit.exact), len(audit.unknown), nearly, audit.surviving, audit.fitting]
    return np.array(figures), int(done.hidden.sum())


def measure(kind: str, shape: str, method: str, tables: int, seconds: float) -> None:
    """One line: the attack without and with a key on the same tables."""
    make, rule = KINDS[kind]
    random = np.random.default_rng(1)
    bare = dc.Suppress(rule, method=METHODS[method])
    sums, hidden, until, done = np.zeros((2, 6), int), np.zeros(2, int), time.monotonic() + seconds, 0
    while done < tables and time.monotonic() < until:
        table = make(random, SHAPES[shape])
        keyed = replace(bare, key=random.bytes(32))
        done += 1
        try:
            both = [attacked(table, one) for one in (bare, keyed)]
        except dc.Refused:
            continue
        for k, (figures, cells) in enumerate(both):
            sums[k] += figures
            hidden[k] += cells
    for k, name in enumerate(("without key", "with key")):
        judged, exact, undecided, nearly, surviving, fitting = sums[k].tolist()
        print(
            f"{kind:10} {shape:5} {method:7} {name:11} {done:5,} tables, {judged:6,} primaries: exact {exact:4,} "
            f"({exact / max(judged, 1):.2%}), undecided {undecided:,} ({undecided / max(judged, 1):.2%}), nearly "
            f"{nearly / max(judged, 1):.1%}, surviving {surviving / max(fitting, 1):.0%}, hidden {hidden[k]:,} "
            f"({hidden[k] / max(hidden[0], 1):.3f})",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", type=int, nargs="?", default=1000)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--only", default="", help="words, each of them a kind, a shape or a method")
    chosen = parser.parse_args()
    only = set(filter(None, chosen.only.split(",")))
    for setting in itertools.product(KINDS, SHAPES, METHODS):
        if all(
            name in only or not only & set(group) for name, group in zip(setting, (KINDS, SHAPES, METHODS), strict=True)
        ):
            measure(*setting, chosen.tables, chosen.seconds)
