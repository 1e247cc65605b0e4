"""The first call of a fresh install: tables with nothing compiled, and with everything; what an install weighs.

    python benchmarks/first_call.py [--rounds 3] [--middle] [--size]

Each command runs in processes of its own: with an empty folder for compiled code, with none that could be written, and
after `discreet warm-up`. The least of the rounds is printed, by the clock and of the processor. ``--middle``: tables of
1,000 to 20,000 cells, where compiling may pay, beside the same with every loop compiled at once; by the processor.
``--size`` lists the packages of this environment that a plain install needs, in megabytes.
"""

from __future__ import annotations

import argparse
import importlib.metadata as metadata
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

IMPORT_GOAL, SMALL_GOAL, MIDDLE_GOAL, SIZE_GOAL = 0.2, 3.0, 1.5, 500
PYTHON = sys.executable
DISCREET = (PYTHON, "-m", "discreet")
AT_ONCE = """
import sys
from discreet.base import compiled
compiled.TO_COMPILE = compiled.TO_LOAD = compiled.TO_IMPORT = -1.0
from discreet.cli import main
sys.exit(main())
"""
PLAIN = "discreet"
Words = tuple[str, ...]


@dataclass(frozen=True)
class Spent:
    """Seconds of one process, by the clock and of the processor, and whether it compiled something."""

    wall: float
    processor: float
    compiled: bool


def run(words: Words, folder: Path, cache: str) -> Spent:
    """One process with this folder for compiled code."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode > 1:  # 1: an audit has found something
        sys.exit(f"{' '.join(words)}: {done.stderr}")
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Spent(wall, processor, "compiling for" in done.stderr)


def counts(folder: Path, name: str, shape: tuple[int, ...], mean: float = 6) -> Path:
    """Poisson counts as a table in CSV, a row for each inner cell."""
    import numpy as np

    drawn = np.random.default_rng(1).poisson(mean, shape)
    lines = [",".join([f"d{k}" for k in range(len(shape))] + ["count"])]
    lines += [",".join([*(f"c{c:02d}" for c in at), str(count)]) for at, count in np.ndenumerate(drawn)]
    path = folder / f"{name}.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def firms(folder: Path) -> Path:
    """Records of firms with a magnitude, to be crossed to 8 x 8 inner cells."""
    import numpy as np

    rng = np.random.default_rng(2)
    rows = [
        f"r{a},b{b},{t:.0f}" for a, b, t in zip(*rng.integers(0, 8, (2, 600)), rng.lognormal(4, 1.5, 600), strict=True)
    ]
    path = folder / "firms.csv"
    path.write_text("region,branch,turnover\n" + "\n".join(rows) + "\n")
    codes = [[f"{letter}{k}" for k in range(8)] for letter in "rb"]
    dimensions = [
        f'[[dimension]]\nname = "{n}"\ncodes = {c}\n' for n, c in zip(("region", "branch"), codes, strict=True)
    ]
    path.with_suffix(".toml").write_text("".join(dimensions).replace("'", '"') + '[[magnitude]]\nname = "turnover"\n')
    return path


def sheet(folder: Path) -> Path:
    """A workbook with a table of 10 areas and 4 groups, totals included."""
    import numpy as np
    import openpyxl

    inner = np.random.default_rng(3).poisson(9, (10, 4))
    table = np.block([[inner, inner.sum(1, keepdims=True)], [inner.sum(0), inner.sum()]])
    book = openpyxl.Workbook()
    book.active.append(["Ward", "Under 18", "18-44", "45-64", "65 and over", "Total"])
    for name, row in zip([*(f"Ward {k}" for k in range(10)), "Total"], table.tolist(), strict=True):
        book.active.append([name, *row])
    book.save(folder / "wards.xlsx")
    return folder / "wards.xlsx"


def of_counts(path: Path) -> dict[str, Words]:
    """The commands for a table of counts."""
    ready, shown = (path.name, "--ready", "--count", "count"), f"shown-{path.name}"
    return {
        "protect": ("protect", *ready, "--rule", "threshold(n=5)", "-o", shown),
        "audit": ("audit", shown),
        "risk": ("risk", *ready),
    }


def small(folder: Path) -> Iterator[tuple[str, str, Words]]:
    """Tables, commands and their words; whatever is audited has been written before."""
    shapes = {"3 x 3": (3, 3), "10 x 10": (10, 10), "three-way, 504 cells": (7, 6, 8)}
    for table, shape in shapes.items():
        for command, words in of_counts(counts(folder, table.split(",")[0].replace(" ", ""), shape)).items():
            yield table, command, words
    data = firms(folder)
    ready = (data.name, "--codebook", "firms.toml", "--by", "region,branch", "--value", "turnover")
    yield (
        "firms, 81 cells",
        "protect",
        ("protect", *ready, "--rule", "ppercent(p=10)", "--top", "3", "-o", "firms-shown.csv"),
    )
    yield "firms, 81 cells", "audit", ("audit", "firms-shown.csv")
    yield "firms, 81 cells", "risk", ("risk", *ready[:-2])
    book = sheet(folder).name
    yield "sheet, 55 cells", "protect", ("protect", book, "--hide-under", "6", "-o", "safe.xlsx", "--force")
    told = ("--original", book, "--suppressed", "*", "--hidden-under", "6")
    yield "sheet, 55 cells", "audit", ("audit", "safe.xlsx", *told)


def ways(folder: Path) -> Iterator[tuple[str, str]]:
    """Where compiled code could be kept."""
    empty = folder / "empty"
    empty.mkdir(mode=0o700)
    yield "nothing compiled", str(empty)
    (folder / "file").write_text("")
    yield "nothing can be kept", str(folder / "file" / "in")
    full = folder / "full"
    spent = run((*DISCREET, "warm-up"), folder, str(full))
    print(f"| warm-up | - | everything | {spent.wall:.2f} | {spent.processor:.2f} | - |", flush=True)
    yield "all compiled", str(full)


def times(rounds: int) -> None:
    """Commands by ways, each beside its goal."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cases = list(small(folder))
        (folder / "at-first").mkdir(mode=0o700)
        print("| command | table | compiled before | seconds | of the processor | goal |\n|---|---|---|--:|--:|---|")
        for _, _, words in cases:  # writes what is audited, and what the disk is asked for lies in memory then
            run((*DISCREET, *words), folder, str(folder / "at-first"))
        for way, cache in ways(folder):
            for table, command, words in [("-", "import discreet", ()), *cases]:
                whole = (*DISCREET, *words) if words else (PYTHON, "-c", "import discreet")
                tries = [run(whole, folder, cache) for _ in range(rounds)]
                wall, processor = min(t.wall for t in tries), min(t.processor for t in tries)
                goal = SMALL_GOAL if words else IMPORT_GOAL
                word = "reached" if wall <= goal else "missed"
                print(
                    f"| {command} | {table} | {way} | {wall:.2f} | {processor:.2f} | {goal:g} s: {word} |", flush=True
                )


MIDDLE = {
    "two-way": ((40, 24), (100, 49), (200, 100)),
    "three-way": ((12, 9, 7), (20, 15, 14), (40, 25, 18)),
    "four-way": ((7, 5, 5, 3), (10, 9, 7, 5), (16, 12, 10, 7)),
}


def middle() -> None:
    """Tables between small and large: what is chosen by itself, beside everything compiled at once."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print("| command | table | cells | as chosen | at once | ratio | compiled |\n|---|---|--:|--:|--:|--:|---|")
        for kind, shapes in MIDDLE.items():
            for shape in shapes:
                cells = 1
                for size in shape:
                    cells *= size + 1
                for command, words in of_counts(counts(folder, "x".join(map(str, shape)), shape)).items():
                    spent = []
                    for start in (DISCREET, (PYTHON, "-c", AT_ONCE)):
                        with tempfile.TemporaryDirectory() as cache:
                            spent.append(run((*start, *words), folder, cache))
                    chosen, at_once = spent
                    ratio = chosen.processor / at_once.processor
                    word = "" if ratio <= MIDDLE_GOAL else f", over {MIDDLE_GOAL:g}: missed"
                    figures = f"{cells:,} | {chosen.processor:.1f} s | {at_once.processor:.1f} s | {ratio:.2f}{word}"
                    print(f"| {command} | {kind} | {figures} | {'yes' if chosen.compiled else 'no'} |", flush=True)


def needed(package: str, seen: set[str]) -> set[str]:
    """A package and all it needs without extras, by their names here."""
    name = re.sub(r"[-_.]+", "-", package).lower()
    if name in seen:
        return seen
    try:
        lines = metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return seen  # for another system
    seen.add(name)
    for line in lines:
        if "extra ==" not in line:
            needed(re.match(r"[\w.-]+", line)[0], seen)  # type: ignore[index]
    return seen


WITHOUT = {  # what would not work
    "llvmlite": "with numba: tables of more than a few thousand cells",
    "numba": "the same",
    "pyarrow": "records, Parquet, writing CSV",
    "duckdb": "counting records",
    "scipy": "suppression, audit",
    "numpy": "everything",
    "pandas": "everything",
    "highspy": "audit, repair",
    "matplotlib": "figures, with the next three",
}


def sizes() -> None:
    """Megabytes of each package of a plain install, largest first."""
    weights, derived = {}, 0.0
    for name in needed(PLAIN, set()):
        files = [Path(str(file.locate())) for file in metadata.distribution(name).files or []]
        there = {path: path.stat().st_size / 1e6 for path in files if path.is_file()}
        weights[name] = sum(there.values())
        derived += sum(size for path, size in there.items() if path.suffix == ".pyc")
    print("| package | MB | without it would not work |\n|---|--:|---|")
    for name, weight in sorted(weights.items(), key=lambda item: -item[1]):
        if weight >= 5:
            print(f"| {name} | {weight:.0f} | {WITHOUT.get(name, '')} |")
    print(f"| others | {sum(weight for weight in weights.values() if weight < 5):.0f} | |")
    total = sum(weights.values())
    word = "reached" if total <= SIZE_GOAL else "missed"
    print(f"| **all** | {total:.0f} | goal {SIZE_GOAL} MB: {word} |")
    print(f"| of it byte code, which `pip install --no-compile` leaves out | {derived:.0f} | |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--middle", action="store_true")
    parser.add_argument("--size", action="store_true")
    given = parser.parse_args()
    if given.size:
        sizes()
    elif given.middle:
        middle()
    else:
        times(given.rounds)


if __name__ == "__main__":
    main()
