"""Which unknown variables follow from equations: by paths and by rank, as dense algebra says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from discreet.base.annotations import Array
from discreet.linear import free_variables
from discreet.linear.free_variables import all_free


def by_dense_rank(rows: Array, watched: Array, jointly: Array) -> bool:
    """No unit row of a watched variable adds nothing to the rank; and the rank is the same without the joint ones."""
    rank = np.linalg.matrix_rank
    units = np.eye(rows.shape[1])[watched]
    alone = any(rank(np.vstack([rows, unit])) == rank(rows) for unit in units)
    return not alone and bool(rank(rows[:, ~jointly]) == rank(rows))


@pytest.mark.parametrize("network", [True, False])
def test_free_as_dense_algebra_says(network: bool) -> None:
    """Random two-way patterns, and rows of which variables are in three; both answers are met often."""
    answers = []
    for seed in range(150):
        random = np.random.default_rng(seed)
        many, nodes = int(random.integers(2, 14)), int(random.integers(2, 7))
        dense = np.zeros((nodes, many))
        for column in range(many):
            ends = random.choice(nodes, int(random.integers(0, 3)) if network else min(3, nodes), replace=False)
            if network:
                dense[ends, column] = [1.0, -1.0][: len(ends)]
            else:
                dense[ends, column] = random.choice([-1.0, 1.0], len(ends))
        dense *= random.choice([-1.0, 1.0], nodes)[:, None]  # rows may have any sign
        watched, jointly = random.random((2, many)) < [[0.3], [0.15]]
        expected = by_dense_rank(dense, watched | jointly, jointly)
        assert all_free(csr_array(dense), watched | jointly, jointly) is expected
        answers.append(expected)
    assert 20 < sum(answers) < 130


def test_a_graph_that_is_not_a_network_goes_by_rank() -> None:
    """Three sums of two each are no network where all signs are the same: each variable follows."""
    rows = csr_array(np.array([[1.0, 1, 0], [0, 1, 1], [1, 0, 1]]))
    assert free_variables._edges(rows.tocsc()) is None
    nobody = np.zeros(3, bool)
    assert all_free(rows, np.array([True, False, False]), nobody) is False
    assert all_free(rows, nobody, nobody) is True


def test_what_takes_long_is_not_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(free_variables, "MOST_STEPS", 1)
    rows = csr_array(np.array([[1.0, 1, 0], [0, 1, 1], [1, 0, 1]]))
    assert all_free(rows, np.ones(3, bool), np.zeros(3, bool)) is None
