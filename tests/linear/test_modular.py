"""Exact elimination: ranks and spans as NumPy finds them on small matrices, and the arithmetic underneath."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from discreet import Table
from discreet.base.compiled import compiled
from discreet.linear import modular
from discreet.linear._reduction import PRIME, inverse, times
from tests.strategies import tables

numbers = st.integers(0, PRIME - 1)


@compiled
def product(a: np.uint64, b: np.uint64) -> np.uint64:
    """As compiled code multiplies."""
    return times(a, b)  # type: ignore[no-any-return]


@compiled
def reciprocal(a: np.uint64) -> np.uint64:
    """As compiled code divides."""
    return inverse(a)  # type: ignore[no-any-return]


@given(numbers, numbers)
def test_the_product_is_that_of_whole_numbers(a: int, b: int) -> None:
    """128 bits are folded back to 61 without loss."""
    assert int(product(np.uint64(a), np.uint64(b))) == a * b % PRIME


@given(numbers.filter(bool))
def test_every_number_but_zero_has_an_inverse(a: int) -> None:
    """a times 1/a is 1."""
    assert a * int(reciprocal(np.uint64(a))) % PRIME == 1


@settings(deadline=None, max_examples=150)
@given(st.integers(1, 8), st.integers(1, 11), st.integers(0, 2**32 - 1))
def test_rank_and_span_agree_with_numpy(rows: int, columns: int, seed: int) -> None:
    """On matrices small enough for floating point."""
    rng = np.random.default_rng(seed)
    dense = rng.integers(-1, 2, (rows, columns)) * (rng.random((rows, columns)) < 0.6)
    basis = rng.random(columns) < 0.5
    assert modular.rank(csr_array(dense)) == np.linalg.matrix_rank(dense)
    rank = np.linalg.matrix_rank(dense[:, basis]) if basis.any() else 0
    inside = [np.linalg.matrix_rank(np.c_[dense[:, basis], dense[:, [j]]]) == rank for j in np.flatnonzero(~basis)]
    assert modular.in_span(csr_array(dense), basis, ~basis).tolist() == inside


@settings(deadline=None, max_examples=40)
@given(tables())
def test_a_table_with_all_inner_cells_has_full_rank(table: Table) -> None:
    """Inner cells are independent; whatever is published follows from them."""
    inner = table.is_inner
    if len(np.unique(table.layout.inner_of_cell[inner])) == table.layout.n_inner:
        assert modular.rank(table.matrix) == table.layout.n_inner
        assert modular.in_span(table.matrix, inner, ~inner & ~table.structural).all()


@pytest.mark.parametrize(("n", "m", "t"), [(3, 4, 3), (2, 2, 2), (5, 3, 4)])
def test_linked_tables_have_the_rank_of_the_paper(n: int, m: int, t: int) -> None:
    """ODF03 section 4.5: AS has rank nm, AS and AR n(t+m-1), all three nm+nt+mt-n-m-t+1."""
    counts = np.ones((n, m, t), int)
    one = Table.of(counts, ["a", "s", "r"], margins=[("a", "s")])
    two = one.with_margins([("a", "s"), ("a", "r")])
    three = one.with_margins([("a", "s"), ("a", "r"), ("s", "r")])
    assert [modular.rank(x.matrix) for x in (one, two, three)] == [
        n * m, n * (t + m - 1), n * m + n * t + m * t - n - m - t + 1,
    ]  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 6), st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_reduced_rows_span_the_same_and_share_no_pivot(rows: int, columns: int, seed: int) -> None:
    """Each has a one in its pivot and nothing in those of others; what has its pivot outside has nothing inside."""
    generator = np.random.default_rng(seed)
    matrix = generator.integers(-1, 2, (rows, columns))
    first = generator.random(columns) < 0.5
    pivots, reduced = modular.reduced_rows(csr_array(matrix.astype(float)), first)
    full = [[int(entry) for entry in row] for row in reduced.T.toarray()]
    assert len(pivots) == np.linalg.matrix_rank(matrix)
    for k, row in enumerate(full):
        assert [row[p] for p in pivots] == [int(j == k) for j in range(len(pivots))]
        assert first[pivots[k]] or not any(entry for entry, early in zip(row, first, strict=True) if early)
    for row in matrix.tolist():  # a row is the sum of reduced ones, each as often as its entry in their pivot says
        total = [sum(row[p] * own[c] for p, own in zip(pivots, full, strict=True)) for c in range(columns)]
        assert [(t - entry) % PRIME for t, entry in zip(total, row, strict=True)] == [0] * columns


@pytest.mark.parametrize("seed", range(8))
def test_independent_rows_give_all_others(seed: int) -> None:
    """As many as the rank, and of full rank themselves."""
    random = np.random.default_rng(seed)
    dense = random.integers(-1, 2, (random.integers(1, 12), random.integers(1, 9))).astype(float)
    dense = np.concatenate([dense, dense[:3].sum(axis=0, keepdims=True), dense[:1]])
    rows = modular.independent_rows(csr_array(dense))
    assert len(rows) == np.linalg.matrix_rank(dense) == np.linalg.matrix_rank(dense[rows])
    assert rows.tolist() == sorted(set(rows.tolist()))
