"""Loops that run small work as Python give the same bits as machine code: every call of some work is made twice."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet import warm_up
from discreet.base import compiled
from discreet.base.compiled import Loop


def same(one: Any, other: Any) -> bool:
    """Whether two results, or what was done to two lists of arguments, are equal to the bit."""
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    first, second = np.asarray(one), np.asarray(other)
    if isinstance(one, np.ndarray) and first.dtype != second.dtype:
        return False
    return first.shape == second.shape and first.tobytes() == second.astype(first.dtype).tobytes()


@pytest.fixture
def loops(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The names of the loops that have been called, each both ways."""
    names: set[str] = set()
    once = Loop.__call__

    def twice(loop: Loop, *arguments: Any) -> Any:
        if loop._steps is None:
            return once(loop, *arguments)
        copies = copy.deepcopy(arguments)
        with np.errstate(all="ignore"):
            as_python = loop.py_func(*copies)
        result = loop.machine_code(*arguments)
        assert same(result, as_python), loop.__name__
        assert same(arguments, copies), loop.__name__
        assert loop._steps(*arguments) >= 0
        names.add(loop.__name__)
        return result

    monkeypatch.setattr(Loop, "__call__", twice)
    return names


def test_both_ways_give_the_same_bits(loops: set[str]) -> None:
    """In the examples of every piece of work that has such loops, and all loops are met."""
    exact: list[Callable[[], None]] = [
        warm_up._suppression,
        warm_up._suppression_with_a_key,
        warm_up._optimal,
        warm_up._amounts,
        warm_up._linear_algebra,
    ]
    for example in exact:
        example()
    assert loops == {loop.__name__ for loop in compiled.loops_of("discreet") if loop._steps is not None}


@pytest.mark.parametrize("seed", range(4))
def test_both_ways_give_the_same_bits_for_any_table(seed: int, loops: set[str]) -> None:
    """Sparse and dense counts in two to four dimensions; magnitudes of firms that know their own."""
    random = np.random.default_rng(seed)
    shape = ((9, 7), (5, 4, 5), (3, 3, 3, 3), (12, 2, 3))[seed]
    names = [f"d{number}" for number in range(len(shape))]
    table = dc.Table.of(random.poisson(random.choice([1, 3, 9]), shape), names)
    shown = dc.protect(table, dc.Suppress(dc.Threshold(3), singletons=("none", "auto")[seed % 2])).release()
    dc.audit(shown)
    codes = [code for code in np.ndindex(*shape) for _ in range(int(random.integers(0, 4)))]
    frame = pd.DataFrame(codes, columns=names).astype(str)
    frame["turnover"] = np.rint(random.lognormal(3, 1, len(frame))).astype(int) + 1
    frame["firm"] = np.arange(len(frame))
    dimensions = [dc.Dimension.flat(name, range(size)) for name, size in zip(names, shape, strict=True)]
    micro = dc.Microdata.of(frame, dimensions=dimensions, unit="firm", magnitudes=["turnover"])
    firms = dc.tabulate(micro, names, value="turnover", top=2)
    dc.protect(firms, dc.Suppress(dc.PPercent(15), singletons="own"))
    assert {"eliminate_columns", "eliminate_rows", "propagate"} <= loops
