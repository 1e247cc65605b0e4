"""Whole numbers: a short interval with one whole value is that value, and what time leaves open is in doubt."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from discreet.linear.extremes import Search, closed
from discreet.linear.integer import SHORT, settle, whole_point
from discreet.linear.linear_tuning import LINEAR
from discreet.linear.presolve import propagated
from discreet.linear.system import ContradictionError, System
from tests.linear.systems import by_scipy, random_system


def fractions(seed: int) -> Search:
    """The search with all ends in fractions, rounded inwards."""
    system = random_system(seed, integer=True, largest=2, bounded=True)
    lower, upper = propagated(system)
    return closed(replace(system, lower=lower, upper=upper), np.arange(system.size))


@pytest.mark.parametrize("near", [(), (3,)], ids=["at once", "around first"])
@pytest.mark.parametrize("known", [True, False], ids=["point known", "point looked for"])
def test_short_intervals_are_settled_as_another_solver_does(near: tuple[int, ...], known: bool) -> None:
    """One value if there is no second one; two witnesses if there is; intervals that are long stay as they are."""
    settled = 0
    for seed in range(25):
        search = fractions(seed)
        if not known:
            search.system = replace(search.system, point=None)
        before = search.outer.copy()
        settle(search, replace(LINEAR, near=near, whole_seconds=60))
        least, most = by_scipy(search.system)
        short = before[1] - before[0] <= SHORT
        single = search.outer[0] == search.outer[1]
        assert not search.doubt.any()
        assert (single == (most - least < 0.5))[short].all()
        np.testing.assert_allclose(search.outer[0][short & single], least[short & single])
        assert (search.outer == before)[:, ~(short & single)].all()
        settled += int((single & (before[0] < before[1])).sum())
    assert settled > 0


def test_without_time_nothing_short_is_settled() -> None:
    """In doubt, not safe: only where witnesses do not show two values."""
    doubtful = 0
    for seed in range(25):
        search = fractions(seed)
        before = search.outer.copy()
        settle(search, replace(LINEAR, whole_seconds=-1.0))
        width = before[1] - before[0]
        short = (width > 0) & (width <= SHORT)
        assert (search.outer == before).all()
        assert (search.doubt == (short & ~(search.whole[1] > search.whole[0]))).all()
        doubtful += int(search.doubt.sum())
    assert doubtful > 0


def test_a_point_in_whole_numbers() -> None:
    """It fits, or there is none, which is proved: 2x + 2y = 1."""
    for seed in range(20):
        system = replace(random_system(seed, integer=True, largest=2, bounded=True), point=None)
        point = whole_point(system, 60.0)
        assert point is not None
        assert system.fits(point)
    odd = System(csr_array(np.array([[2.0, 2.0]])), np.ones(1), np.full(2, -5.0), np.full(2, 5.0), True)
    with pytest.raises(ContradictionError):
        whole_point(odd, 60.0)
