"""Bases of the moves that keep all sums: whole, none needless, short."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from discreet.linear import null_space as moves
from discreet.linear._short_moves import LARGEST, shorten
from tests.problems import condensed, on_small_problems, rank, small_problem, sums


@on_small_problems
def test_a_basis_has_all_moves(kind: str, seed: int) -> None:
    """Each keeps every sum, none is needless, and there are as many as there can be."""
    for rows, basis in (
        (small_problem(kind, seed).rows, moves.basis(small_problem(kind, seed).rows)),
        (condensed(kind, seed).small.rows, condensed(kind, seed).moves),
    ):
        assert np.abs((rows @ basis).toarray()).max(initial=0) < 1e-9
        free = rows.shape[1] - np.linalg.matrix_rank(rows.toarray())
        assert basis.shape[1] == np.linalg.matrix_rank(basis.toarray()) == free


@pytest.mark.parametrize("seed", range(6))
def test_a_basis_of_sums_in_no_particular_form(seed: int) -> None:
    """Several cells on both sides, factors other than one, sums that follow from others."""
    random = np.random.default_rng(seed)
    rows = random.integers(-2, 3, (5, 9)) * (random.random((5, 9)) < 0.6)
    rows = np.vstack([rows, rows[0] + rows[1], np.zeros(9)])
    basis = moves.basis(csr_array(rows.astype(float))).toarray()
    assert np.abs(rows @ basis).max(initial=0) < 1e-4  # entries are on a grid
    assert basis.shape[1] == np.linalg.matrix_rank(basis) == 9 - np.linalg.matrix_rank(rows)


@pytest.mark.parametrize("seed", range(8))
def test_shorter_moves_span_what_the_long_ones_did(seed: int) -> None:
    """A basis mixed up at random becomes shorter again, and stays a basis."""
    random = np.random.default_rng(seed)
    basis = moves.basis(sums((4, 4, 3))).toarray()
    many = basis.shape[1]
    mixed = basis @ np.triu(random.integers(-1, 2, (many, many)), 1) + basis
    mixed = mixed[:, np.abs(mixed).max(axis=0) <= LARGEST].astype(np.int8)
    short, across = mixed.copy(), mixed.T.copy()
    shorten(short, across, np.zeros(1, np.int64))
    assert (short == across.T).all()
    assert np.count_nonzero(short) < np.count_nonzero(mixed)
    assert rank(short) == rank(mixed) == rank(np.hstack([short, mixed])) == mixed.shape[1]


def test_linked_tables_have_short_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where elimination fills up, the moves come from the rows as they are, shortened; the space is the same."""
    rows, plain = sums((4, 4, 4)), moves.basis(sums((4, 4, 4)))
    monkeypatch.setattr(moves, "DENSE", 0.0)
    short = moves.basis(rows)
    assert short.nnz <= plain.nnz
    assert np.abs(rows @ short).max() == 0
    assert rank(np.hstack([short.toarray(), plain.toarray()])) == plain.shape[1] == rank(short.toarray())


def test_moves_of_no_rows_and_no_cells() -> None:
    """Nothing to shorten is no error."""
    assert moves.basis(csr_array((0, 3))).shape == (3, 3)
    assert moves.basis(csr_array((1, 0))).shape == (0, 0)
