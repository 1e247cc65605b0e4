"""discreet audit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.base.files import CSV, HTML, check_suffix
from discreet.base.naming import unused
from discreet.cli.against import against
from discreet.cli.common import app, book_of, emit, emit_json, example, measures_option, say, total_of, total_option
from discreet.cli.console import heard
from discreet.cli.drawing import TextColumn, more, text_table
from discreet.errors import InputError, listed

if TYPE_CHECKING:
    import pandas as pd

    from discreet.audits import Audit

_PLACES = {"lower": 12, "upper": 12, "width": 12, "values": 12, "bits": 3, "DR": 3}  # significant ones
_SPARE = ("status", "reason", "bits", "values", "width")  # the last goes first


@example("discreet audit released.csv --codebook people.toml -o audit.csv")
@app.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--codebook", type=click.Path(path_type=Path), help="Hierarchies of the table's codes (CSV only).")
@total_option
@measures_option
@click.option("--measure", help="The one to judge; all columns of numbers unless stated (CSV only).")
@click.option("--negative", is_flag=True, help="Inner cells may be negative (CSV only).")
@click.option("--primary-only", is_flag=True, help="As if only the primary cells were hidden (.jj only).")
@click.option(
    "--confidential", type=click.Path(path_type=Path), help="What `protect --confidential` wrote: levels are checked."
)
@click.option("--json", "as_json", is_flag=True, help="Print verdict and all audited cells as JSON.")
@click.option("--rows", default=20, show_default=True, help="Cells to show; all are written with -o.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write all audited cells here: .csv or .html.")
def audit(
    file: Path,
    codebook: Path | None,
    total: Sequence[str],
    measures: int | None,
    measure: str | None,
    negative: bool,
    primary_only: bool,
    confidential: Path | None,
    as_json: bool,
    rows: int,
    output: Path | None,
) -> int:
    """What an intruder can work out of FILE: a released table (CSV), or a cell-suppression instance (.jj).

    Shows the interval of every cell that is not shown, riskiest first. Only what stands in the file is used; with
    --confidential, cells with less room than their protection level are called narrow, and those that are sensitive
    are judged even where they are shown.

    Exit code 0: the verdict is pass; 1: it is fail (a cell is exact or narrow) or unknown (it could not be judged).
    """
    from discreet.audits import audit
    from discreet.release import Release

    check_suffix(output, (*CSV, *HTML), "an audit")
    for_csv = {
        "--codebook": codebook, "--total": total, "--measures": measures, "--measure": measure, "--negative": negative,
        "--confidential": confidential,
    }  # fmt: skip
    _refuse_idle(file, for_csv, primary_only)
    with audit_bar("auditing") as progress:
        if file.suffix.lower() == ".jj":
            from discreet.formats.jj import read_jj

            instance = read_jj(file)
            report = instance.audit(instance.primary if primary_only else None, progress=progress)
        else:
            book = book_of(codebook, file)
            release = Release.read_csv(file, codebook=book, measures=measures, total=total_of(total))
            nonnegative = False if negative else None
            if confidential is None:
                report = audit(release, measure=measure, nonnegative=nonnegative, progress=progress)
            else:
                report = against(release, confidential, measure, nonnegative, progress)
    if as_json:
        emit_json(_told(report))
    else:
        for one in (report, *report.others):
            _show(one, rows)
    if output is not None:
        paged = output.suffix.lower() in HTML
        data = report.to_html(most=len(report.number)) if paged else _cells(report).to_csv(index=False)
        emit(data.encode(), output, private=True)
    for one in (report, *report.others):
        counts = one.findings()["cells"]
        name = f"{one.view.measure}: " if report.others else ""
        say(name + ", ".join(f"{int(counts[v]):,} {v}" for v in counts.index if v != "unknown" or counts[v]))
    for text in _unjudged(report):
        say(text)
    say(f"verdict: {report.verdict.value}")
    return 0 if report.ok else 1


def _cells(report: Audit) -> pd.DataFrame:
    """All audited cells without the truth; of several measures, which one each is of."""
    import pandas as pd

    frames = [one.cells.drop(columns="true", errors="ignore") for one in (report, *report.others)]
    if not report.others:
        return frames[0]
    for one, frame in zip((report, *report.others), frames, strict=True):
        frame.insert(0, unused("measure", frame.columns), one.view.measure)
    return pd.concat(frames, ignore_index=True)


def _unjudged(report: Audit) -> list[str]:
    return list(dict.fromkeys(text for one in (report, *report.others) for text in one.unjudged))


def _told(found: Audit) -> dict[str, Any]:
    """What an intruder could know, and what could not be judged; never the truth beside it."""
    from discreet.audits.intruders import all_intruders
    from discreet.audits.report import FINDINGS

    return {
        "verdict": found.verdict.value,
        "summary": _cells(found)["finding"].value_counts().reindex(FINDINGS, fill_value=0).to_dict(),
        "intruders": all_intruders(found.intruders),
        "unjudged": _unjudged(found),
        "cells": _cells(found).astype(object).to_dict("records"),
    }


def _show(report: Audit, rows: int) -> None:
    """The riskiest cells; what follows from the interval goes first when there is no room."""
    frame = report.cells.drop(columns="true", errors="ignore").head(rows)
    if frame.empty:
        say("nothing to show" if len(report.cells) else "nothing is hidden")
        return
    if not frame["reason"].any():
        frame = frame.drop(columns="reason")
    measured = list(frame.columns[list(frame.columns).index("lower") :])
    columns = []
    for name, cells in frame.items():
        number = name in measured and name in _PLACES
        texts = [f"{v:,.{_PLACES[str(name)]}g}" for v in cells.astype(float)] if number else cells.tolist()
        spare = _SPARE.index(name) + 1 if name in measured and name in _SPARE else 0
        columns.append(TextColumn(str(name), texts, number, spare))
    gone = text_table(columns, f"Cells that are not shown: {report.view.measure}")
    more(len(report.cells) - len(frame), gone, "--rows shows more rows, COLUMNS=160 columns, -o audit.csv writes all")


def _refuse_idle(file: Path, for_csv: Mapping[str, object], primary_only: bool) -> None:
    """Options that say how a file of the other kind is read would change nothing."""
    instance = file.suffix.lower() == ".jj"
    if instance and (named := [name for name, value in for_csv.items() if value not in (None, False, (), [])]):
        raise InputError(f"{listed(named)}: an instance (.jj) says all of its cells; leave it out, it is for a CSV")
    if primary_only and not instance:
        raise InputError("--primary-only is for an instance (.jj); a released table does not say which were primary")


@contextmanager
def audit_bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar on stderr; nothing when stderr is not a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    if not console.is_terminal or not heard("info"):
        yield None
        return
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
