"""The whole call of a suppression, pattern and proof, beside elimination alone in the same run.

``ratio`` is to elimination as it is, ``former`` to elimination as it was when the goals were set: over inner cells,
with sensitive ones kept reduced beside what is published, and nobody who knows cells. Goals are for ``ratio``.

Run: python benchmarks/whole_call.py [SHAPE ...] [--most CELLS] [--list]
Each shape runs in a process of its own. The ratio is of processor time, so that a busy machine tells the same; "dearer"
is by how much the values hidden are more than elimination's. At the end: growth as the slope of seconds over cells,
both as logarithms, for families of shapes that differ in size alone.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

import discreet as dc
from discreet.base.compiled import always_compiled
from discreet.methods.suppress.gauss.eliminate import eliminate
from discreet.methods.suppress.gauss.on_table import wanted_by_table
from discreet.methods.suppress.model.singletons import OWN, Singletons
from discreet.methods.suppress.model.task import Task

COUNTS_GOAL, AMOUNTS_GOAL, SLOPE_GOAL = 4.0, 6.0, 1.3
CLEAN_GOAL = 20.0
FORMER_MOST = 60_000  # cells of the largest tables that the former elimination is run on
Made = Callable[[], tuple[dc.Table, dc.Suppress]]


@dataclass(frozen=True)
class Shape:
    """A table to be suppressed; ``family``: those that growth is measured over; ``goal``: ratio to elimination."""

    made: Made
    family: str = ""
    goal: float = COUNTS_GOAL
    cells: int = 0  # about so many, of large ones
    seconds: float = 0.0  # goal by the clock; then elimination alone, which may take hours, is left out
    megabytes: float = float("inf")


def rates(shape: tuple[int, ...], mean: float, skew: float, noise: float) -> np.ndarray:
    """Counts whose expectation is a product of rates, times noise of every cell's own."""
    rng = np.random.default_rng(1)
    expected = np.ones(())
    for size in shape:
        expected = np.multiply.outer(expected, rng.lognormal(0, skew, size))
    expected = expected * rng.lognormal(0, noise, shape)
    return np.asarray(rng.poisson(expected * mean / expected.mean()))


def flat(*shape: int, mean: float = 14, skew: float = 0.8, noise: float = 0.5) -> Made:
    """Dimensions without groups."""
    names = [f"d{k}" for k in range(len(shape))]
    return lambda: (dc.Table.of(rates(shape, mean, skew, noise), names), dc.Suppress(dc.Threshold(4)))


def sparse(codes: int) -> Made:
    """Small counts everywhere: m x 2 x 100."""

    def made() -> tuple[dc.Table, dc.Suppress]:
        counts = np.random.default_rng(2).poisson(2.8, (codes, 2, 100))
        return dc.Table.of(counts, ["a", "b", "c"]), dc.Suppress(dc.Threshold(5))

    return made


def hierarchical(areas: int, places: int, branches: int, ages: int, sexes: int = 1) -> Made:
    """Three or four dimensions, two of them with a level of groups."""

    def made() -> tuple[dc.Table, dc.Suppress]:
        geo = [f"G{a:03d}{b:02d}" for a in range(areas) for b in range(places)]
        nace = [f"N{a:02d}{b}" for a in range(branches) for b in range(4)]
        dims = [dc.Dimension.from_prefix("geo", geo, [4]), dc.Dimension.from_prefix("nace", nace, [3])]
        shape: tuple[int, ...] = (len(geo), len(nace))
        for name, size in (("age", ages), ("sex", sexes)):
            if size > 1:
                dims.append(dc.Dimension.flat(name, [f"{name}{k}" for k in range(size)]))
                shape = (*shape, size)
        return dc.Table.of(rates(shape, 14, 0.8, 0.5), dims), dc.Suppress(dc.Threshold(4))

    return made


def amounts(*shape: int, spread: float = 1.5) -> Made:
    """Turnover of firms, p % rule, contributors who know their own cells."""

    def made() -> tuple[dc.Table, dc.Suppress]:
        import pandas as pd

        rng = np.random.default_rng(3)
        firms = rng.poisson(3 * rng.lognormal(0, 0.7, shape)).ravel()
        codes = np.unravel_index(np.repeat(np.arange(len(firms)), firms), shape)
        names = [f"d{k}" for k in range(len(shape))]
        frame = pd.DataFrame({name: [f"c{c:03d}" for c in column] for name, column in zip(names, codes, strict=True)})
        frame["holding"] = [f"h{k}" for k in rng.integers(0, max(len(frame) * 9 // 10, 1), len(frame))]
        frame["turnover"] = np.rint(rng.lognormal(4, spread, len(frame))).astype(int)
        data = dc.Microdata.of(frame, dimensions=names, magnitudes=["turnover"], holding="holding")
        return dc.tabulate(data, names, value="turnover"), dc.Suppress(dc.PPercent(10), singletons="own")

    return made


def cleaned(made: Made) -> Made:
    """The same, and cells that need not be hidden are shown again."""

    def with_clean_up() -> tuple[dc.Table, dc.Suppress]:
        table, method = made()
        return table, replace(method, clean_up=True)

    return with_clean_up


def farms(regions: int, areas: int) -> Made:
    """Farms as in a survey of farm structure: areas in regions, types in groups, classes of size and of age.

    With 26 regions of 10 areas: 287 x 23 x 10 x 12 codes, 792,120 cells. Few farms have most of the land, large farms
    are rare in most areas and common in some, one in fifty has the same holder as another.
    """

    def made() -> tuple[dc.Table, dc.Suppress]:
        import pandas as pd

        rng = np.random.default_rng(4)
        places = [f"R{a:02d}{b}" for a in range(regions) for b in range(areas)]
        types = [f"T{a}{b}" for a, many in enumerate((5, 5, 4, 4)) for b in range(many)]
        many = 1_000 * len(places)
        weight = [rng.lognormal(0, 1.0, len(places)), rng.lognormal(0, 1.2, len(types)), rng.lognormal(0, 0.6, 11)]
        drawn = [rng.choice(len(w), many, p=w / w.sum()) for w in weight]
        land = np.rint(10 * rng.lognormal(2, 1.4, many) * rng.lognormal(0, 0.7, len(places))[drawn[0]]).astype(int) + 1
        holder = np.where(rng.random(many) < 0.02, rng.integers(0, many, many), np.arange(many))
        size = np.minimum(np.log2(land).astype(int) // 2, 8)
        frame = pd.DataFrame(
            {
                "area": np.array(places)[drawn[0]],
                "type": np.array(types)[drawn[1]],
                "size": np.array([f"S{k}" for k in range(9)])[size],
                "age": np.array([f"A{k:02d}" for k in range(11)])[drawn[2]],
                "holder": holder,
                "land": land,
            }
        )
        dims = [
            dc.Dimension.from_prefix("area", places, [3]),
            dc.Dimension.from_prefix("type", types, [2]),
            dc.Dimension.flat("size", [f"S{k}" for k in range(9)]),
            dc.Dimension.flat("age", [f"A{k:02d}" for k in range(11)]),
        ]
        data = dc.Microdata.of(frame, dimensions=dims, magnitudes=["land"], holding="holder")
        return dc.tabulate(data, [d.name for d in dims], value="land"), dc.Suppress(dc.PPercent(10))

    return made


SHAPES = {
    "two-way 20k": Shape(flat(200, 100)),
    "three-way 11k": Shape(flat(40, 20, 12)),
    "three-way 48k": Shape(flat(80, 40, 14), cells=48_000),
    "skewed 20k": Shape(flat(40, 25, 18, mean=10, skew=1.6, noise=1.0)),
    "sparse 11k": Shape(sparse(36), "sparse"),
    "sparse 22k": Shape(sparse(72), "sparse"),
    "sparse 108k": Shape(sparse(356), "sparse", cells=108_000),
    "groups 11k": Shape(hierarchical(6, 10, 8, 3), "three-way"),
    "groups 50k": Shape(hierarchical(20, 10, 8, 5), "three-way", cells=50_000),
    "groups 100k": Shape(hierarchical(30, 10, 12, 4), "three-way", cells=100_000),
    "groups 300k": Shape(hierarchical(50, 10, 12, 8), "three-way", cells=300_000),
    "groups million": Shape(hierarchical(60, 10, 25, 11), seconds=300, megabytes=4096, cells=1_000_000),
    "four-way groups 12k": Shape(hierarchical(6, 5, 5, 3, 2), "four-way"),
    "four-way groups 50k": Shape(hierarchical(12, 8, 6, 4, 2), "four-way", cells=50_000),
    "four-way groups 180k": Shape(hierarchical(22, 10, 8, 5, 2), "four-way", cells=180_000),
    "four-way 11k": Shape(flat(12, 9, 8, 8)),
    "four-way 24k": Shape(flat(16, 12, 10, 9)),
    "four-way zeros 20k": Shape(flat(16, 12, 10, 8, mean=1, skew=1)),
    "four-way poisson 10k": Shape(flat(14, 10, 8, 6, mean=0.7, skew=0.01, noise=0.01)),
    "four-way large 15k": Shape(flat(20, 10, 10, 5, mean=30, skew=1.0, noise=0.8)),
    "five-way 13k": Shape(flat(8, 6, 6, 5, 4)),
    "five-way 25k": Shape(flat(12, 8, 6, 5, 4)),
    "five-way unequal 9k": Shape(flat(2, 3, 15, 7, 5, mean=20, skew=1.0)),
    "amounts 2k": Shape(amounts(20, 12, 5), goal=AMOUNTS_GOAL),
    "amounts skewed 5k": Shape(amounts(40, 15, 6, spread=2.0), goal=AMOUNTS_GOAL),
    "amounts four-way 3k": Shape(amounts(8, 7, 6, 4), goal=AMOUNTS_GOAL),
    "amounts 9k": Shape(amounts(60, 20, 6), goal=AMOUNTS_GOAL),
    "amounts four-way 5k": Shape(amounts(12, 8, 6, 5), goal=AMOUNTS_GOAL),
    "farms 19k": Shape(farms(2, 2), goal=AMOUNTS_GOAL),
    "farms 91k": Shape(farms(8, 3), seconds=600, megabytes=6144, cells=91_000),
    "farms 792k": Shape(farms(26, 10), seconds=600, megabytes=6144, cells=792_120),
    "farms 5 million": Shape(farms(61, 29), seconds=float("inf"), cells=5_000_000),
    "clean-up counts 11k": Shape(cleaned(flat(40, 20, 12)), goal=CLEAN_GOAL),
    "clean-up skewed 10k": Shape(cleaned(flat(30, 20, 14, mean=10, skew=1.6, noise=1.0)), goal=CLEAN_GOAL),
    "clean-up sparse 11k": Shape(cleaned(sparse(36)), goal=CLEAN_GOAL),
    "clean-up groups 11k": Shape(cleaned(hierarchical(6, 10, 8, 3)), goal=CLEAN_GOAL),
    "clean-up four-way groups 12k": Shape(cleaned(hierarchical(6, 5, 5, 3, 2)), goal=CLEAN_GOAL),
    "clean-up four-way 11k": Shape(cleaned(flat(12, 9, 8, 8)), goal=CLEAN_GOAL),
    "clean-up amounts 9k": Shape(cleaned(amounts(60, 20, 6)), goal=CLEAN_GOAL),
    "clean-up amounts four-way 2k": Shape(cleaned(amounts(8, 6, 5, 4)), goal=CLEAN_GOAL),
}


def measure(name: str) -> None:
    """One shape, in this process: figures as JSON."""
    table, method = SHAPES[name].made()
    table.matrix  # noqa: B018 - made when first used; it belongs to the table
    with always_compiled():  # while it is timed nothing is compiled, loaded or run as Python
        for shape in ((4, 4, 4), (20, 20)):
            few = dc.Table.of(np.random.default_rng(1).poisson(4, shape), ["a", "b", "c"][: len(shape)])
            dc.audit(dc.protect(few, dc.Suppress(dc.Threshold(3))).release())
        larger = hierarchical(6, 5, 5, 3, 2)  # whose repair hides more
        dc.protect(*(cleaned(larger) if method.clean_up else larger)())
        former_elimination(*larger())
        if table.magnitude is not None:  # whose loops are others
            for sizes in ((9, 7, 4), (14, 10, 4)):
                dc.protect(*amounts(*sizes)())
    out: dict[str, object] = {"cells": len(table)}
    paid: dict[str, float] = {}
    alone = replace(method, repair="off", clean_up=False)
    for key, asked in (("elimination", alone), ("whole", method)):
        if key == "elimination" and SHAPES[name].seconds:
            continue
        wall = time.perf_counter()
        cpu = time.process_time()
        done = dc.protect(table, asked)
        out[key] = time.process_time() - cpu
        out[f"{key} wall"] = time.perf_counter() - wall
        paid[key] = float(np.abs(table.statistic(table.measure).cells[done.hidden]).sum())
    if not SHAPES[name].seconds and not SHAPES[name].cells > FORMER_MOST:
        out["former"] = former_elimination(table, method)
    out["hidden"] = int(done.hidden.sum())
    out["dearer"] = paid["whole"] / paid["elimination"] - 1 if "elimination" in paid else float("nan")
    out["added"] = done.details["repair"]
    out["undecided"] = done.details["undecided"]
    out["untried"] = done.details.get("clean-up untried", 0)
    out["pattern"] = hashlib.sha256(np.packbits(done.hidden).tobytes()).hexdigest()[:8]
    out["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(out))


def former_elimination(table: dc.Table, method: dc.Suppress) -> float:
    """Seconds of processor time of elimination over inner cells, sensitive ones reduced beside what is published."""
    task = Task.of(method.parameters, table)
    order = np.argsort(-wanted_by_table(task), kind="stable")
    order = order[~(task.withheld | task.roles.forced)[order]]
    nobody = Singletons(OWN, np.zeros(table.layout.n_inner, np.int32))
    cpu = time.process_time()
    sensitive = np.flatnonzero(task.roles.primary)
    eliminate(table.matrix, sensitive, order, singletons=nobody, virtual=len(sensitive))
    return time.process_time() - cpu


def slopes(points: dict[str, list[tuple[int, float]]]) -> None:
    """Growth of each family, from its smallest to its largest table."""
    for family, figures in points.items():
        if len(figures) < 2:
            continue
        cells, seconds = np.log(np.array(sorted(figures)).T)
        slope = float(np.polyfit(cells, seconds, 1)[0])
        word = "" if slope <= SLOPE_GOAL else " missed"
        print(f"slope of seconds over cells, {family}: {slope:.2f}, goal {SLOPE_GOAL}{word}")


def main(names: list[str], most: int) -> None:
    print(
        f"{'table':28} {'cells':>9} {'hidden':>8} {'added':>6} {'dearer':>7} {'undecided':>9} {'elim. s':>8} "
        f"{'whole s':>8} {'wall s':>8} {'ratio':>6} {'goal':>5} {'former':>6} {'MB':>6}  pattern"
    )
    points: dict[str, list[tuple[int, float]]] = {}
    for name in names:
        command = [sys.executable, __file__, "--one", name]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            print(f"{name:28} failed", done.stderr.strip().splitlines()[-1:])
            continue
        got = json.loads(done.stdout.splitlines()[-1])
        shape = SHAPES[name]
        alone = got.get("elimination", float("nan"))
        ratio = got["whole"] / max(alone, 1e-3)
        missed = ratio > shape.goal
        goal = f"{shape.goal:5.0f}"
        if shape.seconds:
            missed = got["whole wall"] > shape.seconds or got["peak"] > shape.megabytes
            goal = f"{shape.seconds:.0f} s"
        print(
            f"{name:28} {got['cells']:>9,} {got['hidden']:>8,} {got['added']:>6,} {got['dearer']:>7.1%} "
            f"{got['undecided']:>9,} "
            f"{alone:>8.2f} {got['whole']:>8.2f} {got['whole wall']:>8.2f} {ratio:>6.1f} {goal:>5} "
            f"{got['whole'] / got.get('former', float('nan')):>6.1f} {got['peak']:>6.0f}  "
            f"{got['pattern']}{' missed' if missed else ''}"
            f"{', ' + format(got['untried'], ',') + ' not tried' if got['untried'] else ''}",
            flush=True,
        )
        if shape.family and got["cells"] <= most:
            points.setdefault(shape.family, []).append((got["cells"], got["whole"]))
    slopes(points)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shapes", nargs="*", choices=[[], *SHAPES], default=[], metavar="SHAPE")
    parser.add_argument("--most", type=int, default=400_000, help="cells of the largest table that is run")
    parser.add_argument("--one", choices=list(SHAPES), help="one shape in this process, figures as JSON")
    parser.add_argument("--list", action="store_true", help="the names of all shapes")
    told = parser.parse_args()
    if told.list:
        print(*SHAPES, sep="\n")
    elif told.one:
        measure(told.one)
    else:
        small = [name for name, shape in SHAPES.items() if shape.cells <= told.most]
        main(told.shapes or small, told.most)
