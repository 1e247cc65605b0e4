"""Intervals of a whole system: those of another solver, in trees, long chains, networks and systems of no form."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import discreet as dc
from discreet.linear.intervals import by_propagation, settled, solve
from discreet.linear.system import System
from discreet.linear.witness import movable
from tests.linear.systems import by_scipy, chain, random_system, random_tree


def test_intervals_are_those_of_another_solver() -> None:
    """Every variable, bounded or not; progress ends at all of the bounds."""
    for seed in range(40):
        system = random_system(seed, largest=1 + seed % 2)
        counts: list[tuple[int, int]] = []
        mine = solve(system, np.arange(system.size), lambda done, total: counts.append((done, total)))  # noqa: B023
        for ends, other in zip(mine, by_scipy(system), strict=True):
            np.testing.assert_allclose(ends, other, atol=1e-5)
        assert counts[-1] == (2 * system.size, 2 * system.size)
        assert counts == sorted(counts)


def test_whole_number_intervals_hold_all_and_single_values_are_exact() -> None:
    """No whole value is cut off, and what is settled has one value only where no second one exists."""
    single = 0
    for seed in range(40):
        system = random_system(seed, integer=True, largest=1 + seed % 2, bounded=True)
        lower, upper, sure = settled(system, np.arange(system.size))
        least, most = by_scipy(system)
        assert (lower <= least + 1e-6).all()
        assert (upper >= most - 1e-6).all()
        short = sure & (upper - lower <= 2)
        assert ((upper == lower) == (most - least < 0.5))[short].all()
        single += int((short & (upper == lower)).sum())
    assert single > 40


@pytest.mark.parametrize("integer", [False, True])
@pytest.mark.parametrize("n", [2, 20, 120, 200, 500])
def test_long_chains_are_exact(n: int, integer: bool) -> None:
    """Bounds that creep along a chain for longer than propagation goes on are found in another way."""
    system = chain(n, 1e5, integer=integer)
    lower, upper = solve(system, np.arange(system.size))
    np.testing.assert_allclose(lower[: n + 1], np.arange(n + 1), atol=1e-5)
    np.testing.assert_allclose(upper[: n + 1], 1e5 - n + np.arange(n + 1), atol=1e-5)
    assert (lower[n + 2 :] == 1).all()
    assert (upper[n + 2 :] == 3).all()


def test_a_long_chain_with_other_factors_or_without_end_is_exact() -> None:
    """No network, so that linear programs say it: steps that count half, and no greatest value at all."""
    n, ends = 200, np.array([0, 200])
    lower, upper = solve(chain(n, 1e5, step=0.5), ends)
    np.testing.assert_allclose(lower, [0, n / 2], atol=1e-4)
    np.testing.assert_allclose(upper, [1e5 - n / 2, 1e5], atol=1e-4)
    lower, upper = solve(chain(n, np.inf), ends)
    np.testing.assert_allclose(lower, [0, n], atol=1e-5)
    assert np.isinf(upper).all()


def test_propagation_is_taken_for_exact_only_where_it_is() -> None:
    """Trees at a fixpoint, as another solver has them; in whole numbers only with factors of one."""
    for seed in range(20):
        for integer in (False, True):
            tree = random_tree(seed, integer=integer)
            bounds = by_propagation(tree)
            assert bounds is not None
            for ends, other in zip(bounds, by_scipy(tree), strict=True):
                np.testing.assert_allclose(ends, other, atol=1e-6)
    assert by_propagation(random_tree(1, factors=(-2, 2))) is not None
    assert by_propagation(random_tree(1, factors=(-2, 2), integer=True)) is None
    assert by_propagation(chain(500, 1e5)) is None
    circle = csr_array([[1.0, 1.0, 1.0, 0.0], [1.0, 1.0, 0.0, -1.0]])
    assert by_propagation(System(circle, np.zeros(2), -np.ones(4), np.ones(4), False)) is None


def test_an_even_number_between_one_and_two_is_known() -> None:
    """z = 2x - 2y in [1, 2] is 2, although no bound of x or y says so."""
    row = csr_array(np.array([[2.0, -2.0, -1.0]]))
    system = System(row, np.zeros(1), np.array([0.0, 0, 1]), np.array([5.0, 5, 2]), True)
    lower, upper, sure = settled(system, np.array([2]))
    assert (lower[0], upper[0], sure[0]) == (2, 2, True)
    assert movable(system, np.arange(3)).tolist() == [True, True, False]


@pytest.mark.parametrize("downwards", [True, False])
def test_the_audit_of_a_deep_hierarchy_is_exact(downwards: bool) -> None:
    """Each level is one area and the next level; who knows that no area is empty knows how large each level is."""
    n = 200
    steps = range(n) if downwards else reversed(range(n))
    parents = {child: f"t{i}" for i in steps for child in (f"y{i}", f"t{i + 1}")}
    level = dc.Dimension.from_parents("level", parents)
    table = dc.Table.of(np.array([2 if code.startswith("y") else 500 for code in level.leaves]), [level])
    hidden = np.full(len(table), np.nan)
    protected = dc.Protected(table, {"count": hidden}, np.full(len(table), "u"), "cell suppression", truthful=True)
    codes = [level.codes[k] for k in table.layout.codes[:, 0]]
    area = np.array([code.startswith("y") for code in codes])
    report = dc.audit(protected, prior=(area.astype(float), np.full(len(table), np.inf)))
    depth = np.array([int(code[1:]) for code in codes])
    assert (report.lower == np.where(area, 1, n - depth)).all()
    assert np.isinf(report.upper).all()
