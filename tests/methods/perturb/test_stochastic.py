"""Stochastic perturbation: invariant to 1e-12, numbers met exactly, margins restored in whole numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.methods.invariance import apportioned, assign, cox, draw, invariant
from discreet.methods.perturb.stochastic import designed
from tests.strategies import tables


@given(st.integers(0, 10_000), st.integers(2, 12), st.floats(0, 1))
def test_invariant_to_twelve_digits(seed: int, n: int, alpha: float) -> None:
    """t R = t, R a matrix of probabilities, whatever P and t; alpha = 0 moves nobody."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(n, 0.4), n)
    t = rng.integers(0, 1000, n) * (rng.random(n) < 0.8)
    r = invariant(p, t, alpha)
    assert np.abs(t @ r - t).max() <= 1e-12 * max(t.sum(), 1)
    assert r.min() >= 0
    assert np.abs(r.sum(axis=1) - 1).max() < 1e-12
    assert (invariant(p, t, 0.0) == np.eye(n)).all()


@given(st.integers(0, 10_000), st.integers(2, 9))
def test_numbers_are_rounded_expectations_with_both_margins(seed: int, n: int) -> None:
    """Each number next to its expectation, rows and (invariance) columns exact."""
    rng = np.random.default_rng(seed)
    t = rng.integers(0, 30, n)
    r = invariant(rng.dirichlet(np.ones(n), n), t)
    numbers = apportioned(r, t, rng)
    assert (np.abs(numbers - t[:, None] * r) < 1).all()
    assert (numbers.sum(axis=1) == t).all()
    assert (numbers.sum(axis=0) == t).all()
    kind = np.repeat(np.arange(n), t)
    moved = assign(kind, rng.random(len(kind)), numbers)
    assert (np.bincount(moved, minlength=n) == t).all()


def test_random_apportioning_is_unbiased() -> None:
    """The mean over many draws is the expectation; a matrix that is not invariant keeps its rows."""
    rng = np.random.default_rng(3)
    t, p = np.array([7, 3, 5, 1]), rng.dirichlet(np.ones(4), 4)
    expected = t[:, None] * p
    runs = np.array([apportioned(p, t, rng) for _ in range(3000)])
    assert (runs.sum(axis=2) == t).all()
    assert np.abs(runs.mean(axis=0) - expected).max() < 5 * 0.5 / np.sqrt(3000)
    with pytest.raises(dc.InputError, match="whole sums"):
        cox(np.array([[0.5, 0.2], [0.5, 0.5]]), rng)


def test_independent_draws_follow_the_matrix() -> None:
    """An even grid of chances gives each row's probabilities."""
    p = np.array([[0.7, 0.3, 0.0], [0.1, 0.8, 0.1], [0.0, 0.0, 1.0]])
    u = (np.arange(10_000) + 0.5) / 10_000
    for i in range(3):
        got = np.bincount(draw(np.full(u.shape, i), u, p), minlength=3) / u.size
        assert got == pytest.approx(p[i], abs=2e-4)


@settings(max_examples=60)
@given(tables(25), st.integers(0, 5), st.floats(0, 1))
def test_counts_of_counts_and_totals_are_kept(table: dc.Table, seed: int, stay: float) -> None:
    """How often each value occurs below the cap, the zeros, each group's total; and the table adds up."""
    control = (table.dimensions[0].name,)
    method = dc.Stochastic(stay=stay, control=control, seed=seed, cap=6, period=3)
    made = dc.protect(table, method)
    rows = table.layout.inner_of_cell
    if set(rows[rows >= 0].tolist()) != set(range(table.layout.n_inner)):
        return
    inner = np.zeros(table.layout.n_inner, np.int64)
    inner[rows[rows >= 0]] = made.published["count"][rows >= 0]
    true = table.statistic("count").inner
    assert (table.layout.aggregate(inner) == made.published["count"]).all()
    assert ((inner == 0) == (true == 0)).all()
    dense, was = table.layout.dense(inner), table.array()
    axes = tuple(range(1, was.ndim))
    assert (dense.sum(axis=axes) == was.sum(axis=axes)).all()
    for a, b in zip(dense.reshape(len(dense), -1), was.reshape(len(was), -1), strict=True):
        assert (np.bincount(a, minlength=4)[:4] == np.bincount(b, minlength=4)[:4]).all()
    assert (made.room.lower <= table.count).all()
    assert (made.room.upper >= table.count).all()


@pytest.mark.parametrize("margins", [(("area",), ("travel",)), (("area",),)])
def test_margins_are_restored_in_whole_numbers(margins: tuple[tuple[str, ...], ...]) -> None:
    """Fitting and controlled rounding to base 1 give back the margins, and inner cells still differ."""
    table = dc.datasets.psd14_travel()
    protected = dc.protect(table, dc.Stochastic(seed=2, restore=margins))
    made = protected.published["count"]
    room = protected.room
    assert room.lower is not None
    assert room.upper is not None
    assert (room.lower <= table.count).all()
    assert (room.upper >= table.count).all()
    assert np.isfinite(room.upper).sum() >= 11
    for (name,) in margins:
        other = "travel" if name == "area" else "area"
        at = table.where(**{other: "Total"})
        assert (made[at] == table.count[at]).all()
    assert (made[table.is_inner] != table.count[table.is_inner]).mean() > 0.2
    assert (made >= 0).all()
    three = dc.Table.of(np.random.default_rng(1).poisson(3, (3, 4, 3)), ["a", "b", "c"])
    shown = dc.Stochastic(seed=2, restore=(("a", "b"), ("c",)))(three).published["count"]
    assert (shown[three.where(c="Total")] == three.count[three.where(c="Total")]).all()


def test_the_transition_matrix_is_that_of_the_draws() -> None:
    """Over many seeds a count of 2 goes where the matrix says; expected R2 is then exact."""
    table = dc.datasets.psd14_religion()
    method = dc.Stochastic(stay=0.6, exact=False, seed=0)
    matrix = method.transition(table)
    at = table.is_inner & (table.count == 2)
    runs = np.concatenate(
        [dc.Stochastic(stay=0.6, exact=False, seed=s)(table).published["count"][at] for s in range(300)]
    )
    for j, p in matrix.outcomes(2):
        assert abs((runs == j).mean() - p) < 5 * np.sqrt(p * (1 - p) / len(runs)) + 1e-9
    t = np.bincount(np.minimum(table.array().ravel(), 99))[:11]
    assert matrix.stay(slice(1, 3)) < 1
    assert t.sum() > 0
    assert dc.expected_r2([1, 2, 3], matrix).exact


def test_zeros_that_may_move_do_so_one_by_one() -> None:
    """Empty cells have no keys of their own; their categories tell them apart."""
    from tests.persons import microdata, persons

    p = [[0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    made = dc.Stochastic(matrix=p, period=1, invariant=False, exact=False)(
        dc.tabulate(microdata(persons(3)), by=["area", "sex", "age"], margins=[("area", "sex", "age")])
    )
    empty = (made.table.count == 0) & made.table.is_inner
    assert set(made.published["count"][empty].tolist()) == {0, 1}


def test_a_given_matrix() -> None:
    """Rows as in JOS15: one matrix for all; counts above it need closed last rows."""
    p = [[1, 0, 0, 0], [0, 0.5, 0.5, 0], [0, 0.5, 0.5, 0], [0, 0, 0, 1]]
    table = dc.Table.of([[0, 1, 2], [3, 2, 9]], ["a", "b"])
    assert dc.Stochastic(matrix=p, period=1, seed=1)(table).published["count"][0] == table.count[0]
    leaky = [[1, 0, 0, 0], [0, 0.5, 0.5, 0], [0, 0, 0.5, 0.5], [0, 0, 0.5, 0.5]]
    with pytest.raises(dc.InputError, match="last rows"):
        dc.Stochastic(matrix=leaky, period=1, seed=1)(table)
    dc.Stochastic(matrix=leaky, period=1, seed=1)(dc.Table.of([[0, 1, 2], [3, 2, 1]], ["a", "b"]))
    assert designed(0.8, 2, 10, 5)[1].tolist() == pytest.approx([0, 0.8, 0.1, 0.1] + [0] * 7)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"stay": 2}, "stay="), ({"matrix": [[1, 0]]}, "shape"), ({"matrix": [[1, 1], [0, 1]]}, "sum 1"),
     ({"cap": 2}, "cap="), ({"period": 0}, "period="), ({"alpha": -1}, "alpha="), ({"window": 0}, "window=")],
)  # fmt: skip
def test_wrong_parameters(options: dict[str, object], words: str) -> None:
    """Refused when made."""
    with pytest.raises(dc.InputError, match=words):
        dc.Stochastic(**options)  # type: ignore[arg-type]
