"""Whole runs of ``discreet protect FILE`` in a process of their own: processor seconds, beside the goal of each.

    python benchmarks/sheets.py              # 7,000 practices x 6 columns, and 50 sheets x 2,000 cells
    python benchmarks/sheets.py --rows 700 --sheets 5

Everything is compiled ahead (``discreet warm-up``), but for the lines that say otherwise: there no machine code is on
disk, as in the first run on a machine. Every run is made twice and the second is counted. Growth is shown by practices
of a seventh and of seven times the rows, other shapes by tables of about as many cells.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import resource
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

import openpyxl

GOALS = {"practices": 3.0, "practices, nothing compiled": 3.0, "fifty sheets": 20.0}
"""Seconds of the processor that a run may take, where that was set."""
NAMES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
)
HIDE = ("--hide-under", "6")
REFUSED = 3
"""The exit code where the audit is not passed: of thousands of rounded rows with a total one may tell its counts."""


def table(sheet: openpyxl.worksheet.worksheet.Worksheet, rows: int, columns: int, numbers: random.Random) -> None:
    """Practices down, groups across, totals last on both sides."""
    sheet.append(["Practice", *(f"Group {k + 1}" for k in range(columns)), "Total"])
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
        sheet.title = f"Area {k + 1}" if sheets > 1 else "Practices"
        table(sheet, rows, columns, random.Random(k))
    book.save(path)
    return path


def other_formats(book: Path) -> tuple[Path, Path]:
    """The first sheet of a workbook as an OpenDocument spreadsheet and as CSV."""
    rows = list(openpyxl.load_workbook(book, read_only=True).worksheets[0].values)
    lines = "".join(f"<table:table-row>{''.join(map(_ods_cell, row))}</table:table-row>" for row in rows)
    sheet = f'<table:table table:name="S">{lines}</table:table>'
    body = f"<office:body><office:spreadsheet>{sheet}</office:spreadsheet></office:body>"
    with zipfile.ZipFile(book.with_suffix(".ods"), "w") as package:
        package.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        package.writestr("content.xml", f"<office:document-content {NAMES}>{body}</office:document-content>")
    with book.with_suffix(".csv").open("w", newline="") as text:
        csv.writer(text).writerows(rows)
    return book.with_suffix(".ods"), book.with_suffix(".csv")


def _ods_cell(value: object) -> str:
    kind = "string" if isinstance(value, str) else f'float" office:value="{value}'
    return f'<table:table-cell office:value-type="{kind}"><text:p>{escape(str(value))}</text:p></table:table-cell>'


def seconds(source: Path, *options: str, compiled: bool = True) -> float:
    """Processor seconds of the second of two runs; unless ``compiled`` without any machine code on disk."""
    taken = 0.0
    environment = _installed(source.parent)
    for run in range(2):
        if not compiled:
            folder = source.with_name(f"{source.stem}-{run}")
            folder.mkdir(mode=0o700)
            environment["NUMBA_CACHE_DIR"] = str(folder)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        target = source.with_suffix(f".out{source.suffix}")
        command = [sys.executable, "-m", "discreet", "protect", str(source), *options, "-o", str(target), "--force"]
        done = subprocess.run(command, capture_output=True, env=environment)
        if done.returncode not in (0, REFUSED):
            raise SystemExit(done.stderr.decode())
        if done.returncode == REFUSED:
            print(f"{' '.join(options)} on {source.name}: refused by its audit")
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
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([sys.executable, "-m", "discreet", "warm-up"], check=True, capture_output=True)
        practices = workbook(folder / "practices.xlsx", 1, size.rows, 5)
        document, text = other_formats(practices)
        few = workbook(folder / "few.xlsx", 1, size.rows // 7, 5)
        more = workbook(folder / "more.xlsx", 1, size.rows * 7, 5)
        many = workbook(folder / "many.xlsx", size.sheets, 333, 5)
        twelve = workbook(folder / "twelve.xlsx", 1, max(size.rows * 3 // 7, 2), 11)
        sixty = workbook(folder / "sixty.xlsx", 1, max(size.rows // 14, 2), 59)
        wide = workbook(folder / "wide.xlsx", 1, max(size.rows // 35, 2), 200)
        figures = {
            "practices": seconds(practices, *HIDE),
            "practices, nothing compiled": seconds(practices, *HIDE, compiled=False),
            "practices, nhs to base 10": seconds(practices, "--recipe", "nhs", "-P", "base=10"),
            "practices, ods": seconds(document, *HIDE),
            "practices, csv": seconds(text, *HIDE),
            "a seventh of the practices": seconds(few, *HIDE),
            "seven times the practices": seconds(more, *HIDE),
            "12 columns, nothing compiled": seconds(twelve, *HIDE, compiled=False),
            "60 columns, nothing compiled": seconds(sixty, *HIDE, compiled=False),
            "200 columns": seconds(wide, *HIDE),
            "fifty sheets": seconds(many, *HIDE),
        }
    for name, taken in figures.items():
        goal = GOALS.get(name)
        said = "no goal" if goal is None else f"goal {goal:.0f} s, {'met' if taken < goal else 'missed'}"
        print(f"{name:30} {taken:6.1f} s  {said}")


if __name__ == "__main__":
    main()
