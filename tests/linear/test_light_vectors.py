"""Light vectors of a space: what is found is in the span, and where nothing is found there is none."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.sparse import csr_array

from discreet.linear.light_vectors import MOST_NODES, PRIME, reduced, told_sets


@pytest.mark.parametrize("seed", range(60))
def test_found_exactly_where_there_is_one(seed: int) -> None:
    """Random sums of up to seven places: every set of places is tried by rank."""
    rng = np.random.default_rng(seed)
    rows = rng.choice([-1, 0, 0, 1, 1], size=(rng.integers(2, 8), rng.integers(1, 6)))
    weight = rng.integers(1, 10, size=len(rows)).astype(float)
    least = 14
    light = [one for one in told_sets(csr_array(rows), weight, least) if one.settled]
    rank = np.linalg.matrix_rank(rows)
    small = [
        places
        for number in range(1, len(rows) + 1)
        for places in itertools.combinations(range(len(rows)), number)
        if weight[list(places)].sum() < least
        and np.linalg.matrix_rank(np.delete(rows, places, axis=0) if number < len(rows) else np.zeros((1, 1))) < rank
    ]
    assert bool(light) == bool(small)
    for one in light:
        assert weight[one.places].sum() < least
        assert np.linalg.matrix_rank(np.delete(rows, one.places, axis=0)) < rank or len(one.places) == len(rows)


def test_what_cannot_be_settled_is_said() -> None:
    """A hundred light places in sums that all cross: the search is given up, and the set is not called safe."""
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 2, size=(100, 30))
    light = list(told_sets(csr_array(rows), np.ones(100), 60))
    assert light
    assert len(rows) * 30 > MOST_NODES
    assert all(not one.settled or len(one.places) < 60 for one in light)


def test_reduced_form_is_exact_modulo_the_prime() -> None:
    """Pivots are 1, alone in their columns, and the rows span the same space."""
    rng = np.random.default_rng(1)
    matrix = rng.integers(-3, 4, size=(5, 8))
    form = reduced(matrix % PRIME)
    assert len(form) == np.linalg.matrix_rank(matrix)
    pivots = (form != 0).argmax(axis=1)
    assert (form[:, pivots] == np.eye(len(form))).all()
    assert len(reduced(np.vstack([form, matrix % PRIME]))) == len(form)
