"""A digest of what the package computes: did a change that was to change nothing change something?

    python benchmarks/digest.py [FOLDER] --write before.json       # before the change
    python benchmarks/digest.py [FOLDER] --compare before.json     # after it; ends with 1 if anything differs
    python benchmarks/digest.py --only suppress audit --texts DIRECTORY

Every case is one SHA-256: patterns, intervals, risks to the last digit, files byte by byte. Without ``--write`` or
``--compare`` the digest is printed. ``--only`` takes the beginnings of names; ``--texts`` also writes what was hashed,
a file a case, so that two runs can be laid side by side. Only public names are used, so that the same script runs
before and after modules move. FOLDER may hold ``csp`` (.jj), ``gauss`` (recorded calls, ``scale``) and ``tau-argus``,
which are digested, too. Nothing here stops by the clock: the exact method is given what it proves in seconds.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import discreet as dc
from digest_cases import GROUPS, Case
from digest_tables import jj, judged, protected
from discreet.formats.jj import read_jj

BARE: dict[str, dict[str, Any]] = {"none": {"singletons": "none", "repair": "off"}, "sums": {"repair": "off"}}
LONG = 5.0  # seconds of a case that are told


# -- what a value is, in one text --------------------------------------------------------------------------------


def plain(x: Any) -> Any:
    """A value as JSON can hold it: floats to the last digit, without times and without this version's number."""
    if x is None or isinstance(x, bool | int):
        return x
    if isinstance(x, float):
        return x + 0.0  # no zero below zero
    if isinstance(x, str | Path | Enum):
        return str(x.value if isinstance(x, Enum) else x).replace(dc.__version__, "VERSION")
    if isinstance(x, bytes):
        return _of_bytes(x)
    if isinstance(x, np.generic):
        return plain(x.item())
    if isinstance(x, np.ndarray):
        return {"shape": list(x.shape), "values": [plain(v) for v in x.ravel().tolist()]}
    if isinstance(x, pd.DataFrame):
        return {"index": plain(list(x.index)), "columns": {str(c): plain(x[c].to_numpy()) for c in x}}
    if hasattr(x, "tocsr"):
        rows = x.tocsr().sorted_indices()
        return [plain(part) for part in (rows.shape, rows.indptr, rows.indices, rows.data)]
    if isinstance(x, Mapping):
        return {str(k): plain(x[k]) for k in sorted(x, key=str) if "seconds" not in str(k)}
    if isinstance(x, Sequence | set | frozenset):
        return [plain(v) for v in (sorted(x, key=str) if isinstance(x, set | frozenset) else x)]
    if hasattr(x, "to_dict"):
        return plain(x.to_dict())
    if is_dataclass(x):
        return {f.name: plain(getattr(x, f.name)) for f in fields(x)}
    raise TypeError(f"a case holds a {type(x).__name__}, which has no place in a digest")


def _of_bytes(data: bytes) -> str:
    try:
        return str(plain(data.decode()))
    except UnicodeDecodeError:
        return hashlib.sha256(data).hexdigest()


def texts(cases: Iterator[Case]) -> Iterator[tuple[str, str]]:
    """Name and text of every case; a refusal is a value as well."""
    for name, made in cases:
        began = time.perf_counter()
        try:
            value = made()
        except dc.DiscreetError as error:
            value = {"refused": f"{type(error).__name__}: {error}"}
        except Exception as error:  # noqa: BLE001 - one broken case must not hide the others
            value = {"broken": type(error).__name__}
            print(f"{name} is broken: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        if (took := time.perf_counter() - began) > LONG:
            print(f"{took:6.0f} s for {name}", file=sys.stderr, flush=True)
        several = value if isinstance(value, dict) else {"": value}
        for part, one in several.items():
            yield f"{name}#{part}" if part else name, json.dumps(plain(one), indent=1)


# -- recorded instances --------------------------------------------------------------------------------------------


def recorded(folder: Path) -> Iterator[Case]:
    """What is found in a folder of recorded instances; they are read by the scripts beside this one."""
    for path in sorted((folder / "csp").glob("*.jj"), key=lambda p: p.stat().st_size):
        if path.stat().st_size < 200_000:
            for method in ("gauss", "clean-up") if path.stat().st_size < 60_000 else ("gauss",):
                yield f"csp/{path.stem}/{method}", partial(_jj, path, method, "value")
        if path.stem in ("targus", "table8"):
            for weights in ("value", "unity"):
                yield f"csp/{path.stem}/optimal {weights}", partial(_jj, path, "optimal", weights)
    if (folder / "gauss").is_dir():
        import agreement

        for path in sorted(p for p in (folder / "gauss").iterdir() if (p / "call.R").exists()):
            if path.name not in agreement.OTHER_TASK:
                yield f"gauss/{path.name}", partial(_repeated, agreement.Case, path)
    yield from _scale(folder / "gauss" / "scale")
    if (folder / "tau-argus").is_dir():
        import argus

        for name, (make, _) in argus.CASES.items():
            yield f"argus/{name}", partial(_argus, make, folder / "tau-argus")


def _jj(path: Path, method: str, weights: str) -> dict[str, Any]:
    return jj(read_jj(path), method, weights)


def _repeated(read: Callable[[Path], Any], path: Path) -> dict[str, Any]:
    case = read(path)
    table, at = case.table()
    return protected(table, case.method(table, at))


def _scale(folder: Path) -> Iterator[Case]:
    """Tables of a thousand to fifty thousand cells."""
    import suppress as script

    for name in ("s1k_3way", "s10k_3way", "s50k_3way"):
        if (folder / name).is_dir():
            table = script.read(folder / name)
            for label, options in (BARE | {"plain": {}}).items():
                if label != "plain" or name != "s50k_3way":
                    method = dc.Suppress(dc.Threshold(4), **options)
                    yield f"scale/{name}/{label}", partial(protected, table, method)
            if name == "s1k_3way":
                yield f"scale/{name}/audit", partial(judged, table, dc.Suppress(dc.Threshold(4), repair="off"))


def _argus(read: Callable[[Path], Any], folder: Path) -> dict[str, Any]:
    made = read(folder)
    return protected(made.table, dc.Suppress(made.rule)) | {"primary": made.rule(made.table)}


# -- the digest ----------------------------------------------------------------------------------------------------


def digest(cases: Iterator[Case], only: Sequence[str], into: Path | None) -> dict[str, str]:
    """The SHA-256 of every case; progress is told on the way."""
    found: dict[str, str] = {}
    began, room = time.perf_counter(), ""
    wanted = (case for case in cases if not only or case[0].startswith(tuple(only)))
    for name, text in texts(wanted):
        if name in found:
            raise KeyError(f"two cases are called {name!r}")
        found[name] = hashlib.sha256(text.encode()).hexdigest()
        if into is not None:
            into.mkdir(parents=True, exist_ok=True)
            (into / f"{name.replace('/', '~')[:200]}.json").write_text(text)
        if (now := name.partition("/")[0]) != room:
            room = now
            print(f"{time.perf_counter() - began:6.0f} s  {room} ...", file=sys.stderr, flush=True)
    print(f"{time.perf_counter() - began:6.0f} s  {len(found):,} values", file=sys.stderr)
    return found


def compared(before: dict[str, str], after: dict[str, str], only: Sequence[str]) -> bool:
    """Says of each case what became of it, those that are the same in one line; whether none differs or is missing."""
    before = {k: v for k, v in before.items() if not only or k.startswith(tuple(only))}
    words: dict[str, list[str]] = {"same": [], "different": [], "new": [], "missing": []}
    for name in sorted(before | after):
        word = "new" if name not in before else "missing" if name not in after else "different"
        words["same" if before.get(name) == after.get(name) else word].append(name)
    for word in ("different", "new", "missing"):
        for name in words[word]:
            print(f"{word:10} {name}")
    print(", ".join(f"{len(names):,} {word}" for word, names in words.items()))
    return not words["different"] and not words["missing"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="recorded instances")
    parser.add_argument("--write", type=Path, metavar="FILE")
    parser.add_argument("--compare", type=Path, metavar="FILE")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--texts", type=Path, metavar="DIRECTORY")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    cases = (case for group in GROUPS for case in group())
    more = recorded(given.folder) if given.folder else iter(())
    found = digest((case for part in (cases, more) for case in part), given.only, given.texts)
    if given.write:
        given.write.write_text(json.dumps(found, indent=1) + "\n")
    if given.compare:
        sys.exit(0 if compared(json.loads(given.compare.read_text()), found, given.only) else 1)
    if not given.write:
        print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
