"""From what is released to what an intruder knows: one protected table, or several over the same population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.audits.known import Known
from discreet.audits.mean_equations import CellMeans
from discreet.audits.mirrored_pairs import with_mirrored
from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.base.naming import unused
from discreet.errors import InputError, Unjudged, listed, many
from discreet.release import CONFIDENTIAL, OPEN, Protected, Release, Status
from discreet.tables import relations as related
from discreet.tables.beyond_ranges import least_beyond
from discreet.tables.layout import Layout
from discreet.tables.quotients import narrowed_by_quotients, open_quotients
from discreet.tables.reading.raw_table import NOT_AVAILABLE
from discreet.tables.table import Table

Prior = float | tuple[Array, Array]
MOST_INNER = 5_000_000


@dataclass(frozen=True, eq=False)
class View:
    """What is known, and the true cells (all tables one after the other) and inner cells where they are at hand.

    >>> import discreet as dc
    >>> table = Table.of([[20, 50], [10, 2]], ["area", "sex"])
    >>> view(dc.protect(table, dc.Redact(2))).unknown.tolist()
    [False, False, False, False, False, False, False, False, True]
    """

    known: Known
    truth: Array | None
    layouts: tuple[Layout, ...]
    measure: str
    decimals: int
    inner_truth: Array | None = None
    inner_place: Array | None = None
    """Where each inner cell stands in the product of all leaves; None if it is where it seems to."""
    left: Array | None = None
    """Per cell the measures whose values stand there although it is marked as confidential; "" where there is none."""
    unjudged: tuple[str, ...] = ()
    """What cannot be judged of the release, in words."""
    sensitive: Array | None = None
    """Cells that are hidden because they are sensitive: judged even where what is known beforehand leaves one value."""
    names: tuple[str, ...] = ()
    """What the tables are called, where they are known by their files."""
    aside: Array | None = None
    """Combinations of codes that are no cells of any published table, so that nobody hides them."""
    unavailable: Array | None = None
    """Finest cells of tables with a number that nobody has: part of totals, or in none."""
    beyond: Array | None = None
    """Per cell the first count above the ranges of its table, where a plain mark stands beside them; else −inf."""
    means: tuple[CellMeans, ...] = ()
    """Means that stand beside the counts."""

    @property
    def unknown(self) -> Array:
        """Cells whose value is not published as it is."""
        return np.asarray(self.known.lower < self.known.upper)

    @property
    def withheld(self) -> Array:
        """Cells whose value is not published as it is, or should not be."""
        cells = self.unknown if self.aside is None else self.unknown & ~self.aside
        cells = cells if self.left is None else cells | (self.left != "")
        return cells if self.sensitive is None else cells | self.sensitive


@checked
def view(
    released: Protected | Sequence[Protected],
    *,
    measure: str | None = None,
    prior: Prior | None = None,
    nonnegative: bool | None = None,
) -> View:
    """The released tables as one system.

    ``prior``: what an intruder knows beforehand of hidden cells: 0.5 for the true value give or take half of it, or a
    pair of arrays (least, greatest) over the cells. ``nonnegative``: whether inner cells are known not to be negative
    (default: if none is).

    >>> import discreet as dc
    >>> table = Table.of([[20, 50], [10, 2]], ["area", "sex"])
    >>> seen = view(dc.protect(table, dc.Redact(2)))
    >>> seen.known.lower.tolist()
    [82.0, 30.0, 52.0, 70.0, 20.0, 50.0, 12.0, 10.0, 1.0]
    """
    several = [released] if isinstance(released, Protected) else list(released)
    return view_like(several, None, measure=measure, prior=prior, nonnegative=nonnegative)


def view_like(
    several: Sequence[Protected],
    earlier: View | None,
    *,
    measure: str | None,
    prior: Prior | None,
    nonnegative: bool | None,
) -> View:
    """The same; ``earlier``: a view of the same tables and measure, whose sums need not be found again."""
    if not several:
        raise InputError("nothing to audit; give a Protected, or several")
    name = measure or several[0].table.measure
    tables = tuple(p.table for p in several)
    decimals = max(t.statistic(name).decimals for t in tables)
    parts = [_cell_bounds(p, name, decimals) for p in several]
    lower, upper = (np.concatenate([p[k] for p in parts]) for k in (0, 1))
    truth = np.concatenate([p[2] for p in parts])
    hidden = np.concatenate([p.hidden for p in several])
    if prior is not None:
        low, high = _prior(prior, truth, decimals)
        lower = np.where(hidden, np.maximum(lower, low), lower)
        upper = np.where(hidden, np.minimum(upper, high), upper)
    if earlier is None:
        joined = _joined(tables, name, decimals)
    else:
        known = earlier.known
        joined = (known.matrix, known.relations, earlier.inner_truth, earlier.inner_place)
    matrix, relations, inner, place = joined
    if nonnegative is None:
        nonnegative = all(bool((t.statistic(name).inner >= 0).all()) for t in tables)
    n = matrix.shape[0]
    known = Known(
        matrix=matrix,
        lower=lower,
        upper=upper,
        inner_lower=np.full(n, 0.0 if nonnegative else -np.inf),
        inner_upper=np.full(n, np.inf),
        integer=name == "count",
        relations=relations,
        point=None if inner is None else np.concatenate([truth, inner]),
    )
    primary = hidden & (np.concatenate([p.status for p in several]) == Status.PRIMARY.value)
    layouts = tuple(t.layout for t in tables)
    return View(known, truth, layouts, name, decimals, inner, place, sensitive=primary)


def view_of_release(release: Release, *, measure: str | None = None, nonnegative: bool | None = None) -> View:
    """The same for what the world sees: cells that are not shown, or not there, are unknown, and so is the truth.

    A value that stands in a cell marked as confidential is known to everybody, and the cell is still one to audit.
    """
    if measure is not None and measure not in release.values:
        raise InputError(f"{measure!r} is not among what is published: {', '.join(release.values)}")
    name = measure or next(iter(release.values))
    decimals = release.decimals[name]
    layout = Layout.of(release.dimensions)
    at = np.ravel_multi_index(tuple(release.codes.T), layout.code_shape)
    if repeated := len(at) - len(np.unique(at)):
        raise InputError(
            f"{many(repeated, 'row of the release repeats', 'rows of the release repeat')} the cell of another row; "
            "keep one for each cell"
        )
    shown = np.full(len(layout), np.nan)
    shown[at] = np.rint(release.values[name] * 10.0**decimals)
    if nonnegative is None:
        nonnegative = not bool((release.values[name][~release.marked] < 0).any())
    open_ = np.isnan(shown)
    lower, upper = np.where(open_, -np.inf, shown), np.where(open_, np.inf, shown)
    if name in release.ranges:
        lower[at], upper[at] = within_ranges(release, name, lower[at], upper[at])
    if nonnegative:
        lower[at] = np.maximum(lower[at], release.least_hidden(name) * 10.0**decimals)
    gone = np.isnan(np.asarray(release.values[name], float))
    if name in release.quotients:
        lower[at], upper[at] = narrowed_by_quotients(lower[at], upper[at], gone, release.quotients[name], name)
    known = Known(
        matrix=layout.matrix,
        lower=lower,
        upper=upper,
        inner_lower=np.full(layout.n_inner, 0.0 if nonnegative else -np.inf),
        inner_upper=np.full(layout.n_inner, np.inf),
        integer=name == "count",
        relations=with_mirrored(related.of_layout(layout), (layout,), lower, upper),
        ordered=at[release.ordered_rows(name)],
    )
    left = np.full(len(layout), "", object)
    for other, cells in release.left.items():
        left[at[cells]] += np.where(left[at[cells]] == "", other, f", {other}")
    doubts = (*release.doubts, *strange_marks(release), *open_quotients(release.quotients.get(name, ()), gone))
    aside = not_published(layout, at)
    nobody = not_available(release, name)
    aside[at] |= nobody
    hidden = np.zeros(len(layout), bool)
    hidden[at] = gone & (lower[at] == upper[at])
    return View(
        known,
        None,
        (layout,),
        name,
        decimals,
        left=left,
        unjudged=doubts,
        aside=aside,
        sensitive=hidden,
        unavailable=finest_cells(layout, at[nobody]),
        beyond=beyond_ranges(release, name, at, len(layout)),
        means=means_of_cells([(release, at, len(layout))], name),
    )


def means_of_cells(tables: Sequence[tuple[Release, Array, int]], measure: str) -> tuple[CellMeans, ...]:
    """The means beside a measure over the cells of several tables, each with the cells of its rows and its size.

    Means of the same name are means of the same thing.
    """
    kinds: dict[str, CellMeans] = {}
    size, start = sum(rows for _, _, rows in tables), 0
    for release, at, rows in tables:
        for means in release.means.get(measure, ()):
            key = means.name.casefold()
            nothing = CellMeans(means.name, np.full(size, np.nan), np.zeros(size, np.int64), means.unit)
            held = kinds.get(key, nothing)
            shown, decimals = held.shown.copy(), held.decimals.copy()
            shown[start + at] = np.asarray(means.values, float)
            decimals[start : start + rows] = means.decimals
            unit = held.unit if held.unit is not None else means.unit
            kinds[key] = CellMeans(held.name, shown, decimals, unit)
        start += rows
    return tuple(kinds.values())


def within_ranges(release: Release, measure: str, lower: Array, upper: Array) -> tuple[Array, Array]:
    """Bounds of rows, in units of the last decimal, with the ranges that stand in place of some values."""
    least, most = release.ranges[measure]
    scale, hidden = 10.0 ** release.decimals[measure], np.isnan(np.asarray(release.values[measure], float))
    return np.where(hidden, least * scale, lower), np.where(hidden, most * scale, upper)


def not_published(layout: Layout, at: Array) -> Array:
    """Cells of whose kind (total, group or finest code in each dimension) a release has none: a margin left out."""
    kind = np.zeros(len(layout), np.int64)
    for k, d in enumerate(layout.dimensions):
        of_code = np.array([0 if c == d.total else 2 if c in d.leaf_position else 1 for c in d.codes])
        kind = kind * 3 + of_code[layout.codes[:, k]]
    return ~np.isin(kind, np.unique(kind[at]))


def not_available(release: Release, measure: str) -> Array:
    """Rows without a number that nobody has, so that nobody hides it."""
    return np.asarray((release.status == NOT_AVAILABLE) & np.isnan(np.asarray(release.values[measure], float)))


def beyond_ranges(release: Release, measure: str, at: Array, size: int) -> Array:
    """Per cell of a table the first count above its ranges where a plain mark hides a count; else minus infinity."""
    beyond = np.full(size, -np.inf)
    hidden = np.isnan(np.asarray(release.values[measure], float)) & ~not_available(release, measure)
    if not release.decimals[measure]:
        beyond[at] = least_beyond(hidden, release.ranges.get(measure))
    return beyond


def finest_cells(layout: Layout, cells: Array) -> Array:
    """A mask of those of some cells that are not sums of others."""
    mask = np.zeros(len(layout), bool)
    mask[cells] = True
    for k, d in enumerate(layout.dimensions):
        mask &= np.array([code in d.leaf_position for code in d.codes])[layout.codes[:, k]]
    return mask


def strange_marks(release: Release) -> tuple[str, ...]:
    """What is said of marks that nobody knows: the cells may be meant to be hidden."""
    strange = sorted({str(mark) for mark in np.unique(release.status)} - {CONFIDENTIAL, OPEN, NOT_AVAILABLE})
    if not strange:
        return ()
    return (
        f"what the status {listed(strange, 3)} means is not known; if such numbers are as they are shown, say --flag "
        f"{strange[0]!r} (marks={{{strange[0]!r}: 'flag'}}), if they are confidential --suppressed {strange[0]!r}",
    )


def _cell_bounds(protected: Protected, name: str, decimals: int) -> tuple[Array, Array, Array]:
    """Per cell what its published value implies, and the truth, in units of the last decimal."""
    statistic = protected.table.statistic(name)
    truth = statistic.cells * 10.0 ** (decimals - statistic.decimals)
    if name not in protected.published:
        raise InputError(f"{name!r} is not among what is published: {', '.join(protected.published)}")
    shown = np.asarray(protected.published[name], float) * 10.0**decimals
    shown = np.where(np.isfinite(shown), np.rint(shown), np.nan)
    low, high = protected.room.lower, protected.room.upper
    if low is None or high is None:
        low, high = shown, shown
        if (~protected.hidden & (np.abs(shown - truth) > 0.5)).any():
            raise Unjudged(
                f"{protected.method!r} changes values without saying what a published one implies; an audit needs "
                "Protected(..., room=Room(lower=..., upper=...))"
            )
    else:
        low, high = np.asarray(low, float) * 10.0**decimals, np.asarray(high, float) * 10.0**decimals
        if (~protected.hidden & ((truth < low - 1e-6) | (truth > high + 1e-6))).any():
            raise InputError(f"the bounds that {protected.method!r} states do not hold all true values")
    gone = protected.hidden
    known = protected.room.bounds if name == protected.table.measure else None
    least, most = (-np.inf, np.inf) if known is None else (np.asarray(b, float) * 10.0**decimals for b in known)
    return np.where(gone, least, low), np.where(gone, most, high), truth


def _prior(prior: Prior, truth: Array, decimals: int) -> tuple[Array, Array]:
    if isinstance(prior, tuple):
        low, high = (np.asarray(p, float) * 10.0**decimals for p in prior)
        if low.shape != truth.shape or high.shape != truth.shape:
            raise InputError(f"prior bounds are two arrays over the {len(truth):,} cells")
        if not (low <= high).all():
            raise InputError("prior bounds are numbers, the lower one of a cell not above its upper one")
        return low, high
    if not prior >= 0:
        raise InputError("prior is a share of the true value, at least 0; 0.5 stands for 50 % up and down")
    return truth - prior * np.abs(truth), truth + prior * np.abs(truth)


def _joined(tables: Sequence[Table], name: str, decimals: int) -> tuple[Any, Any, Array | None, Array | None]:
    """Matrix over common inner cells, relations, and the true inner cells where one table knows them all."""
    from scipy.sparse import csr_array, hstack

    if len(tables) == 1:
        statistic = tables[0].statistic(name)
        inner = statistic.inner * 10.0 ** (decimals - statistic.decimals)
        return tables[0].matrix, related.of_layout(tables[0].layout), inner, tables[0].layout.inner
    dimensions: dict[str, Any] = {}
    for table in tables:
        for d in table.dimensions:
            if dimensions.setdefault(d.name, d).leaves != d.leaves:
                raise InputError(f"dimension {d.name!r} has different codes in two of the tables; audit them alike")
    shape = [len(d.leaves) for d in dimensions.values()]
    if np.prod(shape, dtype=float) > MOST_INNER:
        raise InputError(f"together the tables have more than {MOST_INNER:,} inner cells; audit fewer at once")
    place = dict(zip(dimensions, np.unravel_index(np.arange(int(np.prod(shape))), shape), strict=True))
    possible = np.ones(int(np.prod(shape)), bool)
    flats = []
    for table in tables:
        sizes = table.layout.shape
        flat = np.ravel_multi_index(tuple(place[d.name] for d in table.dimensions), sizes)
        if table.layout.possible is not None:
            possible &= table.layout.possible[flat]
        flats.append(flat)
    parts = []
    for table, flat in zip(tables, flats, strict=True):
        row = np.full(int(np.prod(table.layout.shape)), -1)
        row[table.layout.inner] = np.arange(table.layout.n_inner)
        parts.append(table.matrix[row[flat[possible]]])
    whole = next((t for t in tables if {d.name for d in t.dimensions} == set(dimensions)), None)
    matrix = csr_array(hstack(parts, format="csr"))
    if whole is None:
        return matrix, None, None, np.flatnonzero(possible)
    values = whole.statistic(name)
    names = [d.name for d in whole.dimensions]
    dense = np.moveaxis(whole.layout.dense(values.inner), range(len(names)), [list(dimensions).index(n) for n in names])
    inner = dense.ravel()[possible] * 10.0 ** (decimals - values.decimals)
    return matrix, None, inner, np.flatnonzero(possible)


def cell_codes(seen: View, number: Array) -> dict[str, Any]:
    """The codes of cells and inner cells, one column per dimension; of several tables, which one it is in."""
    layouts, known = seen.layouts, seen.known
    cells = known.matrix.shape[1]
    names = list(dict.fromkeys(d.name for layout in layouts for d in layout.dimensions))
    columns: dict[str, Array] = {name: np.full(len(number), "", object) for name in names}
    start, table = 0, np.zeros(len(number), np.int64)
    for k, layout in enumerate(layouts):
        here = (number >= start) & (number < start + len(layout))
        table[here] = k + 1
        for j, d in enumerate(layout.dimensions):
            columns[d.name][here] = np.array(d.codes, object)[layout.codes[number[here] - start, j]]
        start += len(layout)
    beyond = number >= cells
    if beyond.any():
        variable = known.inner_variables()
        rows = np.argsort(variable)[np.searchsorted(np.sort(variable), number[beyond])]
        leaves = {d.name: d.leaves for layout in layouts for d in layout.dimensions}
        at = rows if seen.inner_place is None else seen.inner_place[rows]
        places = np.unravel_index(at, [len(leaves[n]) for n in names])
        for name, place in zip(names, places, strict=True):
            columns[name][beyond] = np.array(leaves[name], object)[place]
    first = unused("table", columns)
    if seen.names:
        return {first: np.array(["", *seen.names], object)[table], **columns}
    return {first: table, **columns} if len(layouts) > 1 else dict(columns)


def cell_names(seen: View, number: Array) -> list[str]:
    """Cells by their codes, for people."""
    codes = list(cell_codes(seen, number).values())
    several = len(seen.layouts) > 1 or bool(seen.names)
    return [" ".join(str(c) for c in row) for row in zip(*codes[several:], strict=True)]


def cell_places(seen: View, number: Array) -> list[tuple[str, str]]:
    """Cells of tables by the name of the table, and by dimensions and codes."""
    starts = np.concatenate([[0], np.cumsum([len(layout) for layout in seen.layouts])])
    places = []
    for v in number.tolist():
        k = int(np.searchsorted(starts, v, "right")) - 1
        layout = seen.layouts[k]
        codes = zip(layout.dimensions, layout.codes[v - starts[k]].tolist(), strict=True)
        words = ", ".join(f"{d.name} {d.codes[c]}" for d, c in codes)
        places.append((seen.names[k] if seen.names else f"table {k + 1}" if len(seen.layouts) > 1 else "", words))
    return places
