"""No small population is told by codes of two variables together; tried by brute force over what is answered."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pytest

from discreet.base.annotations import Array
from discreet.data.dimension import Dimension
from discreet.errors import Refused
from discreet.policy import Policy, Query, answer, parse_policy
from discreet.policy.answering import from_cube
from discreet.policy.whole_variables import WholeVariables
from discreet.tables.table import Table

LEAST = 100
HEALTH = Dimension.flat("health", ["good", "bad"])


def policy(query: str = "") -> Policy:
    """Rounding to base 2, which leaves even numbers as they are."""
    return parse_policy(f'{query}\n[table]\nmin_population = {LEAST}\n[[method]]\nname = "round"\nbase = 2\n')


def dependent_table(rng: np.random.Generator) -> Table:
    """Three variables beside health: the second a function of the first but for a few people, groups in the third."""
    first = Dimension.flat("first", [f"a{k}" for k in range(rng.integers(3, 6))])
    second = Dimension.flat("second", [f"b{k}" for k in range(rng.integers(2, 4))])
    third = Dimension.from_parents("third", {f"c{k}": f"g{k // 2}" for k in range(4)})
    shape = (len(first.leaves), len(second.leaves), 4, 2)
    image = rng.integers(len(second.leaves), size=shape[0])
    counts = np.zeros(shape, np.int64)
    for code, size in enumerate(rng.choice([10, 30, 90, 400, 2_000], size=shape[0])):
        counts[code, image[code]] = rng.multinomial(size, np.full(8, 1 / 8)).reshape(4, 2)
    for _ in range(rng.integers(0, 4)):
        counts[tuple(rng.integers(shape))] += rng.integers(1, 30)
    counts[:, :, rng.integers(4)] *= image[:, None, None] == np.arange(shape[1])[None, :, None]
    return Table.of(2 * counts, [first, second, third, HEALTH])


def allowed(table: Table, name: str, made: Policy) -> list[str]:
    """The codes of a variable by which health is answered, asked one by one; everybody is the first."""
    codes = ["Total"]
    for code in next(d for d in table.dimensions if d.name == name).codes:
        if code != "Total":
            try:
                answer(table, Query.of("health", where={name: code}), made)
                codes.append(code)
            except Refused:
                pass
    return codes


def indicator(table: Table, name: str, code: str) -> Array:
    """Which cells of the table a population holds."""
    axis = [d.name for d in table.dimensions].index(name)
    dimension = table.dimensions[axis]
    held = dimension.leaves_of(code)
    line = np.array([held.get(leaf, 0) for leaf in dimension.leaves])
    return np.broadcast_to(line.reshape([-1 if k == axis else 1 for k in range(4)]), table.array().shape)


@pytest.mark.parametrize("seed", range(25))
def test_no_difference_of_two_populations_is_small(seed: int) -> None:
    """Of any two codes of any two variables that may be filters: those in one and not the other are many or none."""
    table = dependent_table(np.random.default_rng(seed))
    made = policy()
    counts = table.array()
    if counts.sum() < LEAST:
        return
    codes = {d.name: allowed(table, d.name, made) for d in table.dimensions if d.name != "health"}
    populations = [(name, code) for name, some in codes.items() for code in some]
    for one, other in itertools.combinations(populations, 2):
        apart = int(counts[indicator(table, *one) != indicator(table, *other)].sum())
        assert apart == 0 or apart >= LEAST, (one, other)


@pytest.mark.parametrize("seed", range(12))
def test_no_sum_and_difference_of_codes_of_two_variables_is_small(seed: int) -> None:
    """With coefficients from -1 to 1 of all codes that are given of two variables."""
    table = dependent_table(np.random.default_rng(100 + seed))
    counts = table.array()
    if counts.sum() < LEAST:
        return
    made = policy()
    for one, other in itertools.combinations(("first", "second", "third"), 2):
        populations = [(one, c) for c in allowed(table, one, made)] + [
            (other, c) for c in allowed(table, other, made)[1:]
        ]
        columns = np.array([indicator(table, *each)[counts > 0] for each in populations[:9]])
        factors = np.array(list(itertools.product((-1, 0, 1), repeat=len(columns))))
        people = (factors @ columns != 0) @ counts[counts > 0]
        assert not ((people > 0) & (people < LEAST)).any(), (one, other)


def stateless(no_passport: int = 300) -> Table:
    """Citizenship, passport and health: the stateless have no passport, nor have so many of 300 who seek asylum."""
    counts = np.zeros((5, 2, 2, 2), np.int64)
    counts[0, 0] = 6000
    counts[1, 0] = 1000
    counts[2, 1] = no_passport // 4
    counts[2, 0] = (300 - no_passport) // 4
    counts[3, 0] = 38
    counts[4, 1] = [[2, 14], [4, 10]]
    citizenship = Dimension.flat("citizenship", ["NAT", "EU", "ASY", "OTH", "STL"])
    passport = Dimension.flat("passport", ["yes", "no"])
    return Table.of(counts, [citizenship, passport, Dimension.flat("sex", ["f", "m"]), HEALTH])


def test_a_small_population_is_not_told_by_another_variable() -> None:
    """All without a passport less those who seek asylum are the stateless: one of the two is refused."""
    table = stateless()
    answer(table, Query.of("health", where="passport=no"), policy())
    with pytest.raises(Refused, match="by subtraction"):
        answer(table, Query.of("health", where="citizenship=ASY"), policy())
    assert allowed(table, "citizenship", policy()) == ["Total", "NAT", "EU"]


def test_the_cheapest_codes_are_withheld_and_only_once_needed() -> None:
    """Where the passport says nothing about a small population, its codes stay."""
    counts = np.multiply.outer(np.array([6000, 1000, 300, 150, 30]), np.full((2, 2, 2), 2))
    table = Table.of(counts, stateless().dimensions)
    assert allowed(table, "passport", policy()) == ["Total", "yes", "no"]
    whole = WholeVariables(table.dimensions, policy(), partial(from_cube, table))
    assert whole.of_variables(("passport",)).sum() == 0


def test_a_variable_that_is_never_asked_closes_nothing() -> None:
    """A variable that the policy disallows tells nobody anything."""
    made = policy('[query]\ndisallowed = ["passport"]')
    assert allowed(stateless(), "citizenship", made) == ["Total", "NAT", "EU", "ASY"]


def test_rows_of_pairs_are_closed_where_two_filters_may_be_asked() -> None:
    """With two filters, asylum seekers without a passport are a population: not given, since the rest is small."""
    table = stateless(no_passport=152)
    frame = answer(table, "citizenship, passport, health", policy("[query]\nmax_filters = 2")).cells
    rows = frame[(frame.citizenship == "ASY") & (frame.passport == "no") & (frame.health != "Total")]
    assert len(rows) == 2
    assert rows["count"].isna().all()
