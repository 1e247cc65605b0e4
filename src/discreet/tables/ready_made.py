"""Reading a table that somebody else has made: an array of inner cells, or a frame with or without totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.base.number_texts import spelt_numbers
from discreet.base.texts import column_names
from discreet.data.dimension import Dimension
from discreet.engines.frames import Coded, coded, refuse_headings, wide
from discreet.errors import InputError, NotAdditiveError, headings, listed, many
from discreet.tables import totals
from discreet.tables.additive import Additive, counts, fixed, summable, whole_numbers
from discreet.tables.groups import refuse_groups
from discreet.tables.layout import Layout, Margin, Structural
from discreet.tables.total_names import like_a_total
from discreet.tables.totals import Totals

Names = Sequence[Dimension | str] | None
AXES = ("row", "column", "layer")
TOTALS = ("check", "compute", "trust")


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a ready table is to be read."""

    count: Any = None
    value: str | None = None
    decimals: int | None = None
    totals: str = "check"
    tolerance: float = 0
    margins: Sequence[Margin] | None = None
    structural: Structural | None = None
    total: Totals = None
    decimal: str | None = None
    thousands: str | None = None

    def __post_init__(self) -> None:
        if self.totals not in TOTALS:
            raise InputError(f"totals can be {listed(TOTALS)}, not {self.totals!r}")
        if self.tolerance < 0:
            raise InputError("tolerance cannot be negative")


def read_ready(data: Any, dimensions: Names, how: Reading) -> tuple[Layout, dict[str, Additive]]:
    """The layout and the statistics of a ready table."""
    if isinstance(dimensions, (str, Dimension)):
        dimensions = [dimensions]
    if hasattr(data, "collect") and hasattr(data, "collect_schema"):  # a polars LazyFrame
        data = collected(data)
    if isinstance(data, np.ndarray) and data.dtype.names:
        data = {name: data[name] for name in data.dtype.names}
    nothing_said = dimensions is None and how.count is None and how.value is None
    if _is_series(data) or (nothing_said and _is_crosstab(data)) or _is_pivot(data, how):
        return _from_wide(data, dimensions, how)
    if hasattr(data, "columns") or hasattr(data, "column_names") or isinstance(data, dict):
        return _from_frame(data, dimensions, how)
    return _from_array(_array(data), dimensions, how)


def collected(lazy: Any) -> Any:
    """The frame that a LazyFrame stands for."""
    from polars.exceptions import PolarsError

    with suppress(PolarsError):  # not chained to ours: its message may hold values
        return lazy.collect()
    raise InputError("the lazy frame could not be collected; check the steps that lead to it")


# -- arrays -----------------------------------------------------------------------------------------------------


def _array(data: Any) -> Array:
    try:
        return np.asarray(data)
    except ValueError:
        raise InputError("the rows of a table must all be of the same length") from None


def _from_array(array: Array, dimensions: Names, how: Reading) -> tuple[Layout, dict[str, Additive]]:
    if array.ndim == 0 or not array.size:
        raise InputError("a table needs an array with at least one cell")
    names = dimensions or [_axis(k) for k in range(array.ndim)]
    if len(names) != array.ndim:
        raise InputError(
            f"the array has {many(array.ndim, 'axis', 'axes')} but "
            f"{many(len(names), 'dimension is', 'dimensions are')} given"
        )
    sizes = zip(names, array.shape, strict=True)
    flat = {d: [str(k + 1) for k in range(size)] for d, size in sizes if isinstance(d, str)}
    totals.stated(how.total, list(flat), flat)
    dims = [Dimension.flat(d, flat[d], total=totals.named(how.total, d)) if isinstance(d, str) else d for d in names]
    if (shape := tuple(len(d.leaves) for d in dims)) != array.shape:
        raise InputError(
            f"the array has shape {array.shape} but the dimensions have {shape} finest codes; "
            "an array holds inner cells only (give a table with totals as a frame)"
        )
    layout = Layout.of(dims, how.margins, how.structural)
    parts: dict[str, tuple[Array, int]] = {}
    if how.value is None:
        if how.count is not None:
            raise InputError("count= is for a magnitude table; the array itself holds the counts")
        parts["count"] = counts(array).ravel(), 0
    else:
        if how.count is not None:
            number = counts(how.count)
            if number.shape != array.shape:
                raise InputError(f"count has shape {number.shape}, the array {array.shape}")
            parts["count"] = number.ravel(), 0
        units, decimals, _ = fixed(array, how.decimals, how.value)
        parts[how.value] = units.ravel(), decimals
    if how.total is None and len(flat) == array.ndim:
        totals.refuse_margins(next(reversed(parts.values()))[0].reshape(array.shape))
    return layout, {name: _lay(layout, *part, name) for name, part in parts.items()}


def _axis(k: int) -> str:
    return AXES[k] if k < len(AXES) else f"axis {k + 1}"


def _lay(layout: Layout, dense: Array, decimals: int, what: str) -> Additive:
    """Inner cells from the product of leaves, which must be empty where nothing can be."""
    summable(dense, decimals, repr(what))
    if layout.possible is not None:
        if bad := int((dense[~layout.possible] != 0).sum()):
            raise InputError(
                f"{many(bad, 'cell declared structural zeros is', 'cells declared structural zeros are')} not zero; "
                "correct the table or the declaration"
            )
        dense = dense[layout.inner]
    return Additive(dense, layout.aggregate(dense), decimals)


# -- frames -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Rows:
    """A table as rows: of every dimension its name (or itself) and each row's code, of every statistic its numbers."""

    dimensions: tuple[Dimension | str, ...]
    codes: tuple[Coded, ...]
    numbers: Mapping[str, tuple[str, Array]]  # statistic: what messages call it, and the numbers

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(d if isinstance(d, str) else d.name for d in self.dimensions)


def _from_wide(data: Any, dimensions: Names, how: Reading) -> tuple[Layout, dict[str, Additive]]:
    """A Series or cross-tabulation of pandas: the levels of index and columns are the dimensions."""
    if dimensions is None:
        said = how.total.values() if isinstance(how.total, Mapping) else [how.total]
        refuse_headings(data, [str(code) for code in said if code is not None])
    called = getattr(data, "name", None)
    if how.count is None and how.value is None and called not in (None, "count", "size"):
        raise InputError(
            f"the Series is called {called!r}: say count={called!r} if it counts records, value={called!r} if it is "
            "the sum of a magnitude"
        )
    levels, values = wide(data, _axis)
    names: Sequence[Dimension | str] = list(levels)
    codes = list(levels.values())
    if dimensions is not None:
        if len(dimensions) != len(codes):
            raise InputError(
                f"the table has {many(len(codes), 'level')} but "
                f"{many(len(dimensions), 'dimension is', 'dimensions are')} given"
            )
        asked = [d if isinstance(d, str) else d.name for d in dimensions]
        if set(asked) == set(levels):
            codes = [levels[name] for name in asked]
        names = dimensions
    if how.count is not None and how.count != called:
        raise InputError("count= names a column; a Series or cross-tabulation holds one number per cell")
    measure = "count" if how.value is None else how.value
    values = spelt_numbers(values, repr(measure), how.decimal, how.thousands)
    _wide_numbers(data, values, how)
    return _from_rows(_Rows(tuple(names), tuple(codes), {measure: (repr(measure), values)}), how)


def _wide_numbers(data: Any, values: Array, how: Reading) -> None:
    """Refuse empty cells, and decimals that are taken for counts, with what to do about them."""
    if values.dtype.kind != "f":
        return
    if bad := int(np.isnan(values).sum()):
        what = many(bad, "cell of the table is", "cells of the table are")
        raise InputError(f"{what} empty; if nothing is there, fill in zeros: fillna(0), pivot_table(..., fill_value=0)")
    if how.value is None and (bad := int((values != np.rint(values)).sum())):
        unnamed = data.ndim > 1 and data.columns.nlevels == 1 and data.columns.name is None
        first = 'name its columns (frame.rename_axis(columns="sex")) and ' if unnamed else ""
        raise InputError(
            f"'count': {many(bad, 'entry is', 'entries are')} not whole numbers, so the table holds no counts; for "
            "sums of a magnitude "
            f'{first}say its name, such as value="turnover"'
        )


def _from_frame(frame: Any, dimensions: Names, how: Reading) -> tuple[Layout, dict[str, Additive]]:
    columns = column_names(frame)
    asked = [d if isinstance(d, str) else d.name for d in dimensions or ()]
    wanted = _measures(columns, how, asked)
    names = [c for c in columns if c not in wanted.values()] if dimensions is None else dimensions
    if not names:
        raise InputError("the table has no dimension: every column holds numbers of cells")
    codes = []
    for name in names:
        column = name.name if isinstance(name, Dimension) else name
        if column not in columns:
            raise InputError(f"the table has no column {column!r}; {headings(columns, column)}")
        codes.append(coded(_column(frame, column)))
    numbers = {
        name: (repr(column), spelt_numbers(_numbers(_column(frame, column)), repr(column), how.decimal, how.thousands))
        for name, column in wanted.items()
    }
    return _from_rows(_Rows(tuple(names), tuple(codes), numbers), how)


def _from_rows(rows: _Rows, how: Reading) -> tuple[Layout, dict[str, Additive]]:
    units = {
        name: (whole_numbers(values, what), 0, True) if name == "count" else fixed(values, how.decimals, what)
        for name, (what, values) in rows.numbers.items()
    }
    if not len(rows.codes[0].position):
        raise InputError("the table has no rows")
    if len({len(c.position) for c in rows.codes} | {len(u[0]) for u in units.values()}) > 1:
        raise InputError("the columns of the table differ in length")
    for name, codes in zip(rows.names, rows.codes, strict=True):
        if codes.missing:
            raise InputError(
                f"dimension {name!r}: {many(codes.missing, 'row has', 'rows have')} no code; give missing values a "
                "category"
            )
    dims = _dimensions(rows, units, how)
    positions = [_places(d, codes) for d, codes in zip(dims, rows.codes, strict=True)]
    layout = Layout.of(dims, how.margins, how.structural)
    full = layout if how.margins is None else Layout.of(dims, None, how.structural)
    cell = np.ravel_multi_index(positions, full.code_shape)
    if repeated := len(cell) - len(np.unique(cell)):
        raise InputError(
            f"{many(repeated, 'row repeats', 'rows repeat')} the cell of another row; add them up first, or read "
            "records as Microdata"
        )
    leaf = [np.array([d.leaf_position.get(c, -1) for c in d.codes])[p] for d, p in zip(dims, positions, strict=True)]
    inner = np.logical_and.reduce([part >= 0 for part in leaf])
    where = np.ravel_multi_index([part[inner] for part in leaf], full.shape)
    statistics = {}
    for name, (numbers, decimals, exact) in units.items():
        if name == "count":  # a signed group's count may be negative, an inner cell's may not
            counts(numbers[inner], rows.numbers[name][0])
        dense = np.zeros(int(np.prod(full.shape)), np.int64)
        dense[where] = numbers[inner]
        statistics[name] = _with_totals(layout, full, dense, decimals, cell[~inner], numbers[~inner], exact, name, how)
    return layout, statistics


def _dimensions(rows: _Rows, units: Mapping[str, tuple[Array, int, bool]], how: Reading) -> list[Dimension]:
    """The dimensions as they are given, or flat with the codes that occur, their totals found."""
    cells = totals.Cells(
        names=rows.names,
        codes=tuple(c.codes for c in rows.codes),
        position=tuple(c.position for c in rows.codes),
        numbers=tuple(numbers for numbers, _, _ in units.values()),
        loose=tuple(0.0 if name == "count" else 0.5 for name in units),
        shown=np.ones(len(rows.codes[0].position), bool),
    )
    declared = {d.name: d for d in rows.dimensions if isinstance(d, Dimension)}
    total_of = totals.find_totals(cells, how.total, declared=declared)
    dims = []
    for axis, (d, codes) in enumerate(zip(rows.dimensions, rows.codes, strict=True)):
        if isinstance(d, str):
            total = total_of.get(d, totals.named(how.total, d))
            if not (
                isinstance(how.total, Mapping) and d in how.total and total not in codes.codes
            ):  # said to have none
                refuse_groups(cells, axis, total)
            dims.append(Dimension.flat(d, [c for c in codes.codes if c != total], total=total))
        elif isinstance(how.total, Mapping) and d.name in how.total:
            dims.append(replace(d, total=how.total[d.name]))
        else:
            dims.append(d)
    return dims


def _places(dimension: Dimension, codes: Coded) -> Array:
    """Each row's code position in the dimension."""
    unknown = [c for c in codes.codes if c not in dimension.position]
    place = np.array([dimension.position.get(c, -1) for c in codes.codes], np.int64)[codes.position]
    if bad := int((place < 0).sum()):
        sounds = [c for c in unknown if like_a_total(c)]
        cure = f"; if {sounds[0]!r} is its total, say {totals.option(dimension.name, sounds[0])}" if sounds else ""
        held = "" if dimension.observed else f" ({listed(dimension.codes, 6)})"
        raise InputError(
            f"dimension {dimension.name!r}: {many(bad, 'row holds', 'rows hold')} a code that is not among its "
            f"{len(dimension.codes)} codes{held}; correct the table or the codes{cure}"
        )
    return place


def _measures(columns: Sequence[str], how: Reading, dimensions: Sequence[str]) -> dict[str, str]:
    """The statistic's name and its column."""
    if how.count is None and how.value is None and "count" in columns and "count" not in dimensions:
        return {"count": "count"}
    wanted = {} if how.count is None else {"count": str(how.count)}
    if how.value is not None:
        wanted[how.value] = how.value
    if not wanted:
        held = headings(columns)
        raise InputError(f"name the column that holds counts (count=...) or a magnitude (value=...): {held}")
    for column in wanted.values():
        if column not in columns:
            raise InputError(f"the table has no column {column!r}; {headings(columns, column)}")
        if column in dimensions:
            raise InputError(f"column {column!r} is named as a dimension and as numbers; it is one of them")
    return wanted


def _column(frame: Any, name: str) -> Any:
    """A column by its name as text."""
    if hasattr(frame, "iloc"):  # pandas, whose columns may be called by numbers
        return frame.iloc[:, column_names(frame).index(name)]
    return frame[name]


def _numbers(column: Any) -> Array:
    return np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)


def _is_series(data: Any) -> bool:
    """A Series of pandas whose index says what its numbers are of."""
    if type(data).__module__.split(".")[0] != "pandas" or type(data).__name__ != "Series":
        return False
    return data.index.nlevels > 1 or data.index.name is not None or type(data.index).__name__ != "RangeIndex"


def _is_crosstab(data: Any) -> bool:
    """A frame of pandas whose cells are the numbers, rather than one with a column of codes or of counts."""
    if not hasattr(data, "columns") or not hasattr(data, "index"):
        return False
    numeric = all(kind.kind in "iuf" for kind in data.dtypes)
    listed_long = type(data.index).__name__ == "RangeIndex" and data.index.name is None and "count" in data.columns
    return numeric and not listed_long


def _is_pivot(data: Any, how: Reading) -> bool:
    """A cross-tabulation whose numbers are the magnitude that ``value`` names, as no column of it is called so."""
    if how.value is None or how.count is not None or not _is_crosstab(data):
        return False
    header = data.columns
    return how.value not in column_names(data) and (header.nlevels > 1 or header.name is not None)


def _with_totals(
    layout: Layout,
    full: Layout,
    dense: Array,
    decimals: int,
    cell: Array,
    stated: Array,
    exact: bool,
    name: str,
    how: Reading,
) -> Additive:
    """Inner cells with their totals: computed, checked against those given, or those given."""
    laid = _lay(layout, dense, decimals, name)
    if not len(cell) or how.totals == "compute":
        return laid
    if how.totals == "trust":
        cells = laid.cells.copy()
        order = np.argsort(cell)
        at = np.minimum(np.searchsorted(cell[order], layout.flat), len(cell) - 1)
        hit = cell[order][at] == layout.flat
        cells[hit] = stated[order][at[hit]]
        return Additive(laid.inner, cells, decimals)
    computed = full.aggregate(laid.inner)[cell]
    parts = full.aggregate((laid.inner != 0).astype(np.int64), absolute=True)[cell]
    gap = np.abs(stated - computed)
    allowed = how.tolerance * (parts + 1)
    if not exact:  # numbers of no fixed precision: each was rounded to be held here
        allowed = np.maximum(allowed, 0.5 * (parts + 1) + 1e-9 * np.abs(computed))
    bad = np.flatnonzero(gap > allowed)
    if len(bad):
        worst = bad[np.argsort(-(gap - allowed)[bad], kind="stable")]
        raise NotAdditiveError(_complaint(full, cell[worst], name, decimals, bool((gap <= 0.5 * (parts + 1)).all())))
    return laid


def _complaint(full: Layout, cells: Array, name: str, decimals: int, rounding: bool) -> str:
    shown = np.stack(np.unravel_index(cells[:3], full.code_shape), axis=1)
    named = "; ".join(
        ", ".join(f"{d.name}={d.codes[c]}" for d, c in zip(full.dimensions, row, strict=True)) for row in shown
    )
    cure = "correct them, or totals='compute' to take the sums, or totals='trust' to keep them as they are"
    if rounding:
        cure += "; rounding of single parts explains all of it: tolerance=0.5 accepts that"
    several = f"{len(cells):,} totals of {name!r} are" if len(cells) > 1 else f"a total of {name!r} is"
    return (
        f"{several} not the sum of the parts at {decimals} decimals, the worst first: {named}. "
        f"{cure[0].upper()}{cure[1:]}"
    )
