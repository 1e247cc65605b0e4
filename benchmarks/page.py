"""Runs the benchmarks, records what they print, and writes their page from the records: ratios, tables and figures.

    python benchmarks/page.py [NAME ...] [--give NAME=ARGUMENTS ...] [--output docs/benchmarks.md]
    python benchmarks/page.py --speed [--give csp=FOLDER ...] [--tiny]
    python benchmarks/page.py --security [--tiny]
    python benchmarks/page.py --draw

Without names every script beside this one is run, but for the digest; with names only those, and the records of the
others stay. Records are in ``results.json``, with date and machine; ``--draw`` runs nothing and writes page and figures
from them. What a script printed also takes the place of what stands between ``<!-- NAME: begin -->`` and ``<!--
NAME: end -->`` in any page beside the output. ``--speed`` runs what is timed against a goal, which takes about 25
minutes on two cores that do nothing else: what `make bench` does unless told otherwise. ``--security`` runs what
docs/security.md and docs/server.md have, at sizes that take about half an hour on two cores; ``--tiny`` tries the same
in a few minutes and writes no page. ``--give agreement=FOLDER`` hands a script its arguments; one whose docstring asks
for a FOLDER is left out otherwise.
"""

from __future__ import annotations

import argparse
import ast
import datetime
import json
import os
import platform
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # also when it is loaded from elsewhere
from figures import drawn, markdown, tables

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "benchmarks.md"
ASIDE = ("page", "digest")  # this one, and one whose output is compared with that of an earlier run, not read
PACKAGES = ("numpy", "scipy", "numba", "duckdb", "pandas", "highspy")
RATIO = re.compile(r"\bratio\b.*\d|\d.*\bratio\b|\b\w+ by (ours|one|hand)|1 : \d|times as fast", re.I)
SECURITY = {  # scripts whose figures docs/security.md and docs/server.md have: sizes for the pages, and for a trial
    "attacks": ("", "3000"),
    "defences": ("", "-n 3000"),
    "demo_attack": ("", "3000 --most 1"),
    "closure": ("100000", "3000 --most 1 --targets 2"),
    "docs_policies": ("30000", "2000"),
    "interactions": ("", "2000 --most 1"),
    "editions": ("100000", "2000 --changed 1 10 --trials 1"),
    "query_search": ("60000 --targets 30", "2000 --targets 3"),
    "guard": ("", "--people 3000 --sessions 20"),
    "cache_timing": ("", "--tables 20 --rounds 1"),
    "server": ("", "--people 3000"),
}
WHOLE_CALLS = (  # one of each kind and what growth needs; the others take an hour
    "'two-way 20k' 'three-way 11k' 'skewed 20k' 'sparse 11k' 'sparse 22k' 'groups 11k' 'groups 50k' 'groups 100k' "
    "'four-way groups 12k' 'four-way groups 50k' 'four-way 11k' 'five-way 13k' 'amounts 2k' 'amounts four-way 3k'"
)
SPEED = {  # what is timed against a goal: sizes for the page, and for a trial
    "suppress": ("--most 400000", "--most 2000"),
    "whole_call": (WHOLE_CALLS, "'amounts 2k'"),
    "audit": ("", ""),
    "first_call": ("--rounds 2", "--rounds 1"),
    "cores": ("--cells 3000 --rounds 2", "--cells 500 --rounds 1"),
    "csp": ("", "--time 2 --quick"),
    "sheets": ("", "--rows 300 --sheets 2"),
    "server": ("", "--people 3000"),
    "measures": ("1500000 12", "3000 20"),
    "pages": ("", "--people 3000 --visits 1"),
}
DEFINING = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)


@dataclass(frozen=True)
class Result:
    """What a script is about, how, when and where it was run, and what it printed."""

    name: str
    about: str
    how: str
    printed: str
    date: str = ""
    machine: str = ""


def machine() -> list[str]:
    """The processor, its cores, the memory and the versions that the figures belong to."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    system = f"{platform.system()} {platform.release().split('-')[0]}"
    found = [processor(), f"{cores} cores", memory(), system, f"Python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return found


def processor() -> str:
    """The name that the maker gives it."""
    cpu = Path("/proc/cpuinfo")
    named = re.search(r"^model name\s*:\s*(.+)$", cpu.read_text(), re.M) if cpu.exists() else None
    return named[1] if named else platform.processor() or platform.machine()


def memory() -> str:
    """All of it, in GB."""
    names = os.sysconf_names
    if not {"SC_PAGE_SIZE", "SC_PHYS_PAGES"} <= names.keys():
        return "memory not known"
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 1e9:.1f} GB"


def run(script: Path, arguments: str, where: str) -> Result | None:
    """One script in a process of its own; None if it fails."""
    print(f"== {script.name} {'(with arguments)' if arguments else ''}", flush=True)
    began = time.perf_counter()
    command = [sys.executable, str(script), *shlex.split(arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    print(done.stdout, flush=True)
    if done.returncode:
        return None
    words = " ".join("FOLDER" if os.sep in word else word for word in shlex.split(arguments))
    seconds = time.perf_counter() - began
    cores = ", ".join(where.split(", ")[:2])
    how = f"`python benchmarks/{script.name}{' ' + words if words else ''}`: {seconds:,.0f} s on {cores}"
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return Result(script.stem, about(script), how, done.stdout.strip("\n"), today, where)


def about(script: Path) -> str:
    """The first sentence or two of a script's docstring, in one line."""
    text = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split())


def needs_folder(script: Path) -> bool:
    """Whether the docstring shows it with a FOLDER that is not in brackets."""
    text = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or ""
    return re.search(rf"{re.escape(script.name)} FOLDER\b", text) is not None


def runs(script: Path) -> bool:
    """Whether it does something by itself; others are there to be imported."""
    body = ast.parse(script.read_text(encoding="utf-8")).body
    return any(not isinstance(node, DEFINING) for node in body[1:])  # the first is the docstring


def put(folder: Path, one: Result) -> list[str]:
    """Write what a script printed between its marks, in every page below a folder that has them; gives their names."""
    begin, end = f"<!-- {one.name}: begin -->", f"<!-- {one.name}: end -->"
    table = one.printed if is_table(one.printed) else f"```text\n{one.printed}\n```"
    changed = []
    for page in sorted(folder.rglob("*.md")):
        head, found, rest = page.read_text(encoding="utf-8").partition(begin)
        if not found:
            continue
        _, closed, tail = rest.partition(end)
        if not closed:
            sys.exit(f"{page.name} has {begin} and no {end}")
        page.write_text(f"{head}{begin}\n\n{one.how}.\n\n{table}\n\n{end}{tail}", encoding="utf-8")
        changed.append(page.name)
    return changed


def recorded(path: Path) -> dict[str, Result]:
    """What earlier runs printed, by the names of the scripts."""
    return {one["name"]: Result(**one) for one in json.loads(path.read_text(encoding="utf-8"))} if path.exists() else {}


def written(results: Sequence[Result]) -> str:
    """The page: ratios first, then of each script its tables, its figure and what it printed."""
    words = "Written by `make bench` from recorded runs. Compare ratios within a run, not seconds between machines."
    lines = ["# Benchmarks", "", words, "", "## Ratios", "", "| benchmark | what it printed |", "|---|---|"]
    for one in results:
        found = [" ".join(line.split()) for line in one.printed.splitlines() if RATIO.search(line)]
        lines += [f"| [{one.name}](#{one.name}py) | {line} |" for line in found]
    lines += ["", "## Machines", "", "| machine | benchmarks |", "|---|---|"]
    for machine in sorted({one.machine for one in results}):
        lines.append(f"| {machine} | {', '.join(f'{o.name} ({o.date})' for o in results if o.machine == machine)} |")
    for one in results:
        lines += ["", *section(one)]
    return "\n".join(lines) + "\n"


def is_table(printed: str) -> bool:
    """Whether a script printed a table of Markdown, with few lines beside it; anything else is shown as it is."""
    lines = [line for line in printed.splitlines() if line]
    return "\n|---" in printed and 2 * sum(line.startswith("|") for line in lines) > len(lines)


def section(one: Result) -> list[str]:
    """What the page says of one script."""
    lines = [f"## {one.name}.py", "", one.about, "", f"{one.how}, {one.date}."]
    as_printed = is_table(one.printed)
    for title, rows in [] if as_printed else tables(one.name, one.printed):
        lines += ["", f"**{title[:1].upper()}{title[1:]}**", "", *markdown(rows)]
    if drawn(one.name, one.printed) is not None:
        lines += ["", f"![{one.about.rstrip('.')}](pictures/bench-{one.name}.png)"]
    if as_printed:
        return [*lines, "", one.printed]
    whole = ['<details markdown="1"><summary>everything that was printed</summary>', "", "```text", one.printed, "```"]
    return [*lines, "", *whole, "", "</details>"]


def draw(results: Sequence[Result], page: Path) -> None:
    """The page, and the figures in the folder of pictures beside it."""
    import discreet as dc

    page.write_text(written(results), encoding="utf-8")
    for one in results:
        if (ax := drawn(one.name, one.printed)) is not None:
            page.parent.joinpath("pictures").mkdir(exist_ok=True)
            (page.parent / "pictures" / f"bench-{one.name}.png").write_bytes(dc.plot.png(ax, dpi=80))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--give", action="append", default=[], metavar="NAME=ARGUMENTS")
    parser.add_argument("--output", type=Path, default=PAGE)
    parser.add_argument("--folder", type=Path, default=HERE, help="where the scripts are")
    parser.add_argument("--speed", action="store_true", help="what is timed against a goal")
    parser.add_argument("--security", action="store_true", help="what docs/security.md and docs/server.md have")
    parser.add_argument("--tiny", action="store_true", help="with these two: a trial, and no page is written")
    parser.add_argument("--results", type=Path, help="where records of runs are kept; beside the scripts")
    parser.add_argument("--draw", action="store_true", help="run nothing: write page and figures from the records")
    given = parser.parse_args()
    given.results = given.results or given.folder / "results.json"
    if given.draw:
        draw(list(recorded(given.results).values()), given.output)
        return
    chosen = (SPEED if given.speed else {}) | (SECURITY if given.security else {})
    if given.tiny and not chosen:
        parser.error("--tiny goes with --speed or --security")
    found = [path for path in sorted(given.folder.glob("*.py")) if path.stem not in ASIDE]
    scripts = {path.stem: path for path in found if runs(path)}
    arguments = {name: sizes[given.tiny] for name, sizes in chosen.items()}
    arguments |= dict(one.split("=", 1) for one in given.give)
    names = given.names or list(chosen or scripts)
    for name in [*given.names, *arguments]:
        if name not in scripts:
            parser.error(f"no script {name!r}; there are {', '.join(scripts)}")
    now = machine()
    where = ", ".join(now)
    results, failed = recorded(given.results), []
    for name in names:
        if name not in arguments and needs_folder(scripts[name]):
            print(f"== {name}.py left out: it needs a folder (--give {name}=FOLDER)", flush=True)
            continue
        made = run(scripts[name], arguments.get(name, ""), where)
        if made is None:
            failed.append(name)
        else:
            results[name] = made
            for page in [] if given.tiny else put(given.output.parent, made):
                print(f"wrote its figures into {page}", flush=True)
    if given.tiny:
        sys.exit(f"failed: {', '.join(failed)}" if failed else None)
    kept = [results[name] for name in scripts if name in results]
    given.results.write_text(json.dumps([asdict(one) for one in kept], indent=1, ensure_ascii=False) + "\n")
    draw(kept, given.output)
    print(f"wrote {given.output.name}")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
