"""Options that several commands share: which data, which table, where a release goes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click


def joined_by(sign: str) -> Callable[[click.Context, click.Parameter, Sequence[str]], str]:
    """A list that may be written with its sign, ``--by county,sex``, or one by one, ``--by county --by sex``."""
    return lambda context, option, parts: sign.join(part for part in parts if part)


class Place(click.ParamType):  # type: ignore[type-arg]  # generic only in newer versions of click
    """A file, or the URL of a database, which stays as it is."""

    name = "data"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path | str:
        return value if isinstance(value, Path) or "://" in value else Path(value)


def place_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Which table of a database (``database_table``), and who counts its records (``engine``)."""
    who = click.Choice(["duckdb", "ibis"])
    engine = click.option(
        "--engine", type=who, help="What counts the records: DuckDB here, or the database that holds them."
    )
    table = click.option("--table", "database_table", help="The table to read, when DATA is a DuckDB file or a URL.")
    return table(engine(command))


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The argument and options that say which table: of records, or a ready one."""
    path = click.Path(path_type=Path)
    options: list[Callable[..., Any]] = [
        click.argument("data", type=Place()),
        click.option(
            "--by", multiple=True, callback=joined_by(","), help="Dimensions to cross, separated by commas; repeatable."
        ),
        click.option("--codebook", type=path, help="TOML file with dimensions, unit, weight, magnitudes; or .rda."),
        click.option("--value", help="A magnitude to sum; without one, records are counted."),
        click.option("--where", multiple=True, metavar="DIMENSION=CODE", help="Only those with this code; repeatable."),
        click.option(
            "--weighted/--unweighted",
            default=None,
            help="With an .rda: whether its <WEIGHT> is applied; not by default, as in tau-ARGUS.",
        ),
        click.option(
            "--missing",
            multiple=True,
            metavar="[DIMENSION=]CODE",
            help="Category for missing values, in all dimensions or in one; without one they are an error.",
        ),
        click.option("--nested/--no-nested", default=None, help="Whether columns that are levels of others nest."),
        click.option("--ready", is_flag=True, help="DATA is a table already: each row a cell, totals included or not."),
        click.option("--count", help="With --ready: the column that holds counts."),
        total_option,
        click.option("--decimal", help="With --ready: the decimal sign, '.' or ','; asked for where it is not clear."),
        click.option("--thousands", help="With --ready: the sign between thousands."),
        place_options,
        click.option("--memory", help="What counting the records here may use, e.g. 4GB; 1.5GB unless stated."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def total_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Which codes of a table are its totals (``total``)."""
    words = "The code of the total, in all dimensions or in one; DIMENSION= if it has none. Found unless stated."
    return click.option("--total", multiple=True, metavar="[DIMENSION=]CODE", help=words)(command)


def measures_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """How many columns of a published table hold numbers (``measures``)."""
    words = "How many columns before the status hold numbers. One unless stated; asked for where it is not clear."
    return click.option("--measures", type=click.IntRange(1), metavar="N", help=words)(command)


def release_options(command: Callable[..., int | None]) -> Callable[..., int | None]:
    """Where a release goes (``output``) and in which format (``format``)."""
    kinds = ".csv .xlsx .json .sdmx.csv .px .parquet .html .argus.csv .sbs"
    path = click.Path(path_type=Path)
    names = "csv, csv-notes, xlsx, json-stat, sdmx-csv, px, parquet, html, argus-csv or sbs"
    out = click.option("-o", "--output", type=path, help=f"Write here instead of to stdout: {kinds}.")
    words = "Beside a CSV, write its method, notes and quality (CSV on the Web)."
    metadata = click.option("--metadata", is_flag=True, help=words)
    named = click.option("--format", metavar="NAME", help=f"The format, whatever the suffix: {names}.")
    return out(named(metadata(command)))
