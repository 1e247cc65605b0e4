"""discreet run: every table of a publishing programme."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from discreet.cli.application import app, example
from discreet.cli.console import say
from discreet.cli.output import emit, emit_json
from discreet.cli.progress import bar, working

if TYPE_CHECKING:
    import pandas as pd

    from discreet.publishing import Report

SHOWN = 20  # findings and messages in the terminal; the report has all findings


@example("discreet run census.toml --jobs 4")
@app.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Check the programme and print its tables; count nothing.")
@click.option("--jobs", type=click.IntRange(1), help="Processes that work at the same time; default: all cores.")
@click.option(
    "--resume/--fresh", default=True, show_default=True, help="Keep finished tables, or make all of them again."
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON, as in report.json.")
def run(file: Path, dry_run: bool, jobs: int | None, resume: bool, as_json: bool) -> int:
    """Protect all tables of the programme FILE, check them against each other and publish those that passed.

    A table that is refused or fails does not stop others. Exit code 3: some were refused; 1: some failed, are withheld
    because the tables disclose cells together, or not everything could be checked. Interrupted, it goes on where it
    stopped.
    """
    from discreet.base.parallel import workers
    from discreet.publishing import plan, read_programme
    from discreet.publishing import run as perform

    with working("checking the programme"):
        programme = read_programme(file)
    if dry_run:
        _plan(plan(programme), as_json)
        return 0
    with bar("protecting") as progress:
        report = perform(programme, jobs=jobs or workers(), resume=resume, progress=progress)
    _tell(report, programme.output)
    if as_json:
        emit(report.to_json(), None)
    return report.exit_code


def _plan(tables: pd.DataFrame, as_json: bool) -> None:
    if as_json:
        emit_json({"tables": tables.astype(object).to_dict("records")})
    for row in [] if as_json else tables.to_dict("records"):
        linked = f" [linked: {row['linked']}]" if row["linked"] else ""
        refused = f" REFUSED {row['refused']}" if row["refused"] else ""
        what = f"{row['measure']} by {row['dimensions']}, {row['cells']:,} cells, {row['protected by']}"
        click.echo(f"{row['table']}: {what}{linked}{refused}")
    say(f"{len(tables):,} tables, {int(tables['cells'].sum()):,} cells; nothing was counted")


def _tell(report: Report, output: Path) -> None:
    for message in report.messages[:SHOWN]:
        say(message)
    if len(report.messages) > SHOWN:
        say(f"... and {len(report.messages) - SHOWN:,} more")
    for finding in report.findings[:SHOWN]:
        say(f"{finding.level}: {finding.kind}: {finding.text}")
        for text in finding.examples:
            say(f"    {text}")
    if report.unprotected:
        shown, more = report.unprotected[:SHOWN], len(report.unprotected) - SHOWN
        others = f" and {more:,} more" if more > 0 else ""
        say(f"warning: not protected, published as they are: {', '.join(shown)}{others}")
    kept = sum(line.kept for line in report.lines)
    say(report.summary() + (f", {kept:,} kept from an earlier run" if kept else ""))
    say(f"wrote {output / 'report.html'} and report.json")
