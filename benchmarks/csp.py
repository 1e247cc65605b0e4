"""Cell suppression instances by elimination, clean-up, sub-table by sub-table and exactly: cells, value, time, gap.

    python benchmarks/csp.py [DIRECTORY] [--only NAME ...] [--weights value|unity ...] [--time SECONDS] [--quick]
                             [--trees] [--cells 4096 ... --shapes three-way four-way ... --sensitive 0.06 ...]
                             [--repeat TIMES] [--plot FILE]

DIRECTORY holds ``.jj`` files. Without it random hierarchical tables are made and solved, in about two minutes;
``--cells`` makes tables of about so many cells and of some ``--shapes`` instead, a share of the inner cells sensitive,
and prints the costs side by side. It is asserted that the exact method is not dearer than any other in the same time
(where it may stop at a gap, no ``--time`` given, it has its goal's). ``--plot`` draws its costs and certified
bounds over time. ``--repeat`` runs the exact method alone, so often, with other seeds: how often is it proved? Every
pattern is audited: no primary cell may be exactly known or have less room than its protection level. ``--time`` caps
the budgets; ``--quick`` leaves out files of more than 2,000 cells and ``modular``. Small instances are also given to
scipy.optimize.milp as one program, the moves of every need in it: what one would write without this package. Where
PySCIPOpt is installed, SCIP's tree gets the same instance, inequalities and time as our own; ``--trees`` runs these
two alone, in the time that ``--time`` says, and prints the table of docs/maintain/decisions/tree-or-scip.md.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import block_diag, csr_array, diags_array, eye_array, hstack, vstack

import discreet as dc
from csp_tables import SHAPES, made, made_of
from discreet.base import deadline
from discreet.formats.jj import Instance, read_jj
from discreet.methods.suppress.model.problem import Problem
from discreet.methods.suppress.model.solution import Solution

Array = NDArray[Any]

# seconds, and what must be reached in them: the optimum, a gap of 5 %, or a good pattern with a bound
PROVED, NEAR, FOUND = (30.0, "proved optimal"), (600.0, "gap below 5 %"), (120.0, "audited pattern with a bound")
GOALS = (
    dict.fromkeys(("targus", "table8", "table7"), PROVED)
    | dict.fromkeys(("hie1372d", "table1", "table6", "jjtabel3", "toysarah"), NEAR)
    | dict.fromkeys(("hier13", "hier16", "ninenew", "nine12", "two5in6"), FOUND)
)
OTHERS = 120.0  # seconds at most for the others; where the exact method has less, they have no more
ENOUGH = 0.045  # the gap at which the exact method may stop where less than 5 % is the goal
USUAL = (60.0, "audited pattern")
# measured with the recorded reference runs: least cost by (file, weights)
KNOWN = {("targus", "value"): 2_033_155.0, ("targus", "unity"): 7.0,
         ("table8", "value"): 103.0, ("table8", "unity"): 3.0}  # fmt: skip
ONE_PROGRAM = 60_000  # variables for scipy's program at most
TABLE = "| instance | weights | method | cells | value lost | seconds | certified gap |\n|---|---|---|---|---|---|---|"
COMPARED = ("gauss", "gauss + clean-up", "modular", "optimal")
COSTS = (
    "| instance | cells | sensitive | gauss | gauss + clean-up | modular | optimal | to the best other | gap | |\n"
    "|---|--:|--:|--:|--:|--:|--:|--:|--:|---|"
)
SMALL = 2_000  # cells of a file for --quick
SCIP = "optimal (SCIP)"
TREES = "| instance (cells) | weights | tree | cost | certified gap | nodes | seconds |\n|---|---|---|--:|--:|--:|--:|"


@dataclass(frozen=True)
class Line:
    """One method on one instance."""

    method: str
    cells: int
    value: float
    cost: float
    seconds: float
    gap: float | None
    exact: int
    narrow: int
    nodes: int = 0

    @property
    def clean(self) -> bool:
        """Whether the audit has nothing against it."""
        return not self.exact and not self.narrow


class Course:
    """Costs and certified bounds of a search as they come: what ``progress`` is told of."""

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.points: list[tuple[float, float, float]] = []

    def __call__(self, done: int, total: int) -> None:
        """How much of the time is gone is of no interest here."""

    def tell(self, cost: float, bound: float) -> None:
        self.points.append((time.perf_counter() - self.began, cost, bound))


def measured(
    name: str,
    instance: Instance,
    weights: str,
    method: Any,
    clean_up: bool,
    course: Course | None = None,
    limit: float = np.inf,
) -> tuple[Line, Solution]:
    """A method's pattern, its figures and the audit's word. ``limit``: seconds of a method that takes what it takes."""
    began = time.perf_counter()
    if course is not None:
        course.began = began
    with deadline.within(limit):
        found = instance.protect(method, weights=weights, clean_up=clean_up, progress=course)
    seconds = time.perf_counter() - began
    primary = np.flatnonzero(instance.primary)
    finding = instance.audit(found.hidden, targets=primary).finding
    secondary = found.hidden & ~instance.primary
    lost = float(np.abs(instance.value[secondary]).sum())
    gap = None if method == "gauss" else found.gap
    exact, narrow = (int((finding == kind).sum()) for kind in ("exact", "narrow"))
    return Line(name, int(secondary.sum()), lost, found.cost, seconds, gap, exact, narrow, found.nodes), found


def in_scip(instance: Instance, weights: str, budget: float, gap: float) -> Line | None:
    """The exact method with SCIP's tree instead of ours; None where PySCIPOpt is not installed."""
    if find_spec("pyscipopt") is None:
        return None
    return measured(SCIP, instance, weights, dc.Optimal(time=budget, gap=gap, solver="scip"), False)[0]


def lines(
    instance: Instance, weights: str, budget: float, gap: float, quick: bool, course: Course | None = None
) -> Iterator[Line]:
    """All methods, the exact one last; it stops where the gap is small enough."""
    limit = min(budget, OTHERS)
    for name, clean_up in (("gauss", False), ("gauss + clean-up", True)):
        try:
            line = measured(name, instance, weights, "gauss", clean_up, limit=limit)[0]
        except dc.OutOfTimeError:
            print(f"  {name}: nothing in {limit:g} s", flush=True)
            break
        yield line
    if not quick:
        yield measured("modular", instance, weights, dc.Modular(time=limit), False)[0]
    if (other := in_scip(instance, weights, budget, gap)) is not None:
        yield other
    yield measured("optimal", instance, weights, dc.Optimal(time=budget, gap=gap), False, course)[0]


def repeated(path: Path, weights: str, limit: float, times: int) -> None:
    """How often the exact method reaches its goal, with a seed of its own each time."""
    instance = read_jj(path)
    seconds, what = GOALS.get(path.stem, USUAL)
    budget, proved, took = min(0.95 * seconds, limit), 0, list[float]()
    for seed in range(1, times + 1):
        line = measured("optimal", instance, weights, dc.Optimal(time=budget, seed=seed), False)[0]
        proved += line.gap is not None and line.gap < 1e-9
        took.append(line.seconds)
    worst = f"{min(took):.1f} to {max(took):.1f} s"
    print(f"{path.stem}, {weights}: proved in {proved} of {times} runs of at most {budget:g} s; {worst} ({what})")


def trees(path: Path, weights: str, limit: float) -> list[str]:
    """Our tree and SCIP's on one instance, as rows of Markdown: the same presolve, patterns and separation for both."""
    instance = read_jj(path)
    seconds, what = GOALS.get(path.stem, USUAL)
    budget, gap = limit if np.isfinite(limit) else 0.95 * seconds, ENOUGH if what == NEAR[1] else 0.0
    own = measured("own", instance, weights, dc.Optimal(time=budget, gap=gap), False)[0]
    rows = []
    for line in (own, in_scip(instance, weights, budget, gap)):
        if line is not None:
            figures = f"{line.cost:,.0f} | {certified(line)} | {line.nodes:,} | {line.seconds:.1f}"
            rows.append(f"| {path.stem} ({len(instance):,}) | {weights} | {line.method} | {figures} |")
            print(rows[-1], flush=True)
    return rows


def certified(line: Line) -> str:
    """The gap in words."""
    return "" if line.gap is None else "0" if line.gap < 1e-9 else f"{100 * line.gap:.2f} %"


def row(line: Line) -> str:
    """The figures that the documentation has, in Markdown."""
    return f"{line.method} | {line.cells:,} | {line.value:,.0f} | {line.seconds:.1f} | {certified(line)}"


def told(line: Line, best: float) -> str:
    """A line of the table; ``best`` is the least cost that anything has proved or found."""
    gap = certified(line)
    word = "clean" if line.clean else f"{line.exact} exactly known, {line.narrow} narrow"
    ratio = line.cost / best if best else 1.0
    figures = f"{line.cells:>6,} {line.value:>12,.0f} {line.cost:>12,.0f} {ratio:>6.3f} {line.seconds:>7.1f} {gap:>8}"
    return f"  {line.method:17} {figures}  {word}"


def marks(name: str, weights: str, goal: tuple[float, str], done: list[Line]) -> Iterator[str]:
    """The goals, each with its mark."""
    seconds, what = goal
    best = done[-1]
    gap = 1.0 if best.gap is None else best.gap
    reached = {PROVED[1]: gap < 1e-9, NEAR[1]: gap < 0.05, FOUND[1]: gap < 1.0}.get(what, True)
    soon = best.seconds <= seconds * 1.05 + 1  # reading, checking
    yield f"{'pass' if reached and soon else 'FAIL'}: {what} in {seconds:g} s"
    yield f"{'pass' if all(line.clean for line in done) else 'FAIL'}: no primary cell exactly known or below its level"
    least = min(line.cost for line in done if line.method != SCIP)
    yield f"{'pass' if best.cost <= least * (1 + 1e-9) else 'FAIL'}: not dearer than any of the other methods"
    if (name, weights) in KNOWN:
        known = KNOWN[name, weights]
        yield f"{'pass' if abs(best.cost - known) < 1e-6 else 'FAIL'}: the known optimum {known:,.0f}"


@contextmanager
def quiet() -> Iterator[None]:
    """Without what compiled code prints."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def in_one_programme(problem: Problem, seconds: float) -> tuple[float, float, str] | None:
    """Cost, seconds and outcome of the compact model: a move for each level of each need. None if it is too large.

    The variables are a yes or no for each cell with a choice, and for each level the way of every cell; where a cell
    can go without end, ten times the largest finite way is taken.
    """
    able = np.flatnonzero(problem.free | problem.hidden)
    rows = csr_array(problem.rows[:, able])
    needs, n = problem.needs, len(able)
    aims = [(int(c), side, float(level)) for c, below, above in zip(needs.cell, needs.below, needs.above, strict=True)
            for side, level in ((-1, below), (1, above)) if level > 0]  # fmt: skip
    if n * len(aims) > ONE_PROGRAM:
        return None
    far = 10 * max(np.where(np.isfinite(problem.up), problem.up, 0).max(), problem.down.max())
    down, up = problem.down[able], np.minimum(problem.up[able], far)
    choice = np.flatnonzero(problem.free[able])
    pick = csr_array((np.ones(len(choice)), (choice, np.arange(len(choice)))), shape=(n, len(choice)))
    k, always = len(aims), np.where(problem.free[able], 0.0, 1.0)
    sums = hstack([csr_array((k * rows.shape[0], len(choice))), block_diag([rows] * k)])
    ways = vstack([hstack([vstack([diags_array(size) @ pick] * k), sign * eye_array(k * n)]) for sign, size in
                   ((-1, up), (1, down))])  # fmt: skip
    least = np.concatenate([-np.tile(up * always, k), -np.tile(down * always, k)])
    low, high = np.tile(-down, k), np.tile(up, k)
    place = {int(cell): i for i, cell in enumerate(able)}
    for a, (cell, side, level) in enumerate(aims):
        at = a * n + place[cell]
        low[at], high[at] = (low[at], -level) if side < 0 else (level, high[at])
    cost = np.concatenate([problem.weight[able[choice]], np.zeros(k * n)])
    bounds = Bounds(np.append(np.zeros(len(choice)), low), np.append(np.ones(len(choice)), high))
    began = time.perf_counter()
    with quiet():
        done: Any = milp(
            cost, bounds=bounds, integrality=np.append(np.ones(len(choice)), np.zeros(k * n)),
            constraints=[LinearConstraint(sums, 0, 0), LinearConstraint(ways, least, np.inf)],
            options={"time_limit": seconds},
        )  # fmt: skip
    word = "optimal" if done.status == 0 else "time is up" if done.x is not None else "no pattern when time is up"
    return float(done.fun) if done.x is not None else np.inf, time.perf_counter() - began, word


def beside(instance: Instance, weights: str, budget: float, ours: Line) -> str | None:
    """What scipy does with the same instance in the same time."""
    found = in_one_programme(instance.problem(weights), min(budget, OTHERS))
    if found is None:
        return None
    cost, seconds, word = found
    spent = f"{seconds:.1f} s, {word}; ratio of times {seconds / max(ours.seconds, 1e-3):.1f}"
    worth = f", of costs {cost / ours.cost:.3f}" if np.isfinite(cost) and ours.cost else ""
    return f"  scipy.optimize.milp, all in one program: {spent}{worth}"


def draw(course: Course, name: str, file: Path) -> None:
    """Cost and bound over time, as steps; the gap is what lies between them."""
    (axes,) = dc.plot.panels(1, width=6, height=3.5)
    seconds, cost, bound = np.array(course.points).T
    axes.step(seconds, cost, where="post", label="cheapest pattern")
    axes.step(seconds, bound, where="post", label="certified bound")
    axes.set(xlabel="time (seconds)", ylabel="value lost (cost)", title=name, ylim=(0, None))
    axes.legend()
    file.with_stem(f"{file.stem}-{name}").with_suffix(".png").write_bytes(dc.plot.png(axes))


def beaten(instance: Instance, done: list[Line]) -> str:
    """The costs of all methods as a row, with how much dearer the exact one is than the best of the others."""
    cost = {line.method: line.cost for line in done}
    others = min(value for method, value in cost.items() if method not in ("optimal", SCIP))
    each = " | ".join(f"{cost[name]:,.0f}" if name in cost else "" for name in COMPARED)
    ratio = cost["optimal"] / others if others else 1.0
    word = "never loses" if ratio <= 1 + 1e-9 else "**loses**"
    figures = f"{len(instance):,} | {int(instance.primary.sum()):,} | {each} | {ratio:.4f}"
    return f"{figures} | {certified(done[-1])} | {word} |"


def run(
    path: Path, weights: str, limit: float, quick: bool, plot: Path | None = None, costs: list[str] | None = None
) -> tuple[bool, list[str]]:
    """One instance under one weighting: whether its goals are reached, and its rows for the documentation.

    ``costs`` takes the row of costs side by side.
    """
    instance = read_jj(path)
    seconds, what = GOALS.get(path.stem, USUAL)
    budget = min(seconds * (0.8 if what == FOUND[1] else 0.95), limit)  # a large problem takes its last step to the end
    cells, primaries = len(instance), int(instance.primary.sum())
    print(f"\n{path.stem}, {weights}: {cells:,} cells, {primaries:,} primary, {budget:g} s", flush=True)
    print(f"  {'method':17} {'cells':>6} {'value lost':>12} {'cost':>12} {'ratio':>6} {'seconds':>7} {'gap':>8}  audit")
    course = Course()
    enough = ENOUGH if what == NEAR[1] and limit == np.inf else 0.0  # equal time for all, where one is given
    done = list(lines(instance, weights, budget, enough, quick, course))
    if costs is not None:
        costs.append(f"| {path.stem} | {beaten(instance, done)}")
    if plot is not None and course.points:
        draw(course, f"{path.stem}-{weights}", plot)
    best = min(line.cost for line in done)
    for line in done:
        print(told(line, best))
    if (other := beside(instance, weights, budget, done[-1])) is not None:
        print(other)
    words = list(marks(path.stem, weights, (seconds, what), done))
    for word in words:
        print(f"  {word}", flush=True)
    heading = f"{path.stem} ({cells:,} cells, {primaries:,} sensitive) | {weights}"
    rows = [f"| {heading if k == 0 else ' | '} | {row(line)} |" for k, line in enumerate(done)]
    return not any(word.startswith("FAIL") for word in words), rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", nargs="?", type=Path)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--weights", nargs="+", choices=("value", "unity"), default=None)
    parser.add_argument("--time", type=float, default=np.inf, metavar="SECONDS")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--trees", action="store_true")
    parser.add_argument("--cells", nargs="+", type=int, default=[], metavar="CELLS")
    parser.add_argument("--shapes", nargs="+", choices=tuple(SHAPES), default=["three-way"])
    parser.add_argument("--sensitive", nargs="+", type=float, default=[0.06], metavar="SHARE")
    parser.add_argument("--repeat", type=int, default=0, metavar="TIMES")
    parser.add_argument("--plot", type=Path, metavar="FILE")
    given = parser.parse_args()
    if given.directory is None:
        print("instances made here; for recorded ones: python benchmarks/csp.py DIRECTORY")
        with tempfile.TemporaryDirectory() as folder:
            each = itertools.product(given.cells, given.shapes, given.sensitive)
            large = [made_of(cells, shape, Path(folder), share) for cells, shape, share in each]
            reached, costs = True, [COSTS]
            for path in large or made(Path(folder)):
                limit = given.time if large else min(given.time, 10.0)
                if given.trees:
                    trees(path, "value", limit)
                else:
                    reached &= run(path, "value", limit, given.quick, given.plot, costs)[0]
        if len(costs) > 1:
            print("\n" + "\n".join(costs))
        sys.exit(0 if reached else "goals missed")
    paths = sorted(given.directory.glob("*.jj"), key=lambda p: p.stat().st_size)
    if unknown := set(given.only) - {p.stem for p in paths}:
        sys.exit(f"no {', '.join(sorted(unknown))} among {', '.join(p.stem for p in paths)}")
    failed, table, costs = [], [TABLE], [COSTS]
    if given.trees:
        print(TREES, flush=True)
    for path in paths:
        if (given.only and path.stem not in given.only) or (given.quick and len(read_jj(path)) > SMALL):
            continue
        for weights in given.weights or (("value", "unity") if GOALS.get(path.stem) == PROVED else ("value",)):
            if given.trees:
                trees(path, weights, given.time)
                continue
            if given.repeat:
                repeated(path, weights, given.time, given.repeat)
                continue
            reached, rows = run(path, weights, given.time, given.quick, given.plot, costs)
            table += rows
            if not reached:
                failed.append(f"{path.stem} {weights}")
    if given.trees or given.repeat:
        return
    print(f"\ngoals missed: {', '.join(failed) or 'none'}\n")
    print("\n".join(table))
    print("\n" + "\n".join(costs))


if __name__ == "__main__":
    main()
