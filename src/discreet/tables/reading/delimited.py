"""CSV with any separator: dimensions, then columns of numbers, then a status, or none."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from discreet.base.annotations import Array
from discreet.base.naming import STATUS, meant, unused
from discreet.base.texts import numbered_rows, read_text
from discreet.errors import InputError, many
from discreet.tables.reading.number_cells import (
    PLAIN_SIGNS,
    NumberCells,
    NumberSigns,
    assumed_of,
    may_be_numbers,
    number_cells,
)
from discreet.tables.reading.raw_table import (
    HIDDEN,
    NOT_AVAILABLE,
    OtherLayoutError,
    RawTable,
    SeveralColumnsError,
    own_labels,
)
from discreet.tables.total_names import USUAL, like_a_total

NOTE = re.compile("# (title|unit|variable|source|method|status|note): ")  # a line of format "csv-notes" above the table
LIKE_MEASURES = ("count", "value", "obs_value", "n", "sum", "number", "frequency", "freq", "weight")
SEPARATORS = (",", ";", "\t", "|")
LOOKED_AT = 40  # lines by which the separator is found
FEW_LINES = 8  # up to here lines are not taken for records


def delimited(path: Path, measures: int | None, signs: NumberSigns = PLAIN_SIGNS) -> RawTable:
    """A table of a CSV; its separator is the sign that parts its lines into the same number of fields."""
    lines = _lines(path, measures, signs)
    head, columns = lines.head, list(zip(*lines.rows, strict=True))
    behind = 1 if _has_status(head) else 0
    if measures is None:
        _one_measure(path, head[: len(head) - behind], columns, behind, signs)
        _no_records(path, head[: len(head) - behind], columns[: len(head) - behind])
        measures = 1
    split = len(head) - behind - measures
    cells: dict[str, NumberCells] = {}
    for at in range(split, split + measures):
        name = meant(head[at], head[:at])
        if name in cells:
            raise InputError(f"{path.name!r}: two columns of numbers are called {name!r}")
        what = f"{path.name!r}: column {name!r}"
        plain = lines.separator == ","
        cells[name] = number_cells(columns[at], what, plain=plain, signs=signs, lines=lines.numbers)
    names, codes, labels = _without_labels(head[:split], columns[:split])
    return RawTable(
        name=path.name,
        names=tuple(names),
        codes=tuple(codes),
        values={name: own.values for name, own in cells.items()},
        decimals={name: own.decimals for name, own in cells.items()},
        status=_status(np.array(columns[-1], object) if behind else None, list(cells.values())),
        labels=labels,
        words={k: v for k, v in lines.words if k in ("title", "source", "method")},
        notes=tuple(v for k, v in lines.words if k == "note"),
        assumed=assumed_of(cells.values()),
        ranges={name: own.ranges for name, own in cells.items() if own.ranges is not None},
        lines=lines.numbers,
    )


def _status(column: Array | None, cells: Sequence[NumberCells]) -> Array:
    """The status of every row: as its column says, else by the marks in place of all of its numbers."""
    gone = np.logical_and.reduce([np.isnan(own.values) for own in cells])
    nobody = np.logical_and.reduce([own.status == NOT_AVAILABLE for own in cells])
    if column is None:
        return np.where(nobody, NOT_AVAILABLE, np.where(gone, HIDDEN, ""))
    return np.where(nobody & (column == ""), NOT_AVAILABLE, column)


def _has_status(head: Sequence[str]) -> bool:
    return bool(head) and head[-1] == unused(STATUS, head[:-1])


@dataclass(frozen=True)
class _Lines:
    """A CSV: its head, the rows below it and the lines they begin in, the notes above, the separator."""

    head: list[str]
    rows: list[list[str]]
    numbers: list[int]
    words: list[tuple[str, str]]
    separator: str


def _lines(path: Path, measures: int | None, signs: NumberSigns) -> _Lines:
    """The lines of a file, which must have dimensions and, behind them, numbers."""
    texts = read_text(path).splitlines(keepends=True)
    above = next((n for n, line in enumerate(texts) if not NOTE.match(line)), len(texts))
    words = [(match[1], line[match.end() :].strip()) for line in texts[:above] if (match := NOTE.match(line))]
    said = re.fullmatch(r"sep=(.)\s*", texts[above]) if above < len(texts) else None  # Excel's own
    above += said is not None
    body = "".join(texts[above:])
    separator = said[1] if said else _separator(body)
    numbers, rows = numbered_rows(body, separator, repr(path.name))
    numbers = [number + above for number in numbers]
    head = rows[0] if rows else []
    behind = 1 if _has_status(head) else 0
    fits = len(head) >= (measures or 1) + 1 + behind and bool(rows[1:])
    if fits and not behind:
        ends = [row[-1] for row in rows[1:] if len(row) == len(head)]
        fits = may_be_numbers(ends, signs.marks, named=head[-1].strip().lower() in LIKE_MEASURES)
    if not fits:
        raise OtherLayoutError(_no_table(path, measures))
    if bad := next((n for n, row in enumerate(rows) if len(row) != len(head)), 0):
        mostly = 2 * sum(len(row) == len(head) for row in rows) > len(rows)
        if not mostly and not behind:  # the first line is no head but a title with a sign that seems to part fields
            raise OtherLayoutError(_no_table(path, measures))
        raise InputError(
            f"{path.name!r} line {numbers[bad]}: {many(len(rows[bad]), 'field')} where the head has {len(head)}"
        )
    return _Lines(head, rows[1:], numbers[1:], words, separator)


def _no_table(path: Path, measures: int | None) -> str:
    several = measures or 1
    return (
        f"{path.name!r} is not a table of cells: its columns are the dimensions, then the numbers ({several}; "
        f"--measures N, measures=N says how many), then perhaps {STATUS!r} ({HIDDEN!r} where a number is not shown, "
        f"else empty). If its lines are records, count them first: discreet tabulate {path.name} --by ..."
    )


def _separator(body: str) -> str:
    """The sign that parts the first lines into the same number of fields, the most of them."""
    start = "".join(body.splitlines(keepends=True)[:LOOKED_AT])
    widths: dict[str, tuple[bool, int]] = {}
    for sign in SEPARATORS:
        try:
            fields = [len(row) for row in csv.reader(io.StringIO(start, newline=""), delimiter=sign) if row]
        except csv.Error:
            fields = []
        if fields:
            widths[sign] = (len(set(fields)) == 1 and fields[0] > 1, fields[0])
    return max(widths, key=lambda sign: widths[sign]) if widths else ","


def _one_measure(
    path: Path, head: Sequence[str], columns: Sequence[Sequence[str]], behind: int, signs: NumberSigns
) -> None:
    """Refuse to take a column of numbers for a dimension where the columns before it name every cell already."""
    at = len(head) - 2
    numbers = [x for x in columns[at] if x] if at > 0 else []
    if not numbers or not may_be_numbers(numbers, signs.marks):
        return
    crossed = any(like_a_total(name) == USUAL for name in head[1:])  # side by side with their total: no measures
    if len(set(columns[at])) == 1 and head[at].lower() not in LIKE_MEASURES and _is_code(numbers[0], crossed):
        return
    if len(set(zip(*columns[:at], strict=True))) == len(columns[at]):
        before = f"the columns before {STATUS!r}" if behind else "the columns"
        raise (OtherLayoutError if crossed and not behind else SeveralColumnsError)(
            f"{path.name!r}: column {head[at]!r} looks like numbers of cells, not like a dimension: say how many of "
            f"{before} are numbers: measures=2 (--measures 2) if it is one of them, measures=1 "
            "(--measures 1) if it is a dimension"
        )


def _is_code(text: str, crossed: bool) -> bool:
    """Whether what stands in all cells of a column may be a code: a year, say, but no mark of hidden numbers.

    A small count may stand in all cells of a column, too, where the columns are ``crossed``.

    >>> _is_code("2024", True), _is_code("3", True), _is_code("3", False), _is_code("<8", False)
    (True, False, True, False)
    """
    return re.fullmatch(r"(?:1[89]|2[01])\d\d", text.strip()) is not None or (text.strip().isdecimal() and not crossed)


def _no_records(path: Path, head: Sequence[str], columns: Sequence[Sequence[str]]) -> None:
    """Refuse records: lines that repeat codes, or that have a code each while most combinations do not occur."""
    names, codes = head[:-1], columns[:-1]
    several = len(codes[0])
    distinct = len(set(zip(*codes, strict=True)))
    counting = f"count them first: discreet tabulate {path.name} --by {','.join(names[:2])}"
    if several > FEW_LINES and 2 * distinct < several:
        raise InputError(
            f"{path.name!r}: {several - distinct:,} of {several:,} lines repeat the codes of another line, so that "
            f"these look like records and not like a table; {counting}"
        )
    kinds = [len(set(column)) for column in codes]
    own = [name for name, kind in zip(names, kinds, strict=True) if kind == several]
    totals = any(like_a_total(code) for column in codes for code in set(column))
    if several > FEW_LINES and len(names) > 1 and own and not totals and 4 * several < math.prod(kinds):
        raise InputError(
            f"{path.name!r}: every line has a code of {own[0]!r} to itself and no code is a total, so that these look "
            f"like records and not like a table; {counting}. If it is a table, say so: --measures 1 (measures=1)"
        )


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
