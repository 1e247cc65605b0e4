"""What else follows if the whole numbers of a published file are counts, where nobody says what they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from discreet.audits.contradiction import InfeasibleError
from discreet.audits.report import Audit
from discreet.audits.view import View
from discreet.audits.view_audit import of_view
from discreet.base.annotations import Array
from discreet.errors import many
from discreet.release import Release


def known_if_counts(
    report: Audit, releases: Sequence[Release], targets: str | Array, progress: Any = None
) -> tuple[str, ...]:
    """Why whether numbers are counts matters: cells that only whole numbers leave with one value, or undecided.

    Nothing where they are searched as counts already, where a shown one is no whole number, or where every table is
    one of discreet's own, which calls its counts so. Measures that are said to be magnitudes are not asked about.
    """
    seen = report.view
    measure = seen.measure
    if seen.known.integer and not seen.decimals:
        return ()
    shown = [np.asarray(r.values[measure], float) for r in releases if measure in r.values]
    whole = all(bool((v[~np.isnan(v)] == np.rint(v[~np.isnan(v)])).all()) for v in shown)
    if not whole or all(r.truthful is not None for r in releases) or not len(report.number):
        return ()
    try:
        counts = of_view(_in_whole_numbers(seen), targets, progress=progress)
    except InfeasibleError:
        return ()  # no whole numbers add up so: these are none
    same = np.array_equal(counts.number, report.number)
    more = (counts.finding != "open") & (report.finding == "open") if same else np.ones(1, bool)
    if not more.any():
        return ()
    cells = many(int(more.sum()), "cell")
    if seen.decimals:
        return (
            f"if the numbers of {measure!r} are counts, {cells} more may be known: their decimals are all zero; write "
            "them as whole numbers",
        )
    return (
        f"if the numbers of {measure!r} are counts, {cells} more may be known than this audit says, which takes them "
        f'as magnitudes: say which, in a mapping: [kinds] {measure} = "count", or "magnitude"',
    )


def _in_whole_numbers(seen: View) -> View:
    """The same view of numbers that count, in units of one."""
    grid = 10.0**seen.decimals
    known = seen.known
    lower, upper = np.ceil(known.lower / grid - 1e-9), np.floor(known.upper / grid + 1e-9)
    counted = replace(known, lower=lower, upper=np.maximum(lower, upper), integer=True, point=None)
    return replace(seen, known=counted, decimals=0)
