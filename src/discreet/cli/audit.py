"""discreet audit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

import discreet
from discreet.cli.common import app, emit, example, say

if TYPE_CHECKING:
    from discreet.audits import Audit


@example("discreet audit released.csv --codebook people.toml -o audit.csv")
@app.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--codebook", type=click.Path(path_type=Path), help="Hierarchies of the table's codes (CSV only).")
@click.option("--negative", is_flag=True, help="Inner cells may be negative (CSV only).")
@click.option("--primary-only", is_flag=True, help="As if only the primary cells were hidden (.jj only).")
@click.option("--rows", default=20, show_default=True, help="Cells to show; all are written with -o.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write all audited cells here: .csv or .html.")
def audit(
    file: Path, codebook: Path | None, negative: bool, primary_only: bool, rows: int, output: Path | None
) -> None:
    """What an intruder can work out of FILE: a released table (CSV), or a cell-suppression instance (.jj).

    Shows the interval of every cell that is not shown, riskiest first. Only what stands in the file is used.
    """
    with bar("auditing") as progress:
        if file.suffix == ".jj":
            from discreet.formats.jj import read_jj

            instance = read_jj(file)
            found = instance.audit(instance.primary if primary_only else None, progress=progress)
        else:
            book = None if codebook is None else discreet.read_codebook(codebook)
            release = discreet.Release.read_csv(file, codebook=book)
            found = discreet.audit(release, nonnegative=False if negative else None, progress=progress)
    _show(found, rows)
    if output is not None:
        frame = found.cells.drop(columns="true", errors="ignore")
        data = found.to_html(most=len(frame)) if output.suffix == ".html" else frame.to_csv(index=False)
        emit(data.encode(), output)
    counts = found.summary()["cells"]
    say(", ".join(f"{int(counts[v]):,} {v}" for v in counts.index))


def _show(found: Audit, rows: int) -> None:
    from rich.console import Console
    from rich.table import Table as RichTable

    frame = found.cells.drop(columns="true", errors="ignore").head(rows)
    made = RichTable(title="Cells that are not shown", header_style="bold")
    for name in frame.columns:
        made.add_column(str(name), justify="right")
    for row in frame.itertuples(index=False):
        made.add_row(*(f"{v:,.6g}" if isinstance(v, float) else str(v) for v in row))
    Console().print(made)


@contextmanager
def bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar on stderr; nothing when stderr is no terminal."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
