"""run(): every table of a programme, in parallel, going on where an earlier run stopped; then the check; then out."""

from __future__ import annotations

import multiprocessing
import os
import platform
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from discreet.base.annotations import Progress
from discreet.base.arguments import checked
from discreet.base.files import write_whole
from discreet.base.version import VERSION
from discreet.errors import InputError, Refused, listed
from discreet.policy import read_policy
from discreet.policy.answering import check_query
from discreet.publishing import protect as work
from discreet.publishing.checking import query_of
from discreet.publishing.compare.consistency import ERROR, check
from discreet.publishing.compare.published_table import Shown
from discreet.publishing.folder import Folder, source_fingerprint, unit_fingerprint
from discreet.publishing.protect import FinishedTable, UnitOutcome, perform
from discreet.publishing.run_report import FAILED, PUBLISHED, REFUSED, WITHHELD, Report, TableLine
from discreet.publishing.spec import Entry, Programme, Unit

if TYPE_CHECKING:
    import pandas as pd

    from discreet.data.dimension import Dimension

MOVED = (
    "tables that were withheld or waited lay in a folder of the output until now and have been moved out of it; where "
    "the output is copied to, remove the folder '.programme'"
)


@checked
def run(
    programme: Programme,
    *,
    jobs: int = 1,
    resume: bool = True,
    progress: Progress | None = None,
) -> Report:
    """Protect all tables, check them against each other, and publish those that passed.

    With ``jobs`` above 1 as many processes work; a script that asks for them needs ``if __name__ == "__main__":``.
    ``resume`` keeps finished tables whose entry, records, codebook and bytes are what they were.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from discreet import datasets
    >>> from discreet.publishing import parse_programme
    >>> text = '''
    ... [programme]
    ... name = "Demo"
    ... data = "people.parquet"
    ... codebook = "people.toml"
    ... output = "published"
    ... [[table]]
    ... name = "sexes"
    ... by = ["sex"]
    ... method = "round"
    ... parameters = { base = 5 }
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = datasets.write("census", f"{folder}/people.parquet", n=300)
    ...     programme = parse_programme(text, base=Path(folder))
    ...     report = run(programme)
    >>> report.count("published"), report.verdict
    (1, <Verdict.PASS: 'pass'>)
    """
    if jobs < 1:
        raise InputError(f"jobs is the number of processes, at least 1, not {jobs}")
    began = time.perf_counter()
    work.forget()
    folder = Folder.open(programme)
    with folder.alone():
        kept, former, prints = _kept(programme, folder, resume)
        if not resume:
            folder.state.unlink(missing_ok=True)
        folder.clear({table.name: table for tables in kept.values() for table in tables})
        done = {name: UnitOutcome(unit=name, tables=tuple(tables)) for name, tables in kept.items()}
        todo = [unit for unit in programme.units if key_of(unit) not in done]
        for unit, outcome in _performed(programme, todo, folder, jobs):
            if outcome.tables:
                folder.append(key_of(unit), prints[key_of(unit)], outcome.tables)
            done[key_of(unit)] = outcome
            if progress is not None:
                progress(len(done), len(programme.units))
        return _finished(programme, folder, done, set(kept), former, prints, (began, jobs))


def key_of(unit: Unit) -> str:
    """What a unit is called in the state: a table and a group may share a name."""
    return f"{'linked' if unit.linked else 'table'} {unit.name}"


def _kept(
    programme: Programme, folder: Folder, resume: bool
) -> tuple[dict[str, list[FinishedTable]], set[str], dict[str, str]]:
    """Finished units that need not be done again, files of earlier runs, and the fingerprints of all units."""
    state = folder.read()
    former = {name for _, tables in state.values() for table in tables for name in table.files}
    sources = {name: source_fingerprint(source, folder.salt) for name, source in programme.sources.items()}
    prints = {key_of(u): unit_fingerprint(u, sources[u.source], folder.salt) for u in programme.units}
    kept = {}
    for unit in programme.units if resume else ():
        old, tables = state.get(key_of(unit), ("", []))
        if old == prints[key_of(unit)] and tables and all(folder.whole(table) for table in tables):
            kept[key_of(unit)] = tables
    return kept, former, prints


# -- the work ---------------------------------------------------------------------------------------------------


def _performed(
    programme: Programme, todo: Sequence[Unit], folder: Folder, jobs: int
) -> Iterator[tuple[Unit, UnitOutcome]]:
    """Units as they are finished. Leaving early, as Ctrl-C does, ends the processes."""
    if min(jobs, len(todo)) < 2:
        with _interrupts() as pressed:
            for unit in todo:
                outcome = perform(unit, programme.sources[unit.source], folder.private, folder.salt)
                if pressed:
                    raise KeyboardInterrupt
                yield unit, outcome
        return
    with _pool(min(jobs, len(todo))) as pool:
        waiting: dict[Future[UnitOutcome], Unit] = {
            pool.submit(perform, unit, programme.sources[unit.source], folder.private, folder.salt): unit
            for unit in todo
        }
        for future in as_completed(waiting):
            unit = waiting[future]
            try:
                yield unit, future.result()
            except BrokenProcessPool:
                said = "its process ended unexpectedly, perhaps for lack of memory; run again with fewer jobs"
                yield unit, UnitOutcome(unit=unit.name, failed=said, message=said)


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Remembers Ctrl-C, which a database that is counting may turn into an error of its own."""
    pressed: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield pressed
        return

    def press(number: int, frame: object) -> None:
        pressed.append(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, press)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    pool = ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_begin)
    try:
        yield pool
    except BaseException:
        workers = list((pool._processes or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.kill()
        raise
    pool.shutdown()


def _begin() -> None:
    """A worker leaves Ctrl-C to its parent, and ends when that ends, however it does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)


# -- the check and the way out ----------------------------------------------------------------------------------


def _finished(
    programme: Programme,
    folder: Folder,
    done: Mapping[str, UnitOutcome],
    kept: set[str],
    former: set[str],
    prints: Mapping[str, str],
    how: tuple[float, int],
) -> Report:
    began, jobs = how
    finished = {table.name: table for outcome in done.values() for table in outcome.tables}
    ready = [finished[e.name] for e in programme.entries if e.name in finished]
    shown = [Shown.from_bytes((folder.private / "shown" / f"{table.name}.npz").read_bytes()) for table in ready]
    findings = check(shown, programme.consistency)
    bad = {name for f in findings if f.level == ERROR for name in f.tables}
    lines, messages = [], [MOVED] if folder.moved else []
    if unkeyed := [unit for unit in programme.units if unit.how.unkeyed]:
        names = listed([unit.name for unit in unkeyed], most=3)
        messages.append(f'{names}: {unkeyed[0].how.unkeyed}: key = "env:NAME"')
    for unit in programme.units:
        outcome = done[key_of(unit)]
        if outcome.message:
            messages.append(f"{unit.name}: {'refused: ' if outcome.refused else ''}{outcome.message}")
        for entry in unit.entries:
            lines.append(_line(unit, entry, outcome, finished.get(entry.name), entry.name in bad, key_of(unit) in kept))
    report = Report(
        programme=programme.name,
        version=VERSION,
        python=platform.python_version(),
        when=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=round(time.perf_counter() - began, 1),
        jobs=jobs,
        lines=tuple(lines),
        findings=tuple(findings),
        messages=tuple(messages),
    )
    passed = {table.name: table for table in ready if table.name not in bad}
    folder.publish(passed, {table.name: table for table in ready if table.name in bad}, former)
    folder.compact({name: (prints[name], o.tables) for name, o in done.items() if o.tables})
    write_whole(programme.output / "report.json", report.to_json())
    write_whole(programme.output / "report.html", report.to_html())
    return report


def _line(
    unit: Unit, entry: Entry, outcome: UnitOutcome, finished: FinishedTable | None, bad: bool, kept: bool
) -> TableLine:
    head: dict[str, Any] = {
        "name": entry.name,
        "table": entry.words,
        "source": entry.source,
        "measure": entry.value or "count",
        "how": unit.how.name,
        "unit": unit.name if unit.linked else "",
    }
    if finished is not None:
        return TableLine(
            **head,
            outcome=WITHHELD if bad else PUBLISHED,
            method=finished.method,
            cells=finished.cells,
            hidden=finished.hidden,
            share=round(finished.hidden / finished.cells, 3),
            seconds=finished.seconds,
            kept=kept,
            files=tuple(finished.files),
            reason="inconsistent with other tables" if bad else "",
        )
    if outcome.refused is not None:
        rule, reason, hint = outcome.refused
        return TableLine(**head, outcome=REFUSED, rule=rule, reason=reason, hint=hint)
    return TableLine(**head, outcome=FAILED, reason=outcome.failed or "")


# -- the plan ---------------------------------------------------------------------------------------------------


@checked
def plan(programme: Programme) -> pd.DataFrame:
    """One row a table: what would be done, how large it would be, and what the codebook alone refuses.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from discreet import datasets
    >>> from discreet.publishing import parse_programme
    >>> text = '''
    ... [programme]
    ... name = "Demo"
    ... data = "people.parquet"
    ... codebook = "people.toml"
    ... output = "published"
    ... [[table]]
    ... name = "sexes"
    ... by = ["sex"]
    ... method = "round"
    ... parameters = { base = 5 }
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = datasets.write("census", f"{folder}/people.parquet", n=300)
    ...     rows = plan(parse_programme(text, base=Path(folder)))
    >>> rows[["table", "cells", "protected by"]].to_dict("records")
    [{'table': 'sexes', 'cells': 3, 'protected by': 'round (base=5)'}]
    """
    import pandas as pd

    books = {name: source.read_codebook() for name, source in programme.sources.items()}
    rows = []
    for unit in programme.units:
        for entry in unit.entries:
            cells = 1
            for name, level in entry.by:
                cells *= len(books[entry.source].dimension(name).at_level(level).codes)
            rows.append(
                {
                    "table": entry.name,
                    "dimensions": entry.words,
                    "measure": entry.value or "count",
                    "cells": cells,
                    "protected by": unit.how.words,
                    "linked": unit.name if unit.linked else "",
                    "refused": _refused(unit, entry, books[entry.source].dimensions),
                }
            )
    return pd.DataFrame(rows)


def _refused(unit: Unit, entry: Entry, dimensions: Sequence[Dimension]) -> str:
    if unit.how.policy is None:
        return ""
    try:
        check_query(query_of(entry).resolved(dimensions), read_policy(unit.how.policy))
    except Refused as refused:
        return str(refused)
    return ""
