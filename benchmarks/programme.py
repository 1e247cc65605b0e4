"""A publishing programme of some 320 tables of the synthetic census: one process, two, and a second run.

Then all two- and three-way tables under suppression, linked in turn.

    python benchmarks/programme.py [records]

Ratios count, not seconds: two processes beside one, and a run that finds everything finished beside the first.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from discreet import datasets
from discreet.publishing import Report, parse_programme, run

TEXT = """
[programme]
name = "Census"
data = "census.parquet"
codebook = "census.toml"
output = "OUTPUT"

[defaults]
method = "cell-key"

[[table]]
name = "all"
combinations = { of = [ALL], sizes = [1, 2, 3, 4] }

[[table]]
name = "region"
combinations = { of = ["sex", "age", "activity", "occupation", "education", "citizenship"], sizes = [1, 2, 3, 4] }
for_each = { region = "region" }

[[table]]
name = "sex"
combinations = { of = ["region", "age", "activity", "occupation", "education", "citizenship"], sizes = [1, 2, 3, 4] }
for_each = { sex = "sex" }
"""

ALL = '"region", "sex", "age", "activity", "occupation", "education", "citizenship"'

LINKED = """
[programme]
name = "Linked"
data = "census.parquet"
codebook = "census.toml"
output = "OUTPUT"

[[linked]]
name = "all"
approach = "in turn"
rule = "threshold(n=3)"

[[table]]
name = "by"
linked = "all"
combinations = { of = [ALL], sizes = [2, 3] }
"""


def timed(folder: Path, output: str, jobs: int, text: str = TEXT) -> tuple[float, Report]:
    """Seconds and report of one run."""
    programme = parse_programme(text.replace("OUTPUT", output).replace("ALL", ALL), base=folder)
    start = time.perf_counter()
    report = run(programme, jobs=jobs)
    return time.perf_counter() - start, report


def files(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.glob("*.csv")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", nargs="?", type=int, default=100_000)
    records = parser.parse_args().records
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        datasets.write("census", folder / "census.parquet", n=records)
        one, report = timed(folder, "one", 1)
        cells = sum(line.cells for line in report.lines)
        print(f"{len(report.lines)} tables, {cells:,} cells, {records:,} records; {report.summary()}")
        two, _ = timed(folder, "two", 2)
        print(f"one process {one:.1f} s, two {two:.1f} s: ratio {one / two:.2f}")
        print(f"the same bytes: {files(folder / 'one') == files(folder / 'two')}")
        again, kept = timed(folder, "two", 2)
        print(f"again {again:.1f} s ({sum(line.kept for line in kept.lines)} kept): ratio {one / again:.1f}")
        _, report = timed(folder, "linked", 1, LINKED)
        hidden = sum(line.hidden for line in report.lines)
        print(f"linked in turn, {len(report.lines)} tables, {hidden:,} cells hidden; {report.summary()}")


if __name__ == "__main__":
    main()
