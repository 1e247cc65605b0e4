"""Runs the benchmarks and writes their page: the machine, the ratios, then everything that was printed.

    python benchmarks/page.py [NAME ...] [--give NAME=ARGUMENTS ...] [--output docs/benchmarks.md]
    python benchmarks/page.py --security [--tiny]

Without names every script beside this one is run, but for the digest; with names only those, and what the page has of
the others stays. What a script printed also takes the place of what stands between ``<!-- NAME: begin -->`` and ``<!--
NAME: end -->`` in any page beside the output. ``--security`` runs what docs/security.md and docs/server.md have, at
sizes that take about half an hour on two cores; ``--tiny`` tries the same in a few minutes and writes no page.
``--give agreement=FOLDER`` hands a script its arguments; one whose docstring asks for a FOLDER is left out otherwise.
"""

from __future__ import annotations

import argparse
import ast
import os
import platform
import re
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

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
    "docs_policies": ("20000", "2000"),
    "editions": ("100000", "2000 --changed 1 10 --trials 1"),
    "query_search": ("60000 --targets 30", "2000 --targets 3"),
    "guard": ("", "--people 3000 --sessions 20"),
    "cache_timing": ("", "--tables 20 --rounds 1"),
    "server": ("", "--people 3000"),
}
DEFINING = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
SECTION = re.compile(r"^### (\S+)\.py\n\n(.*?)\n\n(`.*?`[^\n]*)\n\n```text\n(.*?)\n```$", re.M | re.S)


@dataclass(frozen=True)
class Result:
    """What a script is about, how it was run, and what it printed."""

    name: str
    about: str
    how: str
    printed: str


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
    how = f"`python benchmarks/{script.name}{' ' + words if words else ''}`: {seconds:,.0f} s on {where}"
    return Result(script.stem, about(script), how, done.stdout.strip("\n"))


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
    table = one.printed if "\n|---" in one.printed else f"```text\n{one.printed}\n```"
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


def kept(page: Path) -> dict[str, Result]:
    """What an earlier run wrote."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    return {name: Result(name, what, how, printed) for name, what, how, printed in SECTION.findall(text)}


def written(results: list[Result], now: list[str]) -> str:
    """The page."""
    words = "Written by `make bench`. Compare ratios within a run, not seconds between machines."
    lines = ["# Benchmarks", "", words, "", f"Machine: {', '.join(now)}.", "", "## Ratios", ""]
    for one in results:
        found = [" ".join(line.split()) for line in one.printed.splitlines() if RATIO.search(line)]
        lines += [f"- [{one.name}](#{one.name}py): `{line}`" for line in found]
    lines += ["", "## Everything that was printed", ""]
    for one in results:
        lines += [f"### {one.name}.py", "", one.about, "", one.how, "", "```text", one.printed, "```", ""]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--give", action="append", default=[], metavar="NAME=ARGUMENTS")
    parser.add_argument("--output", type=Path, default=PAGE)
    parser.add_argument("--folder", type=Path, default=HERE, help="where the scripts are")
    parser.add_argument("--security", action="store_true", help="what docs/security.md and docs/server.md have")
    parser.add_argument("--tiny", action="store_true", help="with --security: a trial, and no page is written")
    given = parser.parse_args()
    if given.tiny and not given.security:
        parser.error("--tiny goes with --security")
    found = [path for path in sorted(given.folder.glob("*.py")) if path.stem not in ASIDE]
    scripts = {path.stem: path for path in found if runs(path)}
    arguments = {name: sizes[given.tiny] for name, sizes in SECURITY.items()} if given.security else {}
    arguments |= dict(one.split("=", 1) for one in given.give)
    names = given.names or list(SECURITY if given.security else scripts)
    for name in [*given.names, *arguments]:
        if name not in scripts:
            parser.error(f"no script {name!r}; there are {', '.join(scripts)}")
    now = machine()
    where = ", ".join(now[:2])
    results, failed = kept(given.output), []
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
    given.output.write_text(written([results[n] for n in scripts if n in results], now), encoding="utf-8")
    print(f"wrote {given.output.name}")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
