"""Which reader a file is for: by its suffix, as the writers have it."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

from discreet.errors import DiscreetError, InputError, nearest
from discreet.tables.reading.delimited import delimited
from discreet.tables.reading.excel_file import excel_file
from discreet.tables.reading.html_file import html_file
from discreet.tables.reading.jsonstat_file import jsonstat_file
from discreet.tables.reading.number_cells import PLAIN_SIGNS, NumberSigns
from discreet.tables.reading.parquet_file import parquet_file
from discreet.tables.reading.px_file import px_file
from discreet.tables.reading.raw_table import OtherLayoutError, RawTable
from discreet.tables.reading.sdmx_file import sdmx_file
from discreet.tables.reading.statuses import with_meant_status

Reader = Callable[[Path, NumberSigns], RawTable]


def _of_numbers(reader: Callable[[Path], RawTable]) -> Reader:
    """A reader of a format in which numbers are numbers, so that nothing need be said of their signs."""
    return lambda path, signs: reader(path)


WHOLE_FILES: Mapping[str, Reader] = {
    ".sdmx.csv": sdmx_file,
    ".xlsx": excel_file,
    ".json": _of_numbers(jsonstat_file),
    ".px": _of_numbers(px_file),
    ".parquet": _of_numbers(parquet_file),
    ".html": html_file,
    ".htm": html_file,
}
"""Readers of formats that say themselves which columns are numbers."""
DELIMITED = (".csv", ".tsv", ".txt")
SHEETS = (".ods", ".xlsm", ".xltx", ".xltm", ".tab")


def raw_table(path: Path, measures: int | None, signs: NumberSigns = PLAIN_SIGNS) -> RawTable:
    """The rows of a published table, whatever the format of its file."""
    name = path.name.lower()
    for suffix, reader in WHOLE_FILES.items():
        if name.endswith(suffix):
            if measures is not None or signs.decimal is not None or signs.thousands is not None:
                raise InputError(f"{path.name!r}: --measures, --decimal and --thousands are for CSV; leave them out")
            return with_meant_status(_whole(reader, path, signs), signs.marks)
    if not name.endswith(DELIMITED) and path.suffix:
        if name.endswith(SHEETS):
            raise OtherLayoutError(
                f"{path.name!r} is a sheet in a layout of its own; save it as CSV, or read it as one"
            )
        known = [*WHOLE_FILES, *DELIMITED, *SHEETS]
        raise InputError(f"{path.name!r}: no format for {path.suffix!r} is known; {nearest(path.suffix, known)}")
    return with_meant_status(delimited(path, measures, signs), signs.marks)


def _whole(reader: Reader, path: Path, signs: NumberSigns) -> RawTable:
    """What a reader makes of a file; one that is damaged is said to be, without a word of its content."""
    damaged = (LookupError, TypeError, ValueError, AttributeError, NotImplementedError, EOFError, zlib.error)
    try:
        return reader(path, signs)
    except DiscreetError:
        raise
    except Exception as error:
        if not isinstance(error, damaged) and not type(error).__module__.startswith("pyarrow"):
            raise
        raise InputError(f"{path.name!r} is damaged: its parts do not fit together; write it again") from None
