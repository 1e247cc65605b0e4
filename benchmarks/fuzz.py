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

SECONDS = 20  # for one file of a few lines, on a machine that has other work
SIGN = 918273  # a number that stands in the data and in no message

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


# -- damage -------------------------------------------------------------------------------------------------------

WORDS = [
    b"", b"0", b"-1", b"1e400", b"-1e400", b"nan", b"inf", b"99999999999999999999", b"1" + b"0" * 400, b"0.1", b"1,5",
    b"true", b"null", b"None", b"Total", b"status", b"count", b"mark", b"c", b"u", b"z", b";", b",", b"\t", b"|", b'"',
    b"'", b"\\", b"[", b"]", b"{", b"}", b"[[", b"]]", b"=", b"#", b"@", b"<", b">", b"<SEPARATOR>", b"<RECODEABLE>",
    b"\r\r\n", b"\n\n", b"\r", b"\x00", b"\x1a", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xc3\xa9", b"\xe9",
    "\u2028".encode(), "١".encode(), "−1".encode(), b"area", b"sex", b"T", b"..", b"/", b"=1+1", b"%s", b"(", b")",
]  # fmt: skip


def damaged(data: bytes, chance: random.Random) -> bytes:
    """The bytes with one to four things done to them."""
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 4))):
        data = chance.choice(WAYS)(data, chance)
    return data


def _place(data: bytes, chance: random.Random) -> tuple[int, int]:
    start = chance.randrange(len(data) + 1)
    return start, min(start + chance.choice((1, 1, 2, 3, 5, 8, 13, 30)), len(data))


def _flip(data: bytes, chance: random.Random) -> bytes:
    start, _ = _place(data, chance)
    return data[:start] + bytes([chance.randrange(256)]) + data[start + 1 :]


def _cut(data: bytes, chance: random.Random) -> bytes:
    start, end = _place(data, chance)
    return data[:start] + data[end:]


def _end(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _insert(data: bytes, chance: random.Random) -> bytes:
    start, _ = _place(data, chance)
    return data[:start] + chance.choice(WORDS) + data[start:]


def _word(data: bytes, chance: random.Random) -> bytes:
    """Another word in the place of one, which leaves the file's form whole."""
    found = list(re.finditer(rb"[\w.+-]+", data))
    if not found:
        return data
    at = chance.choice(found)
    plain = [word.group() for word in found if str(SIGN).encode() not in word.group()]  # as a code it may be named
    other = chance.choice(plain) if plain and chance.random() < 0.3 else chance.choice(WORDS)
    return data[: at.start()] + other + data[at.end() :]


def _lines(data: bytes, chance: random.Random) -> bytes:
    """A line doubled, left out, or moved."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    line = lines.pop(chance.randrange(len(lines)))
    for _ in range(chance.randrange(3)):
        lines.insert(chance.randrange(len(lines) + 1), line)
    return b"".join(lines)


def _ends(data: bytes, chance: random.Random) -> bytes:
    return data.replace(b"\n", chance.choice((b"\r\n", b"\r", b"\r\r\n", b"\n\n", b"")))


def _repeat(data: bytes, chance: random.Random) -> bytes:
    start, end = _place(data, chance)
    return data[:start] + data[start:end] * chance.choice((2, 3, 50)) + data[end:]


def _encode(data: bytes, chance: random.Random) -> bytes:
    text = data.decode("latin-1")
    return text.encode(chance.choice(("utf-16", "utf-8-sig", "utf-32", "utf-16-le")))


WAYS = (_flip, _cut, _end, _insert, _insert, _word, _word, _word, _word, _lines, _lines, _ends, _repeat, _encode)


# -- files that are right ------------------------------------------------------------------------------------------

RECORDS = b"id,area,sex,pay\n" + b"".join(
    b"p%d,%s,%s,%d\n" % (k, b"NSEW"[k % 4 : k % 4 + 1], b"fm"[k % 2 : k % 2 + 1], SIGN + k) for k in range(24)
)
CODEBOOK = b"""title = "People"
unit = "id"
[[dimension]]
name = "area"
codes = ["N", "S", "E", "W"]
total = "All"
labels = { N = "North" }
[[dimension]]
name = "sex"
codes = ["f", "m"]
[[magnitude]]
name = "pay"
decimals = 0
"""
HRC = b"A\n@N\n@S\nB\n@E\n@W\n"
TREE = b"code,parent,label\nN,A,North\nS,A,\nE,B,\nW,B,\nA,all,\nB,all,\nall,,\n"
POLICY = b"""title = "Ours"
notes = ["a note"]
[query]
max_dimensions = 2
max_cells = 100
forbidden = [["area", "sex"]]
[table]
min_population = 5
[risk]
t1 = 0.05
t2 = 0.9
weights = [0.1, 0.8, 0.1]
[guard]
action = "warn"
[[rule]]
rule = "threshold"
n = 3
[[method]]
name = "suppress"
"""
PROGRAMME = b"""[programme]
name = "A year"
data = "people.csv"
codebook = "people.toml"
output = "out"
[defaults]
method = "suppress"
rule = "threshold(n=3)"
[[table]]
name = "a"
by = ["area", "sex"]
[[table]]
name = "sex-in-{area}"
by = ["sex"]
for_each = { area = "area" }
"""
CELLS = b"area,sex,count\nN,f,918273\nN,m,2\nS,f,918274\nS,m,7\nW,f,1\nW,m,918275\n"
RELEASE = b"""area,sex,count,status
Total,Total,9182739,
Total,f,9182734,
Total,m,5,
N,Total,9182733,
N,f,,c
N,m,,c
S,Total,6,
S,f,,c
S,m,,c
"""
MARKS = b"area,sex,mark\nN,f,s\nS,,u\nW,m,z\n"
LEVELS = b"area,sex,below,above\nN,f,918273,3\nS,m,1,918273\nW,f,,\n"
PTABLE = dc.PTable.design(2, 1.0).write()
JJ = b"""0
9
0 20 20 s 0 40 0 0 0
1 11 11 s 0 22 0 0 0
2 9 9 s 0 18 0 0 0
3 10 10 s 0 20 0 0 0
4 5 5 u 0 20 2 2 0
5 5 5 x 0 20 0 0 0
6 10 10 s 0 20 0 0 0
7 6 6 x 0 20 0 0 0
8 4 4 x 0 20 0 0 0
6
0 3 : 0 (-1) 1 (1) 2 (1)
0 3 : 3 (-1) 4 (1) 5 (1)
0 3 : 6 (-1) 7 (1) 8 (1)
0 3 : 0 (-1) 3 (1) 6 (1)
0 3 : 1 (-1) 4 (1) 7 (1)
0 3 : 2 (-1) 5 (1) 8 (1)
"""
FIXED = b"""Branch 1 3 "999"
  <RECODEABLE>
  <HIERARCHICAL>
  <HIERLEVELS> 1 2 0 0
  <DISTANCE> 1 2 3
Area 4 2 99
  <RECODABLE>
  <TOTCODE> "All"
  <CODELIST> "area.cdl"
  <HIERARCHICAL>
  <HIERCODELIST> "area.hrc"
  <HIERLEADSTRING> "@"
Firm 6 2
  <HOLDING>
Weight 8 4
  <WEIGHT>
  <DECIMALS> 1
Pay 12 7 9999999
  <NUMERIC>
  <DECIMALS> 2
Ask 19 1
  <REQUEST> "1" "2"
"""
FIXED_RECORDS = b"""A01 1 1 2.0 918273
A01 2 1 1.0  4.251
A02 1 2 1.5 918273
B0399 3 1.0     70
B03 3 4 1.0     82
"""
TAB_RDA = b"""  <SEPARATOR> ";"
  <SAFE> "OK"
Sex "9"
  <RECODEABLE>
  <TOTCODE> "T"
Area
  <RECODEABLE>
Pay
  <NUMERIC>
  <DECIMALS> 1
Freq
  <FREQUENCY>
Top1
  <MAXSCORE>
State
  <STATUS>
Low
  <NUMERIC> <LOWERPL>
High
  <NUMERIC> <UPPERPL>
"""
TAB = b""""T";"Total";12,5;4;5,0;OK;0;0
"T";"a";9,0;2;5,0;S;0;0
"T";"b";3,5;2;3,0;OK;0;0
"f";"Total";8,5;3;5,0;P;0;0
"f";"a";5,0;1;5,0;U;1,5;2
"f";"b";3,5;2;3,0;M;0;0
"m";"Total";4,0;1;4,0;S;0;0
"m";"a";4,0;1;4,0;U;0;0
"m";"b";0,0;0;0;E;0;0
"""
HST = b"N;f;u\nS;m;s\nTotal;Total;p\nW;f;c;10\nN;m;pl;918273;3\nS;f;ab;0;999999\n"
RULE = b"(few_contributors(n=3) | p_percent(p=10)) & threshold(n=20) | dominance(n=1, k=75)"
RULE_TOML = b'any = [{rule = "threshold", n = 3}, {rule = "pq", p = 10, q = 50}]\n'
QUERY = b'{"variables": {"area": "area"}, "where": {"sex": ["f"]}, "measure": "count"}'
RECORD = b"""{"data": "", "digest": "0", "outcome": "released", "policy": "x", "query": {"variables": ["sex"]},
"rule": "", "when": "2026-01-01T00:00:00+00:00", "who": "ada"}""".replace(b"\n", b" ")


def _parquet() -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    made = {"area": list("NSEW") * 5, "sex": list("fm") * 10, "count": [SIGN + k for k in range(20)]}
    pq.write_table(pa.table(made), out)
    return out.getvalue()


def _small() -> dc.Table:
    dims = [dc.Dimension.flat("area", ["N", "S", "W"]), dc.Dimension.flat("sex", ["f", "m"])]
    return dc.Table.of([[SIGN, 2], [SIGN + 1, 7], [1, SIGN + 2]], dims)


def _firms() -> dc.Table:
    columns = {"area": ["N", "S", "W"] * 4, "sex": ["f", "m"] * 6, "pay": [SIGN + k for k in range(12)]}
    import pandas as pd

    data = dc.Microdata.of(pd.DataFrame(columns), dimensions=["area", "sex"], magnitudes=["pay"])
    return dc.tabulate(data, by=["area", "sex"], value="pay")


SMALL, PAY = _small(), _firms()


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
    "Parquet": Target({"p.parquet": _parquet()}, lambda f: _tabulated(f, "p.parquet"), share=4),
    "cells": Target({"t.csv": CELLS}, _command("tabulate", "t.csv", "--ready", "--by", "area,sex"), share=20),
    "cells in Parquet": Target({"t.parquet": _parquet()}, _command("tabulate", "t.parquet", "--ready"), share=20),
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
