"""What somebody who has the program works out of suppressed tables, without and with a key; and what the key costs.

Run: python benchmarks/owner.py [TABLES] [--seconds S] [--only counts,3x3,gauss] [--cost]
Random tables of 3 x 3, 4 x 3 and 3 x 3 x 3 cells, counts (threshold 3) and magnitudes (p % of 15), by elimination and
by the optimal method. Each setting takes TABLES tables (1000) or S seconds (300), whichever is less; the attack without
a key, which repeats the search on every table that fits, is made on those of the first half of the time, and chances of
values are estimated on those of the first quarter (elimination only). "exact" are sensitive cells with one value left
by all tables that fit, "undecided" those with one value left by draws of them. "above 90 %" are cells of which one
value has such a chance: for somebody who has the release alone ("base"), or the program too.
``--cost`` measures only what a key costs on larger tables, those of benchmarks/suppress.py.
"""

from __future__ import annotations

import argparse
import itertools
import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import discreet as dc
from discreet.audits.owner_attack import OwnerSearch, fitting_tables
from discreet.audits.view import view

SHAPES = {"3x3": (3, 3), "4x3": (4, 3), "3x3x3": (3, 3, 3)}
NAMES = ("a", "b", "c")
FITTING, DRAWS, KEYS, CALLS = 300, 60, 40, 600  # of one attack
LIKELY = 0.9
BARE, CHANCES = 0.5, 0.25  # of the time


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
METHODS: dict[str, Any] = {"gauss": "gauss", "optimal": dc.Optimal(time=2)}


@dataclass
class Sums:
    """Sensitive cells attacked, with one value left by all tables or by draws, and of which one value is likely."""

    tables: int = 0
    primaries: int = 0
    exact: int = 0
    undecided: int = 0
    asked: int = 0
    likely: int = 0
    likely_before: int = 0
    hidden: list[int] = field(default_factory=list)

    def share(self, part: int, of: int) -> str:
        """A share in percent, or a dash where nothing was asked."""
        return f"{part / of:.2%}" if of else "-"

    def __str__(self) -> str:
        figures = f"{self.tables:5,} tables {self.primaries:6,} primaries: exact {self.exact:4,} "
        figures += f"({self.share(self.exact, self.primaries)}), undecided {self.undecided:,} "
        figures += f"({self.share(self.undecided, self.primaries)}), above 90 % of {self.asked:,}: "
        return figures + f"{self.share(self.likely, self.asked)} (base {self.share(self.likely_before, self.asked)})"


def attack(done: dc.Protected, call: Any, seed: int) -> tuple[OwnerSearch, bool]:
    """Which sensitive cells have a second value, as soon as that is known."""
    random = np.random.default_rng(seed)
    number = np.flatnonzero(done.status == "u")
    tables, complete = fitting_tables(done, view(done).known, call, FITTING, DRAWS, random)
    search = OwnerSearch(done, call, tables, number, random, CALLS)
    search.settle_lone()
    return search, complete


def add(sums: Sums, done: dc.Protected, call: Any, chances: bool) -> int:
    """Attack one table; how many sensitive cells had one value left."""
    search, complete = attack(done, call, sums.tables)
    lone = int(search.lone().sum())
    sums.tables += 1
    sums.primaries += len(search.number)
    settled = complete and search.calls < CALLS
    sums.exact += lone * settled
    sums.undecided += lone * (not settled)
    if chances and complete:
        search.count_keys(KEYS)
        report = search.report(complete)
        share = [np.unique(column, return_counts=True)[1].max() / len(column) for column in search.values.T]
        sums.asked += len(share)
        sums.likely += int((report.likeliest > LIKELY).sum())
        sums.likely_before += int((np.array(share) > LIKELY).sum())
    return lone


def measure(kind: str, shape: str, method: str, chosen: argparse.Namespace) -> None:
    """Two lines: the attack without and with a key on the same tables."""
    make, rule = KINDS[kind]
    random = np.random.default_rng(1)
    bare = dc.Suppress(rule, method=METHODS[method])
    without, alone, keyed = Sums(), Sums(), Sums()
    began = time.monotonic()
    while keyed.tables < chosen.tables and (past := (time.monotonic() - began) / chosen.seconds) < 1:
        table = make(random, SHAPES[shape])
        call = replace(bare, key=random.bytes(32))
        try:
            plain, first = dc.protect(table, bare), dc.protect(table, replace(call, owner=False))
        except dc.Refused:
            continue
        if not (plain.status == "u").any():
            continue
        chances = method == "gauss" and past < CHANCES
        if past < BARE:
            add(without, plain, bare, chances)
        done = first
        if add(alone, first, call, False):  # otherwise the repair against this attack leaves the pattern as it is
            done = dc.protect(table, call)
            add(keyed, done, call, chances)
        elif chances:
            add(keyed, done, call, True)
        else:
            keep(keyed, done)
        for sums, release in ((without, plain), (alone, first), (keyed, done)):
            sums.hidden.append(int(release.hidden.sum()))
    for name, sums in (("without key", without), ("key, no repair", alone), ("with key", keyed)):
        more = sum(sums.hidden) / max(sum(without.hidden), 1)
        print(f"{kind:10} {shape:5} {method:7} {name:14} {sums}, hidden {sum(sums.hidden):,} ({more:.3f})", flush=True)


def keep(keyed: Sums, done: dc.Protected) -> None:
    """Count a table that the attack without repair showed to have a second value of every sensitive cell."""
    keyed.tables += 1
    keyed.primaries += int((done.status == "u").sum())


def cost() -> None:
    """Two lines: cells hidden and the value in them with a key beside without one, on the scaling tables."""
    from suppress import made

    random = np.random.default_rng(1)
    for name, keys in (("s1k_3way", 8), ("s10k_3way", 3)):
        table, call = made(name), dc.Suppress(dc.Threshold(4), owner=False)
        bare = dc.protect(table, call).hidden
        keyed = [dc.protect(table, replace(call, key=random.bytes(32))).hidden for _ in range(keys)]
        cells = np.mean([hidden.sum() for hidden in keyed]) / bare.sum() - 1
        value = np.mean([table.value[hidden].sum() for hidden in keyed]) / table.value[bare].sum() - 1
        print(f"{name}: {bare.sum():,} hidden without a key; {keys} keys: cells {cells:+.1%}, value {value:+.1%}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", type=int, nargs="?", default=1000)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--only", default="", help="words, each of them a kind, a shape or a method")
    parser.add_argument("--cost", action="store_true")
    chosen = parser.parse_args()
    if chosen.cost:
        cost()
        raise SystemExit
    only = set(filter(None, chosen.only.split(",")))
    groups = (set(KINDS), set(SHAPES), set(METHODS))
    for kind, shape, method in itertools.product(KINDS, SHAPES, METHODS):
        if all(name in only or not only & group for name, group in zip((kind, shape, method), groups, strict=True)):
            measure(kind, shape, method, chosen)
