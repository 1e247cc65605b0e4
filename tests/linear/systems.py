"""Small systems of equations within bounds, and their intervals by another solver: one program a bound."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array, csr_array

from discreet.linear.system import System

Array = NDArray[Any]


def random_system(seed: int, *, integer: bool = False, largest: int = 1, bounded: bool = False) -> System:
    """Rows in no particular form around a point that fits: pairs, rows said twice, fixed and unbounded variables."""
    random = np.random.default_rng(seed)
    m, n = int(random.integers(2, 6)), int(random.integers(4, 10))
    dense = random.integers(-largest, largest + 1, (m, n)) * (random.random((m, n)) < 0.5)
    dense = np.vstack([dense, -dense[0], dense[0] + dense[1]]).astype(float)
    point = random.integers(0, 9, n).astype(float)
    below, above = random.integers(0, 5, (2, n)).astype(float)
    if not bounded:
        above[random.random(n) < 0.25] = np.inf
        below[random.random(n) < 0.1] = np.inf
    return _system(dense, point, below, above, integer)


def random_tree(seed: int, *, integer: bool = False, factors: tuple[int, ...] = (-1, 1)) -> System:
    """Rows that hang together in one variable each: every row has one variable of the rows before it."""
    random = np.random.default_rng(seed)
    m = int(random.integers(1, 7))
    places, n = [], 1
    for _ in range(m):
        more = int(random.integers(2, 4))
        places.append([int(random.integers(n)), *range(n, n + more)])
        n += more
    dense = np.zeros((m, n))
    for row, columns in enumerate(places):
        dense[row, columns] = random.choice(factors, len(columns))
    point = random.integers(0, 9, n).astype(float)
    below, above = random.integers(0, 4, (2, n)).astype(float)
    return _system(dense, point, below, above, integer)


def chain(n: int, most: float, *, integer: bool = False, step: float = 1.0) -> System:
    """x[i+1] = x[i] + y[i] with y in [1, 3]; the first step is taken off, so that no two variables can be added up.

    Numbers 0 to n are x, all within [0, most]; the rest y. Bounds creep along it by one step at a time.
    """
    rows = np.tile(np.arange(n), 3)
    columns = np.concatenate([np.arange(n), np.arange(1, n + 1), np.arange(n + 1, 2 * n + 1)])
    steps = np.full(n, step)
    steps[0] *= -1
    entries = np.concatenate([np.ones(n), -np.ones(n), steps])
    lower = np.concatenate([np.zeros(n + 1), np.ones(n)])
    upper = np.concatenate([np.full(n + 1, most), np.full(n, 3.0)])
    lower[n + 1], upper[n + 1] = -3.0, -1.0
    matrix = coo_array((entries, (rows, columns)), shape=(n, 2 * n + 1)).tocsr()
    matrix.sort_indices()
    return System(matrix, np.zeros(n), lower, upper, integer)


def by_scipy(system: System) -> tuple[Array, Array]:
    """The least and greatest value of each variable by two programs each; in whole numbers if the system is."""
    ends = np.empty((2, system.size))
    equations = LinearConstraint(system.rows.toarray(), system.rhs, system.rhs)
    for k in range(system.size):
        for side, sign in enumerate((1.0, -1.0)):
            cost = np.zeros(system.size)
            cost[k] = sign
            program = milp(
                cost,
                constraints=equations if system.rows.shape[0] else (),
                bounds=Bounds(system.lower, system.upper),
                integrality=np.full(system.size, int(system.integer)),
            )
            assert program.status in (0, 3, 4), program.message  # optimal, or unbounded
            ends[side, k] = sign * program.fun if program.status == 0 else -sign * np.inf
    return ends[0], ends[1]


def _system(dense: Array, point: Array, below: Array, above: Array, integer: bool) -> System:
    return System(csr_array(dense), dense @ point, point - below, point + above, integer, point)
