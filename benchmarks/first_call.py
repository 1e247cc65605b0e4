"""The first call of a fresh install: small tables with nothing compiled, and with everything; what an install weighs.

    python benchmarks/first_call.py [--rounds 3] [--size]

Each command runs in processes of its own: with an empty folder for compiled code, with none that could be written, and
after `discreet warm-up`. The least of the rounds is printed, by the clock and of the processor. ``--size`` lists the
packages of this environment that a plain install needs, in megabytes.
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
from pathlib import Path

GOALS = {"import discreet": 0.2, "protect": 3.0, "audit": 3.0, "risk": 3.0}
COUNTS = "area,injury,count\n" + "".join(
    f"{'NSE'[number // 3]},{number % 3},{count}\n" for number, count in enumerate([17, 3, 9, 12, 1, 8, 2, 14, 6])
)
DISCREET = (sys.executable, "-m", "discreet")
COMMANDS = {
    "import discreet": (sys.executable, "-c", "import discreet"),
    "protect": (*DISCREET, "protect", "table.csv", "--ready", "--count", "count", "--rule", "threshold(n=5)"),
    "audit": (*DISCREET, "audit", "shown.csv"),
    "risk": (*DISCREET, "risk", "table.csv", "--ready", "--count", "count"),
}
PLAIN = "discreet"


def run(words: tuple[str, ...], folder: Path, cache: str) -> tuple[float, float]:
    """Seconds by the clock and of the processor of one process."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    subprocess.run(words, cwd=folder, env=environment, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter() - began, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ways(folder: Path) -> Iterator[tuple[str, str]]:
    """Where compiled code could be kept."""
    empty = folder / "empty"
    empty.mkdir(mode=0o700)
    yield "nothing compiled", str(empty)
    yield "nothing can be kept", str(folder / "table.csv" / "in")
    full = folder / "full"
    seconds, processor = run((*DISCREET, "warm-up"), folder, str(full))
    print(f"discreet warm-up: {seconds:.1f} s, {processor:.1f} s of the processor")
    yield "all compiled", str(full)


def times(rounds: int) -> None:
    """Commands by ways, each beside its goal."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "table.csv").write_text(COUNTS)
        run((*COMMANDS["protect"], "-o", "shown.csv"), folder, str(folder / "empty-at-first"))
        print("| command | | seconds | of the processor | goal |\n|---|---|--:|--:|---|")
        for way, cache in ways(folder):
            for command, words in COMMANDS.items():
                tries = [run(words, folder, cache) for _ in range(rounds)]
                least, processor = (min(column) for column in zip(*tries, strict=True))
                goal = GOALS[command]
                word = "reached" if least <= goal else "missed"
                print(f"| {command} | {way} | {least:.2f} | {processor:.2f} | {goal:g} s: {word} |", flush=True)


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


def sizes() -> None:
    """Megabytes of each package of a plain install, largest first."""
    weights = {}
    for name in needed(PLAIN, set()) - {PLAIN}:
        files = metadata.distribution(name).files or []
        weights[name] = sum(path.stat().st_size for file in files if (path := Path(str(file.locate()))).is_file()) / 1e6
    for name, weight in sorted(weights.items(), key=lambda item: -item[1]):
        if weight >= 1:
            print(f"{name:20} {weight:6.0f} MB")
    print(f"{'all':20} {sum(weights.values()):6.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--size", action="store_true")
    given = parser.parse_args()
    if given.size:
        sizes()
    else:
        times(given.rounds)


if __name__ == "__main__":
    main()
