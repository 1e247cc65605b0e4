"""What the commands share: the application, reading microdata, writing bytes, words on stderr."""

from __future__ import annotations

import itertools
import json
import math
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.base.files import is_file, same_file
from discreet.cli.console import LEVELS, heard, set_level
from discreet.cli.console import say as say  # commands take it from here
from discreet.errors import InputError, listed

if TYPE_CHECKING:
    from discreet.data.codebook import Codebook
    from discreet.data.dimension import Dimension
    from discreet.data.microdata import Microdata
    from discreet.release import Release
    from discreet.tables.table import Table

WRITTEN = {"output", "confidential", "picture", "html", "resume", "record"}  # parameters that name a file to write


def example(text: str) -> Callable[[Any], Any]:
    """An example at the end of a command's help."""

    def add(command: Any) -> Any:
        command.epilog = f"\b\nExample:\n  {text}"
        return command

    return add


def _version(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from discreet.base.version import described

        click.echo(f"discreet, version {described()}")
        context.exit()


class Command(click.Command):
    """A command none of whose options is dropped because it was given twice, and none of whose files is lost."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        refuse_repeated(self, ctx, args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        refuse_same_file(self, ctx)
        return super().invoke(ctx)


class CommandGroup(click.Group):
    """Commands that each take an option once, unless it says that it may be repeated."""

    command_class = Command
    group_class = type

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        refuse_repeated(self, ctx, args)
        return super().parse_args(ctx, args)


def refuse_repeated(command: click.Command, context: click.Context, arguments: Sequence[str]) -> None:
    """Click keeps the last of an option that is given twice; nobody meant that."""
    if context.resilient_parsing or not arguments:
        return
    options = command.make_parser(context).parse_args(list(arguments))[2]
    for option in {id(o): o for o in options if isinstance(o, click.Option)}.values():
        same_again = option.is_flag and not option.secondary_opts
        if not option.multiple and not same_again and sum(o is option for o in options) > 1:
            names = "/".join((*option.opts, *option.secondary_opts))
            raise InputError(f"{names} is given twice, and only one of them could count; give it once")


def refuse_same_file(command: click.Command, context: click.Context) -> None:
    """A file that is written is no other file of the command: what is read would be lost, or the truth published."""
    files: list[tuple[click.Parameter, Path]] = []
    for parameter in command.params:
        value = context.params.get(parameter.name or "")
        for path in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(path, Path):
                files.append((parameter, path))
    for (one, path), (other, second) in itertools.combinations(files, 2):
        if one is not other and {one.name, other.name} & WRITTEN and same_file(path, second):
            names = listed([_parameter_name(one), _parameter_name(other)])
            raise InputError(f"{names} are the same file ({path.name!r}), which would be written over; name two files")


def _parameter_name(parameter: click.Parameter) -> str:
    return "/".join(parameter.opts) if isinstance(parameter, click.Option) else (parameter.name or "").upper()


def joined_by(sign: str) -> Callable[[click.Context, click.Parameter, Sequence[str]], str]:
    """A list that may be written with its sign, ``--by county,sex``, or one by one, ``--by county --by sex``."""
    return lambda context, option, parts: sign.join(part for part in parts if part)


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--log-level",
    type=click.Choice(LEVELS),
    default="info",
    show_default=True,
    envvar="DISCREET_LOG_LEVEL",
    is_eager=True,
    expose_value=False,
    callback=set_level,
    help="What is said on stderr; progress is shown up to info.",
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Version and commit."
)
def app() -> None:
    """Protect statistical tables: measure how disclosive they are, protect them, prove it."""


class Place(click.ParamType):  # type: ignore[type-arg]  # generic only in newer versions of click
    """A file, or the URL of a database, which stays as it is."""

    name = "data"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path | str:
        return value if isinstance(value, Path) or "://" in value else Path(value)


def place_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Which table of a database (``database_table``), and who counts its records (``engine``)."""
    who = click.Choice(["duckdb", "ibis"])
    engine = click.option("--engine", type=who, help="Who counts: DuckDB here, or a database where DATA are.")
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
            help="With an .rda: whether its <WEIGHT> is applied; not, unless asked for, as in tau-ARGUS.",
        ),
        click.option("--missing", help="Category for missing values; without one they are an error."),
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


def total_of(texts: Sequence[str]) -> str | dict[str, str | None] | None:
    """``["sex=All", "year="]`` as {"sex": "All", "year": None}, ``["All"]`` as "All".

    >>> total_of(["sex=All", "year="]), total_of(["All"])
    ({'sex': 'All', 'year': None}, 'All')
    """
    parts = [item.partition("=") for item in texts]
    plain = [name.strip() for name, equals, _ in parts if not equals]
    if len(plain) > 1 or (plain and len(parts) > 1):
        raise InputError("--total takes one CODE for all dimensions, or DIMENSION=CODE for each of some")
    if twice := [name for name in (part[0].strip() for part in parts) if sum(p[0].strip() == name for p in parts) > 1]:
        raise InputError(f"--total names the total of {twice[0]!r} twice; a dimension has one")
    return plain[0] if plain else {name.strip(): code.strip() or None for name, _, code in parts} or None


def load_table(
    *,
    data: Path | str,
    by: str = "",
    codebook: Path | None = None,
    value: str | None = None,
    where: Sequence[str] = (),
    missing: str | None = None,
    weighted: bool | None = None,
    ready: bool = False,
    count: str | None = None,
    total: Sequence[str] = (),
    decimal: str | None = None,
    thousands: str | None = None,
    database_table: str | None = None,
    engine: str | None = None,
    memory: str | None = None,
    top: int | None = None,
    dimensions: Sequence[Dimension] = (),
    totals: str = "check",
) -> Table:
    """The table that ``table_options`` describe; ``dimensions`` known already need no codebook."""
    from discreet.data.codebook import read_codebook
    from discreet.tables.table import tabulate

    if ready:
        if isinstance(data, str):
            raise InputError("a table of cells (--ready) is a file; the URL of a database stands for records")
        of_records = {"--where": where or None, "--missing": missing, "--table": database_table, "--engine": engine}
        if dropped := [name for name, option in of_records.items() if option is not None]:
            raise InputError(f"{listed(dropped)}: for records; a table of cells (--ready) is taken as it is")
        if weighted is not None:
            raise InputError("--weighted is for records; a table of cells (--ready) has been summed already")
        if memory is not None:
            raise InputError("--memory is for counting records; a table of cells (--ready) has been counted already")
        if codebook is not None and codebook.suffix.lower() == ".rda":
            from discreet.formats import argus

            return argus.read_table(data, codebook, response=value, totals=totals, total=total_of(total)).table
        from discreet.cli.ready import read_ready_file

        coded = () if codebook is None else read_codebook(codebook).dimensions
        known = {d.name: d for d in (*dimensions, *coded)}
        return read_ready_file(data, names_of(by), known, count, value, totals, total_of(total), decimal, thousands)
    if count is not None:
        raise InputError("--count names a column of a table of cells (--ready); records are counted without")
    if decimal is not None or thousands is not None:
        raise InputError("--decimal and --thousands are for a table of cells (--ready)")
    if total:
        raise InputError("--total says which code of a table is its total; it goes with --ready, records have none")
    if not names_of(by):
        raise InputError("name the dimensions of the table: --by county,sex (or --ready for a table of cells)")
    chosen = filters(where, codebook, names_of(by))
    records = open_microdata(
        data, codebook, names_of(by), value, missing, database_table, engine, memory, weighted=weighted
    )
    return tabulate(records, by=names_of(by), value=value, where=chosen, top=top)


def open_microdata(
    data: Path | str,
    codebook: Path | None,
    names: Sequence[str],
    value: str | None,
    missing: str | None,
    database_table: str | None,
    engine: str | None = None,
    memory: str | None = None,
    *,
    weighted: bool | None = None,
) -> Microdata:
    """Microdata by codebook, or with the codes that the named columns happen to hold."""
    from discreet.data.microdata import Microdata

    if codebook is not None and codebook.suffix.lower() == ".rda":
        from discreet.formats import argus

        for option, value_given in (("--memory", memory), ("--table", database_table), ("--engine", engine)):
            if value_given is not None:
                raise InputError(f"{option} is not for tau-ARGUS files, which are read whole")
        if missing is not None:
            raise InputError("--missing is not for tau-ARGUS files: the .rda says which codes are missing values")
        return argus.read_microdata(data, codebook, weighted=weighted, by=names)
    if weighted is not None:
        raise InputError("--weighted is for an .rda of tau-ARGUS; a codebook says by itself what the weight is")
    options: dict[str, Any] = {"missing": missing, "table": database_table, "engine": engine, "memory": memory}
    if codebook is not None:
        return Microdata.read(data, codebook, **options)
    return Microdata.of(data, dimensions=names, magnitudes=[] if value is None else [value], **options)


def records_asked(which: Mapping[str, Any], names: Sequence[str]) -> Microdata:
    """The records that ``table_options`` describe, with at least the named columns."""
    options = ("data", "codebook", "value", "missing", "database_table", "engine", "memory", "weighted")
    return open_microdata(names=names, **{option: which[option] for option in options})


def is_rda(codebook: Path | None) -> bool:
    """Whether a codebook is a description of tau-ARGUS."""
    return codebook is not None and codebook.suffix.lower() == ".rda"


def book_of(codebook: Path | None, file: Path) -> Codebook | None:
    """The codebook, or the ``.rda`` in its place, of a published table."""
    from discreet.data.codebook import read_codebook

    if codebook is None or not is_rda(codebook):
        return None if codebook is None else read_codebook(codebook)
    from discreet.formats import argus
    from discreet.tables import published

    table = published.read_published(file, None, 1, None, find=False)
    return argus.read_codebook(codebook, {d.name: d.codes for d in table.dimensions})


def records_of(data: Path | str, codebook: Path, table: str | None, engine: str | None) -> Microdata:
    """Records with all the dimensions of their codebook, or of the ``.rda`` in its place."""
    return open_microdata(data, codebook, (), None, None, table, engine)


def names_of(text: str) -> list[str]:
    """``"county, sex"`` as ["county", "sex"]."""
    return [name.strip() for name in text.split(",") if name.strip()]


def value_of(text: str) -> Any:
    """A TOML value, or plain text where it is none.

    >>> value_of("3"), value_of("[1, 2]"), value_of("value")
    (3, [1, 2], 'value')
    """
    try:
        return tomllib.loads(f"x = {text}")["x"]
    except tomllib.TOMLDecodeError:
        if text[:1] in '"[{':
            raise InputError(f"cannot read the value {text!r}; write it as in TOML") from None
        return text


def filters(
    where: Sequence[str], codebook: Path | None = None, by: Sequence[str] | None = None
) -> dict[str, list[str]] | None:
    """``["region=N", "region=S"]`` as {"region": ["N", "S"]}; without a codebook only those of ``by`` are known."""
    from discreet.data.filters import parse_filters

    codes_of = parse_filters(where, repeat=True, form="--where takes DIMENSION=CODE")
    for name in codes_of if codebook is None and by is not None else ():
        if name not in (by or ()):
            raise InputError(
                f"--where {name}=...: without a codebook only the dimensions of the table are known; add it to "
                "--by, or give a codebook that describes it (--codebook)"
            )
    return codes_of or None


def keep_edited(path: Path, new: bytes) -> None:
    """Refuse to write over a file that people edit by hand, unless it would stay the same."""
    if path.exists() and (not is_file(path) or path.read_bytes() != new):
        raise InputError(f"{path} is there already and may have been edited; give another name, or --force")


def emit(data: bytes, output: Path | None, *, private: bool = False) -> None:
    """Bytes to a file (which its owner alone can read if it is ``private``), whole or not at all, or to stdout."""
    from discreet.base.files import write_whole

    if output is not None:
        write_whole(output, data, private=private)
        say(f"wrote {output}")
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def emit_release(
    release: Release, output: Path | None, format: str | None = None, *, metadata: bool = False, private: bool = False
) -> None:
    """A release to a file in the format of its suffix, or to stdout as CSV, unless ``format`` says otherwise."""
    from discreet.formats import metadata_path, to_bytes

    if metadata and output is not None:
        about = to_bytes(release, "csvw", url=output.name)
        emit(about, metadata_path(output, format_of(output, format)), private=private)
    emit(to_bytes(release, format_of(output, format)), output, private=private)


def format_of(output: Path | None, format: str | None = None, *, metadata: bool = False) -> str:
    """The name of the format to write, so that a wrong suffix is found before any work is done."""
    if metadata:
        from discreet.formats import metadata_path

        if output is None:
            raise InputError("--metadata writes a file beside the CSV: name that (-o table.csv)")
        metadata_path(output, format_of(output, format))
    from discreet.formats import by_name, chosen_format

    if output is not None:
        return chosen_format(output, format)
    return "csv" if format is None else by_name(format).name


def release_options(command: Callable[..., None]) -> Callable[..., None]:
    """Where a release goes (``output``) and in which format (``format``)."""
    kinds = ".csv .xlsx .json .sdmx.csv .px .parquet .html .sbs"
    path = click.Path(path_type=Path)
    names = "csv, csv-notes, xlsx, json-stat, sdmx-csv, px, parquet, html, argus-csv or sbs"
    out = click.option("-o", "--output", type=path, help=f"Write here instead of to stdout: {kinds}.")
    words = "Beside a CSV, write its method, notes and quality (CSV on the Web)."
    metadata = click.option("--metadata", is_flag=True, help=words)
    named = click.option("--format", metavar="NAME", help=f"The format, whatever the suffix: {names}.")
    return out(named(metadata(command)))


def plain_json(item: Any) -> Any:
    """Plain data that every reader of JSON takes: numbers that are none or endless are null."""
    if isinstance(item, Mapping):
        return {str(key): plain_json(value) for key, value in item.items()}
    if isinstance(item, (list, tuple)):
        return [plain_json(value) for value in item]
    item = item.item() if hasattr(item, "item") else item  # NumPy's numbers
    return None if isinstance(item, float) and not math.isfinite(item) else item


def emit_json(content: Any) -> None:
    """Plain data to stdout as JSON."""
    emit((json.dumps(plain_json(content), indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode(), None)


@contextmanager
def working(what: str) -> Iterator[None]:
    """A spinner on stderr while something takes its time; nothing when stderr is not a terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal or not heard("info"):
        yield
        return
    with console.status(what):
        yield


@contextmanager
def bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on stderr for work that reports (done, total); nothing when stderr is not a terminal.

    What is yielded has a method ``tell(cost, bound)`` for work that closes in on a least cost.
    """
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    if not console.is_terminal or not heard("info"):
        yield lambda done, total: None
        return
    with Progress(console=console, transient=True) as shown:
        yield Bar(shown, what)


class Bar:
    """Progress as a call, and how near the best found so far is to the best there can be."""

    def __init__(self, shown: Any, what: str) -> None:
        self.shown, self.what = shown, what
        self.task = shown.add_task(what, total=None)

    def __call__(self, done: int, total: int) -> None:
        self.shown.update(self.task, completed=done, total=total)

    def tell(self, cost: float, bound: float) -> None:
        """Cost of the best pattern so far, and a bound that no pattern can go below."""
        self.shown.update(self.task, description=f"{self.what}: cost {cost:,.6g}, bound {bound:,.6g}")
