"""Branching rules: which cell is decided next, and which choices closed nodes."""

from __future__ import annotations

import numpy as np

from discreet.methods.suppress.exact.branching import ConflictHistory
from discreet.methods.suppress.model.tuning import DEFAULT


def test_the_last_choices_before_the_latest_nodes_are_blamed_most() -> None:
    """And no number of nodes is too large to count."""
    blame, cells, last = ConflictHistory(9), np.arange(9), DEFAULT.exact.blamed
    assert blame.share(cells).tolist() == [0.0] * 9
    blame.closed(())
    assert blame.share(cells).tolist() == [0.0] * 9
    blame.closed(range(last + 2))
    assert blame.share(cells).tolist() == [0.0, 0.0, *[1.0] * last, *[0.0] * (7 - last)]
    blame.closed([8])
    share = blame.share(cells)
    assert share[8] == 1
    assert 0 < share[2] < 1
    for _ in range(20_000):
        blame.closed([7])
    share = blame.share(cells)
    assert share[7] == 1
    assert share[8] < 1e-9
    assert blame.worth <= DEFAULT.exact.huge
