"""Presolve: a smaller system that keeps every solution, and bounds that no solution is beyond."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from discreet.linear import presolve
from discreet.linear.intervals import solve
from discreet.linear.presolve import Merged, back, forward, propagated, reduce, to_fixpoint
from discreet.linear.system import ContradictionError, System
from tests.linear.systems import by_scipy, chain, random_system, random_tree


@pytest.mark.parametrize("merge", [True, False])
def test_the_smaller_system_has_the_same_intervals(merge: bool) -> None:
    """Solved where it is small and led back, each interval is that of the first system."""
    smaller = added_up = 0
    for seed in range(40):
        system = random_system(seed, bounded=bool(seed % 2))
        small, steps = reduce(system, merge=merge)
        smaller += small.size < system.size
        added_up += any(isinstance(step, Merged) for step in steps)
        ends = back(steps, *by_scipy(small))
        for mine, other in zip(ends, by_scipy(system), strict=True):
            np.testing.assert_allclose(mine, other, atol=1e-6)
    assert smaller > 20
    assert (added_up > 0) == merge


def test_only_the_variables_that_are_wanted_matter() -> None:
    """What ``forward`` leaves out can have any bounds: the wanted ones are led back to the same."""
    left_out = 0
    for seed in range(40):
        system = random_system(seed, bounded=True)
        small, steps = reduce(system)
        wanted = np.array([seed % system.size])
        needed = forward(steps, wanted)
        others = np.setdiff1d(np.arange(small.size), needed)
        left_out += len(others)
        lower, upper = small.lower.copy(), small.upper.copy()
        before = back(steps, lower, upper)
        lower[others] -= 1000
        upper[others] += 1000
        after = back(steps, lower, upper)
        assert before[0][wanted] == after[0][wanted]
        assert before[1][wanted] == after[1][wanted]
    assert left_out > 40


def test_a_known_solution_comes_along() -> None:
    """The point of the smaller system fits it, and in whole numbers, too."""
    for seed in range(40):
        small, _ = reduce(random_system(seed, integer=True))
        assert small.point is not None
        assert small.fits(small.point)


@pytest.mark.parametrize("integer", [False, True])
def test_propagation_never_cuts_a_solution_off(integer: bool) -> None:
    """Its bounds hold the intervals, lie within those given, and at a fixpoint stay as they are."""
    for seed in range(30):
        system = random_system(seed, integer=integer, largest=2)
        lower, upper, fixpoint = to_fixpoint(system)
        least, most = by_scipy(system)
        assert (lower <= least + 1e-6).all()
        assert (upper >= most - 1e-6).all()
        assert (lower >= system.lower).all()
        assert (upper <= system.upper).all()
        if fixpoint:
            again = to_fixpoint(system, lower, upper)
            assert (again[0] == lower).all()
            assert (again[1] == upper).all()
            assert again[2]


@pytest.mark.parametrize("integer", [False, True])
def test_propagation_through_a_tree_is_exact(integer: bool) -> None:
    """Without a circle every branch is told what the others leave it."""
    for seed in range(30):
        system = random_tree(seed, integer=integer)
        lower, upper, fixpoint = to_fixpoint(system)
        assert fixpoint
        least, most = by_scipy(system)
        np.testing.assert_allclose(lower, least, atol=1e-6)
        np.testing.assert_allclose(upper, most, atol=1e-6)


def test_propagation_says_when_it_was_cut_off() -> None:
    """A short chain is gone through; in a long one the bounds hold, but are not taken for exact."""
    *_, fixpoint = to_fixpoint(chain(50, 1e5))
    assert fixpoint
    n = 500
    lower, upper, fixpoint = to_fixpoint(chain(n, 1e5))
    assert not fixpoint
    assert upper[0] > 1e5 - n  # too wide: an audit would call a cell safer than it is
    assert (lower[: n + 1] <= np.arange(n + 1)).all()


def test_what_contradicts_itself_has_no_bounds() -> None:
    """A variable asked to be beyond what its row leaves it."""
    system = random_tree(3)
    _, most = by_scipy(system)
    lower = system.lower.copy()
    lower[0] = most[0] + 1
    with pytest.raises(ContradictionError):
        propagated(replace(system, lower=lower, upper=np.maximum(system.upper, lower)))


def test_rows_that_are_nearly_alike_are_two() -> None:
    """Factors that are no multiples of 1/2: two rows that differ in one of them are not taken for one said twice."""
    dense = np.array([[1, 0.2, -1], [1, 0.1, -1]])
    system = System(csr_array(dense), np.zeros(2), np.zeros(3), np.full(3, 9.0), False)
    low, high = solve(system, np.arange(3))
    assert low[1] == high[1] == 0, "0.1 x = 0"
    turned = System(csr_array(np.vstack([dense, -dense])), np.zeros(4), np.zeros(3), np.full(3, 9.0), False)
    assert solve(turned, np.arange(3))[1][1] == 0
    columns = System(csr_array(np.array([[0.1, 0.2, -1.0, -1.0]])), np.zeros(1), np.zeros(4), np.full(4, 9.0), False)
    np.testing.assert_allclose(solve(columns, np.arange(4))[1], by_scipy(columns)[1])


def test_rows_of_one_name_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were all rows and columns given one name, nothing but time would be lost."""
    monkeypatch.setattr(presolve, "_names", lambda rows: (np.ones(rows.shape[0]), np.zeros(rows.shape[0], np.uint64)))
    for seed in range(30):
        system = random_system(seed, bounded=True)
        small, steps = reduce(system)
        for mine, other in zip(back(steps, *by_scipy(small)), by_scipy(system), strict=True):
            np.testing.assert_allclose(mine, other, atol=1e-6)


def test_a_point_that_is_off_by_three_does_not_fit() -> None:
    """However large the sum is."""
    system = System(csr_array(np.ones((1, 2))), np.array([1e9]), np.zeros(2), np.full(2, 1e9), True)
    assert system.fits(np.array([4e8, 6e8]))
    assert not system.fits(np.array([4e8, 6e8 + 3]))
