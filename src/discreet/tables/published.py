"""Reading a published table back: codes, numbers with hidden ones among them, and which codes are totals."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.base.naming import STATUS, meant, unused
from discreet.base.texts import csv_rows, read_text
from discreet.data.dimension import Dimension
from discreet.errors import InputError, nearest
from discreet.tables import groups, totals
from discreet.tables.total_names import like_a_total

if TYPE_CHECKING:
    from discreet.data.codebook import Codebook

Array = NDArray[Any]
NOTE = re.compile("# (title|source|method|status|note): ")  # a line of format "csv-notes" above the table
HIDDEN = "c"
LIKE_MEASURES = ("count", "value", "obs_value", "n", "sum", "number", "frequency", "freq", "weight")


@dataclass(frozen=True, eq=False)
class Published:
    """The parts of a release that a file holds."""

    dimensions: tuple[Dimension, ...]
    codes: Array
    values: dict[str, Array]
    decimals: dict[str, int]
    status: Array
    doubts: tuple[str, ...] = ()
    """What of its sums the file does not tell, in words."""
    words: Mapping[str, str] = field(default_factory=dict)
    """Title, source and method, where the file has them."""
    notes: tuple[str, ...] = ()
    ranges: Mapping[str, tuple[Array, Array]] = field(default_factory=dict)
    """Per measure the least and greatest value where a range stands for one, else minus infinity and infinity."""


def read_published(
    path: Path, codebook: Codebook | None, measures: int | None, total: totals.Totals, *, find: bool = True
) -> Published:
    """A CSV whose columns are dimensions, then ``measures`` columns of numbers, then the status, whatever their names.

    There is one such column unless stated, and a second that looks like one is asked about. The codes are those of the
    file in their order, unless the codebook knows the dimension. Without ``find`` only a total that is said, or called
    "Total", is one: enough to draw the table, not to judge it.
    """
    head, rows, above = _rows(path, measures)
    columns = list(zip(*rows, strict=True))
    if measures is None:
        _one_measure(path, head, columns)
        measures = 1
    split = len(head) - 1 - measures
    values, decimals = {}, {}
    for at, column in zip(range(split, len(head) - 1), columns[split:-1], strict=True):
        name = meant(head[at], head[:at])
        if name in values:
            raise InputError(f"{path.name!r}: two columns of numbers are called {name!r}")
        if not all(_is_number(x) for x in column if x):
            raise InputError(f"{path.name!r}: column {name!r} should hold numbers")
        values[name] = np.array([float(x) if x else np.nan for x in column])
        decimals[name] = max(len(x.partition(".")[2]) for x in column)
    names = tuple(head[:split])
    if repeated := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise InputError(f"{path.name!r}: {len(repeated):,} columns are called as others are; rename them")
    _named_cells(path, names, columns[:split], above + 2)
    cells = _cells(names, columns[:split], values, decimals)
    dims = _dimensions(path, cells, codebook, total, find)
    codes = np.stack([[d.index(c) for c in column] for d, column in zip(dims, columns, strict=False)], axis=1)
    declared = [d.name for d in codebook.dimensions] if codebook is not None else []
    doubts = _doubts(cells, dims, {*declared, *(total if isinstance(total, Mapping) else ())}) if find else ()
    return Published(dims, codes.astype(np.int32), values, decimals, np.array(columns[-1]), doubts)


def _rows(path: Path, measures: int | None) -> tuple[list[str], list[list[str]], int]:
    """The head, the lines below it, and how many lines of notes stand above."""
    lines = read_text(path).splitlines(keepends=True)
    above = next((n for n, line in enumerate(lines) if not NOTE.match(line)), len(lines))
    rows = csv_rows("".join(lines[above:]), ",", repr(path.name))
    head = rows[0] if rows else []
    if len(head) < (measures or 1) + 2 or head[-1] != unused(STATUS, head[:-1]) or not rows[1:]:
        raise InputError(
            f"{path.name!r} is no table that discreet wrote: its columns are the dimensions, then the numbers "
            f"({measures or 1}; --measures N, measures=N says how many), then {STATUS!r} ({HIDDEN!r} where a number is "
            "not shown, else empty), with commas between; write the table so, or make one with `discreet tabulate`"
        )
    if bad := next((n for n, row in enumerate(rows, 1) if len(row) != len(head)), 0):
        raise InputError(f"{path.name!r} line {bad}: {len(rows[bad - 1])} fields where the head has {len(head)}")
    return head, rows[1:], above


def _one_measure(path: Path, head: Sequence[str], columns: Sequence[Sequence[str]]) -> None:
    """Refuse to take a column of numbers for a dimension where the columns before it name every cell already."""
    at = len(head) - 3
    numbers = [x for x in columns[at] if x] if at > 0 else []
    if not numbers or not all(_is_number(x) for x in numbers):
        return
    if len(set(columns[at])) == 1 and head[at].lower() not in LIKE_MEASURES:
        return  # one year, say
    if len(set(zip(*columns[:at], strict=True))) == len(columns[at]):
        raise InputError(
            f"{path.name!r}: column {head[at]!r} looks like numbers of cells, not like a dimension: say how many of "
            f"the columns before {head[-1]!r} are numbers: measures=2 (--measures 2) if it is one of them, measures=1 "
            "(--measures 1) if it is a dimension"
        )


def _named_cells(path: Path, names: Sequence[str], columns: Sequence[Sequence[str]], first: int) -> None:
    """Refuse lines without a code, and cells that stand on more than one line: either may hold what was hidden."""
    for name, column in zip(names, columns, strict=True):
        if blank := sum(not code.strip() for code in column):
            raise InputError(
                f"{path.name!r}: {blank:,} lines have no code of {name!r}; write {totals.TOTAL} where that is the "
                "total, else a name of its own"
            )
    where: dict[tuple[str, ...], int] = {}
    again = []
    for line, cell in enumerate(zip(*columns, strict=True), first):
        if where.setdefault(cell, line) != line:
            again.append((where[cell], line))
    if again:
        pairs = ", ".join(f"{one} and {other}" for one, other in again[:3]) + (" ..." if len(again) > 3 else "")
        raise InputError(
            f"{path.name!r}: {len(again):,} lines repeat the cell of another line (lines {pairs}); keep one line "
            "for each cell"
        )


def _doubts(cells: totals.Cells, dims: Sequence[Dimension], known: Container[str]) -> tuple[str, ...]:
    """Which dimensions have no total, and codes that may be groups of others: what only a codebook tells."""
    doubts = []
    for axis, d in enumerate(dims):
        if d.total is None and d.name not in known and groups.possible_group(cells, axis):
            doubts.append(
                f"no total found for {d.name!r}, and some of its codes may be sums of others, so that more is known "
                "than this audit sees: give a codebook, name its total, or say that there is none and no code is a sum "
                f"of others: {totals.option(d.name, None)}"
            )
    return tuple(doubts)


def _cells(
    names: tuple[str, ...], columns: Sequence[Sequence[str]], values: dict[str, Array], decimals: dict[str, int]
) -> totals.Cells:
    codes = tuple(tuple(dict.fromkeys(column)) for column in columns)
    place = [{code: k for k, code in enumerate(held)} for held in codes]
    return totals.Cells(
        names=names,
        codes=codes,
        position=tuple(np.array([p[c] for c in column]) for p, column in zip(place, columns, strict=True)),
        numbers=tuple(np.rint(np.nan_to_num(v) * 10.0 ** decimals[n]) for n, v in values.items()),
        loose=tuple(name != "count" for name in values),
        shown=np.logical_and.reduce([~np.isnan(v) for v in values.values()]),
        absent_is_zero=False,
    )


def _dimensions(
    path: Path, cells: totals.Cells, codebook: Codebook | None, total: totals.Totals, find: bool
) -> tuple[Dimension, ...]:
    names = cells.names
    known = {} if codebook is None else {d.name: d for d in codebook.dimensions if d.name in names}
    if codebook is not None and not known:
        listing = [d.name for d in codebook.dimensions]
        raise InputError(f"{path.name!r} has no dimension that the codebook knows; {nearest(names[0], listing)}")
    if find:
        total_of = totals.find_totals(cells, total, declared=known)
    else:
        total_of = totals.stated(total, names, dict(zip(names, cells.codes, strict=True)))
    return tuple(
        _known(path, known[name], held, total_of) if name in known else _flat(name, held, total_of.get(name))
        for name, held in zip(names, cells.codes, strict=True)
    )


def _flat(name: str, held: Sequence[str], total: str | None) -> Dimension:
    """A dimension of the codes that occur; one that is nothing but its total has that as its only code."""
    codes = [code for code in held if code != total]
    return Dimension.flat(name, codes, total=total) if codes else Dimension.flat(name, held, total=None)


def _known(path: Path, dimension: Dimension, held: Sequence[str], total_of: dict[str, str | None]) -> Dimension:
    """A dimension of the codebook, which must know all codes of the file; its total may be said to be another."""
    if (code := total_of.get(dimension.name, dimension.total)) != dimension.total:
        dimension = replace(dimension, total=code)
    unknown = [c for c in held if c not in dimension.position]
    if unknown:
        total = [c for c in unknown if like_a_total(c)]  # other codes may be those of records, in a wrong file
        cure = f" (if {total[0]!r} is the total: {totals.option(dimension.name, total[0])})" if total else ""
        raise InputError(
            f"{path.name!r}: the codebook does not know {len(unknown):,} codes of dimension {dimension.name!r}{cure}; "
            "give the codebook of this table, or none"
        )
    return dimension


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
