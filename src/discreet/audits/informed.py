"""Intruders who know more than the release: coalitions of contributors, and whoever holds an earlier table."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from discreet.audits.contradiction import InfeasibleError
from discreet.audits.contributors import OwnParts, parts_of, with_own_parts
from discreet.audits.intruders import EARLIER, Intruder, least_and_median
from discreet.audits.known import settled_intervals
from discreet.audits.report import EXACT, NARROW, UNKNOWN, Audit
from discreet.audits.view import View, cell_codes
from discreet.base.annotations import Array
from discreet.errors import InputError, many
from discreet.release import Protected, Release, Status

MOST_COALITIONS = 20_000


def tried_insiders(protected: Protected, report: Audit, size: int) -> Intruder:
    """What coalitions of up to ``size`` contributors can work out: for each cell, the coalition that knows it best.

    Every coalition adds its own parts to the release. Cells that hold nobody else's parts are its own and not counted.
    """
    seen = report.view
    parts = parts_of(protected.table, seen.decimals)
    cells = len(protected.table)
    number = report.number[report.number < cells]
    hidden_inner = np.unique(seen.known.matrix[:, number].tocoo().row)
    everybody = np.unique(parts.contributor[np.isin(parts.inner, hidden_inner)])
    finding = np.full(len(number), "", object)
    left = np.full(len(number), np.inf)
    known_to, tried = np.zeros(len(number), bool), 0
    for coalition in _coalitions(parts, everybody, size):
        informed, theirs = with_own_parts(seen.known, parts, np.array(coalition))
        others = np.flatnonzero(~theirs[number])
        judged = _judged(report, replace(seen, known=informed), number[others])
        worse = _rank(judged.finding) > _rank(finding[others])
        finding[others] = np.where(worse, judged.finding, finding[others])
        left[others] = np.minimum(left[others], judged.bits)
        known_to[others] = True
        tried += 1
    primary = protected.status[number] == Status.PRIMARY.value
    name = "1 insider" if size == 1 else f"{size:,} insiders"
    note = f"{tried:,} coalitions of up to {size:,} who contribute"
    return _row(name, report, finding[known_to], left[known_to], note, (finding == EXACT) & primary)


def _coalitions(parts: OwnParts, everybody: Array, size: int) -> Iterator[tuple[int, ...]]:
    """All sets of up to ``size`` contributors; of counts, an inner cell as often as it has people."""
    names = everybody.tolist()
    if parts.people:
        names = [n for n in names for _ in range(min(int(parts.held[n]), size))]
    many = sum(math.comb(len(names), k) for k in range(1, size + 1))
    if size > 1 and many > MOST_COALITIONS:
        raise InputError(
            f"{many:,} coalitions of up to {size} contributors are more than the {MOST_COALITIONS:,} that are tried; "
            "give insiders=1, or name coalitions to insiders()"
        )
    for k in range(1, size + 1):
        yield from dict.fromkeys(combinations(names, k))


def tried_earlier(report: Audit, earlier: Sequence[Protected | Release], change: float) -> Intruder:
    """What somebody can work out who holds earlier tables whose cells have changed by a share of at most ``change``.

    A cell that an earlier table shows lies within that share of its value then; cells are matched by their codes.
    """
    seen = report.view
    if len(seen.layouts) > 1:
        raise InputError(
            "earlier tables are tried on one table at a time; audit each of the linked tables with its own"
        )
    lower, upper = seen.known.lower.copy(), seen.known.upper.copy()
    matched = 0
    for old in earlier:
        at, value = _shown_then(old, seen)
        spread = change * np.abs(value)
        lower[at] = np.maximum(lower[at], value - spread)
        upper[at] = np.minimum(upper[at], value + spread)
        matched += len(at)
    note = f"{many(matched, 'cell')} of earlier tables, changed by at most {change:.6g} of their value"
    judged = None if (lower > upper).any() else _judged_with(report, lower, upper)
    if judged is None:
        note += "; this table contradicts that, so nothing was judged"
        cells = len(report.number)
        return Intruder(name=EARLIER, cells=cells, exact=None, narrow=None, unknown=cells, note=note)
    return _row(EARLIER, report, judged.finding, judged.bits, note, judged.finding == EXACT)


def _judged_with(report: Audit, lower: Array, upper: Array) -> Audit | None:
    """The audit for somebody who knows other bounds of the cells; None if no table fits them."""
    seen = report.view
    try:
        return _judged(report, replace(seen, known=replace(seen.known, lower=lower, upper=upper)), report.number)
    except InfeasibleError:
        return None


def _shown_then(old: Protected | Release, seen: View) -> tuple[Array, Array]:
    """The cells of a view that an earlier table shows, and their values then in units of the last decimal."""
    release = old.release() if isinstance(old, Protected) else old
    if release.truthful is False:
        raise InputError("the values of an earlier table are changed ones; give one that shows true values or nothing")
    layout, names = seen.layouts[0], [d.name for d in release.dimensions]
    if set(names) != {d.name for d in layout.dimensions}:
        raise InputError(f"an earlier table has the dimensions {', '.join(names)}; give one of the same dimensions")
    if seen.measure not in release.values:
        raise InputError(f"an earlier table does not show {seen.measure!r}; it has {', '.join(release.values)}")
    codes = cell_codes(seen, np.arange(len(layout)))
    place = {key: k for k, key in enumerate(zip(*(codes[name] for name in names), strict=True))}
    shown = np.asarray(release.values[seen.measure], float) * 10.0**seen.decimals
    texts = [np.array(d.codes, object)[release.codes[:, k]] for k, d in enumerate(release.dimensions)]
    cell = np.array([place.get(key, -1) for key in zip(*texts, strict=True)], np.int64)
    common = (cell >= 0) & np.isfinite(shown)
    if not common.any():
        raise InputError("an earlier table shows no cell of this one; its codes are others")
    return cell[common], shown[common]


def _judged(report: Audit, seen: View, number: Array) -> Audit:
    """The audit of some cells, with the levels of another one, for whoever knows more."""
    lower, upper, settled = settled_intervals(seen.known, number)
    grid = 10.0**seen.decimals
    at = np.flatnonzero(np.isin(report.number, number))
    need = None if report.need is None else tuple(part[at] for part in report.need)
    return Audit(seen, number, lower / grid, upper / grid, None, need, settled=settled)  # type: ignore[arg-type]


def _rank(finding: Array) -> Array:
    return np.select([finding == name for name in (EXACT, NARROW, UNKNOWN, "")], [3, 2, 1, -1], 0)


def _row(name: str, report: Audit, finding: Array, bits: Array, note: str, exposed: Array) -> Intruder:
    least, median = least_and_median(bits)
    return Intruder(
        name=name,
        cells=len(finding),
        exact=int((finding == EXACT).sum()),
        narrow=None if report.need is None else int((finding == NARROW).sum()),
        unknown=int((finding == UNKNOWN).sum()),
        least_bits=least,
        median_bits=median,
        exposed=bool(exposed.any()),
        note=note,
    )
