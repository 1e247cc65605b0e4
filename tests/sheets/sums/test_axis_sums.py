"""Sums among the labels of a dimension: those that were put there are found, and no others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.sheets.sums.axis_lines import AxisLines
from discreet.sheets.sums.axis_sums import find_sums


def axis(values: np.ndarray) -> AxisLines:
    everywhere = np.ones(values.shape, bool)
    return AxisLines(values.astype(float), everywhere, everywhere)


@given(
    sizes=st.lists(st.integers(2, 5), min_size=2, max_size=4),
    first=st.booleans(),
    grand=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=40, deadline=None)
def test_regions_and_their_total_are_found_wherever_they_stand(
    sizes: list[int], first: bool, grand: bool, seed: int
) -> None:
    """Regions before or behind their districts, with names that say nothing of sums; a total before or behind all."""
    random = np.random.default_rng(seed)
    codes: list[str] = []
    rows: list[np.ndarray] = []
    wanted: dict[str, tuple[str, ...]] = {}
    whole = np.zeros(8, int)
    for k, size in enumerate(sizes):
        parts = random.integers(100, 10_000, (size, 8))
        names = [f"District {k}.{j}" for j in range(size)]
        own = ([f"Region {k}"], [parts.sum(axis=0)])
        block = (own[0] + names, own[1] + list(parts)) if first else (names + own[0], list(parts) + own[1])
        codes += block[0]
        rows += block[1]
        wanted[f"Region {k}"] = tuple(names)
        whole += parts.sum(axis=0)
    if grand:
        codes = ["Total", *codes] if first else [*codes, "Total"]
        rows = [whole, *rows] if first else [*rows, whole]
        wanted["Total"] = tuple(f"Region {k}" for k in range(len(sizes)))
    tree = find_sums("area", codes, axis(np.array(rows)), parents={}, said={})
    assert dict(tree.children) == wanted
    assert tree.total == ("Total" if grand else None)


def test_what_indents_show_is_verified() -> None:
    """A label above others that is not their sum is refused; one that falls short is a sum with a remainder if said."""
    values = np.array([[10, 20], [4, 5], [5, 15]])
    parents = {"a": "North", "b": "North"}
    with pytest.raises(InputError, match="not their sum in 1 line;"):
        find_sums("area", ["North", "a", "b"], axis(values), parents=parents, said={})
    tree = find_sums("area", ["North", "a", "b"], axis(values), parents=parents, said={}, partly=True)
    assert (tree.partly, tree.children["North"]) == (("North",), ("a", "b"))


def test_a_total_that_is_denied_is_none() -> None:
    """A caller who says that there is no total is believed, whatever adds up."""
    values = np.array([[1000, 2000], [3000, 4000], [4000, 6000]])
    assert find_sums("sex", ["f", "m", "Total"], axis(values), parents={}, said={}).total == "Total"
    assert not find_sums("sex", ["f", "m", "Total"], axis(values), parents={}, said={"sex": None}).children
