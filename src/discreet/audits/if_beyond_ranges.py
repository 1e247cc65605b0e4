"""What else follows if a plain mark stands for a count above the ranges beside it: * beside <6 for 6 or more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from discreet.audits.contradiction import InfeasibleError
from discreet.audits.report import Audit
from discreet.audits.view_audit import cells_known_besides, of_view
from discreet.base.annotations import Array


def known_if_beyond_ranges(report: Audit, targets: str | Array, progress: Any = None) -> tuple[str, ...]:
    """Why it matters what a plain mark stands for where ranges stand for small counts: cells that are known then.

    The report takes it for any count. Who hides small counts by "<6" hides others for their sake by a mark, and those
    are 6 at least; as everybody can think so, a release is no pass if something follows.
    """
    seen = report.view
    if seen.beyond is None or not np.isfinite(seen.beyond).any():
        return ()
    known = seen.known
    lower = np.maximum(known.lower, seen.beyond)
    first = f"{np.nanmin(np.where(np.isfinite(seen.beyond), seen.beyond, np.nan)) / 10.0**seen.decimals:g}"
    if np.array_equal(lower, known.lower) or (lower > known.upper).any():
        return ()
    try:
        other = of_view(replace(seen, known=replace(known, lower=lower, point=None)), targets, progress=progress)
    except InfeasibleError:
        return ()  # some are less, as the sums show
    if not (cells := cells_known_besides(report, other)):
        return ()
    return (
        f"if plain marks stand for counts above the ranges beside them, {first} at least, {cells} more may be known "
        f"than this audit says, which takes them for any count: say --suppressed 'MARK={first}+', or 'MARK=1+' if they "
        "may be less",
    )
