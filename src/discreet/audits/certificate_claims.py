"""What a certificate claims of one measure, and the proofs of it: witness tables and combinations of cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from math import ceil, floor
from typing import Any, Protocol

import numpy as np

from discreet.audits.certificate_files import file_rows
from discreet.audits.described import described_view, dimensions_of
from discreet.audits.intruders import Intruder
from discreet.audits.verify import FINDINGS, Measure, NotProvedError
from discreet.audits.view import View, cell_codes
from discreet.base.annotations import Array
from discreet.errors import InputError, Unjudged
from discreet.linear.bound_proof import BoundProofs
from discreet.linear.pool import Wanted, pool_of
from discreet.linear.system import ContradictionError
from discreet.release import Protected, Release
from discreet.tables.layout import Layout

SLACK = 1e-6  # of a unit of the last decimal: levels are worked out in floating point
LINES = "sums that a rule on whole lines keeps unknown: the audit judges them, and no proof of that is here"
PARAMETERS = (
    "what a changed value implies, or is known of a hidden one beforehand, is a parameter of the method; ask for a "
    "confidential certificate (confidential=True)"
)


class Audited(Protocol):
    """What a certificate is made of: the faces of an ``Audit``."""

    @property
    def view(self) -> View: ...
    @property
    def number(self) -> Array: ...
    @property
    def lower(self) -> Array: ...
    @property
    def upper(self) -> Array: ...
    @property
    def need(self) -> tuple[Array, Array, Array] | None: ...
    @property
    def finding(self) -> Array: ...
    @property
    def sums(self) -> Any: ...
    @property
    def unjudged(self) -> tuple[str, ...]: ...
    @property
    def others(self) -> Sequence[Audited]: ...
    @property
    def informed(self) -> tuple[Intruder, ...]: ...
    @property
    def intruders(self) -> tuple[Intruder, ...]: ...
    @property
    def released(self) -> tuple[Protected | Release, ...]: ...


def claim_of(
    report: Audited, every: Sequence[Release], files: Sequence[Any], confidential: bool, intervals: bool
) -> dict[str, Any]:
    """What is claimed of one measure, with its proofs. ``files``: what the certificate says of the releases."""
    seen = described_view(report.view)
    cells = seen.known.matrix.shape[1]
    if (report.number >= cells).any():
        raise InputError("a certificate is of published cells; audit them without targets='inner'")
    tables = [k for k, release in enumerate(every) if seen.measure in release.values]
    releases = [every[k] for k in tables]
    place = np.arange(len(seen.known.inner_lower)) if seen.inner_place is None else seen.inner_place
    claim: dict[str, Any] = {
        "measure": seen.measure,
        "dimensions": dimensions_of(seen),
        "decimals": seen.decimals,
        "whole": bool(seen.known.integer),
        "least": 0 if np.isfinite(seen.known.inner_lower).all() else None,
        "tables": tables,
        "implied": _implied(seen, releases),
        "beforehand": _beforehand(seen, releases, place),
        "unjudged": list(report.unjudged),
    }
    stated = claim["implied"] is not None or any(t >= 0 for t, *_ in claim["beforehand"])
    if stated and not confidential and any(isinstance(one, Protected) for one in report.released):
        raise InputError(PARAMETERS)
    if confidential and report.sums is not None:
        claim["unjudged"].append(LINES)
    need = _need(report) if confidential else None
    claim |= _witnesses(seen, place, _wanted(report, need, intervals))
    claim["cells"] = _cells(report, need)
    read = [file_rows(release, files[k]) if k in tables else {} for k, release in enumerate(every)]
    measure = Measure(claim, list(files), read)
    rest = sorted(measure.hidden - set(measure.claims))  # cells that the files hide and no audit was asked of
    claim["cells"] += [{"table": t, "cell": list(codes)} for t, codes in rest]
    measure = Measure(claim, list(files), read)
    claim["unjudged"] = list(dict.fromkeys(measure.doubts))
    _drop_unproved(measure)
    findings = _findings(claim, report, Proofs(seen, measure), intervals)
    return claim | {"summary": {name: findings[name] for name in FINDINGS}}


def _drop_unproved(measure: Measure) -> None:
    """Leave out a witness table that does not fit when it is added up exactly; without the base nothing is shown."""
    claim = measure.claim
    try:
        base = measure.witness({}, *claim["base"]) if claim["base"] is not None else None
    except NotProvedError:
        base = None
    kept = []
    for move in claim["moves"] if base is not None else ():
        with suppress(NotProvedError):
            measure.witness(base or {}, *move)
            kept.append(move)
    claim["base"], claim["moves"] = (None if base is None else claim["base"]), kept


def _places(layout: Layout, release: Release) -> Array:
    """Which cell of a layout each row of a release is."""
    flat = np.ravel_multi_index(tuple(release.codes.T), layout.code_shape)
    order = np.argsort(layout.flat, kind="stable")
    return np.asarray(order[np.searchsorted(layout.flat, flat, sorter=order)])


def _shown(seen: View, releases: Sequence[Release]) -> tuple[Array, Array]:
    """The numbers of the cells that a value stands in, and the values in units of the last decimal."""
    numbers, values, start = [], [], 0
    for layout, release in zip(seen.layouts, releases, strict=True):
        units = np.rint(np.asarray(release.values[seen.measure], float) * 10.0**seen.decimals)
        there = np.isfinite(units)
        numbers.append(start + _places(layout, release)[there])
        values.append(units[there])
        start += len(layout)
    return np.concatenate(numbers), np.concatenate(values)


def _implied(seen: View, releases: Sequence[Release]) -> dict[str, list[Any]] | None:
    """What a shown value implies, by the value; None if every one is the true one."""
    number, value = _shown(seen, releases)
    lower, upper = seen.known.lower[number], seen.known.upper[number]
    if (lower == value).all() and (upper == value).all():
        return None
    if not (np.isfinite(lower) & np.isfinite(upper)).all():
        raise InputError("cells marked as confidential hold values that do not fit the sums; remove them first")
    implied: dict[str, list[Any]] = {}
    for v, low, high in zip(value.tolist(), lower.tolist(), upper.tolist(), strict=True):
        ends = [_plain(low), _plain(high)]
        if implied.setdefault(str(int(v)), ends) != ends:
            raise InputError("the same value implies other bounds in other cells, which no certificate states yet")
    return implied


def _beforehand(seen: View, releases: Sequence[Release], place: Array) -> list[list[Any]]:
    """Bounds of cells that are not shown, where there are any; and inner cells that cannot exist, which are zero."""
    known = seen.known
    hidden = np.ones(len(known.lower), bool)
    hidden[_shown(seen, releases)[0]] = False
    at = np.flatnonzero(hidden & (np.isfinite(known.lower) | np.isfinite(known.upper)))
    ends = zip(known.lower[at].tolist(), known.upper[at].tolist(), strict=True)
    cells = table_and_codes(seen, at)
    rows = [[*cell, _plain(low), _plain(high)] for cell, (low, high) in zip(cells, ends, strict=True)]
    size = int(np.prod([len(d["leaves"]) for d in dimensions_of(seen)]))
    return rows + [[-1, n, 0, 0] for n in np.setdiff1d(np.arange(size), place).tolist()]


def table_and_codes(seen: View, number: Array) -> list[tuple[int, list[str]]]:
    """Cells by their table and codes."""
    codes, sizes = cell_codes(seen, number), np.cumsum([len(layout) for layout in seen.layouts])
    table = np.searchsorted(sizes, number, side="right")
    names = [[d.name for d in layout.dimensions] for layout in seen.layouts]
    return [(int(t), [str(codes[name][k]) for name in names[t]]) for k, t in enumerate(table.tolist())]


def _plain(value: float) -> int | str | None:
    """A number for JSON, exactly: whole ones as they are, others as a fraction, infinity as None."""
    if not np.isfinite(value):
        return None
    return int(value) if value == int(value) else str(Fraction(value))


def _need(report: Audited) -> Array | None:
    """How low and how high each cell must reach, and how wide, in units of the last decimal; NaN where nothing is."""
    if report.need is None:
        return None
    grid = 10.0**report.view.decimals
    low, high, width = (np.asarray(part, float) * grid for part in report.need)
    asked = (low < high) | (width > 0)
    slack = np.where(np.isfinite(report.upper - report.lower), SLACK, 0)
    slack = np.maximum(slack, 1e-9 * np.where(slack > 0, report.upper - report.lower, 0) * grid)
    ends = np.stack([low + slack, high - slack, np.maximum(width - slack, 0)])
    return np.where(asked, ends, np.nan)


def _wanted(report: Audited, need: Array | None, intervals: bool) -> Wanted:
    """What the witness tables must show of the cells that are not known exactly."""
    open_ = np.flatnonzero(report.finding != "exact")
    wanted = Wanted.two_values(report.number[open_])
    low, high, width = wanted.low, wanted.high, wanted.width
    if need is not None:
        low, high, width = (
            np.where(np.isnan(n), w, n) for n, w in zip(need[:, open_], (low, high, width), strict=True)
        )
    if intervals:
        grid = 10.0**report.view.decimals
        ends = report.lower[open_] * grid, report.upper[open_] * grid
        low, high = np.where(np.isfinite(ends[0]), ends[0], low), np.where(np.isfinite(ends[1]), ends[1], high)
    return Wanted(wanted.variables, low, high, width)


def _witnesses(seen: View, place: Array, wanted: Wanted) -> dict[str, Any]:
    """Witness tables by inner cells alone, as every other cell is a sum of them; none where none was found in time."""
    try:
        pool = pool_of(seen.known.system(), wanted)
    except ContradictionError:
        raise InputError("no table adds up to all of what is published by the sums of its codes") from None
    except Unjudged:
        return {"base": None, "moves": []}
    variable = seen.known.inner_variables()
    base = pool.base[variable]
    some = np.flatnonzero(base)
    some = some[np.argsort(place[some])]
    inner = np.full(len(pool.base), -1)
    inner[variable] = np.arange(len(variable))
    moves = []
    for move in pool.moves:
        kept = inner[move.at] >= 0
        number = place[inner[move.at[kept]]]
        order = np.argsort(number)
        moves.append([move.divisor, number[order].tolist(), _whole(move.amounts[kept][order])])
    return {"base": [pool.divisor, place[some].tolist(), _whole(base[some])], "moves": moves}


def _whole(amounts: Array) -> list[int]:
    return [int(amount) for amount in amounts.tolist()]


def _cells(report: Audited, need: Array | None) -> list[dict[str, Any]]:
    """One claim for each audited cell, not yet filled in."""
    cells: list[dict[str, Any]] = []
    for k, (table, codes) in enumerate(table_and_codes(report.view, report.number)):
        cells.append({"table": table, "cell": codes})
        if need is not None and np.isfinite(need[:, k]).all():
            cells[-1]["need"] = [str(Fraction(end)) for end in need[:, k].tolist()]
    return cells


def _findings(claim: dict[str, Any], report: Audited, proofs: Proofs, intervals: bool) -> Counter[str]:
    """Fill every claim in with what the witness tables reach and what combinations prove; how many of each finding."""
    reached, counts = proofs.measure.reached() or {}, Counter[str]()
    found = [*report.finding.tolist(), *["unknown"] * (len(claim["cells"]) - len(report.number))]
    for k, (one, judged) in enumerate(zip(claim["cells"], found, strict=True)):
        cell = (one["table"], tuple(one["cell"]))
        low, high = reached.get(cell, (0, 0))
        one["reached"] = [str(low), str(high)]
        asked = [Fraction(end) for end in one.get("need", ())]
        two = floor(high) > ceil(low)
        far = two and (not asked or (low <= asked[0] and high >= asked[1] and high - low >= asked[2]))
        proof = proofs.of(int(report.number[k]), cell) if k < len(report.number) and (intervals or not two) else None
        if proof is not None:
            one["proof"] = proof
        single = proof is not None and floor(Fraction(proof[1][0])) <= ceil(Fraction(proof[0][0]))
        if far:
            one["finding"] = "open"
        elif single:
            one["finding"] = "exact"
        elif judged == "exact":
            one["finding"] = "unknown" if two else "stated"
        else:
            one["finding"] = "narrow" if asked and judged == "narrow" else "unknown"
        counts[one["finding"]] += 1
    return counts


class Proofs:
    """Combinations of published cells that bound a hidden one."""

    def __init__(self, seen: View, measure: Measure) -> None:
        self.seen, self.measure = seen, measure
        self.combinations = BoundProofs(seen.known.system())

    def of(self, number: int, cell: tuple[int, tuple[str, ...]]) -> list[list[Any]] | None:
        """[its value, divisor, terms] for the least and for the greatest value; None unless both are proved."""
        both = [self._side(number, cell, side) for side in (0, 1)]
        return None if any(one is None for one in both) else [one for one in both if one is not None]

    def _side(self, number: int, cell: tuple[int, tuple[str, ...]], side: int) -> list[Any] | None:
        combination = self.combinations.prove(number, side)
        if combination is None:
            return None
        known = self.seen.known
        ends = (known.lower, known.upper) if side == 0 else (known.upper, known.lower)
        floor_of = -np.inf if self.measure.claim["least"] is None else 0.0
        terms, total, at = [], Fraction(0), []
        for variable, amount in zip(combination.at.tolist(), combination.amounts.tolist(), strict=True):
            end = np.nan if variable >= len(known.lower) else float(ends[0 if amount > 0 else 1][variable])
            lower = (side == 0) == (amount > 0)
            if np.isfinite(end) and not (lower and end < floor_of):  # else its inner cells are known better
                at.append(variable)
                terms.append(int(amount))
                total += int(amount) * Fraction(end)
        named = table_and_codes(self.seen, np.array(at, np.int64))
        proof: list[Any] = [str(total / combination.divisor), combination.divisor,
                 [[amount, *name] for amount, name in zip(terms, named, strict=True)]]  # fmt: skip
        try:
            self.measure.bound(cell, side, *proof)
        except NotProvedError:
            return None
        return proof
