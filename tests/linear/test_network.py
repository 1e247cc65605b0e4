"""Networks: recognised whatever the signs of the rows, and their intervals exact, in whole numbers where those are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

from discreet.linear.network import bounds, network
from discreet.linear.system import System
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
