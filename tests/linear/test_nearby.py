"""Single variables settled by parts of a system: the same answers as by all of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from discreet.linear.linear_tuning import LINEAR
from discreet.linear.nearby import Nearby, Seen
from discreet.linear.pushed_points import two_values
from discreet.linear.system import System
from discreet.linear.witness import movement
from tests.linear.systems import by_scipy, random_system

BY_PARTS = replace(LINEAR, walks=(), near_from=0, near_rows_each=1, near_rows=(2, 4), near_share=1.0)


def with_point(seed: int, *, integer: bool) -> System | None:
    """A random system whose known solution is one end of it by another solver."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    system = random_system(seed, integer=integer, bounded=True)
    answer = milp(
        np.ones(system.size),
        constraints=LinearConstraint(system.rows, system.rhs, system.rhs),
        bounds=Bounds(system.lower, system.upper),
        integrality=np.ones(system.size, np.int64),
    )
    return replace(system, point=np.rint(answer.x)) if answer.x is not None else None


@pytest.mark.parametrize("proofs", [None, 1_000])
def test_parts_say_what_the_whole_does(proofs: int | None) -> None:
    """In whole numbers by another solver: what moves does, what is said to have one value has, and both are found."""
    seen = set()
    for seed in range(40):
        system = with_point(seed, integer=True)
        if system is None:
            continue
        least, most = by_scipy(system)
        expected = most - least > 0.5
        got = movement(system, np.arange(system.size), tuning=BY_PARTS, proofs=proofs)
        assert not (got.moves & ~expected).any()
        if proofs is None:  # while a pattern is made, what a part does not move is taken to have one value
            assert not (expected & ~got.moves & ~got.doubt).any()
        seen |= set(zip(expected.tolist(), got.moves.tolist(), strict=True))
    assert {(True, True), (False, False)} <= seen


def test_what_parts_of_a_very_large_system_leave_open_is_in_doubt() -> None:
    """No program over all of it: nothing is said to move that does not, nor to have one value that has two."""
    without_the_whole = replace(BY_PARTS, proved_most=0, near_share=0.0, pushes=0)
    doubts = 0
    for seed in range(40):
        system = with_point(seed, integer=True)
        if system is None:
            continue
        least, most = by_scipy(system)
        expected = most - least > 0.5
        got = movement(system, np.arange(system.size), tuning=without_the_whole)
        assert not (got.moves & ~expected).any()
        assert not (expected & ~got.moves & ~got.doubt).any()
        doubts += int(got.doubt.sum())
    assert doubts > 0


def test_a_part_says_nothing_where_the_rest_decides() -> None:
    """A chain of sums of two: its first rows alone neither move a variable nor hold it."""
    from scipy.sparse import csr_array

    n = 40
    rows = csr_array(np.eye(n - 1, n) + np.eye(n - 1, n, 1))
    system = System(rows, np.full(n - 1, 4.0), np.zeros(n), np.full(n, 4.0), True, np.full(n, 2.0))
    asked: list[tuple[int, int]] = []

    def look(part: System, targets: np.ndarray) -> Seen:
        asked.append(part.rows.shape)
        low, high = by_scipy(part)
        return Seen(low[targets], high[targets], low[targets], high[targets])

    nearby = Nearby(system, look)
    assert nearby.settle(np.array([20]), 5).tolist() == [20]
    assert all(rows <= 12 for rows, _ in asked)
    tight = replace(system, upper=np.where(np.arange(n) == 19, 2.0, 4.0), lower=np.where(np.arange(n) == 21, 2.0, 0.0))
    nearby = Nearby(tight, look)
    assert nearby.settle(np.array([20]), 5).tolist() == []
    assert not two_values(nearby.low[20], nearby.high[20])


def test_two_values_in_fractions_are_kept_apart() -> None:
    """What a part moves in fractions is not asked of the whole: no program over more rows says anything else."""
    from scipy.sparse import csr_array

    rows = csr_array(np.eye(3, 6) + np.eye(3, 6, 1) + np.eye(3, 6, 2))
    system = System(rows, np.full(3, 3.0), np.zeros(6), np.full(6, 3.0), True, np.ones(6))

    def look(part: System, targets: np.ndarray) -> Seen:
        one = np.ones(len(targets))
        return Seen(one, one, one, np.where(targets == 0, 2.0, 1.5))

    nearby = Nearby(system, look)
    left = nearby.settle(np.array([0, 1]), 1)
    assert 0 in left
    assert nearby.apart(np.array([0, 1])).tolist() == [0]
    assert (nearby.far_low[0], nearby.far_high[0]) == (1.0, 2.0)
