"""From a unit of a programme to releases: the same steps, and so the same bytes, as `discreet protect`."""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import os
import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from discreet.base.annotations import Array
from discreet.base.files import write_whole
from discreet.data.dimension import Dimension
from discreet.data.microdata import Microdata
from discreet.errors import InputError, Refused
from discreet.formats import to_bytes
from discreet.methods.by_hand import as_counted
from discreet.methods.contract import protect
from discreet.methods.effect import check_hides
from discreet.policy import answer, read_policy
from discreet.publishing.checking import query_of, unit_names
from discreet.publishing.compare.published_table import Shown
from discreet.publishing.linked_in_turn import protect_in_turn
from discreet.publishing.parsing import file_name
from discreet.publishing.spec import Entry, How, Source, Unit
from discreet.release import Protected, Release
from discreet.tables.table import Table
from discreet.tables.tabulation import tabulate


@dataclasses.dataclass(frozen=True, kw_only=True)
class FinishedTable:
    """What is remembered of a finished table: its files by a keyed digest, and facts that the release itself tells."""

    name: str
    files: dict[str, str]
    shown: str
    cells: int
    hidden: int
    measures: tuple[str, ...]
    method: str
    seconds: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class UnitOutcome:
    """What became of a unit: its tables, or why there are none."""

    unit: str
    tables: tuple[FinishedTable, ...] = ()
    refused: tuple[str, str, str] | None = None
    failed: str | None = None
    message: str = ""
    """The whole message, for whoever runs the programme; the report may say less."""


def perform(unit: Unit, source: Source, private: Path, salt: bytes) -> UnitOutcome:
    """Protect the tables of a unit and write them where they wait for the check; what goes wrong is an outcome too."""
    try:
        return UnitOutcome(unit=unit.name, tables=_performed(unit, source, private, salt))
    except Refused as refused:
        return UnitOutcome(unit=unit.name, refused=_outward(unit, refused), message=str(refused))
    except InputError as error:
        return UnitOutcome(unit=unit.name, failed=str(error), message=str(error))
    except Exception as error:  # its message could hold a value, and the other tables have no part in it
        if os.environ.get("DISCREET_TRACEBACK"):
            raise
        said = f"a fault ({type(error).__name__}); its message may hold data, so it is withheld"
        return UnitOutcome(unit=unit.name, failed=said, message=f"{said}. DISCREET_TRACEBACK=1 shows it")


def _performed(unit: Unit, source: Source, private: Path, salt: bytes) -> tuple[FinishedTable, ...]:
    began = time.perf_counter()
    data = open_records(source)
    ready = []
    together = unit.linked and unit.approach == "together"  # then the method answers for all tables at once
    for entry, release in zip(unit.entries, unit_releases(unit, data), strict=True):
        shown = Shown.of(
            release,
            data.codebook,
            entry.population,
            name=entry.name,
            source=unit.source,
            unit=f"linked {unit.name}" if together else f"table {entry.name}",
            filtered=unit.how.policy is not None,
        )
        ready.append((entry, release, {f: to_bytes(release, f) for f in entry.formats}, shown))
    seconds = (time.perf_counter() - began) / len(ready)
    return tuple(_written(*one, private, salt, seconds) for one in ready)


def _outward(unit: Unit, refused: Refused) -> tuple[str, str, str]:
    """A policy's refusal tells nothing that its answers do not; a method's may name sensitive cells."""
    if unit.how.policy is not None:
        return refused.rule, refused.reason, refused.hint
    return refused.rule, "sensitive cells of the table cannot be protected by this method", ""


def _written(
    entry: Entry, release: Release, data: dict[str, bytes], kept: Shown, private: Path, salt: bytes, seconds: float
) -> FinishedTable:
    files = {}
    for format, content in data.items():
        name = file_name(entry.name, format)
        write_whole(private / "waiting" / name, content, private=True)
        files[name] = digest(salt, content)
    shown = kept.to_bytes()
    write_whole(private / "shown" / f"{entry.name}.npz", shown, private=True)
    return FinishedTable(
        name=entry.name,
        files=files,
        shown=digest(salt, shown),
        cells=len(release),
        hidden=int(kept.hidden.sum()),
        measures=tuple(release.values),
        method=release.method,
        seconds=round(seconds, 3),
    )


def digest(salt: bytes, data: bytes) -> str:
    """A digest under the folder's own salt: nobody without it can try out which table has it."""
    return hmac.new(salt, data, hashlib.sha256).hexdigest()


@lru_cache(maxsize=8)
def open_records(source: Source) -> Microdata:
    """The records of a source, opened once a process."""
    return source.open()


# -- protecting -------------------------------------------------------------------------------------------------


def unit_releases(unit: Unit, data: Microdata) -> list[Release]:
    """The release of every table of a unit."""
    if unit.how.policy is not None:
        policy = read_policy(unit.how.policy)
        policy.check(data.dimensions)
        return [_described(answer(data, query_of(entry), policy), entry) for entry in unit.entries]
    if unit.linked and unit.approach == "in turn":
        alone = [dataclasses.replace(unit, entries=(entry,), linked=False) for entry in unit.entries]
        tables = [_table(one, data, one.entries[0].names) for one in alone]
        done = protect_in_turn(tables, unit.entries, unit.how.build([]), data.codebook)
        return [_described(release, entry) for release, entry in zip(done, unit.entries, strict=True)]
    whole = protected(unit, data).release()
    if not unit.linked:
        return [_described(whole, unit.entries[0])]
    return [_described(part(whole, entry), entry) for entry in unit.entries]


def _described(release: Release, entry: Entry) -> Release:
    title = release.title if entry.title is None else entry.title
    return dataclasses.replace(release, title=title, notes=(*release.notes, *entry.notes))


def protected(unit: Unit, data: Microdata) -> Protected:
    """The protected table of a unit: a single one, or all linked ones over their common inner cells."""
    how, names = unit.how, unit_names(unit, data.dimensions) if unit.linked else list(unit.entries[0].names)
    method = how.build(names)
    if not how.changes_records:
        done = protect(_table(unit, data, names), method)
        if how.method != "publish":
            check_hides(done)
        return done
    return as_counted(_table(unit, _changed(how, data), names), method)


_last: dict[str, tuple[How, Microdata, Microdata]] = {}


def _changed(how: How, data: Microdata) -> Microdata:
    """Records as a method changes them, kept for the next table of the same method."""
    kept = _last.get("records")
    if kept is not None and kept[0] == how and kept[1] is data:
        return kept[2]
    records: Microdata = how.build([])(data)
    _last["records"] = (how, data, records)
    return records


def forget() -> None:
    """Let go of records, which may have changed since the last run in this process."""
    open_records.cache_clear()
    _last.clear()


def _table(unit: Unit, data: Microdata, names: Sequence[str]) -> Table:
    first = unit.entries[0]
    value = None if first.value == "count" else first.value
    where = first.population or None
    if not unit.linked:
        table = tabulate(data, by=names, value=value, where=where, top=first.top)
        levels = {name: level for name, level in first.by if name != level}
        return table.at_levels(**levels) if levels else table
    margins = [
        {name: list(data.dimension(name).at_level(level).codes) for name, level in entry.by} for entry in unit.entries
    ]
    return tabulate(data, by=names, margins=margins, value=value, where=where, top=first.top)


def part(whole: Release, entry: Entry) -> Release:
    """One of several linked tables, in the order of its own dimensions."""
    axes = {d.name: k for k, d in enumerate(whole.dimensions)}
    keep = np.ones(len(whole), bool)
    dimensions: list[Dimension] = []
    columns: list[Array] = []
    for name, level in entry.by:
        old = whole.dimensions[axes[name]]
        new = old.at_level(level)
        place = np.array([new.position.get(code, -1) for code in old.codes])
        columns.append(place[whole.codes[:, axes[name]]])
        keep &= columns[-1] >= 0
        dimensions.append(new)
    for name, k in axes.items():
        if name not in entry.names:
            keep &= whole.codes[:, k] == whole.dimensions[k].index(whole.dimensions[k].total)
    codes = np.stack(columns, axis=1)[keep].astype(np.int32)
    order = np.flatnonzero(keep)[np.lexsort(codes.T[::-1])]
    return dataclasses.replace(
        whole,
        dimensions=tuple(dimensions),
        codes=np.stack(columns, axis=1)[order].astype(np.int32),
        values={n: v[order] for n, v in whole.values.items()},
        status=whole.status[order],
    )
