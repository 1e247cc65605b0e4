"""Means beside counts, judged: which hidden counts they give away, and which hidden means follow themselves."""

from __future__ import annotations

import time
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.audits.mean_equations import CellMeans, MeanSystem, mean_system
from discreet.audits.report import Audit
from discreet.audits.view import View, cell_names
from discreet.base.annotations import Array
from discreet.errors import Unjudged, listed
from discreet.linear.integer import apart_points, single_values, whole_point
from discreet.linear.intervals import settled
from discreet.linear.linear_tuning import LINEAR
from discreet.linear.system import ContradictionError, System

TUNING = replace(LINEAR, whole_seconds=10.0)
CLOSE = 0.1
"""A hidden mean of one person is given away, and that of two is unknown, where it is known to within this share."""
SECONDS = 10.0  # for hidden means; what is not settled by then is unknown


@dataclass(frozen=True, eq=False)
class _Judged:
    """What follows under one idea of single values: intervals of the audited counts, and of hidden means."""

    lower: Array
    upper: Array
    sure: Array
    means: tuple[tuple[int, int], ...]
    """Kinds of means and cells whose mean is not shown and follows."""
    open_means: int
    """Hidden means of which it was not settled in time."""
    loose: bool
    close: tuple[tuple[int, int], ...] = ()
    """Kinds and cells of hidden means of one or two people that are known to within ``CLOSE``."""

    @property
    def known(self) -> Array:
        return np.asarray(self.lower == self.upper)


def with_means(report: Audit) -> Audit:
    """The report of counts with what the means beside them say more; never a pass where that cannot be judged.

    Where nobody says what single values are multiples of, they may be any number; if more follows from whole numbers
    (or the coarsest decimals that fit), that is said and the audit is not a pass.
    """
    seen = report.view
    if not seen.means:
        return report
    doubts = _not_judged(seen)
    if doubts:
        return replace(report, unjudged=(*report.unjudged, *doubts))
    nonnegative = bool((seen.known.inner_lower >= 0).any()) and not any((m.shown < 0).any() for m in seen.means)
    stated = tuple(m.unit or 0.0 for m in seen.means)
    try:
        plain = _judged(report, stated, nonnegative=nonnegative)
    except ContradictionError:
        return replace(report, unjudged=(*report.unjudged, _do_not_fit(seen)))
    except Unjudged as reason:
        return replace(report, unjudged=(*report.unjudged, f"means beside the counts were not judged: {reason}"))
    words = [*_single_people(report, plain), *_unsettled(plain)]
    words += _if_whole(report, plain, stated, nonnegative=nonnegative)
    sure = plain.sure if report.settled is None else plain.sure & report.settled
    follows = (*_follow(seen, plain.means), *_nearly(seen, plain, 1))
    words += _nearly(seen, plain, 2)
    return replace(
        report,
        lower=plain.lower,
        upper=plain.upper,
        settled=sure,
        follows=(*report.follows, *follows),
        unjudged=(*report.unjudged, *words),
        released=(),
    )


def _not_judged(seen: View) -> list[str]:
    """Why means are not judged at all, if so."""
    if seen.decimals or not seen.known.integer or seen.known.rhs is not None:
        return [f"means stand beside {seen.measure!r}, which is not a count: what they say of it was not judged"]
    if seen.unavailable is not None and seen.unavailable.any():
        return [
            "means stand beside counts of which some are not available, and what they say of others was not judged: "
            "say --zero MARK if no total holds what is not available, or --suppressed MARK if totals do"
        ]
    if seen.beyond is not None and np.isfinite(seen.beyond).any():
        return [
            "means stand beside counts that plain marks and ranges hide, and what they say was not judged: say what "
            "the plain mark stands for, --suppressed 'MARK=6+' or 'MARK=1+'"
        ]
    return []


def _do_not_fit(seen: View) -> str:
    names = listed([m.name for m in seen.means], 3)
    return (
        f"{names}: no counts that fit the table have such means, so that they are of something else, and what they say "
        "of hidden counts was not judged; take them out, or leave their column aside (--leave)"
    )


def _judged(report: Audit, units: tuple[float, ...], *, nonnegative: bool) -> _Judged:
    seen, number = report.view, report.number
    whole = mean_system(seen.known, seen.means, units, nonnegative=nonnegative)
    lower, upper, sure = settled(whole.system, number)
    lower, upper = np.maximum(lower, report.lower), np.minimum(upper, report.upper)
    wide = np.flatnonzero((lower < upper) & (number < len(seen.known.lower)))
    points = apart_points(whole.system, _apart(seen, whole, number[wide]), SECONDS)
    if len(wide):
        low, high, doubt = single_values(whole.system, number[wide], points, TUNING)
        alone = low == high
        lower[wide[alone]], upper[wide[alone]] = low[alone], high[alone]
        sure[wide[alone]] = True
        sure[wide[doubt]] = False
    means, left = _means_that_follow(seen, whole, points)
    return _Judged(lower, upper, sure, means, left, whole.loose, tuple(_close_means(seen, whole, {*means})))


def _close_means(seen: View, whole: MeanSystem, known: Container[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Hidden means of one or two people, as their count says, whose interval is narrow."""
    few = (seen.known.lower == seen.known.upper) & (seen.known.lower >= 1) & (seen.known.lower <= 2)
    for kind, means in enumerate(seen.means):
        cells = np.flatnonzero(_hidden_means(seen, means) & few)
        if not len(cells):
            continue
        least, most, _ = settled(whole.system, whole.sums[kind] + cells)
        close = most - least <= CLOSE * np.abs(most + least)
        yield from ((kind, cell) for cell in cells[close].tolist() if (kind, cell) not in known)


def _apart(seen: View, whole: MeanSystem, counts: Array) -> Array:
    """Counts and the sums behind hidden means, which are pushed up and down."""
    sums = [start + np.flatnonzero(_hidden_means(seen, m)) for start, m in zip(whole.sums, seen.means, strict=True)]
    bounded = [own[np.isfinite(whole.system.lower[own]) & np.isfinite(whole.system.upper[own])] for own in sums]
    return np.unique(np.concatenate([counts, *bounded]))


def _means_that_follow(
    seen: View, whole: MeanSystem, known: Sequence[Array]
) -> tuple[tuple[tuple[int, int], ...], int]:
    """Hidden means with one value only, as kind and cell; and how many were not settled."""
    stop = time.monotonic() + SECONDS
    hidden = [
        (kind, int(cell))
        for kind, means in enumerate(seen.means)
        for cell in np.flatnonzero(_hidden_means(seen, means))
        if whole.system.upper[cell] > 0
    ]
    points = _Witnesses(whole, hidden, [means.room for means in seen.means])
    for point in known:
        points.take(point)
    follow, unsettled = [], 0
    for kind, cell in hidden:
        if points.several(kind, cell):
            continue
        seconds = stop - time.monotonic()
        found = None if seconds <= 0 else _second_mean(whole, points, kind, cell, min(seconds, 2.0))
        if found is None:
            unsettled += 1
        elif found:
            follow.append((kind, cell))
    return tuple(follow), unsettled


def _hidden_means(seen: View, means: CellMeans) -> Array:
    """Cells of the publication without a mean."""
    there = np.ones(len(means.shown), bool) if seen.aside is None else ~seen.aside
    return np.asarray(np.isnan(means.shown) & there)


class _Witnesses:
    """What hidden means are in the tables that were found to fit."""

    def __init__(self, whole: MeanSystem, hidden: Sequence[tuple[int, int]], rooms: Sequence[Array]) -> None:
        self.whole = whole
        self.rooms = rooms
        self.hidden = hidden
        self.values: dict[tuple[int, int], set[int]] = {key: set() for key in hidden}

    def several(self, kind: int, cell: int) -> bool:
        return len(self.values[kind, cell]) > 1

    def take(self, point: Array) -> None:
        """Take note of a table that fits."""
        for kind, cell in self.hidden:
            count = point[cell]
            if count > 0:
                halves = self.whole.steps[kind] * point[self.whole.sums[kind] + cell] / self.rooms[kind][cell]
                self.values[kind, cell].add(int(np.floor((halves + count) / (2 * count) + 1e-12)))


def _second_mean(whole: MeanSystem, points: _Witnesses, kind: int, cell: int, seconds: float) -> bool | None:
    """Whether a hidden mean has one value only, None where that was not settled; no mean of nobody follows."""
    values = points.values[kind, cell]
    if not values:
        first = _point(_somebody(whole.system, cell), seconds)
        if first is None:
            return None
        if not len(first):
            return False
        points.take(first)
    value = next(iter(values))
    settled_sides = 0
    for side in (1, -1):
        limit = (2 * value + side) * points.rooms[kind][cell]
        beyond = _beyond(_somebody(whole.system, cell), cell, whole.sums[kind] + cell, whole.steps[kind], limit, side)
        point = _point(beyond, seconds)
        if point is None:
            continue
        if len(point):
            points.take(point[:-1])
            return False
        settled_sides += 1
    return True if settled_sides == 2 else None


def _point(system: System, seconds: float) -> Array | None:
    """A table that fits; empty if there is none, None if that was not settled."""
    try:
        return whole_point(system, seconds)
    except ContradictionError:
        return np.zeros(0)


def _somebody(system: System, cell: int) -> System:
    """The same with one person in a cell at least."""
    lower = system.lower.copy()
    lower[cell] = max(lower[cell], 1.0)
    if lower[cell] > system.upper[cell]:
        raise ContradictionError
    return replace(system, lower=lower)


def _beyond(system: System, count: int, sum_: int, step: int, limit: float, side: int) -> System:
    """The same where the sum of a cell is ``limit`` halves a head at least (side 1) or at most (side −1)."""
    from scipy.sparse import coo_array, csr_array, hstack, vstack

    size = system.size
    row = coo_array(([side * float(step), -side * limit, -1.0], ([0, 0, 0], [sum_, count, size])), shape=(1, size + 1))
    wide = hstack([system.rows, csr_array((system.rows.shape[0], 1))], format="csr")
    return System(
        csr_array(vstack([wide, row], format="csr")),
        np.append(system.rhs, 0.0),
        np.append(system.lower, 0.0),
        np.append(system.upper, np.inf),
        True,
    )


def _if_whole(report: Audit, plain: _Judged, stated: tuple[float, ...], *, nonnegative: bool) -> list[str]:
    """What else follows if single values are whole numbers, or of the fewest decimals that fit, where nobody says."""
    means = report.view.means
    unsaid = [m for m in means if m.unit is None]
    if not unsaid:
        return []
    for places in range(max(m.finest for m in unsaid) + 1):
        units = tuple(
            10.0 ** -min(places, m.finest) if m.unit is None else s for m, s in zip(means, stated, strict=True)
        )
        try:
            whole = _judged(report, units, nonnegative=nonnegative)
        except ContradictionError:
            continue
        except Unjudged:
            return [f"what follows if {listed([m.name for m in unsaid], 3)} are of whole numbers was not judged"]
        more = int(((whole.known & ~plain.known) | (~whole.sure & plain.sure)).sum())
        more += len(set(whole.means) - set(plain.means)) + max(whole.open_means - plain.open_means, 0)
        if not more:
            return []
        kind = "whole numbers" if not places else f"numbers of {places} decimals"
        return [
            f"if {listed([m.name for m in unsaid], 3)} are means of {kind}, {more:,} more of what is not shown may be "
            f"known: say what single values are multiples of, as {unsaid[0].name!r}=1, or 0 for any number (--mean), "
            "and take means of hidden counts out"
        ]
    return []


def _single_people(report: Audit, judged: _Judged) -> list[str]:
    """Means of counts that are not shown and may be one: such a mean is one person's value."""
    seen = report.view
    low = seen.known.lower.copy()
    inside = report.number < len(low)
    low[report.number[inside]] = judged.lower[inside]
    alone = [seen.unknown & ~np.isnan(m.shown) & (low <= 1) for m in seen.means]
    many = sum(int(cells.sum()) for cells in alone)
    if not many:
        return []
    names = listed(cell_names(seen, np.flatnonzero(np.logical_or.reduce(alone))), 3)
    return [
        f"{many:,} means are shown of counts that are not shown and may be 1 ({names}): a mean of one is that person's "
        "value; take means of hidden counts out"
    ]


def _unsettled(judged: _Judged) -> list[str]:
    words = []
    if judged.open_means:
        words.append(f"whether {judged.open_means:,} hidden means follow was not settled in time")
    if judged.loose:
        words.append(
            "some counts that are not shown may be 0 or the sums behind the means are very large, so that more may "
            "follow from the means than this audit sees"
        )
    return words


def _nearly(seen: View, judged: _Judged, people: int) -> list[str]:
    """Which hidden means of so many people are known closely, in words."""
    close = [(kind, cell) for kind, cell in judged.close if seen.known.lower[cell] == people]
    if not close:
        return []
    names = listed(cell_names(seen, np.array([cell for _, cell in close], np.int64)), 3)
    whose = "one person" if people == 1 else "two people"
    return [
        f"{seen.means[close[0][0]].name}: {len(close):,} means of {whose} that are not shown are known to within "
        f"{CLOSE:.0%} from those that are ({names}); take the mean of their total or of another part out"
    ]


def _follow(seen: View, means: Sequence[tuple[int, int]]) -> list[str]:
    """Which hidden means follow, in words."""
    words = []
    for kind in sorted({kind for kind, _ in means}):
        cells = np.array([cell for own, cell in means if own == kind], np.int64)
        words.append(
            f"{seen.means[kind].name}: {len(cells):,} means that are not shown follow from those that are "
            f"({listed(cell_names(seen, cells), 3)})"
        )
    return words
