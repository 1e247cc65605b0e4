"""Reading a table that somebody else has made: an array of inner cells, or a frame with or without totals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.additive import Additive, counts, fixed, whole
from discreet.dimension import Dimension
from discreet.errors import InputError, NotAdditiveError, listed, nearest
from discreet.hierarchy import code_text, column_names, natural
from discreet.layout import Layout, Margin, Structural

Array = NDArray[Any]
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
    total: str = "Total"

    def __post_init__(self) -> None:
        if self.totals not in TOTALS:
            raise InputError(f"totals can be {listed(TOTALS)}, not {self.totals!r}")
        if self.tolerance < 0:
            raise InputError("tolerance cannot be negative")


def read(data: Any, dimensions: Sequence[Dimension | str] | None, how: Reading) -> tuple[Layout, dict[str, Additive]]:
    """The layout and the statistics of a ready table."""
    if isinstance(dimensions, (str, Dimension)):
        dimensions = [dimensions]
    if hasattr(data, "columns") or hasattr(data, "column_names") or isinstance(data, dict):
        if dimensions is None and how.count is None and how.value is None and hasattr(data, "index"):
            return _from_crosstab(data, how)
        return _from_frame(data, dimensions, how)
    return _from_array(np.asarray(data), dimensions, how)


# -- arrays -----------------------------------------------------------------------------------------------------


def _from_array(
    array: Array, dimensions: Sequence[Dimension | str] | None, how: Reading
) -> tuple[Layout, dict[str, Additive]]:
    if array.ndim == 0 or not array.size:
        raise InputError("a table needs an array with at least one cell")
    names = dimensions or [AXES[k] if k < len(AXES) else f"axis {k + 1}" for k in range(array.ndim)]
    if len(names) != array.ndim:
        raise InputError(f"the array has {array.ndim} axes but {len(names)} dimensions are given")
    dims = [
        d if isinstance(d, Dimension) else Dimension.flat(d, range(1, size + 1), total=how.total)
        for d, size in zip(names, array.shape, strict=True)
    ]
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
    return layout, {name: _lay(layout, *part) for name, part in parts.items()}


def _from_crosstab(frame: Any, how: Reading) -> tuple[Layout, dict[str, Additive]]:
    """A pandas cross-tabulation: index and columns are the dimensions."""
    if frame.index.nlevels != 1 or frame.columns.nlevels != 1:
        raise InputError("a cross-tabulation with several levels: give it as a long frame and name count= or value=")
    frame = frame.drop(index=how.total, columns=how.total, errors="ignore")
    names = [str(frame.index.name or AXES[0]), str(frame.columns.name or AXES[1])]
    dims = [
        Dimension.flat(n, codes, total=how.total) for n, codes in zip(names, (frame.index, frame.columns), strict=True)
    ]
    return _from_array(frame.to_numpy(), dims, how)


def _lay(layout: Layout, dense: Array, decimals: int) -> Additive:
    """Inner cells from the product of leaves, which must be empty where nothing can be."""
    if layout.possible is not None:
        if bad := int((dense[~layout.possible] != 0).sum()):
            raise InputError(
                f"{bad:,} cells declared structural zeros are not zero; correct the table or the declaration"
            )
        dense = dense[layout.inner]
    return Additive(dense, layout.aggregate(dense), decimals)


# -- frames -----------------------------------------------------------------------------------------------------


def _from_frame(
    frame: Any, dimensions: Sequence[Dimension | str] | None, how: Reading
) -> tuple[Layout, dict[str, Additive]]:
    columns = column_names(frame)
    wanted = _measures(columns, how)
    names = [c for c in columns if c not in wanted.values()] if dimensions is None else dimensions
    dims, positions = [], []
    for name in names:
        column = name.name if isinstance(name, Dimension) else name
        if column not in columns:
            raise InputError(f"the table has no column {column!r}; {nearest(column, columns)}")
        dim, position = _coded(name, _column(frame, column), how.total)
        dims.append(dim)
        positions.append(position)
    if not len(positions[0]):
        raise InputError("the table has no rows")
    layout = Layout.of(dims, how.margins, how.structural)
    full = layout if how.margins is None else Layout.of(dims, None, how.structural)
    cell = np.ravel_multi_index(positions, full.code_shape)
    if repeated := len(cell) - len(np.unique(cell)):
        raise InputError(
            f"{repeated:,} rows repeat the cell of another row; add them up first, or read records as Microdata"
        )
    leaf = [np.array([d.leaf_position.get(c, -1) for c in d.codes])[p] for d, p in zip(dims, positions, strict=True)]
    inner = np.logical_and.reduce([part >= 0 for part in leaf])
    where = np.ravel_multi_index([part[inner] for part in leaf], full.shape)
    found = {}
    for name, column in wanted.items():
        values = _column(frame, column)
        units, decimals, exact = (
            (whole(values, repr(column)), 0, True) if name == "count" else fixed(values, how.decimals, repr(column))
        )
        if name == "count":  # a signed group's count may be negative, an inner cell's may not
            counts(units[inner], repr(column))
        dense = np.zeros(int(np.prod(full.shape)), np.int64)
        dense[where] = units[inner]
        found[name] = _with_totals(layout, full, dense, decimals, cell[~inner], units[~inner], exact, name, how)
    return layout, found


def _measures(columns: Sequence[str], how: Reading) -> dict[str, str]:
    """The statistic's name and its column."""
    if how.count is None and how.value is None and "count" in columns:
        return {"count": "count"}
    wanted = {} if how.count is None else {"count": str(how.count)}
    if how.value is not None:
        wanted[how.value] = how.value
    if not wanted:
        raise InputError(f"name the column that holds counts (count=...) or a magnitude (value=...): {listed(columns)}")
    for column in wanted.values():
        if column not in columns:
            raise InputError(f"the table has no column {column!r}; {nearest(column, columns)}")
    return wanted


def _column(frame: Any, name: str) -> Array:
    column = frame[name]
    return np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)


def _coded(dimension: Dimension | str, column: Array, total: str) -> tuple[Dimension, Array]:
    """The dimension and each row's code position in it."""
    import pandas as pd

    name = dimension if isinstance(dimension, str) else dimension.name
    number, distinct = pd.factorize(pd.Series(column))
    if missing := int((number < 0).sum()):
        raise InputError(f"dimension {name!r}: {missing:,} rows have no code; give missing values a category")
    codes = [code_text(c) for c in distinct]
    if isinstance(dimension, str):
        leaves = sorted((c for c in dict.fromkeys(codes) if c != total), key=natural)
        dimension = Dimension.flat(name, leaves, total=total)
    place = np.array([dimension.position.get(c, -1) for c in codes], np.int64)[number]
    if unknown := int((place < 0).sum()):
        raise InputError(
            f"dimension {name!r}: {unknown:,} rows hold a code that is not among its {len(dimension.codes)} codes "
            f"({listed(dimension.codes, 6)}); correct the table or the codes"
        )
    return dimension, place


def _with_totals(
    layout: Layout,
    full: Layout,
    dense: Array,
    decimals: int,
    cell: Array,
    given: Array,
    exact: bool,
    name: str,
    how: Reading,
) -> Additive:
    """Inner cells with their totals: computed, checked against those given, or those given."""
    made = _lay(layout, dense, decimals)
    if not len(cell) or how.totals == "compute":
        return made
    if how.totals == "trust":
        cells = made.cells.copy()
        order = np.argsort(cell)
        at = np.minimum(np.searchsorted(cell[order], layout.flat), len(cell) - 1)
        hit = cell[order][at] == layout.flat
        cells[hit] = given[order][at[hit]]
        return Additive(made.inner, cells, decimals)
    computed = full.aggregate(made.inner)[cell]
    parts = full.aggregate((made.inner != 0).astype(np.int64), absolute=True)[cell]
    gap = np.abs(given - computed)
    allowed = how.tolerance * (parts + 1)
    if not exact:  # numbers of no fixed precision: each was rounded to be held here
        allowed = np.maximum(allowed, 0.5 * (parts + 1) + 1e-9 * np.abs(computed))
    bad = np.flatnonzero(gap > allowed)
    if len(bad):
        worst = bad[np.argsort(-(gap - allowed)[bad], kind="stable")]
        raise NotAdditiveError(_complaint(full, cell[worst], name, decimals, bool((gap <= 0.5 * (parts + 1)).all())))
    return made


def _complaint(full: Layout, cells: Array, name: str, decimals: int, rounding: bool) -> str:
    shown = np.stack(np.unravel_index(cells[:3], full.code_shape), axis=1)
    named = "; ".join(
        ", ".join(f"{d.name}={d.codes[c]}" for d, c in zip(full.dimensions, row, strict=True)) for row in shown
    )
    cure = "correct them, or totals='compute' to take the sums, or totals='trust' to keep them as they are"
    if rounding:
        cure += "; parts rounded one by one explain all of it: tolerance=0.5 accepts that"
    many = f"{len(cells):,} totals of {name!r} are" if len(cells) > 1 else f"a total of {name!r} is"
    return (
        f"{many} not the sum of the parts at {decimals} decimals, the worst first: {named}. {cure[0].upper()}{cure[1:]}"
    )
