"""Least and greatest values by linear programs: proved, attained, and the same however the search is tuned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from discreet.linear.extremes import Search, closed
from discreet.linear.linear_tuning import LINEAR, LinearTuning
from discreet.linear.presolve import propagated
from discreet.linear.system import System
from tests.linear.systems import by_scipy, random_system


def tightened(system: System) -> System:
    lower, upper = propagated(system)
    return replace(system, lower=lower, upper=upper)


@pytest.mark.parametrize(
    "tuning",
    [
        LINEAR,
        replace(LINEAR, companions=0, steps=1),
        replace(LINEAR, small=0, lane=1),
        replace(LINEAR, small=0, lane=1, large=0, ends_least=1),
    ],
    ids=["usual", "one by one", "lanes", "pushed together"],
)
def test_the_ends_are_those_of_another_solver(tuning: LinearTuning) -> None:
    """Outer bounds meet the inner ones at the ends; nothing is left open."""
    for seed in range(25):
        system = tightened(random_system(seed, largest=2))
        targets = np.arange(system.size)
        search = closed(system, targets, tuning=tuning)
        assert not len(search.open(0))
        assert not len(search.open(1))
        for mine, other in zip(search.outer, by_scipy(system), strict=True):
            np.testing.assert_allclose(mine, other, atol=1e-5)


def test_only_targets_are_closed_and_all_are_counted() -> None:
    """The others keep bounds that hold; progress adds up to two bounds a target."""
    for seed in range(15):
        system = tightened(random_system(seed, bounded=True))
        targets = np.arange(0, system.size, 2)
        done: list[int] = []
        search = closed(system, targets, done.append)
        least, most = by_scipy(system)
        np.testing.assert_allclose(search.outer[0][targets], least[targets], atol=1e-5)
        np.testing.assert_allclose(search.outer[1][targets], most[targets], atol=1e-5)
        assert (search.outer[0] <= least + 1e-5).all()
        assert (search.outer[1] >= most - 1e-5).all()
        assert sum(done) in (0, 2 * len(targets))  # 0: no bound was open from the beginning


def test_lanes_learn_from_each_other_without_touching_what_they_began_from() -> None:
    """A copy goes on alone; what it proves and attains is taken over, the narrower bound of each."""
    system = tightened(random_system(4, bounded=True))
    search = Search(system, np.arange(system.size), lambda done: None)
    before = search.outer.copy()
    one, two = search.copy(), search.copy()
    one.outer[1, 0] -= 1
    two.outer[0, 1] += 1
    two.witness(system.lower)
    assert (search.outer == before).all()
    search.learn([one, two])
    assert search.outer[1, 0] == max(before[1, 0] - 1, before[0, 0])
    assert search.outer[0, 1] == before[0, 1] + 1
    assert (search.inner[0] == system.lower).all()
