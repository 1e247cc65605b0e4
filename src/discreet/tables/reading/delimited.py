"""CSV with any separator: dimensions, then columns of numbers, then a status, or none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from discreet.base.naming import STATUS, meant, unused
from discreet.base.texts import csv_rows, read_text
from discreet.errors import InputError
from discreet.tables.reading.number_cells import may_be_numbers, number_cells
from discreet.tables.reading.raw_table import HIDDEN, RawTable, own_labels

NOTE = re.compile("# (title|source|method|status|note): ")  # a line of format "csv-notes" above the table
LIKE_MEASURES = ("count", "value", "obs_value", "n", "sum", "number", "frequency", "freq", "weight")
SEPARATORS = (",", ";", "\t", "|")


def delimited(
    path: Path, measures: int | None, *, decimal: str | None = None, thousands: str | None = None
) -> RawTable:
    """A table of a CSV; its separator is the sign that parts the first line most often."""
    head, rows, above, words, separator = _rows(path, measures)
    columns = list(zip(*rows, strict=True))
    behind = 1 if _has_status(head) else 0
    if measures is None:
        _one_measure(path, head[: len(head) - behind], columns, behind)
        measures = 1
    split = len(head) - behind - measures
    values, decimals, ranges = {}, {}, {}
    for at in range(split, split + measures):
        name = meant(head[at], head[:at])
        if name in values:
            raise InputError(f"{path.name!r}: two columns of numbers are called {name!r}")
        what = f"{path.name!r}: column {name!r}"
        cells = number_cells(columns[at], what, plain=separator == ",", decimal=decimal, thousands=thousands)
        values[name], decimals[name] = cells.values, cells.decimals
        if cells.ranges is not None:
            ranges[name] = cells.ranges
    names, codes, labels = _without_labels(head[:split], columns[:split])
    gone = np.logical_and.reduce([np.isnan(v) for v in values.values()])
    status = np.array(columns[-1]) if behind else np.where(gone, HIDDEN, "")
    return RawTable(
        name=path.name,
        names=tuple(names),
        codes=tuple(codes),
        values=values,
        decimals=decimals,
        status=status,
        labels=labels,
        words={k: v for k, v in words if k in ("title", "source", "method")},
        notes=tuple(v for k, v in words if k == "note"),
        ranges=ranges,
        line=above + 2,
    )


def _has_status(head: Sequence[str]) -> bool:
    return bool(head) and head[-1] == unused(STATUS, head[:-1])


def _rows(path: Path, measures: int | None) -> tuple[list[str], list[list[str]], int, list[tuple[str, str]], str]:
    """The head, the lines below it, how many lines of notes stand above, these, and the separator."""
    lines = read_text(path).splitlines(keepends=True)
    above = next((n for n, line in enumerate(lines) if not NOTE.match(line)), len(lines))
    words = [(match[1], line[match.end() :].strip()) for line in lines[:above] if (match := NOTE.match(line))]
    first = lines[above] if above < len(lines) else ""
    separator = max(SEPARATORS, key=first.count)
    rows = [row for row in csv_rows("".join(lines[above:]), separator, repr(path.name)) if row]
    head = rows[0] if rows else []
    behind = 1 if _has_status(head) else 0
    fits = len(head) >= (measures or 1) + 1 + behind and bool(rows[1:])
    if fits and not behind:
        ends = [row[-1] for row in rows[1:] if len(row) == len(head)]
        fits = may_be_numbers(ends)
    if not fits:
        raise InputError(
            f"{path.name!r} is no table that discreet wrote: its columns are the dimensions, then the numbers "
            f"({measures or 1}; --measures N, measures=N says how many), then {STATUS!r} ({HIDDEN!r} where a number is "
            "not shown, else empty), with commas between; write the table so, or make one with `discreet tabulate`"
        )
    if bad := next((n for n, row in enumerate(rows, 1) if len(row) != len(head)), 0):
        raise InputError(f"{path.name!r} line {bad}: {len(rows[bad - 1])} fields where the head has {len(head)}")
    return head, rows[1:], above, words, separator


def _one_measure(path: Path, head: Sequence[str], columns: Sequence[Sequence[str]], behind: int) -> None:
    """Refuse to take a column of numbers for a dimension where the columns before it name every cell already."""
    at = len(head) - 2
    numbers = [x for x in columns[at] if x] if at > 0 else []
    if not numbers or not may_be_numbers(numbers) or not all(_plain_number(x) for x in numbers):
        return
    if len(set(columns[at])) == 1 and head[at].lower() not in LIKE_MEASURES:
        return  # one year, say
    if len(set(zip(*columns[:at], strict=True))) == len(columns[at]):
        before = f"the columns before {STATUS!r}" if behind else "the columns"
        raise InputError(
            f"{path.name!r}: column {head[at]!r} looks like numbers of cells, not like a dimension: say how many of "
            f"{before} are numbers: measures=2 (--measures 2) if it is one of them, measures=1 "
            "(--measures 1) if it is a dimension"
        )


def _plain_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _without_labels(
    head: Sequence[str], columns: Sequence[Sequence[str]]
) -> tuple[list[str], list[Sequence[str]], dict[str, dict[str, str]]]:
    """Columns of codes; one called "sex label" behind "sex" has the labels of its codes."""
    names: list[str] = []
    codes: list[Sequence[str]] = []
    labels: dict[str, dict[str, str]] = {}
    for name, column in zip(head, columns, strict=True):
        if names and name.rstrip("_") == f"{names[-1]} label":
            labels[names[-1]] = own_labels(dict(zip(codes[-1], column, strict=True)))
        else:
            names.append(name)
            codes.append(column)
    return names, codes, labels
