"""What large problems are solved with, held to plain programmes and ranks on small ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from discreet.linear import null_space as moves
from discreet.linear.shorten import LARGEST, shorten
from discreet.methods.suppress.attacker import all_at_once as at_once
from discreet.methods.suppress.attacker.feasibility import check, verified
from discreet.methods.suppress.exact import search as searching
from discreet.methods.suppress.exact.optimal import Optimal
from discreet.methods.suppress.gauss.eliminate import eliminate
from discreet.methods.suppress.heuristics import by_elimination
from discreet.methods.suppress.heuristics import local_moves as local
from discreet.methods.suppress.heuristics import neighbourhoods as nearby
from discreet.methods.suppress.model.condense import condense
from discreet.methods.suppress.model.problem import Needs, Problem
from discreet.methods.suppress.solve import Found
from tests.methods.suppress.heuristics.test_incumbent import problem, protects, sums

Array = NDArray[Any]


def rank(matrix: Array) -> int:
    """Of numbers small enough for doubles."""
    return int(np.linalg.matrix_rank(matrix.astype(float))) if matrix.size else 0


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


@pytest.mark.parametrize("seed", range(30))
def test_elimination_is_exact_for_any_whole_numbers(seed: int) -> None:
    """The columns withheld are those that a greedy choice by rank withholds, not only for entries of -1, 0 and 1."""
    random = np.random.default_rng(seed)
    shape = (int(random.integers(3, 7)), int(random.integers(6, 14)))
    matrix = random.integers(-3, 4, shape) * (random.random(shape) < 0.6)
    primary = np.array([c for c in random.choice(shape[1], 2, replace=False) if matrix[:, c].any()], np.int64)
    order = np.array([c for c in random.permutation(shape[1]) if c not in primary])
    published, withheld = [], []
    for column in order.tolist():
        some = matrix[:, [*published, column]]
        tells = any(rank(np.hstack([some, matrix[:, [p]]])) == rank(some) for p in primary.tolist())
        (withheld if tells else published).append(column)
    assert sorted(eliminate(csc_array(matrix), primary, order).secondary.tolist()) == sorted(withheld)


def needy(seed: int, shape: tuple[int, ...]) -> Problem:
    """A table in which every inner cell above 1 needs protection, some more than there is."""
    p = problem(seed, shape)
    random, value = np.random.default_rng(seed), p.down
    inner = np.zeros(shape, bool)
    inner[tuple(slice(0, s - 1) for s in shape)] = True
    cells = np.flatnonzero(inner.ravel() & (value > 1))
    hidden = np.zeros(len(p), bool)
    hidden[cells] = True
    far = np.where(random.random(len(cells)) < 0.1, 40, 1)
    needs = Needs.of(cells, np.ceil(value[cells] * 0.3), np.ceil(value[cells] * 0.2) * far)
    return Problem(p.rows, p.down, p.up, np.where(hidden, 0, value + 1.0), hidden, needs)


@pytest.mark.parametrize("seed", range(4))
def test_many_needs_at_once_agree_with_plain_programmes(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is met and what is not, with most of it told by a few moves of everything."""
    monkeypatch.setattr(at_once, "FEW", 0)
    p = needy(seed, (5, 5, 3))
    random = np.random.default_rng(seed)
    for share in (0.2, 1.0):
        pattern = p.hidden | (p.free & (random.random(len(p)) < share))
        found = at_once.met(p, pattern)
        assert found.tolist() == protects(p, pattern).tolist()
    assert not found.all()
    part = at_once.within(p, p.hidden | p.free)[0]
    shown = at_once.reached(part)
    assert shown.sum() > 0.8 * found.sum()
    assert not (shown & ~found).any()


def test_a_solver_that_breaks_sums_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then every need is asked about by itself."""
    p = needy(1, (5, 5, 3))
    pattern = p.hidden | p.free
    monkeypatch.setattr(at_once, "TINY", -1.0)
    assert not at_once.reached(at_once.within(p, pattern)[0]).any()
    assert at_once.met(p, pattern).tolist() == check(p, pattern).met.tolist()


@pytest.mark.parametrize("seed", range(3))
def test_a_large_problem_gets_an_audited_pattern_and_a_bound(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The way of large problems on a small one: protects, is near the best, and the bound holds."""
    for module in (local, nearby, searching):
        monkeypatch.setattr(module, "LARGE", 10)
    monkeypatch.setattr(nearby, "NEAR", 20)
    p = problem(seed, (4, 4, 4))
    best = Optimal(time=3).solve(p)
    monkeypatch.undo()
    plain = Optimal(time=20).solve(p)
    assert protects(p, best.hidden).all()
    assert plain.status == "optimal"
    assert best.bound <= plain.cost <= best.cost
    assert best.cost <= 1.2 * plain.cost


@pytest.mark.parametrize("late", [False, True])
def test_first_moves_bear_out_whatever_the_time(late: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each need has its moves, and they alone prove the pattern."""
    monkeypatch.setattr(local, "LARGE", 10)
    small = condense(problem(5, (5, 5, 4)))
    found = local.first_pattern(small, 0.0 if late else np.inf)
    assert found is not None
    assert verified(small.small, *found)


def test_elimination_mends_a_large_problem_in_neighbourhoods(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each need that elimination leaves short takes a move; the pattern protects by plain programmes."""
    monkeypatch.setattr(by_elimination, "LARGE", 10)
    p = problem(5, (5, 5, 4))
    assert not protects(p, p.hidden).all()
    assert protects(p, by_elimination.repaired(p, p.hidden)).all()


def test_a_cell_without_weight_that_the_audit_adds_leaves_the_gap_a_number() -> None:
    """Cells of zero cannot be chosen, so their weight is infinite; hidden all the same they cost nothing."""
    found = Found(np.array([True, False, False]), "optimal", 1.0, 1.0, "optimal", np.array([1.0, np.inf, 2.0]))
    more = found.repaired(np.ones(3, bool))
    assert (more.cost, more.status) == (3.0, "repaired")
    assert more.gap == pytest.approx(2 / 3)


def test_moves_of_no_rows_and_no_cells() -> None:
    """Nothing to shorten is no error."""
    assert moves.basis(csr_array((0, 3))).shape == (3, 3)
    assert moves.basis(csr_array((1, 0))).shape == (0, 0)
