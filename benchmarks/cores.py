"""What more processors give: elimination, repair, audit, risk and tree with one worker and with two, to the same bits.

    python benchmarks/cores.py [--cells 10000] [--rounds 3] [--only NAME ...]

The least time of the rounds by the clock, the two numbers of workers in turn. From the speed-up follows the share of
the work that runs side by side (Amdahl's law), and from that what 8 and 32 processors could give at most. The result of
one worker and of two is compared to the bit; of the tree, which may end in another of equally cheap patterns, the cost
and the bound are. Where they differ the script fails. On a machine that others use the figures mean little.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import discreet as dc
from discreet.base import compiled

WORKERS = "DISCREET_WORKERS"
Work = Callable[[], Any]


@dataclass(frozen=True)
class SpeedUp:
    """Seconds with one worker and with two, and whether the results are the same."""

    one: float
    two: float
    same: bool

    @property
    def share(self) -> float:
        """The share of the time with one worker that is halved by two: 0 to 1."""
        return float(np.clip(2 * (1 - self.two / self.one), 0, 1))

    def on(self, processors: int) -> float:
        """The speed-up that follows for so many processors, if the share stays and nothing else is in the way."""
        return 1 / (1 - self.share + self.share / processors)


def digest(result: Any) -> str:
    """A few characters of everything in a result."""
    parts = result if isinstance(result, tuple) else (result,)
    return hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).hexdigest()[:12]


def table(cells: int, mean: float, shape: tuple[int, ...]) -> dc.Table:
    """A three-way table of Poisson counts with about so many cells, in the proportions of ``shape``."""
    scale = (cells / np.prod(shape)) ** (1 / len(shape))
    sizes = [max(round(size * scale), 2) for size in shape]
    counts = np.random.default_rng(1).poisson(mean, sizes)
    return dc.Table.of(counts, [f"d{number}" for number in range(len(sizes))])


def works(cells: int) -> dict[str, Work]:
    """The pieces of work, each a function that gives what is compared."""
    three = table(cells, 6, (2, 2, 2))
    method = dc.Suppress(dc.Threshold(3), zeros=True)
    pattern = dc.protect(three, dc.Suppress(dc.Threshold(3), zeros=True, repair="off"))
    small = table(min(cells, 100), 12, (1, 1))
    batch = np.random.default_rng(2).poisson(3, (max(cells, 5_000), 1_000))  # many tables, one a row

    def tree() -> Any:
        done = dc.protect(small, dc.Suppress(dc.Threshold(8), method=dc.Optimal(weights="unity", time=120)))
        return np.array([done.details["cost"], done.details["bound"]])

    return {
        "elimination": lambda: dc.protect(three, dc.Suppress(dc.Threshold(3), zeros=True, repair="off")).hidden,
        "elimination and repair": lambda: dc.protect(three, method).hidden,
        "audit": lambda: tuple(dc.audit(pattern).cells[["lower", "upper"]].to_numpy(float).T),
        "risk": lambda: np.asarray(dc.risk.r2(batch, batch[::-1], axis=1).value),
        "tree": tree,
    }


def measured(work: Work, rounds: int) -> SpeedUp:
    """The work with one worker and with two, in turn; the first round is not counted, as it may compile."""
    seconds: dict[str, list[float]] = {"1": [], "2": []}
    results: dict[str, str] = {}
    for turn in range(rounds + 1):
        for number in seconds:
            os.environ[WORKERS] = number
            began = time.perf_counter()
            results[number] = digest(work())
            if turn:
                seconds[number].append(time.perf_counter() - began)
    return SpeedUp(min(seconds["1"]), min(seconds["2"]), results["1"] == results["2"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    given = parser.parse_args()
    compiled.TO_COMPILE = compiled.TO_LOAD = compiled.TO_IMPORT = -1.0  # no loop runs as Python, however small the work
    print("| work | 1 worker | 2 workers | speed-up | parallel share | on 8 | on 32 | same result |")
    print("|---|--:|--:|--:|--:|--:|--:|---|")
    different = []
    for name, work in works(given.cells).items():
        if given.only and name not in given.only:
            continue
        one = measured(work, given.rounds)
        if not one.same:
            different.append(name)
        figures = f"{one.one:.2f} s | {one.two:.2f} s | {one.one / one.two:.2f} | {one.share:.0%}"
        print(
            f"| {name} | {figures} | {one.on(8):.1f} | {one.on(32):.1f} | {'yes' if one.same else 'NO'} |", flush=True
        )
    if different:
        sys.exit(f"another result with two workers: {', '.join(different)}")


if __name__ == "__main__":
    main()
