"""The files of a certificate: what the checker reads of a release, and measures of it that no audit is of."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.audits.intruders import Intruder
from discreet.audits.joined.mapping import NameMapping
from discreet.audits.joined.sources import publications
from discreet.audits.joined.together import JoinedTables, view_together
from discreet.audits.verify import cells_digest, read_rows
from discreet.audits.view import View, view_of_release
from discreet.base.annotations import Array
from discreet.base.naming import heads
from discreet.errors import InputError, Unjudged
from discreet.release import Protected, Release


def file_text(release: Release) -> str:
    """A release as the CSV that a certificate is of: with ranges, and with values that stand in marked cells."""
    held = io.StringIO(newline="")
    writer = csv.writer(held)
    writer.writerow(heads([d.name for d in release.dimensions], release.values))
    codes = [np.array(d.codes, object)[release.codes[:, k]] for k, d in enumerate(release.dimensions)]
    values = [_value_texts(release, name) for name in release.values]
    writer.writerows(zip(*codes, *values, release.status.tolist(), strict=True))
    return held.getvalue()


def _value_texts(release: Release, name: str) -> list[str]:
    places = release.decimals[name]
    texts = ["" if v != v else f"{v:.{places}f}" for v in np.asarray(release.values[name], float).tolist()]
    least, most = release.ranges.get(name, (np.full(len(texts), -np.inf), np.full(len(texts), np.inf)))
    least = np.maximum(least, release.least_hidden(name))
    if np.isfinite(least).any() or np.isfinite(most).any():
        for k, (low, high) in enumerate(zip(least, most, strict=True)):
            if not texts[k] and np.isfinite([low, high]).any():
                both = f"{low:.{places}f} to {high:.{places}f}"
                one = f">={low:.{places}f}" if np.isfinite(low) else f"<={high:.{places}f}"
                texts[k] = both if np.isfinite([low, high]).all() else one
    return texts


def file_entry(release: Release) -> dict[str, Any]:
    """What a certificate says of a file: its columns, and a digest of its cells whatever their order."""
    names = [d.name for d in release.dimensions]
    columns = heads(names, release.values)
    if not len(release):
        raise InputError("a table without a cell has no certificate")
    entry: dict[str, Any] = {
        "dimensions": names,
        "measures": {name: int(release.decimals[name]) for name in release.values},
        "columns": columns[len(names) : -1],
        "status": columns[-1],
        "cells": len(release),
    }
    return entry | {"sha256": cells_digest(entry, file_rows(release, entry))}


def file_rows(release: Release, entry: Any) -> dict[Any, Any]:
    """The cells of a release as the checker reads them."""
    return read_rows(file_text(release), entry, ",", ".", ",")


@dataclass(frozen=True, eq=False)
class NotAudited:
    """A measure that is published beside the audited one: nothing is known of its cells but what witnesses show."""

    view: View
    released: tuple[Protected | Release, ...]
    need: None = None
    sums: None = None
    others: tuple[Any, ...] = ()
    informed: tuple[Intruder, ...] = ()

    @classmethod
    def of(cls, releases: Sequence[Release], measure: str) -> NotAudited:
        """All files that have the measure, together."""
        some = [release for release in releases if measure in release.values]
        if any(release.truthful is False for release in some):
            raise Unjudged(
                f"{measure!r} is published, too, its values are changed and nothing says by how much, so that no "
                "certificate is of the whole file; publish it without"
            )
        if len(some) == 1:
            return cls(view_of_release(some[0], measure=measure), tuple(some))
        return cls(view_together(JoinedTables.of(publications(some, NameMapping()), {}), measure), tuple(some))

    @property
    def number(self) -> Array:
        return np.flatnonzero(self.view.withheld)

    @property
    def lower(self) -> Array:
        return np.full(len(self.number), -np.inf)

    @property
    def upper(self) -> Array:
        return np.full(len(self.number), np.inf)

    @property
    def finding(self) -> Array:
        return np.full(len(self.number), "unknown", object)

    @property
    def unjudged(self) -> tuple[str, ...]:
        return self.view.unjudged

    @property
    def intruders(self) -> tuple[Intruder, ...]:
        return ()
