"""The audit of one view: the interval of every cell, and whether it keeps the distance that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from discreet.audits.contradiction import InfeasibleError
from discreet.audits.frechet import frechet
from discreet.audits.joined.conflict import conflict
from discreet.audits.known import settled_intervals
from discreet.audits.on_demand import KeptSystem, kept_system
from discreet.audits.report import OPEN, Audit
from discreet.audits.view import View, cell_codes
from discreet.base.annotations import Array
from discreet.base.arguments import numbers, positive
from discreet.errors import InputError, many
from discreet.rules import Levels, Rule

Protection = float | tuple[Array, ...] | Rule | Levels | str | None
PLACEHOLDER = "cells marked as confidential hold values that do not fit the sums; these were left out"
NO_TOTAL = (
    "no total found: no hidden cell is in a sum with others, so nothing can be said of it; name the "
    "total of each dimension, or give its hierarchy"
)
NO_TARGETS = "no cell was named, so nothing was judged"
NOTHING_HIDDEN = (
    "every count or sum is shown as it is and no rule is given that says which cells are sensitive, so nothing was "
    "judged; name one with protection= (on the command line, what `protect` wrote beside it with --confidential)"
)


def cells_by_name(seen: View, cells: Any) -> Array:
    """Cells by mask, by number, or by their codes in the one table there is."""
    if not isinstance(cells, Mapping):
        if isinstance(cells, str):
            raise InputError(f"cells are a mask, numbers or codes ({{'area': '1'}}), not {cells!r}; see targets=")
        return _targets(seen, np.asarray(cells))
    if len(seen.layouts) > 1:
        raise InputError("codes name the cells of one table; of several give a mask or numbers over all their cells")
    return np.flatnonzero(seen.layouts[0].find(dict(cells)))


def empty(seen: View, targets: str | Array, *, ruled: bool = False) -> tuple[str, ...]:
    """Why nothing is judged, if so: no cell is named, or all is shown and no rule says what should not be."""
    if not isinstance(targets, str):
        return () if len(_targets(seen, targets)) else (NO_TARGETS,)
    return (NOTHING_HIDDEN,) if targets == "unknown" and not ruled and not seen.withheld.any() else ()


def _cure(seen: View, cells: Array) -> str:
    """What may settle a contradiction of cells of which ranges are shown."""
    lower, upper = seen.known.lower[cells], seen.known.upper[cells]
    return "if <5 may be 0, too, say --zeros-hidden" if ((lower == 1) & (upper > 1)).any() else ""


def of_view(
    seen: View,
    targets: str | Array = "unknown",
    *,
    protection: Protection = None,
    progress: Callable[[int, int], None] | None = None,
    keep: Sequence[Any] = (),
) -> Audit:
    """The same for what is known already; ``keep``: releases with which the system is kept for further questions."""
    number = _targets(seen, targets)
    kept = kept_system(seen, keep) if keep else None
    settled: Array | None
    try:
        if kept is not None:
            lower, upper, settled = kept.settled(number, progress)
        else:
            quick = _quick(seen, targets)
            lower, upper, settled = quick or settled_intervals(seen.known, number, progress=progress)
    except InfeasibleError as error:
        if seen.left is not None and (seen.left != "").any():
            return _without_left(seen, targets, protection, progress)
        if len(seen.names) > 1:
            raise conflict(seen) from None
        codes = cell_codes(seen, error.cells)
        names = [" ".join(str(c) for c in row) for row in zip(*codes.values(), strict=True)]
        raise InfeasibleError(error.cells, names, smallest=error.smallest, cure=_cure(seen, error.cells)) from None
    grid = 10.0**seen.decimals
    truth = None
    if seen.truth is not None:
        cells = len(seen.truth)
        every = seen.truth
        if (number >= cells).any():
            if seen.inner_truth is None:
                every = np.concatenate([every, np.full(int(number.max()) + 1 - cells, np.nan)])
            else:
                every = np.concatenate([every, np.full(len(seen.inner_truth), np.nan)])
                every[seen.known.inner_variables()] = seen.inner_truth
        truth = every[number] / grid
        truth = None if np.isnan(truth).any() else truth
    need = None
    if protection is not None:
        if truth is None:
            raise InputError(
                "protection is measured from the truth, which a release does not hold; audit the Protected"
            )
        need = _need(protection, truth, number, seen.known.matrix.shape[1])
    unjudged = (*seen.unjudged, *((NO_TOTAL,) if _alone(seen, number, kept) else ()))
    left = None
    if seen.left is not None and (number < len(seen.left)).all() and (seen.left[number] != "").any():
        left = seen.left[number]
    return Audit(seen, number, lower / grid, upper / grid, truth, need, settled=settled, left=left, unjudged=unjudged)


def cells_known_besides(report: Audit, other: Audit) -> str:
    """How many cells are open in a report and not in another one of the same release, in words; "" if none is."""
    before = dict(zip(report.number.tolist(), report.finding.tolist(), strict=True))
    more = sum(
        finding != OPEN and before.get(cell) == OPEN
        for cell, finding in zip(other.number.tolist(), other.finding.tolist(), strict=True)
    )
    if not more:
        return ""
    return many(more, "cell")


def _without_left(seen: View, targets: str | Array, protection: Protection, progress: Any) -> Audit:
    """The audit when what stands in marked cells contradicts the sums: a dot or a zero that means nothing, perhaps."""
    assert seen.left is not None
    there, known = seen.left != "", seen.known
    number = _targets(seen, targets)
    lower, upper = np.where(there, -np.inf, known.lower), np.where(there, np.inf, known.upper)
    blank = replace(seen, known=replace(known, lower=lower, upper=upper), left=None)
    report = of_view(blank, number, protection=protection, progress=progress)
    return replace(report, left=seen.left[report.number], unjudged=(*report.unjudged, PLACEHOLDER))


def _need(protection: Any, truth: Array, number: Array, cells: int) -> tuple[Array, Array, Array]:
    """Where the interval of every audited cell must begin and end, and how wide it must be."""
    if isinstance(protection, tuple):
        if len(protection) not in (2, 3):
            raise InputError("protection is (below, above) or (below, above, width), arrays over the cells")
        parts = []
        for amounts in protection:
            level = numbers("protection", amounts)
            if level.shape != (cells,) or not (level >= 0).all():
                raise InputError(f"protection levels are arrays over the {cells:,} cells, none negative")
            laid = np.zeros(max(cells, int(number.max(initial=-1)) + 1))  # nothing is asked of inner cells
            laid[:cells] = level
            parts.append(laid[number])
        width = parts[2] if len(parts) == 3 else np.zeros(len(number))
        return truth - parts[0], truth + parts[1], width
    if not isinstance(protection, (int, float)):
        raise InputError("protection is a share, arrays over the cells, a rule or Levels")
    positive("protection", protection)
    room = protection * np.abs(truth)
    return truth - room, truth + room, np.zeros(len(number))


def _alone(seen: View, number: Array, kept: KeptSystem | None) -> bool:
    """Whether there are cells to audit and none of those that are not published stands in a sum with others."""
    hidden = np.flatnonzero(seen.unknown)
    if not seen.unknown[number[number < len(seen.unknown)]].any():
        return False
    tied = (KeptSystem(seen) if kept is None else kept).tied
    return not tied[hidden].any()


def _quick(seen: View, targets: str | Array) -> tuple[Array, Array, None] | None:
    """Inner cells from decomposable margins need no program."""
    plain = not seen.unknown.any() and bool((seen.known.inner_lower == 0).all()) and len(seen.layouts) == 1
    if not isinstance(targets, str) or targets != "inner" or not plain:
        return None
    bounds = frechet(seen.layouts[0], seen.known.lower)
    return None if bounds is None else (*bounds, None)


def _targets(seen: View, targets: str | Array) -> Array:
    if isinstance(targets, str):
        if targets == "unknown":
            return np.flatnonzero(seen.withheld)
        if targets == "inner":
            return seen.known.inner_variables()
        raise InputError(f'targets are "unknown", "inner", a mask or cell numbers, not {targets!r}')
    numbers = np.asarray(targets)
    cells = seen.known.matrix.shape[1]
    if numbers.dtype == bool:
        if numbers.shape != (cells,):
            raise InputError(f"the mask has shape {numbers.shape}, the release {cells:,} cells")
        return np.flatnonzero(numbers)
    if numbers.size and (numbers.dtype.kind not in "iu" or numbers.min() < 0 or numbers.max() >= cells):
        raise InputError(f"cells to audit are numbers from 0 to {cells - 1:,}")
    return numbers.astype(np.int64)
