"""Tables of cells in files: a row for each cell, totals included or not."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.base.naming import STATUS, meant, unused
from discreet.base.number_texts import parse_number
from discreet.errors import InputError, headings, many
from discreet.release import CONFIDENTIAL, OPEN

if TYPE_CHECKING:
    import pandas as pd

    from discreet.data.dimension import Dimension
    from discreet.tables.table import Table


def read_ready_file(
    data: Path,
    names: Sequence[str],
    known: Mapping[str, Dimension],
    count: str | None,
    value: str | None,
    totals: str = "check",
    total: str | Mapping[str, str | None] | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
) -> Table:
    """A CSV or Parquet file of cells; one that discreet wrote names its dimensions and measure itself."""
    from discreet.tables.table import Table

    frame = read_parquet(data) if data.suffix.lower() == ".parquet" else read_csv(data)
    ours = _has_status(frame, names)
    if ours:
        frame, count, value = _without_status(frame, data, count, value)
        decimal = decimal or "."
    held = {count or ("count" if value is None else None), value} - set(names)
    measured = [column for column in frame.columns if column in held]
    decimals = None
    for column in measured:
        if data.suffix.lower() != ".parquet":  # the precision that the file itself states
            numbers, stated = parse_number(frame[column].tolist(), repr(column), decimal=decimal, thousands=thousands)
            frame[column] = numbers
            decimals = stated if column == value else decimals
    wanted = list(names) or [str(c) for c in frame.columns if c not in measured]
    return Table.of(
        frame,
        [known.get(n, n) for n in wanted],
        count=count,
        value=value,
        decimals=decimals,
        totals=totals,
        total=total,
    )


def _has_status(frame: pd.DataFrame, names: Sequence[str]) -> bool:
    """Whether the last column is the status of a table that discreet wrote, rather than a dimension called so."""
    *others, last = frame.columns
    held = set(frame[last].fillna(OPEN).astype(str))
    return last == unused(STATUS, others) and last not in names and held <= {OPEN, CONFIDENTIAL}


def _without_status(
    frame: pd.DataFrame, data: Path, count: str | None, value: str | None
) -> tuple[pd.DataFrame, str | None, str | None]:
    """The table without its status, and which column holds its counts or its magnitude."""
    if hidden := int((frame.iloc[:, -1].fillna(OPEN) != OPEN).sum()):
        raise InputError(f"{data.name!r} has {many(hidden, 'hidden cell')}; a table of all cells is needed here")
    frame = frame.iloc[:, :-1].copy()
    *others, last = (str(c) for c in frame.columns)
    if count is None and value is None:
        if meant(last, others) == "count":
            count = last
        else:
            value = last
    return frame, count, value


def read_parquet(path: Path) -> pd.DataFrame:
    """A Parquet file of cells."""
    import pandas as pd

    try:
        return pd.read_parquet(path)
    except (OSError, ValueError):
        raise InputError(f"cannot read {path.name!r} as Parquet") from None


def read_csv(path: Path) -> pd.DataFrame:
    """A CSV as text, so that codes keep their leading zeros."""
    import csv

    import pandas as pd

    from discreet.base.texts import as_csv, read_text

    text = read_text(path)
    if not text.strip():
        raise InputError(f"{path.name!r} is empty")
    delimiter = max(",;\t|", key=text.split("\n", 1)[0].count)
    with as_csv(repr(path.name)):
        head = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    if len(set(head)) < len(head):
        raise InputError(f"{path.name!r} has two columns of one name; rename one: {headings(head)}")
    try:
        return pd.read_csv(io.StringIO(text), dtype=str, sep=delimiter, keep_default_na=False)
    except ValueError:
        raise InputError(f"{path.name!r} is not a CSV file: its rows have different numbers of fields") from None
