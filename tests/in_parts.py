"""Records of tables that are made in parts, and the bytes of the same table in one go."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import discreet as dc

AREAS = {"a": "N", "b": "N", "c": "N", "d": "S", "e": "S", "f": "W", "g": "W"}
AREA = dc.Dimension.from_parents("area", AREAS)
AGES = [f"{age:02d}" for age in range(6)]
POLICY = """
utility = "none"
notes = ["Noise has been added."]
[query]
max_cells = 100000
[table]
{rules}
[[method]]
name = "cell-key"
d = 2
v = 1.0
"""


def frame(n: int, seed: int = 1) -> pd.DataFrame:
    """Records; some categories stay empty."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "area": rng.choice(list(AREAS)[:-1], n),
            "sex": rng.choice(["f", "m"], n),
            "age": rng.choice(AGES, n),
            "r": rng.integers(0, 2**64, n, dtype=np.uint64),
            "x": np.round(rng.lognormal(3, 1, n), 2),
            "w": np.round(1 + rng.random(n), 2),
        }
    )


def people(n: int = 300, **roles: Any) -> dc.Microdata:
    """Records with an area hierarchy that has a difference: the whole without a."""
    area = AREA.with_group("not a", ["N", "S", "W"], ["a"])
    dimensions = [area, dc.Dimension.flat("sex", ["f", "m"]), dc.Dimension.flat("age", AGES)]
    return dc.Microdata.of(frame(n), dimensions=dimensions, key="r", magnitudes=["x"], **roles)


def one_go(data: dc.Microdata, by: list[str], method: Any, suffix: str, **which: Any) -> bytes:
    """The file as a whole."""
    return dc.formats.to_bytes(dc.protect(dc.tabulate(data, by=by, **which), method).release(), suffix)
