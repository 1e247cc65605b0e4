"""How long the audit of many published files takes: they share dimensions, and each hides cells; and differences.

    python benchmarks/many_files.py [--files 50] [--size 1]

Every file is the table of area by job by something of its own; ``--size`` multiplies the number of areas.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

import discreet as dc
from discreet.cli import run

FORMATS = (".csv", ".xlsx", ".json", ".px", ".parquet", ".html", ".sdmx.csv")


def written(folder: Path, files: int, size: int) -> list[str]:
    """Files of one population in all formats, the same four cells hidden in each."""
    generator = np.random.default_rng(3)
    areas, jobs, kinds = 6 * size, 5, 4
    people = generator.integers(60, 400, (areas, jobs))
    people[0, 0] = 2
    corner = [{"area": a, "job": j} for a in ("1", "2") for j in ("1", "2")]
    names = []
    for k in range(files):
        split = np.stack([generator.multinomial(n, [0.4, 0.3, 0.2, 0.1]) for n in people.ravel()])
        table = dc.Table.of(split.reshape(areas, jobs, kinds), ["area", "job", f"kind {k}"])
        path = folder / f"table{k}{FORMATS[k % len(FORMATS)]}"
        names.append(str(dc.write(dc.protect(table, dc.Hide(corner)).release(), path)))
    return names


def main() -> None:
    """Print seconds of both commands."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=50)
    parser.add_argument("--size", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        names = written(Path(folder), given.files, given.size)
        for options in ([], ["--difference", "--under", "3"]):
            start = time.perf_counter(), time.process_time()
            code = run(["audit", *names, "--rows", "0", *options])
            took = time.perf_counter() - start[0], time.process_time() - start[1]
            print(
                f"{given.files} files {' '.join(options)}: exit {code}, {took[0]:.1f} s, {took[1]:.1f} s of processor"
            )


if __name__ == "__main__":
    main()
