"""The table and the records that the options of a command name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.cli.console import say
from discreet.cli.option_texts import filters, missing_of, names_of, total_of
from discreet.errors import InputError, listed

if TYPE_CHECKING:
    from discreet.data.codebook import Codebook
    from discreet.data.dimension import Dimension
    from discreet.data.microdata import Microdata
    from discreet.tables.table import Table


def load_table(
    *,
    data: Path | str,
    by: str = "",
    codebook: Path | None = None,
    value: str | None = None,
    where: Sequence[str] = (),
    missing: Sequence[str] = (),
    nested: bool | None = None,
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
    from discreet.tables.tabulation import tabulate

    if ready:
        of_records = {
            "--where": where or None,
            "--missing": missing or None,
            "--table": database_table,
            "--engine": engine,
        }
        _refuse_of_records(data, of_records, weighted, memory)
        assert isinstance(data, Path)
        if codebook is not None and is_rda(codebook):
            from discreet.formats import argus

            return argus.read_table(data, codebook, response=value, totals=totals, total=total_of(total)).table
        from discreet.cli.ready import read_ready_file
        from discreet.data.codebook import read_codebook

        coded = () if codebook is None else read_codebook(codebook).dimensions
        known = {d.name: d for d in (*dimensions, *coded)}
        return read_ready_file(data, names_of(by), known, count, value, totals, total_of(total), decimal, thousands)
    _refuse_of_cells(count, decimal, thousands, total)
    if not names_of(by):
        raise InputError("name the dimensions of the table: --by county,sex (or --ready for a table of cells)")
    chosen = filters(where, codebook, names_of(by))
    records = open_microdata(
        data, codebook, names_of(by), value, missing_of(missing), database_table, engine, memory, weighted=weighted
    )
    names = names_of(by)
    if nested is True or (nested is None and codebook is None and len(names) > 1):
        from discreet.data.nested_columns import with_nested_columns

        levels = with_nested_columns(records, names)
        records, names = levels.data, list(levels.by)
        for line in levels.words:
            say(line)
    return tabulate(records, by=names, value=value, where=chosen, top=top)


def _refuse_of_records(
    data: Path | str, of_records: Mapping[str, Any], weighted: bool | None, memory: str | None
) -> None:
    """Refuse what is said of records where a table of cells is given."""
    if isinstance(data, str):
        raise InputError("a table of cells (--ready) is a file; the URL of a database stands for records")
    if dropped := [name for name, option in of_records.items() if option is not None]:
        raise InputError(f"{listed(dropped)}: for records; a table of cells (--ready) is taken as it is")
    if weighted is not None:
        raise InputError("--weighted is for records; a table of cells (--ready) has been summed already")
    if memory is not None:
        raise InputError("--memory is for counting records; a table of cells (--ready) has been counted already")


def _refuse_of_cells(count: str | None, decimal: str | None, thousands: str | None, total: Sequence[str]) -> None:
    """Refuse what is said of a table of cells where records are given."""
    if count is not None:
        raise InputError("--count names a column of a table of cells (--ready); records are counted without")
    if decimal is not None or thousands is not None:
        raise InputError("--decimal and --thousands are for a table of cells (--ready)")
    if total:
        raise InputError("--total says which code of a table is its total; it goes with --ready, records have none")


def open_microdata(
    data: Path | str,
    codebook: Path | None,
    names: Sequence[str],
    value: str | None,
    missing: str | Mapping[str, str] | None,
    database_table: str | None,
    engine: str | None = None,
    memory: str | None = None,
    *,
    weighted: bool | None = None,
) -> Microdata:
    """Microdata by codebook, or with the codes that the named columns happen to hold."""
    from discreet.data.microdata import Microdata

    if codebook is not None and is_rda(codebook):
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
    options = ("data", "codebook", "value", "database_table", "engine", "memory", "weighted")
    missing = missing_of(which["missing"])
    return open_microdata(names=names, missing=missing, **{option: which[option] for option in options})


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
