"""Damaged files of every kind that is read, given to the readers and the command line: faults should be 0.

A fault is anything that is no error of discreet's own kind and no clean exit code, a message that repeats a number of
the data, or work without end on a file of a few lines. Every run can be repeated: it has a number and a seed.

Run: python benchmarks/fuzz.py [--runs N] [--seed S] [--only TARGET]
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import re
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import discreet as dc
from discreet import cli
from discreet.formats import argus, jj
from discreet.rules import from_toml, parse
from fuzz_damage import SIGN, damaged
from fuzz_files import (
    CELLS,
    CODEBOOK,
    FIXED,
    FIXED_RECORDS,
    HRC,
    HST,
    JJ,
    LEVELS,
    MARKS,
    PAY,
    POLICY,
    PROGRAMME,
    PTABLE,
    QUERY,
    RECORD,
    RECORDS,
    RELEASE,
    RULE,
    RULE_TOML,
    SMALL,
    TAB,
    TAB_RDA,
    TREE,
    parquet,
)

SECONDS = 20  # for one file of a few lines, on a machine that has other work

Folder = Path
Task = Callable[[Folder], Any]


@dataclass(frozen=True)
class Target:
    """Files that are right, and what is done with them; ``damage`` names those that are to be damaged."""

    files: Mapping[str, bytes]
    task: Task
    damage: tuple[str, ...] = ()
    share: int = 10
    """How often it is run, beside the others."""


class TooLong(BaseException):
    """Work that did not end: not an Exception, so that nothing on the way takes it for one of its own."""


# -- what is done with them ---------------------------------------------------------------------------------------


def _command(*words: str) -> Task:
    """A command line, run in this process; a fault comes out as the exception it is."""

    def task(folder: Path) -> None:
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), contextlib.chdir(folder):
            code = cli.run(words)
        said = err.buffer.getvalue().decode()
        if code not in (0, 1, 2, 3):
            raise AssertionError(f"exit code {code}: {said}")
        if code in (2, 3) and not said.strip():
            raise AssertionError(f"exit code {code} without a word")
        check_message(said)

    return task


def _tabulated(folder: Path, name: str = "people.csv") -> None:
    data = dc.Microdata.of(folder / name, dimensions=["area", "sex"])
    dc.tabulate(data, by=["area", "sex"])


def _with_book(folder: Path) -> None:
    data = dc.Microdata.read(folder / "people.csv", folder / "people.toml")
    dc.protect(dc.tabulate(data, by=["area", "sex"], value="pay"), dc.Suppress(dc.PPercent(10)))


def _marks(folder: Path) -> None:
    dc.protect(SMALL, dc.Suppress(dc.Threshold(3), marks=dc.read_marks(folder / "m.csv")))


def _levels(folder: Path) -> None:
    dc.protect(SMALL, dc.Suppress(dc.Threshold(3), levels=dc.read_levels(folder / "l.csv"), repair="levels"))


def _apriori(folder: Path) -> None:
    found = argus.read_apriori(folder / "a.hst", SMALL)
    dc.protect(SMALL, dc.Suppress(dc.Threshold(3), marks=found))


def _ptable(folder: Path) -> None:
    dc.protect(SMALL, dc.CellKey(ptable=folder / "p.csv", seed=1))


def _policy(folder: Path) -> None:
    dc.read_policy(folder / "policy.toml").check(SMALL.dimensions)


def _answered(folder: Path) -> None:
    dc.answer(SMALL, "sex", dc.read_policy(folder / "policy.toml"))


def _query(folder: Path) -> None:
    try:
        given = json.loads((folder / "q.json").read_bytes())
    except (ValueError, RecursionError):  # reading JSON is not ours here
        return
    dc.Query.from_dict(given).resolved(SMALL.dimensions)


def _text(folder: Path, name: str) -> str:
    return (folder / name).read_bytes().decode(errors="ignore")


PEOPLE = {"people.csv": RECORDS, "people.toml": CODEBOOK}
FIRMS = {
    "firms.rda": FIXED,
    "firms.asc": FIXED_RECORDS,
    "area.hrc": b"N\n@ 1\n@ 2\nS\n@ 3\n",
    "area.cdl": b" 1,One\r\n",
}
TABLE = {"t.rda": TAB_RDA, "t.tab": TAB}

TARGETS: dict[str, Target] = {
    "codebook": Target({"c.toml": CODEBOOK}, lambda f: dc.read_codebook(f / "c.toml"), share=40),
    "hrc": Target({"h.hrc": HRC}, lambda f: dc.Dimension.from_hrc(f / "h.hrc", name="area"), share=60),
    "hierarchy": Target({"h.csv": TREE}, lambda f: dc.Dimension.from_csv(f / "h.csv", name="area"), share=60),
    "policy": Target({"policy.toml": POLICY}, _policy, share=40),
    "answer": Target({"policy.toml": POLICY}, _answered, share=15),
    "programme": Target(
        {**PEOPLE, "y.toml": PROGRAMME}, lambda f: dc.publishing.read_programme(f / "y.toml"), ("y.toml",), share=30
    ),
    "marks": Target({"m.csv": MARKS}, _marks, share=40),
    "levels": Target({"l.csv": LEVELS}, _levels, share=20),
    "apriori": Target({"a.hst": HST}, _apriori, share=30),
    "ptable": Target({"p.csv": PTABLE}, _ptable, share=60),
    "jj": Target({"i.jj": JJ}, lambda f: jj.read_jj(f / "i.jj").audit(), share=30),
    "jj protect": Target({"i.jj": JJ}, lambda f: jj.read_jj(f / "i.jj").protect("gauss"), share=20),
    "rda": Target(FIRMS, lambda f: argus.read_microdata(f / "firms.asc", weighted=True), share=30),
    "tab": Target(TABLE, lambda f: argus.read_table(f / "t.tab"), share=60),
    "release": Target({"r.csv": RELEASE}, lambda f: dc.audit(dc.Release.read_csv(f / "r.csv")), share=30),
    "rule": Target({"r.txt": RULE}, lambda f: parse(_text(f, "r.txt"))(PAY), share=60),
    "rule in TOML": Target({"r.toml": RULE_TOML}, lambda f: from_toml(_text(f, "r.toml"))(PAY), share=60),
    "query": Target({"q.json": QUERY}, _query, share=40),
    "records": Target({"people.csv": RECORDS}, _tabulated, share=4),
    "records and codebook": Target(PEOPLE, _with_book, share=2),
    "Parquet": Target({"p.parquet": parquet()}, lambda f: _tabulated(f, "p.parquet"), share=4),
    "cells": Target({"t.csv": CELLS}, _command("tabulate", "t.csv", "--ready", "--by", "area,sex"), share=20),
    "cells in Parquet": Target({"t.parquet": parquet()}, _command("tabulate", "t.parquet", "--ready"), share=20),
    "risk": Target({"t.csv": CELLS}, _command("risk", "t.csv", "--ready"), share=5),
    "protect": Target(
        {"t.csv": CELLS, "m.csv": MARKS, "l.csv": LEVELS},
        _command("protect", "t.csv", "--ready", "--rule", "threshold(n=3)", "--marks", "m.csv", "--levels", "l.csv"),
        share=8,
    ),
    "protect by policy": Target(
        {**PEOPLE, "policy.toml": POLICY},
        _command("protect", "people.csv", "--by", "sex", "--codebook", "people.toml", "--policy", "policy.toml"),
        share=2,
    ),
    "audit": Target({"r.csv": RELEASE}, _command("audit", "r.csv"), share=8),
    "audit .jj": Target({"i.jj": JJ}, _command("audit", "i.jj"), share=8),
    "show": Target({"r.csv": RELEASE}, _command("show", "r.csv"), share=20),
    "tau-ARGUS": Target(TABLE, _command("tabulate", "t.tab", "--codebook", "t.rda", "--ready"), share=20),
    "tau-ARGUS records": Target(
        FIRMS, _command("tabulate", "firms.asc", "--codebook", "firms.rda", "--by", "Branch,Area"), share=2
    ),
    "policy check": Target(
        {"policy.toml": POLICY, "c.toml": CODEBOOK},
        _command("policy", "check", "policy.toml", "--codebook", "c.toml"),
        share=20,
    ),
    "programme check": Target({**PEOPLE, "y.toml": PROGRAMME}, _command("run", "y.toml", "--dry-run"), share=5),
    "replay": Target(
        {**PEOPLE, "policy.toml": POLICY, "r.jsonl": RECORD},
        _command("replay", "r.jsonl", "people.csv", "--codebook", "people.toml", "--policy", "policy.toml"),
        ("r.jsonl",),
        share=2,
    ),
}


# -- running ------------------------------------------------------------------------------------------------------


def check_message(text: str) -> None:
    """A message repeats no number of the data."""
    if re.search(rf"\b{SIGN}\b", text):
        raise AssertionError("a message repeats a number of the data")


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Stop what takes longer."""

    def stop(number: int, frame: Any) -> None:
        raise TooLong(f"not done in {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def whole(target: Target, folder: Path) -> None:
    """Do the work on files that are right."""
    for name, data in target.files.items():
        (folder / name).write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dc.DiscreetWarning)
        target.task(folder)


def attempt(target: Target, folder: Path, chance: random.Random) -> str | None:
    """Damage the files, do the work; what went wrong, if it was a fault. Files stay for a look."""
    for old in folder.iterdir():
        if old.is_file():
            old.unlink()
    names = target.damage or tuple(target.files)
    chosen = chance.choice(names)
    for name, data in target.files.items():
        (folder / name).write_bytes(damaged(data, chance) if name == chosen else data)
    try:
        with limited(SECONDS), warnings.catch_warnings():
            warnings.simplefilter("error")  # a warning of another's is a case that was not thought of
            warnings.simplefilter("ignore", dc.DiscreetWarning)
            target.task(folder)
    except dc.DiscreetError as error:
        try:
            check_message(str(error))
        except AssertionError as fault:
            return f"{fault}: {error}"
    except (Exception, TooLong) as error:  # noqa: BLE001 - whatever comes is what is looked for
        at = traceback.extract_tb(error.__traceback__)
        ours = [f"{Path(step.filename).name}:{step.lineno}" for step in at if "discreet" in step.filename]
        return f"{type(error).__name__} at {ours[-1] if ours else '?'}: {str(error)[:200]}"
    return None


def fuzz(runs: int, seed: int, only: str | None = None) -> Iterator[tuple[str, int, str | None, Path]]:
    """Target, number of the run, fault or None, and the folder with the files, for each run."""
    os.environ["DISCREET_TRACEBACK"] = "1"  # faults of the command line as they are
    names = list(TARGETS) if only is None else [only]
    shares = [TARGETS[name].share for name in names]
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        for name in names:  # what is compiled or imported at its first use is no work on a file
            whole(TARGETS[name], folder)
        for number in range(runs):
            chance = random.Random(f"{seed} {number}")
            name = chance.choices(names, shares)[0]
            yield name, number, attempt(TARGETS[name], folder, chance), folder


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--runs", type=int, default=100_000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--only", choices=TARGETS)
    arguments.add_argument("--keep", type=Path, help="A folder for the files of faults.")
    given = arguments.parse_args()
    began, done, faults = time.perf_counter(), Counter[str](), Counter[str]()
    for name, number, fault, folder in fuzz(given.runs, given.seed, given.only):
        done[name] += 1
        if done.total() % 10_000 == 0:
            print(f"{done.total():,} runs, {faults.total():,} faults", file=sys.stderr, flush=True)
        if fault is None:
            continue
        faults[name] += 1
        print(f"run {number} ({name}): {fault}", flush=True)
        if given.keep is not None:
            place = given.keep / str(number)
            place.mkdir(parents=True, exist_ok=True)
            for file in folder.iterdir():
                if file.is_file():
                    (place / file.name).write_bytes(file.read_bytes())
    for name, count in done.items():
        print(f"{name:22} {count:9,} runs {faults[name]:5,} faults")
    seconds = time.perf_counter() - began
    print(f"{done.total():,} runs, seed {given.seed}, {faults.total():,} faults, {seconds:,.0f} s")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
