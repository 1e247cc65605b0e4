"""Reading a published table back: codes, numbers with hidden ones among them, and which codes are totals."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from discreet.base.annotations import Array
from discreet.data.dimension import Dimension
from discreet.errors import InputError, many, nearest
from discreet.tables import groups, totals
from discreet.tables.flat_parts import FlatReading, flat_reading
from discreet.tables.reading.by_suffix import raw_table
from discreet.tables.reading.number_cells import PLAIN_SIGNS, NumberSigns
from discreet.tables.reading.raw_table import RawTable
from discreet.tables.total_names import USUAL, like_a_total

if TYPE_CHECKING:
    from discreet.data.codebook import Codebook


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
    assumed: tuple[str, ...] = ()
    """What was taken as so, a sentence for each, with the option that says otherwise."""
    zeros_hidden: bool = False
    """Whether it is said that a number that is not shown may be zero, or negative."""


def read_published(
    path: Path,
    codebook: Codebook | None,
    measures: int | None,
    total: totals.Totals,
    *,
    find: bool = True,
    signs: NumberSigns = PLAIN_SIGNS,
) -> Published:
    """A published table of a file, in any format that its suffix names.

    In a CSV the columns are dimensions, then ``measures`` columns of numbers, then perhaps the status, whatever their
    names. There is one column of numbers unless stated, and a second that looks like one is asked about. The codes are
    those of the file in their order, unless the codebook knows the dimension. Without ``find`` only a total that is
    said, or called "Total", is one: enough to draw the table, not to judge it.
    """
    return of_raw(raw_table(path, measures, signs), codebook, total, find=find, zeros_hidden=signs.marks.zero_or_less)


def of_raw(
    raw: RawTable,
    codebook: Codebook | None,
    total: totals.Totals,
    *,
    find: bool = True,
    zeros_hidden: bool = False,
    rounding: float = 0.0,
) -> Published:
    """The same of rows that were read already: which codes are totals is found, or asked.

    ``rounding``: how far each number may have been rounded, so that a sum is off by that for each part.
    """
    if codebook is not None:
        raw = _as_named(raw, codebook)
    if repeated := [name for name in dict.fromkeys(raw.names) if raw.names.count(name) > 1]:
        raise InputError(
            f"{raw.name!r}: {many(len(repeated), 'column is', 'columns are')} called as others are; rename them"
        )
    check_codes(raw)
    cells = _cells(raw, rounding)
    said = _with_said(raw, total)
    dims = _dimensions(raw, cells, codebook, said, find)
    places = [d.position for d in dims]
    codes = np.stack([[place[c] for c in column] for place, column in zip(places, raw.codes, strict=True)], axis=1)
    declared = [d.name for d in codebook.dimensions] if codebook is not None else []
    known = {*declared, *raw.children, *(said if isinstance(said, Mapping) else ())}
    flat = _flat_readings(cells, dims, {*declared, *raw.children}) if find else {}
    doubts = (*_doubts(cells, dims, known), *_flat_words(flat, FlatReading.doubt)) if find else ()
    return Published(
        dims,
        codes.astype(np.int32),
        dict(raw.values),
        dict(raw.decimals),
        raw.status,
        doubts,
        words=raw.words,
        notes=raw.notes,
        ranges=raw.ranges,
        assumed=(*raw.assumed, *_flat_words(flat, FlatReading.note)),
        zeros_hidden=zeros_hidden,
    )


def _flat_readings(
    cells: totals.Cells, dims: Sequence[Dimension], known: Container[str]
) -> dict[tuple[str, str], FlatReading]:
    """By dimension and total whether codes are parts of the total alone, where nobody says which are sums."""
    return {
        (d.name, d.total): flat_reading(cells, axis, d.total)
        for axis, d in enumerate(dims)
        if d.total is not None and d.name not in known
    }


def _flat_words(
    flat: Mapping[tuple[str, str], FlatReading], words: Callable[[FlatReading, str, str], str]
) -> tuple[str, ...]:
    return tuple(text for (name, total), reading in flat.items() if (text := words(reading, name, total)))


def _as_named(raw: RawTable, codebook: Codebook) -> RawTable:
    """The rows with dimensions under the codebook's names, where a format had to change them (AGE_GROUP)."""
    known = {re.sub(r"[\W_]+", "_", d.name.upper()).strip("_"): d.name for d in codebook.dimensions}
    names = tuple(n if n in known.values() else known.get(n.rstrip("_"), n) for n in raw.names)
    return replace(raw, names=names) if len(set(names)) == len(names) and names != raw.names else raw


def knows_some(raw: RawTable, codebook: Codebook) -> bool:
    """Whether a codebook knows a dimension of the rows, by its name or as a format had to change it."""
    return bool({d.name for d in codebook.dimensions} & {*raw.names, *_as_named(raw, codebook).names})


def _with_said(raw: RawTable, total: totals.Totals) -> totals.Totals:
    """What the file says of its totals, where the caller says nothing of them."""
    if not raw.totals or isinstance(total, str):
        return total
    held = {name: code for name, code in raw.totals.items() if name in raw.names}
    return {**held, **(total or {})}


def check_codes(raw: RawTable) -> None:
    """Refuse lines without a code, and cells that stand on more than one line: either may hold what was hidden."""
    for name, column in zip(raw.names, raw.codes, strict=True):
        if blank := sum(not code.strip() for code in column):
            raise InputError(
                f"{raw.name!r}: {many(blank, 'line has', 'lines have')} no code of {name!r}; write {totals.TOTAL} "
                "where that is the total, else a name of its own"
            )
    where: dict[tuple[str, ...], int] = {}
    again = []
    lines = raw.lines or range(1, len(raw.status) + 1)
    for line, cell in zip(lines, zip(*raw.codes, strict=True), strict=True):
        if where.setdefault(cell, line) != line:
            again.append((where[cell], line))
    if again:
        pairs = ", ".join(f"{one} and {other}" for one, other in again[:3]) + (" ..." if len(again) > 3 else "")
        raise InputError(
            f"{raw.name!r}: {many(len(again), 'line repeats', 'lines repeat')} the cell of another line (lines "
            f"{pairs}); keep one line for each cell"
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


def _cells(raw: RawTable, rounding: float) -> totals.Cells:
    codes = tuple(tuple(dict.fromkeys(column)) for column in raw.codes)
    place = [{code: k for k, code in enumerate(held)} for held in codes]
    return totals.Cells(
        names=raw.names,
        codes=codes,
        position=tuple(np.array([p[c] for c in column]) for p, column in zip(place, raw.codes, strict=True)),
        numbers=tuple(np.rint(np.nan_to_num(v) * 10.0 ** raw.decimals[n]) for n, v in raw.values.items()),
        loose=tuple(max(0.0 if n == "count" else 0.5, rounding * 10.0 ** raw.decimals[n]) for n in raw.values),
        shown=np.logical_and.reduce([~np.isnan(v) for v in raw.values.values()]),
        absent_is_zero=False,
    )


def _dimensions(
    raw: RawTable, cells: totals.Cells, codebook: Codebook | None, total: totals.Totals, find: bool
) -> tuple[Dimension, ...]:
    names = cells.names
    known = {} if codebook is None else {d.name: d for d in codebook.dimensions if d.name in names}
    if codebook is not None and not known:
        listing = [d.name for d in codebook.dimensions]
        raise InputError(f"{raw.name!r} has no dimension that the codebook knows; {nearest(names[0], listing)}")
    nested = {n: d for n, below in raw.children.items() if n not in known and (d := _nested(raw, n, below)) is not None}
    if find:
        total_of = totals.find_totals(cells, total, declared={*known, *nested})
    else:
        total_of = totals.stated(total, names, dict(zip(names, cells.codes, strict=True)))
    dims = []
    for name, held in zip(names, cells.codes, strict=True):
        if name in known:
            dims.append(_known(raw.name, known[name], held, total_of))
        elif name in nested:
            dims.append(nested[name])
        else:
            labels = {code: text for code, text in raw.labels.get(name, {}).items() if code in held}
            dims.append(replace(_flat(name, held, total_of.get(name)), labels=labels))
    return tuple(dims)


def _nested(raw: RawTable, name: str, below: Mapping[str, Sequence[str]]) -> Dimension | None:
    held = dict.fromkeys(raw.codes[raw.names.index(name)])
    return nested_dimension(name, list(held), below, raw.totals.get(name), raw.labels.get(name, {}))


def nested_dimension(
    name: str, held: Sequence[str], below: Mapping[str, Sequence[str]], said: str | None, labels: Mapping[str, str]
) -> Dimension | None:
    """A dimension of which it is said what lies below what; None if nothing of that is among its codes.

    Sums of which some part is not among its codes are left out; a code without a parent lies below the total.
    """
    within = {code: parts for code, parts in below.items() if code in held and set(parts) <= set(held)}
    links = [(child, parent) for parent, children in within.items() for child in children]
    if not links:
        return None
    mentioned = {code for link in links for code in link}
    roots = [parent for parent in within if not any(parent == child for child, _ in links)]
    loose = [code for code in held if code not in mentioned]
    named = [code for code in loose if code in (said, totals.TOTAL) or like_a_total(code) == USUAL]
    total = named[0] if len(named) == 1 else roots[0] if len(roots) == 1 and not loose else None
    dimension = Dimension.from_parents(name, links, total=total)
    for code in loose:
        if code != total:
            dimension = dimension.with_leaf(code)
    return replace(dimension, labels={code: t for code, t in labels.items() if code in held})


def _flat(name: str, held: Sequence[str], total: str | None) -> Dimension:
    """A dimension of the codes that occur; one that is nothing but its total has that as its only code."""
    codes = [code for code in held if code != total]
    return Dimension.flat(name, codes, total=total) if codes else Dimension.flat(name, held, total=None)


def _known(file: str, dimension: Dimension, held: Sequence[str], total_of: dict[str, str | None]) -> Dimension:
    """A dimension of the codebook, which must know all codes of the file; its total may be said to be another."""
    if (code := total_of.get(dimension.name, dimension.total)) != dimension.total:
        dimension = replace(dimension, total=code)
    unknown = [c for c in held if c not in dimension.position]
    if unknown:
        total = [c for c in unknown if like_a_total(c)]  # other codes may be those of records, in a wrong file
        cure = f" (if {total[0]!r} is the total: {totals.option(dimension.name, total[0])})" if total else ""
        raise InputError(
            f"{file!r}: the codebook does not know {many(len(unknown), 'code')} of dimension {dimension.name!r}{cure}; "
            "give the codebook of this table, or none"
        )
    return dimension
