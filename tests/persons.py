"""A few made-up persons with record keys, for the laws of methods that perturb."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from discreet import Dimension, Microdata

AREAS = {"n1": "N", "n2": "N", "s1": "S", "s2": "S", "s3": "S"}
DIMENSIONS = (
    Dimension.from_parents("area", AREAS),
    Dimension.flat("sex", ["f", "m"]),
    Dimension.flat("age", ["0", "1", "2", "3"]),
)


def persons(n: int = 200, seed: int = 1) -> pa.Table:
    """Persons in five areas of two regions, in households of one to four."""
    rng = np.random.default_rng(seed)
    household = np.repeat(np.arange(n), rng.integers(1, 5, n))[:n]
    return pa.table(
        {
            "id": np.arange(1000, 1000 + n),
            "household": household,
            "area": np.array(list(AREAS))[rng.integers(0, 5, n)[household]],
            "sex": rng.choice(["f", "m"], n),
            "age": rng.choice(["0", "1", "2", "3"], n, p=[0.5, 0.3, 0.15, 0.05]),
            "rkey": rng.integers(0, 2**64, n, dtype=np.uint64),
        }
    )


def microdata(source: Any, *, key: str | None = "rkey") -> Microdata:
    """The persons (a table, a frame, a file) with their codebook."""
    return Microdata.of(source, dimensions=DIMENSIONS, unit="id", key=key)
