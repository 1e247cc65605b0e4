"""Sums among labels in any order: a total of groups that are found, parts of a sum whose own parts stand elsewhere."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.sheets.reading_sheets import read_table

LEAVES = ("c0", "c1", "c2", "c3", "c4", "c5")
SUMS = {"cX": ("c0", "c1", "c2"), "cY": ("c3", "c4", "c5"), "T": LEAVES}
AREAS = ("a0", "a1", "a2", "a3")


def listed(order: list[str], seed: int) -> pd.DataFrame:
    """A list of the cells of four areas by six codes and their sums, in this order."""
    counts = np.random.default_rng(seed).integers(20, 200, (len(AREAS), len(LEAVES)))
    of = {code: counts[:, k] for k, code in enumerate(LEAVES)}
    of |= {code: np.sum([of[part] for part in parts], axis=0) for code, parts in SUMS.items()}
    rows = [(area, code, int(of[code][k])) for k, area in enumerate(AREAS) for code in order]
    return pd.DataFrame(rows, columns=["area", "age", "count"])


@settings(max_examples=25, deadline=None)
@given(st.permutations([*LEAVES, *SUMS]), st.integers(0, 10**6))
def test_every_sum_is_known_in_any_order(order: list[str], seed: int) -> None:
    """The rows of the matrix that says how the table adds up hold what is true of the codes."""
    table = read_table(listed(order, seed)).table
    age = next(d for d in table.dimensions if d.name == "age")
    for code, parts in SUMS.items():
        assert age.leaves_of(code) == dict.fromkeys(parts, 1)


def test_a_part_of_a_sum_may_have_its_parts_elsewhere() -> None:
    """The sum of a region and of the districts of another, then the districts of the first."""
    order = ["T", "cX", "c3", "c4", "c5", "c1", "cY", "c0", "c2"]
    table = read_table(listed(order, 5)).table
    age = next(d for d in table.dimensions if d.name == "age")
    assert {code: set(age.leaves_of(code)) for code in SUMS} == {code: set(parts) for code, parts in SUMS.items()}
