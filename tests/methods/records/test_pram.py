"""PRAM: categories move as the matrix says, and their frequencies stay where it is invariant."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dc
from tests.persons import microdata, persons


def ages(data: dc.Microdata) -> np.ndarray[tuple[int], np.dtype[np.str_]]:
    return np.array(data.engine.arrow(["age"])["age"].to_pylist())  # type: ignore[attr-defined]


def test_invariant_in_expectation_and_to_the_unit() -> None:
    """t R = t; without replacement the frequencies are the same numbers."""
    data = microdata(persons(5000))
    t = np.bincount(ages(data).astype(int))
    r = dc.Pram("age", stay=0.7).probabilities(data)
    assert np.abs(t @ r - t).max() < 1e-12 * t.sum()
    exact = dc.Pram("age", stay=0.7, exact=True, seed=1)(data)
    assert (np.bincount(ages(exact).astype(int)) == t).all()
    assert 0.1 < (ages(exact) != ages(data)).mean() < 0.5
    drawn = np.bincount(ages(dc.Pram("age", stay=0.7, seed=1)(data)).astype(int))
    assert np.abs(drawn - t).max() < 5 * np.sqrt(5000 * 0.3)


def test_categories_move_as_the_matrix_says() -> None:
    """A given matrix that is not made invariant, record by record."""
    p = [[0.6, 0.4, 0, 0], [0, 1, 0, 0], [0, 0, 0.5, 0.5], [0.25, 0.25, 0.25, 0.25]]
    data = microdata(persons(8000))
    moved, was = ages(dc.Pram("age", matrix=p, invariant=False, seed=2)(data)).astype(int), ages(data).astype(int)
    for i in range(4):
        got = np.bincount(moved[was == i], minlength=4) / (was == i).sum()
        assert np.abs(got - p[i]).max() < 5 * 0.5 / np.sqrt((was == i).sum())
        assert (got[np.array(p[i]) == 0] == 0).all()


def test_within_a_level_of_the_hierarchy() -> None:
    """Areas move within their region only, so the regions keep their numbers."""
    data = microdata(persons(2000))
    moved = dc.Pram("area", stay=0.5, within="level 1", seed=1)(data)
    before, after = dc.tabulate(data, by="area"), dc.tabulate(moved, by="area")
    region = before.where(area=["N", "S", "Total"])
    assert (before.count[region] == after.count[region]).all()
    assert (before.count != after.count).any()


def test_a_record_moves_by_its_own_key() -> None:
    """Editing or leaving out others changes nothing for those who stay, if the matrix is given."""
    table = persons(400)
    method = dc.Pram("age", stay=0.5, invariant=False)
    all_, half = ages(method(microdata(table))), ages(method(microdata(table.slice(0, 200))))
    assert (all_[:200] == half).all()


def test_what_is_refused() -> None:
    """A matrix of the wrong size, a level that is not there."""
    data = microdata(persons())
    with pytest.raises(dc.InputError, match="4 categories"):
        dc.Pram("age", matrix=[[1, 0], [0, 1]], seed=1)(data)
    with pytest.raises(dc.InputError, match="no level"):
        dc.Pram("age", within="decade", seed=1)(data)
    with pytest.raises(dc.InputError, match="stay="):
        dc.Pram("age", stay=1.5)
