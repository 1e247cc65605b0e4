"""Columns of means in a list of cells, and what single values are multiples of: equations of the counts beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from discreet.errors import InputError, nearest
from discreet.release import Release
from discreet.sheets.sums.mean_lines import is_mean_name
from discreet.tables.means import Means


def with_mean_columns(name: str, release: Release, said: Mapping[str, float | None], *, rounded: bool) -> Release:
    """The release with columns of means taken for what they are: those that are named, or called so.

    ``said``: by column what single values are multiples of, 0 for any number, None where nobody says.
    """
    columns = [c for c in release.values if c in said or (len(release.values) > 1 and is_mean_name(c))]
    numbers = [measure for measure in release.values if measure not in columns]
    if not columns:
        return release
    if not numbers:
        raise InputError(f"{name!r}: all of its columns of numbers are said to be means; of which counts?")
    measure = "count" if "count" in numbers else numbers[0]
    means = [Means(c, np.asarray(release.values[c], float), release.decimals[c], said.get(c)) for c in columns]
    doubts = list(release.doubts)
    if rounded or any(c in release.ranges for c in columns):
        doubts.append(
            f"what {columns[0]!r} says of the counts beside it was not judged, as counts are rounded or ranges stand "
            "in place of means: take it out"
        )
        means = []
    assumed = [
        f"{c!r} is taken as the mean of those who are counted in {measure!r}, so that sums behind it add up"
        for c in columns
        if c not in said
    ]
    return replace(
        release,
        values={m: release.values[m] for m in numbers},
        decimals={m: release.decimals[m] for m in numbers},
        ranges={m: ends for m, ends in release.ranges.items() if m in numbers},
        means={measure: tuple(means)} if means else {},
        doubts=tuple(doubts),
        assumed=(*release.assumed, *assumed),
    )


def with_units(release: Release, said: Mapping[str, float | None]) -> Release:
    """The release with what is said of single values behind its means."""
    units = {name.casefold(): unit for name, unit in said.items()}
    return replace(
        release,
        means={
            measure: tuple(replace(one, unit=units.get(one.name.casefold(), one.unit)) for one in some)
            for measure, some in release.means.items()
        },
    )


def check_means(said: Iterable[str], released: Iterable[Release]) -> None:
    """Refuse a column of means that no table has."""
    known = [one.name for release in released for some in release.means.values() for one in some]
    for name in said:
        if name.casefold() not in [own.casefold() for own in known]:
            held = f"; {nearest(name, known)}" if known else ""
            raise InputError(
                f"no table has a column of means {name!r} beside counts that it is clear to be the mean of{held}; look "
                "at --mean, and at what the audit says of means"
            )
