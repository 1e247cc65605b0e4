"""Columns of percentages in a list of cells: once it is said what each is a share of, they bound the numbers beside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from discreet.errors import InputError, nearest
from discreet.release import Release
from discreet.tables.quotients import Quotient

EVERYTHING = "all"


def with_percentages(name: str, release: Release, percent: Mapping[str, str]) -> Release:
    """The release with columns of percentages taken for what they are.

    ``percent``: by column the dimension over whose total it is a share (of the row, of the column), or "all".
    """
    own = {column: of for column, of in percent.items() if column in release.values}
    numbers = [measure for measure in release.values if measure not in own]
    if unknown := [column for column in percent if column not in own and len(release.values) > 1]:
        raise InputError(f"{name!r} has no column of numbers {unknown[0]!r}; {nearest(unknown[0], release.values)}")
    if not own:
        return release
    if not numbers:
        raise InputError(f"{name!r}: all of its columns of numbers are said to be percentages; of what?")
    measure = "count" if "count" in numbers else numbers[0]
    quotients = [one for column, of in own.items() for one in _quotients(name, release, column, of)]
    return replace(
        release,
        values={m: release.values[m] for m in numbers},
        decimals={m: release.decimals[m] for m in numbers},
        ranges={m: ends for m, ends in release.ranges.items() if m in numbers},
        quotients={**release.quotients, measure: (*release.quotients.get(measure, ()), *quotients)},
    )


def _quotients(name: str, release: Release, column: str, of: str) -> list[Quotient]:
    names = [d.name for d in release.dimensions]
    if of not in (*names, EVERYTHING):
        raise InputError(
            f"{name!r}: {column!r} is said to be a share of {of!r}, which is not a dimension; "
            f"{nearest(of, [*names, EVERYTHING])}"
        )
    row_of = {tuple(codes): row for row, codes in enumerate(release.codes.tolist())}
    shown = np.asarray(release.values[column], float)
    quotients = []
    for codes, row in row_of.items():
        whole = [
            d.position[d.total] if d.total is not None and of in (d.name, EVERYTHING) else code
            for d, code in zip(release.dimensions, codes, strict=True)
        ]
        base = row_of.get(tuple(whole))
        if np.isnan(shown[row]) or base is None or base == row:
            continue
        place = ", ".join(f"{d.name} {d.codes[c]}" for d, c in zip(release.dimensions, codes, strict=True))
        quotients.append(Quotient(row, base, float(shown[row]), release.decimals[column], place=place))
    if not quotients:
        raise InputError(
            f"{name!r}: no number that {column!r} is a share of is in the table; name a dimension with a total"
        )
    return quotients
