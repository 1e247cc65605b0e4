"""Ways out for a Release: a file format for every reader, chosen by the file's suffix.

Writers take a Release and nothing else, and give the same bytes each time.
"""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.base.arguments import checked
from discreet.base.files import write_whole
from discreet.errors import InputError, listed, nearest
from discreet.release import Release


@dataclass(frozen=True)
class Format:
    """A way to write a release: ``function`` of ``module`` turns it into bytes."""

    name: str
    suffix: str
    media_type: str
    description: str
    module: str
    function: str = "to_bytes"


FORMATS = (
    Format("csv", ".csv", "text/csv; charset=utf-8", "CSV (RFC 4180)", "csv"),
    Format("csv-notes", ".notes.csv", "text/csv; charset=utf-8", "CSV below its notes", "csv", "with_notes"),
    Format("csvw", ".csv-metadata.json", "application/csvm+json", "metadata to stand beside a CSV", "csv", "metadata"),
    Format(
        "xlsx",
        ".xlsx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "Excel, one sheet per layer",
        "xlsx",
    ),
    Format("json-stat", ".json", "application/json", "JSON-stat 2.0", "jsonstat"),
    Format("sdmx-csv", ".sdmx.csv", "application/vnd.sdmx.data+csv;version=2.0.0", "SDMX-CSV 2.0", "sdmx"),
    Format("px", ".px", "text/x-pcaxis", "PX (PC-Axis, PxWeb)", "px"),
    Format("parquet", ".parquet", "application/vnd.apache.parquet", "Parquet", "parquet"),
    Format("html", ".html", "text/html; charset=utf-8", "HTML, one page to read", "html"),
    Format("argus-csv", ".argus.csv", "text/csv; charset=utf-8", "tau-ARGUS code-value file", "argus.writing"),
    Format("sbs", ".sbs", "text/csv; charset=utf-8", "tau-ARGUS SBS file", "argus.writing", "to_sbs"),
)
NAMES = tuple(f.name for f in FORMATS)


@checked
def by_name(name: str) -> Format:
    """The format of that name.

    >>> by_name("px").suffix
    '.px'
    """
    for known in FORMATS:
        if known.name == name:
            return known
    raise InputError(f"unknown format {name!r}; {nearest(name, NAMES)}")


@checked
def by_suffix(path: str | Path) -> Format:
    """The format that a file's suffix names; the longest suffix that fits.

    >>> by_suffix("table.sdmx.csv").name, by_suffix("table.CSV").name
    ('sdmx-csv', 'csv')
    """
    name = Path(path).name.lower()
    fitting = [known for known in FORMATS if name.endswith(known.suffix)]
    if fitting:
        return max(fitting, key=lambda known: len(known.suffix))
    suffix = Path(name).suffix
    if not suffix:
        raise InputError(f"{Path(path).name!r} has no suffix to choose a format by: {listed(_suffixes(), 12)}")
    raise InputError(f"no format for {suffix!r}; {nearest(suffix, _suffixes())}")


@checked
def to_bytes(release: Release, format: str = "csv", **options: Any) -> bytes:
    """A release in a format, as bytes; ``options`` are those of the format's writer.

    >>> from discreet import Publish, Table
    >>> to_bytes(Publish()(Table.of([3], ["sex"])).release())
    b'sex,count,status\\r\\nTotal,3,\\r\\n1,3,\\r\\n'
    """
    known = by_name(format)
    if not isinstance(release, Release):
        raise InputError(f"only a Release is written, not a {type(release).__name__}; make one with .release()")
    if not len(release) or not release.values:
        raise InputError("the release has no cells; there is nothing to write")
    release.check_marked()
    writer = getattr(importlib.import_module(f"{__name__}.{known.module}"), known.function)
    allowed = [name for name in inspect.signature(writer).parameters if name != "release"]
    for name in options:
        if name not in allowed:
            tail = nearest(name, allowed) if allowed else "it takes none"
            raise InputError(f"format {format!r} has no option {name!r}; {tail}")
    content: bytes = writer(release, **options)
    return content


@checked
def write(
    release: Release, path: str | Path, *, format: str | None = None, metadata: bool = False, **options: Any
) -> Path:
    """Write a release to a file, whole or not at all, in the format its suffix (or ``format``) names.

    With ``metadata`` a CSV gets a file of CSV on the Web metadata beside it, with the method and the notes, such as the
    stated quality; it is written first, so that a CSV never stands there without it.

    >>> import tempfile
    >>> import discreet as dc
    >>> release = dc.protect(dc.Table.of([[3, 8], [16, 23]], ["age", "sex"]), dc.Round(5)).release()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(release, Path(folder) / "table.csv").name
    'table.csv'
    """
    name = chosen_format(path, format)
    data = to_bytes(release, name, **options)
    if metadata:
        write_whole(metadata_path(path, name), to_bytes(release, "csvw", url=Path(path).name, **options))
    write_whole(path, data)
    return Path(path)


@checked
def metadata_path(path: str | Path, format: str) -> Path:
    """Where the metadata of a CSV go."""
    if format != "csv":
        raise InputError(f"metadata stand beside format 'csv'; format {format!r} has its words within")
    return Path(f"{path}-metadata.json")


@checked
def chosen_format(path: str | Path, format: str | None = None) -> str:
    """The format that a file gets: that of its suffix, or the given one unless the suffix is another format's.

    >>> chosen_format("table.dat", "csv"), chosen_format("table.px")
    ('csv', 'px')
    """
    if format is None:
        return by_suffix(path).name
    known, name = by_name(format), Path(path).name.lower()
    others = [other for other in FORMATS if name.endswith(other.suffix)]
    if others and not name.endswith(known.suffix) and not any(_alike(known, other) for other in others):
        raise InputError(
            f"{Path(path).name!r} has the suffix of format {others[-1].name!r}, not of {known.name!r}; "
            f"name it with {known.suffix!r}, or leave the format out"
        )
    return known.name


def _alike(one: Format, other: Format) -> bool:
    """Whether two formats are the same kind of text, so that one may bear the other's suffix."""
    return one.suffix.rpartition(".")[2] == other.suffix.rpartition(".")[2]


def _suffixes() -> list[str]:
    return [known.suffix for known in FORMATS]
