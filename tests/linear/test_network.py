"""Networks: recognised whatever the signs of the rows, and their intervals exact, in whole numbers where those are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

from discreet.linear.network import bounds, network, whole_flow
from discreet.linear.program import any_solution
from discreet.linear.system import ContradictionError, System
from tests.linear.systems import by_scipy
from tests.problems import sums

Array = NDArray[Any]


def random_flow(seed: int, *, scale: float = 1.0) -> System:
    """Arcs between nodes and to the world outside, the rows with signs at random, around a flow that fits."""
    random = np.random.default_rng(seed)
    nodes, arcs = int(random.integers(2, 6)), int(random.integers(4, 11))
    dense = np.zeros((nodes + 1, arcs))
    for k in range(arcs):
        tail, head = random.choice(nodes + 1, 2, replace=False)
        dense[tail, k], dense[head, k] = -1, 1
    dense = dense[:-1] * random.choice([-1, 1], (nodes, 1))
    dense = dense[np.abs(dense).sum(axis=1) > 0]
    point = random.integers(0, 9, arcs) * scale
    below, above = random.integers(0, 5, (2, arcs)) * scale
    return System(csr_array(dense), dense @ point, point - below, point + above, False)


@pytest.mark.parametrize("scale", [1.0, 0.37])
def test_intervals_are_those_of_another_solver(scale: float) -> None:
    """Every arc; in whole numbers if the data are, whether or not the system says so."""
    for seed in range(40):
        system = random_flow(seed, scale=scale)
        net = network(system.rows)
        assert net is not None
        lower, upper, sure = bounds(system, net, np.arange(system.size))
        assert sure.all()
        for mine, other in zip((lower, upper), by_scipy(system), strict=True):
            np.testing.assert_allclose(mine, other, atol=1e-6)
        if scale == 1:
            assert (lower == np.rint(lower)).all()
            for mine, other in zip((lower, upper), by_scipy(replace(system, integer=True)), strict=True):
                np.testing.assert_allclose(mine, other, atol=1e-6)


def test_the_network_is_that_of_the_rows() -> None:
    """What flows into a node less what flows out of it is its row, up to the row's sign."""
    for seed in range(20):
        rows = random_flow(seed).rows
        net = network(rows)
        assert net is not None
        flow = np.random.default_rng(seed).random(rows.shape[1])
        into, out = (np.bincount(ends, flow, net.nodes) for ends in (net.head, net.tail))
        np.testing.assert_allclose(np.abs(into - out)[: rows.shape[0]], np.abs(rows @ flow), atol=1e-12)


def test_what_is_no_network() -> None:
    """Two-way tables are; three-way tables, other factors, and signs that cannot be turned are not."""
    assert network(csr_array(sums((3, 4)))) is not None
    assert network(csr_array(sums((3, 3, 3)))) is None
    assert network(csr_array(np.array([[2.0, 1.0], [1.0, 1.0]]))) is None
    odd = csr_array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])  # a circle of three rows
    assert network(odd) is None


def test_a_whole_flow_is_a_solution_or_there_is_none() -> None:
    """Within bounds, in whole numbers, for every row; where it says that there is none another solver finds none."""
    none = 0
    for seed in range(150):
        system = random_flow(seed)
        random = np.random.default_rng(seed)
        system = replace(system, rhs=system.rhs + random.integers(-2, 3, len(system.rhs)) * (seed % 3 == 0))
        net = network(system.rows)
        assert net is not None
        try:
            flow = whole_flow(system, net)
        except ContradictionError:
            none += 1
            with pytest.raises(ContradictionError):
                any_solution(system)
            continue
        assert flow is not None
        assert (flow == np.rint(flow)).all()
        assert ((system.lower <= flow) & (flow <= system.upper)).all()
        np.testing.assert_array_equal(system.rows @ flow, system.rhs)
    assert 10 < none < 60


def test_flows_too_large_to_count_are_left_to_the_solver() -> None:
    """Thirty-two bits hold no more; the intervals are the same."""
    system = System(csr_array(sums((2, 3))), np.zeros(5), np.zeros(6), np.full(6, 4e9), True)
    point = np.arange(1.0, 7.0) * 5e8
    system = replace(system, rhs=system.rows @ point)
    net = network(system.rows)
    assert net is not None
    assert whole_flow(system, net) is None
    for mine, other in zip(bounds(system, net, np.arange(6))[:2], by_scipy(system), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-9)
