"""Whole runs of ``discreet protect FILE.xlsx`` in a process of their own: processor seconds, beside the goal of each.

    python benchmarks/sheets.py              # 7,000 practices x 6 columns, and 50 sheets x 2,000 cells
    python benchmarks/sheets.py --rows 700 --sheets 5

Every run is made twice and the second is counted, so that compiled loops are in their cache.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import openpyxl

GOALS = {"practices": 3.0, "practices, nhs": None, "fifty sheets": 20.0}
"""Seconds of the processor that a run may take; None where none was set."""


def table(sheet: openpyxl.worksheet.worksheet.Worksheet, rows: int, columns: int, numbers: random.Random) -> None:
    """Practices down, groups across, totals last on both sides."""
    sheet.append(["Practice", *(f"Group {chr(65 + k)}" for k in range(columns)), "Total"])
    sums = [0] * (columns + 1)
    for row in range(rows):
        counts = [int(numbers.expovariate(1 / 40)) for _ in range(columns)]
        line = [*counts, sum(counts)]
        sums = [a + b for a, b in zip(sums, line, strict=True)]
        sheet.append([f"A{80_000 + row}", *line])
    sheet.append(["Total", *sums])


def workbook(path: Path, sheets: int, rows: int, columns: int) -> Path:
    """A workbook with tables of different numbers."""
    book = openpyxl.Workbook()
    for k in range(sheets):
        sheet = book.active if k == 0 else book.create_sheet()
        sheet.title = f"Area {k + 1}"
        table(sheet, rows, columns, random.Random(k))
    book.save(path)
    return path


def seconds(source: Path, *options: str) -> float:
    """Processor seconds of the second of two runs."""
    taken = 0.0
    for _ in range(2):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        target = source.with_suffix(".out.xlsx")
        command = [sys.executable, "-m", "discreet", "protect", str(source), *options, "-o", str(target), "--force"]
        code = subprocess.run(command, check=False, capture_output=True, env=_installed(source.parent)).returncode
        if code not in (0, 3):  # what the audit does not pass is refused, after the same work
            raise SystemExit(f"discreet protect ended with {code}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return taken


def _installed(folder: Path) -> dict[str, str]:
    """The environment of a run that keeps bytecode, as an installed package does, whatever this one says."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**environment, "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}


def main() -> None:
    """Print each figure beside its goal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=7_000, help="practices of the large table")
    parser.add_argument("--sheets", type=int, default=50, help="sheets of 2,000 cells each")
    size = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        practices = workbook(Path(folder) / "practices.xlsx", 1, size.rows, 5)
        many = workbook(Path(folder) / "many.xlsx", size.sheets, 333, 5)
        figures = {
            "practices": seconds(practices, "--hide-under", "6"),
            "practices, nhs": seconds(practices, "--recipe", "nhs"),
            "fifty sheets": seconds(many, "--hide-under", "6"),
        }
    for name, taken in figures.items():
        goal = GOALS[name]
        said = "no goal" if goal is None else f"goal {goal:.0f} s, {'met' if taken < goal else 'missed'}"
        print(f"{name:16} {taken:6.1f} s  {said}")


if __name__ == "__main__":
    main()
