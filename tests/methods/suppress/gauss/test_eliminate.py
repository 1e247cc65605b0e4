"""Elimination: which cells it withholds, by ranks; in what order; and what it alone does not protect."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_array

import discreet as dc
from discreet import Table
from discreet.audits.known import Known, unmovable
from discreet.linear import modular
from discreet.methods.suppress.gauss.eliminate import eliminate
from tests.problems import rank, suppressed, two_way


@pytest.mark.parametrize("seed", range(30))
def test_elimination_is_exact_for_any_whole_numbers(seed: int) -> None:
    """The columns withheld are those that a greedy choice by rank withholds, not only for entries of -1, 0 and 1."""
    random = np.random.default_rng(seed)
    shape = (int(random.integers(3, 7)), int(random.integers(6, 14)))
    matrix = random.integers(-3, 4, shape) * (random.random(shape) < 0.6)
    primary = np.array([c for c in random.choice(shape[1], 2, replace=False) if matrix[:, c].any()], np.int64)
    order = np.array([c for c in random.permutation(shape[1]) if c not in primary])
    published: list[int] = []
    withheld: list[int] = []
    for column in order.tolist():
        some = matrix[:, [*published, column]]
        tells = any(rank(np.hstack([some, matrix[:, [p]]])) == rank(some) for p in primary.tolist())
        (withheld if tells else published).append(column)
    assert sorted(eliminate(csc_array(matrix), primary, order).secondary.tolist()) == sorted(withheld)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_the_pattern_does_not_depend_on_row_order(seed: int) -> None:
    """Cells given in another order, categories numbered as before: the same cells are hidden."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.gamma(0.7, 6, (4, 5)))
    rows = pd.DataFrame([(f"a{i}", f"b{j}", counts[i, j]) for i in range(4) for j in range(5)], columns=["a", "b", "n"])
    dims = [dc.Dimension.flat("a", [f"a{i}" for i in range(4)]), dc.Dimension.flat("b", [f"b{j}" for j in range(5)])]
    made = [
        suppressed(Table.of(frame, dims, count="n"), dc.Threshold(4))
        for frame in (rows, rows.sample(frac=1, random_state=seed % 2**31))
    ]
    first, second = made
    assert (first is None) == (second is None)
    if first is not None and second is not None:
        assert (first.status == second.status).all()


@pytest.mark.parametrize("zeros", [False, True])
def test_independence_alone_does_not_protect(zeros: bool) -> None:
    """[[0,0,4],[4,0,1]], threshold 4: with zeros as secondaries elimination alone leaves every cell determined."""
    table = two_way([[0, 0, 4], [4, 0, 1]])
    primary = np.flatnonzero(dc.Threshold(4)(table))
    bare = dc.protect(table, dc.Suppress(dc.Threshold(4), zeros=True, singletons="none", repair="off"))
    assert unmovable(Known.hiding(table, bare.hidden), primary).all()
    assert not modular.in_span(table.matrix, ~bare.hidden, primary).any()
    done = dc.protect(table, dc.Suppress(dc.Threshold(4), zeros=zeros, singletons="none"))
    assert not unmovable(Known.hiding(table, done.hidden), primary).any()


def test_rank_aware_order_on_the_linked_tables_of_the_paper() -> None:
    """ODF03 section 4.5.3 with totals released: of the cells that are no totals the rank falls by 7 instead of 4."""
    counts = np.full((3, 4, 3), 60)
    table = Table.of(counts, ["a", "s", "r"], margins=[("a", "s"), ("a", "r"), ("s", "r")])
    cell = {(a, s, r): table.where(a=a, s=s, r=r) for a, s, r in _cells()}
    primary = cell["1", "1", "Total"] | cell["1", "Total", "1"] | cell["Total", "1", "1"]
    naive = np.full(len(table), 5.0)
    for name in ("13T", "31T", "33T", "1T3", "2T1", "2T3", "T12", "T41", "T42"):  # the paper's choice of partners
        a, s, r = (c.replace("T", "Total") for c in name)
        naive[cell[a, s, r]] = 1.0
    margins = (table.layout.codes == 0).sum(axis=1) > 1
    naive[margins] = 9.0
    inside = ~margins

    def decrease(order: Any) -> tuple[int, int]:
        done = dc.protect(table, dc.Suppress(dc.Request(primary), order, forced=margins))
        return int(done.hidden.sum()), modular.rank(table.matrix, inside) - modular.rank(
            table.matrix, inside & ~done.hidden
        )

    assert decrease(naive) == (12, 4)
    assert decrease("rank") == (12, 7)


def _cells() -> list[tuple[str, str, str]]:
    codes = [["Total", "1", "2", "3"], ["Total", "1", "2", "3", "4"], ["Total", "1", "2", "3"]]
    return [(a, s, r) for a in codes[0] for s in codes[1] for r in codes[2] if "Total" in (a, s, r)]
