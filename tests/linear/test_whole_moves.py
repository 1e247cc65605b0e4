"""Moves in whole numbers: every one that is found is a second solution, and tables with room are found to move."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from discreet.linear.linear_tuning import LinearTuning
from discreet.linear.system import System
from discreet.linear.whole_moves import PricedMoves, seen_by_moves
from discreet.linear.witness import movable
from tests.linear.systems import by_scipy, random_system


def with_point(system: System) -> System:
    """The same system with a solution, found by another solver."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    equal = LinearConstraint(system.rows, system.rhs, system.rhs)
    bounds = Bounds(system.lower, system.upper)
    whole = np.ones(system.size, np.int64)
    answer = milp(np.zeros(system.size), constraints=equal, bounds=bounds, integrality=whole)
    assert answer.x is not None
    return replace(system, point=np.rint(answer.x))


@pytest.mark.parametrize("largest", [1, 2])
def test_what_moves_has_a_second_whole_value_by_another_solver(largest: int) -> None:
    """What is seen lies between the least and greatest whole value; nearly all that can move is seen to."""
    can = found = 0
    for seed in range(30):
        system = with_point(random_system(seed, integer=True, largest=largest, bounded=True))
        least, most = by_scipy(system)
        seen = seen_by_moves(system, np.arange(system.size))
        assert seen is not None
        low, high = seen
        assert (low >= least - 1e-6).all()
        assert (high <= most + 1e-6).all()
        can += int((most - least > 0.5).sum())
        found += int((high > low).sum())
    assert can > 0
    assert found >= 0.9 * can


def test_a_cube_without_room_does_not_move() -> None:
    """All lines of a cube of ones within [1, 2]: nothing can go down, so nothing can go up; within [0, 2] all do."""
    shape = (3, 3, 3)
    lines = [
        np.equal.outer(np.arange(9), np.delete(np.indices(shape), d, 0).reshape(2, -1).T @ [3, 1]) for d in range(3)
    ]
    rows = csr_array(np.concatenate(lines).astype(float))
    ones = np.ones(27)
    tight = System(rows, rows @ ones, ones, 2 * ones, True, ones)
    loose = replace(tight, lower=0 * ones)
    seen = seen_by_moves(tight, np.arange(27))
    assert seen is not None
    assert (seen[0] == seen[1]).all()
    assert not movable(tight, np.arange(27)).any()
    seen = seen_by_moves(loose, np.arange(27))
    assert seen is not None
    assert (seen[1] > seen[0]).all()


def test_same_answer_every_time_and_whatever_the_walks() -> None:
    """Bits of the answer do not depend on the run; which cells move does not depend on how long walks are."""
    system = with_point(random_system(3, integer=True, bounded=True))
    everything = np.arange(system.size)
    first, second = (seen_by_moves(system, everything) for _ in range(2))
    assert first is not None
    assert second is not None
    assert np.array_equal(first[0], second[0])
    assert np.array_equal(first[1], second[1])
    moves = movable(system, everything)
    assert np.array_equal(moves, movable(replace(system, point=None), everything))
    none = seen_by_moves(system, everything, LinearTuning(walks=()))
    assert none is not None
    assert (none[0] == none[1]).all()


def test_nothing_without_a_solution_to_begin_with() -> None:
    """Without a point, or with one that is none, nothing is said."""
    system = with_point(random_system(1, integer=True, bounded=True))
    assert seen_by_moves(replace(system, point=None), np.arange(system.size)) is None
    assert system.point is not None
    assert seen_by_moves(replace(system, point=system.point + 1), np.arange(system.size)) is None


@pytest.mark.parametrize("seed", range(6))
def test_priced_moves_keep_every_row_and_cost_little(seed: int) -> None:
    """Of a table with room everywhere: a move each time, never cheaper than the cheapest by another solver."""
    rng = np.random.default_rng(seed)
    shape = (4, 4, 3)
    number = np.arange(np.prod(shape)).reshape(shape)
    lines = [line for axis in range(3) for line in np.moveaxis(number, axis, -1).reshape(-1, shape[axis])]
    rows = np.zeros((len(lines), number.size))
    for row, line in zip(rows, lines, strict=True):
        row[line] = 1
    down, up = rng.integers(1, 3, (2, number.size)).astype(float)
    price = np.where(rng.random(number.size) < 0.6, rng.integers(1, 30, number.size), 0).astype(float)
    moves = PricedMoves(csr_array(rows), down, up)
    paid = 0.0
    least = 0.0
    for target, step in ((0, 1), (5, -1), (17, 2)):
        if step > up[target]:
            continue
        move = moves.cheapest(target, step, price)
        assert move is not None
        assert move[target] == step
        assert not (rows @ move).any()
        assert ((move <= up) & (-move <= down)).all()
        paid += price[move != 0].sum()
        least += cheapest_by_scipy(rows, down, up, price, target, step)
    assert least - 1e-6 <= paid <= 2 * least + 30


def cheapest_by_scipy(rows: np.ndarray, down: np.ndarray, up: np.ndarray, price: np.ndarray, at: int, by: int) -> float:
    """What the cheapest move costs: a variable for each change, and one for whether there is one."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    n = len(price)
    change, used = np.eye(n), np.eye(n)
    low, high = np.concatenate([-down, np.zeros(n)]), np.concatenate([up, np.ones(n)])
    low[at] = high[at] = by
    limits = [
        LinearConstraint(np.hstack([rows, np.zeros_like(rows)]), 0, 0),
        LinearConstraint(np.hstack([change, -up[:, None] * used]), -np.inf, 0),
        LinearConstraint(np.hstack([-change, -down[:, None] * used]), -np.inf, 0),
    ]
    cost = np.concatenate([np.zeros(n), price])
    answer = milp(cost, constraints=limits, bounds=Bounds(low, high), integrality=np.ones(2 * n, np.int64))
    assert answer.fun is not None
    return float(answer.fun)
