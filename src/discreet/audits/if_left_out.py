"""What else follows if numbers that are not available are in no total, where nobody says whether they are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from discreet.audits.contradiction import InfeasibleError
from discreet.audits.report import Audit
from discreet.audits.view_audit import cells_known_besides, of_view
from discreet.base.annotations import Array


def known_if_left_out(report: Audit, targets: str | Array, progress: Any = None) -> tuple[str, ...]:
    """Why it matters whether totals hold what is not available: cells that are known if they do not, or a mixture.

    The report takes such a number for one that is part of its totals and that nobody knows. What was not collected is
    in no total: there it is zero, and a number beside it may follow.
    """
    seen = report.view
    if seen.unavailable is None or not seen.unavailable.any():
        return ()
    settle = "say --zero MARK if no total holds them, or --suppressed MARK if totals do"
    known = seen.known
    lower, upper = np.where(seen.unavailable, 0.0, known.lower), np.where(seen.unavailable, 0.0, known.upper)
    without = replace(seen, known=replace(known, lower=lower, upper=upper, point=None))
    try:
        other = of_view(without, targets, progress=progress)
    except InfeasibleError:
        return (f"some numbers that are not available are part of totals, and perhaps not all of them: {settle}",)
    if not (cells := cells_known_besides(report, other)):
        return ()
    return (
        f"if numbers that are not available are in no total, {cells} more may be known than this audit says: {settle}",
    )
