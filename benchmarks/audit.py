"""How fast an audit is, beside one scipy.optimize.linprog per bound. Ratios within one run count, not seconds.

    python benchmarks/audit.py [--csp FOLDER] [--scale FOLDER] [--large]

FOLDER with .jj instances; FOLDER with s1k_3way, s10k_3way ... (hier_*.csv, inner.csv, out_gauss_default.csv.gz).
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import linprog

import discreet as dc
from discreet.audits import Known, exactly_known, intervals, unmovable
from discreet.formats.jj import read_jj

# CPU seconds of R's SSBtools (LP intervals of the primaries) and their number, as measured by others on a quiet machine
LARGE_SECONDS, MILLION_SECONDS = 60.0, 60.0  # goals: all intervals of 50x50x20, cells with one value of a million
ASKED_MILLISECONDS, ASKED = 10.0, 40  # goal: the interval of one cell after the first, the median of so many
SSBTOOLS = {"s1k_3way": (1.8, 159), "s10k_3way": (105.0, 1594)}


@contextmanager
def clock(times: dict[str, float], name: str) -> Iterator[None]:
    start = time.perf_counter(), time.process_time()
    yield
    times[name], times[name + " cpu"] = time.perf_counter() - start[0], time.process_time() - start[1]


def made_table(shape: tuple[int, ...], seed: int) -> dc.Table:
    counts = np.random.default_rng(seed).negative_binomial(0.9, 0.12, shape)
    return dc.Table.of(counts, [f"d{k}" for k in range(len(shape))])


def hidden_cells(table: dc.Table, share: float) -> np.ndarray:
    """Small counts, and as many inner cells again at random as make up the share."""
    inner = np.flatnonzero(table.is_inner)
    small = inner[(table.count[inner] > 0) & (table.count[inner] < 2)]
    rest = np.setdiff1d(inner, small)
    more = max(int(share * len(inner)) - len(small), 0)
    mask = np.zeros(len(table), bool)
    mask[small] = True
    mask[np.random.default_rng(5).choice(rest, more, replace=False)] = True
    return mask


def with_scipy(known: Known, targets: np.ndarray) -> float:
    """Wall seconds per bound of a linear program over the inner cells, as one would write it."""
    shown = known.lower == known.upper
    equal = known.matrix[:, np.flatnonzero(shown)].T.tocsr().astype(float)
    start = time.perf_counter()
    for target in targets:
        cost = known.matrix[:, [target]].toarray().ravel().astype(float)
        linprog(cost, A_eq=equal, b_eq=known.lower[shown], bounds=(0, None), method="highs")  # type: ignore[call-overload]
    return (time.perf_counter() - start) / len(targets)


def goal(seconds: float, most: float) -> str:
    return f"goal {most:.0f} s" + (" missed" if seconds > most else "")


def million(areas: int = 60) -> None:
    """Cells with one value only, in the pattern of elimination for a hierarchical table of a million cells."""
    rng = np.random.default_rng(1)
    geo = [f"G{a:03d}{b:02d}" for a in range(areas) for b in range(10)]
    nace = [f"N{a:02d}{b}" for a in range(25) for b in range(4)]
    dims = [
        dc.Dimension.from_prefix("geo", geo, [4]),
        dc.Dimension.from_prefix("nace", nace, [3]),
        dc.Dimension.flat("age", [f"a{k:02d}" for k in range(11)]),
    ]
    table = dc.Table.of(rng.poisson(14 * rng.lognormal(0, 1, (len(geo), len(nace), 11))), dims)
    hidden = dc.protect(table, dc.Suppress(dc.Threshold(4), repair="off")).hidden
    times = dict[str, float]()
    with clock(times, "exact"):
        stuck = int(unmovable(Known.hiding(table, hidden), hidden).sum())
    print(
        f"{len(table):,} cells, {hidden.sum():,} hidden: {stuck} have one value, {times['exact']:.1f} s "
        f"({times['exact cpu']:.1f} s CPU), {goal(times['exact'], MILLION_SECONDS)}",
        flush=True,
    )


def on_demand(shape: tuple[int, ...], share: float) -> None:
    """Intervals of single cells, one question after the other, as a methodologist asks."""
    dc.audit(dc.protect(_tiny()[0], dc.Hide(_tiny()[1])), cells=[20])  # compile first
    table = made_table(shape, 1)
    protected = dc.protect(table, dc.Hide(hidden_cells(table, share)))
    cells = np.random.default_rng(7).permutation(np.flatnonzero(protected.hidden))[: ASKED + 1]
    seconds = []
    for cell in cells:
        start = time.perf_counter()
        dc.audit(protected, cells=[int(cell)])
        seconds.append(time.perf_counter() - start)
    median, most = 1000 * float(np.median(seconds[1:])), 1000 * max(seconds[1:])
    print(
        f"{'x'.join(map(str, shape)):>10}: audit(cells=...) of one cell, first {1000 * seconds[0]:.0f} ms, then median "
        f"{median:.1f} ms, longest {most:.0f} ms, goal {ASKED_MILLISECONDS:.0f} ms"
        + (" missed" if median > ASKED_MILLISECONDS else ""),
        flush=True,
    )


def against_scipy(shape: tuple[int, ...], share: float, tried: int) -> float:
    table = made_table(shape, 1)
    hidden = hidden_cells(table, share)
    known, times = Known.hiding(table, hidden), dict[str, float]()
    intervals(Known.hiding(*_tiny()))  # compile first
    exactly_known(dc.protect(_tiny()[0], dc.Hide(_tiny()[1])))
    protected = dc.protect(table, dc.Hide(hidden))
    with clock(times, "rank"):
        linear = int(exactly_known(protected).sum())
    with clock(times, "audit"):
        lower, upper = intervals(known, hidden)
    with clock(times, "exact"):
        stuck = int(unmovable(known, hidden).sum()) if len(table) < 50_000 else -1
    per_bound = times["audit"] / (2 * hidden.sum())
    slow = with_scipy(known, np.flatnonzero(hidden)[:: max(hidden.sum() // tried, 1)][:tried])
    print(
        f"{'x'.join(map(str, shape)):>10}: {hidden.sum():,} hidden, all intervals {times['audit']:.1f} s "
        f"({1000 * per_bound:.3f} ms a bound), linprog {1000 * slow:.1f} ms a bound: {slow / per_bound:,.0f}x; "
        f"exactly known {int((lower == upper).sum())}"
        + (f"; only that question: {stuck} in {times['exact']:.1f} s" if stuck >= 0 else "")
        + f"; linearly {linear} by rank in {times['rank']:.2f} s",
        flush=True,
    )
    return times["audit"]


def _tiny() -> tuple[dc.Table, np.ndarray]:
    table = made_table((3, 3, 3), 2)
    return table, table.is_inner


def instances(folder: Path) -> None:
    for path in sorted(folder.glob("*.jj"), key=lambda p: p.stat().st_size):
        instance, times = read_jj(path), dict[str, float]()
        with clock(times, "audit"):
            found = instance.audit(instance.primary)
        exact = int((found.finding == "exact").sum())
        bounds = 2 * int(instance.primary.sum())
        print(
            f"{path.stem:>10}: {len(instance):,} cells, {bounds:,} bounds {times['audit']:.2f} s; "
            f"exactly known {exact}; exactly or below protection {len(found.exposed)}"
        )


def scale(folder: Path) -> None:
    for name, (seconds, primaries) in SSBTOOLS.items():
        table, status = _scaled(folder / name)
        known, times = Known.hiding(table, status > 0), dict[str, float]()
        with clock(times, "audit"):
            lower, upper = intervals(known, status == 2)
        mine, theirs = times["audit cpu"] / (2 * (status == 2).sum()), seconds / (2 * primaries)
        print(
            f"{name:>10}: {(status > 0).sum():,} hidden, intervals of {(status == 2).sum():,} primaries "
            f"{times['audit']:.1f} s wall, {times['audit cpu']:.1f} s CPU; {1000 * mine:.2f} ms a bound, SSBtools "
            f"{1000 * theirs:.2f}: {theirs / mine:.1f}x; one whole value left: {int((lower == upper).sum())}"
        )


def _scaled(folder: Path) -> tuple[dc.Table, np.ndarray]:
    """The table and per cell 2 for primary, 1 for secondary."""
    dimensions = []
    for name in ("geo", "nace", "age"):
        rows = pd.read_csv(folder / f"hier_{name}.csv", dtype=str)
        dimensions.append(dc.Dimension.from_parents(name, list(zip(rows["mapsFrom"], rows["mapsTo"], strict=True))))
    table = dc.Table.of(pd.read_csv(folder / "inner.csv", dtype={"freq": int}), dimensions, count="freq")
    out = pd.read_csv(folder / "out_gauss_default.csv.gz", dtype=dict.fromkeys(("geo", "nace", "age"), str))
    out = out.rename(columns=str.lower)
    status = np.where(out["primary"].astype(bool), 2, np.where(out["suppressed"].astype(bool), 1, 0))
    mark = dict(zip(zip(out["geo"], out["nace"], out["age"], strict=True), status.tolist(), strict=True))
    cells = table.cells
    keys = zip(*(cells[n].astype(str) for n in ("geo", "nace", "age")), strict=True)
    return table, np.array([mark[key] for key in keys])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--csp", type=Path)
    parser.add_argument("--scale", type=Path)
    parser.add_argument("--large", action="store_true", help="also 50x50x20 and a million cells: minutes")
    options = parser.parse_args()
    if options.csp:
        instances(options.csp)
    against_scipy((358, 45), 0.30, 3)
    against_scipy((20, 20, 20), 0.165, 10)
    for shape, share in (((358, 45), 0.30), ((20, 20, 20), 0.165), ((12, 10, 8, 6), 0.2)):
        on_demand(shape, share)
    if options.large:
        on_demand((50, 50, 20), 0.165)
        seconds = against_scipy((50, 50, 20), 0.165, 1)
        print(f"all intervals of 50x50x20: {seconds:.1f} s, {goal(seconds, LARGE_SECONDS)}")
        million()
    if options.scale:
        scale(options.scale)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
