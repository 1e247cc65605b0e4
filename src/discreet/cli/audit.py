"""discreet audit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import discreet
from discreet.cli.cells import read_csv
from discreet.cli.common import app, book_of, emit, emit_json, example, say, total_of, total_option
from discreet.cli.console import heard
from discreet.cli.drawing import Column, more, table
from discreet.errors import InputError
from discreet.files import CSV, HTML, check_suffix
from discreet.naming import unused

if TYPE_CHECKING:
    from discreet.audits import Audit
    from discreet.release import Release

_PLACES = {"lower": 12, "upper": 12, "width": 12, "values": 12, "bits": 3, "DR": 3}  # significant ones
_SPARE = ("status", "reason", "bits", "values", "width")  # the last goes first


@example("discreet audit released.csv --codebook people.toml -o audit.csv")
@app.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--codebook", type=click.Path(path_type=Path), help="Hierarchies of the table's codes (CSV only).")
@total_option
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
    negative: bool,
    primary_only: bool,
    confidential: Path | None,
    as_json: bool,
    rows: int,
    output: Path | None,
) -> int:
    """What an intruder can work out of FILE: a released table (CSV), or a cell-suppression instance (.jj).

    Shows the interval of every cell that is not shown, riskiest first. Only what stands in the file is used; with
    --confidential, cells with less room than their protection level are called narrow.

    Exit code 0: the verdict is pass; 1: it is fail (a cell is exact or narrow) or unknown (it could not be judged).
    """
    check_suffix(output, (*CSV, *HTML), "an audit")
    with bar("auditing") as progress:
        if file.suffix == ".jj":
            from discreet.formats.jj import read_jj

            instance = read_jj(file)
            found = instance.audit(instance.primary if primary_only else None, progress=progress)
        else:
            book = book_of(codebook, file)
            release = discreet.Release.read_csv(file, codebook=book, total=total_of(total))
            if confidential is None:
                found = discreet.audit(release, nonnegative=False if negative else None, progress=progress)
            else:
                found = _against(release, confidential, negative, progress)
    if as_json:
        emit_json(_told(found))
    else:
        _show(found, rows)
    if output is not None:
        frame = found.cells.drop(columns="true", errors="ignore")
        paged = output.suffix.lower() in HTML
        data = found.to_html(most=len(frame)) if paged else frame.to_csv(index=False)
        emit(data.encode(), output, private=True)
    counts = found.summary()["cells"]
    say(", ".join(f"{int(counts[v]):,} {v}" for v in counts.index if v != "unknown" or counts[v]))
    for text in found.unjudged:
        say(text)
    say(f"verdict: {found.verdict.value}")
    return 0 if found.ok else 1


def _told(found: Audit) -> dict[str, Any]:
    """What an intruder could know, and what could not be judged; never the truth beside it."""
    cells = found.cells.drop(columns="true", errors="ignore").astype(object)
    return {
        "verdict": found.verdict.value,
        "summary": found.summary()["cells"].to_dict(),
        "unjudged": list(found.unjudged),
        "cells": cells.to_dict("records"),
    }


def _against(release: Release, path: Path, negative: bool, progress: Callable[[int, int], None] | None) -> Audit:
    """The audit against true values and protection levels in a confidential file."""
    import numpy as np

    from discreet.audits.report import of_view
    from discreet.audits.view import view_of_release

    seen = view_of_release(release, nonnegative=False if negative else None)
    frame, layout = read_csv(path), seen.layouts[0]
    names = [d.name for d in layout.dimensions]
    measure = unused(seen.measure, names)
    wanted = [*names, measure]
    if missing := [c for c in wanted if c not in frame.columns]:
        raise InputError(f"{path.name!r} has no column {missing[0]!r}; give the file of `protect --confidential`")
    for d in layout.dimensions:
        if unknown := int((~frame[d.name].isin(d.codes)).sum()):
            raise InputError(f"{path.name!r}: {unknown:,} lines have a code of {d.name!r} that the table has not")
    codes = [[d.index(c) for c in frame[d.name]] for d in layout.dimensions]
    at = np.ravel_multi_index(codes, layout.code_shape)
    truth, levels = np.full(len(layout), np.nan), np.zeros((3, len(layout)))
    try:
        truth[at] = np.rint(frame[measure].astype(float) * 10.0**seen.decimals)
        for k, column in enumerate(("below", "above", "sliding")):
            head = unused(column, names)
            levels[k, at] = frame[head].astype(float) if head in frame.columns else 0
    except ValueError:
        raise InputError(f"{path.name!r}: a value or level is no number") from None
    targets = np.flatnonzero(seen.withheld & ~np.isnan(truth))
    return of_view(replace(seen, truth=truth), targets, protection=tuple(levels), progress=progress)


def _show(found: Audit, rows: int) -> None:
    """The riskiest cells; what follows from the interval goes first when there is no room."""
    frame = found.cells.drop(columns="true", errors="ignore").head(rows)
    if frame.empty:
        say("nothing to show" if len(found.cells) else "nothing is hidden")
        return
    if not frame["reason"].any():
        frame = frame.drop(columns="reason")
    measured = list(frame.columns[list(frame.columns).index("lower") :])
    columns = []
    for name, cells in frame.items():
        number = name in measured and name in _PLACES
        texts = [f"{v:,.{_PLACES[str(name)]}g}" for v in cells.astype(float)] if number else cells.tolist()
        spare = _SPARE.index(name) + 1 if name in measured and name in _SPARE else 0
        columns.append(Column(str(name), texts, number, spare))
    gone = table(columns, "Cells that are not shown")
    more(len(found.cells) - len(frame), gone, "--rows shows more rows, COLUMNS=160 columns, -o audit.csv writes all")


@contextmanager
def bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar on stderr; nothing when stderr is no terminal."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    if not console.is_terminal or not heard("info"):
        yield None
        return
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
