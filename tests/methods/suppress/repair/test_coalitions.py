"""Coalitions in tables of counts: the judge of the finished release."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dc


def test_a_pattern_that_is_not_proved_is_not_released(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the cells hidden against insiders the last judge stops the release."""
    from discreet.methods.suppress.repair import coalitions as made
    from discreet.methods.suppress.repair.repair import Repaired

    table = dc.Table.of([[20, 50, 9, 1], [10, 2, 8, 12], [30, 7, 5, 2]], ["area", "job"])
    monkeypatch.setattr(made, "closed", lambda *given: Repaired(given[4], 1, np.zeros(0, np.int64)))
    with pytest.raises(dc.Unjudged, match="not proved"):
        dc.protect(table, dc.Suppress(dc.Threshold(3), insiders=1))
