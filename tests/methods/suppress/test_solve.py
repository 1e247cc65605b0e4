"""What solving hands on: a pattern, its cost and a gap that is a number."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.methods.suppress.solve import Solved


def test_a_cell_without_weight_that_the_audit_adds_leaves_the_gap_a_number() -> None:
    """Cells of zero cannot be chosen, so their weight is infinite; hidden all the same they cost nothing."""
    found = Solved(np.array([True, False, False]), "optimal", 1.0, 1.0, "optimal", np.array([1.0, np.inf, 2.0]))
    more = found.repaired(np.ones(3, bool))
    assert (more.cost, more.status) == (3.0, "repaired")
    assert more.gap == pytest.approx(2 / 3)
