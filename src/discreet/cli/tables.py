"""discreet tabulate, show, datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discreet.cli.application import app, example
from discreet.cli.console import say
from discreet.cli.drawing import TextColumn, more, text_table
from discreet.cli.inputs import book_of, load_table
from discreet.cli.options import measures_option, release_options, table_options
from discreet.cli.output import emit, emit_release, format_of, keep_edited
from discreet.cli.progress import working
from discreet.cli.sheet_reading import reading_arguments, reading_options
from discreet.errors import InputError, listed, many


@example("discreet tabulate people.parquet --codebook people.toml --by county,sex -o table.csv")
@app.command()
@table_options
@release_options
def tabulate(output: Path | None, format: str | None, metadata: bool, **which: Any) -> None:
    """Count DATA (CSV, Parquet, DuckDB) into a table with all its margins.

    The table is NOT protected: it is confidential until a method has been applied.
    """
    from discreet.methods.by_hand import Publish
    from discreet.methods.contract import protect

    format = format_of(output, format, metadata=metadata)
    with working("reading and counting"):
        table = load_table(**which)
    release = protect(table, Publish()).release()
    emit_release(release, output, format, metadata=metadata, private=True)
    say(f"{many(len(table), 'cell')} over {table.layout.n_inner:,} inner cells. Not protected: treat as confidential.")


@example("discreet show wards.xlsx")
@app.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--rows", default=24, show_default=True, help="Rows to show.")
@click.option("--columns", default=12, show_default=True, help="Columns to show.")
@click.option("--codebook", type=click.Path(path_type=Path), help="Show labels from this codebook instead of codes.")
@measures_option
@reading_options()
def show(file: Path, rows: int, columns: int, codebook: Path | None, measures: int | None, **reading: Any) -> None:
    """Show a table: one that discreet wrote, or a sheet in any layout as it is understood.

    Of a sheet (XLSX, ODS, CSV, HTML) every cell is coloured by what it is taken for: dimensions, sums, hidden numbers,
    percentages, what is left out; everything that was assumed is listed below it.
    """
    arguments = reading_arguments(reading)
    if codebook is None and measures is None and not _is_own(file):
        _show_sheets(file, arguments, rows, columns)
        return
    if dropped := [name for name in arguments if name != "total"]:
        raise InputError(
            f"{listed(dropped)}: for a sheet in a layout of its own; {file.name!r} says what its numbers are"
        )
    _show_own(file, rows, columns, codebook, arguments.get("total"), measures)


def _is_own(file: Path) -> bool:
    """Whether a file says what its numbers are: discreet wrote it, or it is a cube."""
    from discreet.sheets.listed_cells import own_cells

    return own_cells(file) is not None


def _show_sheets(file: Path, arguments: dict[str, Any], rows: int, columns: int) -> None:
    from rich.console import Console

    from discreet.sheets.reading_sheets import read_tables

    console = Console()
    for table in read_tables(file, **arguments):
        console.print(str(table), markup=False, highlight=False)
        console.print(table.drawn(rows=rows, columns=columns))


def _show_own(file: Path, rows: int, columns: int, codebook: Path | None, total: Any, measures: int | None) -> None:
    from discreet.release import Release
    from discreet.tables import display, published

    book = book_of(codebook, file)
    release = Release.of_file(published.read_published(file, book, measures, total, find=False))
    for measure, values in release.values.items():
        page = display.arranged(
            release.dimensions, release.codes, values, rows=rows, columns=columns, labels=book is not None
        )
        most = [len(set(map(tuple, release.codes[:, :-1].tolist()))), len(set(release.codes[:, -1].tolist()))]
        stubs = zip(*page.stubs, strict=True)
        body = zip(*page.body, strict=True)
        gone = text_table(
            [TextColumn(head, cells, number=False) for head, cells in zip(page.corner, stubs, strict=True)]
            + [TextColumn(head, cells, spare=n) for n, (head, cells) in enumerate(zip(page.heads, body, strict=True))],
            measure,
        )
        cure = "--rows and --columns show more, as far as the terminal is wide, e.g. COLUMNS=160"
        more(most[0] - len(page.stubs), most[1] - len(page.heads) + gone, cure)


@example("discreet datasets census -n 100000 -o census.parquet")
@app.command()
@click.argument("name", required=False)
@click.option("-n", "records", type=click.IntRange(1), help="Number of records (synthetic microdata only).")
@click.option("--seed", type=click.IntRange(0), help="Seed (synthetic microdata only).")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Where to write: .parquet or .csv.")
@click.option("--force", is_flag=True, help="Overwrite a codebook that was edited.")
def datasets(name: str | None, records: int | None, seed: int | None, output: Path | None, force: bool) -> None:
    """List the bundled datasets, or write one; microdata come with a codebook of the same name (.toml)."""
    from discreet import datasets as bundled

    if name is None:
        width = max(len(entry.name) for entry in bundled.catalogue())
        for entry in bundled.catalogue():
            click.echo(f"{entry.name:<{width}}  {entry.kind:<9}  {entry.description}")
        return
    if output is not None and not force and (book := bundled.codebook_of(name)) is not None:
        keep_edited(output.with_suffix(".toml"), book.to_toml().encode())
    with working(f"making {name}"):
        written = bundled.write(name, output, n=records, seed=seed)
    if isinstance(written, bytes):
        emit(written, None)
    else:
        say("wrote " + " and ".join(str(path) for path in written))
