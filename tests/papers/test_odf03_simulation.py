"""ODF03 section 1, simulation: a random table with the margins of the true one, against every table that fits."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

import discreet as dc
from tests.papers import own

TRUE = np.array([[2, 1, 0], [1, 0, 2]])


def drawn(true: np.ndarray, number: int, **given: Any) -> Counter[tuple[int, ...]]:
    """The inner cells of so many draws."""
    table = dc.Table.of(true, [f"v{k}" for k in range(true.ndim)])
    found: Counter[tuple[int, ...]] = Counter()
    for seed in range(number):
        made = dc.SameMargins(seed=seed, **given)(table)
        found[tuple(made.shown_inner().astype(int).tolist())] += 1
    return found


def fits(found: Counter[tuple[int, ...]], probability: dict[tuple[int, ...], float]) -> bool:
    """Chi square below its mean and four standard deviations, and nothing else was drawn."""
    number = sum(found.values())
    assert set(found) <= set(probability)
    chi2 = sum((found[t] - number * p) ** 2 / (number * p) for t, p in probability.items())
    free = len(probability) - 1
    return chi2 < free + 4 * math.sqrt(2 * free)


def every(true: np.ndarray) -> list[tuple[int, ...]]:
    """All two-way tables with the same margins."""
    fit = own.with_margins(true.sum(axis=1).tolist(), true.sum(axis=0).tolist())
    return [tuple(itertools.chain(*t)) for t in fit]


def exact(tables: list[tuple[int, ...]]) -> dict[tuple[int, ...], float]:
    """∝ 1/∏ n!."""
    weight = {t: 1 / math.prod(math.factorial(x) for x in t) for t in tables}
    return {t: w / sum(weight.values()) for t, w in weight.items()}


@pytest.mark.parametrize("listed", [1000, 0])
def test_uniform_over_all_tables_with_the_same_margins(listed: int) -> None:
    """Listed, and by moves: each of the tables that fit comes as often as any other."""
    tables = every(TRUE)
    assert len(tables) == 6
    assert fits(drawn(TRUE, 500, listed=listed, sweeps=30), dict.fromkeys(tables, 1 / len(tables)))


@pytest.mark.parametrize("listed", [1000, 0])
def test_the_exact_distribution_of_fienberg_makov_and_steele(listed: int) -> None:
    """Independence given the margins: weights 1/∏ n!, listed or by dealing units."""
    assert fits(drawn(TRUE, 500, distribution="exact", listed=listed), exact(every(TRUE)))


def test_a_square_by_moves() -> None:
    """Three by three, beyond what is listed."""
    true = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    tables = every(true)
    assert len(tables) == 21
    assert fits(drawn(true, 500, listed=0, sweeps=25), dict.fromkeys(tables, 1 / len(tables)))


@pytest.mark.parametrize("distribution", ["uniform", "exact"])
def test_one_variable(distribution: str) -> None:
    """A total shared out: every way alike, or every unit by itself."""
    tables = [t for t in itertools.product(range(4), repeat=3) if sum(t) == 3]
    probability = exact(tables) if distribution == "exact" else dict.fromkeys(tables, 1 / len(tables))
    assert fits(drawn(np.array([3, 0, 0]), 600, distribution=distribution), probability)


def test_three_variables_with_all_margins() -> None:
    """Listed: the tables with the same three two-way margins, alike often."""
    true = np.array([[[1, 1], [1, 2]], [[2, 1], [1, 1]]])
    held = own.margins(true)
    box = itertools.product(range(4), repeat=8)
    tables = [t for t in box if sum(t) == 10 and own.margins(np.array(t).reshape(2, 2, 2)) == held]
    assert len(tables) > 2
    assert fits(drawn(true, 300), dict.fromkeys(tables, 1 / len(tables)))


def test_three_variables_with_totals_of_each() -> None:
    """keep="one-way" by moves: all tables with the same totals of each variable."""
    true = np.array([[[1, 0], [0, 1]], [[0, 0], [0, 0]]])
    tables = [t for t in itertools.product(range(3), repeat=8) if sum(t) == 2]
    ways = [tuple(true.sum(axis=a).tolist()) for a in ((1, 2), (0, 2), (0, 1))]
    same = [
        t for t in tables if [tuple(np.reshape(t, (2, 2, 2)).sum(axis=a)) for a in ((1, 2), (0, 2), (0, 1))] == ways
    ]
    assert fits(drawn(true, 300, keep="one-way", sweeps=25), dict.fromkeys(same, 1 / len(same)))


def test_margins_are_kept_and_the_audit_says_what_they_leave() -> None:
    """Every published sum is true, hierarchies too; the intervals are the Fréchet bounds of the margins."""
    area = dc.Dimension.from_parents("area", {"n1": "N", "n2": "N", "n3": "N", "s1": "S", "s2": "S"})
    rng = np.random.default_rng(2)
    table = dc.Table.of(rng.poisson(4, (5, 4)), [area, "sex"])
    made = dc.protect(table, dc.SameMargins(seed=5))
    assert (made.published["count"] == table.count)[~table.is_inner].all()
    assert (made.published["count"] != table.count).any()
    assert made.truthful is None  # neither true nor perturbed throughout: a check against other tables must not pass
    flat = dc.Table.of(rng.poisson(3, (3, 4)), ["area", "sex"])
    cells = dc.audit(dc.protect(flat, dc.SameMargins(seed=5))).cells
    array = flat.array()
    for i, j in np.ndindex(3, 4):
        r, c, n = array[i].sum(), array[:, j].sum(), array.sum()
        found = cells[(cells["area"] == str(i + 1)) & (cells["sex"] == str(j + 1))].iloc[0]
        assert (found["lower"], found["upper"]) == (max(0, r + c - n), min(r, c))


def test_the_draw_sees_the_margins_alone() -> None:
    """Two tables with the same margins give the same release under the same seed, so it tells them not apart."""
    one, other = np.array([[4, 1, 2], [2, 3, 5]]), np.array([[1, 3, 3], [5, 1, 4]])
    for given in ({}, {"distribution": "exact"}, {"listed": 0}, {"keep": "one-way"}):
        made = [dc.SameMargins(seed=4, **given)(dc.Table.of(t, ["a", "b"])).release() for t in (one, other)]
        assert made[0] == made[1]


def test_large_counts() -> None:
    """Millions of units are dealt cell by cell: margins kept, near independence; billions are refused."""
    true = np.array([[4_000_000, 10, 3_000_000], [20, 5_000_000, 1_000_000]])
    table = dc.Table.of(true, ["a", "b"])
    made = dc.SameMargins(seed=1, distribution="exact")(table).shown_inner().reshape(2, 3)
    assert made.sum(axis=0).tolist() == true.sum(axis=0).tolist()
    assert made.sum(axis=1).tolist() == true.sum(axis=1).tolist()
    mean = np.outer(true.sum(axis=1), true.sum(axis=0)) / true.sum()
    assert (np.abs(made - mean) < 6 * np.sqrt(mean)).all()
    with pytest.raises(dc.InputError):
        dc.SameMargins(seed=1)(dc.Table.of(np.full((2, 2), 10**9), ["a", "b"]))


def test_what_cannot_be_drawn_is_refused() -> None:
    """Fail closed: left-out margins, overlapping groups, no total, magnitudes, tables that cannot be listed."""
    method = dc.SameMargins(seed=1)
    big = np.random.default_rng(1).poisson(9, (6, 6, 6))
    overlapping = dc.Dimension.flat("a", "xyz").with_group("xy", ["x", "y"]).with_group("yz", ["y", "z"])
    wrong = [
        dc.Table.of(big, ["a", "b", "c"]),
        dc.Table.of([[1, 2], [3, 4]], ["a", "b"], margins=[("a",), ("b",), ("a", "b")][:2]),
        dc.Table.of([[1, 2], [3, 4], [1, 1]], [overlapping, "b"]),
        dc.Table.of([[1, 2], [3, 4]], [dc.Dimension.flat("a", "xy", total=None), "b"]),
    ]
    for table in wrong:
        with pytest.raises(dc.InputError):
            method(table)
    with pytest.raises(dc.InputError):
        dc.SameMargins()(dc.Table.of([[1, 2], [3, 4]], ["a", "b"]))  # neither keys nor a seed
    for given in ({"distribution": "unifrom"}, {"keep": "some"}, {"listed": -1}, {"sweeps": 0}):
        with pytest.raises(dc.InputError):
            dc.SameMargins(seed=1, **given)


def test_structural_zeros_stay() -> None:
    """Where nothing can be, nothing is drawn; all that fit are listed."""
    table = dc.Table.of([[0, 2, 1], [1, 0, 2], [2, 1, 0]], ["a", "b"], structural=[{"a": "1", "b": "1"}])
    fit = {t[1:] for t in every(table.array()) if t[0] == 0}
    made = [dc.SameMargins(seed=s)(table) for s in range(150)]
    assert {tuple(m.shown_inner().astype(int).tolist()) for m in made} <= fit
    assert all(m.published["count"][table.where(a="1", b="1")] == 0 for m in made)
    assert len({tuple(m.shown_inner().tolist()) for m in made}) > len(fit) / 2
