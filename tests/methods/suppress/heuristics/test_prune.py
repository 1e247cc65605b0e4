"""Cleaned patterns: no cell of them can be dropped."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.methods.suppress.heuristics.prune import clean_up
from tests.problems import protects, random_problem


@pytest.mark.parametrize("shape", [(4, 4), (3, 3, 3)])
@pytest.mark.parametrize("seed", range(4))
def test_no_cell_of_a_cleaned_pattern_can_be_dropped(seed: int, shape: tuple[int, ...]) -> None:
    """Minimal by inclusion, by plain programmes."""
    p = random_problem(seed, shape, coalitions=seed % 2 == 0)
    everything = p.hidden | p.free
    if not protects(p, everything).all():
        with pytest.raises(InputError, match="does not protect"):
            clean_up(p, everything)
        return
    pattern, minimal = clean_up(p, everything)
    assert minimal
    assert protects(p, pattern).all()
    for cell in np.flatnonzero(pattern & ~p.hidden):
        smaller = pattern.copy()
        smaller[cell] = False
        assert not protects(p, smaller).all()
