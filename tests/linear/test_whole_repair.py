"""Solutions in whole numbers by repair: they fit to the unit, from any start, and none is made up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, kron

from discreet.linear.system import System
from discreet.linear.whole_repair import whole_repaired


def margins(shape: tuple[int, ...]) -> csr_array:
    """One row for every line of a table: its cells along one axis."""
    blocks = []
    for axis in range(len(shape)):
        part = csr_array(np.ones((1, 1)))
        for k, size in enumerate(shape):
            part = kron(part, np.ones((1, size)) if k == axis else np.eye(size), format="csr")
        blocks.append(part.toarray())
    return csr_array(np.concatenate(blocks))


def system_of(truth: np.ndarray) -> System:
    rows = margins(truth.shape)
    point = truth.ravel().astype(float)
    return System(rows, rows @ point, np.zeros(point.size), np.full(point.size, point.sum() + 1), True)


@given(st.sampled_from([(4, 5), (3, 3, 3), (5, 4, 6)]), st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_what_is_found_fits(shape: tuple[int, ...], seed: int) -> None:
    """From zero, and from fractions around another table."""
    rng = np.random.default_rng(seed)
    system = system_of(rng.integers(0, 9, shape))
    for start in (np.zeros(system.size), rng.uniform(0, 9, system.size)):
        point = whole_repaired(system, start, 20.0)
        assert point is not None
        assert (point == np.rint(point)).all()
        assert (point >= 0).all()
        assert (system.rows @ point == system.rhs).all()


def test_three_dimensions_with_a_thousand_cells() -> None:
    """Skewed counts of 10 x 10 x 10, of which no vertex is in whole numbers."""
    rng = np.random.default_rng(1)
    system = system_of(np.floor(rng.lognormal(1, 1.3, (10, 10, 10))))
    point = whole_repaired(system, np.full(system.size, 3.4), 60.0)
    assert point is not None
    assert system.fits(point)


@pytest.mark.parametrize("bounds", [(0.2, 0.8), (0.0, 1.0)])
def test_nothing_is_found_where_nothing_is(bounds: tuple[float, float]) -> None:
    """No whole number within the bounds, or no sum of them: None in time, never a point."""
    rows = csr_array(np.array([[1.0, 1.0], [1.0, -1.0]]))
    system = System(rows, np.array([1.0, 0.0]), np.full(2, bounds[0]), np.full(2, bounds[1]), True)
    assert whole_repaired(system, np.full(2, 0.5), 0.3) is None
