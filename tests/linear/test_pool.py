"""Pools of exact solutions: every one fits, and what can be seen apart is."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.linear.bound_proof import BoundProofs
from discreet.linear.exact_point import exact_point
from discreet.linear.pool import Wanted, pool_of
from tests.linear.systems import by_scipy, random_system


def solutions(system: object, pool: object) -> list[list[Fraction]]:
    base = [Fraction(int(v), pool.divisor) for v in pool.base]  # type: ignore[attr-defined]
    points = [base]
    for move in pool.moves:  # type: ignore[attr-defined]
        point = list(base)
        for at, amount in zip(move.at.tolist(), move.amounts.tolist(), strict=True):
            point[at] += Fraction(int(amount), move.divisor)
        points.append(point)
    return points


@pytest.mark.parametrize("integer", [False, True])
def test_every_solution_fits_exactly_and_reaches_what_it_can(integer: bool) -> None:
    """In fractions, row by row; of a system that is bounded the ends are those of another solver."""
    reached = 0
    for seed in range(40):
        system = random_system(seed, integer=integer, bounded=True)
        low, high = by_scipy(system)
        every = np.arange(system.size)
        points = solutions(system, pool_of(system, Wanted(every, low, high, np.zeros(system.size))))
        dense = system.rows.toarray()
        for point in points:
            for row, right in zip(dense, system.rhs, strict=True):
                assert sum(Fraction(a) * x for a, x in zip(row.tolist(), point, strict=True)) == Fraction(right)
            for x, least, most in zip(point, system.lower.tolist(), system.upper.tolist(), strict=True):
                assert least <= x <= most
                assert not integer or x.denominator == 1
        if not integer:
            seen = np.array([[float(x) for x in point] for point in points])
            reached += np.allclose(seen.min(axis=0), low, atol=1e-6) and np.allclose(seen.max(axis=0), high, atol=1e-6)
    assert integer or reached >= 38, "a vertex with a large denominator is left out"


def test_the_systems_own_point_is_never_used() -> None:
    """A pool is a function of rows and bounds: another point beside them changes nothing."""
    for seed in range(10):
        system = random_system(seed, bounded=True)
        every = Wanted.two_values(np.arange(system.size))
        assert system.point is not None
        one = pool_of(system, every)
        other = pool_of(type(system)(system.rows, system.rhs, system.lower, system.upper, False), every)
        assert np.array_equal(one.base, other.base)
        assert len(one.moves) == len(other.moves)


@pytest.mark.parametrize("side", [0, 1])
def test_multipliers_prove_the_bounds(side: int) -> None:
    """Every combination holds at every solution, and its ends are the bound of another solver."""
    proved = 0
    for seed in range(30):
        system = random_system(seed, bounded=True)
        system = type(system)(system.rows, np.zeros(len(system.rhs)), -system.upper, system.upper, False)
        ends = by_scipy(system)
        proofs = BoundProofs(system)
        for variable in range(system.size):
            proof = proofs.prove(variable, side)
            if proof is None:
                continue
            share = proof.amounts / proof.divisor
            unit = np.zeros(system.size)
            unit[variable] = 1
            unit[proof.at] -= share
            assert np.linalg.matrix_rank(np.vstack([system.rows.toarray(), unit])) == np.linalg.matrix_rank(
                system.rows.toarray()
            )
            sides = (system.lower, system.upper) if side == 0 else (system.upper, system.lower)
            bound = (share * np.where(share > 0, sides[0][proof.at], sides[1][proof.at])).sum()
            assert bound == pytest.approx(ends[side][variable], abs=1e-6)
            proved += 1
    assert proved > 100


def test_no_point_without_exact_sums() -> None:
    """Near is not enough: a point that no small denominator makes fit is none."""
    system = random_system(3, bounded=True)
    assert system.point is not None
    assert exact_point(system, system.point) is not None
    shifted = type(system)(system.rows, system.rhs + 0.137, system.lower, system.upper, False)
    assert exact_point(shifted, system.point) is None
